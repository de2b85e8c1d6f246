# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is out of step between BareMetalHosts, Ironic's nodes and their ports; pure."""
from __future__ import annotations

from collections import namedtuple
from typing import Any

from ..._common.texts.plain_text import plain
from ..discovery import discovered
from ..nodes import bmc as node_bmc
from ..nodes import ownership
from . import lost_ports, raid_volumes

# subject: what it is about. cause, next_step: phrases. repair: "node" or "port" with the object that a repair deletes,
# "ports" with the node that gets some (key "ports"), None where no repair is right.
Finding = namedtuple("Finding", ["kind", "subject", "cause", "next_step", "repair"])

NODE_WITHOUT_HOST, HOST_WITHOUT_NODE = "node_without_host", "host_without_node"
HOST_OF_FORMER_NODE = "host_of_former_node"
MAC_OF_DISCOVERED_NODE = "mac_of_discovered_node"
MAC_OF_OTHER_NODE, MAC_TWICE, BOOT_MAC_TWICE = "mac_of_other_node", "mac_twice", "boot_mac_twice"
BMC_TWICE, PORT_WITHOUT_NODE = "bmc_twice", "port_without_node"
HOST_WITHOUT_PORTS = "host_without_ports"
RAID_VOLUMES_DIFFER = "raid_volumes_differ"
NO_NODE_OF_HOSTS, NODES_LOST = "no_node_of_hosts", "nodes_lost"
_AFTER_LOSS = (
    "wait for minutes: the operator registers all hosts again, adopts what is provisioned (no server is switched or "
    "cleaned by that), verifies what is available, and begins what was on its way from the start; delete nothing, run "
    "no ironic_nodes, then run this again")
# registerHost of BMO 0.13 loses the ID of a node that it has found by the host's name, unless it changes the node as
# well, as it does once the Secret has changed.
_WAKE_BY_SECRET = "change an annotation of its BMC Secret, upon which the operator writes the node's ID into the host"
_WITH_NODES_OF_THEIR_NAMES = (
    "; a host that has a node of its name, and still names another one then, does not recover by itself: "
    + _WAKE_BY_SECRET)
_PAUSED = ("it is paused, so that the operator does nothing with it: when nothing needs the pause any more, resume it "
           "(playbook host_action, host_action=resume), and run this again")
# Hosts in these states have no node yet, or none any more.
_WITHOUT_NODE = ("new", "unmanaged", "registering", "deleting", "powering off before delete", "deleted", "")


def findings(nodes: list[dict[str, Any]], ports: list[dict[str, Any]], portgroups: list[dict[str, Any]],
             hosts: list[dict[str, Any]] | None = None, namespaces: list[str] | None = None,
             all_namespaces: bool = False) -> list[Finding]:
    """Return everything that is out of step, in a stable order.

    :param nodes: nodes as Ironic has them: uuid, name, driver_info, provision_state, raid_config
    :param ports: ports as Ironic has them: uuid, address, node_uuid
    :param portgroups: port groups as Ironic has them
    :param hosts: summaries of BareMetalHosts as ``baremetal_host_info`` returns them, None to leave hosts out
    :param namespaces: namespaces whose nodes are compared with hosts, None for those of the hosts: nodes of other
        namespaces may belong to hosts that were not listed
    :param all_namespaces: whether the hosts are those of all namespaces, so that all nodes are compared with them
        unless ``namespaces`` says otherwise
    :returns: list of :class:`Finding`
    """
    found = _ports_without_node(nodes, ports) + _macs_twice(nodes, ports, portgroups) + _bmcs_twice(nodes)
    if hosts is not None:
        if namespaces is None and not all_namespaces:
            namespaces = [host["namespace"] for host in hosts]
        found += _all_at_once(nodes, hosts, namespaces)
        found += _nodes_without_host(nodes, hosts, namespaces) + _hosts_without_node(nodes, hosts)
        found += _hosts_of_former_nodes(nodes, hosts)
        found += _macs_of_other_nodes(nodes, ports, hosts) + _boot_macs_twice(hosts)
        found += _hosts_without_ports(nodes, ports, hosts)
        found += _raid_volumes_differ(nodes, hosts)
    # Names and states are others'; the playbook prints them as they are.
    return [item._replace(subject=plain(item.subject), cause=plain(item.cause), next_step=plain(item.next_step))
            for item in found]


def belong_together(nodes: list[dict[str, Any]], hosts: list[dict[str, Any]]) -> bool:
    """Return whether at least one node is that of a host, by the UUID that the operator has noted at the host.

    A name is no sign: another cluster may have hosts of the same names.

    :param nodes: nodes as Ironic has them
    :param hosts: summaries of BareMetalHosts
    """
    return bool(set(node["uuid"] for node in nodes) & set(host.get("node_id") for host in hosts))


def _all_at_once(nodes: list[dict[str, Any]], hosts: list[dict[str, Any]],
                 namespaces: list[str] | None) -> list[Finding]:
    """Return what is out of step with all hosts at once: then it is not the hosts that are wrong."""
    owners = [owner for node in nodes for owner in [ownership.host_of(node.get("name"))]
              if owner and (namespaces is None or owner[0] in namespaces)]
    lost = [host for host in hosts if _should_have_node(host) and host.get("node_id")]
    if belong_together(nodes, hosts):
        return []
    if lost and set(owners) <= set((host["namespace"], host["name"]) for host in hosts):
        named = set(owners) & set((host["namespace"], host["name"]) for host in lost)
        return [Finding(
            NODES_LOST, "Ironic", f"not one of the nodes that {len(lost)} of {len(hosts)} BareMetalHosts had is there: "
                                  "Ironic's database was lost or emptied (SQLite in a container does not outlive a "
                                  "restart), or this is not the operator's Ironic",
            _AFTER_LOSS + (_WITH_NODES_OF_THEIR_NAMES if named else "") + _of_paused(lost), None)]
    if owners:
        return [Finding(
            NO_NODE_OF_HOSTS, "Ironic", "not one of the operator's %d nodes is the node of one of %d BareMetalHosts" % (
                len(owners), len(hosts)), "read the hosts of the cluster whose operator uses this Ironic: check the "
            "kubeconfig and the namespaces, and Ironic's endpoint; nothing is repaired before they fit", None)]
    return []


def _of_paused(hosts: list[dict[str, Any]]) -> str:
    """Return what holds of those hosts that are paused, empty when none is."""
    count = len([host for host in hosts if host.get("paused")])
    return f"; {count} of these hosts {'are' if count > 1 else 'is'} paused, and registered only when resumed" \
        if count else ""


def _advice(host: dict[str, Any], text: str) -> str:
    """Return what to do about a host that the operator puts right by itself, unless it is paused."""
    return _PAUSED if host.get("paused") else text


def _should_have_node(host: dict[str, Any]) -> bool:
    return host["state"] not in _WITHOUT_NODE and host.get("operational_status") != "detached"


def confirmed(found: list[Finding], earlier: list[dict[str, Any]]) -> list[Finding]:
    """Return the findings that an earlier look had too.

    What is read one after the other does not fit while somebody works: a host that came after the hosts were read has
    a node already. Such a thing was not there at the earlier look, or is not found any more. No clocks are compared.

    :param found: list of :class:`Finding`
    :param earlier: findings as plain data, of a look that ended before the hosts of this one were read
    """
    known = set((item.get("kind"), item.get("subject"), item.get("object")) for item in earlier)
    return [item for item in found if (item.kind, item.subject, object_of(item)) in known]


def object_of(finding: Finding) -> str:
    """Return the UUID of what a repair deletes, empty when there is no repair."""
    return finding.repair[1]["uuid"] if finding.repair else ""


def _label(node: dict[str, Any]) -> str:
    return f"node {node.get('name') or node['uuid']}"


def _nodes_without_host(nodes: list[dict[str, Any]], hosts: list[dict[str, Any]],
                        namespaces: list[str] | None) -> list[Finding]:
    names = set((host["namespace"], host["name"]) for host in hosts)
    ids = set(host.get("node_id") for host in hosts)
    advice = f"enrol the host again, or delete the node (repair {NODE_WITHOUT_HOST})" if belong_together(
        nodes, hosts) else "look first whether these are the hosts of this Ironic: no node is the node of one of them"
    return [Finding(NODE_WITHOUT_HOST, _label(node), "BareMetalHost %s/%s is not there" % owner, advice, ("node", node))
            for node in nodes for owner in [ownership.host_of(node.get("name"))]
            if owner and (namespaces is None or owner[0] in namespaces) and owner not in names
            and node["uuid"] not in ids]


def _hosts_without_node(nodes: list[dict[str, Any]], hosts: list[dict[str, Any]]) -> list[Finding]:
    there = set(node["uuid"] for node in nodes)
    names = set(ownership.host_of(node.get("name")) for node in nodes)
    return [Finding(HOST_WITHOUT_NODE, f"BareMetalHost {host['namespace']}/{host['name']}",
                    f"its node {host.get('node_id') or '(none yet)'} is not in Ironic",
                    _advice(host, "the operator registers it again within a minute or two; if it does not, look at "
                                  "the host's error"), None)
            for host in hosts
            if _should_have_node(host) and host.get("node_id") not in there
            and (host["namespace"], host["name"]) not in names]


def _hosts_of_former_nodes(nodes: list[dict[str, Any]], hosts: list[dict[str, Any]]) -> list[Finding]:
    """Return hosts that name a node which is not there, while another one has their name."""
    if not belong_together(nodes, hosts):
        # All at once, or another cluster has hosts of these names.
        return []
    there = set(node["uuid"] for node in nodes)
    by_owner = dict((ownership.host_of(node.get("name")), node) for node in nodes)
    return [Finding(HOST_OF_FORMER_NODE, f"BareMetalHost {host['namespace']}/{host['name']}",
                    f"it names the node {host['node_id']}, which is not in Ironic; {_label(node)} is {node['uuid']}",
                    _advice(host, "the operator corrects this within a minute or two; if it does not, "
                                  + _WAKE_BY_SECRET), None)
            for host in hosts for node in [by_owner.get((host["namespace"], host["name"]))]
            if node and _should_have_node(host) and host.get("node_id") and host["node_id"] not in there]


def _ports_without_node(nodes: list[dict[str, Any]], ports: list[dict[str, Any]]) -> list[Finding]:
    there = set(node["uuid"] for node in nodes)
    return [Finding(PORT_WITHOUT_NODE, f"port {port['address']}", f"its node {port['node_uuid']} is not there",
                    f"delete the port (repair {PORT_WITHOUT_NODE})", ("port", port))
            for port in ports if port["node_uuid"] not in there]


def _macs_twice(nodes: list[dict[str, Any]], ports: list[dict[str, Any]],
                portgroups: list[dict[str, Any]]) -> list[Finding]:
    labels = dict((node["uuid"], _label(node)) for node in nodes)
    owners = {}
    for item in list(ports) + [group for group in portgroups if group.get("address")]:
        owners.setdefault(item["address"].lower(), set()).add(item["node_uuid"])
    return [Finding(MAC_TWICE, f"MAC {address}", "it is at %s" % " and ".join(
        sorted(labels.get(uuid, "node " + uuid) for uuid in uuids)), "delete the wrong one with ironic_port", None)
        for address, uuids in sorted(owners.items()) if len(uuids) > 1]


def _bmcs_twice(nodes: list[dict[str, Any]]) -> list[Finding]:
    by_door: dict[Any, list[Any]] = {}
    for node in nodes:
        bmc = node_bmc.of(node.get("driver_info"))
        if bmc:
            by_door.setdefault(bmc.door, []).append((bmc, _label(node)))
    found = {}
    for pairs in by_door.values():
        for bmc, _label_of_node in pairs:
            labels = tuple(sorted(label for other, label in pairs if node_bmc.same(bmc, other)))
            if len(labels) > 1:
                found.setdefault(labels, node_bmc.text(bmc))
    return [Finding(BMC_TWICE, f"BMC {text}", f"it is the BMC of {' and '.join(labels)}",
                    "delete the node that is wrong: two nodes would switch one server on and off", None)
            for labels, text in sorted(found.items(), key=lambda item: (item[1], item[0]))]


def _macs_of_other_nodes(nodes: list[dict[str, Any]], ports: list[dict[str, Any]],
                         hosts: list[dict[str, Any]]) -> list[Finding]:
    by_mac = dict((port["address"].lower(), port) for port in ports)
    by_uuid = dict((node["uuid"], node) for node in nodes)
    by_owner = dict(((host["namespace"], host["name"]), host) for host in hosts)
    found = []
    for host in hosts:
        port = by_mac.get((host.get("boot_mac_address") or "").lower())
        node = by_uuid.get(port["node_uuid"]) if port else None
        mine = (host["namespace"], host["name"])
        if port is None or node is None:
            continue
        if node["uuid"] == host.get("node_id") or ownership.host_of(node.get("name")) == mine:
            continue
        if discovered.is_made_by_ironic(node):
            found.append(Finding(
                MAC_OF_DISCOVERED_NODE, "BareMetalHost %s/%s" % mine,
                f"its boot MAC address {port['address']} is a port of {_label(node)}, which Ironic made by itself and "
                f"the operator takes over, with the driver {node.get('driver')} that Ironic gave it",
                f"delete the node: ironic_discovery with state absent and nodes {node['uuid']}, or enrol the host with "
                "hosts_delete_discovered", None))
            continue
        if not node.get("name") or node["name"] == host["name"]:
            # The operator takes such a node over.
            continue
        owner = ownership.host_of(node.get("name"))
        advice = f"correct the address, or delete the port there (repair {MAC_OF_OTHER_NODE})"
        # Which of the two has the wrong address is known by who looks at the servers.
        having = by_owner.get(owner) if owner else None
        is_of_both = ((having or {}).get("boot_mac_address") or "").lower() == port["address"].lower()
        if is_of_both:
            advice = ("correct that of the host whose card it is not; the port stays, for BareMetalHost "
                      f"{'/'.join(owner or ())} has this boot MAC address, too")
        found.append(Finding(
            MAC_OF_OTHER_NODE, "BareMetalHost %s/%s" % mine,
            f"its boot MAC address {port['address']} is a port of {_label(node)}, so that the operator does not "
            "register it", advice, None if is_of_both else ("port", port)))
    return found


def _hosts_without_ports(nodes: list[dict[str, Any]], ports: list[dict[str, Any]],
                         hosts: list[dict[str, Any]]) -> list[Finding]:
    found = []
    for host, node, missing in lost_ports.lost(nodes, ports, hosts):
        subject = f"BareMetalHost {host['namespace']}/{host['name']}"
        cause = f"{_label(node)} has no port, although the host's inspection has found NICs"
        boot = lost_ports.boot_mac(host)
        if boot:
            found.append(Finding(
                HOST_WITHOUT_PORTS, subject, cause,
                _advice(host, f"wait a minute: the operator creates that of its boot MAC address {boot} again; when it "
                              "does not, look into the operator's log"), None))
        elif missing:
            advice = f"create its {len(missing)} ports again (repair {HOST_WITHOUT_PORTS})"
            found.append(Finding(HOST_WITHOUT_PORTS, subject, cause, advice, ("ports", dict(node, ports=missing))))
        else:
            found.append(Finding(HOST_WITHOUT_PORTS, subject, cause + ", whose MAC addresses others have",
                                 "correct the other nodes and hosts with these addresses first", None))
    return found


def _raid_volumes_differ(nodes: list[dict[str, Any]], hosts: list[dict[str, Any]]) -> list[Finding]:
    by_uuid = dict((node["uuid"], node) for node in nodes)
    return [Finding(RAID_VOLUMES_DIFFER, f"BareMetalHost {host['namespace']}/{host['name']}", cause,
                    raid_volumes.NEXT_STEP, None)
            for host in hosts for node in [by_uuid.get(host.get("node_id"))] if node
            for cause in [raid_volumes.difference(node, host["state"], host.get("hardware_raid_levels"))] if cause]


def _boot_macs_twice(hosts: list[dict[str, Any]]) -> list[Finding]:
    owners = {}
    for host in hosts:
        if host.get("boot_mac_address"):
            owners.setdefault(host["boot_mac_address"].lower(), []).append(f"{host['namespace']}/{host['name']}")
    return [Finding(BOOT_MAC_TWICE, f"MAC {address}",
                    f"it is the boot MAC address of {' and '.join(sorted(names))}",
                    "correct it in the inventory and enrol the host again: its boot MAC address can't be changed", None)
            for address, names in sorted(owners.items()) if len(names) > 1]
