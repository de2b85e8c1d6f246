# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A cluster of one virtual server: what its description needs, and what somebody with its kubeconfig finds."""
from __future__ import annotations

import contextlib
import subprocess

import bmc_system
import sushy
from support import eventually, only
from virtual_site import BOOT_SECONDS

# Its group of clusters has the lab's settings of nodes; the lab itself may have no cluster.
IN_LAB = {"LAB_CLUSTER": "workload"}
# Without KVM and beside other labs the API server takes longer than the 4 min that kubeadm waits for it.
_TIMEOUTS = {"timeouts": {"controlPlaneComponentHealthCheckSeconds": 1200}}
# Each signal by which Go interrupts its own programs costs an emulated processor much.
_ENVIRONMENT = {"extraEnvs": [{"name": "GODEBUG", "value": "asyncpreemptoff=1"}]}
# They renew their leases late, and would end for that (docs/decisions/0896).
_ELECTED = dict(_ENVIRONMENT, extraArgs=[{"name": f"leader-elect-{name}", "value": value} for name, value in (
    ("lease-duration", "120s"), ("renew-deadline", "100s"), ("retry-period", "10s"))])
# What the control plane's description has of an emulated server.
SLOW = {"init_configuration": _TIMEOUTS, "join_configuration": _TIMEOUTS, "cluster_configuration": {
    # A handshake with RSA takes several times as long, and each probe is one.
    "encryptionAlgorithm": "ECDSA-P256",
    "apiServer": _ENVIRONMENT, "controllerManager": _ELECTED, "scheduler": _ELECTED}}
NOT_YET = (subprocess.CalledProcessError, subprocess.TimeoutExpired)


@contextlib.contextmanager
def labelled(lab, name, disk, labels):
    """Give a server labels and choose its disk while the block runs; it is available, and again afterwards.

    :param name: the server's name
    :param disk: the number of its disk
    :param labels: name → value, none of which it has otherwise
    """
    hints = {"serial_number": lab.servers[name]["disks"][disk]["serial"]}
    inventory = lab.inventory({name: {"bmh_labels": labels, "bmh_root_device_hints": hints}})
    lab.playbook("enroll", "-i", inventory, *only(name), seconds=BOOT_SECONDS).ok()
    try:
        yield
    finally:
        lab.playbook("enroll", *only(name), seconds=BOOT_SECONDS).ok()
    assert lab.state(name) == "available" and not set(labels) & set(lab.host(name)["metadata"].get("labels") or {})


def kubectl(lab, workload, *arguments):
    """Run kubectl against the cluster by its kubeconfig, which names the endpoint, and return what it prints."""
    program = lab.figures["engine_dir"] + "/bin/kubectl"
    return subprocess.run([program, "--kubeconfig", workload.kubeconfig, "--request-timeout=60s", *arguments],
                          check=True, capture_output=True, text=True, timeout=90).stdout


def is_ready(lab, workload):
    """Return whether the one node is Ready, asked by the endpoint."""
    return kubectl(lab, workload, "wait", "--for=condition=Ready", "node", "--all").count("condition met") == 1


def restart(lab, workload, name):
    """Reset the cluster's machine by its BMC, and wait until its system has booted again and is Ready.

    :param name: the server's name
    """
    node, = workload.nodes().values()
    bmc_system.system(lab, lab.servers[name]).reset_system(sushy.RESET_TYPE_FORCE_RESTART)

    def boots():
        return kubectl(lab, workload, "get", "nodes", "-o", "jsonpath={.items[*].status.nodeInfo.bootID}")

    eventually(lambda: boots() != node["status"]["nodeInfo"]["bootID"], 900, "the node after its restart", 5, NOT_YET)
    eventually(workload.ready, 300, "the node is Ready", 5)
