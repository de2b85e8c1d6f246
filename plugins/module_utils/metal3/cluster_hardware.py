# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether hosts have the hardware that a group of machines needs; pure, over BareMetalHosts and HardwareData."""
from __future__ import annotations

from .cluster_network import attached
from .cluster_spec import DEFAULT_MINIMUM_MEMORY_MEBIBYTES, DEFAULT_MINIMUM_ROOT_DISK_GIGABYTES
from .problem import problem

_GIGABYTE = 10 ** 9
_GIBIBYTE = 2 ** 30


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
    subject = "cluster %s/%s" % (description["namespace"], description["name"])
    field = "control_plane" if group["role"] == "control-plane" else "workers.%s" % group["name"]
    name = host["metadata"]["name"]
    advice = "narrow host_selector so that this host does not match"
    if not hardware:
        return [problem(subject, field, "host %s without inspected hardware" % name, "an inspected host",
                        "inspect it or put its HardwareData there")]
    found = []
    memory = group.get("minimum_memory_mebibytes") or DEFAULT_MINIMUM_MEMORY_MEBIBYTES
    if (hardware.get("ramMebibytes") or 0) < memory:
        found.append(problem(subject, field, "host %s with %d MiB of memory" % (
            name, hardware.get("ramMebibytes") or 0), "at least %d MiB" % memory, advice))
    gigabytes = group.get("minimum_root_disk_gigabytes") or DEFAULT_MINIMUM_ROOT_DISK_GIGABYTES
    found += _root_disk(subject, field, name, host, hardware, gigabytes, advice)
    names = [nic.get("name") for nic in hardware.get("nics") or []]
    for interface in needed_interfaces(description, group):
        if interface not in names:
            found.append(problem(subject, field, "host %s with interfaces %s" % (name, ", ".join(names) or "(none)"),
                                 "an interface %s" % interface,
                                 "correct networks or metadata; CAPM3 would answer \"NIC name not found\""))
    return found


def needed_interfaces(description, group):
    """Return the names of the inspected interfaces that a group's networks and metadata refer to, sorted."""
    names = set()
    for network_name in attached(description, group):
        network = description["networks"][network_name]
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
    disks = hardware.get("storage") or []
    hints = (host.get("spec") or {}).get("rootDeviceHints")
    fitting = [disk for disk in disks if _fits(disk, hints)]
    if hints and not fitting:
        return [problem(subject, field, "host %s with %d disks, none of which matches its rootDeviceHints %s" % (
            name, len(disks), ", ".join("%s=%s" % item for item in sorted(hints.items()))), "a disk that matches",
            "compare the hints with the inspected disks")]
    largest = max([disk.get("sizeBytes") or 0 for disk in fitting] or [0])
    if largest < gigabytes * _GIGABYTE:
        return [problem(subject, field, "host %s with a root disk of %d GB" % (name, largest // _GIGABYTE),
                        "at least %d GB" % gigabytes, advice)]
    return []


def _fits(disk, hints):
    """Say whether a disk satisfies root device hints (BMO, ``docs/api.md``: all of them must match)."""
    for hint, value in (hints or {}).items():
        if hint == "minSizeGigabytes":
            good = (disk.get("sizeBytes") or 0) >= value * _GIBIBYTE
        elif hint == "rotational":
            good = bool(disk.get("rotational")) == bool(value)
        elif hint == "deviceName":
            good = value in [disk.get("name")] + list(disk.get("alternateNames") or [])
        elif hint in ("model", "vendor"):
            # Ironic compares these as "contains".
            good = str(value).lower() in str(disk.get(hint) or "").lower()
        else:
            good = disk.get({"wwnWithExtension": "wwnWithExtension", "wwnVendorExtension": "wwnVendorExtension"}
                            .get(hint, hint)) == value
        if not good:
            return False
    return True
