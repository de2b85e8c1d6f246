# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""IP pools and claims on an API server: read once, check all, write what differs, wait for answers."""
from __future__ import annotations

import time
from typing import Any, Callable

from .._common import object_shape
from .._common.errors import RefusedError
from .._common.field_checks import shown
from .._common.plain_text import few
from .._common.problem import Problem
from .._common.wait_loop import WaitLoop
from .._common.wait_report import FAILED, REACHED, WAITING, Awaited, Verdict
from .._kube import bulk
from .._kube.errors import KubeError
from .._kube.finalizers import deletion_of, is_going, staying_problem
from .._kube.follow import follow_kinds
from .._kube.plan import DELETE, UNCHANGED, Entry, by_name, deletion
from .._kube.reconcile import Reconcile, Written
from .._kube.report import counts, difference
from .._kube.resources import Resource
from .._metal3.kinds import CAPI_VERSION, KNOWN, resource_for
from . import claim as ipam_claim
from . import pool as ipam_pool
from . import validation as ipam_validation
from .usage import usage

POOL = KNOWN["IPPool"]
CLAIM_RESOURCES = {"IPClaim": KNOWN["IPClaim"], "IPAddressClaim": KNOWN["IPAddressClaim"]}
CAPI_ADDRESS = Resource("ipam.cluster.x-k8s.io", CAPI_VERSION, "ipaddresses", "IPAddress", True)
ADDRESS_RESOURCES = (KNOWN["IPAddress"], CAPI_ADDRESS)
_CRD = KNOWN["CustomResourceDefinition"]
_POOL_CRD = "ippools.ipam.metal3.io"

# How long a refused claim that is deleted may take to go when nothing is said of waiting.
_RENEWAL_SECONDS = 60
_GOING_HINT = ("do not use its address, which is free for others when the claim is gone; wait until then, and run "
               "again; if it stays, look at the controllers that its finalizers name")


class Addresses:
    """The pools, addresses and claims of a namespace, as listed at one time.

    :param client: a KubeClient
    :param namespace: namespace name
    :raises KubeError: when they can't be listed
    """

    def __init__(self, client: Any, namespace: str):
        resources = (POOL,) + ADDRESS_RESOURCES + tuple(CLAIM_RESOURCES.values())
        outcomes = bulk.run([lambda resource=resource: _listed(client, resource, namespace) for resource in resources])
        for outcome in outcomes:
            if outcome.error is not None:
                raise outcome.error
        shapes = (object_shape.POOL, object_shape.ADDRESS, object_shape.ADDRESS, object_shape.CLAIM, object_shape.CLAIM)
        pools, own, capi, claims, capi_claims = [
            [object_shape.shaped(item, shape) for item in outcome.value] for outcome, shape in zip(outcomes, shapes)]
        self.pools = by_name(pools)
        self.addresses = [item for item in own + capi if item["spec"].get("address")]
        self.claims = claims + capi_claims

    def claim(self, kind: str, name: str | None) -> dict[str, Any] | None:
        """Return one claim, or None."""
        return next((claim for claim in self.claims
                     if (claim["kind"], claim["metadata"]["name"]) == (kind, name)), None)

    def usage(self, name: str) -> dict[str, Any]:
        """Return who has which address of a pool (see ``ipam_usage.usage``)."""
        return usage(self.pools[name], self.addresses, self.claims)


def _listed(client: Any, resource: Resource, namespace: str) -> list[dict[str, Any]]:
    try:
        return client.list(resource, namespace)[0]
    except KubeError as exc:
        # Cluster API's part of IPAM may be missing; IPAM's own must be there.
        if exc.status == 404 and resource.group != POOL.group:
            return []
        if exc.status == 404:
            raise KubeError(f"the API server {client.server} does not know {resource.kind}s; install IPAM first "
                            "(playbook metal3.baremetal.install)", 404) from exc
        raise


def read_usage(client: Any, namespace: str, names: list[str] | None = None,
               cluster_name: str | None = None) -> dict[str, Any]:
    """Return the result of ``ip_address_info``.

    :param names: pools to report on, None for all
    :param cluster_name: report only on pools of this cluster
    """
    known = Addresses(client, namespace)
    pools = [known.usage(name) for name in sorted(known.pools) if names is None or name in names]
    if cluster_name:
        pools = [pool for pool in pools if pool["cluster_name"] == cluster_name]
    return {"pools": pools, "missing": [name for name in names or [] if name not in known.pools],
            "leaked": [dict(leak, pool=pool["name"]) for pool in pools for leak in pool["leaked"]]}


class PoolWrites(Reconcile):
    """Writes of pools; what becomes of addresses in use is checked again by what is read again.

    :param service: the PoolService
    """

    def __init__(self, client: Any, check_mode: bool, progress: Any, sleep: Callable[[float], Any],
                 service: PoolService):
        super().__init__(client, check_mode, progress, sleep, resource_for)
        self._service = service
        self._known = {}

    def read_again(self, entry: Entry) -> dict[str, Any] | None:
        """Return the pool; its addresses are read again as well."""
        known = self._known[entry.name] = Addresses(self.client, entry.namespace or self._service.namespace)
        return known.pools.get(entry.name)

    def problems_again(self, entry: Entry, stored: dict[str, Any] | None) -> list[Any]:
        """Return which addresses in use stand in the way."""
        return self._service.problems_with(entry.name, self._known[entry.name])


class PoolService:
    """One run of ``ip_pool``.

    :param client: a KubeClient
    :param params: the module's parameters
    :param check_mode: let the API server try writes without storing them
    :param progress: a Progress
    :param sleep: callable that waits a number of seconds
    """

    def __init__(self, client: Any, params: dict[str, Any], check_mode: bool, progress: Any,
                 sleep: Callable[[float], Any] = time.sleep):
        self.client = client
        self.namespace = params["namespace"]
        self.pools = params["pools"]
        self.present = [pool for pool in self.pools if _is_present(pool)]
        self.writes = PoolWrites(client, check_mode, progress, sleep, self)

    def run(self) -> dict[str, Any]:
        """Do it all and return the module's result.

        :raises RefusedError: when the list has mistakes
        :raises KubeError: when the API server can't be asked
        """
        known = Addresses(self.client, self.namespace)
        written = self.writes.write(self._entries(known))
        results = [_pool_result(item, known) for item in written]
        return {"changed": any(item.changed for item in written), "pools": results, "counts": counts(results),
                "diff": [difference(item.entry) for item in written if item.changed]}

    def _entries(self, known: Addresses) -> list[Entry]:
        names = set(pool.get("name") for pool in self.pools)
        others = [ipam_pool.describe(pool) for name, pool in sorted(known.pools.items()) if name not in names]
        found = ipam_validation.pool_problems(self.pools, self.namespace, others) + self._strategy()
        if not found:
            found = [line for pool in self.pools for line in self.problems_with(pool["name"], known)]
        if found:
            raise RefusedError(found)
        planned = dict((entry.name, entry) for entry in self.writes.plan(
            [ipam_pool.render(pool, self.namespace) for pool in self.present], {(POOL, self.namespace): known.pools}))
        return [planned.get(pool["name"]) or self._deletion(pool["name"], known) for pool in self.pools]

    def _deletion(self, name: str, known: Addresses) -> Entry:
        return deletion(POOL, known.pools[name]) if name in known.pools else _not_there(POOL, self.namespace, name)

    def problems_with(self, name: str, known: Addresses) -> list[Any]:
        """Return why a pool must not be written, or deleted, for the addresses that are in use."""
        pool = next(pool for pool in self.pools if pool["name"] == name)
        return self._change_problems(pool, known) if _is_present(pool) else self._use_problems(name, known)

    def _change_problems(self, pool: dict[str, Any], known: Addresses) -> list[Problem]:
        current = known.pools.get(pool["name"])
        if current is None:
            return []
        allocated = [entry["address"] for entry in known.usage(pool["name"])["allocations"]]
        return ipam_validation.change_problems(pool, ipam_pool.describe(current), self.namespace, allocated)

    def _strategy(self) -> list[Problem]:
        """IPAM 1.13 has no allocationStrategy and would drop the field without a word."""
        asking = [pool["name"] for pool in self.present if pool.get("allocation_strategy")]
        if not asking:
            return []
        crd = self.client.get(_CRD, None, _POOL_CRD)
        for version in ((crd or {}).get("spec") or {}).get("versions") or []:
            schema = version["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
            if version["name"] == POOL.version and "allocationStrategy" in schema:
                return []
        return [Problem("pool", f"IPPool {self.namespace}/{name}", "allocation_strategy", "a value",
                        "none, for the IPAM of this API server has no such field", "upgrade IPAM or leave it out")
                for name in asking]

    def _use_problems(self, name: str, known: Addresses) -> list[Problem]:
        used = known.usage(name)["allocations"] if name in known.pools else []
        return [Problem("ip-pool-in-use", f"IPPool {self.namespace}/{name}", "", "%d addresses in use (%s)" % (
            len(used), few([f"{entry['address']} by {entry['claim']}" for entry in used], 5)), "none",
            "delete the claims, or the cluster that has them, first")] if used else []


def _is_present(entry: dict[str, Any]) -> bool:
    return entry.get("state") != "absent"


def _not_there(resource: Resource, namespace: str, name: str) -> Entry:
    return Entry(resource, namespace, name, UNCHANGED, None, None, {}, {})


def _message(item: Any) -> str | None:
    return item.error.message if item.error is not None else ""


def _pool_result(item: Any, known: Addresses) -> dict[str, Any]:
    result = {"name": item.entry.name, "action": item.action, "error": _message(item)}
    stored = item.entry.desired and (item.value if item.error is None else item.entry.current or item.entry.desired)
    if stored:
        used = usage(object_shape.shaped(stored, object_shape.POOL), known.addresses, known.claims)
        result.update(total=used["total"], used=used["used"], free=used["free"])
    return result


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
        return _claim_change(entry.desired, stored, entry.namespace or "")


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
        items = [ipam_claim.render(claim, self.namespace) for claim in self.claims if _is_present(claim)]
        doomed = [key for claim, key in zip(self.claims, self._keys()) if not _is_present(claim)]
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
                    else _not_there(CLAIM_RESOURCES[key[0]], self.namespace, key[1]) for key in doomed]
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
        if self.renew and _refused(current) is not None:
            # It is deleted first, and may be already by a run that was interrupted.
            current = None
        found = _claim_change(item, current, self.namespace)
        if found or _answer(current):
            return found
        return ipam_validation.deletion_problems(f"{item['kind']} {self.namespace}/{item['metadata']['name']}", "pool",
                                                 known.pools.get(_pool_of(item) or ""))

    def _remove_refused(self, items: list[dict[str, Any]], current: Any) -> list[Written]:
        """Delete the claims that IPAM has refused: it does not look at them again.

        :returns: each of them, with an error when it is not gone in the end
        """
        refused = [current[_of(item)] for item in items if self.renew and _refused(current.get(_of(item))) is not None]
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
        items = dict((_key(entry), Awaited("gone", now, _gone, "look at the controllers that its finalizers name, and "
                                           "run again when it is gone")) for entry in entries)
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
        kept = frozenset(key for claim, key in zip(self.claims, self._keys()) if _is_present(claim))
        items = dict((key, Awaited("answered", now, _answered) if key in kept else Awaited("gone", now, _gone))
                     for key in ((result["kind"], result["name"]) for result in results))
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
                verdict = _answered(known.claim(result["kind"], result["name"]))
                if not result["error"] and verdict.outcome != REACHED:
                    result["error"] = f"{result['kind']} {self.namespace}/{result['name']}: {verdict.text}"
                result["address"] = _address_of(known, result["kind"], result["name"])

    def _advice(self, name: str) -> str:
        """Say what a claim that IPAM does not answer may wait for."""
        pool = next((claim["pool"] for claim in self.claims if claim["name"] == name and claim.get("pool")), None)
        stored = self.client.get(POOL, self.namespace, pool) if pool else None
        cluster = ((stored or {}).get("spec") or {}).get("clusterName")
        if cluster and self.client.get(KNOWN["Cluster"], self.namespace, cluster) is None:
            return (f"pool {pool} is of cluster {cluster}, which does not exist: IPAM hands out nothing until it does, "
                    "and looks at the pool again when the pool or a claim of it changes")
        return "look at the log of IPAM's controller"


def _gone(claim: dict[str, Any] | None) -> Verdict:
    """Return the Verdict on a claim that is to be gone."""
    if claim is None:
        return Verdict(REACHED, "", "")
    finalizers = claim["metadata"].get("finalizers") or []
    return Verdict(WAITING, f"it is held by {', '.join(finalizers)}" if finalizers else "it is still there", "")


def _answered(claim: dict[str, Any] | None) -> Verdict:
    """Return the Verdict on a claim that IPAM is to answer."""
    if deletion_of(claim):
        return Verdict(FAILED, f"it is {deletion_of(claim)}", _GOING_HINT)
    refused = _refused(claim)
    if refused:
        return Verdict(FAILED, refused, "correct the pool or the claim and set renew_refused")
    if _answer(claim):
        return Verdict(REACHED, "", "")
    if claim is None:
        return Verdict(WAITING, "it does not exist", "run again to create it")
    return Verdict(WAITING, "IPAM has not answered yet", "")


def _answer(claim: dict[str, Any] | None) -> str:
    """Return the name of the IPAddress that a claim has got, empty without one."""
    status = (claim or {}).get("status") or {}
    return (status.get("address") or status.get("addressRef") or {}).get("name") or ""


def _pool_of(claim: dict[str, Any]) -> str | None:
    return (claim["spec"].get("pool") or claim["spec"].get("poolRef") or {}).get("name")


def _claim_change(item: Any, current: dict[str, Any] | None, namespace: str) -> list[Problem]:
    """IPAM's webhook refuses another pool for a claim; another address is not looked at once there is one."""
    if current is None:
        return []
    subject = f"{item['kind']} {namespace}/{item['metadata']['name']}"
    # Before the plan, which comes after refused claims were deleted.
    found = staying_problem(subject, "", current)
    if found:
        return found
    pools = [_pool_of(obj) for obj in (item, current)]
    if pools[0] != pools[1]:
        found.append(Problem("ip-claim", subject, "pool", shown(pools[0]), f"{pools[1]}, for a claim keeps its pool",
                             "delete the claim first"))
    addresses = [(obj["metadata"].get("annotations") or {}).get(ipam_claim.ADDRESS_ANNOTATION)
                 for obj in (item, current)]
    status = current.get("status") or {}
    if (status.get("address") or status.get("addressRef")) and addresses[0] and addresses[0] != addresses[1]:
        found.append(Problem("ip-claim", subject, "address", shown(addresses[0]), "the address that the claim has",
                             "delete the claim first"))
    return found


def _refused(claim: dict[str, Any] | None) -> str | None:
    """Return why IPAM refused a claim, or None."""
    status = (claim or {}).get("status") or {}
    if _answer(claim):
        return None
    if status.get("errorMessage"):
        return status["errorMessage"]
    for condition in status.get("conditions") or []:
        if condition.get("type") == "Ready" and condition.get("status") == "False":
            return condition.get("message") or condition.get("reason")
    return None


def _key(entry: Entry) -> tuple[str, str]:
    return entry.resource.kind, entry.name


def _of(item: Any) -> tuple[str, str]:
    return item["kind"], item["metadata"]["name"]


def _renewal_problems(claim: dict[str, Any]) -> list[str]:
    return [] if _refused(claim) is not None else ["it is no longer refused; run again"]


def _claim_result(item: Written, known: Addresses | None) -> dict[str, Any]:
    kind, name = _key(item.entry)
    return {"kind": kind, "name": name, "action": item.action, "error": _message(item),
            "address": _address_of(known, kind, name) if known and item.error is None else None}


def _address_of(known: Addresses, kind: str, name: str) -> str | None:
    """Return the address that a claim has, None without one.

    An address that is given back is none: IPAM gives it to another claim as soon as this one is gone.
    """
    claim = known.claim(kind, name)
    answer = "" if deletion_of(claim) else _answer(claim)
    for item in known.addresses:
        spec = item["spec"]
        reference = spec.get("claim") if kind == "IPClaim" else spec.get("claimRef")
        if (item["metadata"]["name"], (reference or {}).get("name")) == (answer, name):
            return spec["address"]
    return None
