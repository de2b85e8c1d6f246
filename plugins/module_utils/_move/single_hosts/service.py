# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Gives single hosts to another plane, each with its status; never are they in both planes' Ironic.

Each step leaves behind by what the next run knows how far a host has come: detached with a mark, there with where it
comes from and held, there and released, gone here.
"""
from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from ..._common.options import confirmation
from ..._common.problems.errors import RefusedError
from ..._common.problems.problem import Problem
from ..._common.redaction.quoted_secrets import without_secrets
from ..._common.redaction.redaction import secret_texts
from ..._common.texts.formats import timestamp
from ..._host.actions.actions import ACTIONS, has_status
from ..._host.description import annotations as host_annotations
from ..._host.description.objects import stored_secret_name
from ..._host.state.goals import HostHistory, state_of
from ..._host.state.reading import BMH, hosts_of
from ..._host.state.wait import follow_hosts
from ..._kube.api.cluster_clock import clock_of
from ..._kube.reconcile.plan import DELETE, UNCHANGED, deletion
from ..._kube.reconcile.reconcile import Reconcile, raise_refused
from ..._kube.responses.errors import KubeError
from ..._metal3.kinds import KNOWN
from ..checks import rotations
from ..checks import rules as checks
from ..objects import copies, graph, handed_over_notes
from ..objects.reading import Side
from ..pauses import hosts as hosts_service
from . import copies as host_copies
from . import obstacles as host_obstacles
from . import preflight as host_preflight
from .copies import THERE

Object = dict[str, Any]


class HostMove:
    """One run of the module ``host_move``.

    :param source: a KubeClient of the plane that lets go
    :param target: a KubeClient of the plane that takes over
    :param params: the module's parameters
    :param check_mode: only report what would be done
    :param progress: a Progress
    :param clock: monotonic clock, in seconds
    :param sleep: callable that waits a number of seconds
    :param now: callable that returns seconds since 1970, by default by the clock of the source's API server
    :raises KubeError: when one of the API servers can't be asked
    """

    def __init__(self, source: Any, target: Any, params: dict[str, Any], check_mode: bool, progress: Any,
                 clock: Callable[[], float] = time.monotonic, sleep: Callable[[float], Any] = time.sleep,
                 now: Callable[[], float] | None = None) -> None:
        self._params = params
        self._check_mode = check_mode
        self._progress = progress
        self._clock, self._sleep, self._now = clock, sleep, now or clock_of(source)
        self._here = Side(source, params["namespace"])
        self._there = Side(target, params["namespace"])
        self._names = sorted(set(params["hosts"]))
        self.warnings: list[str] = []
        # Of the hosts here, as they were checked.
        self._uids: dict[str, str] = {}

    def moved(self) -> dict[str, Any]:
        """Move the hosts, or finish what an interrupted run has begun.

        :returns: the module's result, with the ``errors`` of hosts that have not come to their end
        :raises RefusedError: when something is in the way; nothing was written then
        :raises KubeError: when an API server refuses
        """
        stages = self._stages()
        states = dict((name, state_of(self._here.host(name) or self._there.host(name)))
                      for name in self._names)
        due = [name for name in self._names if stages[name] != THERE or self._is_unfinished(name)]
        unconfirmed = self._checked(stages)
        result = {"changed": bool(due), "due": bool(due), "to_server": self._there.client.server, "errors": [],
                  "warnings": self.warnings, "confirmation": "",
                  "hosts": [{"name": name, "changed": name in due, "state": states[name], "was": stages[name]}
                            for name in self._names],
                  "diff": [{"before_header": f"BareMetalHost {name}", "before": {"plane": "here"},
                            "after_header": f"BareMetalHost {name}", "after": {"plane": "there"}} for name in due]}
        if self._check_mode:
            return dict(result, confirmation=str(unconfirmed[0]) if unconfirmed else "")
        if due:
            result["errors"] = self._move(due)
        return result

    # What there is

    def _stages(self) -> dict[str, str]:
        return dict((name, host_copies.stage(self._here.host(name), self._there.host(name)))
                    for name in self._names)

    def _is_unfinished(self, name: str) -> bool:
        host = self._there.host(name)
        return host is not None and str(host_annotations.of(host).get(host_annotations.FROM_PLANE)).startswith(
            self._here.uid + "/")

    def _checked(self, stages: dict[str, str]) -> list[Problem]:
        """Return the problem of a confirmation that is missing in check mode.

        :raises RefusedError: when something is in the way
        """
        problems = checks.same_plane(self._here.uid, self._there.uid)
        if problems:
            raise RefusedError(problems)
        leaving = [host for name in self._names for host in [self._here.host(name)] if host is not None]
        problems, warnings = host_preflight.problems(
            self._here, self._there, leaving, stages, self._params, self._now())
        self.warnings += warnings
        names = [host["metadata"]["name"] for host in leaving]
        among = self._params["confirm_among"]
        given, there = self._params["confirm"], self._there.client.server
        unconfirmed = [] if not names or confirmation.confirmed(given, names, among) else [confirmation.problem(
            "host_move", given, names, f"hosts that {there} manages from then on: {', '.join(sorted(names))}", among)]
        if problems or (unconfirmed and not self._check_mode):
            raise RefusedError(problems + unconfirmed)
        return unconfirmed

    # What is done

    def _move(self, names: list[str]) -> list[str]:
        """Take each host as far as it comes, and return what keeps it, a line each."""
        errors: dict[str, str] = {}
        for step in (self._detach, self._copy, self._release, self._note, self._delete, self._forget, self._look):
            left = [name for name in names if name not in errors]
            if not left:
                break
            try:
                errors.update(step(left))
            except KubeError as exc:
                if not errors:
                    raise
                # What is known of the others is not lost by it.
                errors.update(dict.fromkeys(left, f"{exc.message}; run again: the move goes on from here"))
        return [f"host {name}: {text}" for name, text in sorted(errors.items())]

    def _of(self, side: Side, names: list[str]) -> list[Object]:
        """Return hosts as they are by now."""
        found = hosts_of(side.client, side.namespace)
        return [found[name] for name in names if name in found]

    def _wait(self, side: Side, histories: dict[str, HostHistory]) -> dict[str, str]:
        timeout = self._params["wait_timeout_seconds"]
        silence = follow_hosts(
            side.client, side.namespace, histories, self._clock() + timeout, self._progress, self._clock)
        now = self._clock()
        errors = dict((name, item.error(timeout, now, silence)) for name, item in histories.items())
        return dict((name, text) for name, text in errors.items() if text)

    def _pairs(self, names: list[str]) -> tuple[list[tuple[Object, Object | None]], dict[str, str]]:
        """Return hosts that are still here and may be given away, each with its copy, and why others may not."""
        there = dict((host["metadata"]["name"], host) for host in self._of(self._there, names))
        pairs, errors = [], {}
        for host in self._of(self._here, names):
            name = host["metadata"]["name"]
            reason = host_obstacles.not_ready(host, self._uids.get(name, ""), self._there.uid)
            if reason:
                errors[name] = reason + "; nothing more was done with it"
            else:
                pairs.append((host, host_copies.copy_of(host, there.get(name), self._here.uid)))
        return pairs, errors

    def _detach(self, names: list[str]) -> dict[str, str]:
        """Take hosts out of the Ironic here: from then on nothing here has power over their servers."""
        def again(host: Object) -> list[Any]:
            return host_preflight.obstacles(self._here, self._there, host, self._now())

        def is_gone(host: Object) -> bool:
            # A run that was killed had begun to delete it.
            return host_copies.copy_of(
                host, self._there.host(host["metadata"]["name"]), self._here.uid) is not None

        # As they were checked: a host that has changed since then is checked again by its version.
        hosts = [host for name in names for host in [self._here.host(name)] if host is not None]
        self._uids = dict((host["metadata"]["name"], host["metadata"]["uid"]) for host in hosts)
        hosts_service.annotate(self._here.client, self._here.namespace, hosts, False, self._progress, self._sleep,
                               lambda host: host_copies.detaching(host, self._there.uid), again)
        began = self._clock()
        return self._wait(self._here, dict((host["metadata"]["name"], HostHistory(
            "detached", host, began, tolerated=("detached", "deleting"),
            is_reached=lambda bmh, host=host: is_gone(host) if bmh is None else ACTIONS["detach"].reached(
                None, bmh, None))) for host in hosts))

    def _copy(self, names: list[str]) -> dict[str, str]:
        """Make over there what is not there yet; the host is held, its Secrets come before it."""
        self._here.read()
        self._there.read()
        pairs, errors = self._pairs(names)
        if pairs:
            self._there.make_namespace()
        known = dict((name, obj) for (_group, kind, name), obj in self._there.by_key.items() if kind == "Secret")
        for host, copied in pairs:
            name = host["metadata"]["name"]
            if copied is not None and host_annotations.of(copied).get(host_annotations.PAUSED) != host_copies.HELD:
                # Released by the run before: it was complete.
                continue
            secrets = host_copies.secrets_of([host], self._here.objects)
            # Others may have written over there since it was checked.
            late = host_obstacles.taken(host, self._here.uid, self._there.host(name))
            late += host_obstacles.secret_problems(secrets, known)
            # Detached, none begins any more.
            late += rotations.problems(self._here.objects, [stored_secret_name(host)])
            if late:
                errors[name] = "; ".join(map(str, late))
                continue
            for secret in secrets:
                if secret["metadata"]["name"] not in known:
                    known[secret["metadata"]["name"]] = self._make(host_copies.secret_copy(secret), KNOWN["Secret"])
            stored = self._make(host_copies.host_copy(host, self._here.uid), BMH)
            lost = host_copies.dropped(host, stored)
            if lost:
                errors[name] = (f"the plane over there does not keep {lost}; install the same or a newer operator "
                                "there; the copy is held")
                continue
            uids = {host["metadata"]["uid"]: stored["metadata"]["uid"]}
            for wave in copies.waves(host_copies.companions(host, self._here.objects)):
                for obj in wave:
                    made = self._make(host_copies.companion_copy(obj, uids), self._here.resources[graph.key(obj)[:2]])
                    uids[obj["metadata"]["uid"]] = made["metadata"]["uid"]
        return errors

    def _make(self, obj: Object, resource: Any) -> Object:
        """Create an object over there, unless it is there: then it was checked."""
        found = self._there.by_key.get(graph.key(obj))
        if found is not None:
            return found
        try:
            stored: Object = self._there.client.create(resource, self._there.namespace, obj)
        except KubeError as exc:
            # Webhooks quote what they refuse.
            text = without_secrets(exc.message, secret_texts(obj))
            raise KubeError(f"{graph.title(graph.key(obj))}: {text}", exc.status) from None
        self._progress.wrote(graph.title(graph.key(obj)), "created")
        return stored

    def _release(self, names: list[str]) -> dict[str, str]:
        """Let the operator over there work on hosts, and wait until each is there what it is here."""
        pairs, errors = self._pairs(names)
        errors.update((host["metadata"]["name"], "its copy over there was deleted by somebody else; run again")
                      for host, copied in pairs if copied is None)
        ready = [(host, copied) for host, copied in pairs if copied is not None]
        saved = dict((host["metadata"]["name"], host_copies.status_of(host)) for host, _copied in ready)
        origins = dict((host["metadata"]["name"], host_copies.origin(self._here.uid, host)) for host, _copied in ready)

        def renew(copied: Object) -> dict[str, Any] | None:
            name, found = copied["metadata"]["name"], host_annotations.of(copied)
            is_held = host_copies.released(copied, origins[name]) is not None and not has_status(copied)
            return {host_annotations.STATUS: saved[name]} if is_held and found.get(
                host_annotations.STATUS) != saved[name] else None

        def release(copied: Object) -> dict[str, Any] | None:
            patch = host_copies.released(copied, origins[copied["metadata"]["name"]])
            return None if patch and hosts_service.costs(copied) else patch

        began = self._clock()
        # What was copied by a run that was killed may be older than what the host is here by now.
        for change in (renew, release):
            current = self._of(self._there, [host["metadata"]["name"] for host, _copied in ready])
            hosts_service.annotate(self._there.client, self._there.namespace, current, False, self._progress,
                                   self._sleep, change)
        for copied in self._of(self._there, list(origins)):
            name = copied["metadata"]["name"]
            if host_copies.released(copied, origins[name]):
                # Others may have changed or deleted it over there.
                errors[name] = f"its copy over there is still held: {hosts_service.costs(copied) or 'run again'}"
        ready = [(host, copied) for host, copied in ready if host["metadata"]["name"] not in errors]
        errors.update(self._wait(self._there, dict((host["metadata"]["name"], HostHistory(
            "what it was", copied, began, tolerated=("detached",),
            is_reached=lambda bmh, host=host: host_copies.is_back(bmh, host))) for host, copied in ready)))
        return errors

    def _note(self, names: list[str]) -> dict[str, str]:
        """Keep here who manages the hosts, so that nobody enrols them here again; the other plane has none of it."""
        handed_over_notes.write(self._here, self._there, self._of(self._here, names), names, timestamp(self._now()))
        return {}

    def _delete(self, names: list[str]) -> dict[str, str]:
        """Delete here what is over there; the operator deprovisions no host that is detached."""
        pairs, errors = self._pairs(names)
        due = [host for host, copied in pairs if host_copies.is_back(copied, host)]
        errors.update((host["metadata"]["name"], "it is not over there any more what it is here, and stays detached "
                       "here; look at both") for host, _copied in pairs if host not in due)
        writes = _Deletions(self._here.client, False, self._progress, self._sleep, self._there.uid)
        raise_refused(self._here.client, writes.write([deletion(BMH, host) for host in due]))
        began = self._clock()
        errors.update(self._wait(self._here, dict((host["metadata"]["name"], HostHistory(
            "deleted", host, began, tolerated=("detached", "deleting"))) for host in due)))
        return errors

    def _forget(self, names: list[str]) -> dict[str, str]:
        mine = self._here.uid + "/"
        due = [host for host in self._of(self._there, names)
               if str(host_annotations.of(host).get(host_annotations.FROM_PLANE)).startswith(mine)]
        hosts_service.annotate(self._there.client, self._there.namespace, due, False, self._progress, self._sleep,
                               host_copies.arrived)
        return {}

    def _look(self, names: list[str]) -> dict[str, str]:
        """Say of which hosts there is nothing over there, whatever became of them."""
        there = set(host["metadata"]["name"] for host in self._of(self._there, names))
        return dict((name, "it is not over there; look at both planes") for name in names if name not in there)


class _Deletions(Reconcile):
    """Deletions of hosts that are detached for a plane; one that is not so any more stays."""

    def __init__(self, client: Any, check_mode: bool, progress: Any, sleep: Callable[[float], Any],
                 plane_uid: str) -> None:
        super().__init__(client, check_mode, progress, sleep)
        self._plane_uid = plane_uid

    def problems_again(self, entry: Any, stored: Object | None) -> list[Any]:
        """Return why a host is not deleted any more."""
        if stored is None or entry.action != DELETE:
            return []
        reason = host_obstacles.not_ready(stored, entry.current["metadata"]["uid"], self._plane_uid)
        return [reason] if reason else []

    def plan_again(self, entry: Any, stored: Object | None) -> Any:
        """Return the deletion of the host as it is by now."""
        return entry._replace(action=UNCHANGED) if stored is None else deletion(BMH, stored)
