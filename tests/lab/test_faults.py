# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Faults of BMCs, servers and the management plane: reported with host, cause and next step, or recovered from."""
from __future__ import annotations

import contextlib
import os
import re
import signal
import socket
import ssl
import urllib.parse

import pytest
from processes import has_ended, workers_of
from support import AT_ONCE, NAMESPACE, eventually, only

from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.kinds import KNOWN

VICTIM = "server-04"
# What puts things right is not to wait so long for a host that it hides why the test failed.
ENROLS_SOON = ("-e", '{"hosts_wait_timeout_seconds": 240}')


@pytest.fixture
def removed(lab, room):
    """Remove hosts; after the test enrol them as the inventory has them.

    Hosts that are in error are removed again first: BMO's own next attempt comes a minute or two later.
    """
    names = []

    def remove(*wanted):
        names.extend(wanted)
        lab.remove_hosts(*wanted)

    yield remove
    for name in names:
        room.clear_knobs(name)
    lab.remove_hosts(*(name for name in names if (lab.host(name) or {}).get("status", {}).get("errorType")))
    lab.playbook("enroll", *ENROLS_SOON, *only(*names)).ok()
    assert all(lab.state(name) == "available" for name in names)
    assert sorted(lab.nodes()) == sorted(lab.servers)


def test_what_a_bmc_refuses_is_reported_of_each_host_and_can_be_mended(lab, removed):
    removed("server-01", "server-02")
    address = lab.servers["server-02"]["bmc"]["address"].rpartition("/")[0] + "/no-such-system"
    wrong = lab.inventory({"server-01": {"bmc_password": "not-the-password"}, "server-02": {"bmc_address": address}})
    # Else enrolment finds the wrong password itself, and BMO never meets it.
    run = lab.playbook("enroll", "-i", wrong, *only("server-01", "server-02"), extra={"enroll_preflight": "none"})
    run.failed("2 of 2 hosts")
    for name, texts in (("server-01", ["refused the credentials", "correct bmc_username and bmc_password"]),
                        ("server-02", ["no system at the path", "no-such-system", "correct bmc_address"])):
        message = "\n".join(run.output_of(name))
        assert "registration error" in message and all(text in message for text in texts), message
    assert "not-the-password" not in run.output

    uids = dict((name, host["metadata"]["uid"]) for name, host in lab.hosts().items())
    lab.playbook("enroll", *only("server-01", "server-02")).ok()
    assert lab.state("server-01") == lab.state("server-02") == "available"
    assert dict((name, host["metadata"]["uid"]) for name, host in lab.hosts().items()) == uids


def test_a_wrong_new_password_of_an_available_host_is_reported_and_mended(lab):
    name = "server-01"
    assert lab.state(name) == "available"
    node = lab.nodes()[name].id
    try:
        wrong = lab.inventory({name: {"bmc_password": "not-the-password"}})
        before = lab.versions()
        run = lab.playbook("enroll", "-i", wrong, *only(name)).failed(name, "bmc_password")
        assert "not-the-password" not in run.output and lab.versions() == before
        # Without asking the BMC first: the operator takes them, and logs in with them later.
        run = lab.playbook("enroll", "-i", wrong, *only(name), "-e", "enroll_preflight=none").ok()
        assert "BMO has not logged in with the new user name and password" in run.output
    finally:
        lab.playbook("enroll", *only(name)).ok()
    status = lab.host(name)["status"]
    secret = lab.kube.get(KNOWN["Secret"], NAMESPACE, name + "-bmc-secret")
    assert status["operationalStatus"] == "OK" and lab.state(name) == "available"
    assert status["goodCredentials"]["credentialsVersion"] == secret["metadata"]["resourceVersion"]
    assert lab.nodes()[name].id == node


def test_an_api_server_that_stops_for_a_while_is_waited_for(lab, removed):
    removed(VICTIM)
    # Asking takes seconds, in which the moment would pass.
    pid = lab.pid("kube-apiserver")
    run = lab.start("enroll", *only(VICTIM))
    lab.wait_for_host(VICTIM, lambda host: host is not None, "made")
    os.kill(pid, signal.SIGKILL)
    run.finish(600).ok()
    assert lab.pid("kube-apiserver") != pid
    assert lab.state(VICTIM) == "available"


def test_a_kubeconfig_that_is_not_there_is_named(lab):
    lab.playbook("enroll", "-e", f"metal3_kubeconfig={lab.dir / 'no-such-kubeconfig'}").failed("no-such-kubeconfig")


def test_a_killed_playbook_is_taken_up_by_the_next_run(lab, room, removed):
    removed(VICTIM)
    # So that the second run has something to wait for, and says how far the boot is.
    room.set_knobs(VICTIM, slow_power=30)
    run = lab.start("enroll", *only(VICTIM))
    lab.wait_for_host(VICTIM, lambda host: host is not None, "made")
    uid = lab.host(VICTIM)["metadata"]["uid"]
    run.kill()
    run = lab.playbook("enroll", *only(VICTIM)).ok()
    phase = rf"{VICTIM} inspecting \d+ s \((powered|read|Ironic prepares|its agent|the agent)"
    assert re.search(phase, run.output), run.output
    assert lab.state(VICTIM) == "available"
    assert lab.host(VICTIM)["metadata"]["uid"] == uid


def test_ironic_restarted_during_inspection_loses_nothing(lab, removed):
    removed(VICTIM)
    before = set(node.id for name, node in lab.nodes().items() if name != VICTIM)
    pid = lab.pid("ironic")
    run = lab.start("enroll", *only(VICTIM))
    lab.wait_for_host(
        VICTIM, lambda host: host and host.get("status", {}).get("provisioning", {}).get("state") == "inspecting",
        "inspecting")
    os.kill(pid, signal.SIGKILL)
    assert lab.state(VICTIM) == "inspecting"
    eventually(lambda: lab.pid("ironic") not in (None, pid), 120, "Ironic restarted")
    run.finish(600).ok()
    assert lab.state(VICTIM) == "available"
    assert before and before <= set(node.id for node in lab.nodes().values())


@pytest.mark.long
def test_a_killed_ironic_is_gone_before_the_next_one_begins(lab):
    pid = lab.pid("ironic")
    workers = workers_of(pid)
    assert workers
    address = urllib.parse.urlsplit(lab.figures["urls"]["ironic"])
    trusted = ssl.create_default_context(cafile=lab.dir / "pki" / "ca.crt")
    # With a request to finish a worker outlives the start of its successor, and then signs off for both.
    with contextlib.ExitStack() as requests:
        for dummy in range(5):
            plain = requests.enter_context(socket.create_connection((address.hostname, address.port)))
            half = requests.enter_context(trusted.wrap_socket(plain, server_hostname=address.hostname))
            half.sendall(b"GET /v1/nodes HTTP/1.1\r\n")
        os.kill(pid, signal.SIGKILL)
        eventually(lambda: lab.pid("ironic") not in (None, pid), 120, "Ironic restarted")
        eventually(lambda: all(map(has_ended, workers)), 60, "workers gone")
    lab.make("lab", "LAB=" + lab.name).ok()
    assert list(lab.ironic().drivers())


# Ironic tries a BMC that does not answer for two to three minutes before it calls that an error.
@pytest.mark.long
def test_bmcs_that_do_not_answer_are_reported(lab, room, removed):
    removed("server-02", VICTIM)
    room.set_knobs("server-02", bmc_unavailable=True)
    room.set_knobs(VICTIM, bmc_unreachable=True)
    run = lab.playbook("enroll", *AT_ONCE, *only("server-02", VICTIM), seconds=480).failed("2 of 2 hosts failed")
    for name in ("server-02", VICTIM):
        message = "\n".join(run.output_of(name))
        assert "registration error" in message and "the BMC does not answer" in message, message
        assert "look at the BMC's address" in message, message


@pytest.mark.long
def test_a_bmc_that_comes_back_needs_nobody(lab, room, removed):
    removed(VICTIM)
    room.set_knobs(VICTIM, bmc_unreachable=True)
    run = lab.start("enroll", *only(VICTIM))
    eventually(lambda: VICTIM + ": registration error" in run.output, 300, "the error's line of progress")
    room.clear_knobs(VICTIM)
    run.finish(600).ok()
    assert lab.state(VICTIM) == "available"


# Ironic does not take an inventory without NICs, so both end in its timeout.
@pytest.mark.long
def test_a_server_that_is_never_inspected_is_reported(lab, room, removed):
    removed("server-02", VICTIM)
    room.set_knobs("server-02", inspection_without_nics=True)
    room.set_knobs(VICTIM, agent_never_calls_back=True)
    run = lab.playbook("enroll", *AT_ONCE, *only("server-02", VICTIM), seconds=540).failed("2 of 2 hosts failed")
    for name in ("server-02", VICTIM):
        message = "\n".join(run.output_of(name))
        texts = ("inspection error", "never reported", "look at the server's console")
        assert all(text in message for text in texts), message
