# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rules for a list of nodes or ports, against each other and against what Ironic has; pure."""
from __future__ import annotations

import difflib
import re
from collections import Counter
from typing import Any

from ..._common.addresses.mac_address import mac_error
from ..._common.options import network_data
from ..._common.options.field_checks import UUID, show, shown
from ..._common.problems.problem import Problem
from ..api import states
from . import bmc as node_bmc
from . import fields as node_fields
from . import ownership

# Ironic: is_valid_mac-independent rule for names, api/controllers/v1/utils.py is_valid_node_name (RFC 3986 unreserved).
_NAME = re.compile(r"^[A-Za-z0-9._~-]+\Z")
_TRAIT = re.compile(r"^[A-Z0-9_]{1,255}\Z")
_RESERVED_NAMES = ("maintenance", "management", "ports", "portgroups", "states", "vendor_passthru", "traits", "bios",
                   "firmware", "history", "inventory", "vifs", "volume", "allocation", "children", "vmedia", "detail",
                   "validate")


def key_of(name: str) -> str:
    """Return a name or UUID as it is in Ironic: UUIDs are in lower case there."""
    return name.lower() if UUID.match(name) else name


def check_named_once(subject: str, named: list[Any]) -> list[Any]:
    """Return the problems of a list that names a node twice, perhaps once by its name and once by its UUID.

    :param subject: what errors name
    :param named: pairs of what the user has written, and the node, or None
    """
    spellings = {}
    for name, node in named:
        spellings.setdefault(node["uuid"] if node else name, []).append(name)
    return [Problem("node", subject, "", f"{' and '.join(names)}, which are one node" if len(set(names)) > 1
                    else f"{names[0]} {len(names)} times", "each node once", "remove the others")
            for names in spellings.values() if len(names) > 1]


def check_nodes(options: list[dict[str, Any]], known: Any, drivers: list[str], forced: frozenset[str],
                minor: int) -> list[Any]:
    """Return the problems of a list of nodes.

    :param options: list of the options of a node
    :param known: a Known, what Ironic has
    :param drivers: names of the enabled drivers
    :param forced: names of nodes that may be changed whoever owns them, and deleted whatever their state
    :param minor: minor API version that is spoken
    :returns: list of lines
    """
    found = _repeated([option["name"] for option in options], "nodes", "name")
    found += _repeated([port["address"].lower() for option in options for port in option.get("ports") or []],
                       "nodes", "ports.address")
    currents = [known.node(option) for option in options]
    # By its name here and by its UUID there; the same name twice is reported already.
    found += check_named_once("nodes", [(option["name"], node) for name, (option, node) in dict(
        (option["name"], (option, node)) for option, node in zip(options, currents)).items()])
    found += _check_bmcs(options, currents, known)
    for option, current in zip(options, currents):
        found += _check_meant(option, current, known) + _check_node(option, current, drivers, forced, minor)
        if option["state"] == "present":
            for port in option.get("ports") or []:
                found += check_port(dict(port, node=option["name"], state="present"), known,
                                    current and current["uuid"], False, minor)
    return found


def _check_bmcs(options: list[dict[str, Any]], currents: list[Any], known: Any) -> list[Any]:
    """Return the problems of nodes that would get the BMC of another node: each would switch and erase its server."""
    found, listed = [], {}
    # Nodes of the list become what the list says.
    mine = set(node["uuid"] for node in currents if node)
    for option, current in zip(options, currents):
        if option["state"] == "absent":
            continue
        old = (current or {}).get("driver_info") or {}
        bmc = node_bmc.of(dict(old, **(option.get("driver_info") or {})))
        if bmc is None:
            continue
        subject, neighbours = f"node {option['name']}", listed.setdefault(bmc.door, [])
        found += [Problem("node", subject, "driver_info", f"BMC {node_bmc.text(bmc)}",
                          f"another one than that of node {name} of the list")
                  for name, other in neighbours if node_bmc.same(bmc, other)]
        neighbours.append((option["name"], bmc))
        if current is None or bmc != node_bmc.of(old):
            found += [_bmc_taken(subject, bmc, node) for node in known.nodes_with(bmc) if node["uuid"] not in mine]
    return found


def _bmc_taken(subject: str, bmc: node_bmc.Bmc, node: dict[str, Any]) -> Any:
    owner = ownership.host_of(node.get("name"))
    if owner:
        return Problem("node", subject, "driver_info", "BMC %s, the BMC of BareMetalHost %s/%s" % (
            (node_bmc.text(bmc),) + owner), "a server without another owner", ownership.LEAVE_IT)
    return Problem("node", subject, "driver_info", "BMC %s, the BMC of node %s" % (
        node_bmc.text(bmc), node.get("name") or node["uuid"]), "a server that is no other node's",
        "correct the address; to rename the node, give its uuid; else delete that node first")


def _repeated(values: list[str], subject: str, field: str) -> list[Any]:
    return [Problem("node", subject, field, f"{value} {count} times", "once", "remove the others")
            for value, count in Counter(values).items() if count > 1]


def _check_meant(option: dict[str, Any], current: dict[str, Any] | None, known: Any) -> list[Any]:
    """Return the problem of a node that is another one than the option means: its Ironic may be another one, too."""
    uuid = option.get("uuid")
    other = known.node_called(option["name"]) if uuid and current is None and option["state"] == "absent" else None
    if other:
        return [Problem("node", f"node {option['name']}", "uuid", shown(other["uuid"]), show(uuid),
                        "it is another node of this name: find out whether this is the Ironic that is meant; correct "
                        "its URL, or uuid")]
    if current is None and option.get("must_exist"):
        return [Problem("node", f"node {option['name']}", "must_exist", "no such node",
                        f"the node with UUID {show(uuid)}" if uuid else "the node",
                        "find out whether this is the Ironic that is meant; correct its URL")]
    return []


def _check_node(option: dict[str, Any], current: dict[str, Any] | None, drivers: list[str], forced: frozenset[str],
                minor: int) -> list[Any]:
    subject, found = f"node {option['name']}", []
    if not _NAME.match(option["name"]) or option["name"] in _RESERVED_NAMES or UUID.match(option["name"]):
        found.append(Problem("node", subject, "name", shown(option["name"]),
                             "letters, digits, '-', '.', '_' and '~', no UUID and no word of Ironic's paths"))
    if option.get("uuid") and not UUID.match(option["uuid"]):
        found.append(Problem("node", subject, "uuid", shown(option["uuid"]), "a UUID"))
    names = [option["name"]] + [current["name"] for dummy in [0] if current and current.get("name")]
    refused = next((text for text in (ownership.refusal(name, forced) for name in names) if text), None)
    if refused:
        found.append(Problem("node", subject, "", "a node of the operator", "a node without another owner", refused))
    if option["state"] == "absent":
        return found + (_check_deletion(subject, current, option["name"] in forced) if current else [])
    driver = option.get("driver")
    if driver is not None and driver not in drivers:
        found.append(
            Problem("node", subject, "driver", shown(driver), "one of " + ", ".join(drivers), _meant(driver, drivers))
        )
    if current is None and driver is None:
        found.append(Problem("node", subject, "driver", None, "one of " + ", ".join(drivers)))
    if current is None:
        found += [
            Problem("node", subject, "driver_info." + key, None, f"the address of the BMC, which driver {driver} needs")
            for key in node_fields.REQUIRED_DRIVER_INFO.get(driver or "", ())
            if not (option.get("driver_info") or {}).get(key)
        ]
    found += [Problem("node", subject, field, shown(option[field]),
                      f"nothing: this Ironic supports API version 1.{minor}",
                      f"it came with 1.{needed}")
              for field, needed in node_fields.MINORS.items() if option.get(field) is not None and minor < needed]
    data = option.get("network_data")
    if data:
        found += network_data.lacking_for_ironic("node", subject, "network_data", data)
        found += network_data.problems("node", subject, "network_data", data)
    return found + check_traits(subject, option.get("traits") or [])


def check_traits(subject: str, traits: list[str]) -> list[Any]:
    """Return the problems of a list of traits.

    :param subject: what errors name
    :param traits: list of texts; those of one's own begin with CUSTOM_ (Ironic)
    """
    return [
        Problem("node", subject, "traits", shown(trait),
                "upper case letters, digits and '_'; one's own begin with CUSTOM_")
        for trait in traits
        if not _TRAIT.match(trait)
    ]


def _check_deletion(subject: str, current: dict[str, Any], forced: bool) -> list[Any]:
    if current.get("protected"):
        return [Problem("node", subject, "protected", "true", "false", "set protected to false first")]
    state = current["provision_state"]
    free = state in states.DELETABLE and not current.get("instance_uuid")
    if free or current.get("maintenance") or forced:
        return []
    actual = f"instance {current['instance_uuid']}" if state in states.DELETABLE else state
    return [Problem("node", subject, "state", f"{actual} at the node",
                    f"a node that is {' or '.join(sorted(states.DELETABLE))} and has no instance",
                    "undeploy it with ironic_node_action, or name it in force_nodes: Ironic forgets it then and the "
                    "server is left as it is")]


def check_port(option: dict[str, Any], known: Any, node_uuid: str | None, move: bool, minor: int) -> list[Any]:
    """Return the problems of a port.

    :param option: the port's options, with ``node`` (name or UUID) and ``state``
    :param known: a Known, what Ironic has
    :param node_uuid: UUID of its node, None when that is still to be made
    :param move: whether a port of another node may become this one's
    :param minor: minor API version that is spoken
    :returns: list of lines
    """
    subject, found = f"port {option['address']}", []
    expected = mac_error(option["address"])
    if expected:
        return [Problem("node", subject, "address", shown(option["address"]), expected)]
    current = known.port(option["address"])
    if option["state"] == "present" and current and current["node_uuid"] != node_uuid and not move:
        owner = (known.node_of(current) or {}).get("name")
        host = ownership.host_of(owner)
        advice = ownership.LEAVE_IT if host else "delete it there, or set move with ironic_port"
        actual = "a port of BareMetalHost %s/%s" % host if host else f"a port of node {owner or current['node_uuid']}"
        found.append(Problem("node", subject, "node", actual, f"a port of node {option['node']}", advice))
    return found + [
        Problem(
            "node", subject, field, shown(option[field]), f"nothing: this Ironic supports API version 1.{minor}",
            f"it came with 1.{needed}")
        for field, needed in node_fields.PORT_MINORS.items()
        if option.get(field) is not None and minor < needed
    ]


def _meant(actual: str, known: list[str]) -> str:
    close = difflib.get_close_matches(actual, known, 1)
    return f"{close[0]} may be meant" if close else "enable it in Ironic (enabled_hardware_types)"
