# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Bad input and faults: a clear error that names host, field and next step, or recovery; nothing lost or doubled."""
from __future__ import annotations

import json
import os
import signal

import pytest
from support import eventually

VICTIM = "server-04"


def variables(**values):
    return ("--limit", VICTIM, "-e", json.dumps(values))


@pytest.fixture
def gone(lab):
    """The victim without a BareMetalHost before the test, and enrolled as the inventory has it after the test."""
    lab.remove_host(VICTIM)
    yield lab
    lab.playbook("enroll", "--limit", VICTIM).ok()
    assert lab.state(VICTIM) == "available"
    assert sorted(lab.nodes()) == sorted(lab.servers)


@pytest.mark.parametrize("values, texts", [
    ({"bmc_address": "redfsh://192.0.2.1/redfish/v1/Systems/1"}, ["bmc_address", "redfsh"]),
    ({"bmc_address": "idrac-redfish+ftp://192.0.2.1/redfish/v1/Systems/1"}, ["bmc_address", "idrac-redfish+ftp"]),
    ({"bmc_password": ""}, ["bmc_password"]),
    ({"boot_mac": "00:5c:52:zz:00:01"}, ["boot_mac", "00:5c:52:zz:00:01"]),
    ({"bmh_image": {"url": "https://127.0.0.1/image.raw"}}, ["image", "checksum"]),
])
def test_bad_input_is_refused_before_anything_is_written(gone, values, texts):
    run = gone.playbook("enroll", *variables(**values)).failed(VICTIM, *texts)
    assert gone.host(VICTIM) is None
    assert run.changed() == 0


def test_a_mac_of_another_host_is_refused(gone):
    mac = gone.servers["server-02"]["boot_mac"]
    gone.playbook("enroll", *variables(boot_mac=mac)).failed(VICTIM, mac, "server-02")
    assert gone.host(VICTIM) is None


def test_a_wrong_bmc_password_is_told_at_once_and_can_be_mended(gone):
    run = gone.playbook("enroll", *variables(bmc_password="not-the-password"), seconds=180)
    run.failed(VICTIM, "bmc_password", "registration error")
    assert "not-the-password" not in run.output
    gone.playbook("enroll", "--limit", VICTIM).ok()
    assert gone.state(VICTIM) == "available"


def test_a_bmc_address_without_a_server_is_told(gone):
    address = gone.servers[VICTIM]["bmc"]["address"].rpartition("/")[0] + "/no-such-system"
    run = gone.playbook("enroll", *variables(bmc_address=address), seconds=180)
    run.failed(VICTIM, "bmc_address")


def test_an_api_server_that_stops_for_a_while_is_waited_for(gone):
    run = gone.start("enroll", "--limit", VICTIM)
    gone.wait_for_host(VICTIM, lambda host: host is not None, "made")
    pid = gone.pid("kube-apiserver")
    os.kill(pid, signal.SIGKILL)
    run.finish(300).ok()
    assert gone.pid("kube-apiserver") != pid
    assert gone.state(VICTIM) == "available"


def test_an_api_server_that_is_down_is_named(lab):
    run = lab.playbook("enroll", "-e", "metal3_kubeconfig=%s" % (lab.dir / "no-such-kubeconfig"))
    run.failed("no-such-kubeconfig")


def test_a_killed_playbook_is_taken_up_by_the_next_run(gone):
    run = gone.start("enroll", "--limit", VICTIM)
    gone.wait_for_host(VICTIM, lambda host: host is not None, "made")
    uid = gone.host(VICTIM)["metadata"]["uid"]
    run.kill()
    gone.playbook("enroll", "--limit", VICTIM).ok()
    assert gone.state(VICTIM) == "available"
    assert gone.host(VICTIM)["metadata"]["uid"] == uid


def test_ironic_restarted_during_inspection_loses_nothing(gone):
    before = set(node.id for name, node in gone.nodes().items() if name != VICTIM)
    run = gone.start("enroll", "--limit", VICTIM)
    gone.wait_for_host(
        VICTIM, lambda host: host and host.get("status", {}).get("provisioning", {}).get("state") == "inspecting",
        "inspecting")
    pid = gone.pid("ironic")
    os.kill(pid, signal.SIGKILL)
    eventually(lambda: gone.pid("ironic") not in (None, pid), 60, "Ironic restarted")
    run.finish(600).ok()
    assert gone.state(VICTIM) == "available"
    assert before <= set(node.id for node in gone.nodes().values())
