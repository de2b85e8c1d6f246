# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What goes along when single hosts change planes, what keeps them, and how far each has come; pure.

Sources: ``baremetalhost_controller.go`` (``detachHost``, ``secretManager``) and ``baremetalhost_types.go`` of BMO 0.13;
``metal3machine_manager.go`` (``chooseHost``) of CAPM3 1.13.
"""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from .._common.problem import Problem
from .._host import annotations as host_annotations
from .._host import lock as host_lock
from .._kube.resources import KNOWN
from . import checks, copies
from .graph import MADE_AGAIN, key, title

Object = dict[str, Any]
Keys = tuple[str, str, str]

# How far a host has come. BOTH: detached here, and over there.
HERE, DETACHING, BOTH, THERE, NOWHERE = "here", "detaching", "both", "there", "nowhere"

_GROUP = "metal3.io"
# Fields of ``spec`` that name a Secret of the host, and the key of its name in each.
_SECRETS = (("bmc", "credentialsName"), ("userData", "name"), ("networkData", "name"), ("metaData", "name"))
# What lives in the BMC itself, or is bound to the media that this plane has attached.
_BOUND = {"BMCEventSubscription": "delete it, and make it over there", "DataImage": "delete it first, which ejects it"}


def mark_of(host: Object) -> str | None:
    """Return the uid of the plane that a host is detached for, None for one that is not on its way."""
    return host_annotations.arguments(host_annotations.of(host).get(host_annotations.DETACHED)).get(
        host_annotations.TO_PLANE)


def detaching(host: Object, plane_uid: str) -> dict[str, Any] | None:
    """Return the patch by which a host is detached for another plane, None when it is.

    CAPM3 would give a machine a detached host that is available, but not one that is marked.

    :param plane_uid: uid of the Namespace kube-system over there
    """
    if mark_of(host) == plane_uid:
        return None
    return dict({host_annotations.DETACHED: host_annotations.compact({host_annotations.TO_PLANE: plane_uid})},
                **({} if host_annotations.UNHEALTHY in host_annotations.of(host)
                   else {host_annotations.UNHEALTHY: checks.HELD}))


def arrived(host: Object) -> dict[str, Any] | None:
    """Return the patch that takes away what a move has left at a host that is there for good, None for nothing."""
    found = host_annotations.of(host)
    patch: dict[str, Any] = dict.fromkeys(name for name in (host_annotations.FROM_PLANE,) if name in found)
    if found.get(host_annotations.UNHEALTHY) == checks.HELD:
        patch[host_annotations.UNHEALTHY] = None
    return patch or None


def in_use(host: Object) -> list[Problem]:
    """Return a problem for a host with a consumer."""
    consumer = (host.get("spec") or {}).get("consumerRef")
    if not consumer:
        return []
    return [_problem(host, "spec.consumerRef", f"{consumer.get('kind')} {consumer.get('name')}", "no consumer",
                     "move its cluster with all its hosts by the playbook pivot, or take the machine away first")]


def origin(plane_uid: str, host: Object) -> str:
    """Return the value of ``FROM_PLANE`` for a host.

    :param plane_uid: uid of the Namespace kube-system where the host is
    """
    return f"{plane_uid}/{host['metadata']['uid']}"


def stage(here: Object | None, there: Object | None) -> str:
    """Return how far a host has come, one of :data:`HERE`, :data:`DETACHING`, :data:`BOTH`, :data:`THERE` and
    :data:`NOWHERE`.

    :param here: the host in the plane that lets go, or None
    :param there: the host of the same name in the plane that takes over, or None
    """
    if here is None:
        return NOWHERE if there is None else THERE
    if mark_of(here) is None:
        return HERE
    return DETACHING if there is None else BOTH


def secrets_named(host: Object) -> list[str]:
    """Return the names of the Secrets that a host's specification names, sorted."""
    spec = host.get("spec") or {}
    found = set((spec.get(field) or {}).get(name) for field, name in _SECRETS)
    return sorted(name for name in found | {spec.get("preprovisioningNetworkDataName")} if name)


def companions(host: Object, objects: Iterable[Object]) -> list[Object]:
    """Return what of a namespace goes along with a host, without the host and Secrets.

    :param host: the BareMetalHost
    :param objects: all objects of the namespace
    """
    objects = list(objects)
    taken = {host["metadata"]["uid"]}
    found: list[Object] = []
    while True:
        fresh = [obj for obj in objects if obj["metadata"]["uid"] not in taken and _goes_along(obj, host, taken)]
        if not fresh:
            return sorted(found, key=key)
        found += fresh
        taken.update(obj["metadata"]["uid"] for obj in fresh)


def _goes_along(obj: Object, host: Object, taken: set[str]) -> bool:
    group, kind, name = key(obj)
    if group != _GROUP or kind in ("BareMetalHost", *MADE_AGAIN):
        return False
    # BMO finds some of them by the host's name alone, and users make them without an owner.
    return name == host["metadata"]["name"] or any(
        owner.get("uid") in taken for owner in obj["metadata"].get("ownerReferences") or [])


def problems(host: Object, objects: Iterable[Object], now: float) -> list[Problem]:
    """Return what keeps a host in its plane.

    :param host: the BareMetalHost
    :param objects: all objects of its namespace
    :param now: seconds since 1970
    """
    objects = list(objects)
    # What this move has detached was in a steady state when it was.
    found = checks.host_problems(host) if mark_of(host) is None else []
    locked = host_lock.problem(title(key(host)), "hosts", host, now)
    found += [locked] if locked else []
    found += in_use(host)
    if host_annotations.DETACHED in host_annotations.of(host) and mark_of(host) is None:
        found.append(_problem(host, f"metadata.annotations.{host_annotations.DETACHED}", "set", "no such annotation",
                              "attach the host first, or find out who has detached it and why"))
    namespace = host["metadata"].get("namespace")
    for field, _name in _SECRETS:
        elsewhere = ((host.get("spec") or {}).get(field) or {}).get("namespace")
        if elsewhere and elsewhere != namespace:
            found.append(_problem(host, f"spec.{field}.namespace", elsewhere, str(namespace),
                                  "name a Secret of the host's own namespace"))
    known = set(obj["metadata"]["name"] for obj in objects if obj["kind"] == "Secret")
    found += [_problem(host, "spec", f"Secret {name}, which is not there", "Secrets that are there",
                       "make it, or correct the host") for name in secrets_named(host) if name not in known]
    for obj in objects:
        bound = _BOUND.get(obj["kind"])
        mine = obj["metadata"]["name"] == host["metadata"]["name"] \
            or (obj.get("spec") or {}).get("hostName") == host["metadata"]["name"]
        if bound and mine and key(obj)[0] == _GROUP:
            found.append(_problem(host, "", title(key(obj)), "none", bound))
    return found


def taken(host: Object, plane_uid: str, there: Object | None, others: Iterable[Object]) -> list[Problem]:
    """Return what keeps a plane from taking a host.

    :param host: the BareMetalHost where it comes from
    :param plane_uid: uid of the Namespace kube-system there
    :param there: the host of this name over there, or None
    :param others: all other hosts over there, of any namespace
    """
    found = []
    if there is not None:
        if host_annotations.of(there).get(host_annotations.FROM_PLANE) != origin(plane_uid, host):
            found.append(_problem(host, "", "another host of this name over there", "a name that is free there",
                                  "delete or rename one of the two"))
        elif (there.get("spec") or {}) != (host.get("spec") or {}):
            found.append(_problem(host, "spec", "another specification over there than here, where it comes from",
                                  "the same", "find out who has changed one of them; delete the copy over there, which "
                                  "is held, then run again"))
    spec = host.get("spec") or {}
    for other in others:
        theirs = other.get("spec") or {}
        name = f"{other['metadata'].get('namespace')}/{other['metadata']['name']}"
        for field, mine, its in (
                ("spec.bmc.address", (spec.get("bmc") or {}).get("address"), (theirs.get("bmc") or {}).get("address")),
                ("spec.bootMACAddress", spec.get("bootMACAddress"), theirs.get("bootMACAddress"))):
            if mine and its and mine.lower() == its.lower():
                found.append(_problem(host, field, f"{mine}, which the host {name} over there has, too",
                                      "one server in one plane only", "delete one of the two"))
    return found


def secret_problems(secrets: Iterable[Object], there: Mapping[str, Object]) -> list[Problem]:
    """Return a problem for each Secret whose name another one has over there.

    :param secrets: Secrets where they come from
    :param there: Secrets over there by name
    """
    return [_problem(secret, "data", "other content over there", "a name that is free there, or the same content",
                     "rename or delete one of the two")
            for secret in secrets if secret["metadata"]["name"] in there
            and (there[secret["metadata"]["name"]].get("data") or {}) != (secret.get("data") or {})]


def secret_copy(secret: Object) -> Object:
    """Return a Secret as it is created over there; the operator makes the host its owner again."""
    made = copies.created(secret, {})
    made["metadata"].pop("ownerReferences", None)
    return made


def host_copy(host: Object, plane_uid: str) -> Object:
    """Return a host as it is created over there: held, with its status saved, and with where it comes from.

    :param host: the detached BareMetalHost
    :param plane_uid: uid of the Namespace kube-system where it is
    """
    # Over there it is not detached, and was not when it was checked here.
    attached = dict(host, status=dict(host["status"], operationalStatus="OK"))
    made = copies.created(copies.held(attached), {})
    made.pop("status", None)
    annotations = dict(made["metadata"]["annotations"], **{host_annotations.FROM_PLANE: origin(plane_uid, host)})
    annotations.pop(host_annotations.DETACHED)
    made["metadata"].update(annotations=annotations)
    # The operator's, which sets it over there, too.
    made["metadata"].pop("finalizers", None)
    return made


def companion_copy(obj: Object, uids: Mapping[str, str]) -> Object:
    """Return an object of a host as it is created over there.

    :param uids: uid of an owner here → its uid over there
    """
    made = copies.created(obj, uids)
    made.pop("status", None)
    made["metadata"].pop("finalizers", None)
    owners = [owner for owner in made["metadata"].get("ownerReferences") or [] if owner.get("uid") in uids.values()]
    made["metadata"].pop("ownerReferences", None)
    if owners:
        made["metadata"]["ownerReferences"] = owners
    return made


def secrets_of(hosts: Iterable[Object], objects: Iterable[Object]) -> list[Object]:
    """Return the Secrets that hosts name, each once.

    :param objects: all objects of the namespace
    """
    names = set(name for host in hosts for name in secrets_named(host))
    kind = KNOWN["Secret"].kind
    return sorted((obj for obj in objects if obj["kind"] == kind and obj["metadata"]["name"] in names), key=key)


def _problem(obj: Object, field: str, actual: str, expected: str, hint: str) -> Problem:
    return Problem("move-blocked", title(key(obj)), field, actual, expected, hint)
