# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Changes of stored hosts that BMO refuses or that cost data, and what would hurt a consumer; pure."""
from __future__ import annotations

from ..._common.options.field_checks import show
from ..._common.problems.problem import Problem
from ..._kube.objects.finalizers import is_going, staying_problem
from ..description import annotations as host_annotations
from ..description.objects import consumer_of, desired_host
from ..state import lock as host_lock
from ..state import power_due
from ..state import redeploy as host_redeploy
from ..state.goals import AVAILABLE, RUNNING, state_of
from . import bmc_change as host_bmc_change


def check(host, bmh, forced=(), allow_detach=False):
    """Return the Problems of an entry that changes its stored host.

    :param bmh: the stored BareMetalHost
    :param forced: names of hosts for which the consumer's protection is lifted
    :param allow_detach: whether a host may be detached for a change of its BMC
    """
    problems = []
    name, spec, status = host["name"], bmh["spec"], bmh.get("status") or {}
    state = (status.get("provisioning") or {}).get("state") or ""
    problems += staying_problem(name, "name", bmh, "a host")
    if problems:
        return problems
    problems += host_bmc_change.check(host, bmh, allow_detach) + host_bmc_change.check_consumer(host, bmh, forced)
    mac, stored = host.get("boot_mac_address"), spec.get("bootMACAddress")
    if mac and stored and mac.lower() != stored.lower():
        problems.append(Problem("host-change", name, "boot_mac_address", show(mac),
                                f"{stored}: it can't be changed once it is set (BMO webhook)",
                                "delete and enrol the host again"))
    external = host.get("externally_provisioned")
    if external is False and spec.get("externallyProvisioned"):
        problems.append(Problem(
            "host-change", name, "externally_provisioned", "false", "true: it can't be taken back (BMO webhook)",
            "delete and enrol the host again"))
    if external and not spec.get("externallyProvisioned") and state != "available":
        problems.append(Problem("host-change", name, "externally_provisioned", "true",
                                f"a host in state available (BMO webhook), it is {state or 'unknown'}",
                                "wait until it is available"))
    return problems


def unconfirmed(host, bmh, forced=(), allow_deprovision=False, allow_power_off=False, way=""):
    """Return the Problem of an entry that costs what runs on a stored host, once for all of its options, in a list.

    :param bmh: the stored BareMetalHost
    :param forced: names of hosts for which the consumer's protection is lifted
    :param allow_deprovision: whether a host may lose what is deployed on it
    :param allow_power_off: whether a provisioned host may be powered off
    :param way: what the user does to confirm, in the imperative; empty for setting the module's options
    """
    if is_going(bmh):
        return []
    costs = [] if allow_deprovision else [(cost, "allow_deprovision") for cost in host_redeploy.losses(
        host, bmh, forced)]
    costs += [] if allow_power_off else [(cost, "allow_power_off") for cost in _power(host, bmh, forced)]
    said = [option for _cost, option in costs]
    allowed = {"allow_deprovision": allow_deprovision, "allow_power_off": allow_power_off}
    costs += [(cost, option) for option, cost in _left_detached(host, bmh, forced)
              if not allowed[option] and option not in said]
    if not costs:
        return []
    (field, actual, expected), _option = costs[0]
    others = [cost[0] for cost, _option in costs[1:]]
    options = list(dict.fromkeys(option for _cost, option in costs))
    return [Problem(
        "confirmation-missing", host["name"], field, actual,
        expected + (f" (the same goes for {' and '.join(others)})" if others else ""),
        f"to continue, {way or 'set ' + ' and '.join(options)}")]


def _power(host, bmh, forced):
    """Return the option that powers a host off on which something runs, as ``host_redeploy.losses`` does."""
    # Without force nothing of a host in use is changed, its power neither.
    if consumer_of(bmh) and host["name"] not in forced:
        return []
    if host.get("online") is not False or not bmh["spec"].get("online") or state_of(bmh) not in RUNNING:
        return []
    return [("online", "false", f"true: the host is {state_of(bmh)} and would be powered off")]


def _left_detached(host, bmh, forced):
    """Return what attaching a host costs that an ended run has left detached: its spec may have changed since.

    :returns: list of the option that confirms it, and what ``host_redeploy.losses`` returns
    """
    if host.get("state") == "absent" or not host_bmc_change.is_left_detached(bmh):
        return []
    spec = dict(bmh["spec"])
    if not consumer_of(bmh) or host["name"] in forced:
        given = (("image", "image"), ("customDeploy", "custom_deploy"), ("online", "online"),
                 ("externallyProvisioned", "externally_provisioned"))
        spec.update((field, host[option]) for field, option in given if host.get(option) is not None)
    after, left = dict(bmh, spec=spec), "a host that a run has left detached"
    lost, interrupted = host_redeploy.lost_when_taken_up(after), power_due.interruption(after)
    costs = []
    if lost:
        costs.append(("allow_deprovision", (
            "image.url", f"{left}, on which {lost}", "a spec that names what is deployed: this run attaches the host")))
    if interrupted:
        costs.append(("allow_power_off", (
            "online", f"{left}, {interrupted}", "a server that stays as it is: this run attaches the host")))
    return costs


def check_held(host, bmh, forced=()):
    """Return the Problem of an entry that takes away what is deployed on a host that BMO does not work on, in a list.

    What is confirmed is to happen in the run that was confirmed, not when somebody resumes or attaches the host.

    :param bmh: the stored BareMetalHost
    :param forced: names of hosts for which the consumer's protection is lifted; nothing is taken from others
    """
    annotations = host_annotations.of(bmh)
    if host_annotations.PAUSED in annotations:
        held, way = "paused", "resume"
    elif host_annotations.DETACHED in annotations and not host_bmc_change.is_left_detached(bmh):
        held, way = "detached", "attach"
    else:
        return []
    return [Problem("host-change", host["name"], field, f"a change of a {held} host",
                    "a host that BMO works on: what is deployed would be taken away later, when it does again",
                    f"{way} the host first (action {way} of baremetal_host_action)")
            for field in host_redeploy.lost_later(host, bmh, forced)[:1]]


def check_lock(host, bmh, forced=(), deploys=True, now=0):
    """Return the Problem of an entry that interrupts a server that somebody has locked, in a list.

    :param bmh: the stored BareMetalHost
    :param forced: names of hosts for which the consumer's protection is lifted; nothing is taken from others
    :param deploys: whether images and custom deployments of entries count
    :param now: seconds since 1970
    """
    if host.get("state") != "absent" and host_bmc_change.detaching(host, bmh) is not None:
        return host_lock.problems(host["name"], "bmc.address", [bmh], now)
    if consumer_of(bmh) and host["name"] not in forced:
        return []
    if host.get("state") == "absent":
        fields = ["state"]
    else:
        fields = [field for field, _found, _expected in host_redeploy.losses(host, bmh, forced)] if deploys else []
        fields += host_redeploy.deployments(host, bmh) if deploys and state_of(bmh) in AVAILABLE else []
        if host.get("online") is not None and host["online"] is not bool(bmh["spec"].get("online")):
            fields.append("online")
    return host_lock.problems(host["name"], fields[0], [bmh], now) if fields else []


def check_deletion(host, bmh, forced):
    """Return the Problems of deleting a host.

    :param bmh: the stored BareMetalHost, or None
    :param forced: names of hosts for which the consumer's protection is lifted
    """
    if not bmh:
        return []
    problems = _deleted_later(host["name"], bmh)
    if consumer_of(bmh) and host["name"] not in forced:
        problems.append(Problem(
            "host-change", host["name"], "state", "absent", f"no consumer (it is in use by {consumer_of(bmh)})",
            "remove the consumer first (scale its cluster down), or name the host in force_hosts"))
    return problems


def _deleted_later(name, bmh):
    """Return the Problem of a deletion that BMO would begin when somebody resumes or attaches the host, in a list."""
    # One that BMO has not worked on yet goes at once.
    if is_going(bmh) or not bmh["metadata"].get("finalizers"):
        return []
    annotations = host_annotations.of(bmh)
    if host_annotations.PAUSED in annotations:
        held, way, key = "paused", "resume", host_annotations.PAUSED
    elif host_annotations.DETACHED in annotations and host_annotations.delays_deletion(bmh):
        held, way, key = "detached", "attach", host_annotations.DETACHED
    else:
        return []
    kept = host_annotations.kept_by(bmh).get(key)
    if annotations.get(key) == host_annotations.PAUSED_BY_CAPM3:
        hint = "resume its Cluster first (spec.paused), with which Cluster API's provider has paused it"
    else:
        hint = f"finish or take back what the playbook {kept} has begun" if kept else \
            f"{way} the host first (action {way} of baremetal_host_action)"
    return [Problem(
        "host-change", name, "state", "absent",
        f"a host that BMO works on: this one is {held}, and its server would be wiped later, when BMO does again",
        hint)]


def check_protected(host, bmh, namespace, forced):
    """Return the Problem of an entry of which something is not written, because its host is in use, in a list.

    :param bmh: the stored BareMetalHost
    :param namespace: of the hosts
    :param forced: names of hosts for which the consumer's protection is lifted
    """
    return [Problem("host-change", host["name"], option, f"a change of a host in use by {consumer_of(bmh)}",
                    "a host without consumer: of others it stays as it is",
                    "remove the consumer first (scale its cluster down), or name the host in force_hosts if what runs "
                    "on it may be lost")
            for option in desired_host(host, namespace, bmh, forced=host["name"] in forced).protected[:1]]


def check_detached(host, bmh):
    """Return a Problem of the deletion of a host that is not detached, so that its server would be cleaned.

    BMO goes by the status when it begins a deletion (checkInitiateDelete), and by the annotation from then on: a host
    that is still to be detached is none.

    :param bmh: the stored BareMetalHost
    """
    is_asked = host_annotations.DETACHED in host_annotations.of(bmh)
    if is_asked and (bmh.get("status") or {}).get("operationalStatus") == "detached":
        return []
    return [Problem("host-change", host["name"], "state", "absent",
                    f"a detached host: this one is {'still ' if is_asked else ''}attached, and its server would be "
                    "powered off and cleaned",
                    f"{'wait until BMO has detached it' if is_asked else 'detach it'}, then run again")]
