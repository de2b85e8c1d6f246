# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""When an action on a host as it is is refused, because BMO or its webhook would ignore, misread or reject it.

Pure functions of data. Each rule names its source in BMO 0.13: a function of ``baremetalhost_controller.go`` or
``host_state_machine.go``, or of the webhook's ``baremetalhost_validation.go``.
"""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from ..._common.options.field_checks import show
from ..._common.problems.problem import Problem
from ..._common.texts.formats import moment_of
from ..._kube.objects.finalizers import HINT, deletion_of, is_going
from ..._kube.objects.precondition import uid_of
from ..description import annotations as host_annotations
from ..description.objects import consumer_of
from ..state import lock as host_lock
from ..state import power_coming
from ..state.goals import AVAILABLE, ERROR, RUNNING, error_of, state_of
from . import interruptions
from .action_request import check_saved
from .actions import ACTIONS, NOTHING, STEADY, has_status, is_done, is_reboot_begun, restored_status

# States in which BMO boots the deploy ramdisk, and starts it again for a forced reboot.
_RAMDISK = ("inspecting", "provisioning")


def check_hosts(requests, current, hardware_data, namespace, forced=()):
    """Check requests against the hosts that are there.

    :param requests: list of Request that ``action_request.check_requests`` found no fault with
    :param current: ``{name: BareMetalHost}``
    :param hardware_data: ``{(namespace, name): HardwareData}``; needed for ``set_hardware`` only
    :param namespace: name of the namespace, for messages
    :param forced: names of hosts on which actions are taken although they have a consumer, are held powered off or are
        kept by a move
    :returns: list of Problem
    """
    problems = []
    for request in requests:
        bmh = current.get(request.name)
        if bmh is None:
            problems.append(Problem(
                "host-action", request.name, "name", "no BareMetalHost", f"one in namespace {namespace}",
                "correct the name or the namespace, or enrol the host first"))
        elif not is_done(bmh, request):
            problems += _check_host(request, bmh, hardware_data.get((namespace, request.name)), forced)
    return problems


class Identity(NamedTuple):
    """What a host was when somebody checked it.

    :ivar uid: its uid
    :ivar consumer: of :func:`objects.consumer_of`
    :ivar maintained: since when it is being maintained, as its mark says, empty for a mark that does not say it; None
        when that does not matter
    """

    uid: str | None
    consumer: str
    maintained: str | None = None


def identity_of(bmh):
    """Return the Identity of a BareMetalHost."""
    return Identity(uid_of(bmh), consumer_of(bmh))


def checked_option() -> dict[str, Any]:
    """Return the option ``checked`` of modules: hosts as they were when the caller checked them."""
    return {"type": "list", "elements": "dict", "default": [], "options": {
        "name": {"type": "str", "required": True}, "uid": {"type": "str", "required": True},
        "consumer": {"type": "str", "default": ""}, "maintained": {"type": "str"}}}


def identities(checked: Iterable[Mapping[str, Any]]) -> dict[str, Identity]:
    """Return the Identity of each host by its name.

    :param checked: value of the option of :func:`checked_option`
    """
    return dict((item["name"], Identity(item["uid"], item["consumer"], item["maintained"])) for item in checked)


def check_identity(requests, current, checked):
    """Check that hosts are those that the caller has checked, with the consumers that they had.

    :param requests: list of Request
    :param current: ``{name: BareMetalHost}``
    :param checked: ``{name: Identity}`` as the caller has checked them; hosts that it does not name may be any
    :returns: list of Problem
    """
    problems = []
    for request in requests:
        bmh, before = current.get(request.name), checked.get(request.name)
        if bmh is not None and before is not None:
            problems += identity_problems("host-action", request.name, request.action, bmh, before)
    return problems


def identity_problems(code: str, subject: str, field: str, bmh: dict[str, Any], before: Identity) -> list[Problem]:
    """Return the Problem of a host that is another one than the caller has checked, or has another consumer, in a list.

    :param code, subject, field: of the Problem
    :param bmh: the BareMetalHost as it is by now
    :param before: what it was when the caller checked it
    """
    if uid_of(bmh) != before.uid:
        texts = "another BareMetalHost of this name", "the one that was checked"
    elif consumer_of(bmh) != before.consumer:
        texts = (f"a host in use by {consumer_of(bmh)}" if consumer_of(bmh) else "a host without consumer",
                 f"{before.consumer or 'none'}, its consumer when it was checked")
    elif before.maintained is not None and host_annotations.maintained_since(bmh) != before.maintained:
        # Its node takes pods by now, or another run has drained it for something else.
        texts = ("a host that another run has given back, or maintains since",
                 "the maintenance for which it was drained")
    else:
        return []
    return [Problem(code, subject, field, *texts, "look at it, then run again")]


def _check_host(request, bmh, hardware_data, forced):
    def problem(actual, expected, hint):
        return Problem("host-action", request.name, request.action, actual, expected, hint)

    obstacles = list(_obstacles(request, bmh, forced))
    if obstacles:
        return [problem(*texts) for texts in obstacles]
    rule = _RULES.get(request.action)
    return [problem(*texts) for texts in (rule(request, bmh, hardware_data) if rule else ())]


def _obstacles(request, bmh, forced):
    action = ACTIONS[request.action]
    annotations = host_annotations.of(bmh)
    locked = host_lock.problem(request.name, request.action, bmh, moment_of(request.now) or 0)
    if locked and (action.guarded or action.moves):
        yield locked.actual, locked.expected, locked.hint
    if is_going(bmh) and "deleting" not in action.tolerates:
        yield f"a host that is {deletion_of(bmh)}", "one that stays", HINT
    if host_annotations.PAUSED in annotations and "paused" not in action.tolerates:
        yield (f"a paused host (annotation {host_annotations.PAUSED})", "a host that BMO works on",
               "resume it first (action resume)")
    if (host_annotations.DETACHED in annotations or (bmh.get("status") or {}).get("operationalStatus") == "detached") \
            and "detached" not in action.tolerates:
        yield (f"a detached host (annotation {host_annotations.DETACHED})", "a host that BMO manages",
               "attach it first (action attach)")
    if request.name not in forced:
        yield from _kept(action.plan(bmh, request).annotations, bmh)
    lost = "" if request.name in forced else interruptions.due_loss(request, bmh)
    if lost and action.plan(bmh, request) != NOTHING:
        yield (f"a host on which {lost}",
               "one whose spec names what is deployed: BMO would deprovision the server, and what is on its disks "
               "would be lost", "correct its spec, or name the host in force_hosts if that may be lost")
    interrupted = "" if request.name in forced else interruptions.due_power(request, bmh)
    if interrupted and action.plan(bmh, request) != NOTHING:
        yield (f"a host {interrupted}", "one whose server stays as it is: BMO would switch it off at once, and what "
               "runs on it would be interrupted", "set online to true, or remove the annotation (a deletion can't be "
               "taken back), or name the host in force_hosts if what runs on it may be interrupted")
    if action.guarded and consumer_of(bmh) and request.name not in forced and not _is_switched_on_again(request, bmh):
        yield (f"a host in use by {consumer_of(bmh)}", "a host without consumer",
               "name the host in force_hosts if what runs on it may be interrupted")
    if action.ends_holds and request.name not in forced and action.plan(bmh, request) != NOTHING:
        for key in host_annotations.held_by(bmh):
            yield (f"a host held powered off by the annotation {host_annotations.reboot_key(key)}",
                   "a host that nobody holds: BMO boots it and takes the annotation away (actionInspecting)",
                   f"release it first (action reboot_release, key {key}), or name the host in force_hosts if nobody "
                   "works on it")


def _kept(changes, bmh):
    # By its last mark a move knows the host, and without it the operators of both planes would work on one server.
    kept = host_annotations.kept_by(bmh)
    for key in sorted(set(changes) & set(kept)):
        yield (f"a host that the playbook {kept[key]} keeps (annotation {key}: {host_annotations.of(bmh)[key]})",
               "a host that is not on its way", f"finish or take back what {kept[key]} has begun, or name the host in "
               "force_hosts if no other plane has its server")


def _is_switched_on_again(request, bmh):
    """Say whether CAPM3 sets ``online`` again, which it does with each host of a Metal3Machine."""
    consumer = (bmh.get("spec") or {}).get("consumerRef") or {}
    return request.action == "power_off" and consumer.get("kind") == "Metal3Machine"


def _power_rule(request, bmh, dummy):
    spec, state = bmh.get("spec") or {}, state_of(bmh)
    if state not in STEADY:
        yield (f"a host in state {state}", f"one of {', '.join(STEADY)}: in others BMO leaves the power alone",
               "wait until it is available, then run again")
    elif request.action == "power_off":
        if _is_switched_on_again(request, bmh):
            yield (f"a host of Metal3Machine {spec['consumerRef'].get('name')}",
                   "a host that Cluster API does not use: CAPM3 switches it on again",
                   "hold it powered off (action reboot_hold with a key of yours) and release it later (action "
                   "reboot_release), or use the playbook maintain")
        if spec.get("disablePowerOff"):
            yield ("a host with disable_power_off", "a host that may be powered off (BMO webhook)",
                   "remove disable_power_off first, or reboot it")
    else:
        yield from _held(bmh)
        if state in AVAILABLE and (spec.get("image") or {}).get("url"):
            yield (f"a host with the image {spec['image']['url']}", "a host without an image: powering it on would "
                   "write the image to its disk", "provision it by baremetal_host, or remove the image first")
        elif state in AVAILABLE and (spec.get("customDeploy") or {}).get("method"):
            yield ("a host with custom_deploy", "a host with nothing to deploy: powering it on would deploy it",
                   "provision it by baremetal_host, or remove custom_deploy first")


def _held(bmh):
    # hasRebootAnnotation: a keyed annotation keeps the server off.
    for key in power_coming.held_by(bmh):
        yield (f"a host held powered off by the annotation {host_annotations.reboot_key(key)}",
               "a host that nobody holds", f"release it first (action reboot_release, key {key})")


def _reboot_rule(request, bmh, dummy):
    spec, state = bmh.get("spec") or {}, state_of(bmh)
    if state in _RAMDISK:
        if not request.force:
            yield (f"a host in state {state}", "force in this state: only then BMO starts the deploy ramdisk again",
                   "set force, or wait until the host is available")
        return
    yield from _reboot_states(request, state)
    yield from _held(bmh)
    if state in STEADY and spec.get("online") is False:
        yield "a host with online false", "a host with online true", "power it on (action power_on)"
    elif state in STEADY and not (bmh.get("status") or {}).get("poweredOn") and not is_reboot_begun(bmh, request):
        # manageHostPower removes the annotation as soon as the server is off.
        yield ("a host that is powered off", "a host that is powered on: BMO would drop the request",
               "wait until it is powered on")


def _reboot_states(request, state):
    if state not in STEADY:
        yield (f"a host in state {state}", f"one of {', '.join(STEADY)}: in others BMO ignores the request or drops "
                                           "it", "wait until it is available or provisioned, then run again")
    elif state not in RUNNING and not request.force:
        yield (f"a host in state {state}", f"force, or one of {', '.join(RUNNING)}: others are only rebooted by "
                                           "force", "set force")


def _hold_rule(request, bmh, dummy):
    yield from _reboot_states(request, state_of(bmh))
    if (bmh.get("spec") or {}).get("disablePowerOff"):
        yield ("a host with disable_power_off", "a host that may be powered off: this one would be rebooted again and "
               "again until it is released", "remove disable_power_off first, or use the action reboot")


def _inspect_rule(dummy, bmh, dummy2):
    state = state_of(bmh)
    if state not in AVAILABLE + ("inspecting",):
        yield (f"a host in state {state}", f"{AVAILABLE[0]}: in others the request would wait and take the host by "
                                           "surprise later", "deprovision the host, or wait until it is available")
    if _is_inspection_disabled(bmh):
        # actionInspecting leaves the annotation in place then, and handleAvailable takes it up again.
        yield ("a host whose inspection is disabled", "inspection_mode agent: BMO would go from available to "
               "inspecting and back without end", "set inspection_mode to agent (and remove the annotation "
                                                  f"{host_annotations.INSPECT})")


def _is_inspection_disabled(bmh):
    return host_annotations.is_inspection_disabled(
        (bmh.get("spec") or {}).get("inspectionMode"), host_annotations.of(bmh))


def _resume_rule(dummy, bmh, dummy2):
    if host_annotations.of(bmh).get(host_annotations.PAUSED) == host_annotations.PAUSED_BY_CAPM3:
        yield ("a host that Cluster API's provider paused with its Cluster", "a host that nobody else paused: the "
               "provider would pause it again", "resume the Cluster (spec.paused)")


def _pause_rule(request, bmh, dummy):
    stored = host_annotations.of(bmh).get(host_annotations.PAUSED)
    if stored == host_annotations.PAUSED_BY_CAPM3 and request.reason not in (None, stored):
        yield ("a host that Cluster API's provider paused with its Cluster", "a pause of its own: another reason would "
               "keep the provider from resuming it", "leave out the reason, or pause the Cluster (spec.paused)")


def _lock_rule(request, bmh, dummy):
    lock = host_lock.lock_of(bmh, moment_of(request.now) or 0)
    if lock and lock.reason != request.reason:
        yield (f"a host locked {'until ' + lock.until if lock.until else 'without an end'}: {show(lock.reason)}",
               "a host that nobody else has locked", "unlock it first (action unlock) if its lock does not count any "
               "more; with the same reason the end of a lock can be changed")


def _retry_rule(dummy, bmh, dummy2):
    state = state_of(bmh)
    if not error_of(bmh)[0] and (bmh.get("status") or {}).get("operationalStatus") != ERROR and state not in STEADY:
        yield (f"a host in state {state} without an error", "a host with an error: there is nothing to try again",
               f"wait until it is {AVAILABLE[0]}")


def _detach_rule(request, bmh, dummy):
    state = state_of(bmh)
    if state == "deleting":
        yield "a host in state deleting", "a host that stays (BMO ignores it)", "wait until it is gone"
    elif state not in STEADY and not request.force:
        yield (f"a host in state {state}", f"force, or one of {', '.join(STEADY)} (checkDetachedHost)",
               "wait until the host is available, or set force, which aborts what is going on")


def _save_rule(request, bmh, dummy):
    if not has_status(bmh):
        yield "a host without status", "a host with a status from BMO", "wait until it has a state"
    if host_annotations.PAUSED not in host_annotations.of(bmh):
        yield ("a host that is not paused", "a paused host: BMO removes the annotation at once otherwise",
               "pause it first (action pause)")
    for found in check_saved(request.name, bmh.get("status") or {}, "wait until it is over, then run again"):
        yield f"{found.field} {found.actual}", found.expected, found.hint


def _restore_rule(request, bmh, dummy):
    if has_status(bmh):
        yield ("a host that has a status", "a host without one: BMO would drop the annotation unread",
               "restore it on a host that was created paused and has no status yet")
    spec, saved = bmh.get("spec") or {}, restored_status(bmh, request).get("provisioning") or {}
    # provisioningCancelled, handleExternallyProvisioned: what the specification does not name is deprovisioned.
    for field, part, option in (("image", "url", "image"), ("customDeploy", "method", "custom_deploy")):
        deployed, named = ((place.get(field) or {}).get(part) for place in (saved, spec))
        if deployed and deployed != named:
            yield (f"a host with {option} {show(named) if named else 'none'}",
                   f"{show(deployed)}, which the status says is deployed: BMO would deprovision the server, and what "
                   "is on its disks would be lost", f"set the host's {option} first, while it is paused")
    if saved.get("state") == "externally provisioned" and not spec.get("externallyProvisioned"):
        yield ("a host that is not externally provisioned", "one that is, as the status says: BMO would deprovision "
               "the server, and what is on its disks would be lost", "delete the paused host and make it again with "
               "externally_provisioned true")


def _hardware_rule(dummy, bmh, hardware_data):
    if not _is_inspection_disabled(bmh):
        yield ("a host that is inspected", "inspection_mode disabled (BMO webhook)", "set inspection_mode to disabled")
    if ((hardware_data or {}).get("spec") or {}).get("hardware"):
        yield (f"a HardwareData {bmh['metadata']['name']} from an inspection", "none: BMO takes its content and "
               "drops the annotation (updateHardwareDetails)", "delete the HardwareData first")


_RULES = {
    "power_on": _power_rule,
    "power_off": _power_rule,
    "reboot": _reboot_rule,
    "reboot_hold": _hold_rule,
    "inspect": _inspect_rule,
    "resume": _resume_rule,
    "pause": _pause_rule,
    "lock": _lock_rule,
    "retry": _retry_rule,
    "detach": _detach_rule,
    "save_status": _save_rule,
    "restore_status": _restore_rule,
    "set_hardware": _hardware_rule,
}
