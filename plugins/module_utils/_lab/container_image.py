# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes container images as archives that "ctr images import" and "docker load" read, byte by byte reproducible."""
from __future__ import annotations

import hashlib
import io
import json
import os
import posixpath
import tarfile
from collections import namedtuple
from collections.abc import Sequence
from typing import Any

from .._common.files import file_digest
from .._plane.process.service_unit import SEARCH_PATH

# One thing in an image: a file of this machine, or a symbolic link. ``path`` is absolute, as in the container.
File = namedtuple("File", ["path", "source"])
Link = namedtuple("Link", ["path", "target"])

ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}


def image_config(architecture: str, layer_digests: Sequence[str], entrypoint: list[str], command: Sequence[str] = (),
                 user: str = "") -> bytes:
    """Return an image's configuration, OCI's application/vnd.oci.image.config.v1+json, as bytes.

    :param architecture: the kernel's name of it, for example ``x86_64``
    :param layer_digests: SHA-256 of each uncompressed layer, hexadecimal, the lowest first
    :param entrypoint: list of texts
    :param command: list of texts, the entry point's default arguments
    :param user: number or ``number:number``; root when left out
    """
    process: dict[str, Any] = {"Entrypoint": list(entrypoint), "Env": ["PATH=" + SEARCH_PATH]}
    if command:
        process["Cmd"] = list(command)
    if user:
        process["User"] = user
    return json.dumps({
        "architecture": ARCHITECTURES[architecture],
        "os": "linux",
        "config": process,
        "rootfs": {"type": "layers", "diff_ids": ["sha256:" + digest for digest in layer_digests]},
    }, sort_keys=True).encode()


def _header(name: str, mode: int) -> Any:
    info = tarfile.TarInfo(name)
    info.mode = mode
    return info


def _directories(paths: dict[str, Any]) -> list[str]:
    found = set()
    for path in paths:
        parent = posixpath.dirname(path)
        while parent.strip("/"):
            found.add(parent)
            parent = posixpath.dirname(parent)
    return sorted(found)


def write_layer(stream: Any, contents: list[Any]) -> None:
    """Write a layer: the contents, the folders they need, and ``/tmp``; all of it root's, at time 0.

    :param stream: binary file to write to
    :param contents: list of File and Link; of two with the same path the first counts
    """
    unique = {}
    for content in contents:
        unique.setdefault(content.path, content)
    with tarfile.open(fileobj=stream, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for path in sorted(set(_directories(unique)) | {"/tmp"}):
            info = _header(path.lstrip("/"), 0o1777 if path == "/tmp" else 0o755)
            info.type = tarfile.DIRTYPE
            archive.addfile(info)
        for path in sorted(unique):
            content = unique[path]
            info = _header(path.lstrip("/"), 0o755)
            if isinstance(content, Link):
                info.type, info.linkname = tarfile.SYMTYPE, content.target
                archive.addfile(info)
                continue
            with open(content.source, "rb") as file:
                info.size = os.fstat(file.fileno()).st_size
                info.mode = 0o755 if os.fstat(file.fileno()).st_mode & 0o111 else 0o644
                archive.addfile(info, file)


def write_archive(path: str, reference: str, contents: list[Any], entrypoint: list[str], architecture: str,
                  command: Sequence[str] = (), user: str = "") -> str:
    """Write an image of one layer.

    :param path: file to write
    :param reference: the image's name with its tag
    :param contents: list of File and Link
    :param entrypoint: list of texts
    :param architecture: the kernel's name of it
    :param command: see image_config()
    :param user: see image_config()
    :returns: the layer's digest, ``sha256:...``
    """
    layer = path + ".layer"
    try:
        with open(layer, "wb") as stream:
            write_layer(stream, contents)
        digest = file_digest.digest(layer)
        config = image_config(architecture, [digest], entrypoint, command, user)
        config_name = hashlib.sha256(config).hexdigest() + ".json"
        layer_name = digest + "/layer.tar"
        manifest = json.dumps([{"Config": config_name, "RepoTags": [reference], "Layers": [layer_name]}]).encode()
        with tarfile.open(path, "w", format=tarfile.GNU_FORMAT) as archive:
            for name, data in ((config_name, config), ("manifest.json", manifest)):
                info = _header(name, 0o644)
                info.size = len(data)
                archive.addfile(info, io.BytesIO(data))
            info = _header(layer_name, 0o644)
            info.size = os.path.getsize(layer)
            with open(layer, "rb") as file:
                archive.addfile(info, file)
    finally:
        if os.path.exists(layer):
            os.unlink(layer)
    return "sha256:" + digest
