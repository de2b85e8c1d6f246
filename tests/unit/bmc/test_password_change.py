# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Passwords of BMCs' accounts: vendors' layouts, what is tried and how often, and what is taken back."""
from __future__ import annotations

import json

import pytest
from bmc_certificates import issue
from fakes.redfish import SESSIONS, FakeRedfish, tree

from ansible_collections.metal3.baremetal.plugins.module_utils._bmc.passwords import accounts
from ansible_collections.metal3.baremetal.plugins.module_utils._bmc.passwords.account_service import AccountRun, failure
from ansible_collections.metal3.baremetal.plugins.module_utils._bmc.protocols import ipmi, redfish
from ansible_collections.metal3.baremetal.plugins.module_utils._bmc.protocols.gather import Settings
from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.errors import RefusedError
from ansible_collections.metal3.baremetal.plugins.module_utils._common.waiting.progress import Progress

OLD, NEW = "old-secret-word", "new-secret-word"
# Vendor → path of the account of the user "admin".
LAYOUTS = {
    "dell": "/redfish/v1/AccountService/Accounts/2",
    "hpe": "/redfish/v1/AccountService/Accounts/1",
    "lenovo": "/redfish/v1/AccountService/Accounts/2",
    "openbmc": "/redfish/v1/AccountService/Accounts/admin",
}


def openbmc():
    """Return an account service as OpenBMC has it: members by name."""
    root = "/redfish/v1/AccountService"
    return {
        "/redfish/v1": {"AccountService": {"@odata.id": root}, "Links": {"Sessions": {"@odata.id": SESSIONS}}},
        root: {"Accounts": {"@odata.id": root + "/Accounts"}, "MinPasswordLength": 8, "MaxPasswordLength": 20},
        root + "/Accounts": {"Members": [{"@odata.id": f"{root}/Accounts/{name}"} for name in ("root", "admin")]},
        root + "/Accounts/root": {"UserName": "root"},
        root + "/Accounts/admin": {"UserName": "admin", "@odata.etag": 'W/"7"'},
    }


class Bmc(FakeRedfish):
    """A BMC whose passwords can be replaced.

    :param refuses: ``(status, text)`` of the answer to a new password, or None
    :param ignores: what becomes of a password that was accepted: callable that takes it and returns the one that counts
    :param tag: the ETag that a change must name, None for none
    :param lost: whether the answer to a change is lost
    """

    def __init__(self, layout="dell", password=OLD, refuses=None, ignores=lambda text: text, tag=None, lost=False,
                 certificate=None):
        super().__init__(openbmc() if layout == "openbmc" else tree(layout), password=password, certificate=certificate)
        self.refuses, self.ignores, self.tag, self.lost = refuses, ignores, tag, lost
        self.patches = []
        if tag:
            self.resources[LAYOUTS[layout]]["@odata.etag"] = tag

    def change(self, path, body, condition):
        """Answer a PATCH: ``(status, document)``."""
        self.patches.append((path, body, condition))
        if self.tag and condition != self.tag:
            return 412 if condition else 428, {"error": {"code": "Base.1.0.PreconditionFailed", "message": "ETag"}}
        if self.refuses:
            return self.refuses[0], {"error": {"code": "Base.1.0.GeneralError", "message": self.refuses[1]}}
        self.password = self.ignores(body["Password"])
        return (None, None) if self.lost else (200, {"UserName": "admin", "Password": None})


def host(bmc, name="a", password=OLD, new=NEW, username="admin", **options):
    return {"name": name, "bmc": dict({"address": f"redfish+http://127.0.0.1:{bmc.port}/redfish/v1/Systems/1",
                                       "username": username, "password": password, "new_password": new}, **options)}


def run(*hosts, check_mode=False, confirm=None):
    """Replace passwords; without a confirmation of its own, all hosts that need it are confirmed by name."""
    names = [item["name"] for item in hosts]
    confirm, among = (",".join(names), names) if confirm is None else (confirm, ())
    return AccountRun(Settings(None, 2, 5, 8), check_mode, Progress(), None, confirm, among).run(hosts)


def refused(*hosts):
    with pytest.raises(RefusedError) as error:
        run(*hosts)
    for secret in (OLD, NEW):
        assert secret not in str(error.value)
    return str(error.value)


def test_another_password_wants_the_number_of_hosts_that_get_it():
    with Bmc("dell") as bmc, Bmc("dell", password=NEW) as done:
        hosts = host(bmc), host(done, "h2")
        for wrong in ("", "2", "h2"):
            with pytest.raises(RefusedError, match=r"confirm: .*expected 1, .*another password: a; .*metal3_confirm=1"):
                run(*hosts, confirm=wrong)
        assert "metal3_confirm=1" in run(*hosts, check_mode=True, confirm="")["warnings"][0]
        assert not bmc.patches and bmc.password == OLD
        assert [found["changed"] for found in run(*hosts, confirm="1")["hosts"]] == [True, False]
        assert not run(*hosts, confirm="")["changed"]


@pytest.mark.parametrize("layout", sorted(LAYOUTS))
def test_the_account_in_use_is_changed_and_proven(layout):
    with Bmc(layout) as bmc:
        result = run(host(bmc))
        assert bmc.password == NEW and not bmc.wrong_logins() and bmc.open_sessions == 0
        assert [path.rstrip("/") for path, dummy, dummy in bmc.patches] == [LAYOUTS[layout]]
        assert (result["changed"], result["hosts"][0]["status"]) == (True, "changed")
        text = json.dumps(result)
        assert OLD not in text and NEW not in text and "changed" in json.dumps(result["diff"])
        # Again: nothing is changed. The password that the inventory still has is tried once, first.
        patches = list(bmc.patches)
        assert run(host(bmc))["changed"] is False and bmc.patches == patches and bmc.wrong_logins() == 1
        assert run(host(bmc, password=NEW))["changed"] is False and bmc.wrong_logins() == 1


@pytest.mark.parametrize(("becomes", "status", "wrong"), [
    (NEW, "changed", 0), (OLD, "restored", 1), ("something else", "lost", 2)])
def test_a_bmc_without_sessions(becomes, status, wrong):
    """Each request carries the password: with the old one nothing is asked that the BMC has refused once."""
    with Bmc(ignores=lambda text: becomes if text == NEW else text) as bmc:
        del bmc.resources["/redfish/v1"]["Links"]
        found, = run(host(bmc))["hosts"]
        assert (found["status"], bmc.wrong_logins()) == (status, wrong)
        assert {way for way, dummy in bmc.logins} == {"basic"}


def test_check_mode_only_reads():
    with Bmc() as bmc:
        result = run(host(bmc), check_mode=True)
        assert (result["changed"], bmc.patches, bmc.password) == (True, [], OLD)
        assert {method for method, dummy in bmc.requests} == {"GET", "POST", "DELETE"}


def test_neither_password_is_tried_twice():
    with Bmc(password="another") as bmc:
        text = refused(host(bmc))
        assert bmc.wrong_logins() == len(bmc.logins) == 2 and "each was tried once" in text and "locked" in text


def test_nothing_is_changed_where_one_bmc_is_in_the_way():
    with Bmc() as good, Bmc(password="another") as bad:
        text = refused(host(good), host(bad, "b"))
        assert good.patches == [] and good.password == OLD and "1 problem, nothing was changed" in text


def test_a_password_that_the_bmc_refuses_leaves_the_old_one():
    quoting = f"The value '{NEW}' for the property Password is not acceptable"
    with Bmc(refuses=(400, quoting)) as bmc:
        result = run(host(bmc))
        found, = result["hosts"]
        assert (found["status"], found["failed"], bmc.password) == ("refused", True, OLD)
        assert NEW not in json.dumps(result) and "not acceptable" in found["error"]
        assert not bmc.wrong_logins() and "1 of 1 hosts" in failure(result["hosts"])


def test_a_password_that_lets_nobody_in_is_taken_back():
    """Some BMCs cut what is too long for them."""
    with Bmc(ignores=lambda text: text[:5] if text == NEW else text) as bmc:
        found, = run(host(bmc))["hosts"]
        assert (found["status"], bmc.password, bmc.wrong_logins()) == ("restored", OLD, 1)


def test_a_bmc_that_accepts_neither_is_lost():
    with Bmc(ignores=lambda text: "something else") as bmc:
        found, = run(host(bmc))["hosts"]
        assert (found["status"], bmc.wrong_logins()) == ("lost", 2) and "neither" in found["error"]


@pytest.mark.parametrize(("becomes", "status", "wrong"), [
    (OLD, "restored", 1), ("something else", "lost", 2)])
def test_a_bmc_that_ends_the_session_is_asked_with_the_old_password(becomes, status, wrong):
    def ignores(dummy):
        bmc.open_sessions = 0
        return becomes

    with Bmc(ignores=ignores) as bmc:
        found, = run(host(bmc))["hosts"]
        assert (found["status"], bmc.wrong_logins()) == (status, wrong)


def test_a_bmc_that_stops_to_answer_is_not_said_to_refuse_both():
    with Bmc(ignores=lambda dummy: "something else") as bmc:
        bmc.drop = lambda dummy: bmc.wrong_logins() > 0
        found, = run(host(bmc))["hosts"]
        assert found["status"] == "unproven" and "run again" in found["error"] and "neither" not in found["error"]


def test_a_bmc_that_stops_to_answer_by_ipmi_is_not_said_to_refuse_both(monkeypatch):
    class Silent(Ipmitool):
        def run(self, login, lines, *dummy):
            return "Error: Unable to establish IPMI v2 / RMCP+ session" if self.wrong else super().run(login, lines)

    found, = run(by_ipmi(monkeypatch, Silent(becomes=lambda text: text[:8])))["hosts"]
    assert found["status"] == "unproven" and "neither" not in found["error"]


@pytest.mark.parametrize("lost", [True, False])
def test_a_lost_answer_is_found_out(lost):
    with Bmc(lost=lost) as bmc:
        if not lost:
            # Refused by a gateway, not by the BMC.
            bmc.refuses = 502, "bad gateway"
        found, = run(host(bmc))["hosts"]
        assert found["status"] == ("changed" if lost else "failed") and bmc.password == (NEW if lost else OLD)
        # Nobody says of a BMC that it has taken a password which it has never had.
        if not lost:
            assert "bad gateway" in found["error"] and "run again" in found["error"] and "took" not in found["error"]


@pytest.mark.parametrize("status", [408, 409, 412, 423, 428, 429, 503])
def test_a_bmc_that_is_busy_has_not_refused_the_password(status):
    with Bmc(refuses=(status, "try again later")) as bmc:
        found, = run(host(bmc))["hosts"]
        assert (found["status"], bmc.password) == ("failed", OLD)
        assert "run again" in found["error"] and "choose another" not in found["error"]
        # Only after an answer that says nothing of the password the new one has to be tried.
        assert bmc.wrong_logins() == (status >= 500)


class TaskBmc(Bmc):
    """A BMC that answers a change by a task, and sets the password when that has been asked for twice.

    :param monitor: whether the task is followed by a task monitor (DSP0266), else it is a resource Task
    :param ends: what becomes of the task: ``done``, ``refused``, ``gone`` (done, and not there any more), ``never``
    """

    TASK = "/redfish/v1/TaskService/Tasks/1"

    def __init__(self, monitor, ends, **options):
        super().__init__(**options)
        self.monitor, self.ends, self.wanted = monitor, ends, None
        self.drop = self.asked

    def change(self, path, body, condition):
        """Answer a PATCH with a task."""
        self.patches.append((path, body, condition))
        self.wanted = body["Password"]
        task = {"@odata.id": self.TASK, "TaskState": "Running"}
        if self.monitor:
            self.redirects[self.TASK] = 202, self.TASK
            return 202, None, {"Location": self.TASK}
        self.resources[self.TASK] = task
        return 202, task

    def asked(self, path):
        """Let time pass."""
        if path != self.TASK or self.requests.count(("GET", path)) < 3 or self.ends == "never":
            return False
        self.redirects.pop(path, None)
        if self.ends != "refused":
            self.password = self.wanted
        self.resources[path] = {"TaskState": "Exception" if self.ends == "refused" else "Completed",
                                "Messages": [{"Message": "too simple"}, None]}
        if self.ends == "gone":
            del self.resources[path]
        return False


@pytest.mark.parametrize("monitor", [True, False])
@pytest.mark.parametrize(("ends", "status", "text"), [
    ("done", "changed", ""), ("gone", "changed", ""), ("refused", "refused", "too simple"),
    ("never", "unproven", "run again")])
def test_a_change_that_is_a_task_is_followed_to_its_end(monkeypatch, monitor, ends, status, text):
    monkeypatch.setattr(redfish, "_TASK_POLL_SECONDS", 0)
    monkeypatch.setattr(redfish, "_TASK_SECONDS", 0 if ends == "never" else 60)
    with TaskBmc(monitor, ends) as bmc:
        found, = run(host(bmc))["hosts"]
        assert (found["status"], bmc.wrong_logins(), len(bmc.patches)) == (status, 0, 1) and text in found["error"]


def test_a_password_that_was_not_sent_is_not_tried():
    with Bmc() as bmc:
        # The account is looked at twice, then once more for its ETag.
        bmc.drop = lambda path: (path == LAYOUTS["dell"] and bmc.requests.count(("GET", path)) == 3)
        found, = run(host(bmc))["hosts"]
        assert found["status"] == "failed" and bmc.patches == [] and not bmc.wrong_logins()


@pytest.mark.parametrize("tag", ['W/"7"', '"7"'])
def test_a_change_names_the_etag(tag):
    with Bmc("lenovo", tag=tag) as bmc:
        assert run(host(bmc))["changed"] and [condition for *dummy, condition in bmc.patches] == [tag]


def test_a_bmc_that_shows_a_weak_etag_and_wants_a_strong_one():
    with Bmc("lenovo", tag='"7"') as bmc:
        bmc.resources[LAYOUTS["lenovo"]]["@odata.etag"] = 'W/"7"'
        assert run(host(bmc))["changed"] and [condition for *dummy, condition in bmc.patches] == ['W/"7"', '"7"']


@pytest.mark.parametrize("ends_sessions", [True, False])
def test_an_account_that_another_one_changes_meanwhile_is_left_as_it_is(ends_sessions):
    """Not even by its new ETag: that is the one of another password, which somebody has proven by now."""
    with Bmc("lenovo", tag='"7"') as bmc:
        resource = bmc.resources[LAYOUTS["lenovo"]]

        def meanwhile(path, body, condition, change=bmc.change):
            if bmc.tag == '"7"':
                bmc.tag = resource["@odata.etag"] = '"8"'
                if ends_sessions:
                    bmc.password = "of somebody else's"
            return change(path, body, condition)

        bmc.change = meanwhile
        found, = run(host(bmc))["hosts"]
        assert found["status"] == "failed" and "nothing was changed" in found["error"] and bmc.password != NEW
        assert ("somebody else has changed the account" in found["error"]) is not ends_sessions
        assert bmc.wrong_logins() <= ends_sessions


@pytest.mark.parametrize("members", [[], ["root"], ["admin", "admin"]])
def test_an_account_that_is_not_found_once_is_refused(members):
    with Bmc("openbmc") as bmc:
        accounts_path = "/redfish/v1/AccountService/Accounts"
        paths = [f"{accounts_path}/{number}" for number, dummy in enumerate(members)]
        bmc.resources.update((path, {"UserName": name}) for path, name in zip(paths, members))
        bmc.resources[accounts_path]["Members"] = [{"@odata.id": path} for path in paths]
        text = refused(host(bmc))
        assert ("2 accounts" if len(members) == 2 else "no account that can be read") in text and bmc.patches == []


def test_an_account_of_a_further_page_is_found():
    with Bmc("openbmc") as bmc:
        path = "/redfish/v1/AccountService/Accounts"
        first, second = bmc.resources[path]["Members"]
        bmc.resources[path] = {"Members": [first], "Members@odata.nextLink": path + "?$skip=1"}
        bmc.resources["/second"] = {"Members": [second]}
        assert "no account that can be read" in refused(host(bmc))
        bmc.resources[path]["Members@odata.nextLink"] = "/second"
        assert run(host(bmc))["hosts"][0]["status"] == "changed"
        assert bmc.requests.count(("GET", "/second")) == 2


@pytest.mark.parametrize("link", ["http://127.0.0.1:9/steal", "//127.0.0.1:9/steal", "http://[", "/a b"])
@pytest.mark.parametrize("where", ["service", "accounts", "member"])
def test_an_account_elsewhere_gets_no_password(link, where):
    with Bmc("openbmc") as bmc:
        root = "/redfish/v1/AccountService"
        if where == "service":
            bmc.resources["/redfish/v1"]["AccountService"]["@odata.id"] = link
        elif where == "accounts":
            bmc.resources[root]["Accounts"]["@odata.id"] = link
        else:
            bmc.resources[root + "/Accounts"]["Members"][1]["@odata.id"] = link
        assert "path of its own" in refused(host(bmc)) and bmc.patches == []


def test_a_redirected_change_is_not_followed():
    with Bmc() as bmc, FakeRedfish(tree("dell")) as other:
        bmc.redirects[LAYOUTS["dell"] + "#"] = 307, f"http://127.0.0.1:{other.port}/steal"
        found, = run(host(bmc))["hosts"]
        assert found["status"] == "refused" and "is not followed" in found["error"] and other.requests == []


@pytest.mark.parametrize(("new", "text"), [
    ("short", "5 characters"), ("x" * 21, "21 characters, the BMC takes 8 to 20"), ("with a blank", "none of these"),
    ("the-admin-word", "the user name"), ("pässword", "none of these")])
def test_a_password_that_can_not_be_is_refused_before(new, text):
    with Bmc("openbmc") as bmc:
        assert text in refused(host(bmc, new=new)) and bmc.patches == []


def test_hosts_of_one_account_are_changed_once_and_together():
    with Bmc() as bmc:
        result = run(host(bmc), host(bmc, "b"))
        assert len(bmc.patches) == 1 and [found["status"] for found in result["hosts"]] == ["changed"] * 2
        text = refused(host(bmc, "a"), host(bmc, "b", new="another-new-word"), host(bmc, "c", password="x"))
        assert "another password than that of a" in text and text.count("\n") == 2


def test_hosts_of_one_account_trust_its_bmc_alike():
    with Bmc() as bmc:
        text = refused(host(bmc), dict(host(bmc, "b"), ca_cert="/b"))
        assert "b: ca_cert: found another file than that of a, expected the same one" in text and bmc.logins == []


@pytest.mark.parametrize("first, second, found", [(True, None, "false"), (True, False, "false"), (False, True, "true"),
                                                  (None, True, "true")])
def test_hosts_of_one_account_are_verified_alike(first, second, found):
    """The login was that of the first of them, verified or not."""
    with Bmc() as bmc:
        entries = [host(bmc), host(bmc, "b")]
        for entry, value in zip(entries, (first, second)):
            entry["bmc"]["disable_certificate_verification"] = value
        text = refused(*entries)
        assert f"b: bmc.disable_certificate_verification: found {found}, expected that of a" in text, text
        assert bmc.logins == []
        # One that is not given is the same as false.
        for entry, value in zip(entries, (True, True) if first else (None, False)):
            entry["bmc"]["disable_certificate_verification"] = value
        assert run(*entries)["changed"]


def test_a_bmc_is_verified_by_the_authorities_of_its_own_host(tmp_path):
    paths, signer = issue(tmp_path, "rack1")
    other = issue(tmp_path, "rack2")[0]
    with Bmc(certificate=issue(tmp_path, "bmc", issuer=signer)[0]) as bmc:
        found = host(bmc)
        found["bmc"]["address"] = found["bmc"]["address"].replace("redfish+http:", "redfish:")
        refused(dict(found, ca_cert=other[0]))
        assert bmc.logins == [] and run(dict(found, ca_cert=paths[0]))["changed"] and bmc.password == NEW


def test_a_repeated_name_is_refused():
    with Bmc() as bmc:
        assert "named twice" in refused(host(bmc), host(bmc)) and bmc.logins == []


class Ipmitool:
    """The program in front of a BMC.

    :param becomes: callable that takes a new password and returns the one that counts then
    :param says: what the BMC answers to a new password
    """

    LIST = "1,,true,false,false,NO ACCESS\n2,admin,true,true,true,ADMINISTRATOR\n3,ad,min,true,true,true,USER\n"
    DONE = "Set User Password command successful (user 2)"

    def __init__(self, password=OLD, becomes=lambda text: text, says=DONE, listed=LIST):
        self.password, self.becomes, self.says, self.listed = password, becomes, says, listed
        self.tried, self.commands, self.wrong = [], [], 0

    def run(self, login, lines, *dummy):
        """Stand for ``ipmi._run``."""
        self.tried.append(login.password)
        if login.password != self.password:
            self.wrong += 1
            return "RAKP 2 HMAC is invalid"
        line, = lines
        self.commands.append(line)
        if line == "user list":
            return self.listed
        if self.says == self.DONE:
            self.password = self.becomes(line.split()[4])
        return f"{self.says}\n"


def by_ipmi(monkeypatch, bmc, **options):
    monkeypatch.setattr(ipmi, "_run", bmc.run)
    given = dict({"address": "ipmi://192.0.2.1", "username": "admin", "password": OLD, "new_password": NEW}, **options)
    return {"name": "a", "bmc": given}


@pytest.mark.parametrize(("bmc", "status", "wrong"), [
    (Ipmitool(), "changed", 0),
    (Ipmitool(NEW), "unchanged", 1),
    (Ipmitool(says="Set User Password command failed (user 2)"), "refused", 0),
    (Ipmitool(says=""), "failed", 1),
    (Ipmitool(becomes=lambda text: OLD), "restored", 1),
    (Ipmitool(becomes=lambda text: text[:8]), "lost", 2),
])
def test_ipmi(monkeypatch, bmc, status, wrong):
    found, = run(by_ipmi(monkeypatch, bmc))["hosts"]
    assert (found["status"], bmc.wrong) == (status, wrong) and bmc.commands[0] == "user list"
    assert NEW not in found["error"] and OLD not in found["error"]
    if status != "unchanged":
        assert f"user set password 2 {NEW} 16" in bmc.commands


@pytest.mark.parametrize("listed", [
    "", "2,other,true,true,true,USER\n", Ipmitool.LIST + "4,admin,true,true,true,USER\n"])
def test_a_user_that_ipmi_does_not_list_once_is_refused(monkeypatch, listed):
    bmc = Ipmitool(listed=listed)
    assert "does not list this user once" in refused(by_ipmi(monkeypatch, bmc)) and bmc.password == OLD


@pytest.mark.parametrize("new", ["x" * 21, "new#secret", "new'secret", "new secret", "new~secret", 'new"secret'])
def test_what_ipmitool_would_not_read_as_it_is_is_refused(monkeypatch, new):
    bmc = Ipmitool()
    assert "by IPMI" in refused(by_ipmi(monkeypatch, bmc, new_password=new)) and bmc.tried == []


def test_neither_password_is_tried_twice_by_ipmi(monkeypatch):
    bmc = Ipmitool("another")
    assert "each was tried once" in refused(by_ipmi(monkeypatch, bmc)) and bmc.tried == [OLD, NEW]


@pytest.mark.parametrize(("present", "order"), [
    (("a", None), ("a", "new")), (("new", "a"), ("new", "a")), (("a", "b"), ("a", "new")), ((None, ""), ("new",)),
    (("new", "new"), ("new",)), ((None, "b"), ("b", "new"))])
def test_at_most_two_passwords_are_tried(present, order):
    assert accounts.tried("new", *present) == order
