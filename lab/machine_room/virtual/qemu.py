"""The command line of QEMU for a virtual server."""
from __future__ import annotations

import itertools
from collections import namedtuple

# code: path of the firmware; variables: path of its variables at a server's first boot; secure: whether only the
# firmware writes to them, which secure boot needs.
Firmware = namedtuple("Firmware", "code variables secure")
UEFI = Firmware("/usr/share/OVMF/OVMF_CODE_4M.fd", "/usr/share/OVMF/OVMF_VARS_4M.fd", False)
# With Microsoft's keys, and with secure boot on.
SECURE_UEFI = Firmware("/usr/share/OVMF/OVMF_CODE_4M.secboot.fd", "/usr/share/OVMF/OVMF_VARS_4M.ms.fd", True)
LEGACY = "Legacy"
CD_DRIVE = "cddrive"
# The management plane shares the machine's processors with emulated ones, and its timeouts are shorter. Those of an
# installed system, which may be a cluster's node, are shorter than those of the agent that another server boots.
NICENESS, INSTALLED_NICENESS = 15, 10
# An emulator copies "fast strings" byte by byte: without them systems clear pages and copy files three times as fast.
PROCESSORS = {"tcg": ("-accel", "tcg,thread=multi", "-cpu", "max,-erms,-fsrm"), "kvm": ("-accel", "kvm", "-cpu", "max")}
# A vendor is eight letters in SCSI, a model sixteen.
VENDOR_LENGTH, MODEL_LENGTH = 8, 16
ATA_MODEL_LENGTH = 40
# What a clock begins with whose battery is empty.
WITHOUT_BATTERY = "2010-01-01T00:00:00"
# SCSI's rotation rates: 1 is a disk that does not rotate.
SOLID_STATE, SPINNING = 1, 7200


def text(value):
    """Return a value as QEMU's options want it: a comma is doubled."""
    return str(value).replace(",", ",,")


def firmware(boot_mode, secure_boot):
    """Return the Firmware that a server boots, or None for the legacy BIOS that is QEMU's own.

    :param boot_mode: Redfish's BootSourceOverrideMode: ``UEFI`` or ``Legacy``
    :param secure_boot: whether the BMC has secure boot switched on
    """
    if boot_mode == LEGACY:
        return None
    return SECURE_UEFI if secure_boot else UEFI


def boot_order(boot_device, disks, nics):
    """Return what the firmware tries, in order: ``cd``, ``disk0``, ``nic0`` and so on.

    :param boot_device: Redfish's BootSourceOverrideTarget; what is not listed is tried last, as firmware does
    :param disks: number of disks
    :param nics: number of NICs
    """
    found = {"Cd": ["cd"], "Pxe": ["nic%d" % number for number in range(nics)]}.get(boot_device, [])
    return found + ["disk%d" % number for number in range(disks)]


def disk_devices(number, disk, priority, sata_ports):
    """Return the arguments for one disk's device.

    :param number: of its drive, and of its place at a SCSI controller
    :param disk: its entry in the server's
    :param priority: what is appended to the device that firmware boots
    :param sata_ports: iterator of ports that are free
    """
    drive, bus = f"drive=disk{number}", disk.get("bus", "scsi")
    if bus == "virtio":
        return ["-device", f"virtio-blk-pci,{drive},serial={text(disk['serial'])}{priority}"]
    if bus == "nvme":
        return ["-device", f"nvme,{drive},serial={text(disk['serial'])}{priority}"]
    identity = "serial=%s,wwn=%s,rotation_rate=%d" % (
        text(disk["serial"]), disk["wwn"], SPINNING if disk["rotational"] else SOLID_STATE)
    if bus == "sata":
        return ["-device", f"ide-hd,bus=ide.{next(sata_ports)},{drive},{identity},"
                f"model={text(disk['model'][:ATA_MODEL_LENGTH])}{priority}"]
    return ["-device", f"scsi-hd,bus=scsi.0,{drive},scsi-id={number},{identity},"
            f"vendor={text(disk['vendor'][:VENDOR_LENGTH])},product={text(disk['model'][:MODEL_LENGTH])}{priority}"]


def command(spec, disks, booted, variables, boot_device, cd, taps, accelerator, clock_behind=False):
    """Return the command as a list; it runs in the server's folder, where sockets and the serial console are.

    :param spec: the server's entry in ``servers.json``
    :param disks: for each disk its entry in the server's, and its path
    :param booted: see firmware()
    :param variables: path of the firmware's variables
    :param boot_device: see boot_order
    :param cd: path of the image in the virtual CD drive, or None
    :param taps: descriptors of the NICs' links
    :param accelerator: ``tcg`` or ``kvm``
    :param clock_behind: whether the machine's clock has lost its battery
    """
    order = boot_order(boot_device, len(disks), len(taps))
    # The first port of the controller has the CD drive.
    sata_ports = itertools.count(1)

    def priority(name):
        return ",bootindex=%d" % order.index(name) if name in order else ""

    arguments = [
        "nice", "-n", str(INSTALLED_NICENESS if boot_device == "Hdd" else NICENESS),
        "qemu-system-x86_64", "-nodefaults", "-no-user-config", "-display", "none",
        "-name", text(spec["name"]), "-uuid", spec["uuid"],
        "-machine", "q35,smm=on" if booted and booted.secure else "q35",
        *PROCESSORS[accelerator],
        "-smp", str(spec["cpus"]), "-m", "%dM" % spec["memory_mib"],
        # The boot device may have changed: a reset ends this process, and another begins.
        "-no-reboot",
        "-qmp", "unix:qmp.sock,server=on,wait=off",
        "-chardev", "file,id=serial,path=serial.log,append=on", "-serial", "chardev:serial",
        "-smbios", "type=1,manufacturer=%s,product=%s,serial=%s,uuid=%s" % (
            text(spec["vendor"]), text(spec["model"]), text(spec["serial"]), spec["uuid"]),
        "-device", "virtio-rng-pci", "-device", "virtio-scsi-pci,id=scsi",
    ]
    if clock_behind:
        arguments += ["-rtc", f"base={WITHOUT_BATTERY}"]
    if booted:
        arguments += ["-drive", f"if=pflash,format=raw,readonly=on,file={booted.code}",
                      "-drive", f"if=pflash,format=raw,file={text(variables)}"]
        if booted.secure:
            arguments += ["-global", "driver=cfi.pflash01,property=secure,value=on"]
    for number, (disk, path) in enumerate(disks):
        arguments += ["-drive", f"if=none,id=disk{number},format=raw,cache=unsafe,discard=unmap,file={text(path)}"]
        arguments += disk_devices(number, disk, priority(f"disk{number}"), sata_ports)
    if cd:
        arguments += ["-drive", f"if=none,id=cd,media=cdrom,format=raw,readonly=on,file={text(cd)}"]
    arguments += ["-device", f"ide-cd,bus=ide.0,id={CD_DRIVE}" + (",drive=cd" + priority("cd") if cd else "")]
    for number, (nic, tap) in enumerate(zip(spec["nics"], taps)):
        arguments += [
            "-netdev", f"tap,id=nic{number},fd={tap}",
            # UEFI has a driver of its own, and without a ROM nothing of iPXE is in the NIC. A BIOS has none.
            # Without a speed a bond by LACP takes no NIC.
            "-device", f"virtio-net-pci,netdev=nic{number},mac={nic['mac']},speed={nic['speed_mbps']},duplex=full"
            + (",romfile=" if booted else "") + priority(f"nic{number}")]
    return arguments
