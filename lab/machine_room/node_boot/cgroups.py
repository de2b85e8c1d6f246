"""A control group for each node, on version 1 and 2 of the kernel's interface."""
from __future__ import annotations

import os
import signal
import time

from . import names

MEMORY_LIMIT = {1: "memory.limit_in_bytes", 2: "memory.max"}
COPIED_FROM_PARENT = ("cpuset.cpus", "cpuset.mems")
REMOVE_TIMEOUT_SECONDS = 10
# runc freezes a container while it changes its limits. In version 1 a frozen process does not end when it is killed.
_FREEZER = "freezer.state"
MIB = 1024 ** 2


class GroupError(Exception):
    """A control group can't be made or removed."""


class Hierarchy:
    """One mounted hierarchy.

    :param mount_point: where it is mounted
    :param version: 1 or 2
    :param controllers: its controllers, or ``name=...``, as a tuple; empty for version 2
    """

    def __init__(self, mount_point, version, controllers=()):
        self.mount_point = mount_point
        self.version = version
        self.controllers = controllers

    @property
    def folder(self):
        """Where a node's systemd expects it below /sys/fs/cgroup; ``unified`` only beside version 1."""
        if self.version == 2:
            return "unified"
        return ",".join(one.partition("=")[2] or one for one in self.controllers)


def hierarchies(mount_info, known_controllers):
    """Return the hierarchies of this machine.

    :param mount_info: contents of /proc/self/mountinfo
    :param known_controllers: the kernel's controllers
    """
    found = {}
    for line in mount_info.splitlines():
        before, after = (part.split() for part in line.split(" - ", 1))
        root, mount_point, kind = before[3], before[4], after[0]
        # The bind mounts of other nodes or of containers show a part of the tree only.
        if root != "/" or kind not in ("cgroup", "cgroup2"):
            continue
        if kind == "cgroup2":
            found.setdefault("cgroup2", Hierarchy(mount_point, 2))
            continue
        options = after[2].split(",")
        controllers = tuple(one for one in options if one in known_controllers or one.startswith("name="))
        if controllers:
            found.setdefault(controllers, Hierarchy(mount_point, 1, controllers))
    return list(found.values())


def of_this_machine():
    """Return the hierarchies of this machine.

    :raises GroupError: when a node's systemd could not work with them
    """
    with open("/proc/cgroups", encoding="utf-8") as file:
        known = {line.split()[0] for line in file if not line.startswith("#")}
    with open("/proc/self/mountinfo", encoding="utf-8") as file:
        found = hierarchies(file.read(), known)
    if not any(one.version == 2 for one in found) and not any("memory" in one.controllers for one in found):
        raise GroupError("no control groups are mounted on this machine")
    if any(one.version == 1 for one in found) and not any("name=systemd" in one.controllers for one in found):
        raise GroupError("control groups version 1 without the hierarchy name=systemd: mount it, as in "
                         "mount -t cgroup -o none,name=systemd systemd /sys/fs/cgroup/systemd")
    return found


def _write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def _read(path):
    with open(path, encoding="utf-8") as file:
        return file.read().strip()


class NodeGroup:
    """The control group of one server, one folder in each hierarchy.

    :param found: list of Hierarchy
    :param index: the lab's index
    :param server: the server's name
    """

    def __init__(self, found, index, server):
        self.hierarchies = found
        self._parts = (names.lab_group(index), server)

    def paths(self):
        """Return (hierarchy, folder) of each."""
        return [(one, os.path.join(one.mount_point, *self._parts)) for one in self.hierarchies]

    def is_unified(self):
        """Return whether this machine has version 2 only."""
        return all(one.version == 2 for one in self.hierarchies)

    def make(self, memory_mib):
        """Make the folders and limit the memory.

        :param memory_mib: limit; None for no limit
        """
        for hierarchy, path in self.paths():
            parent = os.path.dirname(path)
            os.makedirs(path, exist_ok=True)
            if hierarchy.version == 2:
                for folder in (hierarchy.mount_point, parent):
                    self._pass_on(folder)
            elif "cpuset" in hierarchy.controllers:
                # A new group has no CPU and no memory node, and takes no process.
                for folder in (parent, path):
                    for name in COPIED_FROM_PARENT:
                        if not _read(os.path.join(folder, name)):
                            _write(os.path.join(folder, name), _read(os.path.join(os.path.dirname(folder), name)))
            limit = os.path.join(path, MEMORY_LIMIT[hierarchy.version])
            if memory_mib and os.path.exists(limit):
                _write(limit, str(memory_mib * MIB))

    @staticmethod
    def _pass_on(folder):
        available = _read(os.path.join(folder, "cgroup.controllers")).split()
        enabled = _read(os.path.join(folder, "cgroup.subtree_control")).split()
        for controller in available:
            if controller in enabled:
                continue
            try:
                _write(os.path.join(folder, "cgroup.subtree_control"), "+" + controller)
            except OSError as error:
                raise GroupError(f"control group {folder}: can't pass on {controller}: {error}") from error

    def join(self):
        """Move this process into the group."""
        for dummy, path in self.paths():
            _write(os.path.join(path, "cgroup.procs"), "0")

    def kill(self):
        """Kill every process of the group."""
        for dummy, path in self.paths():
            for parent, dummy_folders, files in os.walk(path):
                if "cgroup.procs" in files:
                    self._kill_all(os.path.join(parent, "cgroup.procs"))
                if _FREEZER in files:
                    self._thaw(os.path.join(parent, _FREEZER))

    @staticmethod
    def _thaw(path):
        try:
            _write(path, "THAWED")
        except FileNotFoundError:
            # Its folder went in between.
            return

    @staticmethod
    def _kill_all(path):
        try:
            for pid in _read(path).split():
                if int(pid):
                    os.kill(int(pid), signal.SIGKILL)
        except (FileNotFoundError, ProcessLookupError):
            # It ended by itself in between.
            return

    def remove(self):
        """Kill what is in the group and remove its folders.

        :raises GroupError: when a folder is still there after REMOVE_TIMEOUT_SECONDS
        """
        deadline = time.monotonic() + REMOVE_TIMEOUT_SECONDS
        while True:
            left = [path for dummy, path in self.paths() if os.path.isdir(path)]
            if not left:
                break
            self.kill()
            for path in left:
                for parent, dummy_folders, dummy_files in os.walk(path, topdown=False):
                    try:
                        os.rmdir(parent)
                    except OSError:
                        # Busy until its last process is reaped; the deadline decides.
                        continue
            if time.monotonic() > deadline and any(os.path.isdir(path) for path in left):
                raise GroupError(f"control group {left[0]} can't be removed: something in it does not end")
            if any(os.path.isdir(path) for path in left):
                time.sleep(0.05)
        for dummy, path in self.paths():
            try:
                os.rmdir(os.path.dirname(path))
            except OSError:
                # Other nodes of the lab are in it, or it is gone.
                continue
