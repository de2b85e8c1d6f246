# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rules for a cluster description that need nothing but the description; pure.

Sources: the webhooks and CRDs of Cluster API 1.13, CAPM3 1.13 and IPAM 1.13, and what their controllers refuse later.
"""
from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from ..._common.addresses import ip_texts
from ..._common.options.field_checks import shown
from ..._common.problems.problem import Problem
from ..._ipam.validation import pool_problems
from ..description import reader as cluster_description
from ..description.model import FAMILIES, ClusterDescription
from ..description.spec import NAME_RULE
from ..description.version_number import parse
from ..render import addon as cluster_addon
from ..render import endpoint as cluster_endpoint
from ..render import registries as cluster_registries
from ..render.objects import render
from ..render.preallocations import preallocation_problems
from .address import endpoint_problems, overlap_problems
from .cidr_sizes import size_problems, size_warnings
from .groups import group_problems
from .links import link_problems
from .machine_links import machine_link_problems
from .metalstack import metalstack_problems
from .networks import network_problems, one_of
from .numbers import machines_at_most
from .pool_fields import of_networks
from .topology import topology_problems
from .user_data import ignition_warning

# Of a control plane, with etcd on its machines (KubeadmControlPlane's remediation).
_REPLACED_FROM_REPLICAS = 3


class Checked(NamedTuple):
    """A description and all that is wrong with it.

    :param description: as read
    :param mistakes: of types and names of options
    :param problems: all others
    :param objects: the objects of the cluster, none when anything is wrong
    :param sound: the description without what the mistakes are about, which the problems were found in
    """

    description: ClusterDescription
    mistakes: list[Problem]
    problems: list[Problem]
    objects: list[dict[str, Any]]
    sound: ClusterDescription


def check_description(params: Mapping[str, Any]) -> Checked:
    """Read and check a description, and render it when nothing is wrong with it.

    :param params: as ``reader.read`` takes them
    """
    description, mistakes = cluster_description.read(params)
    if not mistakes:
        problems, objects = _checked_and_rendered(description)
        return Checked(description, [], problems, objects, description)
    rest, paths = cluster_description.without_mistakes(params)
    sound = cluster_description.read(rest)[0]
    return Checked(description, mistakes, [
        line for line in description_problems(sound) if not _follows(line, paths)], [], sound)


def _follows(line, paths):
    """Return whether a Mistake only says that something is missing which was removed for its own mistakes."""
    field = line.field or ""
    # An option of the cluster is one of each of its groups.
    return bool(paths & set(re.split(r"[.\[\]]+", field))) \
        or any(re.match(re.escape(path) + r"(?=$|[.\[])", field) for path in paths)


def description_problems(description: ClusterDescription) -> list[Problem]:
    """Return every problem of a description."""
    return _checked_and_rendered(description)[0]


def _checked_and_rendered(description):
    """Return every problem of a description, and the objects of one that has none.

    Rules that compare parts of it are applied to those parts that are right in themselves.
    """
    subject = description.subject
    found = _identity(subject, description) + cluster_addon.option_problems(subject, description)
    found += metalstack_problems(subject, description) + topology_problems(subject, description)
    networks = network_problems(subject, description) + link_problems(subject, description)
    networks = networks or machine_link_problems(subject, description)
    if description.endpoint and not networks:
        networks = cluster_endpoint.holder_problems(subject, description)
    found += networks + cluster_registries.problems(subject, description)
    for group in description.groups:
        found += group_problems(subject, description, group)
    # Groups have mistakes in options of the whole cluster in common.
    found = list(dict.fromkeys(found))
    sound = _sound_part(description, found)
    needed = {} if _wrong(found, r".*\.(replicas|autoscaler|max_surge|attached_networks)\b.*") \
        else addresses_needed(sound)
    pools = of_networks(pool_problems(sound.pools, sound.namespace, needed=needed), sound)
    if not _wrong(found, r".*\.(replicas|autoscaler|max_surge|cluster_configuration|init_configuration)\b.*"):
        found += size_problems(subject, sound)
    whole = not found and not pools
    found += pools
    if not pools:
        found += overlap_problems(subject, sound)
        found += endpoint_problems(subject, sound) if sound.endpoint else []
    if not whole:
        return found, []
    found += preallocation_problems(subject, description)
    objects = []
    try:
        objects = render(description)
    except ValueError as exc:
        found.append(Problem("version", subject, "", str(exc), f"fields that {description.api_version} has"))
    return found, [] if found else objects


def _sound_part(description, found):
    """Return a description with only those networks and addresses that no mistake is about."""
    networks = dict((name, network) for name, network in description.networks.items()
                    if not _wrong(found, rf"networks\.{re.escape(name)}(\.(?!pre_allocations).*)?"))
    return replace(
        description, networks=networks, endpoint=None if _wrong(found, r"endpoint\b.*") else description.endpoint,
        **dict((option, [] if _wrong(found, option + r"\b.*") else getattr(description, option))
               for option in ("pod_cidrs", "service_cidrs")))


def _wrong(found, fields):
    return any(re.fullmatch(fields, line.field or "", re.DOTALL) for line in found)


def description_warnings(description):
    """Return what of a description works and will be regretted, as lines.

    :param description: one without problems
    """
    fields = [f"networks.{name}.{family}.pool_annotation" for name in sorted(description.networks)
              for family in FAMILIES if (description.networks[name].get(family) or {}).get("pool_annotation")]
    fields += [f"{group.field}.network_data" for group in description.groups
               if _mentions(group.get("network_data"), "fromPoolAnnotation")]
    subject = description.subject
    warnings = [f"{subject}: {field}: CAPM3 1.13 does not give back an address from a pool that an annotation names: "
                "the IPClaim of a deleted machine stays, held by CAPM3's finalizer; name the pool itself (option "
                "pool)" for field in fields]
    holder = cluster_endpoint.holder_warning(description)
    if holder:
        field, actual, advice = holder
        warnings.append(f"{subject}: {field}: {actual}; {advice}")
    warnings += size_warnings(description)
    for group in description.groups:
        unrendered = ignition_warning(subject, description, group)
        warnings += [unrendered] if unrendered else []
        sizes = group.get("autoscaler") or {}
        if sizes.get("min_size") == 0 and not sizes.get("capacity"):
            warnings.append(f"{subject}: {group.field}.autoscaler.capacity: not set; a pool without machines is not "
                            "enlarged by an autoscaler that does not know what a machine has, so set cpu and memory, "
                            "or min_size to 1")
        replicas, check = group.initial_replicas, group.get("health_check")
        if group.is_control_plane and check and check["enabled"] and replicas < _REPLACED_FROM_REPLICAS:
            warnings.append(
                f"{subject}: {group.field}.health_check: found {replicas} replicas, expected {_REPLACED_FROM_REPLICAS} "
                "or more; a machine is rebooted with reboot_retry_limit and never replaced, because etcd would lose "
                "its quorum with it")
    return warnings


def _mentions(value, key):
    if isinstance(value, dict):
        return key in value or any(_mentions(item, key) for item in value.values())
    return isinstance(value, list) and any(_mentions(item, key) for item in value)


def addresses_needed(description):
    """Return how many addresses each pool must have: one for each machine, and for those that a rollout adds."""
    needed = {}
    for group in description.groups:
        for pool in description.pools_taken(group):
            needed[pool] = needed.get(pool, 0) + machines_at_most(group)
    return needed


def _identity(subject, description):
    found = []
    if not re.match(NAME_RULE, description.name):
        found.append(
            Problem("cluster-name", subject, "name", shown(description.name), "lower case letters, digits and dashes")
        )
    if not parse(description.kubernetes_version):
        found.append(Problem("version", subject, "kubernetes_version", shown(description.kubernetes_version),
                             "a version such as v1.35.4", "write it with v and three numbers"))
    endpoint = description.endpoint
    if not endpoint:
        # A class of the user's knows it.
        found += [] if description.cluster_class else [
            Problem("endpoint", subject, "endpoint", None, "host and port of the API server",
                    "set endpoint.host to a free address of the nodes' network")]
    elif not 1 <= endpoint["port"] <= 65535:
        found.append(Problem("endpoint", subject, "endpoint.port", shown(endpoint["port"]), "1 to 65535"))
    for option in ("pod_cidrs", "service_cidrs"):
        found += _cidrs(subject, option, getattr(description, option))
    domains = [domain["name"] for domain in description.failure_domains or []]
    for name in sorted(set(name for name in domains if domains.count(name) > 1)):
        found.append(Problem("reference", subject, "failure_domains", f"{name} twice", "one entry for each domain"))
    wanted = description.node_ip_network
    if wanted and wanted not in description.networks:
        found.append(Problem("reference", subject, "node_ip_network", shown(wanted), one_of(description.networks)))
    elif wanted and wanted not in [network for network, _family, _settings, _pool in description.pool_uses]:
        found.append(Problem("reference", subject, "node_ip_network", shown(wanted),
                             "a network with addresses from a pool",
                             "name one that has ranges or pool, or give this one ranges"))
    return found


def _cidrs(subject, option, cidrs):
    found, versions = [], []
    for number, text in enumerate(cidrs):
        try:
            versions.append(ip_texts.network(text).version)
        except ValueError as exc:
            found.append(Problem("network", subject, f"{option}[{number}]", f"{text} ({exc})",
                                 "a network such as 10.244.0.0/16", ip_texts.network_hint(text)))
    if len(versions) > 2 or len(set(versions)) != len(versions):
        found.append(
            Problem("network", subject, option, ", ".join(cidrs), "at most one network of each address family",
                    "keep one for IPv4 and one for IPv6")
        )
    return found
