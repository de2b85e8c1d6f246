"""System calls that Python's standard library lacks."""
from __future__ import annotations

import ctypes
import os
import platform

CLONE_NEWNS = 0x00020000
CLONE_NEWCGROUP = 0x02000000
CLONE_NEWUTS = 0x04000000
CLONE_NEWIPC = 0x08000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000
MS_RDONLY = 0x1
MS_NOSUID = 0x2
MS_NODEV = 0x4
MS_NOEXEC = 0x8
MS_REMOUNT = 0x20
MS_BIND = 0x1000
MS_REC = 0x4000
MS_PRIVATE = 0x40000
MS_SHARED = 0x100000
MNT_DETACH = 0x2
PR_SET_PDEATHSIG = 1
PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
BPF = {"x86_64": 321, "aarch64": 280}

_libc = ctypes.CDLL(None, use_errno=True)


def _check(result, what):
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def _bytes(text):
    return None if text is None else os.fsencode(text)


def mount(source, target, kind=None, flags=0, data=None):
    """mount(2)."""
    _check(_libc.mount(_bytes(source), _bytes(target), _bytes(kind), ctypes.c_ulong(flags), _bytes(data)),
           f"mount {source or kind} on {target}")


def bind(source, target, read_only=False):
    """Show a file or a folder at a second place."""
    mount(source, target, flags=MS_BIND)
    if read_only:
        mount(None, target, flags=MS_BIND | MS_REMOUNT | MS_RDONLY)


def unmount(target, flags=0):
    """umount2(2)."""
    _check(_libc.umount2(_bytes(target), flags), f"umount {target}")


def change_root(directory):
    """Make a mount point the root of this mount namespace and drop everything else."""
    os.chdir(directory)
    _check(_libc.syscall(PIVOT_ROOT[platform.machine()], b".", b"."), f"pivot_root {directory}")
    unmount(".", MNT_DETACH)
    os.chdir("/")


def unshare(flags):
    """unshare(2)."""
    _check(_libc.unshare(flags), "unshare")


def enter_namespace(descriptor, kind):
    """setns(2).

    :param descriptor: open file of the namespace
    :param kind: CLONE_NEW... of what it must be
    """
    _check(_libc.setns(descriptor, kind), "setns")


def die_with_parent(number):
    """Ask the kernel for a signal when the parent ends."""
    _check(_libc.prctl(PR_SET_PDEATHSIG, ctypes.c_ulong(number), 0, 0, 0), "prctl")


def set_host_name(name):
    """sethostname(2)."""
    encoded = os.fsencode(name)
    _check(_libc.sethostname(encoded, len(encoded)), "sethostname")


def bpf(command, attributes):
    """bpf(2).

    :param command: number of the command
    :param attributes: bytes of the union bpf_attr
    """
    buffer = ctypes.create_string_buffer(attributes, len(attributes))
    return _check(_libc.syscall(BPF[platform.machine()], command, buffer, len(attributes)), "bpf")
