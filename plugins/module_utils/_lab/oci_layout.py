# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes container images as OCI image layouts, byte by byte reproducible, without a container engine.

Source: OCI image specification 1.0, image-layout.md and manifest.md.
"""
from __future__ import annotations

import gzip
import hashlib
import json
import os
import shutil
from collections.abc import Callable
from typing import Any, Protocol

from .._common.documents.document_text import from_json
from . import container_image

CONFIG_TYPE = "application/vnd.oci.image.config.v1+json"
MANIFEST_TYPE = "application/vnd.oci.image.manifest.v1+json"
LAYER_TYPE = "application/vnd.oci.image.layer.v1.tar+gzip"
# Go programs become little smaller at higher levels, which take several times as long.
COMPRESSION_LEVEL = 1
_CHUNK_BYTES = 1024 ** 2


class _Writable(Protocol):
    """What tarfile and gzip write to."""

    def write(self, data: bytes, /) -> int:
        """Write bytes and return how many."""

    def flush(self) -> object:
        """Have written bytes reach the file."""


class _Hashed:
    """A file to write to that computes the SHA-256 of what is written.

    :param stream: the file
    """

    def __init__(self, stream: _Writable) -> None:
        self._stream = stream
        self._digest = hashlib.sha256()
        self.size = 0

    def write(self, data: bytes) -> int:
        """Write bytes; tarfile and gzip call nothing else."""
        self._digest.update(data)
        self.size += len(data)
        return self._stream.write(data)

    def tell(self) -> int:
        """Return how many bytes were written."""
        return self.size

    def flush(self) -> None:
        """Have written bytes reach the file."""
        self._stream.flush()

    def hexdigest(self) -> str:
        """Return the SHA-256, hexadecimal."""
        return self._digest.hexdigest()


def write(directory: str, contents: list[Any], entrypoint: list[str], architecture: str, user: str = "",
          base: str = "") -> str:
    """Write an image of one layer, or of two, into a folder, which is made.

    :param directory: path of the folder
    :param contents: list of container_image.File and Link
    :param entrypoint: list of texts
    :param architecture: the kernel's name of it, for example ``x86_64``
    :param user: number or ``number:number``; root when left out
    :param base: path of a tar file that becomes the layer below; none when left out
    :returns: the manifest's digest, ``sha256:...``
    """
    blobs = os.path.join(directory, "blobs", "sha256")
    os.makedirs(blobs, mode=0o755)
    layers = [_layer(blobs, lambda stream: _copy(base, stream))] if base else []
    layers.append(_layer(blobs, lambda stream: container_image.write_layer(stream, contents)))
    config = _blob(blobs, CONFIG_TYPE, container_image.image_config(
        architecture, [digest for _descriptor, digest in layers], entrypoint, (), user))
    manifest = _blob(blobs, MANIFEST_TYPE, _json({
        "schemaVersion": 2, "mediaType": MANIFEST_TYPE, "config": config,
        "layers": [descriptor for descriptor, _digest in layers]}))
    for name, content in (("oci-layout", {"imageLayoutVersion": "1.0.0"}),
                          ("index.json", {"schemaVersion": 2, "manifests": [manifest]})):
        with open(os.path.join(directory, name), "wb") as stream:
            stream.write(_json(content))
    return manifest["digest"]


def manifest_digest(directory: str) -> str:
    """Return the digest of the one manifest of an image that was written here."""
    with open(os.path.join(directory, "index.json"), "rb") as stream:
        return from_json(stream.read())["manifests"][0]["digest"]


def _json(content: Any) -> bytes:
    return json.dumps(content, sort_keys=True, separators=(",", ":")).encode()


def _descriptor(media_type: str, digest: str, size: int) -> dict[str, Any]:
    return {"mediaType": media_type, "digest": "sha256:" + digest, "size": size}


def _blob(blobs: str, media_type: str, data: bytes) -> dict[str, Any]:
    digest = hashlib.sha256(data).hexdigest()
    with open(os.path.join(blobs, digest), "wb") as stream:
        stream.write(data)
    return _descriptor(media_type, digest, len(data))


def _copy(path: str, stream: Any) -> None:
    with open(path, "rb") as source:
        shutil.copyfileobj(source, stream, _CHUNK_BYTES)


def _layer(blobs: str, fill: Callable[[Any], None]) -> tuple[dict[str, Any], str]:
    """Write a layer; return its descriptor and the digest of what is compressed in it."""
    path = os.path.join(blobs, "layer.partial")
    with open(path, "wb") as stream:
        packed = _Hashed(stream)
        # Neither a name nor a time: gzip's header would have both.
        with gzip.GzipFile("", "wb", COMPRESSION_LEVEL, packed, mtime=0) as compressing:
            plain = _Hashed(compressing)
            fill(plain)
    shutil.move(path, os.path.join(blobs, packed.hexdigest()))
    return _descriptor(LAYER_TYPE, packed.hexdigest(), packed.size), plain.hexdigest()
