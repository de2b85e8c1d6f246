# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What can be asked of a BareMetalHost: what each action writes, and how the host shows that it was done.

Pure functions of data. Source: BMO 0.13, ``baremetalhost_controller.go`` and ``host_state_machine.go``; what BMO would
ignore or misread is refused by ``rules/action.py``.
"""
from __future__ import annotations

from collections import namedtuple

from ..._common.redaction.redaction import without_url_secrets
from ..description import annotations as host_annotations
from ..state import lock as host_lock
from ..state import power_coming
from ..state.goals import AVAILABLE, ERROR, RUNNING, error_of, in_service, state_of
from ..state.taken_up import has_status

# The only states in which BMO looks at power (manageHostPower).
STEADY = AVAILABLE + RUNNING

# action: key of ACTIONS. mode: soft or hard. key: of a keyed reboot annotation. delete_action: delay or delete.
# reason: text for those who read the annotation. until: end of a lock. status, hardware: dicts. now: time of the run.
# once: whether a reboot that was begun by such a request is only waited for.
Request = namedtuple("Request", [
    "name", "action", "mode", "key", "force", "delete_action", "reason", "status", "hardware", "now", "until", "once"],
    defaults=["soft", None, False, None, None, None, None, "", None, False])

# annotations: {key: text, or None to remove it}; online: what spec.online is to be, None for as it is.
Change = namedtuple("Change", ["annotations", "online"], defaults=[None])
NOTHING = Change({})

# goal: words for the end of the wait; plan: (bmh, request) → Change; reached: (baseline, bmh, request) → bool;
# tolerates: conditions of a host in which the action works: paused, detached, deleting; guarded: what runs on the host
# may suffer, so not under a consumer; ends_holds: BMO boots the server and removes all keys that hold it off; moves: it
# may switch or boot the server, so not while somebody has locked it; holds: the server is to stay off although it is to
# be on, which BMO ends for a while when firmware is pending.
Action = namedtuple("Action", ["goal", "plan", "reached", "tolerates", "guarded", "ends_holds", "moves", "holds"],
                    defaults=[(), False, False, False, False])


def _status(bmh):
    return bmh.get("status") or {}


def _is_detached(bmh):
    return _status(bmh).get("operationalStatus") == "detached"


def _is_healthy(bmh):
    return _status(bmh).get("operationalStatus") != ERROR


def _without(*keys):
    """Return a plan that removes annotations."""
    return lambda bmh, dummy: Change(dict((key, None) for key in keys if key in host_annotations.of(bmh)))


def _has(key):
    return lambda dummy, bmh, request: key in host_annotations.of(bmh)


def _lacks(*keys):
    return lambda dummy, bmh, request: not any(key in host_annotations.of(bmh) for key in keys)


def _set(bmh, key, value):
    return NOTHING if host_annotations.of(bmh).get(key) == value else Change({key: value})


def _power(online):
    return lambda bmh, dummy: NOTHING if bool((bmh.get("spec") or {}).get("online")) is online else Change({}, online)


def _is_powered(online):
    return lambda dummy, bmh, request: (
        bool((bmh.get("spec") or {}).get("online")) is online and _power_is(online, bmh))


def _power_is(on, bmh):
    """Say whether a server is on, or off, and stays so."""
    return bool(_status(bmh).get("poweredOn")) is on and not in_service(bmh)


def _reboot_value(request):
    return host_annotations.compact(dict({"mode": request.mode}, **({"force": True} if request.force else {})))


def is_reboot_begun(bmh, request):
    """Say whether BMO has acted on a reboot that was asked for once, and that is not over or was not looked at yet."""
    stored = host_annotations.of(bmh)
    return request.once and host_annotations.REBOOT_BEGUN in stored and host_annotations.REBOOT not in stored


def _reboot(bmh, request):
    if is_reboot_begun(bmh, request):
        return NOTHING
    change = _set(bmh, host_annotations.REBOOT, _reboot_value(request))
    if not request.once or host_annotations.REBOOT_BEGUN in host_annotations.of(bmh):
        return change
    return Change(dict(change.annotations, **{host_annotations.REBOOT_BEGUN: request.now}))


def _has_rebooted(baseline, bmh, dummy):
    # BMO removes the annotation when it has found the server powered off; in other states when it starts the deploy
    # ramdisk again, and with disablePowerOff when Ironic was asked to reboot.
    if host_annotations.REBOOT in host_annotations.of(bmh):
        return False
    return _power_is(True, bmh) or state_of(baseline) not in STEADY


def _hold(bmh, request):
    return _set(bmh, host_annotations.reboot_key(request.key), _reboot_value(request))


def _is_held(dummy, bmh, request):
    return host_annotations.reboot_key(request.key) in host_annotations.of(bmh) and _power_is(False, bmh)


def _release(bmh, request):
    return _without(host_annotations.reboot_key(request.key))(bmh, request)


def _is_released(dummy, bmh, request):
    if host_annotations.reboot_key(request.key) in host_annotations.of(bmh):
        return False
    if power_coming.held_by(bmh):
        return True
    return _power_is(bool((bmh.get("spec") or {}).get("online")), bmh)


def _inspect(bmh, dummy):
    if state_of(bmh) == "inspecting":
        return NOTHING
    return NOTHING if host_annotations.INSPECT in host_annotations.of(bmh) else Change({host_annotations.INSPECT: ""})


def _inspection(bmh):
    return (_status(bmh).get("operationHistory") or {}).get("inspect") or {}


def _is_inspected(baseline, bmh, dummy):
    if host_annotations.INSPECT in host_annotations.of(bmh) or state_of(bmh) not in AVAILABLE:
        return False
    anew = state_of(baseline) == "inspecting" or _inspection(baseline).get("start") != _inspection(bmh).get("start")
    return anew and bool(_inspection(bmh).get("end")) and _is_healthy(bmh)


def _pause(bmh, request):
    # Whoever paused the host knows it by the value: without a reason of its own a request leaves it.
    stored = host_annotations.of(bmh).get(host_annotations.PAUSED)
    if stored is not None and request.reason in (None, stored):
        return NOTHING
    return Change({host_annotations.PAUSED: request.reason or ""})


def _detach(bmh, request):
    stored = host_annotations.of(bmh).get(host_annotations.DETACHED)
    given = dict(pair for pair in (("deleteAction", request.delete_action), ("force", request.force)) if pair[1])
    if stored is not None and all(host_annotations.arguments(stored).get(key) == value for key, value in given.items()):
        return NOTHING
    return Change({host_annotations.DETACHED: host_annotations.compact(given)})


def _is_attached(baseline, bmh, dummy):
    if host_annotations.DETACHED in host_annotations.of(bmh) or _is_detached(bmh):
        return False
    # Detaching deleted the node in Ironic; only a new one shows that BMO has registered the host again.
    known = (_status(baseline).get("provisioning") or {}).get("ID") if _is_detached(baseline) else None
    return not known or ((_status(bmh).get("provisioning") or {}).get("ID") != known and _is_healthy(bmh))


def _mark_unhealthy(bmh, request):
    stored = host_annotations.of(bmh).get(host_annotations.UNHEALTHY)
    if stored is not None and request.reason in (None, stored):
        return NOTHING
    return Change({host_annotations.UNHEALTHY: request.reason or ""})


def _lock(bmh, request):
    return _set(bmh, host_lock.LOCKED, host_lock.value(request.reason, request.until))


def _retry(bmh, request):
    # BMO has no request of its own for it; any changed annotation makes it look at the host at once, and it then tries
    # again what failed, whatever its own delay (restartOnFailure, force).
    return Change({host_annotations.RETRY: request.now}) if error_of(bmh)[0] or not _is_healthy(bmh) else NOTHING


def _has_recovered(dummy, bmh, request):
    return _is_healthy(bmh) and state_of(bmh) in STEADY


def _save_status(bmh, dummy):
    stored = host_annotations.of(bmh).get(host_annotations.STATUS)
    if stored is not None and host_annotations.arguments(stored) == _status(bmh):
        return NOTHING
    return Change({host_annotations.STATUS: host_annotations.compact(_status(bmh))})


def _restore_status(bmh, request):
    if _is_restored(bmh, bmh, request):
        return NOTHING
    annotations = {host_annotations.STATUS: host_annotations.compact(restored_status(bmh, request))}
    if host_annotations.PAUSED in host_annotations.of(bmh):
        # In the same write: without a status and not paused, BMO would register the host again.
        annotations[host_annotations.PAUSED] = None
    return Change(annotations)


def restored_status(bmh, request):
    """Return the status that a host is given: what a result hides of an image's URLs is as the host names it.

    With another image than the host's, BMO would deprovision the server (``imageProvisioningCancelled``).
    """
    provisioning = request.status.get("provisioning") or {}
    saved, named = provisioning.get("image") or {}, (bmh.get("spec") or {}).get("image") or {}
    own = dict((field, named[field]) for field in ("url", "checksum")
               if named.get(field) and saved.get(field) == without_url_secrets(named[field]))
    return dict(request.status, provisioning=dict(provisioning, image=dict(saved, **own))) if own else request.status


def _is_restored(dummy, bmh, request):
    if not has_status(bmh) or host_annotations.STATUS in host_annotations.of(bmh):
        return False
    saved, current = (request.status.get("provisioning") or {}), (_status(bmh).get("provisioning") or {})
    # Where Ironic does not know the node, the operator registers it at once, with an ID of its own; an inspection that
    # this operator did not make can only come from the saved status.
    inspected = _inspection({"status": request.status}).get("start")
    return bool(current.get("state")) and (
        current.get("ID") == saved.get("ID") or (bool(inspected) and _inspection(bmh).get("start") == inspected))


def _set_hardware(bmh, request):
    if contains(_status(bmh).get("hardware") or {}, request.hardware):
        return NOTHING
    return _set(bmh, host_annotations.HARDWARE_DETAILS, host_annotations.compact(request.hardware))


def _has_hardware(dummy, bmh, request):
    return host_annotations.HARDWARE_DETAILS not in host_annotations.of(bmh) and contains(
        _status(bmh).get("hardware") or {}, request.hardware)


def contains(stored, given):
    """True when stored data has all that was given; BMO fills what was left out with empty values."""
    if isinstance(given, dict):
        return isinstance(stored, dict) and all(contains(stored.get(key), value) for key, value in given.items())
    if isinstance(given, list) and isinstance(stored, list):
        return len(stored) == len(given) and all(contains(*pair) for pair in zip(stored, given))
    return stored == given or (stored is None and given in ("", 0, False, [], None))


_ANYWAY = ("paused", "detached", "deleting")

ACTIONS = {
    "power_on": Action("powered on", _power(True), _is_powered(True), guarded=True),
    "power_off": Action("powered off", _power(False), _is_powered(False), guarded=True),
    "reboot": Action("rebooted", _reboot, _has_rebooted, guarded=True),
    "reboot_hold": Action("held powered off", _hold, _is_held, guarded=True, holds=True),
    "reboot_release": Action("released", _release, _is_released, moves=True),
    "inspect": Action("inspected again", _inspect, _is_inspected, guarded=True, ends_holds=True),
    "pause": Action("paused", _pause, _has(host_annotations.PAUSED), _ANYWAY),
    "resume": Action("resumed", _without(host_annotations.PAUSED), _lacks(host_annotations.PAUSED), _ANYWAY,
                     moves=True),
    "detach": Action("detached", _detach, lambda *arguments: _is_detached(arguments[1]) and _has(
        host_annotations.DETACHED)(*arguments), ("detached", "deleting"), guarded=True),
    "attach": Action("attached", _without(host_annotations.DETACHED), _is_attached, ("detached",), moves=True),
    "mark_unhealthy": Action("marked unhealthy", _mark_unhealthy, _has(host_annotations.UNHEALTHY), _ANYWAY),
    "mark_healthy": Action("marked healthy", _without(*host_annotations.UNHEALTHY_MARKS),
                           _lacks(*host_annotations.UNHEALTHY_MARKS), _ANYWAY),
    "save_status": Action("saved", _save_status, _has(host_annotations.STATUS), ("paused", "detached")),
    "restore_status": Action("restored", _restore_status, _is_restored, ("paused", "detached"), moves=True),
    "set_hardware": Action("given hardware details", _set_hardware, _has_hardware, ("detached",)),
    "retry": Action("free of errors", _retry, _has_recovered, moves=True),
    "lock": Action("locked", _lock, _has(host_lock.LOCKED), _ANYWAY),
    "unlock": Action("unlocked", _without(host_lock.LOCKED), _lacks(host_lock.LOCKED), _ANYWAY),
}


def is_done(bmh, request):
    """True when there is nothing to write and nothing to wait for."""
    action = ACTIONS[request.action]
    return action.plan(bmh, request) == NOTHING and action.reached(bmh, bmh, request)


def patch(change):
    """Return the merge patch of a Change."""
    body = {}
    if change.annotations:
        body["metadata"] = {"annotations": dict(change.annotations)}
    if change.online is not None:
        body["spec"] = {"online": change.online}
    return body


def difference(bmh, change):
    """Return ``(before, after)`` of a Change: the fields at stake, for Ansible's diff."""
    before, after = {}, {}
    if change.annotations:
        stored = host_annotations.of(bmh)
        for side, values in ((before, stored), (after, change.annotations)):
            kept = dict((key, values[key]) for key in change.annotations if values.get(key) is not None)
            if kept:
                side["annotations"] = kept
    if change.online is not None:
        before["online"], after["online"] = bool((bmh.get("spec") or {}).get("online")), change.online
    return before, after
