# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The image of a deployment: options, and the instance_info that Ironic takes; pure."""
from __future__ import annotations

from typing import Any

from ..._common.problems.problem import Problem
from ..nodes import diff as node_diff
from . import per_node

_FIELDS = {
    "source": "image_source", "checksum": "image_checksum", "checksum_algorithm": "image_os_hash_algo",
    "checksum_value": "image_os_hash_value", "disk_format": "image_disk_format", "kernel": "kernel",
    "ramdisk": "ramdisk", "boot_iso": "boot_iso",
}


def image_argument_spec() -> dict[str, dict[str, Any]]:
    """Return the options of an image."""
    return dict((name, {"type": "str"}) for name in _FIELDS)


def problems(options: dict[str, Any], nodes: list[dict[str, Any]]) -> list[Problem]:
    """Return the Problems of the images of single nodes, which the argument spec does not check.

    :param options: the module's options, with ``nodes`` and ``images``
    :param nodes: the nodes of the list that Ironic has, with ``name`` and ``uuid``
    """
    found = []
    for key, image in (options.get("images") or {}).items():
        if not isinstance(image, dict):
            found.append(Problem("image", f"node {key}", f"images.{key}", "no dictionary", "a dictionary",
                                 f"give {', '.join(_FIELDS)}"))
            continue
        found += [Problem("image", f"node {key}", f"images.{key}.{name}", "an unknown option",
                          "one of " + ", ".join(_FIELDS), "remove it") for name in image if name not in _FIELDS]
        found += [Problem("image", f"node {key}", f"images.{key}.{name}", "no text", "a text", "correct it")
                  for name, value in image.items() if name in _FIELDS and not isinstance(value, (str, type(None)))]
    return found + per_node.problems("image", "images", "image", options, nodes)


def instance_info(options: dict[str, Any], node: dict[str, Any]) -> dict[str, Any]:
    """Return what instance_info is to have for a deployment; None values are to be removed.

    :param options: the module's options, with ``image``, ``images`` and ``instance_info``
    :param node: the node, with ``name`` and ``uuid``
    """
    image = per_node.value_of(options.get("images"), node) or options.get("image") or {}
    wanted = dict((field, image[name]) for name, field in _FIELDS.items() if image.get(name) is not None)
    if image:
        # Left over from another image, these would not fit.
        wanted.update((field, None) for field in _FIELDS.values() if field not in wanted)
    return dict(wanted, **(options.get("instance_info") or {}))


def change(options: dict[str, Any], node: dict[str, Any]) -> node_diff.Change:
    """Return the change of a node's instance_info that a deployment asks for, a ``node_diff.Change``.

    Ironic adds fields of its own to what was given while it deploys; only given ones are compared.

    :param options: the module's options
    :param node: the node with ``instance_info``
    """
    given = instance_info(options, node)
    current = node.get("instance_info") or {}
    if current.get("image_source") == given.get("image_source"):
        given = dict((key, value) for key, value in given.items() if value is not None)
    return node_diff.merged_change("instance_info", given, node)


def text(node: dict[str, Any]) -> str:
    """Return what a node is deployed with, in a few words."""
    info = node.get("instance_info") or {}
    return info.get("image_source") or info.get("boot_iso") or "an unknown image"
