# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A Machine that nothing owns, with its Metal3Machine and its KubeadmConfig, and what becomes of it later; pure.

Cluster API takes up no change of its version or its user data: a described one that is there stays as it was made.
"""
from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any

from ..._kube.objects.finalizers import is_going
from ..description.model import ClusterDescription

Object = dict[str, Any]

# On the Machine: what it was made of, to be compared with what is described now.
MADE_OF = "metal3.baremetal/made-of"
# What belongs to one Machine and has its name.
_PARTS = ("Metal3Machine", "KubeadmConfig", "Machine")
_DIGITS = 16


def made_of(*specs: Mapping[str, Any]) -> str:
    """Return a text that is the same for the same content."""
    text = json.dumps(specs, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGITS]


def without_stored(description: ClusterDescription, desired: Iterable[Object],
                   objects: Mapping[str, list[Object]]) -> tuple[list[Object], list[str]]:
    """Return the rendered objects without those of standalone Machines that are there, and warnings about these.

    Those of one that is being deleted are among them, which refuses the run as for any other object.

    :param desired: list of rendered objects
    :param objects: dict of kind to list of stored objects
    """
    desired = list(desired)
    stored = dict((item["metadata"]["name"], item) for item in objects.get("Machine") or [] if not is_going(item))
    names = [group.owner for group in description.groups if group.is_standalone and group.owner in stored]
    templates, warnings = set(), []
    for item in desired:
        name = item["metadata"]["name"]
        if name not in names:
            continue
        if item["kind"] == "Metal3Machine":
            templates.add(item["spec"]["dataTemplate"]["name"])
        elif item["kind"] == "Machine":
            warnings += _warnings(description, item, stored[name])
    return [item for item in desired if not (
        (item["kind"] in _PARTS and item["metadata"]["name"] in names)
        or (item["kind"] == "Metal3DataTemplate" and item["metadata"]["name"] in templates))], warnings


def _warnings(description, wanted, stored):
    name = wanted["metadata"]["name"]
    before, after = ((item["metadata"].get("annotations") or {}).get(MADE_OF) for item in (stored, wanted))
    return [f"{description.subject}: Machine {name} was made of another description and stays as it is, for nothing "
            "replaces a standalone machine: describe it with state: absent and run, then as it is to be and run "
            "again"] if before != after else []
