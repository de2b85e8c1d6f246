# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Asks a plane whether it lets objects in as they are: its webhooks, policies, definitions and quotas, by a dry run.

A rehearsal has none of its webhooks, so that clusterctl would be refused in the middle, with all hosts held. Nothing is
stored, and values of Secrets are replaced by digests: a plane is asked before anybody has confirmed that it is the one.
Sources: ``internal/webhooks`` of Cluster API 1.13; ``ValidatingAdmissionPolicy``; ``sideEffects`` of webhooks.
"""
from __future__ import annotations

import re
import secrets
from collections.abc import Collection, Iterable
from typing import Any, NamedTuple

from ..._cluster.checks.topology import gate_problem
from ..._common.problems.problem import Problem
from ..._common.texts.plain_text import cut, few
from ..._kube.api import bulk
from ..._kube.kinds.resources import Resource
from ..._kube.responses.errors import KubeError
from ..objects import copies, graph
from ..objects.reading import Side

Object = dict[str, Any]

# What is sent is never stored, so that any namespace will do where the one that is meant is not there yet.
_THERE_ALWAYS = "default"
_SHOWN, _LIMIT = 5, 400
_HINT = "correct it, or what refuses it there; nothing was written"
# What refuses them may have looked at their values.
_HINT_OF_SECRETS = (f"{_HINT}; its values were replaced by digests for this question: when they are the cause, name it "
                    "in accept")
# Of a user who may not create such objects: the check of rights says it of all kinds at once.
_NO_RIGHT = "cannot create resource"
# How Kubernetes refuses an object by a quota (``resourcequota/controller.go``).
_EXCEEDED = re.compile(r"exceeded quota: ([^\s,]+)")
# What says nothing of the object: a webhook that cannot be asked so, and one that looks for what comes along with it.
_UNDECIDED = ("does not support dry run", "not found", "does not exist")


class Tried(NamedTuple):
    """What a plane has answered.

    :ivar problems: what it refuses, or would store as something else
    :ivar warnings: what it could not be asked
    :ivar stored: objects as it would store them, by their keys, without Secrets
    """

    problems: list[Problem]
    warnings: list[str]
    stored: dict[tuple[str, str, str], Object]

    def besides(self, known: Iterable[Problem]) -> list[Problem]:
        """Return the problems, without refusals of quotas of which all is said at once by what they have room for.

        :param known: problems that are reported with these, those of :func:`rules.quotas` among them
        """
        counted = set(problem.subject for problem in known)
        refused = [(problem, _EXCEEDED.search(str(problem.actual))) for problem in self.problems]
        return [problem for problem, quota in refused if not quota or f"ResourceQuota {quota.group(1)}" not in counted]


def tried(there: Side, arriving: Iterable[Object], accepted: Collection[str] = ()) -> Tried:
    """Try to create objects in a plane.

    :param there: the plane that they would come to; those that it has, and kinds that it does not serve, are left out
    :param arriving: objects that would be created there
    :param accepted: titles of objects that may be stored as something else, and whose refusal is a warning
    :raises KubeError: when its API server can't be asked
    """
    due = [(obj, resource) for obj in copies.objects(arriving, secrets.token_bytes(32))
           for resource in [_resource(there, obj)] if resource is not None and graph.key(obj) not in there.by_key]
    if not due:
        return Tried([], [], {})
    namespace = there.namespace if there.has_namespace() else _THERE_ALWAYS

    def creator(obj: Object, resource: Resource) -> Any:
        body = copies.created(obj, {})
        body["metadata"]["namespace"] = namespace
        return lambda: there.client.create(resource, namespace, body, dry_run=True)

    problems, unasked = [], []
    stored: dict[tuple[str, str, str], Object] = {}
    for (obj, _resource_of), outcome in zip(due, bulk.run([creator(*item) for item in due])):
        of = graph.key(obj)
        name = graph.title(of)
        if outcome.error is not None:
            problem = _problem(obj["kind"], name, outcome.error, there.namespace if namespace == _THERE_ALWAYS else "")
            if problem is None or name in accepted:
                unasked.append(f"{name}: {_words(obj['kind'], outcome.error)}")
            else:
                problems.append(problem)
            continue
        answer = dict(outcome.value, kind=obj["kind"], apiVersion=obj["apiVersion"])
        if obj["kind"] != "Secret":
            stored[of] = answer
        if name not in accepted:
            problems += [_changed(name, field) for field in copies.differences(
                *map(_without_namespace, (obj, answer)))[0]]
    return Tried(problems, _warnings(there, unasked, len(due), namespace), stored)


def _resource(there: Side, obj: Object) -> Resource | None:
    """Return the kind of an object in its version, None when the plane does not serve it."""
    group, kind = graph.key(obj)[:2]
    resource, version = there.resources.get((group, kind)), obj["apiVersion"].rpartition("/")[2]
    if resource is None or (group and version not in there.served.get((group, kind), ())):
        return None
    return Resource(*resource)._replace(version=version)


def _without_namespace(obj: Object) -> Object:
    return dict(obj, metadata=dict((name, value) for name, value in obj["metadata"].items() if name != "namespace"))


def _problem(kind: str, name: str, error: KubeError, absent: str) -> Problem | None:
    """Return what a refusal means, None when it says nothing of the object.

    :param absent: name of the namespace that is meant and not there, in place of which another one was asked
    """
    switched_off = gate_problem(name, error.cause)
    if switched_off is not None:
        return switched_off._replace(
            code="move-class", actual="a class that the plane refuses",
            hint="set capi_cluster_topology: true for that plane and run the playbook install for it")
    words = _words(kind, error)
    if any(text in words for text in _UNDECIDED) or (
            absent and re.search(rf"(?<![\w.-]){re.escape(absent)}(?![\w.-])", words)):
        return None
    is_refused = error.status in (400, 422) or (error.status == 403 and _NO_RIGHT not in error.cause)
    if is_refused or (error.status == 500 and "webhook" in error.cause):
        return Problem("move-admission", name, "", words, "an object that the plane lets in",
                       _HINT_OF_SECRETS if kind == "Secret" else _HINT)
    return None


def _changed(name: str, field: str) -> Problem:
    path, _space, how = field.partition(" ")
    return Problem("move-admission", name, path, f"a field that would be {how.strip('()')} over there by what lets "
                   "objects in", "the same on both sides", "correct what changes it there; nothing was written")


def _words(kind: str, error: KubeError) -> str:
    subject, _colon, words = error.cause.partition(": ")
    found = words if words and subject.startswith(f"{kind} ") else error.cause
    return cut(" ".join(found.split()), _LIMIT)


def _warnings(there: Side, unasked: list[str], count: int, namespace: str) -> list[str]:
    found = []
    if unasked:
        found.append(f"whether {there.client.server} lets in {len(unasked)} of {count} objects was not found out: "
                     + few(unasked, _SHOWN, "; "))
    if namespace != there.namespace:
        found.append(f"namespace {there.namespace} is not at {there.client.server} yet: what lets objects in was asked "
                     f"for namespace {namespace}")
    return found
