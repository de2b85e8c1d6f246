# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the operator would do with each host of a backup once it is restored and released; pure.

Source: ``host_state_machine.go`` of BMO 0.13: what a host with this spec and status goes to next.
"""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from ..._common.documents.object_shape import of_kind
from ..._common.texts.plain_text import plain
from ..._host.description import annotations as host_annotations
from ..._host.state.goals import stays_detached
from ..._kube.objects.finalizers import is_going
from ..checks.rules import STEADY

Object = dict[str, Any]

NOTHING, ADOPTED = "nothing", "adopted"
WIPED, REINSTALLED, POWERED = "wiped", "reinstalled", "powered off or on"
OUTDATED, TWICE = "taken for what it was", "managed by two planes"
SHARED, OTHER = "managed by two hosts", "taken for another one"
GIVEN = "free for other machines"
# What these cost must be named by the user.
COSTLY = (WIPED, REINSTALLED, POWERED, OUTDATED, TWICE, SHARED, OTHER, GIVEN)
_FREE = ("available", "ready")
# Milliseconds and zone do not count, only whether the image is another one.
_IMAGE_FIELDS = ("url", "checksum")


class Verdict(NamedTuple):
    """What would become of a host.

    :ivar name: its name
    :ivar effect: one of the constants above
    :ivar cause: why, for a reader
    :ivar not_asked: what would say more, and nobody was asked, in words
    """

    name: str
    effect: str
    cause: str
    not_asked: tuple[str, ...] = ()


class Now(NamedTuple):
    """What is known of a host's server right now.

    :ivar powered_on: whether it is on, by its BMC; None when that is not known
    :ivar cluster: name of the cluster that it was a node of when the backup was taken; None for none
    :ivar node: name of its Node then
    :ivar answers: whether the API server of that cluster answers
    :ivar joined_at: when the Node of that name has joined, RFC 3339 in UTC; None when there is none
    :ivar is_linked: whether that Node has a providerID
    :ivar moved_to: uid or URL of the plane that this plane has handed it over to; None for none
    :ivar shared: what says that another host of this plane has it, in words; None for nothing
    :ivar other: what says that another server is behind the address of its BMC, in words; empty for nothing
    :ivar not_compared: why that is not known, in words; empty when it is the same server
    :ivar joined: of which Node, that it was not then, it is the server, in words; empty for none
    :ivar unknown: why it may be a node since, unless it was one when the backup was taken, in words; empty for nothing
    """

    powered_on: bool | None = None
    cluster: str | None = None
    node: str = ""
    answers: bool = True
    joined_at: str | None = None
    is_linked: bool = True
    moved_to: str | None = None
    shared: str | None = None
    other: str = ""
    not_compared: str = ""
    joined: str = ""
    unknown: str = ""


_UNKNOWN = Now()
# IsProvisioned of metal3machine_manager.go: CAPM3 has done so for the Node of before.
_UNLINKED = ("; that Node has no provider ID, and CAPM3 gives a machine's Node one only once, so that Cluster API "
             "takes the Node for deleted until the Machine's spec.providerID is written into the Node's")


def of(host: Object, now: Now = _UNKNOWN, taken_at: str = "") -> Verdict:
    """Return what would become of a host.

    :param host: the BareMetalHost as it was backed up, with its status
    :param now: what is known of its server
    :param taken_at: when the backup was taken, RFC 3339 in UTC
    """
    verdict = _of(host, now, taken_at)
    # A backup, and what API servers say, is anybody's; a playbook prints it as it is.
    return verdict._replace(cause=plain(verdict.cause), not_asked=tuple(map(plain, _not_asked(host, now))))


def loses(host: Object) -> bool:
    """Say whether the operator would wipe a host, with its status, or install it again."""
    return of(host).effect in (WIPED, REINSTALLED)


def _of(host: Object, now: Now, taken_at: str) -> Verdict:
    verdict = _by_itself(host, now.powered_on)
    if now.moved_to is not None:
        return Verdict(verdict.name, TWICE, f"this plane has handed it over to the plane {now.moved_to} since")
    if now.shared is not None:
        return Verdict(verdict.name, SHARED, now.shared)
    if now.other:
        return Verdict(verdict.name, OTHER, now.other)
    # What would be wiped is so, whatever it has become.
    if verdict.effect in (WIPED, REINSTALLED):
        return verdict
    is_free = _is_free(host)
    if now.joined:
        return Verdict(verdict.name, GIVEN if is_free else OUTDATED, now.joined)
    if is_free and now.unknown:
        return Verdict(verdict.name, GIVEN, f"it was free when the backup was taken, and may be a node since: "
                       f"{now.unknown}")
    if verdict.effect not in (ADOPTED, POWERED) or now.cluster is None:
        return verdict
    if not now.answers:
        return Verdict(verdict.name, OUTDATED, f"the API server of its cluster {now.cluster} does not answer; it may "
                       "have been deleted since the backup was taken")
    if now.joined_at is None:
        return Verdict(verdict.name, OUTDATED, f"its Node {now.node} is not in the cluster {now.cluster} any more")
    if taken_at and now.joined_at > taken_at:
        return Verdict(verdict.name, OUTDATED, f"its Node {now.node} has joined the cluster {now.cluster} at "
                       f"{now.joined_at}, after the backup was taken: it was installed again since" + (
                           "" if now.is_linked else _UNLINKED))
    return verdict


def _is_free(host: Object) -> bool:
    """Say whether any machine could take a host once it is released."""
    host = of_kind(host, "BareMetalHost")
    state = ((host.get("status") or {}).get("provisioning") or {}).get("state")
    return state in _FREE and bool((host["spec"].get("bmc") or {}).get("address"))


def _not_asked(host: Object, now: Now) -> list[str]:
    spec = of_kind(host, "BareMetalHost")["spec"]
    if not (spec.get("bmc") or {}).get("address"):
        return []
    found = []
    if now.powered_on is None:
        found.append("whether it is on: its BMC was not asked, or has not answered")
    if now.not_compared:
        found.append(f"whether it is the same server: {now.not_compared}")
    if now.cluster is None:
        found.append("what is on its disks by now: it was no node of a cluster, and no BMC says that")
    return found


def _by_itself(host: Object, powered_on: bool | None) -> Verdict:
    host = of_kind(host, "BareMetalHost")
    name, spec = host["metadata"]["name"], host["spec"]
    provisioning = (host.get("status") or {}).get("provisioning") or {}
    state = str(provisioning.get("state") or "")
    wanted, deployed = _image(spec.get("image")), _image(provisioning.get("image"))
    method, deployed_method = _method(spec), _method(provisioning)
    if not (spec.get("bmc") or {}).get("address"):
        return Verdict(name, NOTHING, "it is not managed")
    if is_going(host):
        return Verdict(name, WIPED, "it was being deleted")
    if stays_detached(host):
        return Verdict(name, NOTHING, "it is detached, and the operator leaves its server alone until it is attached")
    if spec.get("externallyProvisioned"):
        return Verdict(name, ADOPTED, "its system was installed by somebody else")
    again = REINSTALLED if wanted or method else WIPED
    if state not in STEADY or state == "unmanaged":
        return Verdict(name, again, f"it was {state or 'new'} when the backup was taken, and the operator begins from "
                                    "the start")
    if state == "externally provisioned":
        return Verdict(name, again, "its system was installed by somebody else, and the operator is to manage it")
    if state == "provisioned" and not wanted and not method:
        return Verdict(name, WIPED, "an image is deployed, and none is wanted")
    # provisioningCancelled of host_state_machine.go; without an image of before, one that is wanted is taken for it.
    if state == "provisioned" and any(before and now != before for now, before in (
            (wanted, deployed), (method, deployed_method))):
        return Verdict(name, REINSTALLED, "another image is wanted than is deployed")
    if state in ("available", "ready") and (wanted or method):
        return Verdict(name, REINSTALLED, "an image is wanted, and none was deployed when the backup was taken")
    if any(map(host_annotations.is_reboot, host_annotations.of(host))):
        return Verdict(name, POWERED, "a reboot was due, or it was held powered off, when the backup was taken")
    if powered_on is not None and bool(spec.get("online")) != powered_on:
        now, then = ("on", "off") if powered_on else ("off", "on")
        return Verdict(name, POWERED, f"its server is {now} now, and the backup wants it {then}")
    if state == "provisioned":
        return Verdict(name, ADOPTED, "what is deployed is what is wanted")
    return Verdict(name, NOTHING, "it is free, and is registered")


def _image(value: Any) -> tuple[Any, ...] | None:
    if not isinstance(value, Mapping) or not value.get("url"):
        return None
    return tuple(value.get(field) or None for field in _IMAGE_FIELDS)


def _method(parent: Mapping[str, Any]) -> str:
    return str((parent.get("customDeploy") or {}).get("method") or "")
