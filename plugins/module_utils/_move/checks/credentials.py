# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Secrets that would stay although hosts, or the configurations of nodes, that move name them; pure.

A host of which the operator finds no credentials over there goes into error; one whose user data is missing comes up
without it when it is deployed next.
"""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..._common.problems.problem import Problem
from ..._common.texts.plain_text import few
from ..._host.description.named_secrets import BMC_FIELD
from ..._plane.parts.catalogue import MOVE_LABEL
from ..objects.graph import key, title
from ..objects.named_secrets import Left
from .rules import obstacle

Object = dict[str, Any]

_SHOWN = 5


def problems(found: Iterable[Left]) -> list[Problem]:
    """Return a problem for each host without its BMC's credentials over there, and for each other Secret of hosts.

    :param found: of :func:`named_secrets.left`
    """
    found = [item for item in found if _is_host(item.obj)]
    result = [_without_credentials(item) for item in found if item.field == BMC_FIELD]
    # One that is not there is missing here, too: CAPM3 leaves free hosts such names (``copies.secrets_missing``).
    others: dict[str, list[Left]] = {}
    secrets: dict[str, Object] = {}
    for item in found:
        if item.field != BMC_FIELD and item.secret is not None:
            others.setdefault(item.name, []).append(item)
            secrets.setdefault(item.name, item.secret)
    for name, secret in sorted(secrets.items()):
        named = others[name]
        owner = named[0].owner
        result.append(obstacle(
            secret, "", f"one that would stay, and that hosts name: {_by(named)}", "a Secret that is moved with them",
            _hint(owner)))
    return result


def warnings(found: Iterable[Left]) -> list[str]:
    """Return a warning for each Secret that only configurations of nodes name, which clusterctl leaves behind.

    :param found: of :func:`named_secrets.left`
    """
    found = [item for item in found if item.secret is not None]
    by_hosts = set(item.name for item in found if _is_host(item.obj))
    result = []
    for name in sorted(set(item.name for item in found) - by_hosts):
        named = [item for item in found if item.name == name]
        result.append(f"Secret {name}: would stay, and configurations of nodes name it: {_by(named)}; nodes that are "
                      f"made over there wait for it: {_hint(named[0].owner)}")
    return result


def missing(found: Iterable[Left]) -> list[str]:
    """Return a warning for each host whose BMC's credentials a backup can't have, because nobody has them here.

    :param found: of :func:`named_secrets.left`
    """
    return [f"{title(key(item.obj))}: {item.field}: Secret {item.name} is not there, and not in the backup: make it, "
            "or correct the name" for item in found if item.field == BMC_FIELD and item.secret is None]


def _without_credentials(item: Left) -> Problem:
    if item.secret is None:
        actual, hint = f"Secret {item.name}, which is not there", "make it, or correct the name"
    elif item.owner:
        actual, hint = f"Secret {item.name}, which would stay: {item.owner} owns it, which does not move", \
            _hint(item.owner)
    else:
        actual, hint = f"Secret {item.name}, which would stay: the host does not own it", \
            f"wait until the operator has made the host its owner, or give it the label {MOVE_LABEL}"
    return obstacle(item.obj, BMC_FIELD, actual, "a Secret that is moved with the host", hint)


def _hint(owner: str) -> str:
    # What has an owner that stays, stays, whatever its labels (``objectgraph.go``).
    return (f"take its owner {owner} away, and " if owner else "") + f"give it the label {MOVE_LABEL}" \
        + ("" if owner else ", or an owner that is moved")


def _by(named: list[Left]) -> str:
    return few(sorted(f"{title(key(item.obj))} ({item.field})" for item in named), _SHOWN)


def _is_host(obj: Object) -> bool:
    return key(obj)[1] == "BareMetalHost"
