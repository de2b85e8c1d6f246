# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Redfish resources in a few words: the facts that users and checks need.

Vendors leave out what the standard does not require, and some send null or a wrong type; every fact is then empty.
"""
from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import datetime, timezone
from typing import Any

from ..._common.documents.tolerant import dict_in
from ..._common.texts.plain_text import plain
from ..addresses.address import path_mistake

_MAC = re.compile(r"^[0-9a-f]{12}$")


def facts(parts: Mapping[str, Any], clock_asked: tuple[float, float] = (0.0, 0.0)) -> dict[str, Any]:
    """Return a system's facts as plain data; what the BMC does not report is empty, 0, or None where 0 has a meaning.

    :param parts: the resources of a ``bmc.survey.Survey``
    :param clock_asked: seconds since 1970 before and after the manager was read
    """
    root = parts.get("root") or {}
    return {
        "service": {"redfish_version": text(root, "RedfishVersion"), "vendor": text(root, "Vendor"),
                    "product": text(root, "Product"), "uuid": text(root, "UUID")},
        "systems": list(parts.get("systems") or []),
        "system": _system(parts.get("system") or {}),
        "manager": _manager(parts.get("manager") or {}, clock_asked),
        "nics": sorted((_nic(nic) for nic in parts.get("nics") or []), key=lambda nic: nic["name"]),
        "virtual_media": [_media(media) for media in parts.get("virtual_media") or []],
        "secure_boot": _secure_boot(parts.get("secure_boot") or {}),
        "bios": _bios(parts.get("bios") or {}),
        "account": _account(parts),
        "accounts": [_listed(account) for account in parts.get("accounts") or [] if text(account, "UserName")],
        "firmware": sorted((_firmware(entry) for entry in parts.get("firmware") or []),
                           key=lambda entry: entry["name"]),
    }


def normal_mac(value: Any) -> str:
    """Return a MAC address in lower case with colons, empty when it is none (or all zeros)."""
    digits = re.sub(r"[^0-9a-f]", "", str(value or "").lower())
    if not _MAC.match(digits) or not digits.strip("0"):
        return ""
    return ":".join(digits[place:place + 2] for place in range(0, 12, 2))


def text(resource: dict[str, Any], name: str) -> str:
    """Return a property as plain text without blanks around it, empty when it is missing or no text."""
    value = resource.get(name)
    return plain(value.strip()) if isinstance(value, str) else ""


def _number(resource: dict[str, Any], name: str) -> int | float:
    value = resource.get(name)
    if isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value):
        return value
    return 0


def _texts(resource: dict[str, Any], name: str) -> list[str]:
    value = resource.get(name)
    return [plain(item) for item in value if isinstance(item, str)] if isinstance(value, list) else []


def _path(resource: dict[str, Any]) -> str:
    """Return the path that a resource gives itself, empty when it is none."""
    path = re.split("[?#]", text(resource, "@odata.id"))[0].rstrip("/")
    return path if re.match("/[^/]", path) and not path_mistake(path) else ""


def _system(system: dict[str, Any]) -> dict[str, Any]:
    if not system:
        return {}
    boot = dict_in(system, "Boot")
    reset = dict_in(dict_in(system, "Actions"), "#ComputerSystem.Reset")
    return {
        "path": _path(system),
        "id": text(system, "Id"),
        "manufacturer": text(system, "Manufacturer"),
        "model": text(system, "Model"),
        "sku": text(system, "SKU"),
        "serial_number": text(system, "SerialNumber"),
        "uuid": text(system, "UUID").lower(),
        "hostname": text(system, "HostName"),
        "asset_tag": text(system, "AssetTag"),
        "bios_version": text(system, "BiosVersion"),
        "health": text(dict_in(system, "Status"), "Health"),
        "power_state": text(system, "PowerState"),
        "reset_types": _texts(reset, "ResetType@Redfish.AllowableValues"),
        "cpus": _number(dict_in(system, "ProcessorSummary"), "Count"),
        "memory_gib": _number(dict_in(system, "MemorySummary"), "TotalSystemMemoryGiB"),
        "boot": {
            "override_enabled": text(boot, "BootSourceOverrideEnabled"),
            "override_target": text(boot, "BootSourceOverrideTarget"),
            "override_mode": text(boot, "BootSourceOverrideMode"),
            "targets": _texts(boot, "BootSourceOverrideTarget@Redfish.AllowableValues"),
            "modes": _texts(boot, "BootSourceOverrideMode@Redfish.AllowableValues"),
        },
    }


def _manager(manager: dict[str, Any], clock_asked: tuple[float, float]) -> dict[str, Any]:
    if not manager:
        return {}
    return {
        "path": _path(manager),
        "model": text(manager, "Model"),
        "firmware_version": text(manager, "FirmwareVersion"),
        "uuid": text(manager, "UUID").lower(),
        "clock": text(manager, "DateTime"),
        "clock_drift_seconds": clock_drift(text(manager, "DateTime"), clock_asked),
    }


def clock_drift(reported: str, asked: tuple[float, float]) -> int | None:
    """Return by how many seconds a clock is ahead (positive) or behind, None when it was not reported.

    What the answer's way took is no drift: a time between question and answer counts as exact.

    :param reported: a Redfish date and time; without an offset it is UTC
    :param asked: seconds since 1970 before and after the question
    """
    match = re.match(r"^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2})(?:\.\d+)?(Z|[+-]\d{2}:\d{2})?$", reported or "")
    if not match:
        return None
    try:
        moment = datetime.strptime(match.group(1), "%Y-%m-%dT%H:%M:%S").replace(tzinfo=timezone.utc)
    except ValueError:
        return None
    seconds = moment.timestamp() - _offset_seconds(match.group(2))
    before, after = asked
    # The BMC reports whole seconds.
    if before - 1 <= seconds <= after:
        return 0
    return round(seconds - after if seconds > after else seconds - before)


def _offset_seconds(offset: str | None) -> int:
    if not offset or offset == "Z":
        return 0
    seconds = int(offset[1:3]) * 3600 + int(offset[4:6]) * 60
    return -seconds if offset[0] == "-" else seconds


def _nic(nic: dict[str, Any]) -> dict[str, Any]:
    return {
        "name": text(nic, "Id") or text(nic, "Name"),
        # The permanent one is what a network boot and the inspection see.
        "mac": normal_mac(nic.get("PermanentMACAddress")) or normal_mac(nic.get("MACAddress")),
        "link": text(nic, "LinkStatus"),
        "speed_mbps": _number(nic, "SpeedMbps"),
        "enabled": nic.get("InterfaceEnabled") is not False,
    }


def _media(media: dict[str, Any]) -> dict[str, Any]:
    actions = dict_in(media, "Actions")
    return {
        "name": text(media, "Id") or text(media, "Name"),
        "path": _path(media),
        "media_types": _texts(media, "MediaTypes"),
        "inserted": media.get("Inserted") is True,
        "image": text(media, "Image").partition("?")[0],
        # A service without the action takes a PATCH of Image (sushy does that); one with neither can't insert.
        "insert_supported": "#VirtualMedia.InsertMedia" in actions or "Image" in media,
        "transfer_protocols": _texts(dict_in(actions, "#VirtualMedia.InsertMedia"),
                                     "TransferProtocolType@Redfish.AllowableValues"),
    }


def _secure_boot(resource: dict[str, Any]) -> dict[str, Any]:
    if not resource:
        return {}
    enabled = resource.get("SecureBootEnable")
    return {"enabled": enabled if isinstance(enabled, bool) else None,
            "current": text(resource, "SecureBootCurrentBoot"), "mode": text(resource, "SecureBootMode")}


def _bios(resource: dict[str, Any]) -> dict[str, Any]:
    attributes = resource.get("Attributes")
    if not isinstance(attributes, dict):
        return {}
    # Passwords are attributes of the BIOS; BMCs should send null for them, and not all do.
    return {"registry": text(resource, "AttributeRegistry"),
            "attributes": dict((plain(name), _attribute(value)) for name, value in sorted(attributes.items())
                               if "password" not in name.lower())}


def _attribute(value: Any) -> str | int | float | None:
    """Return a BIOS attribute, which is a text, a number, a truth value or null."""
    if isinstance(value, str):
        return plain(value)
    return value if isinstance(value, (bool, int)) or (isinstance(value, float) and math.isfinite(value)) else None


def _firmware(entry: dict[str, Any]) -> dict[str, Any]:
    return {"id": text(entry, "Id"), "name": text(entry, "Name") or text(entry, "Id"),
            "version": text(entry, "Version"), "updateable": entry.get("Updateable") is True}


def _account(parts: Mapping[str, Any]) -> dict[str, Any]:
    service, account, role = (parts.get(part) or {} for part in ("account_service", "account", "role"))
    return {
        "role": text(role, "Id") or text(role, "RoleId") or text(account, "RoleId"),
        "privileges": sorted(_texts(role, "AssignedPrivileges") + _texts(role, "OemPrivileges")),
        "enabled": account.get("Enabled") if isinstance(account.get("Enabled"), bool) else None,
        "locked": account.get("Locked") if isinstance(account.get("Locked"), bool) else None,
        "password_change_required": account.get("PasswordChangeRequired") is True,
        # 0 means never.
        "lockout_threshold": _whole(service, "AccountLockoutThreshold"),
        "lockout_duration_seconds": _whole(service, "AccountLockoutDuration"),
    }


def _listed(account: dict[str, Any]) -> dict[str, Any]:
    """Return one of all accounts; slots without a user name are none."""
    return {"name": text(account, "UserName"), "role": text(account, "RoleId"),
            "enabled": account.get("Enabled") if isinstance(account.get("Enabled"), bool) else None,
            "locked": account.get("Locked") if isinstance(account.get("Locked"), bool) else None}


def _whole(resource: dict[str, Any], name: str) -> int | None:
    value = resource.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) else None
