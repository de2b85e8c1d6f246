# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Gives a bootstrap plane its figures and folders; all is checked before the first write."""
from __future__ import annotations

import errno
import json
import os
import shutil
from collections.abc import Mapping
from typing import Any

from ..._common.files import user_folders
from ..._common.files.whole_file import write_private
from ..._common.options.field_checks import show
from ..._common.problems.errors import RefusedError
from ..._common.problems.problem import Problem
from ..._common.waiting.progress import Progress
from . import figures as figures_file
from . import ports, program_figures, service_manager, service_unit, site_figures, supervisor_files

# What Ironic and the image server call, and the Debian package that has it.
PROGRAMS = {"ipmitool": "ipmitool", "mcopy": "mtools", "mkfs.vfat": "dosfstools", "qemu-img": "qemu-utils",
            "xorriso": "xorriso"}
_SYSTEM_PATH = os.pathsep + os.pathsep.join(("/usr/sbin", "/sbin"))


def present(params: dict[str, Any], check_mode: bool, progress: Progress) -> dict[str, Any]:
    """Give a plane its figures and return the module's result.

    :param params: the parameters of the module ``plane_site``
    :param check_mode: whether nothing is changed
    :param progress: a Progress
    :raises RefusedError: with all problems, before anything is written
    :raises ReportedError: when the Python environment cannot be created
    """
    problems = site_figures.problems(params, params["ports"]) + site_figures.boot_problems(params["boot_images"])
    problems += _program_problems(params["nginx_program"])
    machine = service_manager.machine()
    problems += service_unit.problems(params["service"], machine)
    computed, missing_service = None, ""
    if not any(problem.code.startswith("plane-") for problem in problems):
        computed = site_figures.compute(params, params["ports"], user_folders.cache_dir())
        computed["service"], missing_service = service_unit.chosen(params["service"], machine)
        problems += machine_problems(computed)
    if problems or computed is None:
        raise RefusedError(problems)
    programs, made = program_figures.ensure(params, computed["cache_dir"], check_mode, progress)
    computed.update(programs)
    before = figures_file.read(computed["dir"])
    differing = _write(computed, check_mode, progress) + _serve(before, computed, check_mode, progress)
    return {"changed": bool(differing) or made, "management_plane": computed, "differing": differing,
            "existed": before is not None, "service": _described(computed, missing_service)}


def _described(computed: Mapping[str, Any], reason: str) -> dict[str, str]:
    """Return what starts the plane with its machine, as the module returns it."""
    service = service_manager.of(computed)
    return {"kind": computed["service"], "unit": service.unit if service else "",
            "path": service.path if service else "", "reason": reason}


def _serve(before: Mapping[str, Any] | None, computed: Mapping[str, Any], check_mode: bool,
           progress: Progress) -> list[str]:
    """Write the plane's unit, or remove one of another kind; returns the paths that differ.

    A plane that runs goes on; its unit counts from the next start of the machine.
    """
    differing = []
    former, service = service_manager.of(before), service_manager.of(computed)
    if former and (service is None or former.path != service.path) and former.stored() is not None:
        differing.append(former.path)
        if not check_mode and former.remove(stop=False):
            progress.wrote(former.path, "deleted")
    if service and service.differs():
        differing.append(service.path)
        if not check_mode:
            service.write()
            progress.wrote(service.path, "written")
    return differing


def _program_problems(nginx_program: str) -> list[Problem]:
    path = os.environ.get("PATH", "") + _SYSTEM_PATH
    found = [Problem("plane-program", "this machine", program, None, "the program",
                     f"install the package that has it, on Debian {package}")
             for program, package in sorted(PROGRAMS.items()) if not shutil.which(program, path=path)]
    if not os.access(nginx_program, os.X_OK):
        found.append(Problem("plane-program", "", "bootstrap_plane_nginx_program", show(nginx_program), "a program",
                             "install nginx, on Debian nginx-light, or set its path"))
    return found


def machine_problems(computed: dict[str, Any]) -> list[Problem]:
    """Return what of the figures this machine does not have, or somebody else uses.

    :param computed: the plane's figures
    """
    absent = [field for field in ("address", "kubernetes_address") if not ports.is_here(computed[field])]
    found = [Problem("machine-address", "", f"management_plane.{field}", show(computed[field]),
                     "an address of this machine", "correct it, or configure it on an interface") for field in absent]
    if not absent:
        owners = ports.owners_of(computed)
        found += [_port_problem(computed, part, owner) for part, owner in owners if part in computed["ports"]]
        found += _conductor_problems(computed, [item for item in owners if item[0] not in computed["ports"]])
    return found + _folder_problems(computed) + _unit_problems(computed)


def _port_problem(computed: dict[str, Any], part: str, owner: str) -> Problem:
    port, field = computed["ports"][part], f"management_plane.ports.{part}"
    if owner == ports.UNKNOWN and ports.listen_error(
            computed["listens_on"].get(part, ports.LOOPBACK), port) == errno.EACCES:
        return Problem("machine-port", "", field, f"{port}, on which user {os.geteuid()} may not listen",
                       "a port that this user may have, which by default is 1024 or higher",
                       f"set {field}, or let users have it (sysctl net.ipv4.ip_unprivileged_port_start)")
    return Problem("machine-port", "", field, f"{port}, taken by {owner}", "a free port",
                   f"stop that process, or set {field}")


def _conductor_problems(computed: dict[str, Any], owners: list[tuple[str, str]]) -> list[Problem]:
    """Return one problem for each owner: whoever listens at all addresses has those of all conductors."""
    places = ports.places_of(computed)
    first = dict((owner, places[part]) for part, owner in reversed(owners))
    return [Problem("machine-port", "", "ironic_processes", f"separate, whose conductors need port {place.port} of "
                    f"loopback addresses, which at {place.address} is taken by {owner}", f"port {place.port} free at "
                    + ", ".join(computed["conductor_addresses"]),
                    "stop that process, have it listen at its own address only, or set ironic_processes to combined")
            for owner, place in sorted(first.items())]


def _unit_problems(computed: dict[str, Any]) -> list[Problem]:
    # What the unit's text needs beside it is known only later.
    service = service_manager.of(dict(computed, services_python=""))
    if service is None or not service.is_of_another():
        return []
    return [Problem("machine-unit", "", "management_plane.name", f"{show(computed['name'])}, whose unit {service.path} "
                    "is that of a plane in another folder", "a name of its own", "set another one")]


def _folder_problems(computed: dict[str, Any]) -> list[Problem]:
    directory = computed["dir"]

    def problem(actual: str, expected: str, hint: str) -> list[Problem]:
        return [Problem("machine-dir", "", "management_plane.dir", f'"{directory}", {actual}', expected, hint)]

    try:
        supervisor_files.Layout(os.path.join(directory, "supervisor")).check()
    except supervisor_files.SupervisorError as exc:
        return problem(str(exc), "a shorter path", "set management_plane.dir")
    if os.path.islink(directory) or (os.path.exists(directory) and not os.path.isdir(directory)):
        return problem("which is no folder", "a folder, or a path where none is", "set another one")
    if os.path.isdir(directory):
        if os.stat(directory).st_uid != os.geteuid():
            return problem(f"which belongs to user id {os.stat(directory).st_uid}", "a folder of your own",
                           "set another one, or become that user")
        there = figures_file.read(directory)
        if there is None and os.listdir(directory):
            return problem("which has files of something else", "an empty folder, or a plane's", "set another one")
        if there is not None and (there.get("mode"), there["name"]) != (computed["mode"], computed["name"]):
            return problem(f"which belongs to {show(there['name'])}", f"the folder of {computed['name']}",
                           "set another one, or correct management_plane.name")
        return []
    parent = os.path.dirname(directory)
    while not os.path.lexists(parent):
        parent = os.path.dirname(parent)
    if not os.path.isdir(parent) or not os.access(parent, os.W_OK | os.X_OK):
        return problem(f"which cannot be created in {parent}", "a folder that you may create", "set another one")
    return []


def _write(computed: dict[str, Any], check_mode: bool, progress: Progress) -> list[str]:
    """Write figures and folders; returns the paths that differ.

    The figures first: a folder of a killed run must be known as a plane's by the next one.
    """
    directory, differing = computed["dir"], []
    path = os.path.join(directory, figures_file.FILE)
    content = (json.dumps(computed, indent=1, sort_keys=True) + "\n").encode()
    if not check_mode:
        os.makedirs(directory, mode=0o700, exist_ok=True)
        os.chmod(directory, 0o700)
    if _read(path) != content:
        differing.append(path)
        if not check_mode:
            write_private(path, content)
            progress.wrote(path, "written")
    for folder in site_figures.FOLDERS:
        if os.path.isdir(os.path.join(directory, folder)):
            continue
        differing.append(os.path.join(directory, folder))
        if not check_mode:
            for end in range(1, folder.count("/") + 2):
                os.makedirs(os.path.join(directory, *folder.split("/")[:end]), mode=0o700, exist_ok=True)
            progress.wrote(differing[-1], "created")
    return differing


def _read(path: str) -> bytes | None:
    try:
        with open(path, "rb") as stream:
            return stream.read()
    except FileNotFoundError:
        return None


def found(params: dict[str, Any], _check_mode: bool, _progress: Progress) -> dict[str, Any]:
    """Return the figures of the plane in a folder as the module's result; nothing is changed.

    :param params: the parameters of the module ``plane_site``
    :raises FiguresError: for figures that cannot be read, or are another user's
    """
    read = figures_file.read_own(os.path.normpath(params["dir"]))
    return {"changed": False, "existed": read is not None, "management_plane": read or {}}
