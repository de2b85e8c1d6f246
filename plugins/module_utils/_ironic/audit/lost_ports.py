# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which ports a host's node should have, by the NICs that its inspection has found; pure."""
from __future__ import annotations

from collections import Counter
from typing import Any

from ..._common.addresses.mac_address import mac_error
from ..._common.documents.tolerant import dict_in, dicts_in
from ..api import states
from ..nodes import ownership

Object = dict[str, Any]


def lost(nodes: list[Object], ports: list[Object], hosts: list[Object]) -> list[tuple[Object, Object, list[Object]]]:
    """Return each host whose node has no port although NICs are known, with the node and the ports to create.

    Without a port Ironic knows no agent of the server by its MAC address. The operator creates one again when it looks
    at a host, once a minute, but only of a boot MAC address (``ensurePort`` in its 0.13,
    ``pkg/provisioner/ironic/register.go``), and Ironic itself only when it inspects.

    :param nodes: nodes as Ironic has them: uuid, name, provision_state
    :param ports: ports as Ironic has them: uuid, address, node_uuid
    :param hosts: summaries of BareMetalHosts with their ``hardware``
    :returns: of each its summary, its node, and dicts with ``address`` and ``pxe_enabled``; none of a MAC address that
        another node's port or another host has, and none of a host for which the operator creates one
    """
    by_uuid = dict((node["uuid"], node) for node in nodes)
    by_owner = dict((ownership.host_of(node.get("name")), node) for node in nodes)
    with_ports = set(port["node_uuid"] for port in ports)
    taken = set(port["address"].lower() for port in ports)
    known = [(host, _addresses(host)) for host in hosts]
    counts = Counter(address for _host, addresses in known for address in addresses)
    found = []
    for host, addresses in known:
        node = by_uuid.get(host.get("node_id")) or by_owner.get((host["namespace"], host["name"]))
        if not addresses or node is None or node["uuid"] in with_ports or not _is_settled(node):
            continue
        found.append((host, node, [] if boot_mac(host) else [
            {"address": address, "pxe_enabled": True}
            for address in addresses if address not in taken and counts[address] == 1]))
    return found


def boot_mac(host: Object) -> str:
    """Return the boot MAC address of a host's summary in lower case, empty when it has none that is one."""
    address = (host.get("boot_mac_address") or "").lower()
    return "" if mac_error(address) else address


def _is_settled(node: Object) -> bool:
    """Return whether Ironic works at nothing; what it has only enrolled gets its ports by the inspection."""
    state = node.get("provision_state")
    return state in states.STABLE and state != states.ENROLL and not node.get("reservation")


def _addresses(host: Object) -> list[str]:
    """Return the MAC addresses of an inspected host in lower case, each once; that which it boots from first."""
    given = [nic.get("mac") for nic in dicts_in(dict_in(host, "hardware"), "nics")]
    macs = [mac.lower() for mac in given if isinstance(mac, str) and not mac_error(mac)]
    first = [boot_mac(host)] if macs and boot_mac(host) else []
    return list(dict.fromkeys(first + macs))
