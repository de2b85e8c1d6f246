# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Looks for all that is in the way when single hosts change planes, on both sides; writes nothing."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..._common.problems.problem import Problem
from ..._host.description.objects import stored_secret_name
from ..._host.state.reading import BMH, hosts_everywhere
from ..._metal3.kinds import KNOWN
from ..._plane.parts import fit_service
from ..checks import access, rotations
from ..checks import rules as checks
from ..checks.other_hosts import OtherHosts
from ..handover import bmc_reach
from ..objects import graph, handed_over_notes
from ..objects.reading import Side
from . import copies as host_copies
from . import obstacles as host_obstacles

Object = dict[str, Any]

_CONFIG_MAP = KNOWN["ConfigMap"]


def problems(here: Side, there: Side, leaving: list[Object], stages: Mapping[str, str], params: Mapping[str, Any],
             now: float) -> tuple[list[Problem], list[str]]:
    """Return what is in the way, and warnings of what was not checked.

    :param here: the plane that lets go
    :param there: the plane that takes over
    :param leaving: the hosts that are still here
    :param stages: how far each host of the run has come, by its name
    :param params: of the module ``host_move``: ``reach_from``, ``ironic_namespace`` and ``ironic_deployment``
    :param now: seconds since 1970
    :raises KubeError: when one of the API servers can't be asked
    """
    found = [Problem("move-nothing", f"BareMetalHost {name}", "hosts", "no such host in either plane",
                     "one that is here", "correct the name, kubeconfig or namespace")
             for name, stage in stages.items() if stage == host_copies.NOWHERE]
    for host in leaving:
        found += obstacles(here, there, host, now)
    taken, warnings = _not_taken(here, there, leaving)
    found += taken
    if leaving:
        found += handed_over_notes.immutable(here, there)
        found += checks.older(*(fit_service.read(side.client, side.definitions)[0] for side in (here, there)))
        found += _forbidden(here, there, leaving)
        unreached, unasked = bmc_reach.from_where(bmc_reach.place(there, params), [
            host for host in leaving if stages[host["metadata"]["name"]] != host_copies.BOTH], params)
        found += unreached
        warnings += unasked
    return found, warnings


def obstacles(here: Side, there: Side, host: Object, now: float) -> list[Problem]:
    """Return why a host may not leave as it is.

    Others may write the mark of a run, too: it makes up for no check and no confirmation.

    :param here, there, now: as for :func:`problems`
    :param host: as it is here by now
    """
    copied = host_copies.copy_of(host, there.host(host["metadata"]["name"]), here.uid)
    return host_obstacles.problems(host, here.objects, now, there.uid, copied) + rotations.problems(
        here.objects, [stored_secret_name(host)])


def _not_taken(here: Side, there: Side, leaving: list[Object]) -> tuple[list[Problem], list[str]]:
    own, others, warning = hosts_everywhere(there.client, there.namespace)
    found = []
    for host in leaving:
        name = host["metadata"]["name"]
        found += host_obstacles.taken(host, here.uid, own.get(name))
        found += OtherHosts([*own.values(), *others], there.namespace, [name]).problems([host])
    secrets = dict((name, obj) for (_group, kind, name), obj in there.by_key.items() if kind == "Secret")
    found += host_obstacles.secret_problems(host_copies.secrets_of(leaving, here.objects), secrets)
    # What has arrived with its host, in a run that was killed, is not in the way.
    going = [obj for host in leaving if not host_copies.copy_of(host, own.get(host["metadata"]["name"]), here.uid)
             for obj in host_copies.companions(host, here.objects)]
    return found + checks.target(going, there.by_key, there.served, here.kinds), [warning] if warning else []


def _forbidden(here: Side, there: Side, hosts: list[Object]) -> list[Problem]:
    used = [BMH, KNOWN["Secret"], _CONFIG_MAP]
    kinds = sorted(set(graph.key(obj)[:2] for host in hosts for obj in host_copies.companions(host, here.objects)))
    companions = [here.resources[of] for of in kinds]
    takes = access.rights(("get", "list", "create", "patch"), used + companions, there.namespace) \
        + access.namespace_rights(there)
    lets_go = access.rights(("get", "list", "patch", "delete"), [BMH], here.namespace) \
        + access.rights(("get", "create", "patch"), [_CONFIG_MAP], here.namespace)
    return [*access.problems(here.client, lets_go, "kubeconfig"),
            *access.problems(there.client, takes, "to_kubeconfig")]
