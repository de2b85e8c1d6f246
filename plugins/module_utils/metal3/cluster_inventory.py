# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""From a cluster's inventory variables to its description: one table of names, for both ways.

The role ``cluster`` says the same in its defaults; a unit test compares the two.
"""
from __future__ import annotations

import re

GROUP = "clusters"
PREFIX = "cluster_"
# Options with a variable of their own, with or without PREFIX; all others are in OPTIONS_VARIABLE.
OPTIONS = ("kubernetes_version", "endpoint", "image", "networks", "control_plane", "workers")
OPTIONS_VARIABLE = PREFIX + "options"
NAMESPACES = ("cluster_namespace", "metal3_namespace")
DEFAULT_NAMESPACE = "metal3"


def name_of(inventory_name, variables):
    """Return the name of a cluster: ``cluster_name``, else its group below ``clusters``, else the inventory host's.

    :param inventory_name: name of the inventory host that stands for the cluster
    :param variables: mapping of its variables, ``group_names`` among them
    """
    groups = [group for group in variables.get("group_names") or [] if group != GROUP]
    return variables.get(PREFIX + "name") or (groups + [inventory_name])[0]


def parameters(inventory_name, variables):
    """Return the description of a cluster, as ``cluster_description.read`` takes it.

    :param inventory_name: name of the inventory host that stands for the cluster
    :param variables: mapping of its variables
    """
    given = {"name": name_of(inventory_name, variables),
             "namespace": next(filter(None, map(variables.get, NAMESPACES)), DEFAULT_NAMESPACE)}
    for option in OPTIONS:
        value = variables.get(variable_of(option, variables))
        if value is not None:
            given[option] = value
    options = variables.get(OPTIONS_VARIABLE)
    if isinstance(options, dict):
        given.update(options)
    return given


def variable_of(path, variables):
    """Return where in the inventory an option stands.

    :param path: path of the option, for example ``control_plane.replicas`` or ``pod_cidrs[0]``
    :param variables: mapping of the cluster's variables
    :returns: the same path, beginning with the variable
    """
    head = re.split(r"[.\[]", path)[0]
    options = variables.get(OPTIONS_VARIABLE)
    if isinstance(options, dict) and head in options:
        return "%s.%s" % (OPTIONS_VARIABLE, path)
    if head in OPTIONS:
        return PREFIX + path if PREFIX + head in variables else path
    if head == "name":
        return PREFIX + path
    if head == "namespace":
        return next((name for name in NAMESPACES if name in variables), NAMESPACES[0])
    return "%s.%s" % (OPTIONS_VARIABLE, path)
