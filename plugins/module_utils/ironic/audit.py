# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is out of step between BareMetalHosts, Ironic's nodes and their ports; pure."""
from __future__ import annotations

from collections import namedtuple

from . import ownership

# subject: what it is about. cause, next_step: phrases. repair: "node" or "port" with the object that a repair deletes,
# None where no deletion is right.
Finding = namedtuple("Finding", ["kind", "subject", "cause", "next_step", "repair"])

NODE_WITHOUT_HOST, HOST_WITHOUT_NODE = "node_without_host", "host_without_node"
MAC_OF_OTHER_NODE, MAC_TWICE, BOOT_MAC_TWICE = "mac_of_other_node", "mac_twice", "boot_mac_twice"
BMC_TWICE, PORT_WITHOUT_NODE = "bmc_twice", "port_without_node"
# Hosts in these states have no node yet, or none any more.
_WITHOUT_NODE = ("new", "unmanaged", "registering", "deleting", "powering off before delete", "deleted", "")


def findings(nodes, ports, portgroups, hosts=None, namespaces=None, all_namespaces=False):
    """Return everything that is out of step, in a stable order.

    :param nodes: nodes as Ironic has them: uuid, name, driver_info, provision_state
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
        found += _nodes_without_host(nodes, hosts, namespaces) + _hosts_without_node(nodes, hosts)
        found += _macs_of_other_nodes(nodes, ports, hosts) + _boot_macs_twice(hosts)
    return found


def confirmed(found, earlier):
    """Return the findings that an earlier look had too.

    What is read one after the other does not fit while somebody works: a host that came after the hosts were read has
    a node already. Such a thing was not there at the earlier look, or is not found any more. No clocks are compared.

    :param found: list of :class:`Finding`
    :param earlier: findings as plain data, of a look that ended before the hosts of this one were read
    """
    known = set((item.get("kind"), item.get("subject"), item.get("object")) for item in earlier)
    return [item for item in found if (item.kind, item.subject, object_of(item)) in known]


def object_of(finding):
    """Return the UUID of what a repair deletes, empty when there is no repair."""
    return finding.repair[1]["uuid"] if finding.repair else ""


def _label(node):
    return "node %s" % (node.get("name") or node["uuid"])


def _nodes_without_host(nodes, hosts, namespaces):
    names = set((host["namespace"], host["name"]) for host in hosts)
    ids = set(host.get("node_id") for host in hosts)
    return [Finding(NODE_WITHOUT_HOST, _label(node), "BareMetalHost %s/%s is not there" % owner,
                    "enrol the host again, or delete the node (repair %s)" % NODE_WITHOUT_HOST, ("node", node))
            for node in nodes for owner in [ownership.host_of(node.get("name"))]
            if owner and (namespaces is None or owner[0] in namespaces) and owner not in names
            and node["uuid"] not in ids]


def _hosts_without_node(nodes, hosts):
    there = set(node["uuid"] for node in nodes)
    names = set(ownership.host_of(node.get("name")) for node in nodes)
    return [Finding(HOST_WITHOUT_NODE, "BareMetalHost %s/%s" % (host["namespace"], host["name"]),
                    "its node %s is not in Ironic" % (host.get("node_id") or "(none yet)"),
                    "the operator registers it anew within a minute or two; if it does not, look at the host's error",
                    None)
            for host in hosts
            if host["state"] not in _WITHOUT_NODE and host.get("operational_status") != "detached"
            and host.get("node_id") not in there and (host["namespace"], host["name"]) not in names]


def _ports_without_node(nodes, ports):
    there = set(node["uuid"] for node in nodes)
    return [Finding(PORT_WITHOUT_NODE, "port %s" % port["address"], "its node %s is not there" % port["node_uuid"],
                    "delete the port (repair %s)" % PORT_WITHOUT_NODE, ("port", port))
            for port in ports if port["node_uuid"] not in there]


def _macs_twice(nodes, ports, portgroups):
    labels = dict((node["uuid"], _label(node)) for node in nodes)
    owners = {}
    for item in list(ports) + [group for group in portgroups if group.get("address")]:
        owners.setdefault(item["address"].lower(), set()).add(item["node_uuid"])
    return [Finding(MAC_TWICE, "MAC %s" % address, "it is at %s" % " and ".join(
        sorted(labels.get(uuid, "node " + uuid) for uuid in uuids)), "delete the wrong one with ironic_port", None)
        for address, uuids in sorted(owners.items()) if len(uuids) > 1]


def _bmcs_twice(nodes):
    found = {}
    for node in nodes:
        address = _bmc(node.get("driver_info") or {})
        if address:
            found.setdefault(address, []).append(_label(node))
    return [Finding(BMC_TWICE, "BMC %s" % address, "it is the BMC of %s" % " and ".join(sorted(labels)),
                    "delete the node that is wrong: two nodes would switch one server on and off", None)
            for address, labels in sorted(found.items()) if len(labels) > 1]


def _bmc(info):
    """Return what tells one BMC's system from another's; empty when it is not known."""
    if info.get("redfish_address"):
        return str(info["redfish_address"]).rstrip("/").lower() + str(info.get("redfish_system_id") or "")
    if info.get("ipmi_address"):
        return "ipmi://%s:%s" % (str(info["ipmi_address"]).lower(), info.get("ipmi_port") or 623)
    return ""


def _macs_of_other_nodes(nodes, ports, hosts):
    by_mac = dict((port["address"].lower(), port) for port in ports)
    by_uuid = dict((node["uuid"], node) for node in nodes)
    found = []
    for host in hosts:
        port = by_mac.get((host.get("boot_mac_address") or "").lower())
        node = by_uuid.get(port["node_uuid"]) if port else None
        mine = (host["namespace"], host["name"])
        if node is None or node["uuid"] == host.get("node_id") or ownership.host_of(node.get("name")) == mine:
            continue
        if not node.get("name") or node["name"] == host["name"]:
            # The operator takes such a node over.
            continue
        found.append(Finding(
            MAC_OF_OTHER_NODE, "BareMetalHost %s/%s" % mine,
            "its boot MAC address %s is a port of %s, so that the operator does not register it" % (
                port["address"], _label(node)),
            "correct the address, or delete the port there (repair %s)" % MAC_OF_OTHER_NODE, ("port", port)))
    return found


def _boot_macs_twice(hosts):
    owners = {}
    for host in hosts:
        if host.get("boot_mac_address"):
            owners.setdefault(host["boot_mac_address"].lower(), []).append("%s/%s" % (host["namespace"], host["name"]))
    return [Finding(BOOT_MAC_TWICE, "MAC %s" % address,
                    "it is the boot MAC address of %s" % " and ".join(sorted(names)),
                    "correct it in the inventory and enrol the host anew: its boot MAC address can't be changed", None)
            for address, names in sorted(owners.items()) if len(names) > 1]
