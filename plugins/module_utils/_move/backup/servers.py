# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What BMCs say of the servers of a backup, and whether each is still the one that was inspected; pure."""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from ..._bmc.addresses import servers as bmc_servers
from ..._bmc.preflight import identity
from ..._common.documents.object_shape import of_kind
from ..objects.graph import key

Object = dict[str, Any]

_IS_ON = {"on": True, "off": False}
# Serial numbers by which inspection and a BMC may know a server: vendors put theirs into different ones.
_SERIALS = ("serial_number", "sku", "chassis_serial")


class Said(NamedTuple):
    """What is known of a server by its BMC.

    :ivar powered_on: whether it is on; None when the BMC was not asked or did not say
    :ivar other: in words, what shows that another server is behind the address; empty for nothing
    :ivar not_compared: in words, why nothing says that it is the same server; empty when it is
    """

    powered_on: bool | None = None
    other: str = ""
    not_compared: str = "its BMC was not asked, or has not answered"


NOTHING_SAID = Said()


def said(servers: Iterable[Mapping[str, Any]], objects: Iterable[Object]) -> dict[str, Said]:
    """Return what is known of each server whose BMC was asked, by the name of its host.

    :param servers: what ``bmc_info`` has found, whose shape nobody has checked
    :param objects: of the backup
    """
    objects = list(objects)
    hosts = dict((obj["metadata"]["name"], of_kind(obj, "BareMetalHost")) for obj in objects
                 if key(obj)[1] == "BareMetalHost")
    inspected = dict((obj["metadata"]["name"], of_kind(obj, "HardwareData")["spec"].get("hardware") or {})
                     for obj in objects if key(obj)[1] == "HardwareData")
    found = {}
    for server in servers:
        name = str(server.get("name"))
        if name in hosts:
            spec = hosts[name]["spec"]
            address, former = server.get("address"), (spec.get("bmc") or {}).get("address")
            if address and former and not bmc_servers.is_same(address, former):
                # What this one says is nothing of what the operator will ask.
                found[name] = Said(None, f"its BMC is at {address} by the inventory, and at {former} by the backup", "")
                continue
            hardware = inspected.get(name) or (hosts[name].get("status") or {}).get("hardware") or {}
            found[name] = _said(server, hardware, str(spec.get("bootMACAddress") or ""))
    return found


def _said(server: Mapping[str, Any], hardware: Mapping[str, Any], boot_mac: str) -> Said:
    system, ipmi = _part(server, "system"), _part(server, "ipmi")
    power = str(system.get("power_state") or ipmi.get("power") or "").lower()
    nics = server.get("nics")
    macs = [str(nic.get("mac")) for nic in nics if isinstance(nic, Mapping) and nic.get("mac")] \
        if isinstance(nics, list) else []
    serials = [text for part in (system, ipmi) for field in _SERIALS for text in [_serial(part.get(field))] if text]
    then = identity.hardware("", (hardware.get("systemVendor") or {}).get("serialNumber"), [
        str(nic["mac"]) for nic in hardware.get("nics") or [] if nic.get("mac")])
    other, not_compared = "", ""
    if not then.macs and not then.serial_number:
        # A card that the BMC does not know may boot; one that it knows shows the server.
        if not boot_mac or boot_mac.lower() not in map(str.lower, macs):
            not_compared = "the backup does not have what its inspection has found"
    elif not serials and not macs:
        not_compared = "its BMC does not say a serial number or MAC addresses" if power else Said().not_compared
    else:
        known = then.serial_number if then.serial_number in serials else (serials or [""])[0]
        now = identity.hardware("", known, macs)
        verdict = identity.compared(then, now)
        if verdict is identity.Verdict.OTHER:
            other = f"its BMC is that of another server: it says {_shown(now)}, and the inspection has found " \
                f"{_shown(then)}"
        elif verdict is identity.Verdict.UNKNOWN and then.serial_number != now.serial_number:
            not_compared = f"its BMC says {_shown(now)}, and the inspection has found {_shown(then)}"
    return Said(_IS_ON.get(power), other, not_compared)


def _part(server: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = server.get(name)
    return found if isinstance(found, Mapping) else {}


def _serial(value: Any) -> str:
    return identity.hardware("", value if isinstance(value, str) else "", ()).serial_number


def _shown(server: identity.Hardware) -> str:
    parts = [f"the serial number {server.serial_number}"] if server.serial_number else []
    if server.macs:
        parts.append(f"the MAC addresses {', '.join(sorted(server.macs))}")
    return " and ".join(parts) or "neither a serial number nor MAC addresses"
