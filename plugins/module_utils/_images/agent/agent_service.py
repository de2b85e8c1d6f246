# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Brings the deploy agent's images to a folder of an image server: built here, or taken from elsewhere."""
from __future__ import annotations

import hashlib
import importlib.machinery
import importlib.util
import json
import os
import shutil
from collections.abc import Callable, Mapping
from typing import IO, Any

from ..._common.files import private_folder
from ..._common.options import network_data
from ..._common.problems.errors import RefusedError, ReportedError
from ..._common.problems.problem import Problem
from ..debian import debian_root
from ..publishing.image_folder import ImageFolder, Writer, copied
from ..sources import contents, download_rules, fetch
from . import agent_options, agent_ramdisk, boot_iso, cpio
from .agent_ramdisk import AgentRamdisk

ISO = "agent.iso"
NAMES = (*agent_ramdisk.FILES, ISO)
MB = 1000 * 1000
# Raise it when the files are put together in another way than before: they are published again then.
RECIPE = "1"
_NETWORK_SCRIPT = "root/usr/local/lib/agent_network/network_data.py"


def ensure(params: dict[str, Any], check_mode: bool, progress: Any) -> dict[str, Any]:
    """Bring the folder to what the options say and return the module's result.

    :param params: the module's parameters
    :param check_mode: whether nothing is changed
    :param progress: a Progress
    :raises ReportedError: when options are wrong, a step fails, or the initramfs is too large
    """
    params, found = contents.read(params, ("hardware_managers", "files"), "agent-image")
    found += _problems(params)
    if found:
        raise RefusedError(found)
    return _take(params, check_mode, progress) if params["downloads"] else _build(params, check_mode, progress)


def _problems(params: dict[str, Any]) -> list[Problem]:
    if params["downloads"]:
        given = [name for name in agent_options.BUILD_OPTIONS if params[name]]
        found = [Problem("agent-image", "", name, "an option with downloads",
                         "none: what comes from elsewhere stays as it is", "remove it, or remove downloads")
                 for name in given]
        return found + download_rules.list_problems("downloads", params["downloads"])
    found = agent_options.problems(params)
    if not os.path.isfile(os.path.join(params["source_dir"], _NETWORK_SCRIPT)):
        return found + [Problem("agent-image", "", "source_dir", f'"{params["source_dir"]}"', "the collection's folder "
                                "lab/agent_image", "correct it")]
    return found + _network_problems(params)


def _network_problems(params: dict[str, Any]) -> list[Problem]:
    """Return what the ramdisk's own script would refuse at boot."""
    if not params["network_data"]:
        return []
    script = _script(os.path.join(params["source_dir"], _NETWORK_SCRIPT))
    found = []
    for number, document in enumerate(params["network_data"]):
        try:
            script.files(document)
            fault = "" if script.addresses(document) else "no link with a MAC address, expected at least one"
        except (script.NetworkDataError, AttributeError, TypeError, ValueError) as exc:
            fault = str(exc)
        except KeyError as exc:
            fault = f"no {exc.args[0]}"
        if fault:
            found.append(Problem("agent-image", "", f"network_data[{number}]", f"what the agent cannot use ({fault})",
                                 "OpenStack's network_data.json", "correct it"))
            continue
        found += network_data.problems("agent-image", "", f"network_data[{number}]", document)
    return found


class _Loader(importlib.machinery.SourceFileLoader):
    """Loads a script without a compiled copy beside it: all of its folder goes into the ramdisk."""

    def set_data(self, *dummy: Any, **_options: Any) -> None:
        """Write nothing."""


def _script(path: str) -> Any:
    name = "agent_network_data"
    spec: Any = importlib.util.spec_from_file_location(name, path, loader=_Loader(name, path))
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    return script


def _build(params: dict[str, Any], check_mode: bool, progress: Any) -> dict[str, Any]:
    ramdisk = AgentRamdisk(params["source_dir"], params["cache_dir"], agent_options.base(params))
    line = agent_options.parameter_line(params)
    names = [name for name in NAMES if name != ISO or params["iso"]]
    # The same function that makes the files makes their key, from texts in place of what is in the ramdisk.
    key = _digest(RECIPE, ramdisk.key, cpio.archive(agent_options.site_files(params, "", "root:*:")), names,
                  [boot_iso.RECIPE, line] if params["iso"] else None)
    result = {"image_dir": ramdisk.directory, "kernel_parameters": line}

    def writers() -> Mapping[str, Writer]:
        if params["iso"]:
            debian_root.check_means("the ISO image", boot_iso.NEEDED_COMMANDS, boot_iso.NEEDED_FILES)
        ramdisk.build(progress)
        made = dict((name, copied(ramdisk.path(name))) for name in agent_ramdisk.FILES)
        made["initrd"] = lambda stream, _made: _write_initramfs(stream, ramdisk, params)
        if params["iso"]:
            made[ISO] = lambda stream, files: _write_iso(stream, files, line, ramdisk, progress)
        return made

    return dict(result, **_published(params, key, names, writers, check_mode, progress))


def _take(params: dict[str, Any], check_mode: bool, progress: Any) -> dict[str, Any]:
    downloads = params["downloads"]
    key = _digest(RECIPE, sorted((one["name"], one["checksum"], one["member"]) for one in downloads))

    def writers() -> Mapping[str, Writer]:
        made: dict[str, Writer] = {}
        for one in downloads:
            path = fetch.fetched(one["url"], one["checksum"], params["cache_dir"], params["ca_file"], progress)
            made[one["name"]] = _member(path, one["member"]) if one["member"] else copied(path)
        return made

    return _published(params, key, [one["name"] for one in downloads], writers, check_mode, progress)


def _member(archive: str, member: str) -> Writer:
    return lambda stream, _made: fetch.write_member(archive, member, stream)


def _published(params: dict[str, Any], key: str, names: list[str], writers: Callable[[], Any], check_mode: bool,
               progress: Any) -> dict[str, Any]:
    folder = ImageFolder(params["directory"])
    files = folder.published(key, names)
    if files is not None:
        return {"changed": False, "published": [], "files": files}
    if check_mode:
        return {"changed": True, "published": names,
                "files": dict((name, {"path": folder.path(name)}) for name in names)}
    files, published = folder.publish(key, writers(), lambda made: _check_size(params, made), progress.wrote)
    return {"changed": True, "published": published, "files": files}


def _digest(*parts: Any) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update((part if isinstance(part, bytes) else json.dumps(part).encode()) + b"\0")
    return digest.hexdigest()


def _write_initramfs(writer: IO[bytes], ramdisk: AgentRamdisk, params: dict[str, Any]) -> None:
    """Write the ramdisk and the site's files, which the kernel unpacks after it: of two with one path they win.

    An empty archive comes first, not compressed: Ironic unpacks what begins like zstd, and boot loaders cannot read
    what comes of it.
    """
    texts = dict((name, ramdisk.text(name)) for name in agent_ramdisk.KEPT)
    site = agent_options.site_files(params, texts["authorities"], texts["shadow"])
    with open(ramdisk.path("initrd"), "rb") as reader:
        writer.write(cpio.archive([]))
        shutil.copyfileobj(reader, writer)
        if site:
            writer.write(cpio.padding(writer.tell()) + cpio.archive(site, ramdisk.folders()))


def _write_iso(stream: IO[bytes], files: Mapping[str, str], parameters: str, ramdisk: AgentRamdisk,
               progress: Any) -> None:
    progress.event("Writing the ISO image")
    # Beside the ramdisk, where there is room: xorriso writes to a path, and nobody else's hands may be on it.
    with private_folder.folder("metal3-agent-iso-", os.path.dirname(ramdisk.directory)) as work:
        path = os.path.join(work, ISO)
        boot_iso.write(path, dict(files), parameters, work)
        copied(path)(stream, files)


def _check_size(params: dict[str, Any], made: Mapping[str, str]) -> None:
    size, limit = os.path.getsize(made["initrd"]) if "initrd" in made else 0, params["initramfs_limit_mb"]
    if size > limit * MB:
        raise ReportedError(
            f"initramfs: found {size // MB} MB, expected at most {limit} MB (initramfs_limit_mb); boot loaders report "
            "\"out of memory\" for a larger one on servers with little memory: remove packages or files, or raise the "
            "limit")
