# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rules for a list of nodes or ports, against each other and against what Ironic has; pure."""
from __future__ import annotations

import difflib
import re
from collections import Counter

from ..metal3.mac_address import mac_error
from ..metal3.problem import problem
from . import node_fields, ownership, states

# Ironic: is_valid_mac-independent rule for names, api/controllers/v1/utils.py is_valid_node_name (RFC 3986 unreserved).
_NAME = re.compile(r"^[A-Za-z0-9._~-]+$")
_UUID = re.compile(r"^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$")
_TRAIT = re.compile(r"^[A-Z0-9_]{1,255}$")
_RESERVED_NAMES = ("maintenance", "management", "ports", "portgroups", "states", "vendor_passthru", "traits", "bios",
                   "firmware", "history", "inventory", "vifs", "volume", "allocation", "children", "vmedia", "detail",
                   "validate")


def check_nodes(options, known, drivers, forced, minor):
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
    for option in options:
        current = known.node(option)
        found += _check_node(option, current, drivers, forced, minor)
        if option["state"] == "present":
            for port in option.get("ports") or []:
                found += check_port(dict(port, node=option["name"], state="present"), known,
                                    current and current["uuid"], False, minor)
    return found


def _repeated(values, subject, field):
    return [problem(subject, field, "%s %d times" % (value, count), "once", "remove the others")
            for value, count in Counter(values).items() if count > 1]


def _check_node(option, current, drivers, forced, minor):
    subject, found = "node %s" % option["name"], []
    if not _NAME.match(option["name"]) or option["name"] in _RESERVED_NAMES or _UUID.match(option["name"]):
        found.append(problem(subject, "name", option["name"],
                             "letters, digits, '-', '.', '_' and '~', no UUID and no word of Ironic's paths"))
    if option.get("uuid") and not _UUID.match(option["uuid"]):
        found.append(problem(subject, "uuid", option["uuid"], "a UUID"))
    names = [option["name"]] + [current["name"] for dummy in [0] if current and current.get("name")]
    refused = next((text for text in (ownership.refusal(name, forced) for name in names) if text), None)
    if refused:
        found.append(problem(subject, "", "a node of the operator", "a node that is nobody else's", refused))
    if option["state"] == "absent":
        return found + (_check_deletion(subject, current, option["name"] in forced) if current else [])
    driver = option.get("driver")
    if driver is not None and driver not in drivers:
        found.append(problem(subject, "driver", driver, "one of " + ", ".join(drivers), _meant(driver, drivers)))
    if current is None and driver is None:
        found.append(problem(subject, "driver", None, "one of " + ", ".join(drivers)))
    if current is None:
        found += [problem(subject, "driver_info." + key, None, "the address of the BMC, which driver %s needs" % driver)
                  for key in node_fields.REQUIRED_DRIVER_INFO.get(driver, ()) if not (option.get("driver_info") or {})
                  .get(key)]
    found += [problem(subject, field, option[field], "nothing: this Ironic speaks API version 1.%d" % minor,
                      "it came with 1.%d" % needed)
              for field, needed in node_fields.MINORS.items() if option.get(field) is not None and minor < needed]
    return found + check_traits(subject, option.get("traits") or [])


def check_traits(subject, traits):
    """Return the problems of a list of traits.

    :param subject: what errors name
    :param traits: list of texts; those of one's own begin with CUSTOM_ (Ironic)
    """
    return [problem(subject, "traits", trait, "upper case letters, digits and '_'; one's own begin with CUSTOM_")
            for trait in traits if not _TRAIT.match(trait)]


def _check_deletion(subject, current, forced):
    if current.get("protected"):
        return [problem(subject, "protected", "true", "false", "set protected to false first")]
    state = current["provision_state"]
    free = state in states.DELETABLE and not current.get("instance_uuid")
    if free or current.get("maintenance") or forced:
        return []
    seen = "instance %s" % current["instance_uuid"] if state in states.DELETABLE else state
    return [problem(subject, "state", "%s at the node" % seen,
                    "a node that is %s and has no instance" % " or ".join(sorted(states.DELETABLE)),
                    "undeploy it with ironic_node_action, or name it in force_nodes: Ironic forgets it then and the "
                    "server is left as it is")]


def check_port(option, known, node_uuid, move, minor):
    """Return the problems of a port.

    :param option: the port's options, with ``node`` (name or UUID) and ``state``
    :param known: a Known, what Ironic has
    :param node_uuid: UUID of its node, None when that is still to be made
    :param move: whether a port of another node may become this one's
    :param minor: minor API version that is spoken
    :returns: list of lines
    """
    subject, found = "port %s" % option["address"], []
    expected = mac_error(option["address"])
    if expected:
        return [problem(subject, "address", option["address"], expected)]
    current = known.port(option["address"])
    if option["state"] == "present" and current and current["node_uuid"] != node_uuid and not move:
        owner = (known.node_of(current) or {}).get("name")
        found.append(problem(subject, "node", "a port of node %s" % (owner or current["node_uuid"]),
                             "a port of node %s" % option["node"],
                             "delete it there, or set move with ironic_port; ironic_audit shows all of these"))
    return found + [problem(subject, field, option[field], "nothing: this Ironic speaks API version 1.%d" % minor,
                            "it came with 1.%d" % needed)
                    for field, needed in node_fields.PORT_MINORS.items()
                    if option.get(field) is not None and minor < needed]


def _meant(seen, known):
    close = difflib.get_close_matches(seen, known, 1)
    return "%s may be meant" % close[0] if close else "enable it in Ironic (enabled_hardware_types)"
