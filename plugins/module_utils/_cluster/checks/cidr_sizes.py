# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether kubeadm, the API server and the nodes get along with the networks of pods and services; pure.

Sources: kubeadm's ValidateNetworking (cmd/kubeadm/app/apis/kubeadm/validation), and of the API server
validatePublicIPServiceClusterIPRangeIPFamilies (cmd/kube-apiserver/app/options). Both refuse only on the machine.
"""
from __future__ import annotations

import ipaddress

from ..._common.documents.tolerant import dict_in
from ..._common.options.field_checks import shown
from ..._common.problems.problem import Problem
from ..description.model import FAMILIES
from ..description.spec import METALSTACK
from ..render.network import attached
from .numbers import machines_at_most

# constants.MaximumBitsForServiceSubnet, MinimumAddressesInServiceSubnet, PodSubnetNodeMaskMaxDiff.
_SERVICE_BITS, _SERVICE_ADDRESSES, _POD_BITS = 20, 10, 16
_NODE_PREFIX = {4: 24, 6: 64}
_CONTROLLERS = "control_plane.cluster_configuration.controllerManager.extraArgs"


def size_problems(subject, description):
    """Return what is wrong with the sizes of the networks of pods and services.

    :param subject: the cluster
    :param description: one whose networks are readable
    """
    if description.cluster_class:
        # The class says which program makes the nodes, and how.
        return []
    found = _service_sizes(subject, description) + _service_family(subject, description)
    for number, network, prefix in _node_prefixes(description):
        field = f"pod_cidrs[{number}]"
        if network.prefixlen > prefix or prefix - network.prefixlen > _POD_BITS:
            found.append(Problem(
                "network", subject, field, shown(network),
                f"a prefix of {max(prefix - _POD_BITS, 0)} to {prefix} bits, for kubeadm gives each node a network of "
                f"{prefix} bits",
                f"choose another network, or another size for nodes (node-cidr-mask-size-ipv{network.version} of "
                f"{_CONTROLLERS})"))
            continue
        lacking = _lacking(description, network, prefix)
        if lacking and description.network_addon == "flannel":
            found.append(Problem("network", subject, field, *lacking))
    return found


def size_warnings(description):
    """Return a line for each network of pods that has no part for each node, where the network add-on may need one.

    :param description: one without problems
    """
    if description.cluster_class or description.network_addon == "flannel":
        return []
    found = []
    for number, network, prefix in _node_prefixes(description):
        lacking = _lacking(description, network, prefix)
        if lacking:
            actual, expected, advice = lacking
            found.append(f"{description.subject}: pod_cidrs[{number}]: found {actual}, expected {expected}; {advice}, "
                         "unless the network add-on divides the network by itself")
    return found


def _service_sizes(subject, description):
    found = []
    for number, text in enumerate(description.service_cidrs):
        network = ipaddress.ip_network(text)
        least = network.max_prefixlen - _SERVICE_BITS
        if network.prefixlen < least or network.num_addresses < _SERVICE_ADDRESSES:
            found.append(Problem("network", subject, f"service_cidrs[{number}]", shown(network),
                                 f"a prefix of {least} to {network.max_prefixlen - 4} bits, for kubeadm refuses others",
                                 "choose another network"))
    return found


def _service_family(subject, description):
    """The API server ends when its own address is not of the family of the first network of services."""
    plane = description.groups[0]
    configuration = dict_in(plane.get("init_configuration") or {}, "localAPIEndpoint")
    if description.provider == METALSTACK or plane.get("network_data") or configuration.get("advertiseAddress"):
        return []
    families = set(family for name in attached(description, plane) for family in FAMILIES
                   if (description.networks[name].get(family) or {}).get("mode", "none") != "none")
    if len(families) != 1 or not description.service_cidrs:
        return []
    family, first = families.pop(), ipaddress.ip_network(description.service_cidrs[0])
    if family == f"ipv{first.version}":
        return []
    return [Problem("network", subject, "service_cidrs[0]", shown(first),
                    f"a network of {'IPv4' if family == 'ipv4' else 'IPv6'}, of which all addresses of the control "
                    "plane machines are", "set service_cidrs to one, or put it first: the API server does not start "
                    "with another")]


def _arguments(description):
    """Return the arguments of the controller manager as texts; in whatever form they are written."""
    given = dict_in(description.groups[0].get("cluster_configuration") or {}, "controllerManager").get("extraArgs")
    if isinstance(given, dict):
        return dict((str(name), str(value)) for name, value in given.items())
    return dict((str(entry.get("name")), str(entry.get("value"))) for entry in given or ()
                if isinstance(entry, dict)) if isinstance(given, list) else {}


def _node_prefixes(description):
    """Return ``(number, network, prefix length of a node's part)`` of each network of pods that is divided."""
    arguments = _arguments(description)
    if arguments.get("allocate-node-cidrs", "").lower() == "false":
        return []
    found = []
    for number, text in enumerate(description.pod_cidrs):
        network = ipaddress.ip_network(text)
        given = arguments.get(f"node-cidr-mask-size-ipv{network.version}", "")
        found.append((number, network, int(given) if given.isdecimal() else _NODE_PREFIX[network.version]))
    return found


def _lacking(description, network, prefix):
    """Return what was found, what is expected and what to do when there are more nodes than parts, else None."""
    if network.prefixlen > prefix:
        return None
    general = _arguments(description).get("node-cidr-mask-size", "")
    if len(description.pod_cidrs) == 1 and general.isdecimal() \
            and network.prefixlen <= int(general) <= network.max_prefixlen:
        prefix = int(general)
    parts, nodes = 2 ** (prefix - network.prefixlen), sum(machines_at_most(group) for group in description.groups)
    if nodes <= parts:
        return None
    return (f"{network} with networks of {prefix} bits for {parts} node{'' if parts == 1 else 's'}",
            f"one for each of {nodes} machines, those included that a rollout adds",
            "choose a larger network: a node without one does not become ready")
