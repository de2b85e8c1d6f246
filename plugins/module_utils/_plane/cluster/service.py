# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Installing parts into a cluster and removing them: one plan, waves, one wait, webhooks asked."""
from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from typing import Any

from ..._common import confirmation
from ..._common.errors import RefusedError, ReportedError
from ..._common.field_checks import show
from ..._common.plain_text import few
from ..._common.problem import Problem
from ..._common.wait_loop import until_nothing
from ..._kube.diff import owned_tree
from ..._kube.discovery import resolve
from ..._kube.errors import KubeError
from ..._kube.finalizers import is_going
from ..._kube.patience import Patience
from ..._kube.plan import DELETE, Entry, deletion
from ..._kube.reconcile import Written, raise_refused
from ..._kube.report import counts, difference
from ..._kube.resources import KNOWN
from ..._manifests import documents
from ..._manifests.rollout_wait import RolloutWait
from ..._manifests.service import ManifestsService, ManifestsWrites
from ..._metal3.kinds import resource_for
from .. import fit, fit_service, upgrade
from ..catalogue import BY_NAME, PARTS, Part
from . import certificates, ironic, issuing, monitor, monitor_service, mounted_secrets, objects, upgrade_service
from .settings import problems as settings_problems

Object = dict[str, Any]

INTERVAL_SECONDS = 0.5
# How many objects a message names.
NAMED = 5
# Issuing takes a second; the rest is patience with a cert-manager that has just started.
CERTIFICATE_SECONDS = 120
_ISSUED = "Certificate"
# What runs or keeps data in a namespace; what it makes itself (Pods, ReplicaSets) has an owner. A Secret may be the
# operator's only copy.
_NEIGHBOURS = (("apps/v1", "Deployment"), ("apps/v1", "StatefulSet"), ("apps/v1", "DaemonSet"), ("batch/v1", "CronJob"),
               ("batch/v1", "Job"), ("v1", "Pod"), ("v1", "PersistentVolumeClaim"),
               ("v1", "Secret"), ("v1", "ConfigMap"))
# Kubernetes makes it in each namespace.
_ROOT_CERTIFICATES = "kube-root-ca.crt"
_TOKEN = "kubernetes.io/service-account-token"


class ComponentsError(ReportedError):
    """Parts were not installed or removed in time; the message says which, and why."""


class ComponentsWrites(ManifestsWrites):
    """The writes of one run over parts, which deletes only what this collection has applied."""

    def problems_again(self, entry: Entry, stored: Object | None) -> list[Any]:
        """Return why an object that others changed meanwhile must not be deleted."""
        return _of_others([deletion(entry.resource, stored)]) if entry.action == DELETE and stored else []


class Components(ManifestsService):
    """One run over parts of the plane, in one cluster.

    :param client: a KubeClient
    :param params: the parameters of the module ``plane_components``
    :param shipped: part's name → its objects as they are shipped and its version, see ``sources.read``
    :param check_mode: let the API server try writes without storing them
    :param progress: a Progress
    :param sleep: callable that waits a number of seconds
    :param clock: monotonic clock, in seconds
    """

    def __init__(self, client: Any, params: Object, shipped: dict[str, tuple[list[Object], str]], check_mode: bool,
                 progress: Any, sleep: Callable[[float], Any] = time.sleep,
                 clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(client, [], "default", check_mode, progress, sleep, clock)
        self.params, self.shipped = params, shipped
        # A removal has no such option.
        self.seconds_left = params["wait_timeout_seconds"] if params.get("wait") else 0
        self.steps: list[upgrade.Step] = []
        # Title of an object → name of its part.
        self.part_of: dict[str, str] = {}
        # (namespace, name) of the Secrets of the parts themselves and of their Certificates, in a removal.
        self.own_secrets: set[tuple[str | None, str | None]] = set()
        self.parts = [part for part in (*PARTS, ironic.PART) if part.name in shipped]

    def writes_of(self, client: Any, check_mode: bool, progress: Any,
                  sleep: Callable[[float], Any]) -> ManifestsWrites:
        """Return the writes of the run."""
        return ComponentsWrites(client, check_mode, progress, sleep, self._resource_of)

    def present(self) -> Object:
        """Write what differs, wait until all parts work, and return the result.

        :raises RefusedError: with all that does not fit, before anything is written
        :raises ReportedError: when a part does not come up
        :raises KubeError: when the API server can't be asked or refuses
        """
        self._refuse(settings_problems(item) for item in self.params["parts"])
        fits = self._fits()
        self._confirm(fits)
        self.sources = self._desired() + [objects.kept_with_namespace(obj) for obj in self.params["objects"]]
        result = self.write()
        for item in result["diff"]:
            # Definitions have thousands of lines.
            if not item["before_header"] and item["after_header"].startswith(objects.DEFINITION):
                item["after"] = "(new definition)\n"
        result["versions"] = dict((name, version) for name, (_objects, version) in self.shipped.items())
        result.update(fits)
        if self.params["wait"] and not self.check_mode:
            deadline = self.clock() + self.seconds_left
            result["seconds"] = self.wait(self.seconds_left)
            result["seconds"] += self._ask_webhooks(deadline, self.parts)
            result["seconds"] += sum(self._ask_for_certificate(deadline, settings.get("namespace") or part.namespace)
                                     for part, settings in self._chosen() if part.name == "cert_manager")
        self._unmonitor(result)
        return result

    def waves(self, items: list[Object]) -> list[list[Object]]:
        """Return objects in lists that are written one after the other; see ``objects.waves``."""
        return objects.waves(items)

    def after_wave(self, entries: list[Entry]) -> None:
        """Wait for certificates: a pod that misses its Secret is tried again only after longer and longer pauses."""
        issued = [entry for entry in entries if entry.resource.kind == _ISSUED]
        if issued:
            RolloutWait(self.client, issued, self.progress, sleep=self.sleep).until(CERTIFICATE_SECONDS)

    def _ask_for_certificate(self, deadline: float, namespace: str) -> float:
        return issuing.ask(self.client, self.writes.persist, namespace, max(deadline - self.clock(), INTERVAL_SECONDS),
                           self.progress, self.clock, self.sleep)

    def _refuse(self, lists: Any) -> None:
        found = [problem for items in lists for problem in items]
        if found:
            raise RefusedError(found)

    def _desired(self) -> list[Object]:
        """Return the objects of all parts."""
        result = []
        for part, settings in self._chosen():
            shipped, version = self.shipped[part.name]
            items = objects.desired(part, shipped, settings, version)
            if settings.get("monitor"):
                items = monitor.added(part, settings, items)
            self._mark_secrets(part, settings, items)
            if self.params["certificates"] == "collection":
                asked = objects.certificates(items)
                items = objects.without_cert_manager(items, dict(
                    ((item["metadata"]["namespace"], item["metadata"]["name"]), certificates.secret(
                        item, self.client.get(KNOWN["Secret"], item["metadata"]["namespace"],
                                              item["spec"]["secretName"]))) for item in asked))
            self.part_of.update((documents.title(item), part.name) for item in items)
            result += items
        return result

    def _mark_secrets(self, part: Part, settings: Object, items: list[Object]) -> None:
        """Have the manager started again when a Secret that it mounts has changed."""
        namespace = settings.get("namespace") or part.namespace
        found = [self.client.get(KNOWN["Secret"], namespace, mount["secret"])
                 for mount in settings.get("secret_mounts") or []]
        for item in items:
            if item["kind"] == "Deployment" and item["metadata"]["name"] == next(iter(part.images)):
                mounted_secrets.mark(item, [secret for secret in found if secret])

    def _chosen(self) -> list[tuple[Part, Object]]:
        """Return parts and their settings, in the catalogue's order."""
        settings = dict((item["name"], item) for item in self.params["parts"])
        return [(part, settings[part.name]) for part in self.parts]

    def _unmonitor(self, result: Object) -> None:
        """Delete what was written for parts that are not to be monitored any more, and add it to the result."""
        for entry in [entry for part, settings in self._chosen() if not settings.get("monitor")
                      for entry in monitor_service.written(self.client, part, settings)]:
            for item in self._deleted([entry]):
                result["objects"].append({"object": item.entry.title, "action": item.action})
                result["diff"] += [difference(item.entry)] if item.changed else []
                result["changed"] = result["changed"] or item.changed
        result["counts"] = counts(dict(item, error="") for item in result["objects"])

    def _listed(self, api_version: str, kind: str, selector: str | None = None,
                namespace: str | None = None) -> list[Object]:
        """Return the objects of a kind in a namespace, or in all of them; none of one that is not served."""
        try:
            resource = resource_for(api_version, kind)
        except KeyError:
            resource = resolve(self.client, [{"apiVersion": api_version, "kind": kind}], self.writes.persist)[
                api_version, kind]
        if resource is None:
            return []
        try:
            return self.client.list(resource, namespace, selector)[0]
        except KubeError as exc:
            if exc.status == 404:
                return []
            raise

    # What is refused before anything is written

    def _fits(self) -> Object:
        """Return the matrix of versions, and warnings.

        :raises RefusedError: with all that does not fit with what is there
        """
        there, warnings = fit_service.read(self.client)
        planned = dict((name, fit.Planned(version, items)) for name, (items, version) in self.shipped.items())
        self.steps = upgrade.steps(there, planned)
        managed = self._managed_by_plane()
        result = fit_service.verified(
            there, planned, [part.name for part in self.parts], warnings,
            self._other_installations(there) + self._needs(there) + monitor_service.problems(
                self.client, self.writes.persist, self._chosen(), self.shipped, self.params["certificates"])
            + upgrade.problems(self.steps, managed))
        result["upgrades"] = upgrade.described(self.steps, upgrade.interrupted(self.steps, managed.deployments))
        return result

    def _managed_by_plane(self) -> upgrade.Managed:
        """Return what the gates of an upgrade ask for; nothing when there is no upgrade."""
        names = set(step.part.name for step in self.steps)
        machines = BY_NAME["capm3"].managed[1]
        return upgrade.Managed(
            self._listed(*BY_NAME["bmo"].managed[0]) if names & {"bmo", "capm3"} else [],
            self._listed(*machines) if "capm3" in names else [],
            self.client.list(KNOWN["Deployment"])[0] if names else [])

    def _confirm(self, fits: Object) -> None:
        """Ask for the confirmation of an upgrade that interrupts; in check mode warn that it would be asked for.

        :raises ReportedError: without it
        """
        names = [item["part"] for item in fits["upgrades"] if item["interrupts"]]
        fits["confirmation"] = ""
        if not names or confirmation.confirmed(self.params["confirm"], names):
            return
        request = confirmation.request(
            "upgrades %s: until each is up again, nothing is done for what it manages, and the definitions of another "
            "minor cannot go back once objects are stored by them", names, self.params["confirm"], "part")
        if not self.check_mode:
            raise ReportedError(request)
        fits["confirmation"] = request
        fits["warnings"] += confirmation.asked_later([request])

    def _other_installations(self, there: fit.Plane) -> list[Problem]:
        """Return problems with parts that are in another namespace, or newer."""
        found = []
        for part, settings in self._chosen():
            namespace = settings.get("namespace") or part.namespace
            entry, version = there.parts.get(part.name), self.shipped[part.name][1]
            if entry is None:
                continue
            if entry.namespace not in (None, namespace):
                found.append(Problem("part-installed-elsewhere", f"part {part.name}", "namespace",
                                     show(entry.namespace), namespace,
                                     f"set namespace={entry.namespace}, or remove that one first"))
            elif fit.number(entry.version) > fit.number(version):
                found.append(Problem("part-newer", f"part {part.name}", "version", show(entry.version),
                                     f"{version} or older",
                                     "name manifests of that version: definitions cannot go back"))
        return found

    def _needs(self, there: fit.Plane) -> list[Problem]:
        """Return problems with parts that others need and that are neither in this run nor there."""
        found = []
        for part in self.parts:
            needs = part.needs
            if self.params["certificates"] == "cert_manager" and part.name != "cert_manager":
                needs = ("cert_manager",) + needs
            for name in needs:
                group = BY_NAME[name].probe["apiVersion"].partition("/")[0]
                if name not in self.shipped and not any(item.endswith("." + group) for item in there.definitions):
                    found.append(Problem("part-needs", f"part {part.name}", None, f"no {BY_NAME[name].title}",
                                         f"{BY_NAME[name].title} in the cluster", f"add the part {name}"))
        # Its webhook must answer before a Certificate can be tried.
        if "cert_manager" in self.shipped and len(self.shipped) > 1 and not self.check_mode:
            found.append(Problem("part-alone", "part cert_manager", None, "other parts in the same run",
                                 "this part alone", "install it first"))
        return found

    # Upgrades

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
        found = [] if self.check_mode else upgrade.problems([step], self._managed_by_plane())
        if found:
            stay = f"\nUpgraded before, and kept: {', '.join(before)}." if before else ""
            raise ComponentsError(f"{step.part.title} stays {step.found}, since something has changed meanwhile:\n"
                                  + "\n".join(f"- {problem}" for problem in found) + stay)

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
            self._ask_webhooks(deadline, [step.part])
        except ReportedError as exc:
            self.progress.event(f"rolling {step.part.title} back to {step.found}")
            outcome: Any
            try:
                outcome = upgrade_service.roll_back(
                    self.client, self.writes, due, self.progress, seconds, self.sleep)
                self._ask_webhooks(self.clock() + seconds, [step.part])
            except ReportedError as again:
                outcome = again
            raise ComponentsError(upgrade_service.failure(
                step.part.title, step.found, step.planned, exc, outcome, before)) from exc
        return written

    # Webhooks

    def _ask_webhooks(self, deadline: float, parts: list[Part]) -> float:
        """Create each part's probe by a dry run until its webhook answers; return the seconds that it took.

        :raises ComponentsError: naming each part whose webhook does not
        """
        began_at, patience = self.clock(), Patience(self.clock)
        waiting = dict((part.name, "not asked") for part in parts)
        resources = resolve(self.client, [part.probe for part in parts], self.writes.persist)

        def ask() -> dict[str, str]:
            for name in list(waiting):
                probe = BY_NAME[name].probe
                resource = resources[probe["apiVersion"], probe["kind"]]
                try:
                    if resource is None:
                        raise KubeError(f"{probe['kind']} is not served", 404)
                    self.client.create(resource, probe["metadata"]["namespace"], probe, dry_run=True)
                    patience.answered()
                    self.progress.event(f"{BY_NAME[name].title}: its webhook answers")
                    del waiting[name]
                except KubeError as exc:
                    if patience.is_final(exc):
                        raise
                    waiting[name] = exc.cause
            return waiting

        if until_nothing(ask, deadline - began_at, INTERVAL_SECONDS, self.clock, self.sleep):
            lines = "\n".join(f"- {BY_NAME[name].title}: {text}" for name, text in waiting.items())
            raise ComponentsError(f"webhooks do not answer:\n{lines}")
        return round(self.clock() - began_at, 1)

    # Removal

    def absent(self) -> Object:
        """Remove parts, the last first, and return the result.

        :raises RefusedError: while something is managed, and without the confirmation
        :raises ReportedError: when a namespace does not go
        :raises KubeError: when the API server can't be asked or refuses
        """
        keep = self.params["definitions"] == "keep"
        # As they would be applied, so that a namespace of the user's choice is found; Secrets go with theirs.
        items = dict((part.name, self._items(part, settings)) for part, settings in self._chosen())
        shipped = [item for listed in items.values() for item in listed]
        self.own_secrets = objects.secrets_of(shipped)
        there = [entry for entry in self._there(shipped)
                 if not objects.is_issued_by_cert_manager(entry.current or {})]
        kept = [entry for entry in there if keep and entry.resource.kind == objects.DEFINITION]
        going = [entry for entry in there if entry not in kept]
        self._refuse([self._managed(keep, there), _of_others(going), self._neighbours(going)])
        titles = set(entry.title for entry in going)
        names = [name for name, listed in items.items() if titles & set(documents.title(item) for item in listed)]
        if going and not self.check_mode and not confirmation.confirmed(self.params["confirm"], names):
            raise ReportedError(confirmation.request(
                "removes %s from the cluster", names, self.params["confirm"], "part"))
        written = self._delete(going, lambda: self._managed(keep, there))
        return {"changed": any(item.changed for item in written),
                "objects": [{"object": item.entry.title, "action": item.action} for item in written],
                "counts": counts({"action": item.action, "error": ""} for item in written),
                "diff": [difference(item.entry) for item in written if item.changed]}

    def _items(self, part: Part, settings: Object) -> list[Object]:
        """Return a part's objects, whose contents do not matter for a removal."""
        if part.name == ironic.PART.name:
            return ironic.removable(self.shipped[part.name][0], settings.get("namespace") or part.namespace)
        return objects.desired(part, self.shipped[part.name][0], settings, self.shipped[part.name][1]) + [
            entry.current for entry in monitor_service.written(self.client, part, settings) if entry.current]

    def _there(self, items: list[Object]) -> list[Entry]:
        """Return the deletions of objects that are there."""
        self.resources = resolve(self.client, items, self.writes.persist)
        served = [item for item in items if self.resources[item["apiVersion"], item["kind"]] is not None]
        entries = self.writes.look(served)
        return [deletion(entry.resource, entry.current) for entry in entries if entry.current is not None]

    def _managed(self, keep: bool, there: list[Entry]) -> list[Problem]:
        """Return problems with objects that nobody would look after, or that would be lost with their definition."""
        kinds = [(part, *kind) for part in self.parts for kind in part.managed]
        if not keep:
            kinds += [(part, f"{spec['group']}/{version['name']}", spec["names"]["kind"])
                      for part in self.parts for definition in self.shipped[part.name][0]
                      if definition["kind"] == objects.DEFINITION
                      for spec in [definition["spec"]] for version in spec["versions"] if version["storage"]]
        ours = set((entry.resource.kind, entry.namespace, entry.name) for entry in there)
        found, seen = [], set()
        for part, api_version, kind in kinds:
            key = api_version.partition("/")[0], kind
            if key in seen or kind == "Provider":
                continue
            seen.add(key)
            left = [item for item in self._listed(api_version, kind)
                    if (kind, item["metadata"].get("namespace"), item["metadata"]["name"]) not in ours
                    and not _goes_with(item, ours)]
            if left:
                names = ["/".join(filter(None, (item["metadata"].get("namespace"), item["metadata"]["name"])))
                         for item in left]
                found.append(Problem(
                    "part-in-use", f"part {part.name}", kind, f"{len(left)} ({few(sorted(names), NAMED)})", "none",
                    "delete them, or move them to another plane"))
        return found

    def _neighbours(self, going: list[Entry]) -> list[Problem]:
        """Return problems with what runs in a namespace beside the parts, and would go with it.

        Not with what is being deleted already, such as the claim of a volume, which goes after the pod that uses it.
        """
        ours = set((entry.resource.kind, entry.namespace, entry.name) for entry in going)
        spaces = sorted(entry.name for entry in going if entry.resource.kind == "Namespace")
        return [Problem("part-neighbour", f"Namespace {space}", None, f"{kind} {item['metadata']['name']}",
                        "nothing but the parts that are removed", "move it to another namespace, or delete it")
                for (api_version, kind), space in itertools.product(_NEIGHBOURS, spaces)
                for item in self._listed(api_version, kind, namespace=space)
                if not item["metadata"].get("ownerReferences") and not is_going(item)
                and (kind, space, item["metadata"]["name"]) not in ours
                and not _comes_with_namespace(kind, item, self.own_secrets)]

    def _delete(self, going: list[Entry], managed: Callable[[], list[Problem]]) -> list[Written]:
        """Delete in the reverse order of installing; namespaces, which take all that is left with them, at the end.

        :param managed: asked once more before what takes others along: objects of a definition, or of a namespace
        """
        last = [entry for entry in going if entry.resource.kind == "Namespace"]
        by_title = dict((entry.title, entry) for entry in going if entry not in last)
        done: list[Written] = []
        for wave in reversed(objects.waves([entry.current for entry in by_title.values() if entry.current])):
            due = [by_title[documents.title(obj)] for obj in wave]
            if any(entry.resource.kind == objects.DEFINITION for entry in due):
                self._refuse([managed()])
            self.progress.event(f"deleting {len(due)} objects: {few([entry.title for entry in due], NAMED)}")
            done += self._deleted(due)
            self._until_gone([entry for entry in due if entry.resource.kind == objects.DEFINITION])
        self._refuse([self._neighbours(going)])
        done += self._deleted(last)
        self._until_gone(last)
        return done

    def _deleted(self, due: list[Entry]) -> list[Written]:
        written = self.writes.write(due)
        raise_refused(self.client, written)
        return written

    def _until_gone(self, entries: list[Entry]) -> None:
        """Wait until objects are gone.

        :raises ComponentsError: naming each that is left, and what it says of itself
        """
        if not entries or self.check_mode:
            return
        resource, names = entries[0].resource, set(entry.name for entry in entries)

        def ask() -> list[Object]:
            return [item for item in self.client.list(resource, None)[0] if item["metadata"]["name"] in names]

        left = until_nothing(ask, self.params["wait_timeout_seconds"], INTERVAL_SECONDS, self.clock, self.sleep)
        if left:
            lines = "\n".join(f"- {resource.kind} {item['metadata']['name']}: {_reasons(item)}" for item in left)
            raise ComponentsError(f"not gone in time:\n{lines}")


def _goes_with(obj: Object, ours: set[tuple[str, str | None, str]]) -> bool:
    """Say whether an object's owner is among those that are removed, as a Certificate is a CertificateRequest's."""
    return any((owner.get("kind"), obj["metadata"].get("namespace"), owner.get("name")) in ours
               for owner in obj["metadata"].get("ownerReferences") or [])


def _comes_with_namespace(kind: str, obj: Object, own_secrets: set[tuple[str | None, str | None]]) -> bool:
    """Say whether a Secret or ConfigMap is of Kubernetes or the parts, so that it may go, too.

    :param own_secrets: of the parts' Certificates; what is issued for another one may be the only copy of a key, such
        as that of a site's authority
    """
    metadata, (label, value) = obj["metadata"], objects.OWNER_LABEL
    labels, annotations = metadata.get("labels") or {}, metadata.get("annotations") or {}
    return kind in ("Secret", "ConfigMap") and (
        # Not by its field manager alone: whatever a user applies by this collection has that, as a site's authority.
        labels.get(label) == value or obj.get("type") == _TOKEN
        or (kind == "ConfigMap" and metadata["name"] == _ROOT_CERTIFICATES)
        or (metadata["name"] == objects.WEBHOOK_AUTHORITY and objects.INJECTABLE in annotations)
        or ((metadata.get("namespace"), metadata["name"]) in own_secrets
            and (objects.is_issued_by_cert_manager(obj) or bool(owned_tree(obj)))))


def _of_others(going: list[Entry]) -> list[Problem]:
    """Return problems with objects that this collection has not applied."""
    label, value = objects.OWNER_LABEL
    found = [(entry, ((entry.current or {})["metadata"].get("labels") or {}).get(label)) for entry in going]
    return [Problem("part-of-others", entry.title, f"metadata.labels.{label}", owner, value,
                    "remove the part by what has installed it") for entry, owner in found if owner != value]


def _reasons(obj: Object) -> str:
    entries = [entry for entry in (obj.get("status") or {}).get("conditions") or [] if entry.get("status") == "True"]
    return "; ".join(entry.get("message") or entry["type"] for entry in entries) or "no reason given"
