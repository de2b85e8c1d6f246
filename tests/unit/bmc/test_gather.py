# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Asking a BMC: logins are counted at the BMC's side, and what is read ends up as facts."""
from __future__ import annotations

import threading

import pytest
from bmc_certificates import issue
from fakes.redfish import FakeRedfish, tree

from ansible_collections.metal3.baremetal.plugins.module_utils._bmc.addresses import address as bmc_address
from ansible_collections.metal3.baremetal.plugins.module_utils._bmc.protocols import gather as gathering
from ansible_collections.metal3.baremetal.plugins.module_utils._bmc.protocols import redfish
from ansible_collections.metal3.baremetal.plugins.module_utils._bmc.protocols.gather import Settings, Target, gather


def target(bmc, path="", password="right", scheme="redfish+http", name="a", unchecked=False, username="admin"):
    address = bmc_address.parse(f"{scheme}://127.0.0.1:{bmc.port}{path}")
    return Target(name, address, username, password, unchecked)


def ask(*targets, ca_cert=None):
    return gather(list(targets), Settings(ca_cert, 2, 5, 8))


@pytest.mark.parametrize(("vendor", "way"), [("dell", "session"), ("lenovo", "basic")])
def test_a_wrong_password_is_sent_once(vendor, way):
    with FakeRedfish(tree(vendor)) as bmc:
        facts, = ask(target(bmc, password="wrong"))
        assert bmc.logins == [(way, False)]
    assert facts["error"]["stage"] == "login"
    assert facts["error"]["kind"] == "unauthorized"
    assert facts["login"] == {"ok": False, "method": way, "attempts": 1}


@pytest.mark.parametrize("vendor", ["dell", "lenovo"])
def test_the_log_of_a_bmc_tells_this_collection_from_ironic(vendor):
    with FakeRedfish(tree(vendor)) as bmc:
        ask(target(bmc))
        assert bmc.requests and bmc.user_agents == {"metal3.baremetal"}


@pytest.mark.parametrize("vendor", ["dell", "lenovo"])
def test_servers_behind_one_bmc_share_a_wrong_login(vendor):
    with FakeRedfish(tree(vendor)) as bmc:
        found = ask(*[target(bmc, f"/redfish/v1/Systems/{number}", "wrong", name=str(number))
                      for number in range(8)])
        assert len(bmc.logins) == 1
    assert [facts["error"]["stage"] for facts in found] == ["login"] * 8


@pytest.mark.parametrize("order", [(False, True), (True, False)])
def test_a_wrong_password_is_sent_once_whether_certificates_are_verified_or_not(tmp_path, order):
    """Each of the two needs a connection of its own; the account that may be locked is one."""
    ca, signer = issue(tmp_path, "ca")
    leaf, dummy = issue(tmp_path, "bmc", issuer=signer)
    with FakeRedfish(tree("dell"), certificate=leaf) as bmc:
        found = ask(*[target(bmc, scheme="redfish", password="wrong", unchecked=unchecked, name=str(unchecked))
                      for unchecked in order], ca_cert=ca[0])
        assert bmc.logins == [("session", False)]
    assert [facts["error"]["stage"] for facts in found] == ["login", "login"]
    assert [facts["login"]["attempts"] for facts in found] == [1, 1]
    assert [facts["tls"]["verified"] for facts in found] == [True, True]


def test_a_right_password_is_taken_over_both_kinds_of_connection(tmp_path):
    ca, signer = issue(tmp_path, "ca")
    leaf, dummy = issue(tmp_path, "bmc", issuer=signer)
    with FakeRedfish(tree("dell"), certificate=leaf) as bmc:
        found = ask(target(bmc, scheme="redfish"), target(bmc, scheme="redfish", unchecked=True, name="b"),
                    ca_cert=ca[0])
        assert bmc.wrong_logins() == 0
    assert [facts["login"]["ok"] for facts in found] == [True, True]


def test_another_port_that_is_no_standard_one_is_another_bmc():
    with FakeRedfish(tree("dell"), password="other") as first, FakeRedfish(tree("dell")) as second:
        refused, taken = ask(target(first), target(second, name="b"))
    assert (refused["login"]["ok"], taken["login"]["ok"]) == (False, True)


@pytest.mark.parametrize(("texts", "same"), [
    (("redfish://192.0.2.1", "redfish://192.0.2.1/redfish/v1/Systems/1"), True),
    (("redfish://192.0.2.1", "idrac-virtualmedia+http://192.0.2.1"), True),
    (("redfish://BMC-1.example", "ipmi://bmc-1.example:623"), True),
    (("redfish://192.0.2.1:8443", "redfish-virtualmedia+https://192.0.2.1:8443/redfish/v1/Systems/1"), True),
    (("redfish://192.0.2.1", "redfish://192.0.2.2"), False),
    # Several BMCs behind one address, each at a port of its own.
    (("redfish://192.0.2.1:8443", "redfish://192.0.2.1:8444"), False),
    (("redfish://192.0.2.1:8443", "redfish://192.0.2.1"), False),
])
def test_which_addresses_lead_to_one_account(texts, same):
    first, second = [gathering.account_of(Target("a", bmc_address.parse(text), "admin", "x", position > 0))
                     for position, text in enumerate(texts)]
    assert (first == second) is same
    assert first != gathering.account_of(Target("a", bmc_address.parse(texts[0]), "admin", "y", False))
    assert first != gathering.account_of(Target("a", bmc_address.parse(texts[0]), "other", "x", False))


@pytest.fixture
def ipmi_logins(monkeypatch):
    """What a BMC says to a login by IPMI, as a list with one kind of refusal, and the logins it saw."""
    says, logins = [], []

    def ask_ipmi(host, *dummy):
        logins.append(host)
        raise gathering.ipmi.IpmiError(says[0], "refused")

    monkeypatch.setattr(gathering.ipmi, "ask", ask_ipmi)
    monkeypatch.setattr(gathering, "redfish_version", lambda *dummy: "")
    # Its two doors are at ports of the test's.
    monkeypatch.setattr(gathering, "account_of", lambda target: (target.username, target.password))
    return says, logins


def test_a_password_that_redfish_refused_is_not_tried_by_ipmi(ipmi_logins):
    with FakeRedfish(tree("dell")) as bmc:
        found = ask(target(bmc, password="wrong"), target(bmc, scheme="ipmi", password="wrong", name="b"))
        assert len(bmc.logins) == 1
    assert ipmi_logins[1] == []
    assert [facts["error"]["kind"] for facts in found] == ["unauthorized"] * 2


@pytest.mark.parametrize(("kind", "logins"), [
    ("unauthorized", []),
    # In none of these cases the password was found wrong.
    ("privilege", [("session", True)]), ("unreachable", [("session", True)]), ("missing", [("session", True)]),
])
def test_what_ipmi_says_of_the_password_holds_for_redfish(ipmi_logins, kind, logins):
    ipmi_logins[0].append(kind)
    with FakeRedfish(tree("dell")) as bmc:
        by_ipmi, by_redfish = ask(target(bmc, scheme="ipmi"), target(bmc, name="b"))
        assert bmc.logins == logins
    assert by_ipmi["error"]["kind"] == kind
    assert by_redfish["login"]["ok"] is bool(logins)
    assert by_redfish["service"]["redfish_version"] == "1.18.0"


def test_a_missing_part_brings_no_second_login(monkeypatch):
    with FakeRedfish(tree("dell")) as bmc:
        monkeypatch.delitem(bmc.resources, "/redfish/v1/Systems/System.Embedded.1/Bios")
        facts, = ask(target(bmc))
        assert bmc.logins == [("session", True)]
        assert bmc.open_sessions == 0
    assert facts["unread"]["bios"].startswith("HTTP 404")
    assert facts["system"]["sku"] == "4TZ8XY3"


def test_a_session_that_is_lost_is_not_made_again():
    with FakeRedfish(tree("dell")) as bmc:
        original = bmc.drop

        def lose(path):
            if path.endswith("/Bios"):
                bmc.open_sessions = 0
            return original(path)

        bmc.drop = lose
        facts, = ask(target(bmc))
        assert len(bmc.logins) == 1
    assert "401" in facts["unread"]["bios"]


def test_a_session_is_ended_where_only_the_body_says_which_it_is():
    """A BMC has a few; a run that leaves one each time locks everybody out until they expire."""
    with FakeRedfish(tree("dell")) as bmc:
        bmc.session_location = None
        facts, = ask(target(bmc))
        assert facts["login"]["ok"]
        assert bmc.open_sessions == 0


def test_a_session_is_ended_after_all_time_is_up():
    with FakeRedfish(tree("dell")) as bmc:
        # Of its own making, of the root and of the login; then the time is up.
        times = iter([0, 1, 2, redfish._ALL_SECONDS + 1])
        client = redfish.RedfishClient(f"http://127.0.0.1:{bmc.port}", True, 2, 5, lambda: next(times))
        client.login(client.root(), "admin", "right")
        assert bmc.open_sessions == 1
        client.close()
        assert bmc.open_sessions == 0


def test_a_login_without_an_answer_is_not_repeated():
    with FakeRedfish(tree("dell")) as bmc:
        bmc.drop = lambda path: "Sessions" in path
        facts, = ask(target(bmc))
        assert [path for method, path in bmc.requests if method == "POST"] == ["/redfish/v1/SessionService/Sessions"]
    assert facts["error"]["stage"] == "login"
    assert facts["error"]["kind"] == "unreachable"


def test_a_bmc_that_goes_silent_is_not_asked_for_the_rest():
    with FakeRedfish(tree("dell")) as bmc:
        bmc.drop = lambda path: "Systems/System" in path
        facts, = ask(target(bmc))
        asked = [path for dummy, path in bmc.requests if "Systems/System" in path]
    # Once, and once more over a connection of its own.
    assert len(asked) == 2
    assert facts["system"] == {}
    assert facts["unread"]["system"]


def test_without_credentials_only_the_root_is_read():
    with FakeRedfish(tree("dell")) as bmc:
        facts, = ask(target(bmc, password=None))
        assert bmc.logins == []
        assert bmc.requests == [("GET", "/redfish/v1")]
    assert facts["error"]["stage"] == "credentials"
    assert facts["service"]["redfish_version"] == "1.18.0"


def test_two_accounts_are_two_logins():
    with FakeRedfish(tree("supermicro")) as bmc:
        found = ask(target(bmc, "/redfish/v1/Systems/1"), target(bmc, "/redfish/v1/Systems/2", name="b"),
                    target(bmc, "/redfish/v1/Systems/2", username="other", name="c"))
        assert sorted(right for dummy, right in bmc.logins) == [False, True]
    assert [facts["system"].get("serial_number") for facts in found] == ["E316021", "E316022", None]


def test_an_expanded_collection_takes_one_request():
    with FakeRedfish(tree("dell")) as bmc:
        facts, = ask(target(bmc))
        accounts = [path for dummy, path in bmc.requests if path.startswith("/redfish/v1/AccountService/Accounts")]
    assert accounts == ["/redfish/v1/AccountService/Accounts"]
    assert facts["account"]["role"] == "Administrator"


@pytest.mark.parametrize(("vendor", "role", "enabled"), [("dell", "Administrator", True), ("hpe", "ReadOnly", None)])
def test_all_accounts_are_read_where_asked_and_empty_slots_are_none(vendor, role, enabled):
    with FakeRedfish(tree(vendor)) as bmc:
        asked, = gather([target(bmc)], Settings(None, 2, 5, 8, accounts=True))
        plain, = ask(target(bmc))
    assert plain["accounts"] == [] and all(account["name"] for account in asked["accounts"])
    mine, = [account for account in asked["accounts"] if account["name"] == "admin"]
    assert (mine["role"], mine["enabled"]) == (role, enabled)
    assert "assword" not in str(asked["accounts"])


def test_accounts_that_the_account_may_not_read_are_unread():
    resources = dict((path, resource) for path, resource in tree("hpe").items() if "AccountService" not in path)
    with FakeRedfish(resources) as bmc:
        asked, = gather([target(bmc)], Settings(None, 2, 5, 8, accounts=True))
    assert asked["accounts"] == [] and asked["unread"]["accounts"]


def paged(resources, path, size=1):
    """Serve a collection in pages of some members; what the links look like is the BMC's own business."""
    members = resources[path]["Members"]
    names = [path] + [f"{path}/Page{number}" for number in range(1, -(-len(members) // size))]
    for number, name in enumerate(names):
        resources[name] = {"Members": members[number * size:(number + 1) * size]}
        if name != names[-1]:
            resources[name]["Members@odata.nextLink"] = names[number + 1]
    return names


def test_a_collection_is_read_to_its_last_page():
    resources = tree("supermicro")
    paged(resources, "/redfish/v1/Systems")
    with FakeRedfish(resources) as bmc:
        facts, = ask(target(bmc))
    assert facts["systems"] == ["/redfish/v1/Systems/1", "/redfish/v1/Systems/2"] and not facts["system"]


@pytest.mark.parametrize("last", ["/gone", "http://127.0.0.1:9/steal", 7, None, "/redfish/v1/Systems"])
def test_a_system_is_the_only_one_if_all_pages_were_read(last):
    resources = tree("dell")
    resources["/redfish/v1/Systems"]["Members@odata.nextLink"] = last
    with FakeRedfish(resources) as bmc:
        facts, = ask(target(bmc))
        servers, found = gathering.explore(target(bmc), Settings(None, 2, 5, 8))
    is_unread = last in ("/gone", "http://127.0.0.1:9/steal")
    assert bool(facts["system"]) is not is_unread and ("systems" in facts["unread"]) is is_unread
    assert len(found) == 1 and bool(servers["unread"]["systems"]) is is_unread


def test_accounts_of_further_pages_are_read():
    found = []
    for size in (100, 3):
        resources = tree("dell")
        paged(resources, "/redfish/v1/AccountService/Accounts", size)
        with FakeRedfish(resources, username="root") as bmc:
            # In place of a slot of the last page.
            resources["/redfish/v1/AccountService/Accounts/16"]["UserName"] = "root"
            resources["/redfish/v1/AccountService/Accounts/3"]["UserName"] = "third"
            facts, = gather([target(bmc, username="root")], Settings(None, 2, 5, 8, accounts=True))
        found.append([account["name"] for account in facts["accounts"]])
    assert found[0] == found[1] and {"third", "root"} <= set(found[0])


def test_the_firmware_inventory_is_read_where_asked():
    inventory = "/redfish/v1/UpdateService/FirmwareInventory"
    resources = dict(tree("hpe"), **{
        "/redfish/v1/UpdateService": {"FirmwareInventory": {"@odata.id": inventory}},
        inventory: {"Members": [{"@odata.id": inventory + "/1"}]},
        inventory + "/1": {"Id": "1", "Name": "iLO 5", "Version": "2.72"}})
    resources["/redfish/v1"] = dict(
        resources["/redfish/v1"], UpdateService={"@odata.id": "/redfish/v1/UpdateService"})
    with FakeRedfish(resources) as bmc:
        asked, = gather([target(bmc)], Settings(None, 2, 5, 8, firmware=True))
        plain, = ask(target(bmc))
    assert asked["firmware"] == [{"id": "1", "name": "iLO 5", "version": "2.72", "updateable": False}]
    assert plain["firmware"] == []


def test_an_address_without_a_bmc():
    with FakeRedfish({}) as bmc:
        gone = target(bmc)
    facts, = ask(gone)
    assert facts["error"] == {"stage": "reach", "kind": "unreachable", "text": "Connection refused"}


def test_a_web_server_is_no_bmc():
    with FakeRedfish({}) as bmc:
        facts, = ask(target(bmc))
    assert facts["error"]["stage"] == "service"
    assert facts["error"]["kind"] == "not_found"


def test_a_verified_certificate(tmp_path):
    ca, signer = issue(tmp_path, "ca")
    leaf, dummy = issue(tmp_path, "bmc", issuer=signer)
    with FakeRedfish(tree("dell"), certificate=leaf) as bmc:
        facts, = ask(target(bmc, scheme="redfish"), ca_cert=ca[0])
    assert facts["tls"]["verified"]
    assert facts["tls"]["certificate"]["subject"] == "CN=bmc"
    assert facts["login"]["ok"]


def test_each_bmc_is_verified_by_its_own_authorities(tmp_path):
    """The racks of one run may have authorities of their own; those of the first counted for all."""
    ca, signer = issue(tmp_path, "ca")
    other = issue(tmp_path, "other")[0]
    leaf, dummy = issue(tmp_path, "bmc", issuer=signer)
    with FakeRedfish(tree("dell"), certificate=leaf) as bmc:
        own, common, wrong = ask(*[target(bmc, scheme="redfish", name=str(given))._replace(ca_cert=given)
                                   for given in (ca[0], None, other[0])], ca_cert=other[0])
        # One that trusts what its machine does has not the file of the others.
        machines, = ask(target(bmc, scheme="redfish")._replace(ca_cert=""), ca_cert=ca[0])
    assert [facts["tls"]["verified"] for facts in (own, common, wrong, machines)] == [True, False, False, False]
    assert own["login"]["ok"] and not common["login"]["attempts"]


@pytest.mark.parametrize(("arguments", "text"), [
    ({"days": -1}, "expired"), ({"address": "127.0.0.9"}, "IP address mismatch"), ({"strange": True}, "local issuer")])
def test_nothing_is_sent_over_an_unverified_connection(tmp_path, arguments, text):
    ca, signer = issue(tmp_path, "ca")
    stranger = issue(tmp_path, "stranger")[1]
    strange = arguments.pop("strange", False)
    leaf, dummy = issue(tmp_path, "bmc", issuer=stranger if strange else signer, **arguments)
    with FakeRedfish(tree("dell"), certificate=leaf) as bmc:
        facts, = ask(target(bmc, scheme="redfish"), ca_cert=ca[0])
        assert bmc.requests == []
    assert facts["error"]["stage"] == "tls"
    assert text in facts["tls"]["error"]
    assert facts["tls"]["certificate"]["subject"] == "CN=bmc"


def test_any_certificate_is_accepted_only_where_that_is_set(tmp_path):
    ca = issue(tmp_path, "ca")[0]
    leaf, dummy = issue(tmp_path, "bmc", issuer=issue(tmp_path, "stranger")[1])
    with FakeRedfish(tree("dell"), certificate=leaf) as bmc:
        refused, accepted = ask(target(bmc, scheme="redfish"), target(bmc, scheme="redfish", unchecked=True, name="b"),
                                ca_cert=ca[0])
    assert refused["error"]["stage"] == "tls"
    assert accepted["login"]["ok"]
    assert not accepted["tls"]["verified"]


def test_the_last_count_is_reported_last():
    lines, overtaken = [], threading.Event()

    class Slow:
        def status(self, state, detail):
            if detail.startswith("1"):
                # Long enough for the other thread, were it let in.
                overtaken.wait(0.3)
            lines.append(detail)
            overtaken.set()

    counter = gathering.Counter(2, Slow(), "asking BMCs")
    threads = [threading.Thread(target=counter.add, args=(1,)) for dummy in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert lines == ["1 of 2 asked", "2 of 2 asked"]


def test_as_many_at_once_as_set(monkeypatch):
    lock, together, running, most = threading.Lock(), threading.Barrier(4, timeout=10), [0], [0]

    def busy(group, *dummy):
        with lock:
            running[0] += 1
            most[0] = max(most[0], running[0])
        together.wait()
        with lock:
            running[0] -= 1
        return [gathering.blank() for dummy in group]

    monkeypatch.setattr(gathering, "_ask_redfish", busy)
    targets = [Target(str(number), bmc_address.parse(f"redfish://192.0.2.{number}"), "a", "b", False)
               for number in range(1, 61)]
    assert len(gather(targets, Settings(None, 1, 1, 4))) == 60
    assert most[0] == 4
