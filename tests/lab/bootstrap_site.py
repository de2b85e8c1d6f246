# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A bootstrap plane of a site beside the lab, which takes one of the lab's servers.

It listens on another loopback address than the lab. The agents trust the lab's authority, which is the site's own here.
"""
from __future__ import annotations

import json
import os
import signal

from bmc_system import credential
from support import NAMESPACE, eventually

from ansible_collections.metal3.baremetal.plugins.module_utils._kube.api.client import KubeClient
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.process import orphans, supervisor_files

ADDRESS = "127.0.0.2"
SERVER = "server-02"
# Those of the base, of Ironic and of the providers.
PROGRAMS = 11


class Site:
    """A site's inventory, and the plane that it describes."""

    def __init__(self, lab, folder):
        self.lab, self.dir, self.file = lab, folder / "plane", folder / "site.json"
        images = lab.figures["urls"]["image_server"] + "/agent/"
        authority = str(lab.dir / "pki" / "ca")
        self.variables = {
            "management_plane": {"mode": "process", "name": "rack1", "dir": str(self.dir), "address": ADDRESS},
            "metal3_kubeconfig": str(self.dir / "kubeconfig"), "metal3_namespace": NAMESPACE,
            "metal3_ca_file": authority + ".crt",
            "bootstrap_plane_ca_certificate_file": authority + ".crt",
            "bootstrap_plane_ca_key_file": authority + ".key",
            "ironic_bmc_ca_file": authority + ".crt",
            "bmo_deploy_kernel_url": images + "vmlinuz", "bmo_deploy_ramdisk_url": images + "initrd",
            "ironic_bootloader_url": images + "esp.img"}
        self.host = self.server(SERVER)
        self.hosts = {SERVER: self.host}

    def server(self, name):
        """Return the variables of one of the lab's servers."""
        server = self.lab.servers[name]
        return {"bmc_address": server["bmc"]["address"], "boot_mac": server["boot_mac"],
                "bmc_username": credential(server, "username"), "bmc_password": credential(server, "password")}

    def inventory(self, **plane):
        variables = dict(self.variables, management_plane=dict(self.variables["management_plane"], **plane))
        self.file.write_text(json.dumps({"all": {"vars": variables, "children": {
            "management": {"hosts": {"localhost": {
                "ansible_connection": "local", "ansible_python_interpreter": "{{ ansible_playbook_python }}"}}},
            "baremetal": {"hosts": self.hosts}}}}))
        return self.file

    def playbook(self, name, *arguments, **plane):
        return self.lab.playbook(name, *arguments, inventory=self.inventory(**plane))

    def start(self, name):
        return self.lab.start(name, inventory=self.inventory())

    def kube(self):
        return KubeClient({"kubeconfig": str(self.dir / "kubeconfig")})

    def programs(self):
        return sorted(supervisor_files.configured(supervisor_files.Layout(str(self.dir / "supervisor"))))

    def kill(self):
        """Kill the supervisor first, which would restart the others, and then all that it leaves."""
        pids = orphans.processes(str(self.dir))
        pid = int((self.dir / "supervisor" / "supervisord.pid").read_text())
        assert pid in pids
        for victim in [pid, *[other for other in pids if other != pid]]:
            try:
                os.kill(victim, signal.SIGKILL)
            except ProcessLookupError:
                continue
        eventually(lambda: not orphans.processes(str(self.dir)), 30, "the end of all processes")
