# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a change of a cluster would do to its machines, and which template takes the place of which; pure."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ..._common.texts.formats import moment
from ..render.objects import TEMPLATE_KINDS, loses_values
from ..workflow.snapshot import is_of

# Kind and name.
Key = tuple[str, str]

# Changes of these make an owner replace its machines (Cluster API: KCP's rollout rules, MachineTemplate comparison
# of MachineDeployments). Both API versions' paths.
_ROLLING = {
    "KubeadmControlPlane": (
        ("version",), ("kubeadmConfigSpec",), ("machineTemplate", "spec", "infrastructureRef", "name"),
        ("machineTemplate", "infrastructureRef", "name")),
    "MachineDeployment": (
        ("template", "spec", "version"), ("template", "spec", "bootstrap", "configRef", "name"),
        ("template", "spec", "infrastructureRef", "name"), ("template", "spec", "failureDomain")),
}
_ROLLING_TIMES = (("rollout", "after"), ("rolloutAfter",), ("rollout", "before"), ("rolloutBefore",))
# Where owners name their templates; of several paths the one of the object's API version is there.
_REFERENCES = {
    "KubeadmControlPlane": (
        (("machineTemplate", "spec", "infrastructureRef"), ("machineTemplate", "infrastructureRef")),),
    "MachineDeployment": (
        (("template", "spec", "bootstrap", "configRef"),), (("template", "spec", "infrastructureRef"),)),
    "Metal3MachineTemplate": ((("template", "spec", "dataTemplate"),),),
}


def preview(entries: Iterable[Any], snapshot: Any, answers: Mapping[Key, Mapping[str, Any]],
            reasons: Callable[[Any], list[str]] = lambda entry: []) -> list[dict[str, Any]]:
    """Return what a plan does to machines, one dict for each owner that changes.

    :param entries: ``kube.plan.Entry`` list
    :param snapshot: a workflow Snapshot of the present state
    :param answers: the API server's answers to the dry run of the entries that change, ``{(kind, name): object}``: what
        is left out of an owner is for the server's webhooks to say
    :param reasons: callable that takes an entry and returns the options that make its machines roll
    :returns: dicts with ``owner``, ``kind``, ``replicas_before``, ``replicas_after``, ``rolls`` (boolean), ``reasons``
        (options) and ``machines`` (names of those that would be replaced)
    """
    result = []
    for entry in entries:
        kind = entry.desired["kind"]
        if kind == "Machine" and entry.action == "create":
            result.append({"owner": entry.name, "kind": kind, "replicas_before": 0, "replicas_after": 1,
                           "rolls": False, "reasons": [], "machines": []})
        if kind not in _ROLLING or not entry.changes:
            continue
        after = answers[kind, entry.name]["spec"].get("replicas")
        if entry.action == "create":
            result.append({"owner": entry.name, "kind": kind, "replicas_before": 0, "replicas_after": after,
                           "rolls": False, "reasons": [], "machines": []})
            continue
        differs = any(_at(entry.before, path) != _at(entry.after, path) for path in _ROLLING[kind])
        # Cluster API replaces what is older than the time, at once or when it has come; without a time nothing.
        timed = [path for path in _ROLLING_TIMES if _at(entry.after, path) not in (None, _at(entry.before, path))]
        before = (entry.current.get("spec") or {}).get("replicas")
        machines = _replaced(entry, snapshot, differs, timed) if differs or timed else []
        rolls = differs or bool(machines)
        result.append({"owner": entry.name, "kind": kind, "replicas_before": before,
                       "replicas_after": after, "rolls": rolls, "reasons": reasons(entry) if rolls else [],
                       "machines": machines})
    return result


def _replaced(entry, snapshot, differs, timed):
    """Return the names of the machines of an owner that are not as it is going to describe them.

    A description that goes back to what was there before leaves the machines of that time alone: Cluster API compares
    templates, and these have the same name for the same content. Of a topology its copies have another name each time.

    :param differs: whether the description of the machines changes
    :param timed: paths of the times that change
    """
    owner = snapshot.get(entry.desired["kind"], entry.name)
    machines = snapshot.machines_of(owner) if owner else []
    if entry.desired["kind"] == "KubeadmControlPlane":
        # It has no template of its kubeadm configuration by whose name machines could be compared.
        return [machine["metadata"]["name"] for machine in machines
                if differs or any(_is_due(machine, path, _at(entry.after, path)) for path in timed)]
    of_all = getattr(entry, "takes_other_copies", False) or any(
        _at(entry.after, path) is not None for path in _ROLLING_TIMES)
    return [machine["metadata"]["name"] for machine in machines
            if of_all or not is_of(machine, entry.desired["spec"]["template"]["spec"], snapshot)]


def _is_due(machine, path, wanted):
    """Say whether a control plane's Machine is older than a time (Cluster API, KCP: NeedsRollout).

    Of a MachineDeployment the MachineSet's age counts, which is not read.
    """
    if path[-1] not in ("after", "rolloutAfter"):
        return True
    created, until = moment(machine["metadata"].get("creationTimestamp")), moment(wanted)
    return created is None or until is None or created < until


def workers_that_roll(entries: Iterable[Any], changes: Iterable[Mapping[str, Any]],
                      going_on: Iterable[str] = ()) -> list[Any]:
    """Return the entries of MachineDeployments whose machines would be replaced, in order of their names.

    :param entries: ``kube.plan.Entry`` list
    :param changes: as :func:`preview` returns them
    :param going_on: names of owners whose rollout was stopped and goes on
    """
    rolling = set(change["owner"] for change in changes if change["rolls"]) | set(going_on)
    return sorted((entry for entry in entries if entry.resource.kind == "MachineDeployment" and entry.name in rolling),
                  key=lambda entry: entry.name)


def lines(changes):
    """Return a preview as lines of text."""
    result = []
    for change in changes:
        text = f"{change['kind']} {change['owner']}"
        if change["replicas_before"] != change["replicas_after"]:
            result.append(f"{text}: machines {change['replicas_before']} to {change['replicas_after']}")
        if change["rolls"]:
            because = f", because of {', '.join(change['reasons'])}" if change["reasons"] else ""
            result.append(f"{text}: replaces {', '.join(change['machines']) or 'no machine'}{because}")
    return result


def cleaning_warnings(entries):
    """Return a warning for each template whose machines do not get its changed cleaning mode.

    CAPM3's update of a Metal3Machine leaves the empty values of its selector out, and the API server refuses it. Of a
    template without a mode it updates none.

    :param entries: ``kube.plan.Entry`` list
    """
    path = ("template", "spec", "automatedCleaningMode")
    warnings = []
    for entry in entries:
        if entry.action != "update":
            continue
        before, after = _at(entry.current, path), _at(entry.desired, path)
        if before == after:
            continue
        subject = f"{entry.resource.kind} {entry.name}"
        if after is None:
            warnings.append(
                f"{subject}: automated_cleaning_mode host counts for new machines: those that there are, and their "
                f"hosts, keep {before} until spec.automatedCleaningMode is taken from the Metal3Machine and set in the "
                "BareMetalHost")
        elif loses_values(entry.desired):
            warnings.append(
                f"{subject}: CAPM3 1.13 can't change automated_cleaning_mode of machines whose "
                f"host_selector_expressions have Exists or DoesNotExist: those that there are keep {before}; set "
                "spec.automatedCleaningMode of their Metal3Machines by kubectl patch, or label the hosts for the "
                "operator In")
    return warnings


def _at(obj, path):
    node = obj.get("spec") or {}
    for key in path:
        if not isinstance(node, dict) or key not in node:
            return None
        node = node[key]
    return node


def predecessors(stored, desired):
    """Return which template each desired one takes the place of, as ``{(kind, name): stored object}``.

    :param stored: list of objects of the cluster's namespace, owners and templates among them
    :param desired: list of rendered objects
    """
    known = dict(((item["kind"], item["metadata"]["name"]), item) for item in stored)
    wanted = dict(((item["kind"], item["metadata"]["name"]), item) for item in desired)
    result = {}
    due = [(item, known.get(key)) for key, item in wanted.items() if key[0] not in TEMPLATE_KINDS]
    while due:
        item, old = due.pop()
        for paths in _REFERENCES.get(item["kind"], ()) if old else ():
            new_key, old_key = _reference(item, paths), _reference(old, paths)
            if new_key in wanted and old_key in known:
                result[new_key] = known[old_key]
                due.append((wanted[new_key], known[old_key]))
    return result


def references(obj: Mapping[str, Any]) -> list[Key]:
    """Return kind and name of each template that an owner or a template refers to."""
    return [_reference(obj, paths) for paths in _REFERENCES.get(obj["kind"], ())]


def _reference(obj, paths):
    """Return kind and name of what an object refers to; a Metal3MachineTemplate names its data template only."""
    found = next((node for node in [_at(obj, path) for path in paths] if isinstance(node, dict)), {})
    return found.get("kind", "Metal3DataTemplate"), found.get("name")
