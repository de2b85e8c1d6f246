# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which cluster an API server is that of, by the uid of its Namespace kube-system.

A kubeconfig says so for the time of one task: by the next one somebody may have switched its context, or replaced what
answers at its address. What one task has checked goes to the next one as this uid.
"""
from __future__ import annotations

from typing import Any

from ..._common.problems.errors import RefusedError
from ..._common.problems.problem import Problem
from ..._common.texts.plain_text import plain
from ..kinds.resources import KNOWN
from ..responses.errors import KubeError

# The options of modules, of the API server and of the second one where there are two; documented in the parts
# ``identity`` of the fragments ``kubernetes`` and ``two_planes``.
OPTION, TO_OPTION = "cluster_uid", "to_cluster_uid"


def argument_spec() -> dict[str, dict[str, Any]]:
    """Return the option that names the cluster which was checked before."""
    return {OPTION: {"type": "str"}}


def uid_of(client: Any) -> str:
    """Return the uid of a cluster's Namespace kube-system.

    :param client: a KubeClient
    :raises KubeError: when it can't be asked, or has none
    """
    system = client.get(KNOWN["Namespace"], None, "kube-system")
    if system is None:
        raise KubeError(f"Namespace kube-system: found none at {client.server}, expected it, whose uid says which "
                        "cluster this is", 404, "NotFound", next_step="correct kubeconfig")
    return str(system["metadata"]["uid"])


def verified_uid(client: Any, checked: str | None) -> str:
    """Return the uid of a cluster for those that come after, and refuse another one than was checked before.

    Empty when nobody may read it, or there is none, unless something has to be compared with it.

    :param client: a KubeClient
    :param checked: the uid that was found then; None or empty when nothing was checked
    :raises RefusedError: when it is another one
    :raises KubeError: when it can't be asked
    """
    if checked:
        require(client, checked)
        return checked
    try:
        return uid_of(client)
    except KubeError as exc:
        if exc.status not in (403, 404):
            raise
        return ""


def problems(client: Any, checked: str | None, option: str = OPTION) -> list[Problem]:
    """Return the problem of a cluster that is another one than was checked before, or nothing.

    :param client: a KubeClient
    :param checked: the uid that was found then; None or empty when nothing was checked
    :param option: by which it was given
    :raises KubeError: when it can't be asked
    """
    found = uid_of(client) if checked else checked
    return [] if found == checked else [Problem(
        "cluster-other", f"API server {client.server}", option, plain(str(found)),
        f"{plain(str(checked))}, the cluster that was checked",
        "the kubeconfig, its current context or what answers at its address is another one since then; correct it, "
        "then run all of it again, which checks it again")]


def require(client: Any, checked: str | None, option: str = OPTION) -> None:
    """Refuse a cluster that is another one than was checked before; parameters as of :func:`problems`.

    :raises RefusedError: when it is
    :raises KubeError: when it can't be asked
    """
    found = problems(client, checked, option)
    if found:
        raise RefusedError(found)
