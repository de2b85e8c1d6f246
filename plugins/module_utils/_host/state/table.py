# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A BareMetalHost in a few words: for results and for tables."""
from __future__ import annotations

from ..._common.texts import formats, text_table
from ..._ironic.audit.raid_volumes import wanted_levels
from ..._kube.objects.finalizers import is_going
from ..description import annotations as host_annotations
from ..description.objects import consumer_of
from .goals import UNINSPECTED, error_of, state_of

COLUMNS = (
    ("NAME", "name"), ("STATE", "state"), ("POWER", "power"), ("CPU", "cpu"), ("RAM", "ram"), ("DISKS", "disks"),
    ("NICS", "nics"), ("BOOT MAC", "boot_mac_address"), ("BMC", "bmc_address"), ("TIME", "time"),
)

# What BMO says of a host beside its state, where it says that the state is not to be relied on.
_REMARKS = ("delayed", "detached", "servicing")
# In these BMO has not read the power since it began with the host, or there is none.
_POWER_UNREAD = ("new", "absent", "deleted", *UNINSPECTED)


def summary(bmh):
    """Return the facts of a BareMetalHost that users ask for first, as plain data."""
    spec, status = bmh.get("spec") or {}, bmh.get("status") or {}
    provisioning = status.get("provisioning") or {}
    error_type, error_message, error_count = error_of(bmh)
    return {
        "name": bmh["metadata"]["name"],
        "namespace": bmh["metadata"].get("namespace", ""),
        "uid": bmh["metadata"].get("uid", ""),
        "labels": bmh["metadata"].get("labels") or {},
        "state": state_of(bmh),
        "operational_status": status.get("operationalStatus") or "",
        "error_type": error_type,
        "error_message": error_message,
        "error_count": error_count,
        "online": bool(spec.get("online")),
        "powered_on": bool(status.get("poweredOn")),
        "boot_mac_address": spec.get("bootMACAddress") or "",
        "bmc_address": (spec.get("bmc") or {}).get("address") or "",
        "consumer": consumer_of(bmh),
        "image_url": (provisioning.get("image") or {}).get("url") or "",
        "node_id": provisioning.get("ID") or "",
        "hardware_raid_levels": wanted_levels(provisioning.get("raid")),
        "paused": host_annotations.PAUSED in host_annotations.of(bmh),
        "deleting": is_going(bmh),
        "hardware": hardware(status.get("hardware") or {}),
        "operation_seconds": operation_seconds(status.get("operationHistory") or {}),
    }


def operation_seconds(history):
    """Return how long each finished operation took: name → seconds.

    :param history: ``status.operationHistory`` of a BareMetalHost, the last run of each
    """
    found = {}
    for name, operation in history.items():
        start, end = (formats.moment(operation.get(field)) for field in ("start", "end"))
        # The end of the run before stays until the present one ends.
        if start is not None and end is not None and end >= start:
            found[name] = end - start
    return found


def absent(name, namespace):
    """Return the facts of a host that is not there."""
    return {"name": name, "namespace": namespace, "state": "absent"}


def hardware(details):
    """Return the inspected hardware as plain data; empty when the host was not inspected.

    :param details: ``status.hardware`` of a BareMetalHost, or ``spec.hardware`` of a HardwareData
    """
    if not details:
        return {}
    cpu, system = details.get("cpu") or {}, details.get("systemVendor") or {}
    return {
        "cpu": {"count": cpu.get("count") or 0, "model": cpu.get("model") or "", "architecture": cpu.get("arch") or ""},
        "ram_mebibytes": details.get("ramMebibytes") or 0,
        "disks": [{"name": disk.get("name") or "", "size_bytes": disk.get("sizeBytes") or 0,
                   "model": disk.get("model") or "", "serial_number": disk.get("serialNumber") or "",
                   "type": disk.get("type") or ("HDD" if disk.get("rotational") else "")}
                  for disk in details.get("storage") or []],
        "nics": [{"name": nic.get("name") or "", "mac": nic.get("mac") or "", "ip": nic.get("ip") or "",
                  "speed_gbps": nic.get("speedGbps") or 0, "model": nic.get("model") or ""}
                 for nic in details.get("nics") or []],
        "hostname": details.get("hostname") or "",
        "manufacturer": system.get("manufacturer") or "",
        "product": system.get("productName") or "",
        "serial_number": system.get("serialNumber") or "",
    }


def row(facts):
    """Return the cells of a host's row as texts, from its :func:`summary`; ``-`` for what is unknown.

    :param facts: a summary, optionally with ``seconds``, the time taken
    """
    parts = facts.get("hardware") or {}
    cpu = parts.get("cpu") or {}
    nics = parts.get("nics") or []
    seconds = facts.get("seconds")
    return {
        "name": facts["name"],
        "state": _state(facts),
        "power": "on" if facts.get("powered_on") else "-" if facts["state"] in _POWER_UNREAD else "off",
        "cpu": str(cpu["count"]) if cpu.get("count") else "-",
        "ram": formats.memory(parts.get("ram_mebibytes") or 0),
        "disks": disks(parts.get("disks") or []),
        "nics": str(len(set(nic["mac"] for nic in nics))) if nics else "-",
        "boot_mac_address": facts.get("boot_mac_address") or "-",
        "bmc_address": facts.get("bmc_address") or "-",
        "time": "-" if seconds is None else formats.duration(round(seconds)),
    }


def _state(facts):
    """Return a host's state with why it is not, or not only, what it says."""
    status = facts.get("operational_status")
    remarks = ["error"] if facts.get("error_type") else [status] if status in _REMARKS else []
    remarks += [name for name in ("paused", "deleting") if facts.get(name) and facts["state"] != name]
    return facts["state"] + (f" ({', '.join(remarks)})" if remarks else "")


def disks(items):
    """Return disks as text, equal sizes counted: ``2x480 GB, 4000 GB``."""
    counts = {}
    for item in items:
        size = round(item["size_bytes"] / formats.GIGABYTE)
        counts[size] = counts.get(size, 0) + 1
    texts = [(f"{count}x" if count > 1 else "") + formats.disk(size * formats.GIGABYTE)
             for size, count in sorted(counts.items())]
    return ", ".join(texts) or "-"


def table(hosts, width=None):
    """Return the lines of an aligned table.

    :param hosts: list of summaries
    :param width: columns of the terminal; None for any number
    """
    rows = [[cells[key] for dummy, key in COLUMNS] for cells in map(row, hosts)]
    return text_table.lines([title for title, dummy in COLUMNS], rows, width, long=("BMC",),
                            optional=("NICS", "BMC", "CPU", "BOOT MAC", "DISKS", "RAM"))
