# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Firmware of the lab's servers: modules' work without Ansible and by Ansible, free servers, what Ironic has read."""
from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from pathlib import Path

from support import HOST, NAMESPACE

from ansible_collections.metal3.baremetal.plugins.module_utils._common.waiting.progress import Progress
from ansible_collections.metal3.baremetal.plugins.module_utils._host.state.goals import state_of
from ansible_collections.metal3.baremetal.plugins.module_utils._resources.registry import FAMILIES
from ansible_collections.metal3.baremetal.plugins.module_utils._resources.service import FamilyService, read_facts


def run(lab, kind, entries, check_mode=False, **params):
    """Run a module's work and return its results by name."""
    family = FAMILIES[kind]
    params = dict({"namespace": NAMESPACE, family.option: entries, "wait_timeout_seconds": 200}, **params)
    return FamilyService(lab.kube, family, params, check_mode, Progress()).run()


def done(lab, kind, entry, **params):
    """Run a module's work for one entry, without an error, and return its result."""
    item = run(lab, kind, [entry], **params)[FAMILIES[kind].option][0]
    assert item["error"] == "", item
    return item


def facts(lab, kind, name):
    params = {"namespace": NAMESPACE, "all_namespaces": False, "names": [name], "label_selector": None,
              "full_objects": False}
    return read_facts(lab.kube, FAMILIES[kind], params)[FAMILIES[kind].option][0]


def module(lab, name, **arguments):
    """Run a module of the collection as Ansible does and return its result."""
    arguments = dict({"kubeconfig": str(lab.dir / "kubeconfig"), "namespace": NAMESPACE}, **arguments)
    arguments = dict((name, value) for name, value in arguments.items() if value is not None)
    result = subprocess.run(
        [str(Path(sys.executable).parent / "ansible"), "localhost", "-m", "metal3.baremetal." + name, "-a",
         json.dumps(arguments)], capture_output=True, text=True, check=False, timeout=120,
        env=dict(os.environ, ANSIBLE_STDOUT_CALLBACK="ansible.builtin.minimal"))
    assert result.returncode == 0, result.stdout + result.stderr
    return json.loads(result.stdout.partition("=>")[2])


def reboot(lab, name):
    lab.kube.patch(HOST, NAMESPACE, name, {"metadata": {"annotations": {"reboot.metal3.io": '{"mode": "hard"}'}}})


def free_names(lab, state):
    """Return the names of the free servers that are meant to be in a state, when they are."""
    names = [name for name, host in sorted(lab.hosts().items()) if not host["spec"].get("consumerRef")
             and bool(host["spec"].get("image")) is (state == "provisioned")]
    assert names, f"no free server is to be {state}"
    for name in names:
        lab.wait_for_host(name, lambda host: state_of(host) == state, state)
    return names


def free(lab, state):
    """Return the same by the scheme of the BMC's address, one for each."""
    names = free_names(lab, state)
    return dict((lab.servers[name]["bmc"]["address"].partition("+")[0], name) for name in names)


@contextlib.contextmanager
def read_again(lab, names):
    """Let BMO read the firmware's versions.

    It does so every five minutes (reconcilerRequeueDelay), and when the host's specification changes.
    """
    described = dict((name, lab.host(name)["spec"].get("description")) for name in names)
    try:
        for name in described:
            lab.kube.patch(HOST, NAMESPACE, name, {"spec": {"description": "flashed by a test"}})
        yield
    finally:
        for name, description in described.items():
            lab.kube.patch(HOST, NAMESPACE, name, {"spec": {"description": description}})


def versions_of(lab, name):
    """Return the versions of a node's firmware as Ironic has them."""
    answer = lab.ironic().get(f"/nodes/{lab.nodes()[name].id}/firmware", microversion="1.86")
    return dict((item["component"], item["current_version"]) for item in answer.json()["firmware"])
