# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Only the login is tried, as enrolment does: few requests, one attempt, refused credentials as the only problem."""
from __future__ import annotations

import pytest
from bmc_certificates import issue
from fakes.redfish import SESSIONS, FakeRedfish, tree

from ansible_collections.metal3.baremetal.plugins.filter.bmc_entries import bmc_entries
from ansible_collections.metal3.baremetal.plugins.module_utils._bmc.preflight import service as bmc_service
from ansible_collections.metal3.baremetal.plugins.module_utils._bmc.protocols.gather import Settings

SETTINGS = Settings(None, 2, 5, 8, login_only=True)


def check(*hosts):
    return bmc_service.preflight(list(hosts), SETTINGS, 30, 120)


def host(bmc, name="a", scheme="redfish+http", **changes):
    return {"name": name, "bmc": dict({
        "address": f"{scheme}://127.0.0.1:{bmc.port}/redfish/v1/Systems/1", "username": "admin",
        "password": "right"}, **changes)}


def test_three_requests_are_enough():
    with FakeRedfish(tree("dell")) as bmc:
        result, = check(host(bmc))
        assert bmc.requests == [("GET", "/redfish/v1"), ("POST", SESSIONS), ("DELETE", SESSIONS + "/1")]
        assert (bmc.logins, bmc.open_sessions) == ([("session", True)], 0)
    assert result["verdict"] == "ok"
    assert [check["check"] for check in result["checks"]] == ["login"]


@pytest.mark.parametrize("vendor", ["dell", "lenovo"])
def test_a_wrong_password_is_the_problem_after_one_attempt(vendor):
    with FakeRedfish(tree(vendor)) as bmc:
        results = check(*[host(bmc, name=name, password="wrong") for name in "abc"])
        assert bmc.wrong_logins() == len(bmc.logins) == 1
    assert [result["verdict"] for result in results] == ["problem"] * 3
    verdict, = results[0]["checks"]
    assert verdict["field"] == "bmc.username" and "after one attempt" in verdict["actual"]


@pytest.mark.parametrize("credentials", [{"password": "пароль"}, {"username": "管理"}])
def test_what_http_basic_can_not_carry_is_the_problem_and_is_not_sent(credentials):
    with FakeRedfish(tree("lenovo")) as bmc:
        result, = check(host(bmc, **credentials))
        assert (bmc.logins, [method for method, dummy in bmc.requests]) == ([], ["GET"])
    assert result["verdict"] == "problem"
    verdict, = result["checks"]
    assert verdict["field"] == "bmc.username" and "Latin-1" in verdict["actual"] and "ASCII" in verdict["expected"]
    assert not any(text in str(result["checks"]) for text in credentials.values())


def test_a_session_carries_all_characters():
    with FakeRedfish(tree("dell"), password="пароль") as bmc:
        result, = check(host(bmc, password="пароль"))
    assert result["verdict"] == "ok"


def test_what_keeps_the_login_from_being_tried_is_a_warning(tmp_path):
    with FakeRedfish(tree("dell")) as bmc:
        pass
    silent, = check(host(bmc))
    with FakeRedfish(tree("dell"), certificate=issue(tmp_path, "stranger")[0]) as bmc:
        unknown, = check(host(bmc, scheme="redfish"))
        assert (bmc.logins, bmc.requests) == ([], [])
    with FakeRedfish({}) as bmc:
        other, = check(host(bmc))
    with FakeRedfish(tree("dell")) as bmc:
        bmc.drop = lambda path: path == SESSIONS
        late, = check(host(bmc))
    for result, text in ((silent, "127.0.0.1:"), (unknown, "certificate of CN=stranger"), (other, "HTTP 404"),
                         (late, "not tried: ")):
        assert result["verdict"] == "warning", result
        assert text in result["checks"][0]["actual"]


def test_without_credentials_nothing_is_said():
    with FakeRedfish(tree("dell")) as bmc:
        result, = check(host(bmc, username=None, password=None))
        assert bmc.logins == []
    assert result["verdict"] == "unknown"


def test_an_address_that_can_not_be_read_is_for_others_to_report():
    """The module that writes hosts reports it, with all other mistakes in them."""
    result, = check({"name": "a", "bmc": {"address": "redfsh://192.0.2.1"}})
    assert (result["verdict"], result["checks"][0]["field"]) == ("unknown", "")


VARIABLES = ["preflight_ca_cert", "metal3_ca_file"]


@pytest.mark.parametrize(("counts", "expected"), [
    # What counts for the first is its own; what the play gives counts for all.
    ("/a", [None, "/b", "", ""]), ("/given", [None] * 4), (object(), [None] * 4)])
def test_each_server_has_the_authorities_that_its_own_variables_name(counts, expected):
    hostvars = {"a": {"preflight_ca_cert": "/a", "metal3_ca_file": "/not"}, "b": {"metal3_ca_file": "/b"},
                "c": {"preflight_ca_cert": "", "metal3_ca_file": "/c"}, "d": {}}
    found = bmc_entries(hostvars, list("abcd"), True, ca_variables=VARIABLES, acting="a", ca_cert=counts)
    assert [entry.get("ca_cert") for entry in found] == expected
    # The one with whose variables the task runs has none, and its role's default is left out; or it is empty.
    for acting, counts in (("d", object()), ("c", "")):
        found = bmc_entries(hostvars, list("abcd"), True, ca_variables=VARIABLES, acting=acting, ca_cert=counts)
        assert [entry.get("ca_cert") for entry in found] == ["/a", "/b", None, None]
    # One that is none of the servers says what those without a file have.
    found = bmc_entries(dict(hostvars, m={"preflight_ca_cert": "/m"}), list("abcd"), True, ca_variables=VARIABLES[:1],
                        acting="m", ca_cert="/m", ca_default="/m")
    assert [entry.get("ca_cert") for entry in found] == ["/a", None, "", None]


def test_only_what_the_login_needs_is_taken_of_the_inventory():
    """A mistake in what is not needed must not come before, and in place of, the whole list of mistakes."""
    hostvars = {"a": {"bmc_address": "redfish://192.0.2.1", "bmc_username": "u", "bmh_boot_mode": "x", "boot_mac": 7}}
    assert bmc_entries(hostvars, ["a"], login_only=True) == [
        {"name": "a", "bmc": {"address": "redfish://192.0.2.1", "username": "u"}}]
    assert bmc_entries(hostvars, ["a"])[0]["boot_mode"] == "x"
