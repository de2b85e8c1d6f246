"""Which devices a node may use: a list of the denied ones on version 1 of control groups, of the allowed on version 2.

Version 1 needs the list the other way round because a privileged pod asks for all devices, which the kernel refuses
below a group that allows by name. Making a device node is left alone, on both: container runtimes want it, and a node
that can't be opened does nothing.
"""
from __future__ import annotations

import ctypes
import os
import re
import struct

from . import linux, loop

BLOCK, CHARACTER = "b", "c"
ANY = "*"
LOOP_DEVICES = 256
MEMORY_MAJOR, TERMINAL_MAJOR, MISC_MAJOR = 1, 5, 10
TUN, FUSE = (MISC_MAJOR, 200), (MISC_MAJOR, 229)
# /dev/mem, /dev/kmem, /dev/port, /dev/aio, /dev/kmsg
DENIED_MEMORY_MINORS = (1, 2, 4, 10, 11)
PSEUDO_TERMINAL_MAJORS = range(136, 144)
# name → (major, minor): what a node finds in /dev.
NODES = {
    "null": (1, 3), "zero": (1, 5), "full": (1, 7), "random": (1, 8), "urandom": (1, 9), "tty": (5, 0),
    "fuse": FUSE, "net/tun": TUN,
    # The kernel's log is the machine's own: kubelet and systemd get one that accepts everything and returns nothing.
    "kmsg": (1, 3),
}
PTMX = (5, 2)

BPF_PROG_LOAD, BPF_PROG_ATTACH = 5, 8
BPF_PROG_TYPE_CGROUP_DEVICE, BPF_CGROUP_DEVICE, BPF_F_ALLOW_MULTI = 15, 6, 2
BPF_TYPES = {BLOCK: 1, CHARACTER: 2}
BPF_MKNOD = 1
ATTRIBUTES_BYTES = 128


def denied(proc_devices, proc_misc, own_loops):
    """Return what a node must not open, as lines for ``devices.deny``.

    :param proc_devices: contents of /proc/devices
    :param proc_misc: contents of /proc/misc
    :param own_loops: numbers of the loop devices that are the node's disk
    """
    characters, blocks = proc_devices.split("Block devices:")
    lines = []
    for major in sorted(set(int(number) for number in re.findall(r"^\s*(\d+) ", characters, re.MULTILINE))):
        if major not in (MEMORY_MAJOR, TERMINAL_MAJOR, MISC_MAJOR) and major not in PSEUDO_TERMINAL_MAJORS:
            lines.append((CHARACTER, major, ANY))
    lines += [(CHARACTER, MEMORY_MAJOR, minor) for minor in DENIED_MEMORY_MINORS]
    misc = sorted(int(number) for number in re.findall(r"^\s*(\d+) ", proc_misc, re.MULTILINE))
    lines += [(CHARACTER, MISC_MAJOR, minor) for minor in misc if (MISC_MAJOR, minor) not in (TUN, FUSE)]
    for major in sorted(set(int(number) for number in re.findall(r"^\s*(\d+) ", blocks, re.MULTILINE))):
        if major != loop.LOOP_MAJOR:
            lines.append((BLOCK, major, ANY))
    lines += [(BLOCK, loop.LOOP_MAJOR, minor) for minor in range(LOOP_DEVICES) if minor not in own_loops]
    return ["%s %d:%s rw" % line for line in lines]


def allowed(own_loops):
    """Return what a node may open, as (type, major, minor) each.

    :param own_loops: numbers of the loop devices that are the node's disk
    """
    characters = sorted(set(NODES.values()) | {PTMX})
    return ([(CHARACTER, major, minor) for major, minor in characters]
            + [(CHARACTER, major, ANY) for major in PSEUDO_TERMINAL_MAJORS]
            + [(BLOCK, loop.LOOP_MAJOR, minor) for minor in own_loops])


def _instruction(code, destination=0, source=0, offset=0, value=0):
    return struct.pack("=BBhi", code, source << 4 | destination, offset, value)


def program(rules):
    """Return the instructions of a BPF_PROG_TYPE_CGROUP_DEVICE program that allows the rules and mknod.

    :param rules: list of (type, major, minor)
    """
    load_word, move, set_value, shift, mask = 0x61, 0xBF, 0xB7, 0x74, 0x54
    jump_unless_equal, leave = 0x55, 0x95
    allow = [_instruction(set_value, 0, value=1), _instruction(leave)]
    # struct bpf_cgroup_dev_ctx: access << 16 | type, major, minor.
    code = [
        _instruction(load_word, 2, 1, 0),
        _instruction(load_word, 4, 1, 4),
        _instruction(load_word, 5, 1, 8),
        _instruction(move, 3, 2),
        _instruction(shift, 3, value=16),
        _instruction(mask, 2, value=0xFFFF),
        _instruction(jump_unless_equal, 3, offset=len(allow), value=BPF_MKNOD),
    ] + allow
    for kind, major, minor in rules:
        tests = [(2, BPF_TYPES[kind]), (4, major)] + ([] if minor == ANY else [(5, minor)])
        for position, (register, value) in enumerate(tests):
            code.append(_instruction(jump_unless_equal, register, offset=len(tests) - position - 1 + len(allow),
                                     value=value))
        code += allow
    return b"".join(code + [_instruction(set_value, 0, value=0), _instruction(leave)])


def _attach(folder, instructions):
    code = ctypes.create_string_buffer(instructions, len(instructions))
    license_name = ctypes.create_string_buffer(b"GPL")
    loaded = linux.bpf(BPF_PROG_LOAD, struct.pack(
        "=IIQQ", BPF_PROG_TYPE_CGROUP_DEVICE, len(instructions) // 8, ctypes.addressof(code),
        ctypes.addressof(license_name)).ljust(ATTRIBUTES_BYTES, b"\0"))
    group = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        linux.bpf(BPF_PROG_ATTACH, struct.pack(
            "=IIII", group, loaded, BPF_CGROUP_DEVICE, BPF_F_ALLOW_MULTI).ljust(ATTRIBUTES_BYTES, b"\0"))
    finally:
        # The group keeps the program.
        os.close(group)
        os.close(loaded)


def restrict(group, own_loops):
    """Let the processes of a NodeGroup use their own disk and harmless devices only.

    :param own_loops: numbers of the loop devices that are the node's disk
    """
    for hierarchy, path in group.paths():
        if "devices" in hierarchy.controllers:
            with open("/proc/devices", encoding="utf-8") as devices, open("/proc/misc", encoding="utf-8") as misc:
                lines = denied(devices.read(), misc.read(), own_loops)
            for line in lines:
                with open(os.path.join(path, "devices.deny"), "w", encoding="utf-8") as file:
                    file.write(line)
        elif hierarchy.version == 2 and group.is_unified():
            _attach(path, program(allowed(own_loops)))
