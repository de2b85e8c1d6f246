# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""IP pools and claims on an API server: read once, check all, write what differs, wait for answers."""
from __future__ import annotations

import time

from .._common import object_shape
from .._common.problem import problem
from .._kube import apply, bulk, checked
from .._kube.errors import KubeError
from .._kube.follow import follow
from .._kube.resources import CAPI_VERSION, KNOWN, Resource
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
_DONE = {"create": "created", "update": "updated", "none": "none"}


class RefusedError(Exception):
    """What was asked for was refused before anything was written.

    :param problems: list of lines
    """

    def __init__(self, problems):
        count = len(problems)
        super().__init__("%d %s:\n%s" % (count, "problem" if count == 1 else "problems",
                                         "\n".join("- " + line for line in problems)))
        self.problems = problems


class Addresses:
    """The pools, addresses and claims of a namespace, as listed at one time.

    :param client: a KubeClient
    :param namespace: namespace name
    :raises KubeError: when they can't be listed
    """

    def __init__(self, client, namespace):
        resources = (POOL,) + ADDRESS_RESOURCES + tuple(CLAIM_RESOURCES.values())
        outcomes = bulk.run([lambda resource=resource: _listed(client, resource, namespace) for resource in resources])
        for outcome in outcomes:
            if outcome.error is not None:
                raise outcome.error
        shapes = (object_shape.POOL, object_shape.ADDRESS, object_shape.ADDRESS, object_shape.CLAIM, object_shape.CLAIM)
        pools, own, capi, claims, capi_claims = [
            [object_shape.shaped(item, shape) for item in outcome.value] for outcome, shape in zip(outcomes, shapes)]
        self.pools = apply.by_name(pools)
        self.addresses = [item for item in own + capi if item["spec"].get("address")]
        self.claims = claims + capi_claims

    def usage(self, name):
        """Return who has which address of a pool (see ``ipam_usage.usage``)."""
        return usage(self.pools[name], self.addresses, self.claims)


def _listed(client, resource, namespace):
    try:
        return client.list(resource, namespace)[0]
    except KubeError as exc:
        # Cluster API's part of IPAM may be missing; IPAM's own must be there.
        if exc.status == 404 and resource.group != POOL.group:
            return []
        if exc.status == 404:
            raise KubeError("the API server %s does not know %ss; install IPAM first (playbook "
                            "metal3.baremetal.install)" % (client.server, resource.kind), 404) from exc
        raise


def read_usage(client, namespace, names=None, cluster_name=None):
    """Return the result of ``ip_address_info``.

    :param names: pools to tell of, None for all
    :param cluster_name: tell only of pools of this cluster
    """
    known = Addresses(client, namespace)
    pools = [known.usage(name) for name in sorted(known.pools) if names is None or name in names]
    if cluster_name:
        pools = [pool for pool in pools if pool["cluster_name"] == cluster_name]
    return {"pools": pools, "missing": [name for name in names or [] if name not in known.pools],
            "leaked": [dict(leak, pool=pool["name"]) for pool in pools for leak in pool["leaked"]]}


def _diff(entry):
    header = f"{entry.resource.kind} {entry.namespace}/{entry.name}"
    return {"before_header": header if entry.before else "", "after_header": header,
            "before": entry.before, "after": entry.after}


class PoolService:
    """One run of ``ip_pool``.

    :param client: a KubeClient
    :param params: the module's parameters
    :param check_mode: let the API server judge writes without storing them
    """

    def __init__(self, client, params, check_mode):
        self.client = client
        self.namespace = params["namespace"]
        self.pools = params["pools"]
        self.state = params["state"]
        self.check_mode = check_mode

    def run(self):
        """Do it all and return the module's result.

        :raises RefusedError: when the list has mistakes
        :raises KubeError: when the API server can't be asked
        """
        known = Addresses(self.client, self.namespace)
        results, diffs = self._delete(known) if self.state == "absent" else self._write(known)
        return {"changed": any(result["action"] != "none" and not result["error"] for result in results),
                "pools": results, "diff": diffs}

    def _write(self, known):
        names = set(pool.get("name") for pool in self.pools)
        others = [ipam_pool.describe(pool) for name, pool in sorted(known.pools.items()) if name not in names]
        found = ipam_validation.pool_problems(self.pools, self.namespace, others) + self._strategy()
        for pool in self.pools:
            if not found:
                found += self._change_problems(pool, known)
        if found:
            raise RefusedError(found)
        items = [ipam_pool.render(pool, self.namespace) for pool in self.pools]
        entries = apply.plan(self.client, items, {(POOL, self.namespace): known.pools})
        results, written = [], apply.execute(self.client, entries, self.check_mode, self._decide)
        for outcome in written:
            entry = outcome.task
            stored = outcome.value if outcome.error is None else entry.current or entry.desired
            results.append(_pool_result(entry.name, _DONE[entry.action], outcome,
                                        usage(object_shape.shaped(stored, object_shape.POOL), known.addresses,
                                              known.claims)))
        return results, [_diff(outcome.task) for outcome in written if outcome.task.action != "none"]

    def _change_problems(self, pool, known):
        current = known.pools.get(pool["name"])
        if current is None:
            return []
        allocated = [entry["address"] for entry in known.usage(pool["name"])["allocations"]]
        return ipam_validation.change_problems(pool, ipam_pool.describe(current), self.namespace, allocated)

    def _decide(self, entry):
        """Check a pool that has changed since it was read; the addresses in use are read anew as well."""
        known = Addresses(self.client, self.namespace)
        for pool in self.pools:
            if pool["name"] == entry.name:
                _refuse_now(self._change_problems(pool, known))
        return apply.plan(self.client, [entry.desired], {(POOL, self.namespace): known.pools})[0]

    def _strategy(self):
        """IPAM 1.13 has no allocationStrategy and would drop the field without a word."""
        asking = [pool["name"] for pool in self.pools if pool.get("allocation_strategy")]
        if not asking:
            return []
        crd = self.client.get(_CRD, None, _POOL_CRD)
        for version in ((crd or {}).get("spec") or {}).get("versions") or []:
            schema = version["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
            if version["name"] == POOL.version and "allocationStrategy" in schema:
                return []
        return [problem(f"IPPool {self.namespace}/{name}", "allocation_strategy", "a value",
                        "none, for the IPAM of this API server has no such field", "upgrade IPAM or leave it out")
                for name in asking]

    def _delete(self, known):
        found = []
        for pool in self.pools:
            found += self._use_problems(pool["name"], known)
        if found:
            raise RefusedError(found)
        tasks = [known.pools[pool["name"]] for pool in self.pools if pool["name"] in known.pools]
        outcomes = dict(zip((pool["metadata"]["name"] for pool in tasks), checked.write(
            tasks, self._send_deletion, self._decide_deletion)))
        results, diffs = [], []
        for pool in self.pools:
            outcome = outcomes.get(pool["name"], checked.Written(None, None, None))
            action = "deleted" if outcome.task is not None else "none"
            results.append(_pool_result(pool["name"], action, outcome, None))
            if action == "deleted":
                diffs.append({"before_header": f"IPPool {self.namespace}/{pool['name']}", "after_header": "",
                              "before": {"spec": outcome.task.get("spec")}, "after": {}})
        return results, diffs

    def _use_problems(self, name, known):
        used = known.usage(name)["allocations"] if name in known.pools else []
        return [problem(f"IPPool {self.namespace}/{name}", "", "%d addresses in use (%s)" % (
            len(used), ", ".join("%s by %s" % (entry["address"], entry["claim"]) for entry in used[:5])), "none",
            "delete the claims, or the cluster that has them, first")] if used else []

    def _send_deletion(self, pool):
        return self.client.delete(POOL, self.namespace, pool["metadata"]["name"], dry_run=self.check_mode,
                                  checked=pool)

    def _decide_deletion(self, pool):
        name, known = pool["metadata"]["name"], Addresses(self.client, self.namespace)
        _refuse_now(self._use_problems(name, known))
        return known.pools.get(name) or checked.Settled(None, pool)


def _refuse_now(problems):
    """Refuse a write that was allowed by what was read first."""
    if problems:
        raise KubeError("changed by somebody else during this run: %s" % "; ".join(
            str(item) for item in problems), 409)


def _pool_result(name, action, outcome, used):
    result = {"name": name, "action": action, "error": outcome.error.message if outcome.error is not None else ""}
    if used:
        result.update(total=used["total"], used=used["used"], free=used["free"])
    return result


class ClaimService:
    """One run of ``ip_claim``.

    :param client: a KubeClient
    :param params: the module's parameters
    :param check_mode: let the API server judge writes without storing them
    :param progress: a Progress
    :param clock: monotonic clock, in seconds
    """

    def __init__(self, client, params, check_mode, progress, clock=time.monotonic):
        self.client = client
        self.namespace = params["namespace"]
        self.claims = params["claims"]
        self.state = params["state"]
        self.renew = params["renew_refused"]
        self.forced = frozenset(params.get("force_claims") or ())
        self.wait_timeout_seconds = params["wait_timeout_seconds"]
        self.check_mode = check_mode
        self.progress = progress
        self.clock = clock

    def run(self):
        """Do it all and return the module's result.

        :raises RefusedError: when the list has mistakes
        :raises KubeError: when the API server can't be asked
        """
        known = Addresses(self.client, self.namespace)
        current = dict(((claim["kind"], claim["metadata"]["name"]), claim) for claim in known.claims)
        if self.state == "absent":
            results, diffs = self._delete(current)
        else:
            results, diffs = self._write(known, current)
        if not self.check_mode and self.wait_timeout_seconds:
            self._wait([result for result in results if not result["error"]])
        return {"changed": any(result["action"] != "none" and not result["error"] for result in results),
                "claims": results, "diff": diffs}

    def _write(self, known, current):
        described = dict((name, ipam_pool.describe(pool)) for name, pool in known.pools.items())
        usages = dict((name, known.usage(name)) for name in known.pools)
        found = ipam_claim.claim_problems(self.claims, described, usages, self.namespace)
        items = [ipam_claim.render(claim, self.namespace) for claim in self.claims]
        for item in items:
            found += _claim_change(item, current.get((item["kind"], item["metadata"]["name"])), self.namespace)
        if found:
            raise RefusedError(found)
        renewed = []
        if self.renew:
            renewed = [item for item in items
                       if _refused(current.get((item["kind"], item["metadata"]["name"]))) is not None]
            # IPAM does not look at a claim again that it has refused.
            for outcome in checked.write([current[(item["kind"], item["metadata"]["name"])] for item in renewed],
                                         self._send_deletion, self._decide_renewal):
                if outcome.error is not None:
                    raise outcome.error
            if renewed and not self.check_mode:
                self._until_gone(renewed)
        known_now = dict(((resource, self.namespace), dict(
            (name, claim) for (kind, name), claim in current.items()
            if kind == resource.kind and (kind, name) not in
            [(item["kind"], item["metadata"]["name"]) for item in renewed])) for resource in CLAIM_RESOURCES.values())
        entries = apply.plan(self.client, items, known_now)
        # In check mode the refused claims are still there: what would be made anew can't be tried.
        due = [entry for entry in entries if not (self.check_mode and _is_in(entry.desired, renewed))]
        outcomes = dict((id(entry), outcome) for entry, outcome in zip(
            due, apply.execute(self.client, due, self.check_mode, self._decide)))
        results, diffs = [], []
        for entry in entries:
            outcome = outcomes.get(id(entry), checked.Written(None, None, entry))
            action = "renewed" if _is_in(entry.desired, renewed) else _DONE[outcome.task.action]
            results.append(_claim_result(entry.desired["kind"], entry.name, action, outcome, known))
            if outcome.task.action != "none":
                diffs.append(_diff(outcome.task))
        return results, diffs

    def _decide(self, entry):
        """Check a claim that has changed since it was read, and return the entry of what is to be written now."""
        entry = apply.planned_again(self.client, entry)
        _refuse_now(_claim_change(
            entry.desired, object_shape.shaped(entry.current, object_shape.CLAIM), self.namespace))
        return entry

    def _send_deletion(self, claim):
        return self.client.delete(CLAIM_RESOURCES[claim["kind"]], self.namespace, claim["metadata"]["name"],
                                  dry_run=self.check_mode, checked=claim)

    def _decide_deletion(self, claim):
        fresh = self._fresh(claim)
        # What somebody else has deleted has only to go.
        if fresh is None or fresh["metadata"].get("deletionTimestamp"):
            return checked.Settled(None, claim)
        _refuse_now(self._owner_problems(fresh))
        return fresh

    def _owner_problems(self, claim):
        """Whoever owns a claim uses its address, which would be free for another server."""
        metadata = claim["metadata"]
        owners = [f"{owner.get('kind')} {owner.get('name')}" for owner in metadata.get("ownerReferences") or []]
        if not owners or metadata.get("deletionTimestamp") or metadata["name"] in self.forced:
            return []
        return [problem(f"{claim['kind']} {self.namespace}/{metadata['name']}", "state", "absent",
                        f"no owner (it belongs to {', '.join(owners)})",
                        "delete the owner instead, or name the claim in force_claims")]

    def _decide_renewal(self, claim):
        fresh = self._fresh(claim)
        if fresh is None or fresh["metadata"].get("deletionTimestamp"):
            return checked.Settled()
        if _refused(fresh) is None:
            raise KubeError("%s %s/%s: changed by somebody else during this run: it is no longer refused; run again" % (
                claim["kind"], self.namespace, claim["metadata"]["name"]), 409)
        return fresh

    def _fresh(self, claim):
        fresh = self.client.get(CLAIM_RESOURCES[claim["kind"]], self.namespace, claim["metadata"]["name"])
        return fresh and dict(object_shape.shaped(fresh, object_shape.CLAIM), kind=claim["kind"])

    def _until_gone(self, items):
        deadline = self.clock() + (self.wait_timeout_seconds or 60)
        for kind in sorted(set(item["kind"] for item in items)):
            names = [item["metadata"]["name"] for item in items if item["kind"] == kind]
            for step in follow(self.client, CLAIM_RESOURCES[kind], self.namespace, deadline, clock=self.clock):
                if step.listed and not any(name in step.objects for name in names):
                    break

    def _delete(self, current):
        results, diffs = [], []
        kinds = [(claim.get("kind") or "IPClaim", claim["name"]) for claim in self.claims]
        present = [key for key in kinds if key in current]
        found = [item for key in present for item in self._owner_problems(current[key])]
        if found:
            raise RefusedError(found)
        outcomes = dict(zip(present, checked.write(
            [current[key] for key in present], self._send_deletion, self._decide_deletion)))
        for kind, name in kinds:
            gone = (kind, name) in outcomes
            outcome = outcomes.get((kind, name), checked.Written(None, None, None))
            results.append(_claim_result(kind, name, "deleted" if gone else "none", outcome, None))
            if gone:
                diffs.append({"before_header": f"{kind} {self.namespace}/{name}", "after_header": "",
                              "before": {"spec": current[(kind, name)]["spec"]}, "after": {}})
        return results, diffs

    def _wait(self, results):
        deadline = self.clock() + self.wait_timeout_seconds
        for kind in sorted(set(result["kind"] for result in results)):
            pending = dict((result["name"], result) for result in results if result["kind"] == kind)
            for step in follow(self.client, CLAIM_RESOURCES[kind], self.namespace, deadline, clock=self.clock):
                if step.listed:
                    for name in list(pending):
                        if self._judged(pending[name], step.objects.get(name)):
                            del pending[name]
                self.progress.status(f"waiting for {len(pending)} of {len(results)} claims")
                if not pending:
                    break
            for result in pending.values():
                result["error"] = "%s %s/%s: no answer within %d s; %s" % (
                    kind, self.namespace, result["name"], self.wait_timeout_seconds, self._advice(result["name"]))
        if self.state == "present":
            known = Addresses(self.client, self.namespace)
            for result in results:
                result["address"] = _address_of(known, result["kind"], result["name"])

    def _advice(self, name):
        """Say what a claim that IPAM does not answer may wait for."""
        pool = next((claim["pool"] for claim in self.claims if claim["name"] == name and claim.get("pool")), None)
        stored = self.client.get(POOL, self.namespace, pool) if pool else None
        cluster = ((stored or {}).get("spec") or {}).get("clusterName")
        if cluster and self.client.get(KNOWN["Cluster"], self.namespace, cluster) is None:
            return ("pool %s is of cluster %s, which does not exist: IPAM hands out nothing until it does, and looks "
                    "at the pool again when the pool or a claim of it changes" % (pool, cluster))
        return "look at the log of IPAM's controller"

    def _judged(self, result, claim):
        if self.state == "absent":
            return claim is None
        if claim is None:
            return False
        refused = _refused(claim)
        if refused:
            result["error"] = "%s %s/%s: %s; correct the pool or the claim and set renew_refused" % (
                result["kind"], self.namespace, result["name"], refused)
            return True
        status = claim.get("status") or {}
        return bool((status.get("address") or status.get("addressRef") or {}).get("name"))


def _is_in(item, items):
    return any(item["kind"] == other["kind"] and item["metadata"]["name"] == other["metadata"]["name"]
               for other in items)


def _claim_change(item, current, namespace):
    """IPAM's webhook refuses another pool for a claim; another address is not looked at once there is one."""
    if current is None:
        return []
    subject = f"{item['kind']} {namespace}/{item['metadata']['name']}"
    found = []
    pools = [(obj["spec"].get("pool") or obj["spec"].get("poolRef") or {}).get("name") for obj in (item, current)]
    if pools[0] != pools[1]:
        found.append(problem(subject, "pool", pools[0], f"{pools[1]}, for a claim keeps its pool",
                             "delete the claim first"))
    addresses = [(obj["metadata"].get("annotations") or {}).get(ipam_claim.ADDRESS_ANNOTATION)
                 for obj in (item, current)]
    status = current.get("status") or {}
    if (status.get("address") or status.get("addressRef")) and addresses[0] and addresses[0] != addresses[1]:
        found.append(problem(subject, "address", addresses[0], "the address that the claim has",
                             "delete the claim first"))
    return found


def _refused(claim):
    """Return why IPAM refused a claim, or None."""
    status = (claim or {}).get("status") or {}
    if (status.get("address") or status.get("addressRef") or {}).get("name"):
        return None
    if status.get("errorMessage"):
        return status["errorMessage"]
    for condition in status.get("conditions") or []:
        if condition.get("type") == "Ready" and condition.get("status") == "False":
            return condition.get("message") or condition.get("reason")
    return None


def _claim_result(kind, name, action, outcome, known):
    return {"kind": kind, "name": name, "action": action,
            "error": outcome.error.message if outcome.error is not None else "",
            "address": _address_of(known, kind, name) if known else None}


def _address_of(known, kind, name):
    for item in known.addresses:
        spec = item["spec"]
        reference = spec.get("claim") if kind == "IPClaim" else spec.get("claimRef")
        if (reference or {}).get("name") == name:
            return spec["address"]
    return None
