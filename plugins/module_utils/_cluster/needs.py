# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a cluster needs of the hosts that it shares with others, without the rest of its description; pure."""
from __future__ import annotations

from .description import groups, read

_OF_GROUP = ("role", "name", "replicas", "autoscaler", "host_selector", "host_selector_expressions")


def needs(params):
    """Return what a description needs of hosts, or None when it has mistakes, which its own run tells.

    Nothing that it may have of secrets comes along.

    :param params: as ``cluster_description.read`` takes them
    :returns: dict with ``name``, ``namespace`` and ``groups``, each of these as ``cluster_description.groups`` has it
    """
    description, mistakes = read(params)
    if mistakes:
        return None
    return {"name": description["name"], "namespace": description["namespace"],
            "groups": [dict((key, group[key]) for key in _OF_GROUP if group.get(key) is not None)
                       for group in groups(description)]}


def needs_options():
    """Return the options of what :func:`needs` returns, as an argument spec."""
    group = {
        "role": {"type": "str", "required": True, "choices": ["control-plane", "worker"]},
        "name": {"type": "str", "required": True}, "replicas": {"type": "int"}, "autoscaler": {"type": "dict"},
        "host_selector": {"type": "dict"}, "host_selector_expressions": {"type": "list", "elements": "dict"},
    }
    return {"name": {"type": "str", "required": True}, "namespace": {"type": "str", "required": True},
            "groups": {"type": "list", "elements": "dict", "required": True, "options": group}}
