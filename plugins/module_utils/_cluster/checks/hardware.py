# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether hosts have the hardware that a group of machines needs; pure, over BareMetalHosts and HardwareData."""
from __future__ import annotations

from ..._common.problems.problem import Problem
from ..._common.texts.formats import GIGABYTE
from ..description.spec import DEFAULT_MINIMUM_MEMORY_MEBIBYTES, DEFAULT_MINIMUM_ROOT_DISK_GIGABYTES
from ..render.network import attached

_GIBIBYTE = 2 ** 30
# Smaller disks are not deployed on unless hints say so (ironic-python-agent, guess_root_disk).
_SMALLEST_BYTES = 4 * _GIBIBYTE
_LARGE_ENOUGH = f"at least {_SMALLEST_BYTES // _GIBIBYTE} GiB"


def hardware_of(host, hardware_data):
    """Return the inspected hardware of a host, from its HardwareData or its status; None before inspection.

    :param hardware_data: HardwareData objects by name
    """
    data = hardware_data.get(host["metadata"]["name"])
    details = ((data or {}).get("spec") or {}).get("hardware")
    return details or (host.get("status") or {}).get("hardware")


def hardware_problems(description, group, host, hardware):
    """Return what a host lacks for a group; CAPM3 picks at random among the hosts that match, so all must do.

    :param hardware: as returned by :func:`hardware_of`
    """
    subject = description.subject
    field = group.field
    name = host["metadata"]["name"]
    advice = "narrow host_selector so that this host does not match"
    if not hardware:
        return [Problem("host-hardware", subject, field, f"host {name} without inspected hardware", "an inspected host",
                        "inspect it or put its HardwareData there")]
    found = []
    memory = group.get("minimum_memory_mebibytes") or DEFAULT_MINIMUM_MEMORY_MEBIBYTES
    if (hardware.get("ramMebibytes") or 0) < memory:
        found.append(Problem("host-hardware", subject, field, f"host {name} with {hardware.get('ramMebibytes') or 0} "
                                                              "MiB of memory", f"at least {memory} MiB", advice))
    gigabytes = group.get("minimum_root_disk_gigabytes") or DEFAULT_MINIMUM_ROOT_DISK_GIGABYTES
    found += _root_disk(subject, field, name, host, hardware, gigabytes, advice)
    # One entry for each address: a card with two of them is listed twice.
    names = list(dict.fromkeys(nic["name"] for nic in hardware.get("nics") or [] if nic.get("name")))
    for interface in needed_interfaces(description, group):
        if interface not in names:
            found.append(Problem(
                "host-hardware", subject, field, f"host {name} with interfaces {', '.join(names) or '(none)'}",
                f"an interface {interface}", 'correct networks or metadata; CAPM3 would answer "NIC name not found"'))
    return found


def needed_interfaces(description, group):
    """Return the names of the inspected interfaces that a group's networks and metadata refer to, sorted."""
    names = set()
    for network_name in attached(description, group):
        network = description.networks[network_name]
        if network.get("bond"):
            names.update(network["bond"]["interfaces"])
        elif network.get("mac_address"):
            names.add(network["mac_address"].get("fromHostInterface"))
        elif not network.get("vlan"):
            names.add(network.get("interface") or network_name)
    for entry in (group.get("metadata") or {}).get("fromHostInterfaces") or []:
        names.add(entry.get("interface"))
    for kind in ("ethernets", "bonds", "vlans"):
        for link in ((group.get("network_data") or {}).get("links") or {}).get(kind) or []:
            names.add((link.get("macAddress") or {}).get("fromHostInterface"))
    return sorted(name for name in names if name)


def _root_disk(subject, field, name, host, hardware, gigabytes, advice):
    if any(((host.get("spec") or {}).get("raid") or {}).values()):
        # Which disks there will be shows when the volumes are made, after the inspection.
        return []
    disks = hardware.get("storage") or []
    hints = _hints(host)
    disk = _chosen(disks, hints)
    given = " ".join("%s=%s" % item for item in sorted(hints.items()))
    if disk is None:
        lack = f"which its rootDeviceHints {given} fit" if hints else _LARGE_ENOUGH
        return [Problem("host-hardware", subject, field, f"host {name} with {len(disks)} disks, none of {lack}",
                        f"a root disk of at least {gigabytes} GB",
                        "compare the host's rootDeviceHints with its inspected disks")]
    size = disk.get("sizeBytes") or 0
    if size < gigabytes * GIGABYTE:
        why = f"the first that its rootDeviceHints {given} fit" if hints else "the smallest of " + _LARGE_ENOUGH
        root = f"{size // GIGABYTE} GB ({disk.get('name') or 'without a name'}, {why})"
        return [Problem("host-hardware", subject, field, f"host {name} with a root disk of {root}",
                        f"at least {gigabytes} GB", f"name another disk in the host's rootDeviceHints, or {advice}")]
    return []


def _hints(host):
    """Return the root device hints that BMO gives to Ironic: the user's, else those that its status has.

    Without the user's, BMO takes those of a hardware profile (updateRootDeviceHints). Empty ones are left out
    (devicehints.MakeHintMap).
    """
    hints = (host.get("spec") or {}).get("rootDeviceHints")
    if hints is None:
        hints = ((host.get("status") or {}).get("provisioning") or {}).get("rootDeviceHints")
    return dict((hint, value) for hint, value in (hints or {}).items() if value is False or value)


def _chosen(disks, hints):
    """Return the disk that ironic-python-agent takes (get_os_install_device, guess_root_disk), or None."""
    if hints:
        return next((disk for disk in disks if _fits(disk, hints)), None)
    large = [disk for disk in disks if (disk.get("sizeBytes") or 0) >= _SMALLEST_BYTES]
    return min(large, key=lambda disk: (disk["sizeBytes"], disk.get("name") or ""), default=None)


def _fits(disk, hints):
    """Say whether a disk satisfies all root device hints; the agent compares texts in small letters."""
    return all(_fits_one(disk, hint, value) for hint, value in hints.items())


def _fits_one(disk, hint, value):
    if hint == "minSizeGigabytes":
        return (disk.get("sizeBytes") or 0) >= value * _GIBIBYTE
    if hint == "rotational":
        return bool(disk.get("rotational")) == value
    wanted = str(value).lower()
    if hint == "deviceName":
        return wanted in [str(name).lower() for name in [disk.get("name")] + list(disk.get("alternateNames") or [])]
    actual = str(disk.get(hint) or "").lower()
    return wanted in actual if hint in ("model", "vendor") else wanted == actual
