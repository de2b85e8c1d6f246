# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Machines whose network is configured by NetworkManager, netplan, ifupdown or several, and the operator of each.

The root file system is Debian with all of these; a machine's files decide which of them is in charge. Its cards are
veth interfaces, the operator is a network namespace where their other ends are. There is no udevd, which would get the
events of the machine below: for ``netplan apply``, which asks it to name cards again, udevadm does nothing.
"""
from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import systemd_machine
from support import eventually

from ansible_collections.metal3.baremetal.plugins.module_utils._common.files import cache_entry, user_folders
from ansible_collections.metal3.baremetal.plugins.module_utils._common.waiting.progress import Progress
from ansible_collections.metal3.baremetal.plugins.module_utils._images.debian import debian_root

PACKAGES = ("bridge-utils", "dbus", "ifenslave", "ifupdown", "iproute2", "netplan.io", "network-manager",
            "openssh-server", "python3", "systemd", "systemd-sysv")
# The card by which the machine is reached, one that nothing configures, and where a server would be on its wire.
CARD, PORT, WIRE = "mgmt0", "port0", "wire0"
ADDRESS, OPERATOR = systemd_machine.ADDRESS, "192.0.2.1"
CONFIGURATION = {
    "network_manager": {"NetworkManager/system-connections/card.nmconnection": (
        f"[connection]\nid=card\ntype=ethernet\ninterface-name={CARD}\n[ipv4]\nmethod=manual\n"
        f"address1={ADDRESS}/24\n[ipv6]\nmethod=disabled\n")},
    "netplan": {"netplan/10-card.yaml": (
        f"network:\n  version: 2\n  renderer: networkd\n  ethernets:\n    {CARD}:\n      addresses: [{ADDRESS}/24]\n")},
    "ifupdown": {"network/interfaces": (
        f"source /etc/network/interfaces.d/*\nauto lo {CARD}\niface lo inet loopback\n"
        f"iface {CARD} inet static\n    address {ADDRESS}/24\n")},
    "networkd": {"systemd/network/10-card.network": (
        f"[Match]\nName={CARD}\n[Network]\nAddress={ADDRESS}/24\n")}}
# Debian starts NetworkManager and ifupdown as soon as they are installed, systemd-networkd when asked to; netplan
# starts what its files need.
STARTED_BY_DEBIAN = {"network_manager": "NetworkManager.service", "ifupdown": "networking.service"}
# A module waits for programs, 120 s each, and for the interface.
MODULE_SECONDS = 600


def root_folder():
    """Return the root file system, made once."""
    recipe = json.dumps([debian_root.SUITE, os.uname().machine, PACKAGES])
    folder = Path(user_folders.cache_dir(), "network-machine", hashlib.sha256(recipe.encode()).hexdigest()[:16])
    with cache_entry.making(str(folder), Progress()) as partial:
        if partial is not None:
            debian_root.install(os.path.join(partial, "root"), list(PACKAGES), partial)
    return folder / "root"


class Machine(systemd_machine.Machine):
    """See above.

    :param folder: for what is written, and for the operator's files
    :param systems: which of ``CONFIGURATION`` run; the first configures the card by which the machine is reached
    """

    def __init__(self, folder, *systems):
        self.own = Path(folder)
        layer = self.own / "machine"
        layer.mkdir()
        super().__init__(layer, root_folder())
        self.operator = f"{self.namespace}-operator"
        self._key = self.own / "key"
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(self._key)], check=True)
        self._write("root/.ssh/authorized_keys", self._key.with_suffix(".pub").read_text())
        for path, text in CONFIGURATION[systems[0]].items():
            # systemd-networkd reads as a user of its own, NetworkManager refuses what others may read.
            self._write(f"etc/{path}", text, 0o644 if systems[0] == "networkd" else 0o600)
        if systems[1:] == ("network_manager",):
            # Else it takes each card that has no connection of its own, the other system's too.
            self._write("etc/NetworkManager/conf.d/10-others.conf", "[main]\nno-auto-default=*\n", 0o644)
        if "netplan" in systems:
            self._write("usr/local/bin/udevadm", "#!/bin/sh\n", 0o755)
        for system, unit in STARTED_BY_DEBIAN.items():
            if system not in systems:
                self._link(unit, os.devnull)
        if "networkd" in systems:
            self._link("multi-user.target.wants/systemd-networkd.service",
                       "/lib/systemd/system/systemd-networkd.service")

    def _write(self, path, text, mode=0o600):
        path = self.folder / "upper" / path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(mode)

    def _link(self, unit, target):
        path = self.folder / "upper" / "etc/systemd/system" / unit
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(target)

    def make_interfaces(self):
        self._ip("netns", "add", self.operator)
        for here, there in ((CARD, "oper0"), (PORT, WIRE)):
            self._in_network("link", "add", here, "type", "veth", "peer", "name", there, "netns", self.operator)
            self._ip("-n", self.operator, "link", "set", there, "up")
        self._ip("-n", self.operator, "address", "add", f"{OPERATOR}/24", "dev", "oper0")

    def give_address(self):
        """The system that is tested does it."""

    def _release(self):
        super()._release()
        if Path("/run/netns", self.operator).exists():
            self._ip("netns", "delete", self.operator)

    def operate(self, *command, check=False, **options):
        """Run a program of the operator's."""
        return subprocess.run(["ip", "netns", "exec", self.operator, *command], check=check, **options)

    def reached(self, address=ADDRESS):
        """Return whether the operator can log in."""
        return self.operate("ssh", "-i", str(self._key), *ssh_options(), f"root@{address}", "true",
                            capture_output=True, check=False).returncode == 0

    def until_reached(self, seconds=120):
        """Wait until the operator can log in."""
        eventually(self.reached, seconds, "the operator can log in")

    def links(self):
        """Return the machine's interfaces by name."""
        return {link["ifname"]: link for link in json.loads(self.run("ip", "-json", "-details", "address").stdout)}

    def addresses(self, name):
        """Return an interface's IPv4 addresses."""
        return [f"{entry['local']}/{entry['prefixlen']}" for entry in self.links()[name]["addr_info"]
                if entry["family"] == "inet"]

    def own_files(self):
        """Return the collection's files on the machine."""
        return self.run("find", "/etc", "-name", "*metal3*", "-type", "f").stdout.split()

    def has_kind(self, kind):
        """Return whether the kernel can make interfaces of a kind."""
        made = self.run("ip", "link", "add", "trial", "type", kind, check=False).returncode == 0
        if made:
            self.run("ip", "link", "delete", "trial")
        return made

    def module(self, *flags, **options):
        """Run the module provisioning_network as the operator and return its result, a failure or lost connection too.

        :param flags: of the program ``ansible``, for example ``--check``
        """
        inventory = self.own / "hosts.json"
        inventory.write_text(json.dumps({"all": {"hosts": {"boot": {
            "ansible_host": ADDRESS, "ansible_user": "root", "ansible_python_interpreter": "/usr/bin/python3",
            "ansible_ssh_private_key_file": str(self._key),
            "ansible_ssh_common_args": " ".join(ssh_options())}}}}))
        done = self.operate(
            str(Path(sys.executable).parent / "ansible"), "boot", "-i", str(inventory), *flags, "-m",
            "metal3.baremetal.provisioning_network", "-a", json.dumps(options), stdin=subprocess.DEVNULL,
            capture_output=True, text=True, check=False, cwd=self.own, timeout=MODULE_SECONDS,
            env=dict(os.environ, ANSIBLE_STDOUT_CALLBACK="ansible.builtin.minimal", ANSIBLE_PIPELINING="true"))
        assert "=> {" in done.stdout, done.stdout + done.stderr
        return json.loads(done.stdout.partition("=>")[2])


def ssh_options():
    """Return options of ssh: no question, no file of the user's."""
    return ["-o", "BatchMode=yes", "-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null",
            "-o", "ConnectTimeout=20", "-o", "LogLevel=ERROR"]
