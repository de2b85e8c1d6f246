# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Hosts do not move while the password of their BMC is replaced: the Secret over there would have the old one; pure.

A rotation refuses hosts that are paused or detached once it has claimed them, and a move looks once more when they are.
"""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..._common.problems.problem import Problem
from ..._host.rotation import claim
from ..._host.rotation.rotation_rules import credentials_of

Object = dict[str, Any]


def problems(objects: Iterable[Object], secrets: Iterable[str] | None = None) -> list[Problem]:
    """Return the problem of each rotation that has not ended.

    :param objects: of the namespace, its Secrets among them
    :param secrets: names of the credentials Secrets that are meant; None for all
    """
    stored = dict((obj["metadata"]["name"], obj) for obj in objects if obj.get("kind") == "Secret")
    claims = dict((name, obj) for name, obj in stored.items() if claim.is_claim(obj))
    names = sorted(name for name in stored if name not in claims) if secrets is None else sorted(set(secrets))
    return [Problem(
        "move-rotation", f"Secret {claim.name_of(name)}", "", "a rotation of a BMC's password that has not ended",
        "none: the BMC may have another password than the Secret that moves",
        "run the playbook rotate_bmc_credentials to its end first")
        for name in names for found in [claims.get(claim.name_of(name))]
        if found is not None and claim.password_of(found) != credentials_of(stored.get(name))[1]]
