# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What an inventory may say in ``management_plane``; pure."""
from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any

from .._common.options.field_checks import show, type_name
from .._common.problems.problem import Problem

VARIABLE = "management_plane"
# One list for all modes: parts may have modes of their own, and a site that moves names both planes.
KEYS = ("address", "adopt", "certificates", "context", "definitions", "dir", "kubeconfig", "kubernetes_address",
        "manifests_dir", "mode", "name", "options", "ports", "wait_timeout_seconds")
# Of figures, which a module has computed: those of a lab, and of a plane of processes.
_COMPUTED = ("index", "urls")
_LIKENESS = 0.7


def problems(plane: Any, subject: str = "") -> list[Problem]:
    """Return a problem for each key that nothing reads.

    A mistyped ``kubeconfig`` would be as good as none, and the plane be that of ``~/.kube/config``.

    :param plane: the variable; None for one that is not set
    :param subject: the machine whose variable it is
    """
    if plane is None or (isinstance(plane, Mapping) and any(name in plane for name in _COMPUTED)):
        return []
    if not isinstance(plane, Mapping):
        return [Problem("value", subject, VARIABLE, type_name(plane), "a dictionary",
                        "write its keys below it, as name: value")]
    return [_unknown(str(key), subject) for key in plane if key not in KEYS and key != "described_in"]


def _unknown(key: str, subject: str) -> Problem:
    near = difflib.get_close_matches(key, KEYS, 1, _LIKENESS)
    return Problem("unknown-variable", subject, f"{VARIABLE}.{key}" if key.isidentifier() else VARIABLE,
                   "a key that is not read" + ("" if key.isidentifier() else f", {show(key)}"),
                   f"one of {', '.join(KEYS)}", "remove it" + (f" (perhaps {near[0]} is meant)" if near else ""))
