# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Combinations of a host's fields that BMO takes and that do not do what they say; pure.

They are no reason to refuse a write, because the rest of the host still works; the lint of a site warns of them.
"""
from __future__ import annotations

from collections import namedtuple

from ..._bmc.addresses import address as bmc_address
from ..._common.problems.problem import Problem
from . import boot

# rule: its name; summary: what is right, as a sentence; applies: callable (host, address) that returns the option
# without effect, or None; actual, expected, next_step: texts, with {scheme}; source: where upstream says so.
Combination = namedtuple("Combination", [
    "rule", "summary", "applies", "actual", "expected", "next_step", "source"])

_CONFIG_DRIVE = ("user_data", "network_data", "meta_data")
_DISK = ("root_device_hints", "raid")
_ARM = ("aarch64", "arm64")


def _is_live_iso(host):
    return (host.get("image") or {}).get("format") == "live-iso"


def _first(host, options):
    return next((option for option in options if host.get(option)), None)


def _live_iso_data(host, address):
    return _first(host, _CONFIG_DRIVE) if _is_live_iso(host) else None


def _live_iso_disk(host, address):
    return _first(host, _DISK) if _is_live_iso(host) else None


def _live_iso_boot(host, address):
    return "image.format" if _is_live_iso(host) and address and address.driver.boot == "ipxe" else None


def _agent_network_data(host, address):
    wanted = host.get("preprovisioning_network_data") and address and address.driver.boot == "ipxe"
    return "preprovisioning_network_data" if wanted else None


def _unsigned_loader(host, address):
    return "boot_mode" if boot.is_loader_unsigned(host, address) else None


def _legacy_on_arm(host, address):
    return "boot_mode" if host.get("boot_mode") == "legacy" and host.get("architecture") in _ARM else None


def _array_without_hint(host, address):
    volumes = (host.get("raid") or {}).get("software_raid_volumes")
    # Hints without a value remove the field, as if none were given.
    hints = [value for value in (host.get("root_device_hints") or {}).values() if value is not None]
    return "root_device_hints" if volumes and not hints and host.get("hardware_profile") != NO_HINTS else None


def _external_deploy(host, address):
    return _first(host, ("custom_deploy",) + _CONFIG_DRIVE) if host.get("externally_provisioned") else None


# BMO's hardware profile without a hint of its own; that of a host without a profile is /dev/sda.
NO_HINTS = "empty"

COMBINATIONS = (
    Combination("live-iso-data", "A live ISO is given no user data, network data or metadata.",
                _live_iso_data, "data for a live ISO", "none: a live ISO gets no config drive",
                "put the data into the ISO, or choose an image that is written to disk",
                "BMO 0.13 pkg/provisioner/ironic, getConfigDrive"),
    Combination("live-iso-disk", "A live ISO comes without a choice of disks.",
                _live_iso_disk, "a choice of disks for a live ISO",
                "none: a live ISO is not written to a disk", "remove it, or choose an image that is written to disk",
                "Ironic, deploy interface ramdisk"),
    Combination("live-iso-boot", "A live ISO is booted from virtual media or by UEFI HTTP.",
                _live_iso_boot, "live-iso with the scheme {scheme}",
                "a scheme with virtual media: iPXE hands an ISO to the firmware by sanboot, which most systems in it "
                "can't go on from", "use a virtualmedia scheme for this server",
                "Ironic, drivers/modules/ipxe_config.template"),
    Combination("agent-network-data", "Network data for the agent goes with a scheme that boots it from an ISO.",
                _agent_network_data, "network data for the agent with the scheme {scheme}",
                "a scheme with virtualmedia or uefihttp: Ironic puts network data into an ISO only, an agent booted by "
                "iPXE asks DHCP", "use such a scheme, or remove it",
                "BMO 0.13 pkg/provisioner/ironic/register.go, network_data; Ironic, drivers/modules/image_utils.py"),
    Combination("secure-boot-loader", "Secure boot goes with a scheme that boots from virtual media or by UEFI HTTP.",
                _unsigned_loader, "UEFISecureBoot with the scheme {scheme}",
                "a scheme with virtualmedia or uefihttp: BMO boots this one by iPXE, which distributions do not sign, "
                "and the firmware refuses it (Access Denied)",
                "use such a scheme, or serve an iPXE that a key of the firmware has signed "
                "(provisioning_network_loader_files)",
                "BMO 0.13 pkg/hardwareutils/bmc, BootInterface; tests/lab/test_virtual_servers.py"),
    Combination("legacy-on-arm", "ARM servers boot by UEFI.",
                _legacy_on_arm, "legacy on an ARM server", "UEFI: ARM servers have no legacy boot",
                "remove boot_mode", "Arm Base Boot Requirements"),
    Combination("software-raid-root", "A host with software RAID says where the image goes.",
                _array_without_hint, "software RAID without root device hints",
                "hints: without them BMO 0.13 has the image written to /dev/sda, a disk of the array",
                f"set hardware_profile to {NO_HINTS}, with which the agent takes the smallest disk of 4 GiB or more, "
                "and make the array the smallest; or write hints that the array alone matches",
                "BMO 0.13 updateRootDeviceHints, hardware profile unknown"),
    Combination("external-deploy", "Nothing is deployed on a host that is provisioned by somebody else.",
                _external_deploy, "something to deploy on an externally provisioned host",
                "nothing: BMO deploys nothing on it", "remove it, or externally_provisioned",
                "BMO 0.13 host_state_machine.go, handleExternallyProvisioned"),
)


def check(label, host):
    """Return what has no effect in one host.

    :param label: name of the host, for messages
    :param host: well-typed entry, see ``host_fields``
    :returns: list of Problem; the code of each is its rule
    """
    address = bmc_address.readable((host.get("bmc") or {}).get("address"))
    found = []
    for combination in COMBINATIONS:
        field = combination.applies(host, address)
        if field:
            actual = combination.actual.format(scheme=address.scheme.name if address else "none")
            found.append(Problem(
                combination.rule, label, field, actual, combination.expected, combination.next_step))
    return found


def without_provisioning_network(label, host):
    """Return the mistake of a host whose scheme needs a provisioning network that the site does not have.

    :returns: list of Problem; the source is BMO 0.13 ``pkg/provisioner/ironic/register.go``
    """
    address = bmc_address.readable((host.get("bmc") or {}).get("address"))
    if address is None or not address.driver.provisioning_network:
        return []
    return [Problem("provisioning-network", label, "bmc.address", f"the scheme {address.scheme.name}",
                    "a scheme that needs no provisioning network: one with virtualmedia or uefihttp",
                    "change the scheme, or give the site a provisioning network")]
