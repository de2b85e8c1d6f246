# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A node of Ironic for a server whose host is detached, written and changed by the collection's modules alone."""
from __future__ import annotations

import json
import sys

import processes
from bmc_system import credential
from support import eventually
from virtual_site import BOOT_SECONDS

from ansible_collections.metal3.baremetal.plugins.module_utils._ironic.actions import deployment


class StandaloneNode:
    """The node; what is done with it is a playbook of one task.

    :param lab: a Lab
    :param server: the server's description
    :param folder: a folder of the test's, where playbooks and results are
    """

    def __init__(self, lab, server, folder):
        self._lab, self._folder = lab, folder
        self.name = "standalone-" + server["name"]
        authority, slash, path = server["bmc"]["address"].partition("//")[2].partition("/")
        self._options = {
            "name": self.name, "driver": "redfish",
            "driver_info": {"redfish_address": "https://" + authority, "redfish_system_id": slash + path,
                            "redfish_username": credential(server, "username"),
                            "redfish_password": credential(server, "password")},
            "properties": {"cpu_arch": server["architecture"], "capabilities": "boot_mode:uefi"},
            "interfaces": {"boot": "ipxe", "rescue": "agent"},
            "ports": [{"address": server["boot_mac"], "pxe_enabled": True}]}

    def register(self):
        """Write it."""
        self._run("ironic_node", nodes=[self._options])

    def remove(self):
        """Delete it, whatever it is doing; the server goes on."""
        self._run("ironic_node", nodes=[{"name": self.name, "state": "absent"}], force_nodes=[self.name])

    def act(self, action, secret=None, **options):
        """Take an action and return what the module has of the node.

        :param secret: what is neither to be printed nor in any process's arguments meanwhile
        """
        confirmed = {"confirm": "1"} if action in deployment.INTERRUPTING else {}
        result, = self._run("ironic_node_action", secret, nodes=[self.name], action=action, **confirmed,
                            wait_timeout_seconds=BOOT_SECONDS, **options)["nodes"]
        assert (result["changed"], result["error"]) == (True, ""), result
        return result

    def _run(self, module, secret=None, **options):
        play, result = self._folder / "play.json", self._folder / "result.json"
        where = {"cloud": "metal3-lab", "clouds_file": str(self._lab.dir / "clouds.yaml")}
        play.touch(mode=0o600)
        play.write_text(json.dumps([{
            "hosts": "localhost", "gather_facts": False, "connection": "local",
            "vars": {"ansible_python_interpreter": sys.executable},
            "tasks": [{"metal3.baremetal." + module: dict(where, **options), "register": "done"},
                      {"ansible.builtin.copy": {
                          "content": "{{ done | to_json }}", "dest": str(result), "mode": "0600"}}]}]))
        run, arguments = self._lab.start(play, "-vvv", "--diff", inventory="localhost,"), []

        def ended():
            arguments.extend(line for line in processes.command_lines() if secret and secret in line)
            return run.process.poll() is not None

        eventually(ended, BOOT_SECONDS + 60, f"the end of {module}", 1)
        run.ok()
        assert arguments == [] and not (secret and secret in run.output + result.read_text())
        return json.loads(result.read_text())
