# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The playbooks ironic_nodes and ironic_audit against an Ironic and an API server in memory."""
from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from fakes.api_server import ApiServer, kubeconfig_of
from fakes.http_ironic import HttpIronic

BIN = Path(sys.executable).parent
COLLECTIONS = Path(__file__).resolve().parents[3] / ".build"


@pytest.fixture
def playbook(tmp_path):
    """Return a callable that runs a playbook and returns its output and whether it succeeded."""
    def run(name, ironic, inventory, extra=None):
        (tmp_path / "hosts.json").write_text(json.dumps({"baremetal": {"hosts": inventory}}))
        environment = dict((key, value) for key, value in os.environ.items()
                           if not key.startswith(("OS_", "K8S_AUTH_", "KUBE")))
        done = subprocess.run(
            [str(BIN / "ansible-playbook"), "metal3.baremetal." + name, "-i", "hosts.json", "-e",
             json.dumps(dict({"ansible_python_interpreter": sys.executable}, **(extra or {})))],
            cwd=tmp_path, env=dict(environment, ANSIBLE_COLLECTIONS_PATH=str(COLLECTIONS), ANSIBLE_NOCOLOR="1",
                                   HOME=str(tmp_path), OS_ENDPOINT=ironic.url),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        return done.stdout, done.returncode == 0
    return run


def verbs(server, name):
    """Return the targets that were asked of a node, one after the other."""
    node = next(uuid for uuid, item in server.ironic.nodes.items() if item["name"] == name)
    return [body["target"] for method, path, body in server.ironic.sent
            if method == "PUT" and path.endswith("/states/provision")
            and path.split("/")[2] in (node, *[chosen for chosen, own in server.ironic._chosen.items() if own == node])]


@pytest.mark.parametrize(("named", "asked_of_old"), [
    ([], ["manage"]), (["old"], ["manage", "inspect", "provide"])])
def test_a_node_that_was_there_before_is_only_erased_when_it_is_named(playbook, named, asked_of_old):
    """A node that an earlier run, or somebody else, had left in enroll was cleaned without a word."""
    with HttpIronic() as server:
        server.ironic.add("old", "enroll", driver_info={"redfish_address": "http://192.0.2.1"})
        output, succeeded = playbook("ironic_nodes", server, {
            "old": {"bmc_address": "redfish+http://192.0.2.1/redfish/v1/Systems/1", "bmc_username": "u",
                    "bmc_password": "p", "boot_mac": "00:5c:52:00:00:01"},
            "new": {"bmc_address": "redfish+http://192.0.2.2/redfish/v1/Systems/1", "bmc_username": "u",
                    "bmc_password": "p", "boot_mac": "00:5c:52:00:00:02"}}, {"ironic_nodes_provide": named})
        assert verbs(server, "new") == ["manage", "inspect", "provide"], output
        assert verbs(server, "old") == asked_of_old, output
    assert succeeded == bool(named), output
    if not named:
        assert "1 of 2 servers are neither available nor deployed" in output
        assert "old, manageable, power off" in output
        assert json.dumps({"ironic_nodes_provide": ["old"]}) in output.replace('\\"', '"')


def test_the_audit_takes_the_kubeconfig_that_the_other_playbooks_take(playbook, tmp_path):
    with HttpIronic() as ironic, ApiServer() as server:
        (tmp_path / "kubeconfig").write_text(json.dumps(kubeconfig_of(server.url)))
        output, succeeded = playbook("ironic_audit", ironic, {}, {"metal3_kubeconfig": str(tmp_path / "kubeconfig")})
        assert succeeded, output
        assert server.requests
