# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rollouts that a run has stopped: the mark on what it has paused, and what to go back to; pure.

Cluster API's controllers leave an object with the annotation of a pause alone, whatever its value is
(``util/annotations``: HasPaused). The value and the note beside it make the pause known as this collection's own.
"""
from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from ..._common.documents.document_text import from_json
from ..._common.texts.formats import moment_of
from .snapshot import DEPLOYMENT_LABEL, PAUSED_ANNOTATION, is_paused_alone

Object = dict[str, Any]

# Value: a JSON object, see Note.
NOTE = "metal3.baremetal/rollout-stopped"
PAUSE = NOTE
CONTROL_PLANE = "KubeadmControlPlane"
OWNERS = (CONTROL_PLANE, "MachineDeployment")
# A KubeadmControlPlane's configuration is in the note. All annotations of an object have 256 KiB.
LIMIT_CHARACTERS = 128 * 1024


class Note(NamedTuple):
    """What is noted at an owner of machines whose rollout is stopped.

    :ivar at: RFC 3339 time
    :ivar former: what its machines were made of before, as ``rollout.former`` has it; None when that is not known
    :ivar held: whether its rollout was not begun yet: it waits until those before it are done
    """

    at: str
    former: Object | None
    held: bool = False


def text_of(note: Note) -> str:
    """Return a note as an annotation holds it; without the former templates where these would not fit."""
    content = dict((key, value) for key, value in note._asdict().items() if key != "held" or value)
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return text if len(text) <= LIMIT_CHARACTERS else text_of(note._replace(former=None))


def marks(note: Note) -> dict[str, str]:
    """Return the annotations that stop an owner of machines."""
    return {PAUSED_ANNOTATION: PAUSE, NOTE: text_of(note)}


def is_stopped(item: Mapping[str, Any]) -> bool:
    """Say whether this collection has paused an object, and nobody else since."""
    found = item["metadata"].get("annotations") or {}
    return NOTE in found and found.get(PAUSED_ANNOTATION) == PAUSE


def is_paused_by_others(item: Mapping[str, Any]) -> bool:
    """Say whether somebody else has paused an object."""
    return is_paused_alone(item) and not is_stopped(item)


def note_of(item: Mapping[str, Any]) -> Note:
    """Return the note of a stopped object; what is no note says nothing."""
    try:
        data = from_json((item["metadata"].get("annotations") or {}).get(NOTE))
    except ValueError:
        data = None
    data = data if isinstance(data, dict) else {}
    former = data.get("former")
    return Note(data["at"] if moment_of(data.get("at")) is not None else "a time that is not known",
                former if isinstance(former, dict) else None, data.get("held") is True)


def is_held(item: Mapping[str, Any]) -> bool:
    """Say whether this collection has paused an object until it is its turn."""
    return is_stopped(item) and note_of(item).held


def without_contents(part: Object) -> Object:
    """Return a part of an object without what its note says."""
    metadata = part.get("metadata") or {}
    found = metadata.get("annotations") or {}
    return dict(part, metadata=dict(metadata, annotations=dict(found, **{NOTE: "(set)"}))) if NOTE in found else part


def released(item: Mapping[str, Any]) -> Object | None:
    """Return the merge patch that takes a stop away, None when there is none; the pause of others stays."""
    found = item["metadata"].get("annotations") or {}
    if NOTE not in found:
        return None
    gone = [NOTE] + ([PAUSED_ANNOTATION] if found.get(PAUSED_ANNOTATION) == PAUSE else [])
    return {"metadata": {"annotations": dict.fromkeys(gone)}}


def stopped_owners(snapshot: Any) -> list[Object]:
    """Return the KubeadmControlPlane and the MachineDeployments whose rollout is stopped, the control plane first.

    :param snapshot: a workflow Snapshot
    """
    return [item for item in snapshot.owners() if item["kind"] in OWNERS and is_stopped(item)]


def as_stopped(item: Object, owner: Mapping[str, Any]) -> Object:
    """Return a rendered owner with the stop, and the number of machines, that it is stored with."""
    found = owner["metadata"].get("annotations") or {}
    kept = dict((key, found[key]) for key in (PAUSED_ANNOTATION, NOTE) if key in found)
    metadata = dict(item["metadata"], annotations=dict(item["metadata"].get("annotations") or {}, **kept))
    spec = dict(item["spec"])
    if "replicas" in spec:
        spec["replicas"] = (owner.get("spec") or {}).get("replicas")
    return dict(item, metadata=metadata, spec=spec)


def sets_of(snapshot: Any, owner: str) -> list[Object]:
    """Return the MachineSets of a MachineDeployment.

    :param snapshot: a workflow Snapshot
    :param owner: its name
    """
    return [item for item in snapshot.mine("MachineSet")
            if (item["metadata"].get("labels") or {}).get(DEPLOYMENT_LABEL) == owner]


def left_behind(snapshot: Any) -> list[str]:
    """Return the names of MachineDeployments that nobody has paused, and whose MachineSets are stopped all the same.

    A stop begins with the owner and ends with it, so that a run was killed in between. Cluster API makes and deletes
    no machine of such a MachineSet, and says nothing of it.

    :param snapshot: a workflow Snapshot
    """
    return sorted(owner["metadata"]["name"] for owner in snapshot.owners()
                  if owner["kind"] == "MachineDeployment" and not is_paused_alone(owner)
                  and any(map(is_stopped, sets_of(snapshot, owner["metadata"]["name"]))))
