# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""From a cluster's inventory variables to its description: one table of names, for both ways.

The role ``cluster`` says the same in its defaults; a unit test compares the two.
"""
from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ..._common.problems.problem import Problem
from .spec import description_options, machine_options

GROUP = "clusters"
PREFIX = "cluster_"
# Options with a variable of their own, PREFIX and the option's name; all others are in OPTIONS_VARIABLE.
OPTIONS = ("provider", "metalstack", "kubernetes_version", "endpoint", "network_addon", "image", "networks",
           "control_plane", "workers", "standalone_machines")
# Those that had no prefix once.
ONCE_BARE = tuple(
    name for name in OPTIONS if name not in ("network_addon", "provider", "metalstack", "standalone_machines"))
OPTIONS_VARIABLE = PREFIX + "options"
NAMESPACES = ("cluster_namespace", "metal3_namespace")
DEFAULT_NAMESPACE = "metal3"
# Options of the module that are no part of the description and have a variable of the role, PREFIX and the name.
_OF_RUN = ("adopt", "check_hosts", "check_network", "dhcp", "image_ca_file", "ironic_pod", "kubeconfig", "manifests",
           "neighbours", "prune", "resource_set", "rollout", "wait_for", "wait_timeout_seconds",
           "node_startup_timeout_seconds", "virtual_routers", "workload_kubeconfig")
CONFIRMATION = "metal3_confirm"
# Groups that Ansible puts hosts in by itself, and the one that makes a host a cluster: none of them names it.
_GENERAL_GROUPS = (GROUP, "all", "ungrouped")


class ClusterNameError(ValueError):
    """The inventory does not say clearly which name a cluster has."""


def name_of(inventory_name, variables, children=None):
    """Return the name of a cluster: ``cluster_name``, else its group directly below ``clusters``, else the host's.

    Everything that needs a cluster's name asks here: the roles through the filter ``cluster_name``, the other filters
    and the lint.

    :param inventory_name: name of the inventory host that stands for the cluster
    :param variables: mapping of its variables
    :param children: list of ``(group directly below clusters, names of its hosts)`` in the order of the inventory; None
        when the groups' order and parents are not known, then ``group_names`` is used
    :raises ClusterNameError: when several groups could be meant
    """
    chosen = variables.get(PREFIX + "name")
    if chosen:
        return chosen
    if children is None:
        groups = [group for group in variables.get("group_names") or [] if group not in _GENERAL_GROUPS]
    else:
        groups = [group for group, hosts in children if inventory_name in hosts]
    if len(groups) > 1:
        raise ClusterNameError(Problem(
            "cluster-identity", _subject(inventory_name), PREFIX + "name",
            f"nothing, and the groups {', '.join(groups)}",
            f"one group directly below {GROUP}, which gives the cluster its name",
            f"set {PREFIX}name for this host, or leave it in one of these groups"))
    return (groups + [inventory_name])[0]


def namespace_of(variables, first=()):
    """Return the namespace of a cluster.

    :param variables: mapping of its variables
    :param first: names of variables that come before those of all roles
    """
    return next(filter(None, map(variables.get, (*first, *NAMESPACES))), DEFAULT_NAMESPACE)


def name_problems(clusters, children=None):
    """Return what is wrong with the names of an inventory's clusters, as ``{inventory name: Mistake}``.

    Two descriptions of one Cluster would undo each other's work, so both are refused.

    :param clusters: ``{inventory name: mapping of its variables}`` of all hosts of the group ``clusters``
    :param children: see :func:`name_of`
    """
    found, owners = {}, {}
    for inventory_name, variables in clusters.items():
        try:
            key = f"{namespace_of(variables)}/{name_of(inventory_name, variables, children)}"
        except ClusterNameError as exc:
            found[inventory_name] = exc.args[0]
            continue
        owners.setdefault(key, []).append(inventory_name)
    for key, names in owners.items():
        for inventory_name in names if len(names) > 1 else ():
            found[inventory_name] = Problem(
                "cluster-identity", _subject(inventory_name), PREFIX + "name", "%s, as of inventory host%s %s" % (
                    key, "s" if len(names) > 2 else "", ", ".join(name for name in names if name != inventory_name)),
                "a name of its own", f"set {PREFIX}name for each of them, or give each a group directly below {GROUP}")
    return found


def former_names(inventory_name, variables):
    """Return a problem for each variable of a cluster that bears a name from before all of them had PREFIX.

    A variable of such a name beside the present one may be for something else, and is ignored.

    :param inventory_name: name of the inventory host that stands for the cluster
    :param variables: mapping of its variables
    """
    return [Problem("unknown-variable", _subject(inventory_name), option, "a name that clusters no longer read",
                    PREFIX + option, f"rename the variable {option} to {PREFIX + option}")
            for option in ONCE_BARE if option in variables and PREFIX + option not in variables]


def _subject(inventory_name):
    return f"cluster of inventory host {inventory_name}"


def parameters(inventory_name, variables, children=None):
    """Return the description of a cluster, as ``cluster_description.read`` takes it.

    :param inventory_name: name of the inventory host that stands for the cluster
    :param variables: mapping of its variables
    :param children: see :func:`name_of`
    :raises ClusterNameError: when several groups could give it its name
    """
    given = {"name": name_of(inventory_name, variables, children), "namespace": namespace_of(variables)}
    for option in OPTIONS:
        value = variables.get(PREFIX + option)
        if value is not None:
            given[option] = value
    options = variables.get(OPTIONS_VARIABLE)
    if isinstance(options, dict):
        given.update(options)
    return given


def field_names(options: Mapping[str, Any] | None) -> dict[str, str]:
    """Return ``{option: variable}`` by which the reader of a play knows the options of the module ``cluster``.

    Options of machines are not among them: in hints they may be those of a group.

    :param options: the variable OPTIONS_VARIABLE, which may hold any option
    """
    names = dict((option, f"{OPTIONS_VARIABLE}.{option}") for option in description_options()
                 if option not in machine_options())
    names.update((option, PREFIX + option) for option in (*OPTIONS, "name", "namespace", *_OF_RUN))
    # Unknown ones too, so that the problem says where they stand.
    names.update((option, f"{OPTIONS_VARIABLE}.{option}") for option in options or () if isinstance(option, str))
    names["confirm"] = CONFIRMATION
    return names


def variable_of(path, variables):
    """Return where in the inventory an option stands.

    :param path: path of the option, for example ``control_plane.replicas`` or ``pod_cidrs[0]``
    :param variables: mapping of the cluster's variables
    :returns: the same path, beginning with the variable
    """
    head = re.split(r"[.\[]", path)[0]
    options = variables.get(OPTIONS_VARIABLE)
    if isinstance(options, dict) and head in options:
        return f"{OPTIONS_VARIABLE}.{path}"
    if head == "name" or head in OPTIONS or head in _OF_RUN:
        return PREFIX + path
    if head == "namespace":
        return next((name for name in NAMESPACES if name in variables), NAMESPACES[0])
    return f"{OPTIONS_VARIABLE}.{path}"
