# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Claims for addresses on an API server: read once, check all, write what differs, wait for answers."""
from __future__ import annotations

import time
from typing import Any, Callable

from .._common.documents import object_shape
from .._common.problems.errors import RefusedError
from .._common.problems.problem import Problem
from .._common.waiting.wait_loop import WaitLoop
from .._common.waiting.wait_report import REACHED, Awaited
from .._kube.api.follow import follow_kinds
from .._kube.objects.finalizers import is_going
from .._kube.reconcile.plan import DELETE, Entry, absent, deletion
from .._kube.reconcile.reconcile import Reconcile, Written
from .._kube.reconcile.report import counts, difference
from .._kube.responses.errors import KubeError
from .._metal3.kinds import KNOWN, resource_for
from . import claim as ipam_claim
from . import goals
from . import pool as ipam_pool
from . import validation as ipam_validation
from .options import is_present
from .reading import CLAIM_RESOURCES, POOL, Addresses

# How long a refused claim that is deleted may take to go when nothing is said of waiting.
_RENEWAL_SECONDS = 60


class ClaimWrites(Reconcile):
    """Writes of claims.

    :param service: the ClaimService
    :param check: callable that takes a claim that others changed meanwhile, and returns why it must not be deleted
    """

    def __init__(self, client: Any, check_mode: bool, progress: Any, sleep: Callable[[float], Any],
                 check: Callable[..., Any]):
        super().__init__(client, check_mode, progress, sleep, resource_for)
        self._check = check
        # Claims that are there in check mode only, (kind, name): what would be created again cannot be tried.
        self.renewed = frozenset()

    def can_try(self, entry: Entry) -> bool:
        """Say whether the claim's name is free."""
        return entry.action == DELETE or (entry.resource.kind, entry.name) not in self.renewed

    def read_again(self, entry: Entry) -> dict[str, Any] | None:
        """Return the claim in its shape."""
        stored = super().read_again(entry)
        return stored and dict(object_shape.shaped(stored, object_shape.CLAIM), kind=entry.resource.kind)

    def problems_again(self, entry: Entry, stored: dict[str, Any] | None) -> list[Any]:
        """Return what keeps the claim from being written, or deleted."""
        if entry.action == DELETE:
            return self._check(stored)
        return ipam_claim.change_problems(entry.desired, stored, entry.namespace or "")


class ClaimService:
    """One run of ``ip_claim``.

    :param client: a KubeClient
    :param params: the module's parameters
    :param check_mode: let the API server check writes without storing them
    :param progress: a Progress
    :param clock: monotonic clock, in seconds
    :param sleep: callable that waits a number of seconds
    """

    def __init__(self, client: Any, params: dict[str, Any], check_mode: bool, progress: Any,
                 clock: Callable[[], float] = time.monotonic, sleep: Callable[[float], Any] = time.sleep):
        self.client = client
        self.namespace = params["namespace"]
        self.claims = params["claims"]
        self.renew = params["renew_refused"]
        self.forced = frozenset(params.get("force_claims") or ())
        self.wait_timeout_seconds = params["wait_timeout_seconds"]
        self.check_mode = check_mode
        self.progress = progress
        self.clock = clock
        self.sleep = sleep

    def run(self) -> dict[str, Any]:
        """Do it all and return the module's result.

        :raises RefusedError: when the list has mistakes
        :raises KubeError: when the API server can't be asked
        """
        known = Addresses(self.client, self.namespace)
        current = dict(((claim["kind"], claim["metadata"]["name"]), claim) for claim in known.claims)
        written, results = self._write(known, current)
        if not self.check_mode and self.wait_timeout_seconds:
            self._wait([result for result in results if not result["error"]])
        return {"changed": any(item.changed for item in written), "claims": results, "counts": counts(results),
                "diff": [difference(item.entry) for item in written if item.changed]}

    def _writes(self, check: Callable[..., Any]) -> ClaimWrites:
        return ClaimWrites(self.client, self.check_mode, self.progress, self.sleep, check)

    def _write(self, known: Addresses, current: Any) -> tuple[list[Written], list[dict[str, Any]]]:
        described = dict((name, ipam_pool.describe(pool)) for name, pool in known.pools.items())
        usages = dict((name, known.usage(name)) for name in known.pools)
        found = ipam_claim.claim_problems(self.claims, described, usages, self.namespace)
        items = [ipam_claim.render(claim, self.namespace) for claim in self.claims if is_present(claim)]
        doomed = [key for claim, key in zip(self.claims, self._keys()) if not is_present(claim)]
        for key in doomed:
            found += self._owner_problems(current[key]) if key in current else []
        for item in items:
            found += self._problems_with(item, current.get(_of(item)), known)
        if found:
            raise RefusedError(found)
        removed = self._remove_refused(items, current)
        kept = dict((key, claim) for key, claim in current.items()
                    if not any(item.error is None and key == _key(item.entry) for item in removed))
        failed = dict((_key(item.entry), item) for item in removed if item.error is not None)
        writes = self._writes(self._owner_problems)
        writes.renewed = frozenset(_key(item.entry) for item in removed)
        entries = writes.look([item for item in items if _of(item) not in failed], dict(
            ((resource, self.namespace), dict((name, claim) for (kind, name), claim in kept.items()
                                              if kind == resource.kind)) for resource in CLAIM_RESOURCES.values()))
        entries += [deletion(CLAIM_RESOURCES[key[0]], current[key]) if key in current
                    else absent(CLAIM_RESOURCES[key[0]], self.namespace, key[1]) for key in doomed]
        written = dict((_key(item.entry), item) for item in writes.write(entries))
        written.update(failed)
        results = []
        for key in self._keys():
            result = _claim_result(written[key], known if key not in doomed else None)
            if key in writes.renewed and not result["error"]:
                result["action"] = "renewed"
            results.append(result)
        return [item for item in removed if item.error is None] + list(written.values()), results

    def _problems_with(self, item: dict[str, Any], current: dict[str, Any] | None, known: Addresses) -> list[Problem]:
        """Return why a claim must not be written."""
        if self.renew and goals.refused(current) is not None:
            # It is deleted first, and may be already by a run that was interrupted.
            current = None
        found = ipam_claim.change_problems(item, current, self.namespace)
        if found or goals.answer(current):
            return found
        return ipam_validation.deletion_problems(f"{item['kind']} {self.namespace}/{item['metadata']['name']}", "pool",
                                                 known.pools.get(ipam_claim.pool_of(item) or ""))

    def _remove_refused(self, items: list[dict[str, Any]], current: Any) -> list[Written]:
        """Delete the claims that IPAM has refused: it does not look at them again.

        :returns: each of them, with an error when it is not gone in the end
        """
        refused = [current[_of(item)] for item in items
                   if self.renew and goals.refused(current.get(_of(item))) is not None]
        removed = self._writes(_renewal_problems).write([
            deletion(CLAIM_RESOURCES[claim["kind"]], claim) for claim in refused])
        due = [item.entry for item in removed if item.error is None]
        left = self._until_gone(due) if due and not self.check_mode else {}
        # Until it is gone its name is taken, and what is found under it is the refused claim.
        return [item if _key(item.entry) not in left else item._replace(
            error=KubeError(f"{item.entry.title}: {left[_key(item.entry)]}"), begun=item.changed) for item in removed]

    def _owner_problems(self, claim: dict[str, Any]) -> list[Problem]:
        """Whoever owns a claim uses its address, which would be free for another server."""
        metadata = claim["metadata"]
        owners = [f"{owner.get('kind')} {owner.get('name')}" for owner in metadata.get("ownerReferences") or []]
        if not owners or is_going(claim) or metadata["name"] in self.forced:
            return []
        return [Problem("owned-by-others", f"{claim['kind']} {self.namespace}/{metadata['name']}", "state", "absent",
                        f"no owner (it belongs to {', '.join(owners)})",
                        "delete the owner instead, or name the claim in force_claims")]

    def _until_gone(self, entries: list[Entry]) -> dict[tuple[str, str], str]:
        """Wait for claims that were deleted, and return of those that are still there why, ``{(kind, name): text}``."""
        timeout_seconds = self.wait_timeout_seconds or _RENEWAL_SECONDS
        now = self.clock()
        items = dict((_key(entry), Awaited("gone", now, goals.gone, "look at the controllers that its finalizers name, "
                                           "and run again when it is gone")) for entry in entries)
        silence = self._follow(items, timeout_seconds)
        now = self.clock()
        errors = dict((key, item.error(timeout_seconds, now, silence)) for key, item in items.items())
        return dict((key, error) for key, error in errors.items() if error)

    def _follow(self, items: dict[tuple[str, str], Awaited], timeout_seconds: float) -> str:
        """Wait for claims, ``{(kind, name): Awaited}``, and return why nothing newer is known, empty when it is."""
        resources = [CLAIM_RESOURCES[kind] for kind in sorted(set(kind for kind, dummy in items))]
        loop = WaitLoop(f"API server {self.client.server}", self.progress, self.clock)
        shown = dict((f"{kind} {name}", item) for (kind, name), item in items.items())
        keys = dict((f"{kind} {name}", (kind, name)) for kind, name in items)
        loop.run(shown, follow_kinds(self.client, resources, self.namespace, self.clock() + timeout_seconds,
                                     clock=self.clock),
                 lambda objects, label: object_shape.shaped(
                     objects[keys[label][0]].get(keys[label][1]), object_shape.CLAIM))
        return loop.silence()

    def _keys(self) -> list[tuple[str, str]]:
        return [(claim.get("kind") or "IPClaim", claim["name"]) for claim in self.claims]

    def _wait(self, results: list[dict[str, Any]]) -> None:
        now = self.clock()
        kept = frozenset(key for claim, key in zip(self.claims, self._keys()) if is_present(claim))
        items = {key: Awaited("answered", now, goals.answered) if key in kept else Awaited("gone", now, goals.gone)
                 for key in ((result["kind"], result["name"]) for result in results)}
        silence = self._follow(items, self.wait_timeout_seconds)
        now = self.clock()
        for result in results:
            item = items[result["kind"], result["name"]]
            if item.waiting and (result["kind"], result["name"]) in kept and not silence:
                item.advice = self._advice(result["name"])
            error = item.error(self.wait_timeout_seconds, now, silence)
            if error:
                result["error"] = f"{result['kind']} {self.namespace}/{result['name']}: {error}"
        if kept:
            known = Addresses(self.client, self.namespace)
            for result in results:
                if (result["kind"], result["name"]) not in kept:
                    continue
                # A claim that was answered may have been deleted while others were waited for.
                verdict = goals.answered(known.claim(result["kind"], result["name"]))
                if not result["error"] and verdict.outcome != REACHED:
                    result["error"] = f"{result['kind']} {self.namespace}/{result['name']}: {verdict.text}"
                result["address"] = known.address_of(result["kind"], result["name"])

    def _advice(self, name: str) -> str:
        """Say what a claim that IPAM does not answer may wait for."""
        pool = next((claim["pool"] for claim in self.claims if claim["name"] == name and claim.get("pool")), None)
        stored = self.client.get(POOL, self.namespace, pool) if pool else None
        cluster = ((stored or {}).get("spec") or {}).get("clusterName")
        if cluster and self.client.get(KNOWN["Cluster"], self.namespace, cluster) is None:
            return (f"pool {pool} is of cluster {cluster}, which does not exist: IPAM hands out nothing until it does, "
                    "and looks at the pool again when the pool or a claim of it changes")
        return "look at the log of IPAM's controller"


def _key(entry: Entry) -> tuple[str, str]:
    return entry.resource.kind, entry.name


def _of(item: Any) -> tuple[str, str]:
    return item["kind"], item["metadata"]["name"]


def _renewal_problems(claim: dict[str, Any]) -> list[str]:
    return [] if goals.refused(claim) is not None else ["it is no longer refused; run again"]


def _claim_result(item: Written, known: Addresses | None) -> dict[str, Any]:
    kind, name = _key(item.entry)
    return {"kind": kind, "name": name, "action": item.action, "error": item.message,
            "address": known.address_of(kind, name) if known and item.error is None else None}
