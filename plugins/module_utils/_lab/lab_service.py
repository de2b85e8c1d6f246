# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The lab's own part of a run: packages, figures, folders, secrets."""
from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator
from typing import Any

from .._common.files import user_folders
from .._common.problems.errors import ReportedError
from .._common.waiting.progress import Progress
from .._plane.process import figures, program_figures
from . import claim, credentials, debian_packages, host_limits, layout, removal, servers, ssh_keys


@contextlib.contextmanager
def readable_errors() -> Iterator[None]:
    """Raise errors of the system and of files with other contents as ReportedError."""
    try:
        yield
    except (OSError, ValueError) as exc:
        raise ReportedError(str(exc)) from exc


def absent(params: dict[str, Any], check_mode: bool, progress: Progress) -> dict[str, Any]:
    """Remove the lab and return the module's result.

    :param params: the parameters of the module ``lab``
    :param check_mode: whether nothing is changed
    :param progress: a Progress
    """
    removed = removal.remove(params["name"], os.environ, check_mode, progress.wrote)
    return {"changed": bool(removed), "removed": removed}


def present(params: dict[str, Any], check_mode: bool, progress: Progress) -> dict[str, Any]:
    """Give the lab its figures and return the module's result.

    :param params: the parameters of the module ``lab``
    :param check_mode: whether nothing is changed
    :param progress: a Progress
    :raises ReportedError: when packages are missing or somebody else has a figure
    """
    if params["packages_file"] and shutil.which("dpkg-query"):
        _check_packages(params["packages_file"])
    additions, made_environment = program_figures.ensure(params, user_folders.cache_dir(), check_mode, progress)
    existed = figures.read(layout.lab_dir(params["name"])) is not None
    lab, made, differing = claim.ensure(
        params["name"], additions, lambda lab: servers.servers(lab, params["hardware"]), os.environ, check_mode,
        progress.wrote)
    differing += claim.ensure_folders(lab["dir"], check_mode, progress.wrote)
    differing += credentials.ensure_machine_room(lab["dir"], check_mode, progress.wrote)
    differing += credentials.ensure_registry(lab["dir"], check_mode, progress.wrote)
    if any(server["kind"] == servers.VIRTUAL for server in made):
        differing += ssh_keys.ensure(lab["dir"], check_mode, progress.wrote)
    warnings = []
    if params["nodes"]:
        try:
            differing += host_limits.ensure(check_mode)
        except OSError as error:
            warnings.append(f"{host_limits.SETTING} can't be raised ({error}): more than four nodes will not start")
    return {"changed": bool(differing) or made_environment, "lab": lab, "servers": made, "differing": differing,
            "existed": existed, "warnings": warnings}


def _check_packages(path: str) -> None:
    with open(path, encoding="utf-8") as stream:
        lacking = debian_packages.missing(debian_packages.parse(stream.read()))
    if lacking:
        raise debian_packages.PackagesError(
            f"these Debian packages are missing: {', '.join(lacking)}. As root, to install them without starting their "
            f"services: python3 {os.path.join(os.path.dirname(path), 'debian_packages.py')} {path}")
