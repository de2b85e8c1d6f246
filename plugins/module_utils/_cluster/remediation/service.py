# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Bring hosts back of which something is wrong: the least that helps is tried first, for all of them side by side."""
from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from ..._common.options import confirmation
from ..._common.problems.errors import RefusedError, ReportedError
from ..._common.problems.problem import Problem
from ..._common.problems.problem import text as problem_text
from ..._common.texts.formats import duration, timestamp
from ..._common.texts.plain_text import plain
from ..._common.waiting.wait_loop import WaitLoop
from ..._common.waiting.wait_report import FAILED, REACHED, WAITING, Awaited, Verdict
from ..._host.actions import action_rules as host_action_rules
from ..._host.actions.action_service import HostActionService
from ..._host.actions.actions import Request
from ..._host.description import annotations as host_annotations
from ..._kube.api.cluster_clock import clock_of
from ..._kube.api.workload_client import workload_client
from ..._kube.objects.precondition import uid_of
from ..._kube.responses.errors import KubeError
from ..._kube.responses.patient_poll import poll
from ..._metal3.kinds import KNOWN
from ..interruption.outlook import Outlook, say
from ..interruption.questions import replacement_outlook
from ..machines import actions as machine_actions
from ..machines.service import MachineActionService
from ..maintenance import node
from ..maintenance.patches import Patches
from ..waiting.service import WaitFailedError
from ..workflow.reading import objects_of
from ..workflow.snapshot import Snapshot
from .again import look, lost
from .diagnosis import REBOOT, REPLACE, RETRY, Patient, patients
from .kubelet_questions import with_answers

INTERVAL_SECONDS = 5
_INTERRUPTING = (REBOOT, REPLACE)
# What the mark of a host begins with whose Machine was replaced.
_MARKED_BY = "metal3.baremetal: "
_GOALS = {RETRY: "free of errors", REBOOT: "Ready again"}


class RemediationError(ReportedError):
    """Hosts that nothing has helped."""


class RemediationService:
    """One run on a list of hosts.

    :param client: a KubeClient of the management cluster
    :param params: the module's parameters
    :param check_mode: only say what would be tried
    :param progress: a Progress
    :param clock: monotonic clock, in seconds
    :param sleep: callable that waits a number of seconds
    :param now: callable that returns the time in seconds since 1970, by default by the clock of the API server
    :param workload: callable that takes the client, a namespace and a cluster and returns a client of the cluster
    """

    def __init__(self, client: Any, params: dict[str, Any], check_mode: bool, progress: Any,
                 clock: Callable[[], float] = time.monotonic, sleep: Callable[[float], Any] = time.sleep,
                 now: Callable[[], float] | None = None, workload: Callable[[Any, str, str], Any] = workload_client):
        self.client, self.params, self.namespace = client, params, params["namespace"]
        self.check_mode, self.progress = check_mode, progress
        self.clock, self.sleep, self.now = clock, sleep, now or clock_of(client)
        self.began_at = clock()
        self._workload = workload
        self.diff: list[dict[str, Any]] = []
        self.warnings: list[str] = []
        self._tried: dict[str, list[str]] = {}
        self._obstacles: dict[str, list[str]] = {}
        # Of each host that is well again: the step that was tried last, None when there was none.
        self._helped: dict[str, str | None] = {}
        # Hosts that this run has kept from machines and nobody had before, of the cluster that is replaced now.
        self._marked: set[str] = set()
        # What has been done so far, for a run that fails later on.
        self.done: dict[str, Any] = {"changed": False}

    def run(self) -> dict[str, Any]:
        """Do it all and return the module's result.

        :raises RefusedError: with all that is wrong; nothing was written then
        :raises RemediationError: when nothing that is allowed has helped a host
        :raises KubeError: when the API server can't be asked, or refuses
        """
        objects = self._objects()
        found, problems = patients(self.params["hosts"], objects, self.namespace, self.params["up_to"], self.now())
        if problems:
            raise RefusedError(problems)
        self._ask(found, objects)
        for item in found:
            if item.reason:
                self.progress.event(f"{item.name}: {item.reason}" + (
                    f"; to be tried: {', '.join(item.steps)}" if item.steps else ""))
        # A run that was killed may have left its mark on Machines that are well by now.
        self._keep_from_checks([item for item in found if not item.reason and item.machine], node.give_back)
        self.warnings += filter(None, map(_still_marked, found))
        ill = [item for item in found if item.reason]
        if self.check_mode:
            allowed = f"nothing that is allowed (up_to {self.params['up_to']}) helps"
            self.warnings += [f"without check mode this would fail: {item.name}: {item.reason}; {allowed}"
                              for item in ill if not item.steps]
        else:
            for step in (RETRY, REBOOT, REPLACE):
                ill = self._try(step, ill)
            # Nor does the mark of a killed run stay where nothing more than a retry was needed.
            self._keep_from_checks([item for item in found if self._helped.get(item.name, REBOOT) in (None, RETRY)],
                                   node.give_back)
        # What was to be tried may not have been: the host had recovered by then, or somebody else works on it.
        would_change = self.check_mode and any(item.steps for item in found)
        result = {"changed": bool(self.diff) or would_change, "diff": self.diff,
                  "warnings": self.warnings, "seconds": round(self.clock() - self.began_at, 1),
                  "hosts": [self._result(item) for item in found]}
        if ill and not self.check_mode:
            raise RemediationError(self._report(ill))
        return result

    def _objects(self) -> dict[str, list[Any]]:
        """Read what there is, with what kubelets say whose nodes are not Ready."""
        return with_answers(objects_of(self.client, self.namespace), self.params["hosts"],
                            lambda cluster: self._workload(self.client, self.namespace, cluster))

    def _result(self, item: Patient) -> dict[str, Any]:
        return {"name": item.name, "cluster": item.cluster, "reason": item.reason, "steps": list(item.steps),
                "machine": item.machine["metadata"]["name"] if item.machine else None,
                "tried": self._tried.get(item.name, []), "helped": self._helped.get(item.name)}

    def _report(self, ill: list[Patient]) -> str:
        lines = [f"{len(ill)} host{'' if len(ill) == 1 else 's'} not brought back:"]
        for item in ill:
            tried = ", ".join(self._tried.get(item.name, [])) or "nothing"
            others = self._obstacles.get(item.name, [])
            lines.append("; ".join([f"- {item.name}: {item.reason}", f"tried: {tried}", *others]))
        return "\n".join([*lines, f"allowed was {self.params['up_to']}; set up_to to more, or look at the server's "
                          "console and at its BMC"])

    def _ask(self, found: list[Patient], objects: dict[str, list[Any]]) -> None:
        """Ask for the confirmation of hosts that may be interrupted, with what a replacement costs.

        :param objects: what they were found in
        :raises RefusedError: when it is missing, unless in check mode
        """
        due = [item for item in found if set(item.steps) & set(_INTERRUPTING)]
        names = [item.name for item in due]
        outlook = self._outlook([item for item in due if REPLACE in item.steps], objects)
        named = "; ".join(f"{item.name} ({item.reason}): {', '.join(item.steps)}" for item in due)
        lost = ", or replaced with what is on their disks" if any(REPLACE in item.steps for item in due) else ""
        confirm, among = self.params["confirm"], self.params["confirm_among"]
        asked = None if not names or confirmation.confirmed(confirm, names, among) else confirmation.problem(
            f"namespace {self.namespace}", confirm, names, f"hosts that may be rebooted{lost}: {named}", among)
        self.warnings += say(outlook, asked, self.check_mode, self.progress)

    def _outlook(self, due: list[Patient], objects: dict[str, list[Any]]) -> Outlook:
        """Return what is said of Machines that may be replaced; their hosts are marked and not chosen again."""
        found = Outlook([], [])
        for cluster in sorted(set(item.cluster for item in due if item.cluster)):
            names = [item.machine["metadata"]["name"] for item in due if item.cluster == cluster and item.machine]
            outlook = replacement_outlook(
                Snapshot(objects, cluster), names, f"cluster {self.namespace}/{cluster}",
                partial(self._workload, self.client, self.namespace, cluster), False)
            found.figures.extend(outlook.figures)
            found.notes.extend(outlook.notes)
        return found

    def _try(self, step: str, ill: list[Patient]) -> list[Patient]:
        """Try a step on those whom it may help, and return those who are still ill."""
        due = [item for item in ill if step in item.steps]
        if step == REPLACE:
            self._replace(due)
            return [item for item in ill if item.name not in self._helped]
        due = self._still(step, due)
        try:
            asked = self._asked(step, due)
            if asked:
                self._until_well(step, asked)
        except ReportedError:
            if step == REBOOT:
                # Nobody would look at these Machines before the next run; an API server that is away is asked by that.
                with contextlib.suppress(KubeError):
                    self._keep_from_checks(due, node.give_back)
            raise
        if step == REBOOT:
            # Also of those that stay ill: health checks are not kept from a Machine for longer than it is worked on.
            self._keep_from_checks(due, node.give_back)
        return [item for item in ill if item.name not in self._helped]

    def _still(self, step: str, due: list[Patient]) -> list[Patient]:
        """Return those that still need a step, as they are by now; the steps before may have taken their time."""
        if not due:
            return []
        again = look(step, due, self._objects(), self.namespace, self.now())
        for name in again.well:
            self.progress.event(f"{name}: nothing is wrong any more; {step} is not tried")
            # What was tried before may need longer than it was waited for.
            self._helped[name] = next(reversed(self._tried.get(name, [])), None)
        for name, obstacle in again.obstacles.items():
            self._obstacles.setdefault(name, []).append(f"{step} not tried: {obstacle}")
        return again.due

    def _asked(self, step: str, due: list[Patient]) -> list[Patient]:
        """Ask BMO for a step and return the hosts that were asked for; why others were not is kept."""
        options = {"mode": self.params["mode"]} if step == REBOOT else {}
        requests = dict((item.name, Request(item.name, step, now=timestamp(self.now()), **options)) for item in due)
        hosts = dict((item.name, item.host) for item in due)
        for name in self._note(step, host_action_rules.check_hosts(
                list(requests.values()), hosts, {}, self.namespace, set(requests))):
            requests.pop(name, None)
        due = [item for item in due if item.name in requests]
        if not due:
            return []
        if step == REBOOT:
            self._keep_from_checks(due, node.keep)
        self.progress.event(f"{step}: {', '.join(requests)}")
        asked = self._act(step, due, list(requests.values()), list(requests))
        for item in asked:
            self._tried.setdefault(item.name, []).append(step)
        return asked

    def _act(self, step: str, due: list[Patient], requests: list[Request], forced: list[str]) -> list[Patient]:
        """Have actions carried out on the hosts as they were confirmed, and return those on which they were.

        :param forced: names of the hosts on which what runs may be interrupted
        """
        while requests:
            service = HostActionService(
                self.client, requests, {
                    "namespace": self.namespace, "force_hosts": forced, "confirm": ",".join(forced),
                    "confirm_among": forced, "wait": False, "wait_timeout_seconds": 0, "error_limit": 1
                }, False, self.progress, self.clock, self.sleep,
                checked=dict((item.name, host_action_rules.identity_of(item.host)) for item in due), now=self.now)
            try:
                result = service.run()
            except RefusedError as exc:
                # Nothing was written. What is refused of one host keeps nothing from the others.
                refused = self._note(step, exc.problems)
                if not any(request.name in refused for request in requests):
                    raise
                requests = [request for request in requests if request.name not in refused]
                continue
            self.done["changed"] = self.done["changed"] or result["changed"]
            self.diff += result["diff"]
            failed = dict((facts["name"], facts["error"]) for facts in result["hosts"] if facts["failed"])
            for name, error in failed.items():
                self._obstacles.setdefault(name, []).append(f"{step} failed: {error}")
            done = set(request.name for request in requests) - set(failed)
            return [item for item in due if item.name in done]
        return []

    def _note(self, step: str, problems: Iterable[Problem]) -> set[str]:
        """Keep why a step is not tried on hosts, and return their names."""
        subjects = set()
        for problem in problems:
            subjects.add(problem.subject)
            self._obstacles.setdefault(problem.subject, []).append(
                f"{step} not tried: {problem_text(problem._replace(subject='', field=''))}")
        return subjects

    def _until_well(self, step: str, due: list[Patient]) -> None:
        """Wait until the hosts are well, but not longer than a step may take."""
        seconds = self.params["step_timeout_seconds"]

        def verdict_on(asked: Patient, observed: Patient | None) -> Verdict:
            # Neither comes back: what has the host's name by now is well, or ill, for reasons of its own.
            gone = lost(asked, observed)
            if gone or observed is None:
                return Verdict(FAILED, gone, "")
            # What a retry cannot help is left to the steps after it.
            rest = observed.reason if step == REBOOT or RETRY in observed.steps else ""
            return Verdict(WAITING, rest, "") if rest else Verdict(REACHED, "", "")

        def read() -> dict[str, Patient]:
            found, _problems = patients([item.name for item in due], self._objects(), self.namespace, REPLACE,
                                        self.now())
            return dict((item.name, item) for item in found)

        items = dict((item.name, Awaited(_GOALS[step], self.clock(), partial(verdict_on, item))) for item in due)
        loop = WaitLoop(f"API server {self.client.server}", self.progress, self.clock)
        last: dict[str, Patient] = {}

        def find(observed: dict[str, Patient], name: str) -> Patient | None:
            if name in observed:
                last[name] = observed[name]
            return observed.get(name)

        loop.run(items, poll(read, self.clock() + seconds, INTERVAL_SECONDS, self.clock, self.sleep), find)
        for item in due:
            verdict = items[item.name].verdict
            if verdict.outcome == REACHED and not last[item.name].reason:
                self._helped[item.name] = step
            elif verdict.outcome == FAILED:
                self._obstacles.setdefault(item.name, []).append(f"while {step} was waited for: {verdict.cause}")
            elif verdict.outcome == WAITING:
                known = "; ".join(part for part in (verdict.cause, loop.silence()) if part)
                self._obstacles.setdefault(item.name, []).append(
                    f"after {duration(seconds)} of {step}: {known or 'no answer'}")

    def _replace(self, due: list[Patient]) -> None:
        """Delete the Machines, and keep their hosts from the machines that take their place."""
        for cluster in sorted(set(item.cluster for item in due if item.cluster)):
            # The new machines of the cluster before may have taken an hour, in which hosts of this one recover.
            mine = self._still(REPLACE, [item for item in due if item.cluster == cluster])
            if not mine:
                continue
            mine = self._kept_from_machines(mine)
            if not mine:
                continue
            names = [item.machine["metadata"]["name"] for item in mine if item.machine]
            self.progress.event(f"{REPLACE}: {', '.join(names)} of cluster {cluster}")
            service = MachineActionService(self.client, {
                "namespace": self.namespace, "cluster_name": cluster, "machines": names,
                "action": machine_actions.REPLACE, "confirm": str(len(names)), "wait": self.params["wait"],
                "wait_timeout_seconds": self.params["wait_timeout_seconds"],
                "node_startup_timeout_seconds": self.params["node_startup_timeout_seconds"]},
                False, self.progress, self.sleep, self.now,
                dict((item.machine["metadata"]["name"], uid_of(item.machine)) for item in mine if item.machine),
                says_outlook=False)
            try:
                result = service.run()
            except RefusedError as exc:
                self._not_replaced(mine, exc)
                continue
            except WaitFailedError as exc:
                # What one does not get keeps nothing from the others.
                self._not_come(mine, exc, service.warnings)
                continue
            finally:
                self.done["changed"] = self.done["changed"] or service.done["changed"]
            for item in mine:
                self._tried.setdefault(item.name, []).append(REPLACE)
            self.diff += result["diff"]
            self.warnings += result["warnings"]
            self._helped.update((item.name, REPLACE) for item in mine)

    def _not_come(self, due: list[Patient], failed: WaitFailedError, warnings: list[str]) -> None:
        """Keep that Machines were deleted, and that those in their place do not come."""
        said = " ".join(f"{failed}".split())
        for item in due:
            self._tried.setdefault(item.name, []).append(REPLACE)
            self._obstacles.setdefault(item.name, []).append(f"the machine in its place does not come: {said}")
        self.warnings += warnings

    def _not_replaced(self, due: list[Patient], refused: RefusedError) -> None:
        """Keep why no Machine was deleted, and take away the marks that were set for it."""
        said = "; ".join(problem_text(problem._replace(subject="", field="")) for problem in refused.problems)
        for item in due:
            self._obstacles.setdefault(item.name, []).append(f"{REPLACE} not tried: {said}")
        # A mark that was there already is that of whoever replaces the Machine, or has had another reason.
        marked = [item for item in due if item.name in self._marked and not any(
            mark in host_annotations.of(item.host) for mark in host_annotations.UNHEALTHY_MARKS)]
        # CAPM3 would pass these hosts over.
        self._act(REPLACE, marked, [Request(item.name, "mark_healthy") for item in marked], [])

    def _kept_from_machines(self, due: list[Patient]) -> list[Patient]:
        """Mark hosts so that no machine gets them, and return those that were marked."""
        requests = [Request(item.name, "mark_unhealthy", reason=_reason_of_mark(item)) for item in due]
        began = len(self.diff)
        kept = self._act(REPLACE, due, requests, [])
        self._marked = set(item["host"] for item in self.diff[began:] if not item["before"])
        return kept

    def _keep_from_checks(self, items: list[Patient], make: Callable[[Any], Any]) -> None:
        """Set, or take away, the mark that keeps health checks from the hosts' Machines while they are worked on.

        That of a host that is being maintained is the playbook maintain's.
        """
        machines = [item.machine for item in items
                    if item.machine and host_annotations.MAINTENANCE not in host_annotations.of(item.host)]
        fresh = [stored for machine in machines
                 for stored in [self.client.get(KNOWN["Machine"], self.namespace, machine["metadata"]["name"])]
                 if stored and uid_of(stored) == uid_of(machine)]
        Patches(self.client, self.check_mode, self.progress, self.sleep, make).apply(
            KNOWN["Machine"], fresh, self.diff, self.done)


def _reason_of_mark(item: Patient) -> str | None:
    """Return the value of the mark that keeps machines from a host; None leaves what somebody has written there."""
    is_marked = host_annotations.UNHEALTHY in host_annotations.of(item.host)
    # The mark of a move is not left, but refused.
    if is_marked and host_annotations.UNHEALTHY not in host_annotations.kept_by(item.host):
        return None
    return f"{_MARKED_BY}{item.reason}"[:200]


def _still_marked(item: Patient) -> str:
    """Return what is said of a host that is well and that no machine gets, since a run has replaced its Machine.

    Or that run was killed before it did. CAPM3 passes such hosts over, and says of no machine that it waits for one.
    """
    marks = host_annotations.of(item.host)
    value = next((marks[mark] for mark in host_annotations.UNHEALTHY_MARKS if mark in marks), "")
    return "" if item.reason or not str(value).startswith(_MARKED_BY) else plain(
        f"{item.name}: nothing is wrong with it, and it is marked unhealthy, so that no machine gets it ({value}); "
        "when it is repaired, mark it healthy (playbook host_action, mark_healthy)")
