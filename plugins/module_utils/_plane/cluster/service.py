# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Installing parts into a cluster and removing them: one plan, waves, one wait, webhooks asked."""
from __future__ import annotations

from typing import Any

from ..._common.problems.errors import ReportedError
from ..._kube.api.cluster_clock import ahead_seconds_of
from ..._kube.kinds.resources import KNOWN
from ..._kube.reconcile.plan import Entry
from ..._kube.reconcile.reconcile import Written
from ..._kube.reconcile.report import counts, difference
from ..._manifests import documents
from ..._manifests.rollout_wait import RolloutWait
from ..parts import order
from ..parts.catalogue import Part
from ..upgrade import rules as upgrade
from ..upgrade import service as upgrade_service
from . import (
    certificates,
    issuing,
    monitor,
    monitor_service,
    mounted_secrets,
    network_policy,
    network_policy_service,
    objects,
    part_checks,
    removal_service,
    webhook_questions,
)
from .components import INTERVAL_SECONDS, ComponentsError, ComponentsRun
from .settings import problems as settings_problems

Object = dict[str, Any]

# Issuing takes a second; the rest is patience with a cert-manager that has just started.
CERTIFICATE_SECONDS = 120
_ISSUED = "Certificate"


class Components(ComponentsRun):
    """One run over parts of the plane, in one cluster."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        # Definitions and certificates that were written, of which nobody has asked yet whether they are there.
        self._awaited: list[Entry] = []

    def present(self) -> Object:
        """Write what differs, wait until all parts work, and return the result.

        :raises RefusedError: with all that does not fit, before anything is written
        :raises ReportedError: when a part does not come up
        :raises KubeError: when the API server can't be asked or refuses
        """
        self.refuse(settings_problems(item) for item in self.params["parts"])
        fits = part_checks.fits(self)
        part_checks.confirm(self, fits)
        self.sources = self._desired() + [objects.kept_with_namespace(obj) for obj in self.params["objects"]]
        result = self.write()
        for item in result["diff"]:
            # Definitions have thousands of lines.
            if not item["before_header"] and item["after_header"].startswith(order.DEFINITION):
                item["after"] = "(new definition)\n"
        result["versions"] = dict((name, version) for name, (_objects, version) in self.shipped.items())
        result.update(fits)
        if self.params["wait"] and not self.check_mode:
            deadline = self.clock() + self.seconds_left
            self.wait_for(self._awaited, CERTIFICATE_SECONDS)
            result["seconds"] = self.wait(self.seconds_left)
            result["seconds"] += webhook_questions.ask(self, deadline, self.parts)
            result["seconds"] += sum(self._ask_for_certificate(deadline, settings.get("namespace") or part.namespace)
                                     for part, settings in self.chosen() if part.name == "cert_manager")
        self._take_back(result)
        return result

    def absent(self) -> Object:
        """Remove parts, the last first, and return the result; see ``removal_service.remove``."""
        return removal_service.remove(self)

    def waves(self, items: list[Object]) -> list[list[Object]]:
        """Return objects in lists that are written one after the other; see ``order.quick_waves``."""
        return order.quick_waves(items, lambda obj: self.part_of.get(documents.title(obj), ""))

    def after_wave(self, entries: list[Entry]) -> None:
        """Take note of what the Deployments need, which comes while other objects are written."""
        self._awaited += [entry for entry in entries if entry.resource.kind in (order.DEFINITION, _ISSUED)]

    def before_wave(self, entries: list[Entry]) -> None:
        """Wait for what the pods of a wave need, and before other waves for all definitions.

        A pod that misses its Secret is tried again only after longer and longer pauses, and so is a controller that
        misses its kinds. The operator's pod may wait for its Secret: kubelet's probes are counted from when it has the
        pod, not from when the container runs, and certificates are issued before the first of them.
        """
        kinds = set(entry.resource.kind for entry in entries)
        if "Deployment" in kinds:
            parts = set(self.part_of.get(entry.title) for entry in entries)
            needed = {order.DEFINITION} if parts == {order.FIRST} else {order.DEFINITION, _ISSUED}
            parts.update(*(part.needs for part in self.parts if part.name in parts))
            due = [entry for entry in self._awaited
                   if entry.resource.kind in needed and self.part_of.get(entry.title) in parts]
        elif order.DEFINITION in kinds:
            due = []
        else:
            due = [entry for entry in self._awaited if entry.resource.kind == order.DEFINITION]
        self._awaited = [entry for entry in self._awaited if entry not in due]
        self.wait_for(due, CERTIFICATE_SECONDS)

    def wait_until_issued(self) -> None:
        """Wait for all certificates among the objects that were written last, those of runs before included.

        :raises RolloutError: when one is not issued in time
        """
        self._awaited = [entry for entry in self._awaited if entry.resource.kind != _ISSUED]
        self.wait_for([entry for entry in self._look(self.objects()) if entry.resource.kind == _ISSUED],
                      CERTIFICATE_SECONDS)

    def _ask_for_certificate(self, deadline: float, namespace: str) -> float:
        return issuing.ask(self.client, self.writes.persist, namespace, max(deadline - self.clock(), INTERVAL_SECONDS),
                           self.progress, self.clock, self.sleep)

    def _desired(self) -> list[Object]:
        """Return the objects of all parts."""
        result = []
        for part, settings in self.chosen():
            shipped, version = self.shipped[part.name]
            items = objects.desired(part, shipped, settings, version)
            if settings.get("monitor"):
                items = monitor.added(part, settings, items)
            if settings.get("network_policy"):
                items = network_policy.added(part, settings, items)
            self._mark_secrets(part, settings, items)
            if self.params["certificates"] == "collection":
                asked = objects.certificates(items)
                items = objects.without_cert_manager(items, dict(
                    ((item["metadata"]["namespace"], item["metadata"]["name"]), self._secret(item)) for item in asked))
            self.part_of.update((documents.title(item), part.name) for item in items)
            result += items
        return result

    def _secret(self, certificate: Object) -> Object:
        """Return the Secret of a Certificate that cert-manager does not issue."""
        stored = self.client.get(KNOWN["Secret"], certificate["metadata"]["namespace"],
                                 certificate["spec"]["secretName"])
        return certificates.secret(certificate, stored, ahead_seconds_of(self.client))

    def _mark_secrets(self, part: Part, settings: Object, items: list[Object]) -> None:
        """Have the manager started again when a Secret that it mounts has changed."""
        namespace = settings.get("namespace") or part.namespace
        found = [self.client.get(KNOWN["Secret"], namespace, mount["secret"])
                 for mount in settings.get("secret_mounts") or []]
        for item in items:
            if item["kind"] == "Deployment" and item["metadata"]["name"] == next(iter(part.images)):
                mounted_secrets.mark(item, [secret for secret in found if secret])

    def _take_back(self, result: Object) -> None:
        """Delete monitors and NetworkPolicies of parts that are not to have them any more; add it to the result."""
        unasked = [entry for part, settings in self.chosen() if not settings.get("monitor")
                   for entry in monitor_service.written(self.client, part, settings)]
        unasked += [entry for part, settings in self.chosen() if not settings.get("network_policy")
                    for entry in network_policy_service.written(
                        self.client, part, settings, self.shipped[part.name][0])]
        for entry in unasked:
            for item in self.deleted([entry]):
                result["objects"].append({"object": item.entry.title, "action": item.action})
                result["diff"] += [difference(item.entry)] if item.changed else []
                result["changed"] = result["changed"] or item.changed
        result["counts"] = counts(dict(item, error="") for item in result["objects"])

    def _write(self, entries: list[Entry]) -> list[Written]:
        """Write what differs; in an upgrade one part after the other, each of which is waited for."""
        if not self.steps or not self.params["wait"]:
            return super()._write(entries)
        steps = dict((step.part.name, step) for step in self.steps)
        # What belongs to no part, such as a namespace for hosts, comes first.
        done = super()._write([entry for entry in entries if entry.title not in self.part_of])
        upgraded: list[str] = []
        for part in self.parts:
            due = [entry for entry in entries if self.part_of.get(entry.title) == part.name]
            step = steps.get(part.name)
            if step is None:
                done += super()._write(due)
                continue
            self._look_again(step, upgraded)
            self.progress.event(f"upgrading {part.title} from {step.found} to {step.planned} "
                                f"({len(upgraded) + 1} of {len(steps)})")
            done += self._upgrade(step, due, upgraded)
            upgraded.append(part.title)
        return done

    def _look_again(self, step: upgrade.Step, before: list[str]) -> None:
        """Refuse to begin a part while something is done with what it manages; the parts before it took minutes.

        :param before: titles of the parts that were upgraded before
        :raises ComponentsError: with what stands against it by now
        """
        found = [] if self.check_mode else upgrade.problems([step], part_checks.managed_by_plane(self))
        if found:
            stay = f"\nUpgraded before, and kept: {', '.join(before)}." if before else ""
            raise ComponentsError(f"{step.part.title} stays {step.found}, since something has changed meanwhile:\n"
                                  + "\n".join(f"- {problem}" for problem in found)
                                  + "\nRun install again when that is over." + stay)

    def _upgrade(self, step: upgrade.Step, due: list[Entry], before: list[str]) -> list[Written]:
        """Write and wait for one part; when it does not come up, go back to what was there.

        :param due: the part's entries
        :param before: titles of the parts that were upgraded before
        :raises ComponentsError: with the cause and what was rolled back
        """
        seconds = self.params["wait_timeout_seconds"]
        try:
            written = super()._write(due)
            deadline = self.clock() + seconds
            RolloutWait(self.client, due, self.progress, sleep=self.sleep).until(seconds)
            webhook_questions.ask(self, deadline, [step.part])
        except ReportedError as exc:
            self.progress.event(f"rolling {step.part.title} back to {step.found}")
            outcome: Any
            try:
                outcome = upgrade_service.roll_back(
                    self.client, self.writes, due, self.progress, seconds, self.sleep)
                webhook_questions.ask(self, self.clock() + seconds, [step.part])
            except ReportedError as again:
                outcome = again
            raise ComponentsError(upgrade_service.failure(
                step.part.title, step.found, step.planned, exc, outcome, before)) from exc
        return written
