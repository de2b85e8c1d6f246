# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""keepalived's configuration for an address of the plane that one of several machines holds; pure."""
from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from .._common.addresses import ip_texts, virtual_router
from .._common.options.field_checks import show
from .._common.problems.problem import Problem
from . import lending
from .description import BARE_KINDS, INTERFACE, Interface
from .interface_files import HEADER

CODE = "keepalived"
# A machine whose plane does not answer is behind each other one, whatever their priorities are.
HIGHEST_PRIORITY, STEP, FAILED_WEIGHT = 200, 10, -100
# As many as keep more than what a failed one has.
MOST_MACHINES = (HIGHEST_PRIORITY + FAILED_WEIGHT) // STEP
_NAME = re.compile(r"[^A-Za-z0-9_]")


def problems(options: Mapping[str, Any]) -> list[Problem]:
    """Return all mistakes of the options.

    :param options: ``name``, ``address``, ``own_address``, ``machines``, ``machine``, ``virtual_router_id``, ``peers``
        and ``check_ports``, see the module provisioning_keepalived
    """
    found: list[Problem] = []
    subject = f"network {options['name']}"

    def add(field: str, actual: Any, expected: str, hint: str) -> None:
        found.append(Problem(CODE, subject, field, None if actual is None else show(actual), expected, hint))

    if not INTERFACE.match(options["name"]):
        add("name", options["name"], "the name of an interface", "correct it")
    own, held = (_interface(options[field]) for field in ("own_address", "address"))
    for field, parsed, expected in (("own_address", own, "an address of this machine with its prefix"),
                                    ("address", held, "an address with its prefix")):
        if parsed is None:
            add(field, options[field], expected, "write it as 192.0.2.1/24")
    if own and held and (held.network != own.network or held.ip == own.ip):
        add("address", options["address"], f"an address of {own.network} that no machine has",
            "take a free one of the provisioning network")
    if not 1 <= options["virtual_router_id"] <= 255:
        add("virtual_router_id", options["virtual_router_id"], "1 to 255", "take one that nobody else on this wire has")
    machines = options["machines"]
    if options["machine"] not in machines:
        add("machine", options["machine"], f"one of machines ({', '.join(machines)})", "add it to machines")
    if len(machines) > MOST_MACHINES or len(set(machines)) != len(machines):
        add("machines", ", ".join(machines), f"at most {MOST_MACHINES}, each once", "remove some")
    for number, peer in enumerate(options["peers"]):
        if not ip_texts.is_address(peer) or (own is not None and (
                ip_texts.address(peer) == own.ip or ip_texts.address(peer).version != own.version)):
            add(f"peers[{number}]", peer, "the address of another machine", "correct it")
    found += [Problem(CODE, subject, f"check_ports[{number}]", show(port), "1 to 65535", "correct it")
              for number, port in enumerate(options["check_ports"]) if not 1 <= port <= 65535]
    return found


def problems_of_network(network: Mapping[str, Any], options: Mapping[str, Any]) -> list[Problem]:
    """Return all mistakes of what keepalived is to do on a network, also what its DHCP does against it.

    :param network: a description, see ``description.problems``
    :param options: see :func:`problems`, without ``name`` and ``own_address``, and ``others``, virtual routers of
        others, see ``virtual_router.others_options``
    """
    own = (list(network.get("addresses") or ()) + [""])[0]
    found = [problem for problem in problems({**options, "name": network.get("name") or "", "own_address": own})
             if problem.field not in ("name", "own_address")]
    if not own and network.get("kind") in BARE_KINDS:
        found.append(Problem(CODE, f"network {network.get('name')}", "own_address", None,
                             "an address of the network that this machine has itself", "set addresses"))
    held = _interface(options["address"])
    dhcp = network.get("dhcp") or {}
    found += [Problem(CODE, f"network {network.get('name')}", "address", show(options["address"]),
                      f"an address that {field} does not lend", f"take another one, or correct {field}")
              for field in ([] if held is None else lending.fields_with(dhcp, held.ip))]
    # What goes to peers alone is heard by nobody else.
    held_by = virtual_router.of_text(options["address"], options["virtual_router_id"]) \
        if held is not None and not options["peers"] else None
    found += [Problem(CODE, f"network {network.get('name')}", "virtual_router_id",
                      f"{other.number}, which {owner} has for its address {other.address} on the same network",
                      "a number that no other virtual router there has",
                      "set it to another one from 1 to 255, the same for all machines of this plane")
              for owner, other in virtual_router.clashing(
                  held_by, virtual_router.others_of(options.get("others") or ()), ())[:1]]
    return [problem._replace(field=f"keepalived.{problem.field}") for problem in found]


def _interface(text: str) -> Interface | None:
    try:
        return ip_texts.interface(text) if "/" in text else None
    except ValueError:
        return None


def priority(machines: list[str], machine: str) -> int:
    """Return a machine's priority, the highest for the first.

    :param machines: names of all machines, in the order in which they are to hold the address
    :param machine: its name, one of them
    """
    return HIGHEST_PRIORITY - STEP * machines.index(machine)


def configuration(options: Mapping[str, Any]) -> str:
    """Return the file for ``keepalived --use-file``.

    :param options: see :func:`problems`, without mistakes
    """
    own = ip_texts.interface(options["own_address"]).ip
    held = ip_texts.interface(options["address"])
    checks = [(f"port_{port}", port) for port in options["check_ports"]]
    # For another user keepalived 2.2.7 ends its own test of the file by a signal.
    lines = [HEADER, "global_defs {", "    vrrp_version 3", "    enable_script_security", "    script_user root", "}"]
    for name, port in checks:
        lines += [f"vrrp_script {name} {{",
                  f"    script \"/usr/bin/timeout 1 /bin/bash -c '</dev/tcp/{own}/{port}'\"",
                  "    interval 2", "    fall 3", "    rise 2", f"    weight {FAILED_WEIGHT}", "}"]
    lines += [
        f"vrrp_instance {_NAME.sub('_', options['name'])} {{", "    state BACKUP", f"    interface {options['name']}",
        f"    virtual_router_id {options['virtual_router_id']}",
        f"    priority {priority(options['machines'], options['machine'])}", "    advert_int 1"]
    if options["peers"]:
        lines += [f"    unicast_src_ip {own}", "    unicast_peer {", *(f"        {peer}" for peer in options["peers"]),
                  "    }"]
    lines += ["    virtual_ipaddress {", f"        {held.with_prefixlen}", "    }"]
    if checks:
        lines += ["    track_script {", *(f"        {name}" for name, _port in checks), "    }"]
    return "\n".join([*lines, "}"]) + "\n"
