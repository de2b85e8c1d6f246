# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Config drives of a deployment: options, rules, whose is whose, and what of them is never shown; pure."""
from __future__ import annotations

import difflib
import re
from typing import Any

from ..._common.options import network_data
from ..._common.options.field_checks import UUID
from ..._common.problems.problem import Problem
from ..._common.redaction.redaction import HIDDEN, leaves
from ..api import states
from . import per_node

# Ironic's schema (api/controllers/v1/utils.py, _CONFIG_DRIVE_SCHEMA): types by name of the part.
_PARTS = {"meta_data": (dict,), "user_data": (str, dict, list), "network_data": (dict,), "vendor_data": (dict,)}
_EXPECTED = {(dict,): "a dictionary", (str, dict, list): "a text, a dictionary or a list"}
# In place of the parts.
_READY = "iso"
_KINDS = ((bool, "true or false"), (str, "a text"), (dict, "a dictionary"), (list, "a list"),
          ((int, float), "a number"))
# What Ironic takes for base64: line ends and blanks are common in it.
_BASE64 = re.compile(r"^[A-Za-z0-9+/=\s]+\Z")
# Shorter texts are parts of ordinary words.
_LEAST_CHARACTERS = 6
# What a result has of a node besides its name and UUID.
_RESULT_WORDS = states.STABLE.union(states.HOLDS, ("power on", "power off"), *(
    verb.passing for verb in states.VERBS.values()))


def config_drive_argument_spec() -> dict[str, dict[str, Any]]:
    """Return the options of a config drive."""
    spec = dict((name, {"type": "raw" if len(types) > 1 else "dict"}) for name, types in _PARTS.items())
    return dict(spec, **{_READY: {"type": "str"}})


def problems(options: dict[str, Any], nodes: list[dict[str, Any]]) -> list[Any]:
    """Return the Problems of the config drives, which quote nothing of their content but names and numbers of links.

    Of these the module hides the longer ones, see :func:`texts`.

    :param options: the module's options, with ``config_drive`` for all nodes and ``config_drives`` by name or UUID
    :param nodes: the nodes of the list that Ironic has, with ``name`` and ``uuid``
    :returns: list of lines
    """
    found = _drive_problems("all nodes", "config_drive", options.get("config_drive"))
    own = options.get("config_drives") or {}
    for key, drive in own.items():
        found += _drive_problems(f"node {key}", f"config_drives.{key}", drive)
    return found + per_node.problems("config-drive", "config_drives", "drive", options, nodes)


def of_node(options: dict[str, Any], node: dict[str, Any]) -> Any:
    """Return a node's config drive as Ironic takes it: a dictionary, an ISO in base64 or its URL; None for none.

    A node's own drive wins over that of all nodes: part by part, where neither of them is a ready one.

    :param options: the module's options, without :func:`problems`
    :param node: the node, with ``name`` and ``uuid``
    """
    own = _given(per_node.value_of(options.get("config_drives"), node))
    common = _given(options.get("config_drive"))
    if own and (_READY in own or _READY in common):
        common = {}
    parts = dict(common, **own)
    return parts.get(_READY) or parts or None


def texts(options: dict[str, Any]) -> set[str]:
    """Return the texts in all config drives, as they are and as errors quote them, a set.

    Those that results are made of are left out: a name in meta data must not make the node's results unreadable.

    :param options: the module's options
    """
    shown = _RESULT_WORDS.union(options["nodes"])
    found = set()
    for leaf in leaves([options.get("config_drive"), options.get("config_drives")]):
        if leaf is None or isinstance(leaf, bool):
            continue
        leaf = str(leaf)
        for form in (leaf, " ".join(leaf.split()), repr(leaf)[1:-1]):
            if len(form) >= _LEAST_CHARACTERS and not UUID.match(form) and not any(form in text for text in shown):
                found.add(form)
    return found


def _given(drive: dict[str, Any] | None) -> dict[str, Any]:
    return dict((key, value) for key, value in (drive or {}).items() if value is not None)


def _kind(value: Any) -> str:
    return next((text for types, text in _KINDS if isinstance(value, types)), "something else")


def _drive_problems(subject: str, path: str, drive: Any) -> list[Any]:
    if drive is None:
        return []
    if not isinstance(drive, dict):
        return [Problem(
            "config-drive", subject, path, _kind(drive), "a dictionary", f"give {', '.join(_PARTS)} or {_READY}")]
    known, found = [*_PARTS, _READY], []
    for key, value in _given(drive).items():
        place = f"{path}.{key}"
        if key not in known:
            near = difflib.get_close_matches(str(key), known, 1)
            found.append(Problem("unknown-variable", subject, place, "an unknown option", "one of " + ", ".join(known),
                                 "remove it" + (f" (perhaps {near[0]} is meant)" if near else "")))
        elif key == _READY:
            found += _ready_problems(subject, place, value, [part for part in _PARTS if drive.get(part) is not None])
        elif not isinstance(value, _PARTS[key]):
            found.append(Problem("config-drive", subject, place, _kind(value), _EXPECTED[_PARTS[key]], "correct it"))
        elif key == "network_data":
            # The installed system reads it, to which Ironic's requirements do not apply.
            found += network_data.problems("config-drive", subject, place, value)
    return found


def _ready_problems(subject: str, place: str, value: Any, others: list[str]) -> list[Any]:
    if not isinstance(value, str):
        return [Problem("config-drive", subject, place, _kind(value), "a text", "give a URL, or gzip in base64")]
    found = []
    if "://" not in value and not _BASE64.match(value):
        found.append(Problem("config-drive", subject, place, HIDDEN, "a URL, or gzip in base64", "correct it"))
    if others:
        found.append(Problem(
            "config-drive", subject, place, f"{', '.join(others)} beside it", "iso alone: it is a whole drive",
            "remove one or the other"))
    return found
