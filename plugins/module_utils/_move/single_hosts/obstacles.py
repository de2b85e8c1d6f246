# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What keeps single hosts in their plane, and another plane from taking them; pure.

Sources: ``baremetalhost_controller.go`` (``detachHost``) of BMO 0.13; ``metal3machine_manager.go`` of CAPM3 1.13.
"""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..._common.problems.problem import Problem
from ..._host.description import annotations as host_annotations
from ..._host.description.named_secrets import SECRETS
from ..._host.state import lock as host_lock
from ..._host.state.goals import state_of
from ..checks import rules as checks
from ..checks.rules import obstacle
from ..objects.copies import FIRMWARE
from ..objects.graph import key, title
from .copies import GROUP, dropped, origin, secrets_missing

Object = dict[str, Any]

# States in which Ironic does nothing with a server, and in which BMO detaches.
STEADY = tuple(state for state in checks.STEADY if state != "unmanaged")
# What lives in the BMC itself, or is bound to the media that this plane has attached.
_BOUND = {"BMCEventSubscription": "delete it, and make it over there", "DataImage": "delete it first, which ejects it"}


def in_use(host: Object) -> list[Problem]:
    """Return a problem for a host with a consumer."""
    consumer = (host.get("spec") or {}).get("consumerRef")
    if not consumer:
        return []
    return [obstacle(host, "spec.consumerRef", f"{consumer.get('kind')} {consumer.get('name')}", "no consumer",
                     "move its cluster with all its hosts by the playbook pivot, or take the machine away first")]


def not_ready(host: Object | None, uid: str, plane_uid: str) -> str:
    """Return why a host here must not be given away, although it was detached for that; empty for nothing.

    :param host: the host as it is by now, or None
    :param uid: of the host that was checked
    :param plane_uid: uid of the Namespace kube-system over there
    """
    if host is None or host["metadata"]["uid"] != uid:
        return "it was deleted here by somebody else meanwhile"
    is_detached = (host.get("status") or {}).get("operationalStatus") == "detached"
    if host_annotations.to_plane(host) != plane_uid or not is_detached:
        return "it is not detached for this move any more"
    if state_of(host) not in STEADY:
        return f"it is {state_of(host)} by now"
    return "; ".join(map(str, in_use(host)))


def problems(host: Object, objects: Iterable[Object], now: float, plane_uid: str,
             there: Object | None = None) -> list[Problem]:
    """Return what keeps a host in its plane.

    :param host: the BareMetalHost
    :param objects: all objects of its namespace
    :param now: seconds since 1970
    :param plane_uid: uid of the Namespace kube-system of the plane that it is given to
    :param there: its copy over there, or None
    """
    objects = list(objects)
    mark = host_annotations.to_plane(host)
    if mark not in (None, plane_uid):
        return [Problem("move-other", title(key(host)), host_annotations.DETACHED, "on its way to another plane",
                        "a move to the plane of to_kubeconfig", "finish that one first with its own to_kubeconfig")]
    if mark is None and there is not None:
        return [obstacle(host, f"metadata.annotations.{host_annotations.DETACHED}", "not the mark of this move, but "
                         "there is a copy over there", "the mark", "do not attach it: the other plane may have it; "
                         "detach the one that is not to stay, wait until it is detached, then delete that one")]
    status = host.get("status") or {}
    # That it is detached is this move's doing; all else holds for it as well, because others can write the mark.
    checked = dict(host, status=dict(status, operationalStatus="OK")) \
        if mark and status.get("operationalStatus") == "detached" else host
    if there is not None:
        # A run that was killed may have begun to delete it.
        checked = dict(checked, metadata=dict((name, value) for name, value in host["metadata"].items()
                                              if name != "deletionTimestamp"))
    found = checks.host_problems(checked)
    if state_of(host) == "unmanaged":
        found.append(obstacle(host, "status.provisioning.state", "unmanaged", "one of " + ", ".join(STEADY),
                              "enrol it over there, and delete it here"))
    if host_annotations.of(host).get(host_annotations.PAUSED) == checks.HELD:
        found.append(obstacle(host, f"metadata.annotations.{host_annotations.PAUSED}", "held for a pivot", "not paused",
                              "finish the pivot first, or take it back"))
    locked = host_lock.problem(title(key(host)), "hosts", host, now)
    found += [locked] if locked else []
    found += in_use(host)
    if host["metadata"].get("ownerReferences"):
        owner = host["metadata"]["ownerReferences"][0]
        found.append(obstacle(host, "metadata.ownerReferences", f"{owner.get('kind')} {owner.get('name')}", "no owner",
                              "let its owner go first: it would not find the host over there"))
    if host_annotations.DETACHED in host_annotations.of(host) and mark is None:
        found.append(obstacle(host, f"metadata.annotations.{host_annotations.DETACHED}", "set", "no such annotation",
                              "attach the host first, or find out who has detached it and why"))
    namespace = host["metadata"].get("namespace")
    for field, _name in SECRETS:
        elsewhere = ((host.get("spec") or {}).get(field) or {}).get("namespace")
        if elsewhere and elsewhere != namespace:
            found.append(obstacle(host, f"spec.{field}.namespace", elsewhere, str(namespace),
                                  "name a Secret of the host's own namespace"))
    known = set(obj["metadata"]["name"] for obj in objects if obj["kind"] == "Secret")
    found += [obstacle(host, "spec", f"Secret {name}, which is not there", "Secrets that are there",
                       "make it, or correct the host") for name in secrets_missing(host, known)]
    return found + [problem for obj in objects for problem in _bound(host, obj)]


def _bound(host: Object, obj: Object) -> list[Problem]:
    group, kind, name = key(obj)
    mine = host["metadata"]["name"]
    if group != GROUP or (name != mine and (obj.get("spec") or {}).get("hostName") != mine):
        return []
    if kind in _BOUND:
        return [obstacle(host, "", title(key(obj)), "none", _BOUND[kind])]
    updates = (obj.get("spec") or {}).get("updates")
    if kind == FIRMWARE and updates and updates != (obj.get("status") or {}).get("updates"):
        return [obstacle(host, "", f"{title(key(obj))} with updates that are not flashed yet", "none",
                         "flash them first by the playbook firmware, or take them away")]
    return []


def taken(host: Object, plane_uid: str, there: Object | None) -> list[Problem]:
    """Return what keeps a plane from taking a host under its name.

    :param host: the BareMetalHost where it comes from
    :param plane_uid: uid of the Namespace kube-system there
    :param there: the host of this name over there, or None
    """
    found = []
    if there is not None:
        if host_annotations.of(there).get(host_annotations.FROM_PLANE) != origin(plane_uid, host):
            found.append(obstacle(host, "", "another host of this name over there", "a name that is free there",
                                  "find out which of the two has the server; rename the other"))
        elif dropped(host, there):
            found.append(obstacle(host, "spec", f"another specification over there than here: {dropped(host, there)}",
                                  "the same", "find out who has changed one of them, and correct that one"))
    return found


def secret_problems(secrets: Iterable[Object], there: Mapping[str, Object]) -> list[Problem]:
    """Return a problem for each Secret whose name another one has over there.

    :param secrets: Secrets where they come from
    :param there: Secrets over there by name
    """
    return [obstacle(secret, "data", "other content over there", "a name that is free there, or the same content",
                     "rename or delete one of the two")
            for secret in secrets if secret["metadata"]["name"] in there
            and (there[secret["metadata"]["name"]].get("data") or {}) != (secret.get("data") or {})]
