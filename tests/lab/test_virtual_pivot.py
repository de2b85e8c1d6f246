# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The management of virtual servers moves into a cluster and back, while one of them runs on its own kernel.

The cluster's machine is a simulated server. What runs on the other two, and what they boot, is real: the Ironic over
there, a pod, takes over a system that is up, and then provisions the server that is free.
"""
from __future__ import annotations

import subprocess

import plane_site
import pytest
from bmc_requests import BmcLogs
from support import NAMESPACE, eventually, only
from virtual_site import BOOT_SECONDS, in_system, inventory_arguments
from watching import Polled, Repeated, Untouched, facts

from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.kinds import KNOWN

pytestmark = [pytest.mark.nodes, pytest.mark.metal_pivot]

# Of tests/lab/data/mixed: one with an image of its own, one that is available. A label selects the cluster's.
USED, FREE = "server-02", "server-03"
CLUSTER = "plane"
SELECTED = {"example.org/kind": "simulated"}
BOOT_ID = "cat /proc/sys/kernel/random/boot_id"


class LoggedIn(Repeated):
    """Logs in to a server several times, and counts what was not answered."""

    INTERVAL_SECONDS = 2

    def __init__(self, lab, name):
        super().__init__()
        self._lab, self._name = lab, name
        self.boots, self.failed = set(), []

    def ask(self):
        try:
            self.boots.add(in_system(self._lab, self._name, BOOT_ID))
        except (AssertionError, subprocess.TimeoutExpired) as error:
            self.failed.append(str(error))


@pytest.fixture(scope="module")
def images(tmp_path_factory):
    """The arguments of a playbook that give both virtual servers an image whose users are let in."""
    return inventory_arguments(tmp_path_factory.mktemp("site"), {USED: {}, FREE: {}})


def booted(lab, name):
    """Return the boot's identity of a server's system, which may still be starting."""
    return eventually(lambda: in_system(lab, name, BOOT_ID), 900, f"{name} answers by ssh", interval_seconds=5,
                      not_yet=(AssertionError, subprocess.TimeoutExpired))


@pytest.fixture(scope="module")
def used(lab, images):
    """The identity of the boot of the system that runs meanwhile; both servers are given back afterwards."""
    lab.playbook("provision", *images, *only(USED), seconds=BOOT_SECONDS).ok()
    yield booted(lab, USED)
    taken = [name for name in (USED, FREE) if lab.state(name) == "provisioned"]
    # Without a limit all servers would be meant.
    if taken:
        lab.playbook("deprovision_hosts", *only(*taken), extra={"metal3_confirm": len(taken)},
                     seconds=BOOT_SECONDS).ok()


@pytest.fixture(scope="module")
def kubeconfig(lab, used):
    """Path of the kubeconfig of the cluster that is to manage them, and itself."""
    url = plane_site.image_server(lab) + "/images/node.qcow2"
    with plane_site.cluster(lab, CLUSTER, {"url": url, "checksum": url + ".sha256"}, SELECTED, BOOT_SECONDS) as path:
        yield path


@pytest.fixture(scope="module")
def installed(lab, kubeconfig, tmp_path_factory):
    """The plane over there, whose Ironic has what roles/ironic gives to one of virtual servers."""
    variables = plane_site.plane(lab, kubeconfig, tmp_path_factory.mktemp("ironic"))
    variables["ironic_environment"].update({
        "OS_DEFAULT__GRUB_CONFIG_PATH": "/boot/grub/grub.cfg",
        "OS_AGENT__POST_DEPLOY_GET_POWER_STATE_RETRIES": "90",
        "OS_API__RAMDISK_HEARTBEAT_TIMEOUT": "60",
        "OS_DEPLOY__FAST_TRACK_TIMEOUT": "300"})
    lab.playbook("install", extra=variables, seconds=BOOT_SECONDS).ok()


@pytest.fixture(scope="module")
def moved(lab, installed, kubeconfig, target, used):
    """What was before the move, and what was found meanwhile."""
    before, touched, logs = facts(lab.kube), Untouched(lab), BmcLogs(lab)
    with Polled(kubeconfig) as polled, LoggedIn(lab, USED) as logged_in:
        lab.playbook("pivot", extra={"pivot_to_kubeconfig": kubeconfig, "metal3_confirm": len(lab.servers)},
                     seconds=BOOT_SECONDS).ok()
    return before, touched, polled, logged_in, logs.mistakes()


def test_every_host_arrives_as_it_was(lab, moved, target):
    assert facts(target) == moved[0]
    assert sorted(moved[0].hosts) == sorted(lab.servers) and moved[0].hosts[USED][0] == "provisioned"
    assert lab.kube.list(KNOWN["BareMetalHost"], NAMESPACE)[0] == []
    assert "ironic" not in [name for name, part in lab.parts().items() if part["pid"]]


def test_no_server_is_reset_and_the_system_that_runs_answers_throughout(lab, moved, used):
    _before, touched, polled, logged_in, mistakes = moved
    assert touched.resets() == {} and mistakes == [] and polled.failed == []
    assert logged_in.boots == {used} and logged_in.failed == []
    assert in_system(lab, USED, BOOT_ID) == used


def test_the_ironic_over_there_provisions_the_free_server(lab, moved, images, kubeconfig, target, used):
    """Its firmware boots the agent from a medium that the pod has made, and then the image on its disk."""
    touched = Untouched(lab)
    lab.playbook("provision", *images, *only(FREE), extra={"metal3_kubeconfig": kubeconfig}, seconds=BOOT_SECONDS).ok()
    assert booted(lab, FREE) != used and " root=UUID=" in in_system(lab, FREE, "cat /proc/cmdline")
    assert facts(target).hosts[FREE][:2] == ("provisioned", "OK")
    assert sorted(touched.resets()) == [FREE] and in_system(lab, USED, BOOT_ID) == used


def test_they_move_back_and_both_systems_run_on(lab, moved, kubeconfig, target, used):
    lab.playbook("install", "--tags", "ironic", seconds=900).ok()
    second = booted(lab, FREE)
    before, touched, logs = facts(target), Untouched(lab), BmcLogs(lab)
    with LoggedIn(lab, USED) as first_one, LoggedIn(lab, FREE) as second_one:
        lab.playbook("pivot", seconds=BOOT_SECONDS, extra={
            "pivot_kubeconfig": kubeconfig, "pivot_to_kubeconfig": str(lab.dir / "kubeconfig"),
            "pivot_ironic_mode": "cluster", "pivot_reach_from": "here", "metal3_confirm": len(lab.servers)}).ok()
    assert facts(lab.kube) == before and touched.resets() == {} and logs.mistakes(back=True) == []
    assert (first_one.boots, second_one.boots) == ({used}, {second}) and not first_one.failed + second_one.failed
    assert set(lab.nodes()) == set(lab.servers)
