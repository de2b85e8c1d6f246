# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Has the Ironic operator run Ironic: writes its resource, waits for its condition, removes it."""
from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from ..._common.options import confirmation
from ..._common.problems.errors import RefusedError, ReportedError
from ..._common.problems.problem import Problem
from ..._common.waiting.wait_loop import until_nothing
from ..._common.waiting.wait_report import FAILED, REACHED, WAITING, Verdict
from ..._kube.kinds import served
from ..._kube.reconcile.plan import deletion
from ..._kube.reconcile.reconcile import raise_refused
from ..._kube.reconcile.report import counts, difference
from ..._kube.responses.errors import KubeError
from ..._kube.responses.patience import Patience
from ..._manifests.service import ManifestsService
from ..._metal3.kinds import KNOWN
from ..upgrade import rules as upgrade
from . import ironic_database, objects, operated

Object = dict[str, Any]

INTERVAL_SECONDS = 0.5
# The operator reports errors that pass, such as a conflict, in the same way.
FAILING_SECONDS = 60
RESOURCE = KNOWN[operated.KIND]
HOST = "BareMetalHost"


class OperatedError(ReportedError):
    """Ironic did not become ready or did not go in time; the message says what the operator reports."""


class OperatedIronic(ManifestsService):
    """One run over a resource ``Ironic``.

    :param client: a KubeClient
    :param params: the parameters of the module ``plane_ironic_operator``
    :param check_mode: let the API server try writes without storing them
    :param progress: a Progress
    :param sleep: callable that waits a number of seconds
    :param clock: monotonic clock, in seconds
    """

    def __init__(self, client: Any, params: Object, check_mode: bool, progress: Any,
                 sleep: Callable[[float], Any] = time.sleep, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(client, [operated.desired(params)], params["namespace"], check_mode, progress, sleep, clock)
        self.params = params
        self.seconds_left = params["wait_timeout_seconds"] if params.get("wait") else 0
        self.title = f"{operated.KIND} {params['namespace']}/{params['name']}"

    def present(self) -> Object:
        """Write what differs, wait until Ironic is ready, and return the result.

        :raises RefusedError: with all that does not fit, before anything is written
        :raises ReportedError: when it does not become ready
        :raises KubeError: when the API server can't be asked or refuses
        """
        found = operated.problems(self.params) + self._no_operator()
        for reference in operated.references(self.params):
            stored = self.client.get(KNOWN[reference.kind], self.params["namespace"], reference.name)
            found += operated.unusable(reference, stored, self.title)
        if found:
            raise RefusedError(found)
        self._refuse_restart()
        unconfirmed = confirmation.required_by(self._unconfirmed(), self.check_mode)
        result = self.write()
        result["warnings"] = [*result.get("warnings", []), *unconfirmed]
        if self.params["wait"] and not self.check_mode:
            result["seconds"], ready = self._until_ready()
            result["installed_version"] = (ready.get("status") or {}).get("installedVersion") or ""
        return result

    def absent(self) -> Object:
        """Remove the resource, with which the operator removes Ironic, and return the result.

        :raises RefusedError: while there are hosts, and without the confirmation
        :raises ReportedError: when it does not go
        :raises KubeError: when the API server can't be asked or refuses
        """
        stored = None if self._no_operator() else self._stored()
        if stored is None:
            return {"changed": False, "objects": [], "counts": counts([]), "diff": []}
        if not objects.is_ours(stored):
            label, owner = objects.OWNER_LABEL
            raise RefusedError([Problem(operated.CODE, self.title, f"metadata.labels.{label}", None, owner,
                                        "remove it by what has created it")])
        hosts = self._hosts()
        if hosts:
            raise RefusedError([Problem(
                operated.CODE, self.title, HOST, f"{len(hosts)} of them", "none",
                "delete them, or move them to another plane: the operator works on them through Ironic")])
        warnings = confirmation.required_by(confirmation.by_name(
            self.title, self.params["name"], self.params["confirm"], "Ironic would be removed from the cluster, with "
            "all that it knows of nodes unless it has a database", "set state=present (role ironic: ironic_state)",
            self.params["confirm_among"]), self.check_mode)
        written = self.writes.write([deletion(RESOURCE, stored)])
        raise_refused(self.client, written)
        if self.params["wait"] and not self.check_mode and until_nothing(
                self._stored, self.params["wait_timeout_seconds"], INTERVAL_SECONDS, self.clock, self.sleep):
            raise OperatedError(f"{self.title}: still there after {self.params['wait_timeout_seconds']} s, expected "
                                "gone; look whether the Ironic operator runs, which removes the finalizer")
        removed = [{"object": item.entry.title, "action": item.action} for item in written]
        return {"changed": True, "objects": removed, "counts": counts(dict(item, error="") for item in removed),
                "diff": [difference(item.entry) for item in written], "warnings": warnings}

    def _refuse_restart(self) -> None:
        """Refuse another specification while hosts are worked on: the operator replaces Ironic's pods with it.

        :raises RefusedError: with the hosts
        """
        stored = self._stored()
        # One that is not ready works on nothing, and its repair must not wait for what only it can finish.
        if stored is None or operated.not_ready(stored):
            return
        found = upgrade.transitions(["ironic"], self._hosts())
        if not found:
            return
        tried = self.writes.dry_run(self._look(self.objects()))
        if any(item.changed and item.value.get("spec") != stored.get("spec") for item in tried):
            raise RefusedError([problem._replace(
                expected="none, since Ironic's pods start again with what was changed") for problem in found])

    def _unconfirmed(self) -> list[Problem]:
        """Return the problem of a confirmation that is missing: that of a database that is given up."""
        before = ((self._stored() or {}).get("spec") or {}).get("database")
        if not before:
            return []
        # What the API server makes of it: others may have given it the database.
        after = next((item.value["spec"].get("database") for item in self.writes.dry_run(self._look(self.objects()))
                      if item.changed), before)
        return ironic_database.given_up(self.title, _words(before), _words(after), self.params["name"],
                                        self.params)

    def _no_operator(self) -> list[Problem]:
        if self.client.get(KNOWN["CustomResourceDefinition"], None, operated.DEFINITION):
            return []
        return [Problem(operated.CODE, self.title, None, f"no definition {operated.DEFINITION}",
                        "the Ironic operator in the cluster",
                        "install it first by the manifests of its release, for example with the module manifests")]

    def _stored(self) -> Object | None:
        found: Object | None = self.client.get(RESOURCE, self.params["namespace"], self.params["name"])
        return found

    def _hosts(self) -> list[Object]:
        return served.listed(self.client, KNOWN[HOST])

    def _until_ready(self) -> tuple[float, Object]:
        """Wait for the condition; return the seconds that it took, and the resource.

        :raises OperatedError: when it says for a minute that it failed, or is not ready in time
        """
        began_at, patience = self.clock(), Patience(self.clock)
        state: Object = {"failing_at": None, "verdict": Verdict(WAITING, "nothing was said", "")}

        def left() -> list[str]:
            try:
                listed = self.client.list(RESOURCE, self.params["namespace"])[0]
                patience.answered()
            except KubeError as exc:
                if patience.is_final(exc):
                    raise
                state["verdict"] = Verdict(WAITING, exc.cause, "")
                return [self.title]
            now = self.clock()
            state["stored"] = stored = next(
                (item for item in listed if item["metadata"]["name"] == self.params["name"]), None)
            state["failing_at"] = (state["failing_at"] or now) if operated.failing(stored) else None
            verdict = operated.verdict_on(stored, now - (state["failing_at"] or now), FAILING_SECONDS)
            if verdict != state["verdict"]:
                self.progress.event(f"{self.title}: {verdict.cause or 'ready'}")
            state["verdict"] = verdict
            return [self.title] if verdict.outcome == WAITING else []

        until_nothing(left, self.params["wait_timeout_seconds"], INTERVAL_SECONDS, self.clock, self.sleep)
        verdict = state["verdict"]
        if verdict.outcome != REACHED:
            waited = "" if verdict.outcome == FAILED else f" within {self.params['wait_timeout_seconds']} s"
            raise OperatedError(f"{self.title}: not ready{waited}: {verdict.cause}; {verdict.next_step or 'run again'}")
        return round(self.clock() - began_at, 1), state["stored"] or {}


def _words(database: Object | None) -> str | None:
    """Return a database as messages name it."""
    return f"{database['name']} on {database['host']}" if database else None
