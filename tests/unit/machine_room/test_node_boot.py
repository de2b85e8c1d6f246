# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import os
import struct
import subprocess
import sys

import pytest
from machine_room.node_boot import broken_root, config_drive, devices, first_stage, loop, names, process
from machine_room.node_boot.cgroups import hierarchies
from machine_room.node_boot.root_partition import LINUX_TYPES, ROOT_TYPES, root_partition
from machine_room.node_boot.run import ConsoleReader

PROC_DEVICES = """Character devices:
  1 mem
  4 /dev/vc/0
  5 /dev/tty
  5 /dev/console
 10 misc
136 pts
195 nvidia

Block devices:
  7 loop
254 virtblk
259 blkext
"""
PROC_MISC = "200 tun\n229 fuse\n232 kvm\n237 loop-control\n"


def test_links_have_names_the_kernel_takes():
    long = "server-4095"
    found = {names.host_link(99, long, f"eno{number}") for number in range(16)}
    assert len(found) == 16
    assert all(len(name) <= 15 for name in found)
    assert names.host_link(1, "server-01", "eno1") != names.host_link(2, "server-01", "eno1")


@pytest.mark.parametrize(("partitions", "expected"), [
    ([{"type": LINUX_TYPES[0], "size": 9, "start": 1}, {"type": ROOT_TYPES[0].lower(), "size": 5, "start": 2}], 2),
    ([{"type": LINUX_TYPES[0], "size": 5, "start": 1}, {"type": LINUX_TYPES[0].lower(), "size": 9, "start": 2}], 2),
    ([{"type": LINUX_TYPES[0], "size": 9, "start": 1, "name": "config-2"},
      {"type": LINUX_TYPES[0], "size": 5, "start": 2}], 2),
    ([{"type": "83", "size": 5, "start": 7}], 7),
])
def test_root_partition(partitions, expected):
    assert root_partition(partitions)["start"] == expected


def test_no_root_partition_among_others():
    efi = "C12A7328-F81F-11D2-BA4B-00A0C93EC93B"
    assert root_partition([{"type": efi, "size": 5, "start": 1}]) is None
    assert root_partition([]) is None


def test_loop_configuration_is_the_kernels_structure():
    packed = loop.configuration(5, 1048576, 4096, loop.LO_FLAGS_AUTOCLEAR)
    # sizeof(struct loop_config); lo_offset and lo_sizelimit are the fourth and fifth field of struct loop_info64.
    assert len(packed) == 304
    assert struct.unpack_from("=II", packed) == (5, 0)
    assert struct.unpack_from("=QQ", packed, 8 + 24) == (1048576, 4096)
    assert struct.unpack_from("=I", packed, 8 + 52) == (loop.LO_FLAGS_AUTOCLEAR,)


def test_iso_size_comes_from_its_descriptor():
    descriptor = bytearray(2048)
    descriptor[0:6] = b"\x01CD001"
    struct.pack_into("<I", descriptor, 80, 186)
    assert config_drive.iso_bytes(bytes(descriptor)) == 186 * 2048
    with pytest.raises(config_drive.ConfigDriveError, match="no ISO"):
        config_drive.iso_bytes(bytes(2048))


def test_denied_devices_leave_what_a_node_needs():
    lines = devices.denied(PROC_DEVICES, PROC_MISC, [3])
    assert {"c 4:* rw", "c 195:* rw", "c 1:1 rw", "c 10:232 rw", "c 10:237 rw", "b 254:* rw", "b 7:2 rw"} <= set(lines)
    assert not {"b 7:3 rw", "b 7:* rw", "c 10:229 rw", "c 10:200 rw", "c 136:* rw", "c 1:3 rw", "c 5:0 rw"} & set(lines)
    # Making a node stays possible: a container runtime's own list allows it, and the kernel refuses lists that overlap.
    assert all(line.endswith(" rw") for line in lines)


class Machine:
    """Runs the few BPF instructions that devices.program() uses."""

    def __init__(self, code):
        self.code = [struct.unpack("=BBhi", code[at:at + 8]) for at in range(0, len(code), 8)]

    def run(self, kind, access, major, minor):
        registers, at = {1: {0: access << 16 | kind, 4: major, 8: minor}}, 0
        while True:
            code, both, offset, value = self.code[at]
            target, source = both & 15, both >> 4
            at += 1
            if code == 0x61:
                registers[target] = registers[source][offset]
            elif code == 0xBF:
                registers[target] = registers[source]
            elif code == 0xB7:
                registers[target] = value
            elif code == 0x74:
                registers[target] >>= value
            elif code == 0x54:
                registers[target] &= value
            elif code == 0x55:
                at += offset if registers[target] != value else 0
            elif code == 0x95:
                return registers[0]
            else:
                raise AssertionError(f"unexpected instruction 0x{code:x}")


@pytest.mark.parametrize(("kind", "access", "major", "minor", "expected"), [
    (2, 2, 1, 3, 1), (2, 6, 136, 40, 1), (2, 2, 5, 2, 1), (1, 6, 7, 3, 1), (1, 1, 254, 0, 1),
    (1, 2, 7, 4, 0), (1, 2, 254, 0, 0), (2, 2, 10, 232, 0), (2, 2, 1, 1, 0), (2, 2, 7, 3, 0), (1, 3, 254, 0, 0),
])
def test_device_program(kind, access, major, minor, expected):
    machine = Machine(devices.program(devices.allowed([3])))
    assert machine.run(kind, access, major, minor) == expected


def test_hierarchies_of_version_1():
    info = "\n".join([
        "25 20 0:21 / /sys/fs/cgroup/cpu,cpuacct rw shared:5 - cgroup cgroup rw,cpu,cpuacct",
        "26 20 0:22 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,xattr,name=systemd",
        "27 20 0:23 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw",
        "28 20 0:24 / /proc rw - proc proc rw",
        "29 20 0:25 /m3lab0/x /other rw - cgroup cgroup rw,memory",
    ])
    found = {one.folder: one for one in hierarchies(info, {"cpu", "cpuacct", "memory"})}
    assert sorted(found) == ["cpu,cpuacct", "systemd", "unified"]
    assert found["cpu,cpuacct"].controllers == ("cpu", "cpuacct")
    assert found["unified"].version == 2


def test_hierarchy_of_version_2():
    info = "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate"
    assert [(one.version, one.mount_point) for one in hierarchies(info, set())] == [(2, "/sys/fs/cgroup")]


def test_memory_information_is_the_servers():
    machine = "MemTotal:       24000000 kB\nMemFree: 5 kB\nMemAvailable: 7 kB\nSwapTotal: 9 kB\nHugePages_Total:    3\n"
    lines = first_stage.memory_info(machine, 2048).splitlines()
    values = {line.split(":")[0]: line.split(":")[1].split() for line in lines}
    assert values["MemTotal"] == values["MemAvailable"] == ["2097152", "kB"]
    assert values["SwapTotal"] == ["0", "kB"]
    assert values["HugePages_Total"] == ["3"]


def test_console_lines_are_plain_text():
    class Console:
        def __init__(self):
            self.lines = []

        def print(self, text, *arguments):
            self.lines.append(text % arguments)

    console = Console()
    reader = ConsoleReader(console)
    reader.feed(b"[\x1b[0;32m  OK  \x1b[0m] Started \xc3")
    reader.feed(b"\xa4.\r\n\x1bM[\x1b[0;31m*     \x1b[0m] Job running (1s / 10s)\r\n\r\n100 %s\n")
    assert console.lines[0].startswith("[  OK  ] Started ")
    assert console.lines[1:] == ["100 %s"]


def test_the_children_of_a_process_that_has_ended_are_none():
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    try:
        assert child.pid in process.children(os.getpid())
        assert process.children(child.pid) == []
    finally:
        child.kill()
        child.wait()
    assert process.children(child.pid) == []


def test_only_the_root_of_a_process_that_runs_is_shut_down():
    """No file system of this machine's is asked: the process has ended."""
    child = subprocess.Popen(["true"])
    child.wait()
    with pytest.raises(OSError, match="No such file"):
        broken_root.shut_down(child.pid)
    # linux/fs.h: _IOR('X', 125, __u32).
    assert 2 << 30 | 4 << 16 | ord("X") << 8 | 125 == broken_root.SHUTDOWN
