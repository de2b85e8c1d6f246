# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The hardware of a lab's servers, from the inventory's short description to the list of ``servers.json``."""
from __future__ import annotations

import copy
import ipaddress
import os
import re
import uuid
from typing import Any

from . import disks as server_disks

NO_CLUSTER = "none"
NAME_RULE = re.compile(r"^server-(0[1-9]|[1-9][0-9]{1,3})$")
# A MAC address has two bytes for both: the number takes twelve bits, the NIC four.
SERVER_LIMIT = 4095
NIC_LIMIT = 16
MAC_PREFIX = "00:5c:52"
# The lower half of the lab's network belongs to provisioned machines, the upper half is lent to booting agents.
AGENT_ADDRESS_OFFSET = 257
AGENT_ADDRESSES = 250

NIC_DEFAULTS = {
    "speed_mbps": 10000,
    "vendor": "0x8086",
    "product": "0x1572",
    "has_serial_number": True,
}
# Of another product, with a firmware of its own; Ironic names it by its identity at the BMC.
_SECOND_NIC = {"product": "0x158b", "has_serial_number": False}
SIMULATED, VIRTUAL = "simulated", "virtual"
KINDS = (SIMULATED, VIRTUAL)
DEFAULTS = {
    "kind": SIMULATED,
    "vendor": "metal3.baremetal",
    "model": "Simulated Server",
    "architecture": "x86_64",
    "cpus": 8,
    "cpu_model": "Simulated CPU @ 2.40GHz",
    "cpu_mhz": 2400,
    "memory_mib": 32768,
    "disks": [{}],
    "nics": [{}, _SECOND_NIC],
    "bmc_scheme": "redfish",
}
# Where virtual servers differ: their processors and their memory are the lab's machine's.
VIRTUAL_DEFAULTS = {
    "model": "Virtual Server",
    "cpus": 2,
    "memory_mib": 3072,
    "disks": [{"size_gib": 10}],
    "nics": [{}],
}
IPMI = "ipmi"
# Servers of a lab that have a port for it.
IPMI_LIMIT = 60
# What the simulated BMCs can serve: the agent comes from the network, from virtual media, or by UEFI HTTP boot; by IPMI
# from the network.
BMC_SCHEMES = ("redfish", "redfish-virtualmedia", "redfish-uefihttp", IPMI)
WHOLE_NUMBERS = ("cpus", "cpu_mhz", "memory_mib", "size_gib", "speed_mbps")
TEXTS = ("vendor", "model", "architecture", "cpu_model", "serial", "name", "wwn", "hctl", "product",
         "switch", "switch_port")
TRUTHS = ("rotational", "has_serial_number")
# The last two: what simulated servers have heard of a switch by LLDP.
NIC_FIELDS = ("name", "speed_mbps", "vendor", "product", "has_serial_number", "switch", "switch_port")
SERVER_FIELDS = tuple(DEFAULTS) + ("serial",)


def server_names(count: Any) -> list[str]:
    """Return the names of ``count`` servers, ``server-01`` and so on.

    :param count: 1 to SERVER_LIMIT
    :raises ValueError: for a number outside this range
    """
    if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= SERVER_LIMIT:
        raise ValueError(f"servers {count!r}: expected a whole number, 1 to {SERVER_LIMIT}")
    return [f"server-{number:02d}" for number in range(1, count + 1)]


def _field_errors(where: str, values: Any, fields: tuple[Any, ...]) -> list[str]:
    if not isinstance(values, dict):
        return [f"{where}: expected a mapping, got {values!r}"]
    errors = []
    for field, value in sorted(values.items()):
        if field not in fields:
            errors.append(f"{where}: unknown field {field}; known are {', '.join(sorted(fields))}")
        elif field in WHOLE_NUMBERS and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
            errors.append(f"{where}.{field} {value!r}: expected a whole number above 0")
        elif field in TEXTS and (not isinstance(value, str) or not value):
            errors.append(f"{where}.{field} {value!r}: expected a text")
        elif field == "bmc_scheme" and value not in BMC_SCHEMES:
            errors.append(f"{where}.{field} {value!r}: expected one of {', '.join(BMC_SCHEMES)}")
        elif field == "kind" and value not in KINDS:
            errors.append(f"{where}.{field} {value!r}: expected one of {', '.join(KINDS)}")
        elif field in TRUTHS and not isinstance(value, bool):
            errors.append(f"{where}.{field} {value!r}: expected true or false")
    return errors


def _list_errors(where: str, values: list[Any], fields: tuple[Any, ...], limit: int) -> list[str]:
    if not isinstance(values, list) or len(values) > limit:
        return [f"{where}: expected a list of at most {limit} entries"]
    errors = []
    for position, value in enumerate(values):
        errors += _field_errors(f"{where}[{position}]", value, fields)
    return errors


def hardware_errors(where: str, values: Any) -> list[str]:
    """Return what is wrong with a description of a server's hardware, as a list of texts.

    :param where: how to call it in the texts
    :param values: mapping of any of SERVER_FIELDS; ``disks`` and ``nics`` are lists of mappings
    """
    errors = _field_errors(where, values, SERVER_FIELDS)
    if isinstance(values, dict):
        if "disks" in values:
            found = _list_errors(f"{where}.disks", values["disks"], server_disks.FIELDS, server_disks.LIMIT)
            errors += found + (server_disks.errors(f"{where}.disks", values["disks"])
                               if isinstance(values["disks"], list) else [])
        if "nics" in values:
            errors += _list_errors(f"{where}.nics", values["nics"], NIC_FIELDS, NIC_LIMIT)
            if values["nics"] == []:
                errors.append(f"{where}.nics: expected at least one, servers boot from the network")
    return errors


def describe(count: Any, defaults: dict[str, Any] | None = None, overrides: dict[str, Any] | None = None,
             bmc_scheme: str | None = None, kind: str | None = None) -> dict[str, Any]:
    """Return the hardware of ``count`` servers as a dict name → hardware, every field filled in but for addresses.

    :param count: number of servers
    :param defaults: hardware that differs from DEFAULTS for all servers
    :param overrides: dict server name → hardware that differs for this one; a list (disks, nics) replaces the default;
        names beyond ``count`` are allowed, so that a lab can be made smaller for one run
    :param bmc_scheme: scheme of all BMCs' addresses, whatever the other two say; None for theirs
    :param kind: kind of all servers, the same way. Of what is said of servers of another kind only their BMC's scheme
        remains: a process has not the 64 GiB of a simulated server.
    :raises ValueError: with every mistake in one text, one a line
    """
    names = server_names(count)
    defaults, overrides = defaults or {}, overrides or {}
    errors = hardware_errors("defaults", defaults)
    for name, values in sorted(overrides.items()):
        if not NAME_RULE.match(name):
            errors.append(f"overrides.{name}: expected a server's name, server-01 to server-{SERVER_LIMIT}")
        errors += hardware_errors(f"overrides.{name}", values)
    forced = {field: value for field, value in (("bmc_scheme", bmc_scheme), ("kind", kind)) if value}
    errors += hardware_errors("for all servers", forced)
    if errors:
        raise ValueError("\n".join(errors))
    result = {}
    for name in names:
        chosen = dict(defaults, **overrides.get(name, {}))
        if kind not in (None, "", chosen.get("kind", SIMULATED)):
            chosen = dict((field, chosen[field]) for field in ("bmc_scheme",) if field in chosen)
        chosen.update(forced)
        own = VIRTUAL_DEFAULTS if chosen.get("kind") == VIRTUAL else {}
        values = copy.deepcopy(dict(DEFAULTS, **dict(own, **chosen)))
        if values["bmc_scheme"] == IPMI and len(result) >= IPMI_LIMIT:
            raise ValueError(f"{name}.bmc_scheme {IPMI!r}: expected another one, a lab has {IPMI_LIMIT} ports for IPMI")
        values["disks"] = [server_disks.described(disk) for disk in values["disks"]]
        values["nics"] = [dict(NIC_DEFAULTS, **nic) for nic in values["nics"]]
        result[name] = values
    return result


def has_cluster(name: str, count: int, needed: int, root: bool) -> bool:
    """True when a lab has a workload cluster of that name.

    :param name: the cluster's name, NO_CLUSTER for none
    :param count: number of servers of the lab
    :param needed: number of servers that the cluster takes
    :param root: whether the lab runs as root; only root can make the namespaces that a node boots in
    """
    return name != NO_CLUSTER and count >= needed and root


def _mac(index: int, number: int, nic: int) -> str:
    low = number * NIC_LIMIT + nic
    return f"{MAC_PREFIX}:{index:02x}:{low >> 8:02x}:{low & 255:02x}"


def _bmc(scheme: str, lab: dict[str, Any], number: int, identity: uuid.UUID) -> dict[str, Any]:
    port = lab["ipmi_first_port"] + number - 1 if number <= IPMI_LIMIT else None
    redfish = f"{scheme}+{lab['urls']['redfish']}/redfish/v1/Systems/{identity}"
    return {"address": f"{IPMI}://{lab['address']}:{port}" if scheme == IPMI else redfish, "ipmi_port": port}


def servers(lab: dict[str, Any], hardware: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the servers of a lab as a list of plain data, the contents of its ``servers.json``.

    Each has ``name``, ``number``, ``uuid``, ``serial``, the hardware's fields, ``boot_mac`` (the first NIC's) and
    ``bmc`` with ``address`` (as in a BareMetalHost), ``username_file``, ``password_file`` and
    ``ipmi_port``, where it speaks IPMI too, None for servers beyond IPMI_LIMIT. A disk has ``bus``, ``name``
    (``/dev/sda``), ``serial``, ``wwn`` and ``hctl``, of which a bus may have none; a NIC ``name`` and ``mac``, the
    first also ``address`` (what a DHCP server would lend to the agent). Identities depend on nothing but the lab and
    the server's name.

    :param lab: the lab's figures, what layout() returns
    :param hardware: dict name → hardware, what describe() returns
    """
    network = ipaddress.ip_network(lab["bridge"]["network"])
    result = []
    for number, name in enumerate(sorted(hardware, key=lambda name: int(name.rsplit("-", 1)[1])), start=1):
        values = copy.deepcopy(hardware[name])
        identity = uuid.uuid5(uuid.NAMESPACE_URL, f"metal3.baremetal/{lab['name']}/{name}")
        server_disks.identify(values["disks"], identity.hex)
        for position, nic in enumerate(values["nics"]):
            nic.setdefault("name", f"eno{position + 1}")
            nic["mac"] = _mac(lab["index"], number, position)
        lent = AGENT_ADDRESS_OFFSET + (number - 1) % AGENT_ADDRESSES
        values["nics"][0]["address"] = str(network[lent])
        values.setdefault("serial", identity.hex[:12].upper())
        values.update(
            name=name,
            number=number,
            uuid=str(identity),
            boot_mac=values["nics"][0]["mac"],
            bmc={
                **_bmc(values.pop("bmc_scheme"), lab, number, identity),
                "username_file": os.path.join(lab["dir"], "secrets", "bmc", name, "username"),
                "password_file": os.path.join(lab["dir"], "secrets", "bmc", name, "password"),
            },
        )
        result.append(values)
    return result
