# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Finds and clears what belongs to a lab: processes, mounts, loop devices, network namespaces, the bridge, groups."""
from __future__ import annotations

import contextlib
import glob
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Callable, Collection, Iterator
from typing import Any, NamedTuple

from ..._common.files import regular_file
from ..._common.problems.errors import ReportedError
from ..._common.waiting.wait_loop import until_nothing
from .supervisor_files import LAB_DIR_VARIABLE, NAME_VARIABLE, Layout

TERMINATE_SECONDS = 10
KILL_SECONDS = 10
_LOOK_INTERVAL_SECONDS = 0.05
COMMAND_TIMEOUT_SECONDS = 30
_PID_BYTES = 32


class CleanupError(ReportedError):
    """Something of a lab could not be removed."""


def _stat(proc: str, pid: int) -> tuple[int, int] | None:
    """Return (parent, session) of a process, or None when it is gone."""
    try:
        with open(f"{proc}/{pid}/stat", encoding="utf-8", errors="replace") as stream:
            # The second field, in parentheses, may hold anything.
            fields = stream.read().rpartition(")")[2].split()
    except OSError:
        return None
    return int(fields[1]), int(fields[3])


def _ancestors(proc: str) -> set[int]:
    """Return this process and all it descends from."""
    found, pid = set(), os.getpid()
    while pid > 0 and pid not in found:
        found.add(pid)
        pid = (_stat(proc, pid) or (0, 0))[0]
    return found


def _session(lab_dir: str) -> Any:
    """Return the session of the lab's supervisord, alive or dead; None when it never ran."""
    # Any process can name any folder as its lab's.
    try:
        with regular_file.reading(Layout(os.path.join(lab_dir, "supervisor")).pid_file) as (stream, _found):
            return int(stream.read(_PID_BYTES))
    except (OSError, ValueError):
        return None


def _is_inside(path: str, folder: str) -> bool:
    """Return whether a path of the kernel, which has no links, is in a folder, whose path may have some."""
    real = os.path.realpath(folder)
    return path == real or path.startswith(real + os.sep)


def processes(lab_dir: str, proc: str = "/proc") -> list[int]:
    """Return the ids of the processes that belong to a lab.

    They carry the lab's folder in their environment. Some programs (nginx, Ironic) write their title over it: those are
    known by the session of the lab's supervisord and a working directory in the lab's folder, which only together are
    proof.

    :param lab_dir: the lab's folder
    :param proc: where procfs is mounted
    """
    own, session = _ancestors(proc), _session(lab_dir)
    pids = [int(entry) for entry in os.listdir(proc) if entry.isdigit()]
    return sorted(pid for pid in pids if pid not in own and _belongs(lab_dir, session, pid, proc))


def _belongs(lab_dir: str, session: int | None, pid: int, proc: str = "/proc") -> bool:
    """Return whether a process belongs to a lab, see :func:`processes`.

    :param session: of the lab's supervisord
    """
    try:
        with open(f"{proc}/{pid}/environ", "rb") as stream:
            if f"{LAB_DIR_VARIABLE}={lab_dir}".encode() in stream.read().split(b"\0"):
                return True
    except OSError:
        # It is gone, or another user's.
        return False
    return _is_in_session(lab_dir, session, pid, proc)


def _is_in_session(lab_dir: str, session: int | None, pid: int, proc: str) -> bool:
    """Return whether a process is one of the session of a lab's supervisord, and works in the lab's folder."""
    stat = _stat(proc, pid) if session else None
    try:
        return stat is not None and stat[1] == session and _is_inside(os.readlink(f"{proc}/{pid}/cwd"), lab_dir)
    except OSError:
        return False


def lab_dirs(proc: str = "/proc") -> set[str]:
    """Return the folders of all labs that have a process, those that this user may inspect.

    :param proc: where procfs is mounted
    """
    return set(program.lab_dir for program in programs(proc))


class Program(NamedTuple):
    """A process of a lab or plane.

    :ivar lab_dir: folder of the lab
    :ivar name: of its program, as supervisord calls it; empty for a process that supervisord has not started
    :ivar pid: its id
    :ivar is_title: whether the name is the first word of its title, because it has written that over its environment
    """

    lab_dir: str
    name: str
    pid: int
    is_title: bool = False

    def is_of(self, program: str) -> bool:
        """Say whether it is of a program; a title leaves out the number of one of several."""
        return self.name == program or (self.is_title and program.removeprefix(f"{self.name}-").isdecimal())


def programs(proc: str = "/proc", lab_dir: str | None = None) -> list[Program]:
    """Return the processes of all labs, those that this user may inspect; children are of the program of their parent.

    :param proc: where procfs is mounted
    :param lab_dir: folder of a lab of which also those are found that hide their environment; others are found when one
        of their processes does not
    """
    found, hidden = [], []
    for pid in sorted(int(entry) for entry in os.listdir(proc) if entry.isdigit()):
        try:
            with open(f"{proc}/{pid}/environ", "rb") as stream:
                variables = dict(text.partition(b"=")[::2] for text in stream.read().split(b"\0"))
        except OSError:
            # It is gone, or another user's.
            continue
        marked = variables.get(LAB_DIR_VARIABLE.encode())
        if marked is not None:
            found.append(Program(os.fsdecode(marked), os.fsdecode(variables.get(NAME_VARIABLE.encode(), b"")), pid))
        elif not any(variables):
            hidden.append(pid)
    folders = set(program.lab_dir for program in found) | ({lab_dir} if lab_dir else set())
    sessions = [(_session(folder), folder) for folder in sorted(folders)]
    return found + [Program(folder, _title(pid, proc), pid, True) for pid in hidden for session, folder in sessions
                    if _is_in_session(folder, session, pid, proc)]


def _title(pid: int, proc: str) -> str:
    """Return the first word of a process's title, for example ``ironic`` of ``ironic: master process […]``."""
    try:
        with open(f"{proc}/{pid}/cmdline", "rb") as stream:
            return os.fsdecode(stream.read()).partition(":")[0]
    except OSError:
        return ""


def stop_programs(lab_dir: str, names: Collection[str]) -> None:
    """End the processes of some programs of a lab whose supervisord is gone, at first politely.

    :param lab_dir: the lab's folder
    :param names: of the programs
    :raises CleanupError: when some survive
    """
    def left() -> list[int]:
        return [program.pid for program in programs(lab_dir=lab_dir)
                if program.lab_dir == lab_dir and any(map(program.is_of, names))]

    for number, seconds in ((signal.SIGTERM, TERMINATE_SECONDS), (signal.SIGKILL, KILL_SECONDS)):
        _signal(lab_dir, left(), number)
        if not until_nothing(left, seconds, _LOOK_INTERVAL_SECONDS):
            return
    raise _surviving(left())


def _signal(lab_dir: str, pids: list[int], number: int) -> None:
    """Send a signal to processes that still are a lab's: others may have their ids by now."""
    session = _session(lab_dir)
    for pid in pids:
        with contextlib.suppress(ProcessLookupError), _held(pid) as send:
            if _belongs(lab_dir, session, pid):
                send(number)


@contextlib.contextmanager
def _held(pid: int) -> Iterator[Callable[[int], None]]:
    """Yield what sends a signal to a process, and to no other one that gets its id meanwhile.

    :raises ProcessLookupError: when it has ended
    """
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        raise
    except OSError:
        # A kernel or sandbox without it: as little as can be is between the look and the signal.
        yield lambda number: os.kill(pid, number)
        return
    try:
        yield lambda number: signal.pidfd_send_signal(descriptor, number)
    finally:
        os.close(descriptor)


def _gone(lab_dir: Any, seconds: Any) -> Any:
    return until_nothing(lambda: processes(lab_dir), seconds, _LOOK_INTERVAL_SECONDS)


def stop_processes(lab_dir: str) -> list[Any]:
    """End all processes of a lab, at first politely.

    :returns: ids of the processes that were there
    :raises CleanupError: when some survive
    """
    found = processes(lab_dir)
    if not found:
        return []
    _signal(lab_dir, found, signal.SIGTERM)
    left = _gone(lab_dir, TERMINATE_SECONDS)
    if left:
        _signal(lab_dir, left, signal.SIGKILL)
        left = _gone(lab_dir, KILL_SECONDS)
    if left:
        raise _surviving(left)
    return found


def _surviving(pids: list[int]) -> CleanupError:
    return CleanupError(f"processes {', '.join(map(str, pids))} survive SIGKILL: see /proc/<pid>/status and wchan")


def mounts(lab_dir: str, mountinfo: str = "/proc/self/mountinfo") -> list[str]:
    """Return the mount points in a lab's folder, innermost first.

    :param lab_dir: the lab's folder
    :param mountinfo: file to read
    """
    found = []
    with open(mountinfo, encoding="utf-8", errors="replace") as stream:
        for line in stream:
            point = re.sub(r"\\([0-7]{3})", lambda match: chr(int(match.group(1), 8)), line.split()[4])
            if _is_inside(point, lab_dir):
                found.append(point)
    return found[::-1]


def loop_devices(lab_dir: str, sys_block: str = "/sys/block") -> list[str]:
    """Return the loop devices whose backing file is in a lab's folder."""
    found = []
    for path in sorted(glob.glob(os.path.join(sys_block, "loop*", "loop", "backing_file"))):
        try:
            with open(path, encoding="utf-8", errors="replace") as stream:
                backing = stream.read().strip()
        except OSError:
            continue
        if _is_inside(backing, lab_dir):
            found.append("/dev/" + path.split(os.sep)[-3])
    return found


def _command(arguments: Any) -> Any:
    program = shutil.which(arguments[0], path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
    if not program:
        raise CleanupError(f"program {arguments[0]} is missing")
    result = subprocess.run(
        [program] + arguments[1:], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        check=False, timeout=COMMAND_TIMEOUT_SECONDS, universal_newlines=True)
    if result.returncode:
        raise CleanupError(f"{' '.join(arguments)}: {' '.join(result.stderr.split()) or 'failed'}")
    return result.stdout


def network_namespaces(prefix: str, directory: str = "/run/netns") -> list[str]:
    """Return the named network namespaces that begin with a prefix."""
    if not os.path.isdir(directory):
        return []
    return sorted(name for name in os.listdir(directory) if name.startswith(prefix))


def control_groups(name: Any, directory: str = "/sys/fs/cgroup") -> Any:
    """Return the control groups of a lab's nodes, one in each mounted hierarchy."""
    return sorted(glob.glob(os.path.join(directory, name)) + glob.glob(os.path.join(directory, "*", name)))


def links(bridge: str, sys_net: str = "/sys/class/net") -> list[str]:
    """Return the network devices of a lab: those attached to its bridge, and the bridge itself."""
    path = os.path.join(sys_net, bridge)
    if not os.path.exists(path):
        return []
    attached = os.path.join(path, "brif")
    return (sorted(os.listdir(attached)) if os.path.isdir(attached) else []) + [bridge]


def find(lab: Any) -> Any:
    """Return what is there of a lab beside its folder, as a list of (kind, what).

    :param lab: the lab's figures, see layout.py
    """
    found = [("process", str(pid)) for pid in processes(lab["dir"])]
    return found + _find_devices(lab)


def _find_devices(lab: Any) -> Any:
    found = [("mount", point) for point in mounts(lab["dir"])]
    found += [("loop device", device) for device in loop_devices(lab["dir"])]
    if "bridge" not in lab:
        # A site's plane.
        return found
    bridge = lab["bridge"]["name"]
    found += [("network namespace", name) for name in network_namespaces(bridge + "-")]
    found += [("network device", name) for name in links(bridge)]
    return found + [("control group", path) for path in control_groups(bridge)]


_REMOVERS = {
    "mount": lambda what: ["umount", what],
    "loop device": lambda what: ["losetup", "-d", what],
    "network namespace": lambda what: ["ip", "netns", "delete", what],
    "network device": lambda what: ["ip", "link", "delete", what],
    # Each folder of it, innermost first; the files in them are the kernel's.
    "control group": lambda what: ["find", what, "-depth", "-type", "d", "-exec", "rmdir", "{}", ";"],
}


def clear(lab: Any) -> Any:
    """Remove what find() finds.

    :param lab: the lab's figures, see layout.py
    :returns: what was removed, as a list of (kind, what)
    :raises CleanupError: naming what is left and why
    """
    removed = [("process", str(pid)) for pid in stop_processes(lab["dir"])]
    found, errors = _find_devices(lab), []
    for kind, what in found:
        try:
            _command(_REMOVERS[kind](what))
        except (CleanupError, subprocess.TimeoutExpired) as exc:
            errors.append((kind, what, str(exc)))
    # Removing one thing may remove another (a namespace takes its devices along): only what is left is an error.
    left = set(_find_devices(lab))
    lasting = [f"{kind} {what}: {text}" for kind, what, text in errors if (kind, what) in left]
    if lasting:
        raise CleanupError("; ".join(lasting))
    return removed + found
