# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""From entries to results: addresses that can't be read, and what is left out."""
from __future__ import annotations

import json
import sys

import pytest
from fakes.redfish import SESSIONS, FakeRedfish, tree

from ansible_collections.metal3.baremetal.plugins.filter.bmc_entries import bmc_entries
from ansible_collections.metal3.baremetal.plugins.module_utils._bmc.preflight import reach
from ansible_collections.metal3.baremetal.plugins.module_utils._bmc.preflight import service as bmc_service
from ansible_collections.metal3.baremetal.plugins.module_utils._bmc.protocols.gather import Settings
from ansible_collections.metal3.baremetal.plugins.module_utils._elsewhere import asking

SETTINGS = Settings(None, 2, 5, 8)


def entry(name, address, **changes):
    return dict({"name": name, "bmc": {"address": address, "username": "admin", "password": "right"}}, **changes)


def preflight(*hosts):
    return bmc_service.preflight(list(hosts), SETTINGS, 30, 10 ** 9)


def test_an_address_that_cannot_be_read_does_not_keep_others_from_being_asked():
    with FakeRedfish(tree("dell")) as bmc:
        bad, missing, good = preflight(
            entry("bad", "redfsh://admin:secret@192.0.2.1"), {"name": "missing"},
            entry("good", f"idrac-virtualmedia+http://127.0.0.1:{bmc.port}"))
    assert [(check["check"], check["status"]) for check in bad["checks"]] == [("address", "problem")]
    assert "perhaps redfish" in bad["checks"][0]["hint"]
    assert "secret" not in json.dumps(bad)
    assert (missing["checks"][0]["actual"], missing["checks"][0]["code"]) == (None, "bmc-address")
    assert good["verdict"] == "warning"
    assert [check["check"] for check in good["checks"] if check["status"] == "problem"] == []


def test_results_hold_no_password_and_few_words_on_failure():
    with FakeRedfish(tree("hpe"), password="a-secret") as bmc:
        host = entry("a", f"redfish+http://127.0.0.1:{bmc.port}")
        host["bmc"]["password"] = "a-secret"
        result, = preflight(host)
        facts, = bmc_service.info([host], SETTINGS)
    assert "a-secret" not in json.dumps([result, facts])
    assert "attributes" not in result["facts"]["bios"]
    assert facts["bios"]["attributes"]["BootMode"] == "Uefi"
    short = bmc_service.shortened(result)
    assert "facts" not in short
    statuses = {check["status"] for check in short["checks"]}
    assert statuses and statuses <= {"warning", "problem"}


def test_info_says_what_ended_it():
    facts, = bmc_service.info([entry("a", "http://192.0.2.1")], SETTINGS)
    assert facts["error"]["stage"] == "address"
    assert facts["name"] == "a"


def test_two_names_for_one_server():
    with FakeRedfish(tree("dell")) as bmc:
        address = f"idrac-redfish+http://127.0.0.1:{bmc.port}"
        results = preflight(entry("a", address), entry("b", address + "/redfish/v1/Systems/System.Embedded.1"))
    assert [result["checks"][-1]["check"] for result in results] == ["unique", "unique"]
    assert results[0]["checks"][-1]["actual"].endswith("as b")


def test_entries_hold_only_what_bmcs_are_asked_for():
    hostvars = {"a": {"bmc_address": "ipmi://192.0.2.1", "bmc_username": "u", "boot_mac": "m", "bmh_boot_mode": "UEFI",
                      "bmh_labels": {"a": "b"}, "bmh_image": {"url": "u"}}}
    assert bmc_entries(hostvars, ["a"]) == [{
        "name": "a", "bmc": {"address": "ipmi://192.0.2.1", "username": "u"}, "boot_mac_address": "m",
        "boot_mode": "UEFI"}]


def test_a_bmc_that_ironics_pod_does_not_reach_is_a_problem_and_a_pod_that_says_nothing_a_warning():
    """The pod's Python is this one; to it the discarding port of loopback is closed."""
    hosts = [entry("closed", "redfish+http://127.0.0.1:9"), entry("no-address", "no address")]

    def asked(command):
        found = bmc_service.preflight(hosts, SETTINGS._replace(login_only=True), 30, 10 ** 9,
                                      asked=asking.by_command(command, "Deployment n/ironic"))
        return dict((host["name"], [check for check in host["checks"] if check["check"] == reach.ITEM])
                    for host in found)

    found = asked([sys.executable, "-"])
    assert found["no-address"] == [] and found["closed"][0]["status"] == "problem"
    assert "connection refused at 127.0.0.1:9/tcp, asked from Deployment n/ironic" in found["closed"][0]["text"]
    found = asked(["/nonexistent/kubectl"])
    assert {check["status"] for checks in found.values() for check in checks} == {"warning"}
    assert "not asked from Deployment n/ironic: FileNotFoundError" in found["closed"][0]["text"]


@pytest.mark.parametrize(("where", "check"), [("/redfish/v1", "service"), (SESSIONS, "login")])
@pytest.mark.parametrize("status", [429, 503, None])
def test_a_bmc_that_is_busy_is_not_said_to_have_no_redfish(where, check, status):
    with FakeRedfish(tree("dell")) as bmc:
        if status:
            bmc.redirects[where] = status, ""
        else:
            bmc.drop = lambda path: path == where
        result, = preflight(entry("a", f"redfish+http://127.0.0.1:{bmc.port}"))
        assert bmc.wrong_logins() == 0
    found, = [item for item in result["checks"] if item["check"] == check]
    assert found["status"] == "problem" and "overloaded or restarting" in found["hint"]
    assert "switched on" not in found["hint"]


@pytest.mark.parametrize(("path", "busy", "found", "hint"), [
    ("", "/redfish/v1/Systems", "HTTP 503", "run again"),
    ("/redfish/v1/Systems/System.Embedded.1", "/redfish/v1/Systems/System.Embedded.1", "HTTP 503", "run again"),
    ("/redfish/v1/Systems/1", "", "there is /redfish/v1/Systems/System.Embedded.1", "correct the path")])
def test_a_system_that_could_not_be_read_is_none_that_is_not_there(path, busy, found, hint):
    with FakeRedfish(tree("dell")) as bmc:
        bmc.redirects[busy] = 503, ""
        result, = preflight(entry("a", f"redfish+http://127.0.0.1:{bmc.port}{path}"))
    check, = [item for item in result["checks"] if item["check"] == "system"]
    assert check["status"] == "problem" and found in check["actual"] and hint in check["hint"]
    assert ("none" in check["actual"] or "correct" in check["hint"]) is (not busy)
