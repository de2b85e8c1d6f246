# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A site's machine on the lab's bridge: keepalived holds the address of its plane there, and it serves DHCP."""
from __future__ import annotations

import json
import os
import subprocess

import plane_site
import systemd_machine
from bmc_system import credential
from plane_operator import Operator
from support import NAMESPACE

# Of the lab's network, the machine's address.
OWN_NUMBER = 87
INTERFACE = "prov0"
UNITS = dict((part, f"metal3-{part}-{INTERFACE}.service") for part in ("keepalived", "dnsmasq"))
SECONDS = 900


class Machine(systemd_machine.Machine):
    """Its interface is a cable into the lab's bridge, which systemd-networkd of the machine configures."""

    def __init__(self, folder, lab):
        super().__init__(folder)
        self._bridge, self._port = lab.figures["bridge"]["name"], f"m3site{os.getpid() % 10 ** 7}"

    def make_interfaces(self):
        subprocess.run(["ip", "link", "add", self._port, "type", "veth", "peer", "name", INTERFACE, "netns",
                        self.namespace], check=True)
        subprocess.run(["ip", "link", "set", "dev", self._port, "master", self._bridge, "up"], check=True)

    def give_address(self):
        """The role provisioning_network does it."""

    def start(self, address_after=None):
        super().start(address_after)
        self.run("systemctl", "start", "systemd-networkd")

    def addresses(self):
        """Return the IPv4 addresses of the interface."""
        link, = json.loads(self.run("ip", "-json", "address", "show", "dev", INTERFACE).stdout)
        return [item["local"] for item in link["addr_info"] if item["family"] == "inet"]

    def active(self):
        """Return which of the services run."""
        return [part for part, unit in UNITS.items()
                if self.run("systemctl", "is-active", unit, check=False).stdout.strip() == "active"]


class Objects:
    """What ``watching.facts`` asks a plane, whose API server listens in the machine only.

    :param site: an Operator
    """

    def __init__(self, site):
        self._site = site

    def list(self, resource, namespace):
        """Return the objects of a namespace, and nothing beside."""
        return json.loads(self._site.kubectl("get", "--raw", resource.path(namespace)))["items"], None


class Site(Operator):
    """Root of the machine, with a plane of processes and some of the lab's servers.

    :param lab: the lab
    :param machine: a Machine
    :param names: of the servers
    """

    def __init__(self, lab, machine, names):
        super().__init__(machine, None, "/root")
        self.held, self._names = plane_site.held(lab), names
        prefix = lab.figures["bridge"]["address"].partition("/")[2]
        authority, images = str(lab.dir / "pki" / "ca"), plane_site.image_server(lab) + "/agent/"
        self.network = {
            "provisioning_network_name": INTERFACE,
            "provisioning_network_addresses": [f"{plane_site.numbered(lab, OWN_NUMBER)}/{prefix}"],
            "provisioning_network_dhcp_ranges": [
                dict(zip(("first", "last"), plane_site.lent(lab)))],
            "provisioning_network_tftp_root": "/srv/tftp", "provisioning_network_packages": [],
            "provisioning_network_loader_files": {"snponly.efi": "/etc/hostname"},
            "provisioning_network_ipxe_script_url": f"http://{self.held}:6180/boot.ipxe",
            "provisioning_network_keepalived_address": f"{self.held}/{prefix}",
            "provisioning_network_keepalived_packages": []}
        self.variables = dict(
            self.network, management_plane={"mode": "process", "name": "rack1", "dir": self.dir, "address": self.held},
            metal3_kubeconfig=f"{self.dir}/kubeconfig", metal3_namespace=NAMESPACE, metal3_ca_file=authority + ".crt",
            bootstrap_plane_service="system", bootstrap_plane_ca_certificate_file=authority + ".crt",
            bootstrap_plane_ca_key_file=authority + ".key", ironic_bmc_ca_file=authority + ".crt",
            bmo_deploy_kernel_url=images + "vmlinuz", bmo_deploy_ramdisk_url=images + "initrd",
            ironic_bootloader_url=images + "esp.img")
        self._hosts = dict((name, {
            "bmc_address": plane_site.server(lab, name, "")["bmc_address"], "boot_mac": server["boot_mac"],
            "bmc_username": credential(server, "username"), "bmc_password": credential(server, "password")})
            for name, server in ((name, lab.servers[name]) for name in names))

    def inventory(self, **variables):
        content = {"all": {"vars": dict(self.variables, **variables), "children": {
            "management": {"hosts": {"localhost": {
                "ansible_connection": "local", "ansible_python_interpreter": "{{ ansible_playbook_python }}"}}},
            "baremetal": {"hosts": self._hosts}}}}
        self.run("tee", f"{self.home}/site.json", text=json.dumps(content))
        return f"{self.home}/site.json"
