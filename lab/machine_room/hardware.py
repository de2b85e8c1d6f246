"""The inventory that the agent reports, in the shape of ironic-python-agent's list_hardware_info()."""
from __future__ import annotations

import urllib.parse

MIB = 1024 * 1024
# The ramdisk and the firmware take some of it, as on a real machine.
RESERVED_MEMORY_MIB = 256
# What lsblk of the agent's release says of each bus; it knows no virtio. A simulated SCSI disk is behind a controller
# that speaks SATA to it.
TRANSPORTS = {"scsi": "sata", "sata": "sata", "nvme": "nvme", "virtio": None}
# TLVs of LLDP.
_CHASSIS_ID, _PORT_ID, _SYSTEM_NAME = 1, 2, 5


def disks(server):
    """Return the disks as a list of mappings, the fields of the agent's BlockDevice."""
    return [{
        "name": disk.name,
        "model": disk.spec["model"],
        "vendor": disk.spec["vendor"],
        "size": disk.size,
        "rotational": disk.spec["rotational"],
        "wwn": disk.spec["wwn"],
        "wwn_with_extension": disk.spec["wwn"],
        "wwn_vendor_extension": None,
        "serial": disk.spec["serial"],
        "hctl": disk.spec["hctl"],
        "by_path": f"/dev/disk/by-path/pci-0000:00:17.0-scsi-{disk.spec['hctl']}" if disk.spec["hctl"] else None,
        "logical_sectors": 512,
        "physical_sectors": 512,
        "tran": TRANSPORTS[disk.spec.get("bus", "scsi")],
    } for disk in server.present_disks()]


def interfaces(server):
    """Return the NICs as a list of mappings, the fields of the agent's NetworkInterface."""
    if server.knobs.get("inspection_without_nics"):
        return []
    return [{
        "name": nic["name"],
        "mac_address": nic["mac"],
        "ipv4_address": nic.get("address"),
        "ipv6_address": None,
        "has_carrier": True,
        "lldp": _neighbour(nic),
        "vendor": nic["vendor"],
        "product": nic["product"],
        "client_id": None,
        "biosdevname": None,
        "speed_mbps": nic["speed_mbps"],
        "pci_address": f"0000:{position + 1:02x}:00.0",
        "driver": "i40e",
    } for position, nic in enumerate(server.spec["nics"])]


def _neighbour(nic):
    """Return what a NIC has heard by LLDP, as the agent reports it: pairs of a TLV's type and its value in hexadecimal.

    :param nic: an entry of ``nics``, with ``switch`` and ``switch_port`` when it has heard of one
    """
    # Of IEEE 802.1AB: the subtype of a chassis's MAC address, and that of an interface's name.
    chassis, port = b"\x04\x02\x00\x5c\x52\x00\x01", nic.get("switch_port", "").encode()
    found = [(_CHASSIS_ID, chassis)] if nic.get("switch") or port else []
    found += [(_PORT_ID, b"\x05" + port)] if port else []
    found += [(_SYSTEM_NAME, nic["switch"].encode())] if nic.get("switch") else []
    return [[kind, value.hex()] for kind, value in found]


def _bmc_address(spec):
    """Return what ``ipmitool lan print`` has of the server's BMC; without one the agent reports ``0.0.0.0``."""
    address = spec.get("bmc", {}).get("address", "")
    return urllib.parse.urlsplit(address).hostname or "0.0.0.0"


def inventory(server):
    """Return the whole inventory of a server."""
    spec = server.spec
    return {
        "interfaces": interfaces(server),
        "cpu": {
            "model_name": spec["cpu_model"],
            "frequency": f"{spec['cpu_mhz']}.0",
            "count": spec["cpus"],
            "architecture": spec["architecture"],
            "flags": ["fpu", "aes", "lm", "sse4_2", "avx2"],
            "socket_count": 1,
        },
        "disks": disks(server),
        "memory": {
            "physical_mb": spec["memory_mib"],
            "total": (spec["memory_mib"] - RESERVED_MEMORY_MIB) * MIB,
        },
        "bmc_address": _bmc_address(spec),
        "bmc_v6address": "::/0",
        "bmc_mac": None,
        "system_vendor": {
            "product_name": spec["model"],
            "serial_number": spec["serial"],
            "manufacturer": spec["vendor"],
            "firmware": {"vendor": spec["vendor"], "version": "1.0", "build_date": "01/01/2026"},
        },
        "boot": {
            "current_boot_mode": "uefi" if server.boot_mode == "UEFI" else "bios",
            "pxe_interface": spec["boot_mac"],
        },
        "hostname": spec["name"],
    }
