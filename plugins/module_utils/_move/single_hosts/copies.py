# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What goes along when single hosts change planes, and how far each has come; pure.

Sources: ``baremetalhost_controller.go`` (``detachHost``, ``secretManager``) and ``baremetalhost_types.go`` of BMO 0.13;
``metal3machine_manager.go`` (``chooseHost``) of CAPM3 1.13.
"""
from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from typing import Any

from ..._host.description import annotations as host_annotations
from ..._host.description.named_secrets import BMC_FIELD, named_secrets
from ..._host.state.goals import has_deployment
from ..._kube.objects.finalizers import is_going
from ..objects import copies, record
from ..objects.graph import MADE_AGAIN, key

Object = dict[str, Any]

# How far a host has come. BOTH: detached here, and over there.
HERE, DETACHING, BOTH, THERE, NOWHERE = "here", "detaching", "both", "there", "nowhere"

GROUP = "metal3.io"
# The value of the pause of a host that has come and is not complete yet: not that of a pivot, which would release it.
HELD = host_annotations.FOR_HOST_MOVE


def detaching(host: Object, plane_uid: str) -> dict[str, Any] | None:
    """Return the patch by which a host is detached for another plane, None when it is.

    CAPM3 would give a machine a detached host that is available, but not one that is marked.

    :param plane_uid: uid of the Namespace kube-system over there
    """
    found, wanted = host_annotations.of(host), {host_annotations.TO_PLANE: plane_uid}
    # Another value could delay the deletion, or force.
    patch = {} if host_annotations.arguments(found.get(host_annotations.DETACHED)) == wanted else {
        host_annotations.DETACHED: host_annotations.compact(wanted)}
    if host_annotations.UNHEALTHY not in found:
        patch[host_annotations.UNHEALTHY] = HELD
    return patch or None


def released(host: Object, of: str) -> dict[str, Any] | None:
    """Return the patch that lets the operator work on a host that has come, None for any other host.

    :param of: what :func:`origin` returns for it
    """
    found = host_annotations.of(host)
    is_ours = found.get(host_annotations.PAUSED) == HELD and found.get(host_annotations.FROM_PLANE) == of
    return {host_annotations.PAUSED: None} if is_ours else None


def arrived(host: Object) -> dict[str, Any] | None:
    """Return the patch that takes away what a move has left at a host that is there for good, None for nothing."""
    found = host_annotations.of(host)
    patch: dict[str, Any] = dict.fromkeys(name for name in (host_annotations.FROM_PLANE,) if name in found)
    if found.get(host_annotations.UNHEALTHY) == HELD:
        patch[host_annotations.UNHEALTHY] = None
    return patch or None


def origin(plane_uid: str, host: Object) -> str:
    """Return the value of ``FROM_PLANE`` for a host.

    :param plane_uid: uid of the Namespace kube-system where the host is
    """
    return f"{plane_uid}/{host['metadata']['uid']}"


def copy_of(host: Object, found: Object | None, plane_uid: str) -> Object | None:
    """Return a host over there if it is the copy of one here, else None.

    :param host: the host here
    :param found: the one of its name over there, or None
    :param plane_uid: uid of the Namespace kube-system here
    """
    is_copy = found is not None and host_annotations.of(found).get(host_annotations.FROM_PLANE) == origin(
        plane_uid, host)
    return found if is_copy else None


def stage(here: Object | None, there: Object | None) -> str:
    """Return how far a host has come, one of :data:`HERE`, :data:`DETACHING`, :data:`BOTH`, :data:`THERE` and
    :data:`NOWHERE`.

    :param here: the host in the plane that lets go, or None
    :param there: the host of the same name in the plane that takes over, or None
    """
    if here is None:
        return NOWHERE if there is None else THERE
    if host_annotations.to_plane(here) is None:
        return HERE
    return DETACHING if there is None else BOTH


def secrets_named(host: Object) -> list[str]:
    """Return the names of the Secrets that a host's specification names, sorted."""
    return sorted(set(name for _field, name in named_secrets(host)))


def secrets_missing(host: Object, known: Container[str]) -> list[str]:
    """Return the names of the Secrets that a host cannot be without and that are not there, sorted.

    CAPM3 leaves a free host the names of the metadata and network data of its last machine, whose Secrets it deletes
    (``metal3machine_manager.go``, ``Delete``): BMO reads them for a deployment alone.

    :param known: names of the Secrets that there are
    """
    needs_all = has_deployment(host.get("spec") or {})
    return sorted(set(name for field, name in named_secrets(host)
                      if (needs_all or field == BMC_FIELD) and name not in known))


def is_back(host: Object | None, before: Object) -> bool:
    """Say whether a host over there is what it is here, registered by another Ironic.

    :param host: the BareMetalHost over there, or None
    :param before: the same host here, detached
    """
    if host is None or is_going(host):
        return False
    found = host_annotations.of(host)
    status, known = host.get("status") or {}, (before["status"].get("provisioning") or {}).get("ID")
    node = (status.get("provisioning") or {}).get("ID")
    return (host_annotations.PAUSED not in found and host_annotations.STATUS not in found
            and status.get("operationalStatus") == "OK" and node not in (None, "", known)
            and not record.differences(record.host_facts(before), record.host_facts(host)))


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
    if group != GROUP or kind in ("BareMetalHost", *MADE_AGAIN):
        return False
    # BMO finds some of them by the host's name alone, and users make them without an owner.
    return name == host["metadata"]["name"] or any(
        owner.get("uid") in taken for owner in obj["metadata"].get("ownerReferences") or [])


def dropped(host: Object, there: Object) -> str:
    """Return the fields of a specification that are missing or others over there; more fields do not count."""
    empty = {"apiVersion": "", "kind": "", "metadata": {"name": ""}}
    lost, _added = copies.differences(dict(empty, spec=host.get("spec")), dict(empty, spec=there.get("spec")))
    return ", ".join(lost)


def secret_copy(secret: Object) -> Object:
    """Return a Secret as it is created over there; the operator makes the host its owner again."""
    made = copies.created(secret, {})
    for name in ("ownerReferences", "finalizers"):
        made["metadata"].pop(name, None)
    return made


def host_copy(host: Object, plane_uid: str) -> Object:
    """Return a host as it is created over there: held, with its status saved, and with where it comes from.

    :param host: the detached BareMetalHost
    :param plane_uid: uid of the Namespace kube-system where it is
    """
    made = copies.created(host, {})
    made.pop("status", None)
    annotations = dict(host_annotations.of(host), **{
        host_annotations.PAUSED: HELD, host_annotations.STATUS: status_of(host),
        host_annotations.FROM_PLANE: origin(plane_uid, host)})
    annotations.pop(host_annotations.DETACHED)
    made["metadata"].update(annotations=annotations)
    # The operator's, which sets it over there, too; owners would be missed there, and the host collected as garbage.
    for name in ("finalizers", "ownerReferences"):
        made["metadata"].pop(name, None)
    return made


def status_of(host: Object) -> str:
    """Return the status of a detached host as the operator takes it over there, where it is not detached."""
    return host_annotations.saved_status(dict(host, status=dict(host["status"], operationalStatus="OK")))


def companion_copy(obj: Object, uids: Mapping[str, str]) -> Object:
    """Return an object of a host as it is created over there.

    :param uids: uid of an owner here → its uid over there
    """
    made = copies.without_updates(copies.created(obj, uids))
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
    return sorted((obj for obj in objects if obj["kind"] == "Secret" and obj["metadata"]["name"] in names), key=key)
