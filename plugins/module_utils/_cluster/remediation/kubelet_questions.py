# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What kubelets of control plane nodes say about etcd when their nodes are not Ready.

kubeadm's kubelet of a control plane node asks the API server of its own machine alone, which does not work without the
etcd beside it: what the kubelet sees never gets into the cluster. The other API servers reach it all the same.
"""
from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from typing import Any

from ..._kube.api import bulk
from ..._kube.objects.conditions import condition, conditions
from ..._kube.objects.finalizers import is_going
from ..._kube.responses.errors import KubeError
from ..._metal3.kinds import KNOWN
from ..maintenance.named_hosts import machine_of
from ..workflow.etcd_member import POD_CONDITION, crashing_etcd, lost_member
from ..workflow.snapshot import CLUSTER_LABEL, is_control_plane, node_name

Object = dict[str, Any]

# A machine whose etcd crashes is a busy one; taking its kubelet for dead would have its server rebooted.
_REQUEST_SECONDS = 30


def with_answers(objects: dict[str, list[Object]], hosts: Iterable[str],
                 workload: Callable[[str], Any]) -> dict[str, list[Object]]:
    """Return the objects, Machines with what Cluster API would have noted if their kubelets had been heard.

    :param objects: dict of kind to list of objects of the namespace
    :param hosts: names of the BareMetalHosts that are looked at; others are not asked
    :param workload: callable that takes a cluster's name and returns a KubeClient of it, None when it has none
    :returns: the same objects when nobody is to be asked; whoever does not answer is left as it is
    """
    names = set(hosts)
    silent = [machine for host in objects["BareMetalHost"] if host["metadata"]["name"] in names
              for machine in [machine_of(host, objects)] if machine and _is_silent(machine)]
    if not silent:
        return objects
    answers = bulk.run([lambda machine=machine: _ask(machine, workload) for machine in silent])
    found = dict((machine["metadata"]["name"], outcome.value) for machine, outcome in zip(silent, answers)
                 if outcome.error is None and outcome.value)
    return dict(objects, Machine=[_noted(machine, found.get(machine["metadata"]["name"]))
                                  for machine in objects["Machine"]])


def _is_silent(machine: Object) -> bool:
    """Say whether a Machine is a node of a control plane that is not Ready, for a reason that is not known yet."""
    return is_control_plane(machine) and not is_going(machine) \
        and bool(node_name(machine)) and condition(machine, "NodeReady").get("status") != "True" \
        and lost_member(machine) is None


def _ask(machine: Object, workload: Callable[[str], Any]) -> str:
    """Return what is wrong with etcd on the node of a Machine, empty when the kubelet does not say that."""
    try:
        client = workload((machine["metadata"].get("labels") or {}).get(CLUSTER_LABEL) or "")
        if client is None:
            return ""
        answer = client.request("GET", KNOWN["Node"].path(None, node_name(machine), "proxy/pods"),
                                subject=f"kubelet of Node {node_name(machine)}", timeout_seconds=_REQUEST_SECONDS)
    except KubeError:
        # A kubelet that is not reached says nothing about etcd, and neither does a cluster without any API server.
        return ""
    return crashing_etcd(answer)


def _noted(machine: Object, text: str | None) -> Object:
    if not text:
        return machine
    noted = copy.deepcopy(machine)
    others = [entry for entry in conditions(machine) if entry.get("type") != POD_CONDITION]
    noted["status"]["conditions"] = [*others, {"type": POD_CONDITION, "status": "False", "reason": "PodFailed",
                                               "message": text}]
    return noted
