# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Gives a lab its figures: the lowest index whose ports, bridge and network are free, kept in its ``lab.json``."""
from __future__ import annotations

import contextlib
import ipaddress
import json
import os
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from .._common.files import file_lock
from .._common.files.whole_file import write_private
from .._common.texts.plain_text import few
from .._plane.process import figures as figures_file
from .._plane.process import orphans, ports
from .._plane.process.figures import FiguresError
from . import credentials, layout

SERVERS_FILE = "servers.json"


@contextlib.contextmanager
def exclusive(labs_dir: str) -> Iterator[None]:
    """Let one process at a time choose figures.

    :param labs_dir: folder that holds one folder for each lab
    """
    os.makedirs(labs_dir, mode=0o700, exist_ok=True)
    with file_lock.held(os.path.join(labs_dir, ".lock")):
        yield


def others(labs_dir: str, name: str) -> dict[str, dict[str, Any]]:
    """Return the figures of all labs but one, name → figures."""
    found = {}
    for entry in sorted(os.listdir(labs_dir)):
        if entry != name and os.path.isdir(os.path.join(labs_dir, entry)):
            figures = figures_file.read(os.path.join(labs_dir, entry))
            if figures:
                found[entry] = figures
    return found


def network_devices() -> Any:
    """Return the names of this machine's network devices."""
    return os.listdir("/sys/class/net")


def networks() -> list[tuple[str, Any]]:
    """Return the networks of this machine's addresses and routes, those that the kernel lists for IPv4."""
    found = []
    with open("/proc/net/route", encoding="utf-8") as stream:
        for line in stream.read().splitlines()[1:]:
            fields = line.split()
            device, target, mask = fields[0], fields[1], fields[7]
            if mask == "00000000":
                continue
            found.append((device, ipaddress.ip_network(f"{_address(target)}/{_address(mask)}")))
    return found


def _address(text: str) -> Any:
    return ipaddress.ip_address(bytes.fromhex(text)[::-1])


def running_indexes(name: str, environ: Mapping[str, str]) -> set[int]:
    """Return the indexes of labs that run, wherever their folders are: METAL3_LAB_HOME may be another one.

    :param name: the lab whose own index does not count
    :param environ: mapping of environment variables
    """
    own, found = os.path.join(layout.labs_dir(environ), name), set()
    for directory in orphans.lab_dirs() - {own}:
        try:
            figures = figures_file.read(directory)
        except (FiguresError, OSError):
            # Its ports still show it.
            continue
        # A site's plane runs as labs do, and has no index.
        if figures and "index" in figures:
            found.add(figures["index"])
    return found


def ensure_folders(directory: str, check_mode: bool = False,
                   wrote: credentials.Wrote = credentials.unnoticed) -> list[str]:
    """Make the folders of a lab, for its owner only.

    :param directory: the lab's folder
    :param check_mode: change nothing, only report
    :param wrote: see credentials.Wrote
    :returns: those of layout.FOLDERS that were made, or would be
    """
    made = [folder for folder in layout.FOLDERS if not os.path.isdir(os.path.join(directory, folder))]
    for folder in [] if check_mode else made:
        path = directory
        for part in folder.split("/"):
            path = os.path.join(path, part)
            if not os.path.isdir(path):
                os.mkdir(path, 0o700)
                wrote(path, "created")
    return made


def obstacles(figures: dict[str, Any]) -> list[str]:
    """Return why figures can't be used by a new lab, as texts; empty when they can."""
    bridge = figures["bridge"]
    texts = [f"port {port} ({part}) is taken" for part, port in sorted(ports.taken(figures["ports"]).items())]
    if bridge["name"] in network_devices():
        texts.append(f"network device {bridge['name']} exists")
    wanted = ipaddress.ip_network(bridge["network"])
    texts += [f"network {network} is reached by {device}" for device, network in networks()
              if network.overlaps(wanted)]
    return texts


def choose(name: str, environ: Mapping[str, str]) -> dict[str, Any]:
    """Return figures for a new lab: the lowest index that no lab has and that nothing stands in the way of.

    :param name: the lab's name
    :param environ: mapping of environment variables
    :raises FiguresError: when there is none
    """
    claimed = set(figures["index"] for figures in others(layout.labs_dir(environ), name).values())
    claimed |= running_indexes(name, environ)
    refused = []
    for index in range(layout.INDEX_LIMIT):
        figures = layout.layout(name, index, environ)
        found = ["another lab has it"] if index in claimed else obstacles(figures)
        if not found:
            return figures
        refused.append(f"{index}: {found[0]}")
    raise FiguresError(f"no index is free for lab {name}: {few(refused, 3, '; ')}")


def ensure(name: str, additions: Mapping[str, Any], make_servers: Callable[..., Any], environ: Mapping[str, str],
           check_mode: bool = False, wrote: credentials.Wrote = credentials.unnoticed
           ) -> tuple[dict[str, Any], Any, Any]:
    """Give a lab its figures, its servers and their credentials; those of a lab that exists stay.

    :param name: the lab's name
    :param additions: dict of further figures (``engine_dir``, ``services_python``, ``versions``)
    :param make_servers: callable, figures → list of servers
    :param environ: mapping of environment variables
    :param check_mode: change nothing, only report
    :param wrote: see credentials.Wrote
    :returns: (figures, servers, names of the files that differ)
    :raises FiguresError: when a port is taken by another process
    """
    labs_dir = layout.labs_dir(environ)
    with exclusive(labs_dir):
        directory = os.path.join(labs_dir, name)
        current = figures_file.read(directory)
        if current is None:
            figures = choose(name, environ)
        else:
            figures = layout.layout(name, current["index"], environ)
            foreign = ports.foreign(figures)
            if foreign:
                raise FiguresError(
                    f"lab {name}: {'; '.join(foreign)}. Stop that process, or move the lab: make lab-down, then make "
                    "lab")
        figures.update(additions)
        servers = make_servers(figures)
        differing = [path for path, content in ((figures_file.FILE, figures), (SERVERS_FILE, servers))
                     if _differs(os.path.join(directory, path), content)]
        if not check_mode:
            os.makedirs(directory, mode=0o700, exist_ok=True)
            os.chmod(directory, 0o700)
            for path, content in ((SERVERS_FILE, servers), (figures_file.FILE, figures)):
                if path in differing:
                    write_private(os.path.join(directory, path), _text(content))
                    wrote(os.path.join(directory, path), "created" if current is None else "updated")
        differing += credentials.ensure_bmc(servers, check_mode, wrote)
    return figures, servers, differing


def _text(content: Any) -> bytes:
    return (json.dumps(content, indent=1, sort_keys=True) + "\n").encode()


def _differs(path: str, content: Any) -> bool:
    try:
        with open(path, "rb") as stream:
            return stream.read() != _text(content)
    except FileNotFoundError:
        return True
