# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a part's manifests come from: rendered from its pinned module, a file, a URL, or a release of several files."""
from __future__ import annotations

import os
import re
from collections.abc import Callable
from typing import Any

from ..._common.files import file_digest
from ..._common.options.field_checks import DIGEST, DIGEST_RULE
from ..._common.problems.errors import RefusedError
from ..._common.problems.problem import Problem
from ..._common.redaction.redaction import redacted
from ..._common.transfer.image_server import image_fetcher
from ..parts import manifests
from ..parts.catalogue import BY_NAME, INVENTORY_OWNER, Part
from ..process import engine
from . import inventory, release, release_service
from .release import Refused
from .release_service import LONGEST_BYTES

_VERSION = re.compile(r"v\d+\.\d+\.\d+\S*")

Object = dict[str, Any]


def read(wanted: list[Object], rendered: Callable[[str | None], Any],
         fetch: Callable[[str, int], bytes] | None = None) -> dict[str, tuple[list[Object], str]]:
    """Return each part's objects as they are shipped, and its version.

    :param wanted: the module's option ``parts``
    :param rendered: called with a part's own ``source_dir`` or None when it has no manifests of its own; returns an
        ``engine.Engine``
    :param fetch: callable that takes a URL and the most bytes it may have, and returns them
    :returns: part's name → objects, version
    :raises RefusedError: with what is missing or does not fit, of all parts
    """
    result: dict[str, tuple[list[Object], str]] = {}
    problems: list[Problem] = []
    pinned: dict[str | None, Any] = {}
    for settings in wanted:
        part = BY_NAME[settings["name"]]
        try:
            if settings.get("manifests"):
                result[part.name] = _own(part, settings, fetch)
                continue
            folder = settings.get("source_dir")
            if part.folder is None and not folder:
                raise Refused("manifests", None, "a file or a URL, or source_dir of this part", "set one of them")
            if folder not in pinned:
                pinned[folder] = rendered(folder)
            result[part.name] = _rendered(part, settings, pinned[folder])
        except Refused as refused:
            problems.append(Problem("part-manifests", f"part {part.name}", *refused.args))
    if problems:
        raise RefusedError(problems)
    return result


def _rendered(part: Part, settings: Object, pinned: Any) -> tuple[list[Object], str]:
    if not pinned.pins.has(part.module):
        raise Refused("source_dir", settings.get("source_dir"), f"a folder whose go.mod requires {part.module}",
                      "name the collection's lab/engine, for cert-manager its lab/engine/cert_manager")
    version = pinned.pins.version(part.module)
    if settings.get("version") not in (None, version):
        raise Refused("version", settings["version"], version, "set manifests to those of the other version")
    path = pinned.manifests_of(part)
    try:
        return manifests.load(path), version
    except OSError as exc:
        raise Refused("manifests", f"{path}: {exc.strerror}", "rendered manifests",
                      "build them by the module plane_programs") from exc


def _own(part: Part, settings: Object, given: Callable[[str, int], bytes] | None) -> tuple[list[Object], str]:
    source, version = settings["manifests"], settings.get("version")
    if not version or not _VERSION.fullmatch(version):
        raise Refused("version", version, "a version such as v1.13.5", "say which one the manifests are of")

    def fetch() -> Callable[[str, int], bytes]:
        return given or _fetcher(settings)

    if release_service.is_release(source):
        files = release_service.read(part, settings, version, fetch)
        release.check_metadata(part, version, files.metadata)
    else:
        files = release_service.Files(_content(source, settings, fetch), None)
    try:
        objects = manifests.parse(files.manifests.decode(), settings.get("variables"))
        if part.label and not any(obj["kind"] == "Provider" for obj in objects):
            objects = manifests.complete(objects, part, version)
        if part.name == INVENTORY_OWNER:
            objects = inventory.added(objects)
    # ValueError: bytes that are no text.
    except (manifests.ManifestError, ValueError, KeyError, TypeError) as exc:
        raise Refused("manifests", f"{redacted(source)}: {type(exc).__name__} {exc}", "manifests of this part",
                      "correct them") from exc
    return objects, version


def _fetcher(settings: Object) -> Callable[[str, int], bytes]:
    path = settings.get("manifests_ca_file")
    try:
        return image_fetcher(path)
    except OSError as exc:
        raise Refused("manifests_ca_file", f"{path}: {exc.strerror or exc}", "certificates of authorities, as PEM",
                      "correct it") from exc


def _content(source: str, settings: Object, fetch: Callable[[], Callable[[str, int], bytes]]) -> bytes:
    is_url, checksum = release_service.is_url(source), settings.get("checksum")
    wanted = DIGEST.fullmatch(checksum or "")
    if settings.get("checksums"):
        raise Refused("checksums", ", ".join(sorted(settings["checksums"])), "checksum with one file",
                      "set checksum; or manifests to a clusterctl repository: a folder, or a URL that ends with /")
    if (is_url or checksum) and not wanted:
        raise Refused("checksum", checksum, DIGEST_RULE, "set it to that of the manifests")
    try:
        content = fetch()(source, LONGEST_BYTES) if is_url else release_service.of_file(os.path.expanduser(source))
    except OSError as exc:
        raise Refused("manifests", f"{redacted(source)}: {exc.strerror or exc}", "manifests that can be read",
                      "correct the path or URL") from exc
    found = file_digest.checksum_of(content)
    if wanted and found != checksum:
        raise Refused("checksum", found, checksum, "find out who changed the manifests")
    return content


def pinned_by(source_dir: str | None, cache_dir: str) -> Callable[[str | None], engine.Engine]:
    """Return what :func:`read` calls for the engine.

    :param source_dir: folder with ``go.mod`` and ``go.sum`` of parts that name none, or None
    :param cache_dir: see ``user_folders.cache_dir``
    """
    def rendered(folder: str | None) -> engine.Engine:
        if not folder and not source_dir:
            raise Refused("manifests", None, "a file or a URL, or the option source_dir", "set one of them")
        return engine.Engine(folder or source_dir or "", cache_dir)
    return rendered
