# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is wrong with a host and its Machine, and what may help, the least first; pure.

Whether a Node is Ready is Cluster API's to say (``internal/controllers/machine/machine_controller_status.go``).
"""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from ..._common.problems.problem import Problem
from ..._common.texts.plain_text import gist
from ..._host.description import annotations as host_annotations
from ..._host.state import lock as host_lock
from ..._host.state import power_coming
from ..._host.state.goals import RUNNING, error_of, state_of
from ..._kube.objects.conditions import condition
from ..._kube.objects.finalizers import is_going
from ..machines import actions as machine_actions
from ..maintenance import named_hosts
from ..workflow.etcd_member import lost_member
from ..workflow.remediations import (
    deletion_advice,
    is_by_hand,
    reboots_are_used_up,
    remediation_of,
    remediation_text,
)
from ..workflow.snapshot import CLUSTER_LABEL, Snapshot, is_control_plane, node_name

Object = dict[str, Any]

RETRY, REBOOT, REPLACE = "retry", "reboot", "replace"
# The least first.
STEPS = (RETRY, REBOOT, REPLACE)
# Of NodeReady, when Cluster API could not ask the cluster's API server: nothing is known of any Node then.
_UNASKED = ("ConnectionDown", "InternalError", "InspectionFailed")

# ``powerOffAnnotation`` of CAPM3's ``baremetal/metal3remediation_manager.go``, with the remediation's uid after it.
_HOLD_OF_CAPM3 = "metal3-remediation-"


class Patient(NamedTuple):
    """A host, what is wrong with it, and what may help.

    :param host: the BareMetalHost
    :param machine: its Machine, None for a host that is in no cluster
    :param reason: what is wrong, in words; empty when nothing is
    :param steps: of :data:`STEPS`, those that may help, the least first; empty when none is known to
    """

    host: Object
    machine: Object | None
    reason: str
    steps: tuple[str, ...]

    @property
    def name(self) -> str:
        """Return the host's name."""
        return self.host["metadata"]["name"]

    @property
    def cluster(self) -> str | None:
        """Return the name of its cluster, None for a host that is in none."""
        return (self.machine["metadata"].get("labels") or {}).get(CLUSTER_LABEL) if self.machine else None


def patient(host: Object, machine: Object | None, up_to: str = REPLACE) -> Patient:
    """Return what is wrong with a host.

    :param host: the BareMetalHost
    :param machine: its Machine, or None
    :param up_to: the last of :data:`STEPS` that is allowed
    """
    kind, message, _count = error_of(host)
    reasons = [f"host in error ({kind}): {gist(message)}" if message else f"host in error ({kind})"] if kind else []
    steps = [RETRY] if kind else []
    ready = condition(machine, "NodeReady")
    if machine is not None and ready.get("status") != "True":
        why = gist(ready.get("message") or "") or "the Machine is no Node yet"
        # One that is being made is no patient: the playbook cluster waits for it, and says what it waits for.
        made = bool(node_name(machine))
        unasked = ready.get("reason") in _UNASKED and not is_control_plane(machine)
        if unasked:
            reasons.append(f"its Node is not known to be Ready ({why}): remediate the control plane first")
        elif made or kind:
            reasons.append(f"Node not Ready: {why}")
            steps += [REBOOT] if state_of(host) in RUNNING else []
            steps.append(REPLACE)
    lost = lost_member(machine) if machine is not None else None
    if lost:
        reasons.append(lost.text)
        # A member that has lost its data, or that the others do not know, starts no better after a reboot.
        steps = [step for step in steps if step == RETRY] + ([REPLACE] if lost.replaceable else [])
    allowed = STEPS[:STEPS.index(up_to) + 1]
    return Patient(host, machine, "; ".join(reasons), tuple(step for step in steps if step in allowed))


def patients(names: Iterable[str], objects: Mapping[str, list[Object]], namespace: str, up_to: str,
             now: float) -> tuple[list[Patient], list[Problem]]:
    """Return a Patient for each host, and why hosts are not worked on.

    :param names: names of BareMetalHosts
    :param objects: dict of kind to list of objects of the namespace
    :param up_to: the last step that is allowed
    :param now: seconds since 1970
    """
    hosts, wrong = named_hosts.find("host-remediation", names, objects, namespace)
    found = [_rebooted(patient(host, named_hosts.machine_of(host, objects), up_to), objects) for host in hosts]
    for host, item in zip(hosts, found):
        subject = named_hosts.subject_of(namespace, host["metadata"]["name"])
        wrong += _problems(item, objects, subject, now) if item.steps else []
    return found, wrong or _of_clusters(found, objects, namespace)


def _remediation(item, objects):
    """Return the Metal3Remediation of a patient's Machine, or None."""
    return None if item.machine is None else remediation_of(item.machine, objects["Metal3Remediation"])


def _rebooted(item, objects):
    """Return a patient without the reboot that its health check has asked for without success."""
    if not reboots_are_used_up(_remediation(item, objects)):
        return item
    return item._replace(steps=tuple(step for step in item.steps if step != REBOOT))


def _problems(item, objects, subject, now):
    annotations = item.host["metadata"].get("annotations") or {}
    found = host_lock.problems(subject, "hosts", [item.host], now)
    if host_annotations.MAINTENANCE in annotations:
        found.append(Problem(
            "host-remediation", subject, "hosts",
            f"a host that is being maintained: {annotations[host_annotations.MAINTENANCE]}", "one that is not",
            "give it back first (playbook maintain, return)"))
    if item.machine is None:
        return found
    title = f"Machine {item.machine['metadata']['name']}"
    if is_going(item.machine):
        found.append(Problem("host-remediation", subject, "hosts", f"{title}, which is being deleted",
                             "one that stays", "wait until the host is available; the playbook cluster waits for the "
                             "machine that takes its place"))
    if set(item.steps) & {REBOOT, REPLACE}:
        found += [Problem("host-remediation", subject, "hosts", actual, expected, hint)
                  for actual, expected, hint in _kept_by_others(item.host)]
    remediation = _remediation(item, objects)
    works = remediation_text(remediation)
    if works and not reboots_are_used_up(remediation):
        found.append(Problem("host-remediation", subject, "hosts", f"{title} with a {works}",
                             "one that Cluster API does not work on itself",
                             deletion_advice(remediation) if is_by_hand(remediation) else
                             "wait until its health check is done, or keep it from the Machine (playbook "
                             "machine_action, skip_remediation)"))
    return found


def _kept_by_others(host):
    """Yield why a host's Node is not Ready for what somebody has asked of the host, and no other machine helps."""
    annotations = host_annotations.of(host)
    if host_annotations.PAUSED in annotations:
        yield (f"a paused host (annotation {host_annotations.PAUSED})", "a host that BMO works on",
               "when nothing needs the pause any more, resume it (playbook host_action, resume)")
    if host_annotations.DETACHED in annotations:
        yield (f"a detached host (annotation {host_annotations.DETACHED})", "a host that BMO manages",
               "attach it first (playbook host_action, attach)")
    # CAPM3's own hold ends with its remediation.
    keys = [key for key in power_coming.held_by(host) if not key.startswith(_HOLD_OF_CAPM3)]
    for key in keys:
        yield (f"a host held powered off by the annotation {host_annotations.reboot_key(key)}",
               "a host that nobody holds", f"release it (playbook host_action, reboot_release, key {key})")
    if (host.get("spec") or {}).get("online") is False:
        yield "a host with online false", "a host that is to be on", "power it on (playbook host_action, power_on)"


def _of_clusters(found, objects, namespace):
    """Return why the Machines of a cluster are not rebooted or replaced together."""
    problems = []
    for cluster in sorted(set(item.cluster for item in found if item.cluster)):
        subject, snapshot = f"cluster {namespace}/{cluster}", Snapshot(objects, cluster)
        mine = [item for item in found if item.cluster == cluster]
        planes = sorted(item.machine["metadata"]["name"] for item in mine
                        if is_control_plane(item.machine) and set(item.steps) & {REBOOT, REPLACE})
        if len(planes) > 1:
            problems.append(machine_actions.one_at_a_time(planes, subject, "hosts"))
            continue
        going = [item.machine["metadata"]["name"] for item in mine if REPLACE in item.steps]
        problems += machine_actions.problems(machine_actions.REPLACE, going, snapshot, subject) if going else []
    return problems
