# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Hosts of other namespaces of a plane: one moves, and one is backed up, but one Ironic works for all of them."""
from __future__ import annotations

from typing import Any

from ..._common.problems.problem import Problem
from ..._common.texts.plain_text import few, plain
from ..._host.state.reading import hosts_everywhere

Object = dict[str, Any]

_SHOWN = 5


def read(client: Any, namespace: str, in_ironic: bool = False) -> tuple[list[str], list[str]]:
    """Return the hosts of other namespaces, as namespace/name, and a warning when nobody may look.

    :param client: a KubeClient
    :param namespace: name of the namespace that is meant
    :param in_ironic: whether only those are meant that Ironic has
    :raises KubeError: when the API server can't be asked
    """
    _own, hosts, unread = hosts_everywhere(client, namespace)
    return sorted(plain(f"{host['metadata'].get('namespace')}/{host['metadata']['name']}") for host in hosts
                  if not in_ironic or _is_in_ironic(host)), [
        f"hosts of other namespaces than {namespace} were not looked for at {client.server}: allow listing "
        "baremetalhosts in all namespaces"] if unread else []


def _is_in_ironic(host: Object) -> bool:
    is_managed = bool(((host.get("spec") or {}).get("bmc") or {}).get("address"))
    return is_managed and (host.get("status") or {}).get("operationalStatus") != "detached"


def problems(names: list[str], namespace: str) -> list[Problem]:
    """Return the problem of hosts that would be left without an Ironic.

    :param names: of :func:`read`
    :param namespace: name of the namespace that moves
    """
    if not names:
        return []
    return [Problem(
        "move-namespaces", f"namespace {namespace}", "", f"{len(names)} hosts in other namespaces of the plane that "
        f"lets go ({few(names, _SHOWN)}), whose Ironic would be stopped",
        "all hosts of that plane in the namespace that moves",
        "move all namespaces but the last with former_ironic_mode external (playbook: pivot_ironic_mode=external and "
        "pivot_ironic_url), by which that Ironic goes on without the hosts that have moved")]


def warnings(names: list[str]) -> list[str]:
    """Return the warning of hosts that a backup does not have.

    :param names: of :func:`read`
    """
    return [f"{len(names)} hosts in other namespaces are not in this backup ({few(names, _SHOWN)}): back up each "
            "namespace"] if names else []
