# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Removes parts from a cluster, the last first, while nothing is managed and nobody else's goes with them."""
from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from typing import Any

from ..._common.options import confirmation
from ..._common.problems.problem import Problem
from ..._common.texts.plain_text import few
from ..._common.waiting.wait_loop import until_nothing
from ..._kube.api import discovery
from ..._kube.kinds import served
from ..._kube.kinds.resources import TOKEN_TYPE, Resource
from ..._kube.objects.conditions import conditions
from ..._kube.objects.finalizers import is_going
from ..._kube.reconcile.diff import owned_tree
from ..._kube.reconcile.plan import Entry, deletion
from ..._kube.reconcile.reconcile import Written
from ..._kube.reconcile.report import counts, difference
from ..._manifests import documents
from ..parts import order
from ..parts.catalogue import BY_NAME, IRONIC, Part
from . import ironic, monitor_service, network_policy_service, objects, operated, ownership
from .components import INTERVAL_SECONDS, NAMED, ComponentsError, ComponentsRun, of_others

Object = dict[str, Any]

# Kinds that Kubernetes itself keeps in a namespace, or that say what may be done in it: nobody misses them without it.
_OF_A_NAMESPACE = frozenset((
    ("", "Endpoints"), ("", "Event"), ("", "LimitRange"), ("", "ResourceQuota"), ("", "ServiceAccount"),
    ("coordination.k8s.io", "Lease"), ("coordination.k8s.io", "LeaseCandidate"),
    ("discovery.k8s.io", "EndpointSlice"), ("events.k8s.io", "Event"), ("networking.k8s.io", "NetworkPolicy"),
    ("policy", "PodDisruptionBudget"),
    ("rbac.authorization.k8s.io", "Role"), ("rbac.authorization.k8s.io", "RoleBinding")))
# With it goes Ironic, and all that Ironic knows of nodes unless its database is elsewhere.
_OPERATED = operated.API_VERSION.partition("/")[0], operated.KIND
# What runs or keeps data is lost, whatever its labels say.
_LOST = frozenset((("apps", "Deployment"), ("apps", "StatefulSet"), ("apps", "DaemonSet"), ("batch", "CronJob"),
                   ("batch", "Job"), ("", "Pod"), ("", "PersistentVolumeClaim"), _OPERATED))
_REMOVE_IRONIC = ("have the Ironic operator remove it first, by the module plane_ironic_operator with state absent "
                  "(role ironic: ironic_state absent), which asks for its confirmation")
_OPERATOR = BY_NAME["bmo"].name
# Kubernetes makes it in each namespace.
_ROOT_CERTIFICATES = "kube-root-ca.crt"


def confirmed_by_number(run: ComponentsRun, names: list[str]) -> list[str]:
    """Return the warnings of check mode about a confirmation of a removal that is missing, by number or by names.

    :param names: of the parts that go
    :raises ReportedError: without it, but not in check mode
    """
    return confirmation.required(confirmation.missing(
        "removes %s from the cluster", names, run.params["confirm"], "part", run.params["confirm_among"]),
        run.check_mode)


def remove(run: ComponentsRun,
           confirmed: Callable[[ComponentsRun, list[str]], list[str]] = confirmed_by_number) -> Object:
    """Remove parts, the last first, and return the result.

    :param confirmed: as :func:`confirmed_by_number`
    :raises RefusedError: while something is managed, and without the confirmation
    :raises ReportedError: when a namespace does not go
    :raises KubeError: when the API server can't be asked or refuses
    """
    keep = run.params["definitions"] == "keep"
    # As they would be applied, so that a namespace of the user's choice is found; Secrets go with theirs.
    items = dict((part.name, _items(run, part, settings)) for part, settings in run.chosen())
    shipped = [item for listed in items.values() for item in listed]
    there = [entry for entry in _there(run, shipped)
             if not objects.is_issued_by_cert_manager(entry.current or {})]
    kept = [entry for entry in there if keep and entry.resource.kind == order.DEFINITION]
    going = [entry for entry in there if entry not in kept]
    managed = functools.partial(_managed, run, keep, there)
    neighbours = functools.partial(_neighbours, run, going, objects.secrets_of(shipped))
    run.refuse([managed(), of_others(going), neighbours()])
    titles = set(entry.title for entry in going)
    names = [name for name, listed in items.items() if titles & set(documents.title(item) for item in listed)]
    warnings = confirmed(run, names) if going else []
    written = _delete(run, going, managed, neighbours)
    return {"changed": any(item.changed for item in written), "warnings": warnings,
            "objects": [{"object": item.entry.title, "action": item.action} for item in written],
            "counts": counts({"action": item.action, "error": ""} for item in written),
            "diff": [difference(item.entry) for item in written if item.changed]}


def _items(run: ComponentsRun, part: Part, settings: Object) -> list[Object]:
    """Return a part's objects, whose contents do not matter for a removal."""
    if part.name == IRONIC.name:
        namespace = settings.get("namespace") or part.namespace
        items = ironic.removable(run.shipped[part.name][0], namespace)
        beside = dict((other.name, other_settings.get("namespace") or other.namespace)
                      for other, other_settings in run.chosen() if other.name != IRONIC.name)
        # Without the operator it leaves its namespace, which the operator may be in.
        return items + ([{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}]
                        if _OPERATOR in beside and namespace not in beside.values() else [])
    shipped, version = run.shipped[part.name]
    added = (monitor_service.written(run.client, part, settings)
             + network_policy_service.written(run.client, part, settings, shipped))
    return objects.desired(part, shipped, settings, version) + [entry.current for entry in added if entry.current]


def _there(run: ComponentsRun, items: list[Object]) -> list[Entry]:
    """Return the deletions of objects that are there."""
    run.resources = discovery.resolve(run.client, items, run.writes.persist)
    entries = run.writes.look([item for item in items if run.resources[item["apiVersion"], item["kind"]] is not None])
    return [deletion(entry.resource, entry.current) for entry in entries if entry.current is not None]


def _managed(run: ComponentsRun, keep: bool, there: list[Entry]) -> list[Problem]:
    """Return problems with objects that nobody would look after, or that would be lost with their definition."""
    kinds = [(part, *kind) for part in run.parts for kind in part.managed]
    if not keep:
        kinds += [(part, f"{spec['group']}/{version['name']}", spec["names"]["kind"])
                  for part in run.parts for definition in run.shipped[part.name][0]
                  if definition["kind"] == order.DEFINITION
                  for spec in [definition["spec"]] for version in spec["versions"] if version["storage"]]
    ours = set((entry.resource.kind, entry.namespace, entry.name) for entry in there)
    found, seen = [], set()
    for part, api_version, kind in kinds:
        key = api_version.partition("/")[0], kind
        if key in seen or kind == "Provider":
            continue
        seen.add(key)
        left = [item for item in run.listed(api_version, kind)
                if (kind, item["metadata"].get("namespace"), item["metadata"]["name"]) not in ours
                and not goes_with(item, ours)]
        if left:
            names = ["/".join(filter(None, (item["metadata"].get("namespace"), item["metadata"]["name"])))
                     for item in left]
            found.append(Problem(
                "part-in-use", f"part {part.name}", kind, f"{len(left)} ({few(sorted(names), NAMED)})", "none",
                "delete them, or move them to another plane"))
    return found


def _neighbours(run: ComponentsRun, going: list[Entry],
                own_secrets: set[tuple[str | None, str | None]]) -> list[Problem]:
    """Return problems with what is in a namespace beside the parts, of whatever kind, and would go with it.

    Not with what is being deleted already, such as the claim of a volume, which goes after the pod that uses it, and
    not with what goes with its owner: that is reported itself, is removed, or is gone.

    :param own_secrets: (namespace, name) of the Secrets of the parts themselves and of their Certificates
    """
    ours = set((entry.resource.kind, entry.namespace, entry.name) for entry in going)
    spaces = sorted(entry.name for entry in going if entry.resource.kind == "Namespace")
    kinds, found, hidden = _content(run, spaces)
    around = _surroundings(going, kinds, found)
    beside = [(resource, space, item, ownership.lasting_owner(item, around)) for resource, space, item in found
              if not is_going(item) and (resource.kind, space, item["metadata"]["name"]) not in ours
              and not _comes_with_namespace(resource, item, own_secrets)]
    return [Problem("part-neighbour", f"Namespace {space}", None,
                    f"{resource.kind} {item['metadata']['name']}" + (f", which {owner} owns" if owner else ""),
                    "nothing but the parts that are removed",
                    _REMOVE_IRONIC if (resource.group, resource.kind) == _OPERATED
                    else "move it to another namespace, or delete it")
            for resource, space, item, owner in beside if owner or not item["metadata"].get("ownerReferences")] + [
                Problem("part-neighbour", f"Namespace {space}", None,
                        f"objects that this account may not list: {few(names, NAMED)}",
                        "nothing but the parts that are removed",
                        "let it list all kinds in the namespaces of the parts, as docs/rbac/plane.yml does")
                for space, names in sorted(hidden.items())]


def _surroundings(going: list[Entry], kinds: list[Resource],
                  found: list[tuple[Resource, str, Object]]) -> ownership.Surroundings:
    there = [(entry.resource.kind, entry.current) for entry in going if entry.current is not None]
    return ownership.Surroundings(
        set(item["metadata"]["uid"] for _kind, item in there if item["metadata"].get("uid")),
        set((item["spec"]["group"], item["spec"]["names"]["kind"]) for kind, item in there
            if kind == order.DEFINITION),
        set((resource.group, resource.kind) for resource in kinds),
        dict((item["metadata"]["uid"], item) for _resource, _space, item in found if item["metadata"].get("uid")))


def _content(run: ComponentsRun, spaces: list[str]) -> tuple[
        list[Resource], list[tuple[Resource, str, Object]], dict[str, list[str]]]:
    """Return the kinds that namespaces may have, their objects, each with its kind and namespace, and what is hidden.

    What is hidden: by namespace the kinds that may not be listed.
    """
    kinds = [resource for resource in discovery.namespaced(run.client, run.writes.persist)
             if (resource.group, resource.kind) not in _OF_A_NAMESPACE] if spaces else []
    pairs = list(itertools.product(kinds, spaces))
    found: list[tuple[Resource, str, Object]] = []
    hidden: dict[str, list[str]] = {}
    for (resource, space), outcome in zip(pairs, run.writes.persist([
            functools.partial(served.listed, run.client, *pair) for pair in pairs])):
        if outcome.error is None:
            found += [(resource, space, item) for item in outcome.value]
        elif outcome.error.status == 403:
            hidden.setdefault(space, []).append(f"{resource.plural}.{resource.group}".rstrip("."))
        else:
            raise outcome.error
    return kinds, found, hidden


def _delete(run: ComponentsRun, going: list[Entry], managed: Callable[[], list[Problem]],
            neighbours: Callable[[], list[Problem]]) -> list[Written]:
    """Delete in the reverse order of installing; namespaces, which take all that is left with them, at the end.

    :param managed: asked once more before definitions go, which take their objects along
    :param neighbours: the same for namespaces
    """
    last = [entry for entry in going if entry.resource.kind == "Namespace"]
    by_title = dict((entry.title, entry) for entry in going if entry not in last)
    done: list[Written] = []
    for wave in reversed(order.waves([entry.current for entry in by_title.values() if entry.current])):
        due = [by_title[documents.title(obj)] for obj in wave]
        if any(entry.resource.kind == order.DEFINITION for entry in due):
            run.refuse([managed()])
        run.progress.event(f"deleting {len(due)} objects: {few([entry.title for entry in due], NAMED)}")
        done += run.deleted(due)
        _until_gone(run, [entry for entry in due if entry.resource.kind == order.DEFINITION])
    run.refuse([neighbours()])
    done += run.deleted(last)
    _until_gone(run, last)
    return done


def _until_gone(run: ComponentsRun, entries: list[Entry]) -> None:
    """Wait until objects are gone.

    :raises ComponentsError: naming each that is left, and what it says of itself
    """
    if not entries or run.check_mode:
        return
    resource, names = entries[0].resource, set(entry.name for entry in entries)

    def ask() -> list[Object]:
        return [item for item in run.client.list(resource, None)[0] if item["metadata"]["name"] in names]

    left = until_nothing(ask, run.params["wait_timeout_seconds"], INTERVAL_SECONDS, run.clock, run.sleep)
    if left:
        lines = "\n".join(f"- {resource.kind} {item['metadata']['name']}: {_reasons(item)}" for item in left)
        raise ComponentsError(f"not gone in time:\n{lines}\nLook what holds them, then run again.")


def goes_with(obj: Object, ours: set[tuple[str, str | None, str]]) -> bool:
    """Say whether an object's owner is among those that are removed, as a Certificate is a CertificateRequest's."""
    return any((owner.get("kind"), obj["metadata"].get("namespace"), owner.get("name")) in ours
               for owner in obj["metadata"].get("ownerReferences") or [])


def _comes_with_namespace(resource: Resource, obj: Object, own_secrets: set[tuple[str | None, str | None]]) -> bool:
    """Say whether an object is of Kubernetes or the parts, so that it may go, too.

    :param own_secrets: of the parts' Certificates; what is issued for another one may be the only copy of a key, such
        as that of a site's authority
    """
    metadata, key, kind = obj["metadata"], (resource.group, resource.kind), resource.kind
    annotations = metadata.get("annotations") or {}
    # Not by its field manager alone: whatever a user applies by this collection has that, as a site's authority.
    if objects.is_ours(obj):
        return key not in _LOST
    return key in (("", "Secret"), ("", "ConfigMap")) and (
        obj.get("type") == TOKEN_TYPE
        or (kind == "ConfigMap" and metadata["name"] == _ROOT_CERTIFICATES)
        or (metadata["name"] == objects.WEBHOOK_AUTHORITY and objects.INJECTABLE in annotations)
        or ((metadata.get("namespace"), metadata["name"]) in own_secrets
            and (objects.is_issued_by_cert_manager(obj) or bool(owned_tree(obj)))))


def _reasons(obj: Object) -> str:
    texts = [entry.get("message") or entry.get("type") for entry in conditions(obj) if entry.get("status") == "True"]
    return "; ".join(filter(None, texts)) or "no reason given"
