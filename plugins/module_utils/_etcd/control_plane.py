# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a restore needs of Cluster API's objects: its own note, pauses, and a control plane as before its start; pure.

Cluster API decides once that a control plane is initialized, and lets machines join it from then on
(``bootstrap/kubeadm/internal/controllers/kubeadmconfig_controller.go``). Without any machine there is nothing to join,
so that a restore says that it is not initialized any more, in ``status``, which is what Cluster API reads.
"""
from __future__ import annotations

import copy
import json
from typing import Any, NamedTuple

from .._cluster.workflow.snapshot import PAUSED_ANNOTATION, is_paused_alone
from .._cluster.workflow.topology import topology_of
from .._common.documents.document_text import from_json
from .._common.documents.tolerant import dict_in
from .._kube.objects.conditions import conditions, is_true, older_conditions

Object = dict[str, Any]

# Value: a JSON object, see Note.
NOTE = "metal3.baremetal/etcd-restore"
# Cluster API, api/controlplane/kubeadm/v1beta2: PreTerminateHookCleanupAnnotation. Without it nobody asks etcd, which
# is gone, whether the machine may go, and nobody drains its node (internal/controllers/machine: isNodeDrainAllowed).
HOOK = "pre-terminate.delete.hook.machine.cluster.x-k8s.io/kcp-cleanup"
_INITIALIZED = {"KubeadmControlPlane": "Initialized", "Cluster": "ControlPlaneInitialized"}


class Note(NamedTuple):
    """What a restore keeps at the KubeadmControlPlane until it has ended.

    :ivar replicas: how many machines the control plane had, and gets again
    :ivar sha256: of the file that is restored
    :ivar machine: uid of the Machine that has taken the data, None before
    :ivar holder: the machine and folder from which it runs, see ``holder_of``; empty in notes of earlier releases
    """

    replicas: int
    sha256: str
    machine: str | None
    holder: str = ""


def note_of(control_plane: Object) -> Note | None:
    """Return the note of a restore that has not ended, None when there is none."""
    text = (control_plane["metadata"].get("annotations") or {}).get(NOTE)
    if text is None:
        return None
    try:
        data = from_json(text)
    except ValueError:
        data = None
    data = data if isinstance(data, dict) else {}
    replicas, machine = data.get("replicas"), data.get("machine")
    # Who may change the object can set replicas anyhow.
    return Note(replicas if isinstance(replicas, int) and replicas > 0 else 1, str(data.get("sha256") or ""),
                machine if isinstance(machine, str) else None, str(data.get("holder") or ""))


def begun(control_plane: Object, sha256: str, holder: str) -> Object:
    """Return the merge patch with which a restore begins: one machine, made paused, and nothing for now.

    :param holder: this run, see ``holder_of``
    """
    known = note_of(control_plane)
    replicas = known.replicas if known else control_plane["spec"].get("replicas") or 1
    return {"metadata": {"annotations": {NOTE: _text(Note(replicas, sha256, None, holder)), PAUSED_ANNOTATION: ""}},
            "spec": {"replicas": 1, "machineTemplate": {"metadata": {"annotations": {PAUSED_ANNOTATION: ""}}}}}


def delivered(control_plane: Object, machine: Object) -> Object | None:
    """Return the merge patch that notes which Machine has taken the data, None without a restore."""
    note = note_of(control_plane)
    return None if note is None else {"metadata": {"annotations": {
        NOTE: _text(note._replace(machine=machine["metadata"]["uid"]))}}}


def _text(note: Note) -> str:
    return json.dumps(note._asdict(), sort_keys=True)


def ended(control_plane: Object) -> Object | None:
    """Return the merge patch with which it ends, None when it has ended."""
    note = note_of(control_plane)
    return None if note is None else {"metadata": {"annotations": {NOTE: None}}, "spec": {"replicas": note.replicas}}


def sized(cluster: Object, replicas: int) -> Object | None:
    """Return the merge patch after which a Cluster's topology gives its control plane so many machines.

    Cluster API writes the number of a topology over that of the KubeadmControlPlane.

    :param cluster: the Cluster
    :param replicas: number of machines
    :returns: None when nothing is to be changed: the topology says so, or leaves the number to others, or there is none
    """
    known = dict_in(topology_of(cluster), "controlPlane").get("replicas")
    return None if known in (None, replicas) else {"spec": {"topology": {"controlPlane": {"replicas": replicas}}}}


def paused(obj: Object) -> Object | None:
    """Return the merge patch that keeps its controller from an object, None when it is kept."""
    return None if is_paused_alone(obj) else {"metadata": {"annotations": {PAUSED_ANNOTATION: ""}}}


def released(obj: Object) -> Object | None:
    """Return the merge patch that gives it back, None when it is not kept."""
    return {"metadata": {"annotations": {PAUSED_ANNOTATION: None}}} if is_paused_alone(obj) else None


def template_released(control_plane: Object) -> Object | None:
    """Return the merge patch after which machines are not made paused any more, None when they are not."""
    metadata = (control_plane["spec"].get("machineTemplate") or {}).get("metadata") or {}
    if PAUSED_ANNOTATION not in (metadata.get("annotations") or {}):
        return None
    return {"spec": {"machineTemplate": {"metadata": {"annotations": {PAUSED_ANNOTATION: None}}}}}


def without_hook(machine: Object) -> Object | None:
    """Return the merge patch after which a Machine goes without a question to etcd, None when it does."""
    annotations = machine["metadata"].get("annotations") or {}
    return {"metadata": {"annotations": {HOOK: None}}} if HOOK in annotations else None


def is_initialized(obj: Object) -> bool:
    """Say whether Cluster API takes a KubeadmControlPlane or Cluster for initialized."""
    said = dict_in(dict_in(obj, "status"), "initialization").get("controlPlaneInitialized")
    return bool(said) or is_true(obj, _INITIALIZED[obj["kind"]])


def uninitialized(obj: Object, now: str) -> Object:
    """Return the merge patch of ``status`` after which it does not.

    :param obj: a KubeadmControlPlane or a Cluster
    :param now: RFC 3339 time
    """
    kind = _INITIALIZED[obj["kind"]]
    change: Object = {"initialization": {"controlPlaneInitialized": False},
                      "conditions": _denied(conditions(obj), kind, now)}
    old = older_conditions(obj)
    if old:
        change["deprecated"] = {"v1beta1": {"conditions": _denied(old, kind, now)}}
    return {"status": change}


def _denied(entries: list[Object], kind: str, now: str) -> list[Object]:
    found = copy.deepcopy(entries)
    for entry in found:
        if entry.get("type") == kind and entry.get("status") == "True":
            entry.update(status="False", reason="NotInitialized", lastTransitionTime=now,
                         message="etcd is being restored into a new control plane")
            if "severity" in entry:
                entry["severity"] = "Info"
    return found
