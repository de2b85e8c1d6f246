# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What lines of dnsmasq, nginx and Apache say of a booting server."""
from __future__ import annotations

import pytest
from fakes.time_limits import within_processor_time

from ansible_collections.metal3.baremetal.plugins.module_utils._boot.traces import STUCK_SECONDS, Trace, Traces, stuck

MAC, OTHER_MAC = "00:5c:52:01:00:10", "00:5c:52:01:00:20"
NODE, OTHER_NODE = "b3062844-a8eb-4764-8d7e-0e22bd12654f", "8b3aad10-31d4-464e-aba8-b88ec30d3f53"


def web(request, client="198.18.3.1", status=200, agent="iPXE/1.0.0"):
    return f'{client} - - [25/Nov/2026:06:09:56 +0000] "{request} HTTP/1.1" {status} 1004 "-" "{agent}"'


def after(*lines):
    traces = Traces()
    traces.known = frozenset([MAC, OTHER_MAC, NODE, OTHER_NODE])
    for at, line in enumerate(lines):
        traces.take(line, at)
    return traces


def text(*lines, keys=(MAC, NODE)):
    found = after(*lines).last(keys)
    return found and found.text


ACK = f"dnsmasq-dhcp[5255]: 1005507066 DHCPACK(m3lab1) 198.18.3.1 {MAC} server-01"


@pytest.mark.parametrize("line, expected", [
    (f"dnsmasq-dhcp[5255]: 1005507066 DHCPDISCOVER(m3lab1) {MAC} ", "asked for an address by DHCP"),
    (f"Nov 25 06:09:56 a dnsmasq-dhcp[1]: DHCPDISCOVER(e) 198.18.3.1 {MAC.upper()}", "asked for an address by DHCP"),
    (f"dnsmasq-dhcp[5255]: 1 DHCPDISCOVER(m3lab1) {MAC} ignored", "DHCP ignores its MAC address"),
    (f"dnsmasq-dhcp[5255]: 1 DHCPDISCOVER(m3lab1) {MAC} no address available", "DHCP has no free address"),
    (ACK.replace("ACK", "OFFER"), "was offered an address by DHCP"),
    (ACK, "has an address by DHCP"),
    (web(f"GET /ironic/pxelinux.cfg/{MAC.replace(':', '-')}"), "read its boot script"),
    (web(f"GET /pxelinux.cfg/01-{MAC.replace(':', '-')}", status=404), "asked for its boot script: HTTP 404"),
    (web(f"GET /ironic/{NODE}/deploy_kernel"), "read the kernel"),
    (web(f"GET /{NODE}/deploy_ramdisk", status=206), "read the ramdisk"),
    (web(f"GET /ironic/{NODE}/deploy_ramdisk", status=403), "asked for the ramdisk: HTTP 403"),
    (web(f"GET /ironic/redfish/boot-{NODE}.iso", client="198.18.2.1"), "read the boot image"),
    (web(f"GET /v1/lookup?addresses=00%3A5c&node_uuid={NODE}"), "its agent has asked for its node"),
    (web(f"POST /v1/heartbeat/{NODE}", status=202), "its agent called"),
])
def test_what_a_line_says(line, expected):
    assert text(line) == expected
    assert text(line, keys=(OTHER_MAC, OTHER_NODE)) is None


@pytest.mark.parametrize("line", [
    "", "dnsmasq-dhcp[5255]: 1005507066 available DHCP range: 198.18.3.1 -- 198.18.3.4",
    web("HEAD /ironic/redfish/boot-%s.iso" % NODE), web("GET /images/node.qcow2"), web("POST /v1/continue_inspection"),
    web(f"GET /ironic/{NODE}/config"), web("GET /v1/lookup?addresses=00"),
    "dnsmasq-dhcp[5255]: 1 DHCPDISCOVER(m3lab1) 00:00:00:00:00:01 ",
    web("GET /ironic/00000000-0000-0000-0000-000000000000/deploy_kernel"),
])
def test_what_says_nothing_of_a_known_server(line):
    traces = after(line)
    assert traces.last((MAC, NODE)) is None
    # Who asks for much fills no memory.
    assert not traces._last


def test_the_newest_counts_whatever_names_the_server():
    traces = after(ACK, web(f"GET /ironic/{NODE}/deploy_kernel"))
    assert traces.last((MAC, NODE)) == ("read the kernel", 1)
    assert traces.last((MAC,)) == ("has an address by DHCP", 0)


def test_what_has_no_name_is_known_by_its_address():
    loader = "dnsmasq-tftp[5255]: sent /srv/tftp/snponly.efi to 198.18.3.1"
    assert text(ACK, loader) == "read a file by TFTP"
    assert text(ACK, loader.replace("sent", "failed sending")) == "a transfer by TFTP to it failed"
    assert text(loader) is None
    heartbeat = web(f"POST /v1/heartbeat/{NODE}")
    assert text(heartbeat, web("POST /v1/continue_inspection", status=202)) == "its agent has delivered the inventory"


def test_an_address_that_several_servers_have_names_none():
    """As behind a proxy, and as the lab's simulated servers."""
    both = [web(f"POST /v1/heartbeat/{node}", client="127.0.0.1") for node in (NODE, OTHER_NODE)]
    traces = after(*both, web("POST /v1/continue_inspection", client="127.0.0.1"))
    assert traces.last((NODE,)).text == traces.last((OTHER_NODE,)).text == "its agent called"


def test_a_lease_gives_an_address_to_another_server():
    traces = after(ACK, ACK.replace(MAC, OTHER_MAC), "dnsmasq-tftp[1]: sent /srv/a to 198.18.3.1")
    assert traces.last((OTHER_MAC,)).text == "read a file by TFTP"
    assert traces.last((MAC,)).text == "has an address by DHCP"


@pytest.mark.parametrize("line", [
    web("GET /" + "a" * 100_000), web("GET /v1/lookup?" + "&node_uuid=" * 200 + "x"), "DHCPACK(" * 20_000,
    "dnsmasq-tftp[1]: sent " + "/a " * 50_000, '1.1.1.1 ' * 30_000])
def test_long_lines_take_no_time(line):
    assert within_processor_time(1, text, line) is None


def test_an_offer_that_is_not_taken_stays_while_firmware_asks_again():
    offer = ACK.replace("ACK", "OFFER")
    again = f"dnsmasq-dhcp[5255]: 1 DHCPDISCOVER(m3lab1) {MAC} "
    assert after(offer, again, offer, again).last((MAC,)) == ("was offered an address by DHCP", 0)
    assert after(offer, again, ACK).last((MAC,)) == ("has an address by DHCP", 2)
    traces = after(offer)
    traces.take(again, 600)
    assert traces.last((MAC,)) == ("asked for an address by DHCP", 600)


@pytest.mark.parametrize("line, expected", [
    (ACK.replace("ACK", "OFFER"), ("has taken no address of this DHCP server", "check the wire for another")),
    (ACK, ("has read nothing since its address", "check TFTP")),
    (web(f"GET /ironic/{NODE}/deploy_kernel"), ("read the kernel", "")),
])
def test_what_stays_the_last_says_what_to_check_after_a_while(line, expected):
    trace = after(line).last((MAC, NODE))
    assert stuck(trace, trace.at + STUCK_SECONDS - 1) == (trace.text, "")
    text, advice = stuck(trace, trace.at + STUCK_SECONDS)
    assert text.startswith(expected[0]) and advice.startswith(expected[1]) and bool(advice) == bool(expected[1])
    assert stuck(Trace("another text", 0), 1000) == ("another text", "")
