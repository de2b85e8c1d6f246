# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The site of the guide first_cluster on a machine of its own, with two of the lab's virtual servers.

The machine has the guide's files, with only what this lab can't have as written replaced:

========================  ==============================================================================================
replaced                  by
========================  ==============================================================================================
addresses                 those of the lab's bridge, where the machine has one of its own
servers                   two of the lab's, with their BMCs, credentials and boot MACs: one boots by PXE, for which the
                          plane serves network boot and the machine DHCP, the other by virtual media
numbers of machines       one control plane machine
node image                the lab's, taken by its URL: its packages are not those of a repository
the plane's authority     the lab's: its BMCs trust no other. The image server makes one of its own, and the agent's
                          ramdisk has both by the guide's variable
========================  ==============================================================================================
"""
from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import plane_site
import pyrage
import readme_site
import yaml
from bmc_system import credential
from moving_site import INTERFACE, OWN_NUMBER
from network_machine import ssh_options
from plane_operator import Operator, Played
from support import NAMESPACE
from tooling.guide_blocks import DOCSITE, blocks
from virtual_cluster import SLOW

PAGE = "first_cluster"
# The guide's servers of two racks, by the names that they have in the lab.
PXE, MEDIA = "rack1-01", "rack2-01"
# Last numbers of the guide's addresses → numbers in the lab's network. The bridge itself stands for router and DNS.
ADDRESSES = {"1": 1, "2": 1, "10": OWN_NUMBER, "100": 13, "120": 90, "180": 99}
# As udev names it on the virtual servers' bus.
CARD = "enp0s3"
UNITS = {"plane": "metal3-plane-rack1.service", "images": "metal3-image-server-images.service",
         "dhcp": f"metal3-dnsmasq-{INTERFACE}.service"}
SECONDS = 3600


class Site(Operator):
    """Root of the machine.

    :param lab: the lab
    :param machine: a Machine of moving_site
    :param servers: the guide's servers by name → the lab's
    :param folder: Path for the key with which root logs in to servers
    """

    def __init__(self, lab, machine, servers, folder):
        super().__init__(machine, None, "/root")
        self.lab, self.servers, self.dir = lab, servers, "/var/lib/metal3/rack1"
        self.own = plane_site.numbered(lab, OWN_NUMBER)
        self._prefix = lab.figures["bridge"]["address"].partition("/")[2]
        self.environment["PATH"] = ":".join((
            str(Path(sys.executable).parent), f"{lab.figures['engine_dir']}/bin", self.environment["PATH"]))
        self._key = folder / "key"
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(self._key)], check=True)
        self._public = self._key.with_suffix(".pub").read_text().strip()
        self._description = self._described()
        self.hosts = self._description["all"]["children"]["baremetal"]["hosts"]
        self.run("mkdir", "-p", "/root/inventory/rack1")
        self.write("/etc/ssl/metal3.crt", (lab.dir / "pki" / "ca.crt").read_text())
        self.write("/root/images.yml", yaml.safe_dump(self._images()))
        self.describe()

    def write(self, path, text):
        self.run("tee", path, text=text)

    def describe(self):
        """Write the inventory."""
        self.write("/root/inventory/rack1/hosts.yml", yaml.safe_dump(self._description))

    def _block(self, title):
        """Return the guide's YAML block of a file, with the lab's addresses."""
        text, = (block.text for block in blocks(DOCSITE / "rst" / f"{PAGE}.rst")
                 if block.language == "yaml" and block.text.startswith(f"# {title}\n"))
        return yaml.safe_load(re.sub(r"\b192\.0\.2\.(\d+)", lambda found: plane_site.numbered(
            self.lab, ADDRESSES[found[1]]), text))

    def _described(self):
        content = self._block("inventory/rack1/hosts.yml")
        authority = str(self.lab.dir / "pki" / "ca")
        content["all"]["children"]["management"]["vars"].update(
            # The machine reaches no repository of packages.
            image_server_packages=[], provisioning_network_packages=[],
            bootstrap_plane_ca_certificate_file=authority + ".crt", bootstrap_plane_ca_key_file=authority + ".key",
            bootstrap_plane_network_boot=True, provisioning_network_name=INTERFACE,
            provisioning_network_addresses=[f"{self.own}/{self._prefix}"], provisioning_network_tftp_root="/srv/tftp",
            provisioning_network_dhcp_ranges=[dict(zip(("first", "last"), plane_site.lent(self.lab)))],
            ironic_kernel_params="console=ttyS0 tsc=reliable",
            # An agent goes on to its next step only when it calls, which takes as many seconds at most.
            ironic_settings={"api": {"ramdisk_heartbeat_timeout": 60}},
            backup_recipients=[str(pyrage.x25519.Identity.generate().to_public())])
        servers, labels = content["all"]["children"]["baremetal"], {PXE: {"rack": "r1"}, MEDIA: {"rack": "r2"}}
        servers["hosts"] = dict((name, dict(self._bmc(name), bmh_labels=labels[name])) for name in self.servers)
        cluster = content["all"]["children"]["clusters"]["children"]["prod"]["vars"]
        cluster["cluster_control_plane"].update(SLOW, replicas=1)
        cluster["cluster_workers"] = {}
        network = cluster["cluster_networks"]["nodes"]
        network["interface"] = CARD
        network["ipv4"]["prefix"] = int(self._prefix)
        # The add-on's image has no iptables and no files of CNI, and no node reaches a registry.
        cluster["cluster_options"].update(
            image_registry=readme_site.MACHINE_LIMITS["image_registry"], ssh_authorized_keys=[self._public],
            flannel={"nftables": True, "cni_configuration": "node"})
        return content

    def _bmc(self, name):
        """Return the variables of a server, whose BMC is on the bridge, too."""
        server = self.lab.servers[self.servers[name]]
        scheme = {PXE: "redfish", MEDIA: "redfish-virtualmedia"}[name]
        path = server["bmc"]["address"].partition("/redfish/")[2]
        return {
            "bmc_address": f"{scheme}+https://{plane_site.bridge(self.lab)}:{self.lab.figures['ports']['redfish']}"
                           f"/redfish/{path}",
            "boot_mac": server["boot_mac"], "bmc_username": credential(server, "username"),
            "bmc_password": credential(server, "password")}

    def _images(self):
        play, = self._block("images.yml")
        agent, node = play["tasks"]
        # The cache has it with these packages.
        agent["vars"]["agent_image_rescue"] = True
        url, image = plane_site.image_server(self.lab) + "/images/node.qcow2", self.lab.dir / "www" / "images"
        digest = (image / "node.qcow2.sha256").read_text().split()[0]
        for name in ("node_image_kubernetes_version", "node_image_kubernetes_repository"):
            del node["vars"][name]
        node["vars"]["node_image_download"] = {"url": url, "checksum": f"sha256:{digest}"}
        return [play]

    def give_an_image(self, name):
        """Describe a server with the nodes' image and a user."""
        cluster = self._description["all"]["children"]["clusters"]["children"]["prod"]["vars"]
        self.hosts[name].update(
            bmh_image=cluster["cluster_image"], bmh_meta_data={"local-hostname": name},
            bmh_user_data="#cloud-config\n" + json.dumps({"disable_root": False, "users": [
                {"name": "root", "ssh_authorized_keys": [self._public]}]}),
            bmh_network_data={
                "links": [{"id": "card", "type": "phy", "ethernet_mac_address": self.hosts[name]["boot_mac"]}],
                "networks": [{"id": "provisioning", "link": "card", "type": "ipv4_dhcp"}], "services": []})
        self.describe()

    def type(self, text, seconds=SECONDS):
        """Run a block of the guide as root in a shell, and return what it prints."""
        done = self.run("bash", "-eu", "-o", "pipefail", "-c", f"cd {self.home}\n{text}", check=False, seconds=seconds)
        printed = Played(done.stdout + done.stderr)
        print(printed)
        assert done.returncode == 0, printed
        return printed

    def objects(self, kind):
        """Return objects of the plane by name."""
        listed = json.loads(self.kubectl("get", kind, "-n", NAMESPACE, "-o", "json"))["items"]
        return dict((item["metadata"]["name"], item) for item in listed)

    def log(self, name):
        """Return what a program of the plane has printed."""
        return self.run("cat", f"{self.dir}/log/{name}.log").stdout

    def lent(self):
        """Return what DHCP and TFTP have lent and sent."""
        return self.run("cat", f"/var/log/dnsmasq-{INTERFACE}.log").stdout

    def leases(self):
        """Return the addresses that DHCP has lent, one for each MAC."""
        lines = self.run("cat", f"/var/lib/metal3.baremetal/dnsmasq/{INTERFACE}.leases").stdout.splitlines()
        found = dict(line.split()[1:3] for line in lines)
        assert len(found) == len(lines), lines
        return found

    def in_system(self, address, command, user="root"):
        """Run a command in a server's system by ssh, and return what it prints."""
        done = subprocess.run(["ssh", "-i", str(self._key), "-o", "IdentitiesOnly=yes", *ssh_options(),
                               f"{user}@{address}", command], capture_output=True, text=True, check=False, timeout=120)
        assert done.returncode == 0, done.stderr
        return done.stdout
