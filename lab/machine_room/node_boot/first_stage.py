"""The first process of a node: prepares its view of the machine and becomes the disk's ``/sbin/init``."""
from __future__ import annotations

import os
import signal
import stat
import uuid

from . import devices, linux

INIT = "/sbin/init"
# cloud-init asks blkid on metal; in a container it must be set.
INIT_ARGUMENTS = ["ci.ds=ConfigDrive"]
SEARCH_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
FILE_SYSTEMS = ("ext4", "xfs", "btrfs")
# What kubelet (--protect-kernel-defaults=false) sets in its container manager; it has its own values, the machine
# keeps its.
KUBELET_SETTINGS = {
    "vm/overcommit_memory": 1,
    "vm/panic_on_oom": 0,
    "kernel/panic": 10,
    "kernel/panic_on_oops": 1,
    "kernel/keys/root_maxkeys": 1000000,
    "kernel/keys/root_maxbytes": 25000000,
}
HIDDEN_FILES = ("sysrq-trigger", "kcore", "kmsg", "timer_list", "sched_debug")
OWN_FOLDER = "run/machine"
NO_SWAP = "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n"
FLAGS = linux.MS_NOSUID | linux.MS_NODEV | linux.MS_NOEXEC


class FirstStageError(Exception):
    """The root file system can't be started."""


def memory_info(machine, memory_mib):
    """Return /proc/meminfo for a node of this size; kubelet takes its capacity from it.

    :param machine: contents of this machine's /proc/meminfo
    :param memory_mib: the node's memory
    """
    sizes = {"MemTotal": memory_mib * 1024, "MemFree": memory_mib * 1024, "MemAvailable": memory_mib * 1024}
    lines = []
    for line in machine.splitlines():
        name = line.split(":")[0]
        if name.startswith("HugePages") or name == "Hugepagesize":
            lines.append(line)
        else:
            lines.append(f"{name + ':':<15} {sizes.get(name, 0):8d} kB")
    return "\n".join(lines) + "\n"


def _mount_root(device, root):
    errors = []
    for kind in FILE_SYSTEMS:
        try:
            linux.mount(device, root, kind)
            return
        except OSError as error:
            errors.append(f"{kind}: {error.strerror.rpartition(': ')[2]}")
    raise FirstStageError(f"the root partition can't be mounted ({'; '.join(errors)})")


def _write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def _make_node(path, kind, number, mode):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    os.mknod(path, kind | mode, number)
    # mknod obeys the umask.
    os.chmod(path, mode)


def _device_folder(root, loops, console):
    folder = os.path.join(root, "dev")
    linux.mount("tmpfs", folder, "tmpfs", linux.MS_NOSUID, "mode=755")
    for name, (major, minor) in devices.NODES.items():
        _make_node(os.path.join(folder, name), stat.S_IFCHR, os.makedev(major, minor), 0o666)
    for device in loops:
        _make_node(os.path.join(folder, os.path.basename(device)), stat.S_IFBLK, os.stat(device).st_rdev, 0o600)
    for name, target in (("fd", "/proc/self/fd"), ("stdin", "/proc/self/fd/0"), ("stdout", "/proc/self/fd/1"),
                         ("stderr", "/proc/self/fd/2"), ("ptmx", "pts/ptmx")):
        os.symlink(target, os.path.join(folder, name))
    for name in ("pts", "shm"):
        os.mkdir(os.path.join(folder, name))
    linux.mount("devpts", os.path.join(folder, "pts"), "devpts", linux.MS_NOSUID | linux.MS_NOEXEC,
                "newinstance,ptmxmode=0666,mode=620,gid=5")
    linux.mount("tmpfs", os.path.join(folder, "shm"), "tmpfs", linux.MS_NOSUID | linux.MS_NODEV)
    _write(os.path.join(folder, "console"), "")
    linux.bind(console, os.path.join(folder, "console"))


def _control_groups(root, hierarchies):
    """Mount this node's part of the control groups: the namespace makes it look like the whole."""
    folder = os.path.join(root, "sys", "fs", "cgroup")
    if all(one.version == 2 for one in hierarchies):
        linux.mount("cgroup2", folder, "cgroup2", FLAGS)
        return
    linux.mount("tmpfs", folder, "tmpfs", FLAGS, "mode=755")
    for hierarchy in hierarchies:
        target = os.path.join(folder, hierarchy.folder)
        os.mkdir(target)
        if hierarchy.version == 2:
            linux.mount("cgroup2", target, "cgroup2", FLAGS)
            continue
        names = [one for one in hierarchy.controllers if one.startswith("name=")]
        options = ["none"] + names if names else list(hierarchy.controllers)
        linux.mount("cgroup", target, "cgroup", FLAGS, ",".join(options))
        if len(hierarchy.controllers) > 1:
            for controller in hierarchy.controllers:
                os.symlink(hierarchy.folder, os.path.join(folder, controller))


def _kernel_settings(root):
    """Make the kernel's settings read-only, but for the network's, which are the namespace's own."""
    own = os.path.join(root, OWN_FOLDER)
    settings = os.path.join(root, "proc", "sys")
    kept = os.path.join(own, "net")
    os.mkdir(kept)
    linux.bind(os.path.join(settings, "net"), kept)
    linux.bind(settings, settings, read_only=True)
    linux.bind(kept, os.path.join(settings, "net"))
    linux.unmount(kept)
    os.rmdir(kept)
    for name, value in KUBELET_SETTINGS.items():
        target = os.path.join(settings, name)
        if os.path.exists(target):
            source = os.path.join(own, name.replace("/", "."))
            _write(source, f"{value}\n")
            linux.bind(source, target)


def _hide(root):
    for name in HIDDEN_FILES:
        target = os.path.join(root, "proc", name)
        if os.path.exists(target):
            linux.bind(os.path.join(root, "dev", "null"), target)


def _describe_machine(root, server):
    """Show the server's memory and identity in place of this machine's.

    :param server: mapping with memory_mib, uuid, serial, vendor, model
    """
    own = os.path.join(root, OWN_FOLDER)
    with open("/proc/meminfo", encoding="utf-8") as file:
        _write(os.path.join(own, "meminfo"), memory_info(file.read(), server["memory_mib"]))
    _write(os.path.join(own, "swaps"), NO_SWAP)
    for name in ("meminfo", "swaps"):
        linux.bind(os.path.join(own, name), os.path.join(root, "proc", name), read_only=True)
    firmware = os.path.join(root, "sys", "class", "dmi")
    if os.path.isdir(firmware):
        linux.mount("tmpfs", firmware, "tmpfs", FLAGS, "mode=755")
        os.mkdir(os.path.join(firmware, "id"))
        for name, field in (("product_uuid", "uuid"), ("product_serial", "serial"), ("sys_vendor", "vendor"),
                            ("product_name", "model")):
            _write(os.path.join(firmware, "id", name), server[field] + "\n")


def become_init(spec, group, loops, console, network_namespace, mount_root=None):
    """Never returns: this process becomes the node's init.

    The caller has made a process namespace, in which this is the first process.

    :param spec: the mapping that ``run`` was started with
    :param group: the NodeGroup to join
    :param loops: paths of the node's block devices, the root file system first
    :param console: path of the terminal that is the node's console
    :param network_namespace: path of the network namespace
    :param mount_root: callable that mounts the root file system on a folder; by default the first of ``loops``
    :raises FirstStageError: when there is nothing to start
    """
    linux.die_with_parent(signal.SIGKILL)
    os.setsid()
    os.umask(0o022)
    descriptor = os.open(network_namespace, os.O_RDONLY)
    linux.enter_namespace(descriptor, linux.CLONE_NEWNET)
    os.close(descriptor)
    group.join()
    linux.unshare(linux.CLONE_NEWNS | linux.CLONE_NEWUTS | linux.CLONE_NEWIPC | linux.CLONE_NEWCGROUP)
    linux.mount(None, "/", flags=linux.MS_REC | linux.MS_PRIVATE)
    root = spec["root_folder"]
    if mount_root:
        mount_root(root)
    else:
        _mount_root(loops[0], root)
    if not os.path.lexists(os.path.join(root, INIT.lstrip("/"))):
        raise FirstStageError(f"the root partition has no {INIT}")
    linux.mount("proc", os.path.join(root, "proc"), "proc", FLAGS)
    linux.mount("sysfs", os.path.join(root, "sys"), "sysfs", FLAGS)
    _device_folder(root, loops, console)
    linux.mount("tmpfs", os.path.join(root, "run"), "tmpfs", linux.MS_NOSUID | linux.MS_NODEV, "mode=755")
    os.mkdir(os.path.join(root, OWN_FOLDER), 0o700)
    _describe_machine(root, spec["server"])
    _control_groups(root, group.hierarchies)
    # udev and networkd take a read-only /sys for a container's.
    linux.mount(None, os.path.join(root, "sys"), flags=linux.MS_BIND | linux.MS_REMOUNT | linux.MS_RDONLY | FLAGS)
    _kernel_settings(root)
    _hide(root)
    linux.set_host_name(spec["server"]["name"])
    terminal = os.open(console, os.O_RDWR | os.O_NOCTTY)
    for number in (0, 1, 2):
        os.dup2(terminal, number)
    linux.change_root(root)
    linux.mount(None, "/", flags=linux.MS_REC | linux.MS_SHARED)
    # Python ignores them, and init would inherit that.
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    os.execve(INIT, [INIT] + INIT_ARGUMENTS, {
        "PATH": SEARCH_PATH, "TERM": "dumb", "container": "metal3-lab",
        "container_uuid": str(uuid.UUID(spec["server"]["uuid"]))})
