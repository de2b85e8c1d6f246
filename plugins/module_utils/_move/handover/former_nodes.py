# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The nodes that hosts have in the Ironic that lets go, by which it is known from any other Ironic; pure."""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..._common.documents.tolerant import dict_in
from ..._common.options.field_checks import UUID
from ..._host.actions.actions import has_status
from ..._host.description import annotations as host_annotations

Object = dict[str, Any]


def of_hosts(names: Iterable[str], here: Iterable[Object | None], namespace: str) -> list[dict[str, Any]]:
    """Return the nodes of hosts as the module ``ironic_node`` takes them: ``name``, ``uuid`` and ``must_exist``.

    :param names: of the hosts
    :param here: the same hosts in the plane that lets go, or None
    :param namespace: of the hosts
    """
    return [_node(name, host, namespace) for name, host in zip(names, here)]


def _node(name: str, host: Object | None, namespace: str) -> dict[str, Any]:
    # As BMO names them (``pkg/provisioner/ironic/register.go``); hosts of its first versions have others.
    node: dict[str, Any] = {"name": f"{namespace}~{name}", "must_exist": False}
    known = str(dict_in(_status(host or {}), "provisioning").get("ID") or "")
    if not UUID.match(known):
        return node
    # A run that was killed may have deleted that of a host which is held.
    is_held = host_annotations.of(host or {}).get(host_annotations.PAUSED) == host_annotations.FOR_MOVE
    return dict(node, uuid=known.lower(), must_exist=not is_held)


def _status(host: Object) -> dict[str, Any]:
    return dict_in(host, "status") if has_status(host) else host_annotations.arguments(
        host_annotations.of(host).get(host_annotations.STATUS))
