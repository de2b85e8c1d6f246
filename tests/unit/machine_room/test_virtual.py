# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import io
import json

from fakes.machine_room import spec
from machine_room.virtual import qemu, qmp, tap

from ansible_collections.metal3.baremetal.plugins.module_utils._lab.layout import layout
from ansible_collections.metal3.baremetal.plugins.module_utils._lab.servers import describe, servers


def command(boot_device, cd=None, disks=("/machines/a,b/sda.raw",), taps=(7,), boot_mode="UEFI", secure_boot=False,
            accelerator="tcg"):
    one = spec(1)
    one = dict(one, disks=one["disks"][:len(disks)], nics=one["nics"][:len(taps)])
    return qemu.command(one, list(zip(one["disks"], disks)), qemu.firmware(boot_mode, secure_boot),
                        "/machines/variables.fd", boot_device, cd, list(taps), accelerator)


def option(arguments, text):
    """Return the one argument that contains a text."""
    found = [argument for argument in arguments if text in argument]
    assert len(found) == 1, (text, found)
    return found[0]


def test_the_boot_device_comes_first_and_disks_follow():
    assert qemu.boot_order("Cd", 2, 1) == ["cd", "disk0", "disk1"]
    assert qemu.boot_order("Pxe", 1, 2) == ["nic0", "nic1", "disk0"]
    assert qemu.boot_order("Hdd", 1, 2) == ["disk0"]


def test_an_installed_system_has_its_processors_before_agents_do():
    given = dict((device, int(command(device)[2])) for device in ("Hdd", "Pxe", "Cd"))
    assert given["Hdd"] < given["Pxe"] == given["Cd"]


def test_only_an_emulated_processor_goes_without_fast_strings():
    """An emulator copies them byte by byte."""
    for accelerator, expected in (("tcg", "max,-erms,-fsrm"), ("kvm", "max")):
        arguments = command("Hdd", accelerator=accelerator)
        assert arguments[arguments.index("-cpu") + 1] == expected
        assert arguments[arguments.index("-accel") + 1].startswith(accelerator)


def test_virtual_media_boots_before_the_disk():
    arguments = command("Cd", cd="/redfish/boot.iso")
    assert option(arguments, "ide-cd").endswith(",bootindex=0")
    assert option(arguments, "scsi-hd").endswith(",bootindex=1")
    assert "bootindex" not in option(arguments, "virtio-net-pci")


def test_a_drive_without_a_medium_is_not_booted():
    arguments = command("Cd")
    assert option(arguments, "ide-cd") == "ide-cd,bus=ide.0,id=cddrive"
    assert "-no-reboot" in arguments


def test_network_boot_tries_the_nic_first():
    arguments = command("Pxe")
    assert option(arguments, "virtio-net-pci").endswith(",bootindex=0")
    assert option(arguments, "tap,id=nic0").endswith("fd=7")


def test_secure_boot_has_microsoft_s_keys_and_only_the_firmware_writes_variables():
    arguments = command("Hdd", secure_boot=True)
    assert option(arguments, "q35") == "q35,smm=on"
    assert option(arguments, "secure,value=on")
    assert option(arguments, "OVMF_CODE").endswith("secboot.fd")
    assert qemu.firmware("UEFI", True).variables.endswith(".ms.fd")
    assert not [argument for argument in command("Hdd") if "smm" in argument or "secure" in argument]


def test_a_legacy_bios_is_qemu_s_own_and_boots_from_a_nic_with_a_rom():
    arguments = command("Pxe", boot_mode="Legacy")
    assert not [argument for argument in arguments if "pflash" in argument]
    assert "romfile" not in option(arguments, "virtio-net-pci")
    assert "romfile=," in option(command("Pxe"), "virtio-net-pci")


def test_of_two_disks_the_first_is_tried_first_and_keeps_its_identity():
    first, second = spec(1)["disks"][:2]
    for disks in ([first, second], [second]):
        arguments = qemu.command(spec(1), [(disk, disk["serial"] + ".raw") for disk in disks], qemu.UEFI,
                                 "/machines/variables.fd", "Hdd", None, [7] * len(spec(1)["nics"]), "tcg")
        devices = [argument for argument in arguments if argument.startswith("scsi-hd")]
        assert [f"serial={disk['serial']}," in device for disk, device in zip(disks, devices)] == [True] * len(disks)
        assert [device.endswith(f"bootindex={number}") for number, device in enumerate(devices)] == [True] * len(disks)


def test_a_disk_has_its_identity_and_a_comma_in_a_path_is_no_separator():
    arguments, disk = command("Hdd"), spec(1)["disks"][0]
    device = option(arguments, "scsi-hd")
    assert f"serial={disk['serial']}" in device
    assert f"wwn={disk['wwn']}" in device
    assert option(arguments, "/machines/a,,b/sda.raw")


def on_buses(*buses, boot_device="Hdd"):
    """Return the devices of a server with one disk on each of the buses, as the lab describes it."""
    described = describe(1, overrides={"server-01": {"disks": [{"bus": bus} for bus in buses]}})
    one, = servers(layout("lab", 3, {"HOME": "/home/me"}), described)
    arguments = qemu.command(one, [(disk, disk["serial"] + ".raw") for disk in one["disks"]], qemu.UEFI,
                             "/machines/variables.fd", boot_device, None, [], "tcg")
    names = ("scsi-hd", "ide-hd", "nvme", "virtio-blk")
    return one["disks"], [argument for argument in arguments if argument.startswith(names)]


def test_each_bus_has_its_device_with_serial_number_and_place_in_the_boot_order():
    disks, devices = on_buses("nvme", "sata", "virtio", "scsi")
    assert [device.partition(",")[0] for device in devices] == ["nvme", "ide-hd", "virtio-blk-pci", "scsi-hd"]
    for number, (disk, device) in enumerate(zip(disks, devices)):
        assert f"serial={disk['serial']}" in device and device.endswith(f",bootindex={number}")


def test_sata_disks_leave_the_port_of_the_cd_drive_free():
    _disks, devices = on_buses("sata", "scsi", "sata")
    assert [device.split(",")[1] for device in devices] == ["bus=ide.1", "bus=scsi.0", "bus=ide.2"]


def test_a_clock_without_a_battery_begins_years_ago():
    one = spec(1)
    arguments = qemu.command(one, [], None, None, "Hdd", None, [], "tcg", clock_behind=True)
    assert arguments[arguments.index("-rtc") + 1] == "base=2010-01-01T00:00:00"
    assert "-rtc" not in command("Hdd")


def test_link_names_are_short_enough_for_the_kernel():
    assert len(tap.link_name(99, 4095, 15)) <= 15


def test_the_reason_of_an_end_is_the_last_that_qemu_reports():
    lines = [{"return": {}}, {"event": "RESET", "data": {}}, {"event": "SHUTDOWN", "data": {"reason": "guest-reset"}}]
    file = io.BytesIO(b"".join(json.dumps(line).encode() + b"\n" for line in lines))
    assert qmp.shutdown_reason(file) == "guest-reset"
    assert qmp.shutdown_reason(io.BytesIO(b"")) is None


def test_a_command_is_sent_with_its_arguments_or_without():
    file = io.BytesIO()
    qmp.send(file, "eject", id=qemu.CD_DRIVE, force=True)
    qmp.send(file, "system_powerdown")
    assert [json.loads(line) for line in file.getvalue().splitlines()] == [
        {"execute": "eject", "arguments": {"id": "cddrive", "force": True}}, {"execute": "system_powerdown"}]
