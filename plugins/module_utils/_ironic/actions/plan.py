# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""From an action and what a node is now to the requests that carry it out; pure."""
from __future__ import annotations

from collections import namedtuple
from typing import Any
from urllib.parse import urlencode

from ..api import states
from ..api.goals import Goal
from ..nodes import diff as node_diff
from ..nodes.request import GUARDED, ONCE, SAFE, Request
from . import config_drive, deploy_image, deployment, one_disk

PROVISION_ACTIONS = tuple(states.VERBS) + ("hold", "unhold", "abort")
POWER_ACTIONS = ("power_on", "power_off", "reboot")
OTHER_ACTIONS = ("maintenance_on", "maintenance_off", "boot_device", "boot_mode", "secure_boot", "traits", "raid",
                 "vendor_passthru")
ACTIONS = PROVISION_ACTIONS + POWER_ACTIONS + OTHER_ACTIONS
# What a plan needs to know of a node, besides what a poll asks for.
PLAN_FIELDS = ("instance_info", "instance_uuid", "traits", "target_raid_config", "raid_interface", "rescue_interface",
               "boot_interface", "protected", "properties")
# Path below a node of what its last inspection found.
INVENTORY = "/inventory"
HOLD_STEP = {"interface": "deploy", "step": "hold"}
# The needs of options that came to Ironic later than what the client expects anyway.
_MINORS = {"runbook": 92}
_SERVICE_WITHOUT_RAMDISK_MINOR = 108
# Boot interfaces without validate_rescue (ironic/drivers/modules/redfish/boot.py, RedfishHttpsBoot).
_WITHOUT_RESCUE = ("redfish-https",)
_PROTECTED = "it is protected; set protected to false with ironic_node first"

# requests: in order; empty when there is nothing to do. goal: what to wait for when there is nothing to send.
# before, after: what changes, for Ansible's diff. refusal: why it is not done, empty when it is. loses: why the node
# may lose a deployed system, empty when it does not. interrupts: why one that runs may be interrupted. amends: what is
# taken back at the end, or None.
Plan = namedtuple("Plan", ["requests", "goal", "before", "after", "refusal", "loses", "interrupts", "amends"],
                  defaults=["", None])
# after: the request that is to be taken back, once it was sent. request: what takes it back, whatever became of the
# others. missing: what is to be said and done when it could not be sent.
Amends = namedtuple("Amends", ["after", "request", "missing"])
_NOTHING = Plan([], None, {}, {}, "", "")


def plan(action: str, options: dict[str, Any], node: dict[str, Any], minor: int,
         answer: Any = None) -> Plan:
    """Return what is to be done for one node.

    :param action: one of :data:`ACTIONS`
    :param options: the module's options
    :param node: the node with ``goals.POLL_FIELDS` + `PLAN_FIELDS``
    :param minor: minor API version that is spoken
    :param answer: the answer of the request that :func:`question` names, or None
    :returns: a :class:`Plan`
    """
    if action in PROVISION_ACTIONS:
        found = _provision(action, options, node, minor)
        serial = one_disk.serial_of(options, node) if action == "clean" else None
        if serial is not None:
            return _only(serial, found, node, answer)
        if not found.requests:
            return found
        verbs = [request.body["target"] for request in found.requests if request.goal is not None]
        gives_up = "undeploy" if states.VERBS["undeploy"].target in verbs else action
        serves = action == "hold" and states.VERBS["service"].target in verbs
        return found._replace(loses=deployment.lost_by(gives_up, node),
                              interrupts=deployment.interrupted_by("service" if serves else action, node))
    if action in POWER_ACTIONS:
        found = _power(action, options, node)
        return found._replace(interrupts=deployment.interrupted_by(action, node)) if found.requests else found
    return _OTHERS[action](options, node, answer)


def question(action: str, options: dict[str, Any]) -> str | None:
    """Return the path below ``/nodes/<uuid>`` that has to be read before planning, None for most actions."""
    if action == "boot_device":
        return "/management/boot_device"
    if action == "clean" and options.get(one_disk.OPTION):
        return INVENTORY
    if action == "vendor_passthru":
        method = options.get("vendor_method")
        if not method:
            return "/vendor_passthru/methods"
        return "/vendor_passthru?" + urlencode(dict({"method": method}, **(options.get("vendor_arguments") or {})))
    return None


def _refused(text: str) -> Plan:
    return _NOTHING._replace(refusal=text)


def _provision(action: str, options: dict[str, Any], node: dict[str, Any], minor: int) -> Plan:
    verb, steps = action, options.get("steps")
    if action == "hold":
        verb = "service" if node["provision_state"] in states.VERBS["service"].accepted else "clean"
        steps = [HOLD_STEP]
        if node["provision_state"] in states.HOLDS:
            return _NOTHING
    for option, needed in _MINORS.items():
        if options.get(option) and minor < needed:
            return _refused(f"{option} needs API version 1.{needed}, and this Ironic supports 1.{minor}")
    if verb == "service" and options.get("disable_ramdisk") and minor < _SERVICE_WITHOUT_RAMDISK_MINOR:
        return _refused(f"disable_ramdisk with service needs API version 1.{_SERVICE_WITHOUT_RAMDISK_MINOR}")
    if action == "rescue" and node.get("rescue_interface") == "no-rescue":
        return _refused("its rescue interface is no-rescue; set interfaces.rescue with ironic_node "
                        "(Ironic's enabled_rescue_interfaces must have it: ironic_rescue of the role ironic)")
    if action == "rescue" and node.get("boot_interface") in _WITHOUT_RESCUE:
        return _refused(f"its boot interface is {node['boot_interface']}, by which Ironic cannot rescue; set "
                        "interfaces.boot with ironic_node to another one")
    found = states.route(verb, node["provision_state"], node.get("target_provision_state"), minor)
    if found.outcome == "refuse":
        return _refused(found.reason)
    if node.get("protected") and verb in ("rebuild", "undeploy") and found.outcome == "act":
        return _refused(_PROTECTED)
    image = deploy_image.change(options, node) if action in ("deploy", "rebuild") else node_diff.UNCHANGED
    if action == "deploy" and found.outcome == "none" and image.patch and options.get("redeploy"):
        return _refused(_PROTECTED) if node.get("protected") else _redeployed(options, steps, node, image)
    if action == "deploy" and found.outcome != "act" and image.patch:
        return _refused(f"it is {node['provision_state']} with {deploy_image.text(node)}, which differs in "
                        f"{', '.join(sorted(image.after['instance_info']))}; use rebuild, or undeploy it first")
    if found.outcome == "none":
        return _NOTHING
    if found.outcome == "join":
        return _NOTHING._replace(goal=Goal("provision", found.goal))
    return _sent(found, options, steps, node, image)


def _only(serial: str, found: Plan, node: dict[str, Any], inventory: Any) -> Plan:
    """Return the plan of a cleaning that keeps to one disk."""
    if found.refusal:
        return found
    if not found.requests:
        # Which disks the cleaning keeps to that is on its way is not known.
        return _refused(f"it is {node['provision_state']}; wait for the end of that")
    skipped, why = one_disk.hints(serial, inventory)
    if why:
        return _refused(why)
    before, after = one_disk.around(skipped, node)
    narrowed = Request("PATCH", "", before, None, SAFE)
    return found._replace(
        requests=[*found.requests[:-1], narrowed, found.requests[-1]], loses=f"its disk {serial} is erased",
        after=dict(found.after, erased_disk=serial),
        amends=Amends(narrowed, Request("PATCH", "", after, None, SAFE),
                      f"its properties.{one_disk.PROPERTY} still has the agent skip its other disks; run again, which "
                      "takes that back"))


def _redeployed(options: dict[str, Any], steps: list[dict[str, Any]] | None, node: dict[str, Any],
                image: node_diff.Change) -> Plan:
    """Return the plan that undeploys a node and deploys it with another image.

    No rebuild: with fast track Ironic would take the agent of the last deployment for alive.
    """
    # Ironic empties instance_info when it undeploys a node (conductor/manager.py, _do_node_tear_down).
    fresh = deploy_image.change(options, dict(node, instance_info={}))
    route = states.Route("act", ["undeploy", "deploy"], states.ACTIVE, "")
    found = _sent(route, options, steps, node, fresh)
    return found._replace(before=dict(found.before, **image.before), after=dict(found.after, **image.after))


def _sent(found: states.Route, options: dict[str, Any], steps: list[dict[str, Any]] | None, node: dict[str, Any],
          image: node_diff.Change) -> Plan:
    requests: list[Request] = []
    goal: Any = None
    before, after = {"provision_state": node["provision_state"]}, {}
    for name in found.verbs:
        goal = Goal("provision", states.VERBS[name].goal if name in states.VERBS else found.goal)
        body = {"target": states.VERBS[name].target if name in states.VERBS else name}
        if name != "manage":
            body.update(_arguments(name, options, steps, node))
            goal = _held(name, body) or goal
        if name in ("deploy", "rebuild") and image.patch:
            requests.append(Request("PATCH", "", image.patch, None, SAFE))
            before.update(image.before)
            after.update(image.after)
        requests.append(Request("PUT", "/states/provision", body, goal, GUARDED if name in states.GUARDED else ONCE))
    after["provision_state"] = goal.value
    if goal.value == node["provision_state"]:
        # It comes back to where it is: the verb is what happens to it.
        after["provision_state"] += f" (after {found.verbs[-1]})"
    return Plan(requests, None, before, after, "", "")


def _arguments(verb: str, options: dict[str, Any], steps: list[dict[str, Any]] | None,
               node: dict[str, Any]) -> dict[str, Any]:
    body = {}
    if verb in ("clean", "service"):
        body = {"runbook": options["runbook"]} if options.get("runbook") else {verb + "_steps": steps}
        if options.get("disable_ramdisk") is not None:
            body["disable_ramdisk"] = options["disable_ramdisk"]
    elif verb in ("deploy", "rebuild"):
        drive = config_drive.of_node(options, node)
        body = dict([("configdrive", drive)] if drive else [], **({"deploy_steps": steps} if steps else {}))
    elif verb == "rescue":
        body = {"rescue_password": options["rescue_password"]}
    return body


def _held(verb: str, body: dict[str, Any]) -> Goal | None:
    """Return the goal of steps that end in a hold, None when none of them is one."""
    steps = next((value for key, value in body.items() if key.endswith("_steps")), None) or []
    if any(step.get("step") == "hold" for step in steps):
        return Goal("provision", {"clean": "clean hold", "service": "service hold"}.get(verb, "deploy hold"))
    return None


def _power(action: str, options: dict[str, Any], node: dict[str, Any]) -> Plan:
    soft = options.get("soft")
    target, expected = {
        "power_on": ("power on", "power on"),
        "power_off": ("soft power off" if soft else "power off", "power off"),
        "reboot": ("soft rebooting" if soft else "rebooting", "power on"),
    }[action]
    if action != "reboot" and not node.get("target_power_state") and node.get("power_state") == expected:
        return _NOTHING
    if node.get("target_power_state"):
        if action != "reboot" and node["target_power_state"] == expected:
            return _NOTHING._replace(goal=Goal("power", expected))
        return _refused(f"it is on its way to {node['target_power_state']}; wait for the end of that")
    body = {"target": target}
    if options.get("power_timeout_seconds"):
        body["timeout"] = options["power_timeout_seconds"]
    after = expected if action != "reboot" else f"power on ({target})"
    resend = ONCE if action == "reboot" else SAFE
    return Plan([Request("PUT", "/states/power", body, Goal("power", expected), resend)], None,
                {"power_state": node.get("power_state")}, {"power_state": after}, "", "")


def _set(method: str, path: str, body: dict[str, Any] | None, before: dict[str, Any], after: dict[str, Any],
         goal: Goal | None = None) -> Plan:
    """Return the plan of one request that sets something, so that twice is the same as once."""
    return Plan([Request(method, path, body, goal, SAFE)], None, before, after, "", "")


def _maintenance_on(options: dict[str, Any], node: dict[str, Any], dummy: Any) -> Plan:
    reason = options.get("maintenance_reason")
    if node.get("maintenance") and (reason is None or node.get("maintenance_reason") == reason):
        return _NOTHING
    return _set("PUT", "/maintenance", {"reason": reason}, {
        "maintenance": bool(node.get("maintenance")), "maintenance_reason": node.get("maintenance_reason")}, {
        "maintenance": True, "maintenance_reason": reason})


def _maintenance_off(dummy: dict[str, Any], node: dict[str, Any], dummy_answer: Any) -> Plan:
    if not node.get("maintenance"):
        return _NOTHING
    return _set("DELETE", "/maintenance", None,
                {"maintenance": True, "maintenance_reason": node.get("maintenance_reason")}, {"maintenance": False})


def _boot_device(options: dict[str, Any], dummy: dict[str, Any], answer: dict[str, Any]) -> Plan:
    wanted = {"boot_device": options["boot_device"], "persistent": bool(options.get("persistent"))}
    before = dict((key, (answer or {}).get(key)) for key in wanted)
    if wanted == before:
        return _NOTHING
    return _set("PUT", "/management/boot_device", wanted, before, wanted)


def _boot_mode(options: dict[str, Any], node: dict[str, Any], dummy: Any) -> Plan:
    return _field("boot_mode", options["boot_mode"], node)


def _secure_boot(options: dict[str, Any], node: dict[str, Any], dummy: Any) -> Plan:
    return _field("secure_boot", options["secure_boot"], node)


def _field(name: str, value: Any, node: dict[str, Any]) -> Plan:
    if node.get(name) == value:
        return _NOTHING
    return _set("PUT", "/states/" + name, {"target": value}, {name: node.get(name)}, {name: value}, Goal(name, value))


def _traits(options: dict[str, Any], node: dict[str, Any], dummy: Any) -> Plan:
    there, given = set(node.get("traits") or []), set(options["traits"])
    wanted = {"set": given, "add": there | given, "remove": there - given}[options["traits_mode"]]
    if wanted == there:
        return _NOTHING
    return _set("PUT", "/traits", {"traits": sorted(wanted)}, {"traits": sorted(there)}, {"traits": sorted(wanted)})


def _raid(options: dict[str, Any], node: dict[str, Any], dummy: Any) -> Plan:
    if node.get("raid_interface") == "no-raid":
        return _refused("its RAID interface is no-raid; set interfaces.raid with ironic_node")
    wanted = options["raid"]
    before = node.get("target_raid_config") or {}
    if wanted == before or (not wanted.get("logical_disks") and not before.get("logical_disks")):
        return _NOTHING
    # Ironic takes no empty list.
    body = wanted if wanted.get("logical_disks") else {}
    return _set("PUT", "/states/raid", body, {"target_raid_config": before}, {"target_raid_config": wanted})


def _vendor_passthru(dummy_options: dict[str, Any], dummy_node: dict[str, Any], dummy_answer: dict[str, int]) -> Plan:
    # Reading was all there is to do.
    return _NOTHING


_OTHERS = {
    "maintenance_on": _maintenance_on, "maintenance_off": _maintenance_off, "boot_device": _boot_device,
    "boot_mode": _boot_mode, "secure_boot": _secure_boot, "traits": _traits, "raid": _raid,
    "vendor_passthru": _vendor_passthru,
}
