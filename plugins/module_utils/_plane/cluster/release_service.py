# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads a part's manifests out of a registry's artifact, or of a clusterctl repository that is a folder or a URL."""
from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from ..._common.documents.document_text import from_json
from ..._common.files import file_digest, regular_file
from ..._common.options.field_checks import DIGEST, DIGEST_RULE
from ..._common.redaction.redaction import redacted
from ..._common.transfer import registry
from ..parts.catalogue import Part
from . import release
from .release import Refused

# More than ten times what the largest of them has.
LONGEST_BYTES = 64 * 1024 * 1024
_URL = ("https://", "http://")

Fetch = Callable[[str, int], bytes]


class Files(NamedTuple):
    """What is read of a release.

    :ivar manifests: the part's
    :ivar metadata: contents of its ``metadata.yaml``, or None
    """

    manifests: bytes
    metadata: bytes | None


def is_url(source: str) -> bool:
    """Return whether a source of manifests is asked by HTTP."""
    return source.startswith(_URL)


def is_release(source: str) -> bool:
    """Return whether manifests are to be found in a release, and are no file of their own.

    :param source: the option ``manifests``
    """
    return release.is_artifact(source) or (
        source.endswith("/") if is_url(source) else os.path.isdir(os.path.expanduser(source)))


def read(part: Part, settings: Mapping[str, Any], version: str, fetch: Callable[[], Fetch]) -> Files:
    """Return the files of a release, each with the checksum that it must have.

    :param settings: the part's, with ``manifests`` and ``checksums``
    :param version: of the release
    :param fetch: returns what takes a URL and the most bytes it may have, and returns them
    :raises Refused: when they cannot be read, or are others
    """
    source, checksums = settings["manifests"], settings.get("checksums") or {}
    if settings.get("checksum"):
        raise Refused("checksum", settings["checksum"], "none with a release of several files",
                      "set checksums, or name the digest behind oci://…@")
    if release.is_artifact(source):
        if checksums:
            raise Refused("checksums", ", ".join(sorted(checksums)), "none with the digest of an artifact",
                          "remove checksums")
        return _artifact(part, settings, release.artifact(source))
    wrong = sorted(name for name, checksum in checksums.items() if not DIGEST.fullmatch(str(checksum)))
    if wrong:
        raise Refused("checksums", f"{', '.join(wrong)} without a checksum", DIGEST_RULE, "set it to that of the file")
    read_file = _of_url if is_url(source) else _of_folder
    return read_file(part, source, version, checksums, fetch)


def of_file(path: str) -> bytes:
    """Return the contents of a file with manifests.

    :raises OSError: when it cannot be read, is something else than a file, or has too many bytes
    """
    return regular_file.whole(path, LONGEST_BYTES)


def _of_url(part: Part, source: str, version: str, checksums: Mapping[str, str], fetch: Callable[[], Fetch]) -> Files:
    # Which of the names there is nothing but the user says: some servers answer with a page for any name.
    name = release.chosen(part, checksums, "checksums")
    if part.contract and release.METADATA not in checksums:
        raise Refused("checksums", ", ".join(sorted(checksums)), f"one of {release.METADATA}, too",
                      "set it to that of the file")
    ask = fetch()

    def one(file_name: str) -> bytes:
        url = f"{source}{version}/{file_name}"
        try:
            content = ask(url, LONGEST_BYTES)
        except OSError as exc:
            raise Refused("manifests", f"{redacted(url)}: {exc.strerror or exc}", "a file that can be read",
                          "correct the URL or version") from exc
        return _verified(content, file_name, checksums)

    return Files(one(name), one(release.METADATA) if part.contract else None)


def _of_folder(part: Part, source: str, version: str, checksums: Mapping[str, str],
               _fetch: Callable[[], Fetch]) -> Files:
    folder = os.path.expanduser(source)
    try:
        there = sorted(name for name in os.listdir(folder) if os.path.isdir(os.path.join(folder, name)))
        if version not in there:
            raise Refused("version", version, f"one that the repository has: {', '.join(there[:12]) or 'none'}",
                          "correct version or manifests")
        offered = os.listdir(os.path.join(folder, version))
        name = release.chosen(part, offered, "manifests")

        def one(file_name: str) -> bytes:
            return _verified(of_file(os.path.join(folder, version, file_name)), file_name, checksums)

        return Files(one(name), one(release.METADATA) if release.METADATA in offered else None)
    except OSError as exc:
        raise Refused("manifests", f"{exc.filename}: {exc.strerror}", "a clusterctl repository that can be read",
                      "correct the path") from exc


def _verified(content: bytes, name: str, checksums: Mapping[str, str]) -> bytes:
    found = file_digest.checksum_of(content)
    if checksums.get(name, found) != found:
        raise Refused("checksums", f"{name}: {found}", checksums[name], "find out who changed the file")
    return content


def _artifact(part: Part, settings: Mapping[str, Any], where: release.Artifact) -> Files:
    name = f"{where.path}@{where.digest}"
    access = registry.Registry(where.host, settings.get("manifests_ca_file"), settings.get("manifests_username_file"),
                               settings.get("manifests_password_file"))
    try:
        raw = registry.manifest(access, name)
        if raw is None:
            raise Refused("manifests", f"nothing in the registry at {where.host}/{name}", "an artifact",
                          "correct the name or digest")
        if file_digest.checksum_of(raw) != where.digest:
            raise Refused("manifests", f"another manifest at {where.host}/{name}", "one with this digest",
                          "find out what the registry changes")
        return _files(part, raw, access, where)
    except (registry.RegistryError, OSError) as exc:
        raise Refused("manifests", str(exc), "an artifact that can be read", "correct manifests, manifests_ca_file, "
                      "manifests_username_file and manifests_password_file, or run again") from exc
    except ValueError as exc:
        raise Refused("manifests", f"{where.host}/{name}: {exc}",
                      "an artifact of named files, as oras pushes it", "name the manifest of such an artifact") from exc


def _files(part: Part, raw: bytes, access: registry.Registry, where: release.Artifact) -> Files:
    manifest = from_json(raw)
    layers = release.files_of(manifest)
    name = release.chosen(part, layers, "manifests")
    size = release.size_bytes(manifest)
    if size > LONGEST_BYTES:
        raise ValueError(f"{size} bytes, more than {LONGEST_BYTES}")
    with tempfile.TemporaryDirectory() as work:
        directory = os.path.join(work, "artifact")
        os.mkdir(directory, mode=0o700)
        registry.fetch_artifact(access, where.path, where.digest, directory, LONGEST_BYTES)

        def one(layer: release.Layer) -> bytes:
            with open(os.path.join(directory, layer.digest.partition(":")[2]), "rb") as stream:
                content = stream.read(LONGEST_BYTES)
            if file_digest.checksum_of(content) != layer.digest:
                raise ValueError(f"a layer that is not {layer.digest}")
            return content

        metadata = layers.get(release.METADATA)
        return Files(one(layers[name]), one(metadata) if metadata else None)
