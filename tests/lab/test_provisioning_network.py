# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The provisioning network of a machine that runs systemd-networkd, set up over ssh by the playbook. Needs root.

The machine is a node of the lab's image that boots without Kubernetes. Its wire is a pair of interfaces: one is a port
of the bridge, the other is where a server would be.
"""
from __future__ import annotations

import base64
import contextlib
import io
import itertools
import json
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
from network_machine import ssh_options
from nodes import Nodes, built_image
from support import Run, eventually

pytestmark = pytest.mark.nodes

SERVER = "server-01"
OWN = "172.22.0.1"
KNOWN, UNKNOWN = "00:5c:52:31:3a:01", "00:5c:52:31:3a:77"
NETWORK = {
    "provisioning_network_name": "prov", "provisioning_network_kind": "bridge", "provisioning_network_ports": ["port0"],
    "provisioning_network_addresses": [OWN + "/24"], "provisioning_network_dhcp_ranges": [
        {"first": "172.22.0.10", "last": "172.22.0.20"}],
    "provisioning_network_tftp_root": "/srv/tftp", "provisioning_network_ipxe_script_url": f"http://{OWN}:6180/boot.ipxe",
    # The machine reaches no repository of packages: its dnsmasq is a copy of this one's.
    "provisioning_network_packages": [], "provisioning_network_loader_files": {"snponly.efi": "/etc/hostname"},
    "provisioning_network_rollback_seconds": 30}
UNIT = "metal3-dnsmasq-prov.service"
# The node image has keepalived.
HELD, KEEPALIVED_UNIT = "172.22.0.2", "metal3-keepalived-prov.service"
KEEPALIVED = dict(NETWORK, provisioning_network_keepalived_address=HELD + "/24",
                  provisioning_network_keepalived_check_ports=[22], provisioning_network_keepalived_packages=[])


class Machine(Nodes):
    """One machine with systemd, systemd-networkd and sshd, and no Kubernetes."""

    def __init__(self, folder, image, key):
        self.key = key
        super().__init__(folder, image)

    def user_data(self, verb):
        """Return user data that lets root in with the key."""
        public = self.key.with_suffix(".pub").read_text().strip()
        return "#cloud-config\n" + json.dumps({
            "disable_root": False, "users": [{"name": "root", "ssh_authorized_keys": [public]}],
            "runcmd": [["systemctl", "disable", "--now", "kubelet"]]})

    def ssh(self):
        """Return whether somebody can log in."""
        return subprocess.run(
            ["ssh", "-i", self.key, *ssh_options(), f"root@{self.addresses[SERVER]}", "true"], capture_output=True,
            check=False).returncode == 0

    def sh(self, *command, **options):
        """Run a program on the machine."""
        return self.inside(SERVER, *command, **options)

    def links(self):
        """Return the machine's interfaces by name."""
        return {link["ifname"]: link for link in json.loads(self.sh("ip", "-json", "-details", "address"))}

    def own_files(self):
        """Return the collection's files on the machine."""
        return self.sh("find", "/etc/systemd/network", "/etc/systemd/system", "-name", "*metal3-*",
                       "-type", "f").split()

    def unpack(self, paths):
        """Copy files of this machine to the same places of that one, where they are missing."""
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w:gz") as archive:
            for path in paths:
                archive.add(Path(path).resolve(), arcname=path)
        self.sh("sh", "-c", "base64 -d | tar -xz --skip-old-files -C /",
                text=base64.b64encode(packed.getvalue()).decode())


@pytest.fixture(scope="module")
def machine(tmp_path_factory):
    """The machine, booted and reached by ssh, with the wire and dnsmasq."""
    key = tmp_path_factory.mktemp("ssh") / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
    machine = Machine(tmp_path_factory.mktemp("machine"), built_image(), key)
    try:
        machine.write(SERVER, "none")
        machine.machines[SERVER].power_on()
        eventually(machine.ssh, 120, "somebody can log in by ssh")
        machine.sh("ip", "link", "add", "port0", "type", "veth", "peer", "name", "wire0")
        machine.sh("ip", "link", "set", "wire0", "up")
        program = shutil.which("dnsmasq")
        libraries = re.findall(r"(/\S+)", subprocess.run(["ldd", program], capture_output=True, text=True,
                                                         check=True).stdout)
        machine.unpack([program, *libraries])
        machine.sh("useradd", "--system", "dnsmasq")
        yield machine
    finally:
        machine.close()


@pytest.fixture
def play(machine, tmp_path):
    """Return a function that runs a playbook for the machine."""
    def run(playbook, variables, *arguments):
        inventory = tmp_path / "hosts.json"
        inventory.write_text(json.dumps({
            "management": {"hosts": {"boot": dict({
                "ansible_host": machine.addresses[SERVER], "ansible_user": "root",
                "ansible_python_interpreter": "/usr/bin/python3", "ansible_ssh_private_key_file": str(machine.key),
                "ansible_ssh_common_args": " ".join(ssh_options())}, **variables)}},
            "baremetal": {"hosts": {"rack1-01.example.org": {"boot_mac": KNOWN}, "rack1-02": {}}}}))
        log = tmp_path / f"{next(numbers):02d}-{playbook}.log"
        command = [str(Path(sys.executable).parent / "ansible-playbook"), f"metal3.baremetal.{playbook}", "-i",
                   str(inventory), *arguments]
        with log.open("w") as stream:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=stream, stderr=subprocess.STDOUT,
                                       cwd=tmp_path, start_new_session=True)
        return Run(process, log).finish(300)
    numbers = itertools.count(1)
    return run


def check(**wanted):
    """Return the variables of a run of network_check."""
    return {f"network_check_{kind}": entries for kind, entries in wanted.items()}


def test_mistakes_are_named_at_once_and_nothing_is_written(machine, play):
    wrong = dict(NETWORK, provisioning_network_addresses=["172.22.0.1"], provisioning_network_ports=["eth9"],
                 provisioning_network_dhcp_ranges=[{"first": "172.22.0.20", "last": "172.22.0.10"}])
    play("provisioning_network", wrong).failed("an address with the length of its network", "an address not before")
    play("provisioning_network", dict(NETWORK, provisioning_network_ports=["eth9"])).failed("no interface eth9")
    assert machine.own_files() == [] and "prov" not in machine.links()


def test_check_mode_shows_the_files_and_writes_none(machine, play):
    run = play("provisioning_network", NETWORK, "--check", "--diff").ok()
    assert "60-metal3-prov.netdev" in run.output and "dhcp-range=set:range0,172.22.0.10" in run.output
    assert machine.own_files() == [] and "prov" not in machine.links()


def belonging(machine, bridge):
    """Return the ports of a bridge, and its IPv4 addresses."""
    links = machine.links()
    return sorted(name for name, link in links.items() if link.get("master") == bridge), [
        entry["local"] for entry in links[bridge]["addr_info"] if entry["family"] == "inet"]


@pytest.mark.long
def test_a_bridge_keeps_its_ports_when_it_is_changed_or_a_change_is_taken_back(machine, play):
    for port in ("other0", "other1"):
        machine.sh("ip", "link", "add", port, "type", "veth", "peer", "name", f"{port}-wire")
        machine.sh("ip", "link", "set", f"{port}-wire", "up")

    def other(ports, address, **changes):
        return play("provisioning_network", dict({
            "provisioning_network_name": "other", "provisioning_network_kind": "bridge",
            "provisioning_network_ports": ports, "provisioning_network_addresses": [f"{address}/24"]}, **changes))

    both = ["other0", "other1"]
    other(both, "172.25.0.1").ok()
    other(both, "172.26.0.1").ok()
    assert belonging(machine, "other") == (both, ["172.26.0.1"])
    other(["other0"], "172.26.0.1").ok()
    assert belonging(machine, "other") == (["other0"], ["172.26.0.1"])
    other(both, "172.26.0.1").ok()
    assert belonging(machine, "other") == (both, ["172.26.0.1"])
    # Less than a new connection takes.
    other(["other1"], "172.27.0.1", provisioning_network_rollback_seconds=1).failed("taken back")
    eventually(lambda: belonging(machine, "other") == (both, ["172.26.0.1"]), 60, "the bridge as it was", 1,
               (KeyError,))
    other(both, "172.26.0.1", provisioning_network_state="absent", metal3_confirm="other").ok()
    assert "other" not in machine.links()


def test_the_bridge_comes_and_known_servers_are_served(machine, play):
    play("provisioning_network", NETWORK).ok()
    links = machine.links()
    assert (links["prov"]["linkinfo"]["info_kind"], links["port0"]["master"]) == ("bridge", "prov")
    assert OWN in [address["local"] for address in links["prov"]["addr_info"]]
    assert machine.sh("systemctl", "is-active", UNIT).strip() == "active"
    assert machine.sh("ls", "/var/lib/metal3.baremetal/network").split() == []
    play("network_check", check(
        dhcp=[{"interface": "wire0", "mac": KNOWN, "expected_servers": [OWN]}, {"interface": "wire0", "mac": UNKNOWN}],
        tftp=[{"host": OWN, "path": "snponly.efi"}],
        tcp=[{"host": OWN, "port": 22}, {"host": OWN, "port": 6385, "reachable": False}])).ok()
    assert play("provisioning_network", NETWORK).ok().changed() == 0


def test_what_cannot_be_reached_is_named(machine, play):
    assert machine.ssh()
    play("network_check", check(
        tcp=[{"name": "Ironic", "host": OWN, "port": 6385}], tftp=[{"host": OWN, "path": "undionly.kpxe"}],
        dhcp=[{"interface": "wire0", "mac": UNKNOWN, "expected_servers": [OWN]}])).failed(
        "3 of 3 checks failed", f"Ironic ({OWN}:6385): tcp: found connection refused", "found error 1",
        f"no offer from {OWN}")


def test_without_questions_of_its_own_a_site_is_asked_for_what_it_serves(machine, play):
    """Of what NETWORK describes nothing serves iPXE's script, and one loader was copied."""
    play("network_check", NETWORK).failed(
        "2 of 3 checks failed", f"iPXE's script ({OWN}:6180): tcp: found connection refused",
        f"boot loader of bios ({OWN}/undionly.kpxe): tftp: found error 1")
    machine.sh("systemd-run", "--unit=script", "python3", "-m", "http.server", "6180", "--bind", OWN)
    machine.sh("cp", "/srv/tftp/snponly.efi", "/srv/tftp/undionly.kpxe")
    try:
        eventually(lambda: play("network_check", NETWORK).returncode == 0, 30, "all that the site serves is reached", 1)
    finally:
        machine.sh("systemctl", "stop", "script")
        machine.sh("rm", "/srv/tftp/undionly.kpxe")


def held(machine):
    return HELD in [address.get("local") for address in machine.links()["prov"]["addr_info"]]


@pytest.mark.long
def test_the_planes_address_is_held_by_keepalived_and_goes_with_it(machine, play):
    play("provisioning_network", dict(KEEPALIVED, provisioning_network_keepalived_address="172.22.1.2/24")).failed(
        "network prov: address: found", "expected an address of 172.22.0.0/24 that no machine has")
    assert KEEPALIVED_UNIT not in "".join(machine.own_files())
    play("provisioning_network", KEEPALIVED).ok()
    eventually(lambda: held(machine), 30, "the address is held")
    assert machine.sh("systemctl", "is-active", KEEPALIVED_UNIT).strip() == "active"
    assert machine.sh("systemctl", "is-enabled", KEEPALIVED_UNIT).strip() == "enabled"
    assert play("provisioning_network", KEEPALIVED).ok().changed() == 0 and held(machine)
    play("provisioning_network", NETWORK).failed("provisioning_network_keepalived_address", "-e metal3_confirm=prov")
    assert held(machine)
    play("provisioning_network", NETWORK, "-e", "metal3_confirm=prov").ok()
    assert not held(machine) and KEEPALIVED_UNIT not in "".join(machine.own_files())
    assert play("provisioning_network", NETWORK).ok().changed() == 0


@contextlib.contextmanager
def other_server(machine, address, *options):
    """A dnsmasq of somebody else where a server would be, with an address and options of its own."""
    machine.sh("ip", "address", "add", address, "dev", "wire0", *(["nodad"] if ":" in address else []))
    machine.sh("systemd-run", "--unit=foreign", "dnsmasq", "--keep-in-foreground", "--port=0", "--interface=wire0",
               "--bind-interfaces", "--dhcp-leasefile=/run/foreign.leases", "--pid-file=/run/foreign.pid",
               "--conf-file=/dev/null", *options)
    try:
        eventually(lambda: machine.sh("systemctl", "is-active", "foreign", check=False).strip() == "active", 20,
                   "the other server runs")
        yield
    finally:
        machine.sh("systemctl", "stop", "foreign")
        machine.sh("ip", "address", "delete", address, "dev", "wire0")


def configuration(machine):
    return machine.sh("cat", "/etc/metal3.baremetal/dnsmasq-prov.conf")


def test_a_server_of_somebody_else_is_named_and_nothing_is_written(machine, play):
    with other_server(machine, "172.22.0.99/24", "--dhcp-range=172.22.0.50,172.22.0.60"):
        longer = dict(NETWORK, provisioning_network_dhcp_lease_seconds=7200)
        play("provisioning_network", longer).failed("a DHCP server 172.22.0.99 (card ", "name it in allowed_servers")
        assert ",3600" in configuration(machine)
        play("provisioning_network", dict(longer, provisioning_network_allowed_servers=["172.22.0.99"])).ok()
        assert ",7200" in configuration(machine)


@pytest.mark.long
def test_a_server_and_a_router_of_ipv6_of_somebody_else_are_named_and_nothing_is_written(machine, play):
    play("provisioning_network", NETWORK).ok()
    card, = [entry["local"] for entry in machine.links()["wire0"]["addr_info"] if entry.get("scope") == "link"]
    both = dict(NETWORK, provisioning_network_addresses=[*NETWORK["provisioning_network_addresses"], "fd00:22::1/64"],
                provisioning_network_dhcp_ranges=[*NETWORK["provisioning_network_dhcp_ranges"],
                                                  {"first": "fd00:22::10", "last": "fd00:22::20"}])
    with other_server(machine, "fd00:22::99/64", "--dhcp-range=fd00:22::50,fd00:22::60", "--enable-ra"):
        play("provisioning_network", both).failed(
            "a DHCPv6 server with the DUID ", f" at {card} (card ", f"router advertisements of {card} (card ",
            "name this address in allowed_routers")
        assert "fd00:22::10" not in configuration(machine)
        play("provisioning_network", dict(both, provisioning_network_allowed_servers=[card],
                                          provisioning_network_allowed_routers=[card])).ok()
        assert "fd00:22::10" in configuration(machine)
    # Its own server and advertisements are nobody else's.
    assert play("provisioning_network", both).ok().changed() == 0
    play("provisioning_network", NETWORK).ok()


def test_a_card_that_another_file_configures_is_named(machine, play):
    card = machine.specs[SERVER]["nics"][0]["name"]
    play("provisioning_network", {
        "provisioning_network_name": card, "provisioning_network_addresses": ["203.0.113.5/24"],
        "provisioning_network_wait_timeout_seconds": 5}).failed(
        f"interface {card} lacks the address 203.0.113.5/24", f"{card}.network configures {card}",
        "what was before is back")
    assert machine.ssh() and not [path for path in machine.own_files() if card in path]


def test_a_change_that_cuts_the_machine_off_is_taken_back(machine, play):
    """Its only way in gets another address: nobody confirms, and the machine itself returns to what was before."""
    card = machine.specs[SERVER]["nics"][0]["name"]
    (file,) = machine.sh("find", "/etc/systemd/network", "-name", f"10-*{card}.network").split()
    # Behind ours, so that ours counts.
    machine.sh("mv", file, f"/etc/systemd/network/70-{card}.network")
    machine.sh("networkctl", "reload")
    eventually(machine.ssh, 30, "the machine is reached as before")
    run = play("provisioning_network", {
        "provisioning_network_name": card, "provisioning_network_addresses": ["203.0.113.5/24"],
        "provisioning_network_rollback_seconds": 20})
    run.failed()
    eventually(machine.ssh, 60, "the machine can be reached again")
    assert not [path for path in machine.own_files() if card in path]
    assert "203.0.113.5" not in [address.get("local") for address in machine.links()[card]["addr_info"]]


def test_the_network_goes_when_its_name_is_repeated(machine, play):
    gone = dict(NETWORK, provisioning_network_state="absent")
    play("provisioning_network", gone).failed("metal3_confirm=prov")
    assert "prov" in machine.links()
    play("provisioning_network", gone, "-e", "metal3_confirm=prov").ok()
    assert "prov" not in machine.links() and machine.own_files() == []
    assert machine.sh("systemctl", "is-active", UNIT, check=False).strip() in ("inactive", "unknown")
    assert play("provisioning_network", gone, "-e", "metal3_confirm=prov").ok().changed() == 0
