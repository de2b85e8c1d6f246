# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What must hold on both sides before a plane's objects are moved; pure.

Sources: the chapter on pivoting of Metal³'s user guide, ``mover.go`` of clusterctl 1.13,
``baremetalhost_controller.go`` of BMO 0.13.
"""
from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from ..._cluster.workflow.snapshot import is_paused, is_paused_alone, node_name
from ..._common.problems.problem import Problem
from ..._host.description import annotations as host_annotations
from ..._host.state.goals import AVAILABLE, RUNNING, error_of, state_of
from ..._kube.objects.finalizers import is_going
from ..._metal3.kinds import CAPI_VERSION, OLD_CAPI_VERSION
from ..._plane.parts import fit
from ..._plane.parts.catalogue import CLUSTERCTL_LABEL, MOVE_HIERARCHY_LABEL, MOVE_LABEL
from ..objects.copies import REMEDIATION
from ..objects.graph import CLUSTER, Graph, Kind, key, title, unlabelled

Object = dict[str, Any]
Keys = tuple[str, str, str]

# The value of a host's pause by which this collection knows that it was for a move.
HELD = host_annotations.FOR_MOVE
BLOCK = CLUSTERCTL_LABEL + "/block-move"
# States in which Ironic does nothing with a server.
STEADY = ("unmanaged", *AVAILABLE, *RUNNING)


def options(params: Mapping[str, Any]) -> list[Problem]:
    """Return what is missing in the parameters of ``plane_move``.

    :param params: the module's parameters
    """
    found = []
    if params["state"] == "moved" and not params["clusterctl"]:
        found.append(Problem("move-clusterctl", "", "clusterctl", None, "the path of clusterctl", "set it"))
    if params["rehearsal_operator"] and not params["rehearsal_programs"]:
        found.append(Problem(
            "move-operator", "", "rehearsal_programs", None, "the folder of its programs, with rehearsal_operator",
            "set it (playbook: pivot_rehearsal=true), or leave rehearsal_operator out"))
    return found


def source(graph: Graph, known: Iterable[Kind], namespace: str, taken_up: bool = False) -> list[Problem]:
    """Return what keeps the objects of a namespace from being moved.

    :param graph: of the plane they are moved from
    :param known: its Kinds
    :param namespace: name of the namespace
    :param taken_up: whether a clusterctl that was killed may have left the clusters paused
    """
    known = list(known)
    if any((item.resource.group, item.resource.kind, item.resource.version) == (*CLUSTER, OLD_CAPI_VERSION)
           for item in known):
        return [Problem("move-version", f"namespace {namespace}", "", f"Cluster API that stores {OLD_CAPI_VERSION}",
                        f"{CAPI_VERSION}, whose status the checks know", "upgrade Cluster API of this plane first")]
    found = completeness(graph, known, namespace)
    found += [problem for host in graph.of("BareMetalHost") for problem in host_problems(host)]
    found += [problem for cluster in graph.of("Cluster") for problem in _cluster(cluster, taken_up)]
    found += [problem for machine in graph.of("Machine") for problem in _machine(machine)]
    # clusterctl moves no status, by which the operator knows that they are flashed.
    found += [obstacle(item, "spec.updates", f"{len(item['spec']['updates'])} updates, which would be flashed over "
                       "there (again), with a restart", "none", "when they are flashed, empty spec.updates")
              for item in graph.of("HostFirmwareComponents") if (item.get("spec") or {}).get("updates")]
    found += [obstacle(item, "", "a remediation that has not ended; without its status, which is not moved, "
                       "it would begin again over there, with a reboot", "none",
                       "wait until its machine is healthy, or replaced; delete one that no health check has made")
              for item in graph.of(REMEDIATION) if not is_going(item)]
    for obj in graph.moved:
        if BLOCK in (obj["metadata"].get("annotations") or {}):
            found.append(obstacle(obj, f"metadata.annotations.{BLOCK}", "set", "no such annotation",
                                  "let its controller finish what it does with it"))
    return found


def completeness(graph: Graph, known: Iterable[Kind], namespace: str) -> list[Problem]:
    """Return what clusterctl would leave behind without a word.

    :param graph: of a plane
    :param known: its Kinds
    :param namespace: name of the namespace
    """
    known = list(known)
    found = _labels(known)
    unseen = Counter(key(obj)[:2] for obj in graph.left_behind if unlabelled(obj, known))
    for (group, kind), count in sorted(unseen.items()):
        found.append(Problem(
            "move-label", f"kind {kind} of {group}", "", f"{count} objects that clusterctl does not look for, so that "
            "they would stay", f"a definition with the labels {CLUSTERCTL_LABEL} and {MOVE_LABEL}",
            "install the plane's parts again with the playbook install, which labels them"))
    for obj in graph.left_behind:
        if not unlabelled(obj, known) and obj["metadata"].get("ownerReferences"):
            owner = obj["metadata"]["ownerReferences"][0]
            found.append(obstacle(obj, "metadata.ownerReferences",
                                  f"{owner.get('kind')} {owner.get('name')}, which is not there or is not moved",
                                  "owners that are moved", "correct or delete the object"))
    if not graph.moved:
        found.append(Problem("move-nothing", f"namespace {namespace}", "", "no host and no cluster",
                             "what is to be moved", "correct kubeconfig or namespace"))
    return found


def _labels(known: list[Kind]) -> list[Problem]:
    by_kind = dict((item.resource.kind, item) for item in known if item.resource.group == "metal3.io")
    found = []
    for name, wanted in (("BareMetalHost", MOVE_HIERARCHY_LABEL), ("HardwareData", MOVE_LABEL)):
        item = by_kind.get(name)
        moves = item is not None and (item.hierarchy if wanted == MOVE_HIERARCHY_LABEL else item.forced)
        if item is not None and not (item.found and moves):
            found.append(Problem(
                "move-label", f"CustomResourceDefinition {item.resource.plural}.metal3.io", "metadata.labels",
                "not the labels by which clusterctl finds it", f"{CLUSTERCTL_LABEL} and {wanted}",
                "install the plane's parts again with the playbook install, which labels them"))
    return found


def host_problems(host: Object) -> list[Problem]:
    """Return what keeps a host from being moved: whatever is being done with its server would be lost."""
    found = []
    state = state_of(host)
    error_type, message, _count = error_of(host)
    operational = (host.get("status") or {}).get("operationalStatus") or "OK"
    paused = host_annotations.of(host).get(host_annotations.PAUSED)
    if is_going(host):
        found.append(obstacle(host, "", "being deleted", "a host that stays", "wait until it is gone"))
    if state not in STEADY:
        found.append(obstacle(host, "status.provisioning.state", state, "one of " + ", ".join(STEADY),
                              "wait until the operator has finished with it"))
    elif operational != "OK" or error_type:
        found.append(obstacle(host, "status.operationalStatus",
                              f"{operational} ({error_type}: {message})" if error_type else operational, "OK",
                              "attach the host first" if operational == "detached" else
                              "correct the cause, then wait until the operator has tried again"))
    if paused not in (None, HELD):
        found.append(obstacle(host, f"metadata.annotations.{host_annotations.PAUSED}", f'"{paused}"', "not paused",
                              _unpausing(host)))
    if any(host_annotations.is_reboot(name) for name in host_annotations.of(host)):
        found.append(obstacle(host, f"metadata.annotations.{host_annotations.REBOOT}", "set", "no reboot that is due",
                              "wait for the reboot, or release the hold"))
    return found


def _unpausing(host: Object) -> str:
    playbook = host_annotations.kept_by(host).get(host_annotations.PAUSED)
    return f"finish what the playbook {playbook} has begun" if playbook else \
        "resume it by the action resume, or find out who paused it and why"


def _cluster(cluster: Object, taken_up: bool) -> list[Problem]:
    status = (cluster.get("status") or {}).get("initialization") or {}
    found = []
    if (is_paused(cluster) and not taken_up) or is_paused_alone(cluster):
        found.append(obstacle(cluster, "spec.paused", "true", "false",
                              "find out who paused it and why, then resume it"))
    if is_going(cluster):
        found.append(obstacle(cluster, "", "being deleted", "a cluster that stays", "wait until it is gone"))
    for field in ("infrastructureProvisioned", "controlPlaneInitialized"):
        if not status.get(field):
            found.append(obstacle(cluster, f"status.initialization.{field}", "not true", "true",
                                  "wait until the cluster is up"))
    return found


def _machine(machine: Object) -> list[Problem]:
    if is_going(machine):
        return [obstacle(machine, "", "being deleted", "a machine that stays", "wait until it is gone")]
    if not node_name(machine):
        return [obstacle(machine, "status.nodeRef", "none", "a Node",
                         "wait until the machine is a Node of its cluster")]
    return []


def target(moved: Iterable[Object], there: Mapping[Keys, Object], served: Mapping[tuple[str, str], Iterable[str]],
           known: Iterable[Kind]) -> list[Problem]:
    """Return what keeps another plane from taking objects.

    :param moved: the objects
    :param there: objects of the same namespace over there, by their key
    :param served: (group, kind) → versions that it serves
    :param known: Kinds of the plane they come from
    """
    moved = list(moved)
    found = [obstacle(obj, "", "an object of this name over there", "a name that is free there",
                      "delete or rename one of the two") for obj in moved if key(obj) in there]
    used = set(key(obj)[:2] for obj in moved)
    for item in known:
        name = (item.resource.group, item.resource.kind)
        versions = sorted(served.get(name, ()))
        if name in used and item.resource.group and item.resource.version not in versions:
            found.append(Problem(
                "move-version", f"kind {item.resource.kind}", "versions",
                ", ".join(versions) or "no such kind over there",
                f"{item.resource.version}, in which it is stored here",
                "install the same or newer versions of the plane's parts there"))
    return found


def older(here: fit.Plane, there: fit.Plane) -> list[Problem]:
    """Return a problem for each part that is older over there: it would drop fields, or act by rules of before.

    :param here: the plane that lets go; of a part whose version nobody says nothing is compared
    :param there: the plane that takes over
    """
    found = []
    for name, mine in sorted(here.parts.items()):
        other = there.parts.get(name)
        if other is None or not fit.number(mine.version) or not fit.number(other.version):
            continue
        if fit.number(other.version) < fit.number(mine.version):
            found.append(Problem(
                "move-older", f"part {name}", "version", f"{other.version} over there ({other.source})",
                f"{mine.version} as here, or newer", "upgrade it there first by the playbook upgrade"))
    return found


def quotas(moved: Iterable[Object], known: Iterable[Kind], found: Iterable[Object]) -> list[Problem]:
    """Return a problem for each quota of the namespace over there that the objects would exceed.

    :param moved: the objects
    :param known: Kinds of the plane they come from
    :param found: ResourceQuotas over there
    """
    plurals = dict(((item.resource.group, item.resource.kind), item.resource) for item in known)
    counts: Counter[str] = Counter()
    for obj in moved:
        resource = plurals[key(obj)[:2]]
        counts[f"count/{resource.plural}.{resource.group}" if resource.group else f"count/{resource.plural}"] += 1
        if not resource.group:
            counts[resource.plural] += 1
    problems = []
    for quota in found:
        hard = (quota.get("spec") or {}).get("hard") or {}
        used = (quota.get("status") or {}).get("used") or {}
        for name, limit in sorted(hard.items()):
            # Quantities of other things, such as memory, are not counted here.
            if counts[name] and str(limit).isdigit() and str(used.get(name, "0")).isdigit():
                left = int(limit) - int(used.get(name, "0"))
                if counts[name] > left:
                    problems.append(obstacle(quota, f"spec.hard.{name}", f"room for {left} over there",
                                             f"room for {counts[name]}", "raise the quota"))
    return problems


def same_plane(here: str, there: str) -> list[Problem]:
    """Return a problem when both sides are the same cluster.

    :param here: uid of the Namespace kube-system
    :param there: the same of the other side
    """
    return [Problem("move-same", "to_kubeconfig", "", "the cluster that kubeconfig leads to", "another cluster",
                    "correct one of the two")] if here == there else []


def held(hosts: Iterable[Object]) -> list[Problem]:
    """Return a problem for each host that the operator still works on, or whose status is not saved.

    One that somebody else has paused is a problem of :func:`source`.
    """
    found = []
    for host in hosts:
        paused = host_annotations.of(host).get(host_annotations.PAUSED)
        if paused is None:
            found.append(obstacle(host, f"metadata.annotations.{host_annotations.PAUSED}", "not held for a move", HELD,
                                  "run plane_move_hosts with state held first"))
        elif paused == HELD and host_annotations.STATUS not in host_annotations.of(host):
            found.append(obstacle(host, f"metadata.annotations.{host_annotations.STATUS}", "none",
                                  "its status, which no move takes along",
                                  "run plane_move_hosts with state held first"))
    return found


def obstacle(obj: Object, field: str, actual: str | None, expected: str, hint: str) -> Problem:
    """Return the problem of an object that is in the way of a move."""
    return Problem("move-blocked", title(key(obj)), field, actual, expected, hint)
