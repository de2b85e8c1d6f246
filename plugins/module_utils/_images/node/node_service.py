# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Brings a node image to a folder of an image server: built here, or taken from elsewhere; verified in both cases."""
from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from typing import Any

from ..._common.problems.errors import RefusedError
from ..._common.problems.problem import Problem
from ..disks import disk_image
from ..publishing.image_folder import ImageFolder, Writer, copied
from ..sources import contents, fetch
from . import given_programs, node_options
from .node_build import PROGRAMS, NodeBuild

# Raise it when an image is verified in another way than before: it is verified again then.
RECIPE = "1"


def ensure(params: dict[str, Any], check_mode: bool, progress: Any) -> dict[str, Any]:
    """Bring the image to what the options say and return the module's result.

    :param params: the module's parameters
    :param check_mode: whether nothing is changed
    :param progress: a Progress
    :raises ReportedError: when options are wrong, a step fails, or the image is refused
    """
    params, found = contents.read(params, ("files",), "node-image")
    found += node_options.problems(params) + _missing(params)
    if found:
        raise RefusedError(found)
    build = None if params["download"] else NodeBuild(params)
    key = _digest(RECIPE, build.key if build else params["download"]["checksum"])
    folder = ImageFolder(params["directory"], params["name"] + ".json")
    result: dict[str, Any] = {"image_dir": build.directory} if build else {}
    files = folder.published(key, [params["name"]])
    if files is not None:
        info = _verified(files[params["name"]]["path"], params)
        return dict(result, changed=False, **_described(files[params["name"]], info))
    if check_mode:
        return dict(result, changed=True, path=folder.path(params["name"]))
    facts: dict[str, Any] = {}

    def check(made: Mapping[str, str]) -> None:
        facts.update(_verified(made[params["name"]], params))

    files, _differing = folder.publish(key, {params["name"]: _writer(build, params, progress)}, check, progress.wrote)
    return dict(result, changed=True, **_described(files[params["name"]], facts))


def _missing(params: dict[str, Any]) -> list[Problem]:
    """Return which files that the options name are not there, and which programs are not taken."""
    if params["download"]:
        return []
    folder, archives = params["kubernetes_dir"], enumerate(params["image_archives"])
    return _of_paths([("source_dir", os.path.join(params["source_dir"] or "", name))
                      for name in ("packages.txt", "import_images.py")]) + (
        given_programs.problems(folder, PROGRAMS) if folder else []) + _of_paths(
        [(f"image_archives[{number}]", path) for number, path in archives])


def _of_paths(wanted: list[tuple[str, str]]) -> list[Problem]:
    return [Problem("node-image", "", field, f'"{path}", which is missing', "a file", "correct the path")
            for field, path in wanted if not os.path.isfile(path)]


def _writer(build: NodeBuild | None, params: dict[str, Any], progress: Any) -> Writer:
    if build is None:
        download = params["download"]
        source = fetch.fetched(download["url"], download["checksum"], params["cache_dir"], params["ca_file"], progress)
        return copied(source)
    build.build(progress)
    return copied(build.path)


def _verified(path: str, params: dict[str, Any]) -> dict[str, Any]:
    disks = dict((host, node_options.disk_bytes(size) or 0) for host, size in params["disks"].items())
    return disk_image.verified(path, params["name"], disks)


def _described(file: Mapping[str, Any], facts: Mapping[str, Any]) -> dict[str, Any]:
    return dict(file, checksum_type="sha256", **facts)


def _digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()
