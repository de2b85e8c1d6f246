# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Gives a lab its figures: the lowest index whose ports, bridge and network are free, kept in its ``lab.json``."""
from __future__ import annotations

import contextlib
import fcntl
import ipaddress
import json
import os
import socket
import time

from .._plane.process import orphans
from .._plane.process.files import write_private
from . import credentials, layout

LAB_FILE = "lab.json"
SERVERS_FILE = "servers.json"
# How long a process that ends may keep its ports after its files are seen no more.
_END_SECONDS = 2
_LOOK_INTERVAL_SECONDS = 0.05


class ClaimError(Exception):
    """A lab can't have figures; the message names the figure and who has it."""


@contextlib.contextmanager
def exclusive(labs_dir):
    """Let one process at a time choose figures.

    :param labs_dir: folder that holds one folder for each lab
    """
    os.makedirs(labs_dir, mode=0o700, exist_ok=True)
    with open(os.path.join(labs_dir, ".lock"), "w", encoding="utf-8") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        yield


def read(directory):
    """Return a lab's figures, or None when it has none.

    :param directory: the lab's folder
    :raises ClaimError: for an unreadable file
    """
    path = os.path.join(directory, LAB_FILE)
    try:
        with open(path, encoding="utf-8") as stream:
            text = stream.read()
    except FileNotFoundError:
        return None
    except ValueError as exc:
        raise ClaimError(f"{path}: not UTF-8 ({exc}). Remove the lab with make lab-down") from exc
    try:
        return figures(text)
    except ValueError as exc:
        raise ClaimError(f"{path}: {exc}. Remove the lab with make lab-down") from exc


# Field of ``lab.json`` → its type: what is needed of a lab to tell it from others and to remove it.
FIELDS = {"name": str, "index": int, "dir": str, "ports": dict, "bridge": dict}


def figures(text):
    """Return the figures of a lab out of the text of its ``lab.json``.

    :raises ValueError: for anything else
    """
    try:
        found = json.loads(text)
    except RecursionError as exc:
        raise ValueError("not JSON (nested too deeply)") from exc
    except ValueError as exc:
        raise ValueError(f"not JSON ({exc})") from exc
    if not isinstance(found, dict):
        raise ValueError("expected a mapping")
    wrong = [name for name, kind in FIELDS.items()
             if not isinstance(found.get(name), kind) or isinstance(found[name], bool)]
    if wrong:
        raise ValueError(f"without a usable {', '.join(wrong)}")
    return found


def others(labs_dir, name):
    """Return the figures of all labs but one, name → figures."""
    found = {}
    for entry in sorted(os.listdir(labs_dir)):
        if entry != name and os.path.isdir(os.path.join(labs_dir, entry)):
            figures = read(os.path.join(labs_dir, entry))
            if figures:
                found[entry] = figures
    return found


def taken_ports(ports):
    """Return the ports on which nothing can listen, part → port.

    :param ports: dict part → port
    """
    taken = {}
    for part, port in ports.items():
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
            # As servers do: a connection of a process that has ended does not keep its port.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
                probe.listen(1)
            except OSError:
                taken[part] = port
    return taken


def listeners(proc="/proc"):
    """Return who listens on which TCP port as a dict port → pid, as far as this user may see."""
    inodes = {}
    for table in ("tcp", "tcp6"):
        try:
            with open(os.path.join(proc, "net", table), encoding="utf-8") as stream:
                lines = stream.read().splitlines()[1:]
        except OSError:
            continue
        for line in lines:
            fields = line.split()
            if fields[3] == "0A":
                inodes[f"socket:[{fields[9]}]"] = int(fields[1].rpartition(":")[2], 16)
    found = {}
    for entry in os.listdir(proc):
        if not entry.isdigit():
            continue
        directory = os.path.join(proc, entry, "fd")
        try:
            for descriptor in os.listdir(directory):
                port = inodes.get(os.readlink(os.path.join(directory, descriptor)))
                if port:
                    found[port] = int(entry)
        except OSError:
            continue
    return found


def _program(pid, proc="/proc"):
    try:
        with open(os.path.join(proc, str(pid), "comm"), encoding="utf-8", errors="replace") as stream:
            return stream.read().strip()
    except OSError:
        return "?"


def foreign_ports(figures):
    """Return texts about the lab's ports that others listen on.

    :param figures: the lab's figures
    """
    taken = taken_ports(figures["ports"])
    if not taken:
        return []
    own, owners = set(orphans.processes(figures["dir"])), listeners()
    unknown = _still_taken(dict((part, port) for part, port in taken.items() if port not in owners))
    texts = []
    for part, port in sorted(taken.items()):
        pid = owners.get(port)
        if pid in own or (pid is None and part not in unknown):
            continue
        owner = "pid %d (%s)" % (pid, _program(pid)) if pid else "a process of another user"
        texts.append("port %d (%s) is taken by %s" % (port, part, owner))
    return texts


def _still_taken(ports):
    """Return those of the ports that stay taken: a process that just ends is seen no more before its ports are free."""
    deadline = time.monotonic() + _END_SECONDS
    while ports and time.monotonic() < deadline:
        time.sleep(_LOOK_INTERVAL_SECONDS)
        ports = taken_ports(ports)
    return ports


def network_devices():
    """Return the names of this machine's network devices."""
    return os.listdir("/sys/class/net")


def networks():
    """Return the networks of this machine's addresses and routes, as far as the kernel tells for IPv4."""
    found = []
    with open("/proc/net/route", encoding="utf-8") as stream:
        for line in stream.read().splitlines()[1:]:
            fields = line.split()
            device, target, mask = fields[0], fields[1], fields[7]
            if mask == "00000000":
                continue
            found.append((device, ipaddress.ip_network(f"{_address(target)}/{_address(mask)}")))
    return found


def _address(text):
    return ipaddress.ip_address(bytes.fromhex(text)[::-1])


def running_indexes(name, environ):
    """Return the indexes of labs that run, wherever their folders are: METAL3_LAB_HOME may be another one.

    :param name: the lab whose own index does not count
    :param environ: mapping of environment variables
    """
    own, found = os.path.join(layout.labs_dir(environ), name), set()
    for directory in orphans.lab_dirs() - {own}:
        try:
            figures = read(directory)
        except (ClaimError, OSError):
            # Its ports still tell.
            continue
        if figures:
            found.add(figures["index"])
    return found


def ensure_folders(directory, check_mode=False):
    """Make the folders of a lab, for its owner only.

    :param directory: the lab's folder
    :param check_mode: only tell
    :returns: those of layout.FOLDERS that were made, or would be
    """
    made = [folder for folder in layout.FOLDERS if not os.path.isdir(os.path.join(directory, folder))]
    for folder in [] if check_mode else made:
        path = directory
        for part in folder.split("/"):
            path = os.path.join(path, part)
            if not os.path.isdir(path):
                os.mkdir(path, 0o700)
    return made


def obstacles(figures):
    """Return why figures can't be used by a new lab, as texts; empty when they can."""
    bridge = figures["bridge"]
    texts = ["port %d (%s) is taken" % (port, part) for part, port in sorted(taken_ports(figures["ports"]).items())]
    if bridge["name"] in network_devices():
        texts.append(f"network device {bridge['name']} exists")
    wanted = ipaddress.ip_network(bridge["network"])
    texts += [f"network {network} is reached by {device}" for device, network in networks()
              if network.overlaps(wanted)]
    return texts


def choose(name, environ):
    """Return figures for a new lab: the lowest index that no lab has and that nothing stands in the way of.

    :param name: the lab's name
    :param environ: mapping of environment variables
    :raises ClaimError: when there is none
    """
    claimed = set(figures["index"] for figures in others(layout.labs_dir(environ), name).values())
    claimed |= running_indexes(name, environ)
    seen = []
    for index in range(layout.INDEX_LIMIT):
        figures = layout.layout(name, index, environ)
        found = ["another lab has it"] if index in claimed else obstacles(figures)
        if not found:
            return figures
        seen.append("%d: %s" % (index, found[0]))
    raise ClaimError(f"no index is free for lab {name}: {'; '.join(seen[:3])}; …")


def ensure(name, additions, make_servers, environ, check_mode=False):
    """Give a lab its figures, its servers and their credentials; those of a lab that exists stay.

    :param name: the lab's name
    :param additions: dict of further figures (``engine_dir``, ``services_python``)
    :param make_servers: callable, figures → list of servers
    :param environ: mapping of environment variables
    :param check_mode: only tell
    :returns: (figures, servers, names of the files that differ)
    :raises ClaimError: when a port is taken by another process
    """
    labs_dir = layout.labs_dir(environ)
    with exclusive(labs_dir):
        directory = os.path.join(labs_dir, name)
        current = read(directory)
        if current is None:
            figures = choose(name, environ)
        else:
            figures = layout.layout(name, current["index"], environ)
            foreign = foreign_ports(figures)
            if foreign:
                raise ClaimError("lab %s: %s. Stop that process, or move the lab: make lab-down, then make lab"
                                 % (name, "; ".join(foreign)))
        figures.update(additions)
        servers = make_servers(figures)
        differing = [path for path, content in ((LAB_FILE, figures), (SERVERS_FILE, servers))
                     if _differs(os.path.join(directory, path), content)]
        if not check_mode:
            os.makedirs(directory, mode=0o700, exist_ok=True)
            os.chmod(directory, 0o700)
            for path, content in ((SERVERS_FILE, servers), (LAB_FILE, figures)):
                if path in differing:
                    write_private(os.path.join(directory, path), _text(content))
        differing += credentials.ensure_bmc(servers, check_mode)
    return figures, servers, differing


def _text(content):
    return (json.dumps(content, indent=1, sort_keys=True) + "\n").encode()


def _differs(path, content):
    try:
        with open(path, "rb") as stream:
            return stream.read() != _text(content)
    except FileNotFoundError:
        return True
