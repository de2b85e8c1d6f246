# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A real dnsmasq with the rendered configuration gives a real client its addresses: systemd-networkd, the agent's.

By IPv6 with router advertisements, and behind a relay, which is a dnsmasq too.
"""
from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys
import time

import pytest
from network.test_description import GOOD

from ansible_collections.metal3.baremetal.plugins.module_utils._network import description, dnsmasq

KNOWN, UNKNOWN = "00:5c:52:31:3a:01", "00:5c:52:31:3a:77"
SCRIPT = "http://[fd00:22::1]:6180/boot.ipxe"
HTTP_LOADER = "http://[fd00:22::1]:6180/shimx64.efi"
RELAY = """\
port=0
interface=inner
interface=outer
bind-dynamic
dhcp-relay=10.9.0.1,172.22.0.1
dhcp-relay=fd00:9::1,fd00:22::1
"""
# Firmware, its number and user class → what it must be given to boot.
BOOTS = {
    "UEFI as OVMF": ((7, ""), "tftp://[fd00:22::1]/shim/shimx64.efi"),
    "UEFI as others": ((9, ""), "tftp://[fd00:22::1]/shim/shimx64.efi"),
    "UEFI on ARM": ((11, ""), "tftp://[fd00:22::1]/snponly-arm64.efi"),
    "iPXE on UEFI": ((7, "iPXE"), SCRIPT),
    # Without a URL for it: it takes nothing that it could read by TFTP.
    "UEFI by HTTP": ((16, ""), ""),
}


def network(tmp_path, hosts=None, **dhcp):
    (tmp_path / "tftp").mkdir(exist_ok=True)
    settings = dict(GOOD["dhcp"], tftp_root=str(tmp_path / "tftp"), ipxe_script_url=SCRIPT, **dhcp)
    return dict(GOOD, name="prov", dhcp=dict(settings, hosts=hosts or GOOD["dhcp"]["hosts"]))


def clients(folder, described, **asked):
    """Return what a client has of a network; see real_clients.py."""
    # Folders of pytest have names of their own, which a site's need not be: only the rest is checked.
    assert [problem for problem in description.problems(described) if problem.field != "dhcp.tftp_root"] == []
    (folder / "prov.conf").write_text(dnsmasq.configuration(described, str(folder / "leases")))
    # networkd gives up root, which a user namespace of one user has not: there it runs as that user with its rights.
    own = [] if os.geteuid() == 0 else ["--user", "--map-current-user", "--keep-caps"]
    command = ["unshare", *own, "--net", "--mount", sys.executable,
               str(pathlib.Path(__file__).with_name("real_clients.py")), json.dumps(dict(asked, folder=str(folder)))]
    paths = os.pathsep.join(path for path in sys.path if path)
    run = subprocess.run(command, env=dict(os.environ, PYTHONPATH=paths), capture_output=True, text=True, timeout=200,
                         check=False)
    assert run.returncode == 0, run.stderr
    found = json.loads(run.stdout)
    assert found["failed"] is None, found["failed"] + "\n" + found["log"] + run.stderr
    return found


def test_a_known_client_has_its_addresses_and_no_router_that_forwards_nothing(tmp_path):
    found = clients(tmp_path, network(tmp_path), mac=KNOWN, addresses=["172.22.0.11/24", "fd00:22::11/128"])
    # The gateway of IPv4 is the site's; the one that advertises the network of IPv6 is no router.
    assert "default" in found["routes"]["-4"] and "default" not in found["routes"]["-6"]
    assert "fd00:22::/64" in found["routes"]["-6"]


def test_a_known_client_without_addresses_of_its_own_has_some_of_the_ranges(tmp_path):
    one = [{"first": "172.22.0.50", "last": "172.22.0.50"}, {"first": "fd00:22::50", "last": "fd00:22::50"}]
    found = clients(tmp_path, network(tmp_path, [{"mac": KNOWN, "addresses": []}], ranges=one), mac=KNOWN,
                    addresses=["172.22.0.50/24", "fd00:22::50/128"])
    assert "fd00:22::/64" in found["routes"]["-6"]


def test_a_server_has_one_address_of_ipv4_whatever_asks_for_it(tmp_path):
    # Lent to what has called itself by another name than this client, as firmware and agent do.
    expiry = int(time.time()) + 3600
    (tmp_path / "leases").write_text(f"{expiry} {KNOWN} 172.22.0.50 * ff:52:31:3a:01:00:02:00:00:ab:11\n")
    one = [{"first": "172.22.0.50", "last": "172.22.0.50"}]
    clients(tmp_path, network(tmp_path, [{"mac": KNOWN, "addresses": []}], ranges=one), mac=KNOWN,
            addresses=["172.22.0.50/24"])
    lease, = (tmp_path / "leases").read_text().splitlines()
    assert lease.split()[1:3] == [KNOWN, "172.22.0.50"]


def test_an_unknown_client_gets_no_address_of_ipv6(tmp_path):
    found = clients(tmp_path, network(tmp_path), mac=UNKNOWN,
                    logged=f"DHCPSOLICIT(prov) 00:03:00:01:{UNKNOWN} ignored")
    assert found["addresses"] == []


def test_a_client_behind_a_relay_has_the_addresses_of_its_network(tmp_path):
    ranges = [*GOOD["dhcp"]["ranges"], {"first": "fd00:9::10", "last": "fd00:9::20", "network": "fd00:9::/64"}]
    (tmp_path / "relay.conf").write_text(RELAY + f"dhcp-leasefile={tmp_path / 'relay-leases'}\n")
    hosts = [{"name": "rack9-01", "mac": KNOWN, "addresses": ["10.9.0.15", "fd00:9::15"]}]
    found = clients(tmp_path, network(tmp_path, hosts, ranges=ranges), mac=KNOWN,
                    addresses=["10.9.0.15/24", "fd00:9::15/128"])
    assert "default" in found["routes"]["-4"]


IPV6_ALONE = {"addresses": ["fd00:22::1/64"], "gateway": None}


def of_ipv6_alone(tmp_path, **hosts):
    """Return a description of a network whose servers have no addresses of IPv4."""
    ranges = [item for item in GOOD["dhcp"]["ranges"] if ":" in item["first"]]
    described = network(tmp_path, [dict({"name": "rack1-01", "mac": KNOWN, "addresses": ["fd00:22::11"]}, **hosts)],
                        ranges=ranges, dns_servers=[], ntp_servers=[])
    return dict(described, **IPV6_ALONE)


def test_the_agent_has_an_address_on_a_network_of_ipv6_alone_and_waits_no_longer(tmp_path):
    found = clients(tmp_path, of_ipv6_alone(tmp_path), mac=KNOWN, addresses=["fd00:22::11/128"], online_seconds=20)
    assert found["online"] and "fd00:22::/64" in found["routes"]["-6"]


def test_an_address_that_a_card_gives_itself_is_not_what_the_agent_waits_for(tmp_path):
    found = clients(tmp_path, of_ipv6_alone(tmp_path), mac=UNKNOWN, online_seconds=5,
                    logged=f"DHCPSOLICIT(prov) 00:03:00:01:{UNKNOWN} ignored")
    assert found["online"] is False


@pytest.mark.parametrize("parameter, addresses", [
    # Without a name it counts for cards alone, of which this end of a cable is none.
    ("ip=client:dhcp6", ["fd00:22::11/128"]),
    # An address of IPv6 is what the router of that network says.
    ("ip=172.22.0.77::172.22.0.1:255.255.255.0::client:none", ["172.22.0.77/24", "fd00:22::11/128"])])
def test_what_the_agents_kernel_parameters_say_counts(tmp_path, parameter, addresses):
    found = clients(tmp_path, network(tmp_path), mac=KNOWN, kernel_parameters=[parameter], addresses=addresses,
                    online_seconds=20)
    assert found["online"] and found["addresses"] == addresses


def test_each_firmware_is_given_what_it_can_boot_by_ipv6(tmp_path):
    found = clients(tmp_path, network(tmp_path), mac=KNOWN, questions=[
        {"architecture": number, "user_class": user_class} for (number, user_class), _wanted in BOOTS.values()])
    assert {name: answer["boot_file"] for name, answer in zip(BOOTS, found["answers"])} == {
        name: wanted for name, (_question, wanted) in BOOTS.items()}
    assert all(answer["address"] for answer in found["answers"])
    assert not any(answer["http"] for answer in found["answers"])


def test_what_boots_is_not_offered_the_address_that_is_kept_for_the_server(tmp_path):
    # As OVMF asks: for its boot, and at the same moment for its own network, before it takes either.
    found = clients(tmp_path, network(tmp_path), mac=KNOWN, questions=[
        {"architecture": 7, "user_class": ""}, {"architecture": None, "user_class": ""}])
    boot, own = (answer["address"] for answer in found["answers"])
    assert own == "fd00:22::11" and boot != own and boot.startswith("fd00:22::")


def test_firmware_that_boots_by_http_is_given_a_url_and_knows_the_offer_by_its_vendor_class(tmp_path):
    asked = {"UEFI by HTTP": (16, ""), "ARM by HTTP": (19, ""), "UEFI by TFTP": (7, ""), "iPXE by HTTP": (16, "iPXE")}
    found = clients(tmp_path, network(tmp_path, http_boot_url=HTTP_LOADER), mac=KNOWN, questions=[
        {"architecture": number, "user_class": user_class} for number, user_class in asked.values()])
    assert {name: (answer["boot_file"], answer["http"]) for name, answer in zip(asked, found["answers"])} == {
        "UEFI by HTTP": (HTTP_LOADER, True), "ARM by HTTP": (HTTP_LOADER, True),
        "UEFI by TFTP": (BOOTS["UEFI as OVMF"][1], False), "iPXE by HTTP": (SCRIPT, False)}


def test_a_url_with_an_address_of_ipv4_is_not_given_to_firmware_that_has_none(tmp_path):
    found = clients(tmp_path, network(tmp_path, http_boot_url="http://172.22.0.1:6180/shimx64.efi"), mac=KNOWN,
                    questions=[{"architecture": 16, "user_class": ""}])
    assert [(answer["boot_file"], answer["http"]) for answer in found["answers"]] == [("", False)]
