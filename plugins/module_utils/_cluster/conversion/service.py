# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read files of manifests, convert all of them, and write those that change."""
from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from typing import Any

from ..._common.files import regular_file, whole_file
from ..._common.problems.errors import RefusedError, ReportedError, os_errors_reported
from ..._common.problems.problem import Problem
from ..._common.redaction.redaction import hidden_difference
from ..._common.texts.plain_text import few, plain
from ..._manifests.yaml_text import text_of
from . import documents
from .documents import CODE, Document

_ENDINGS = (".yaml", ".yml")
_LIMIT = 6


def run(src: str, dest: str | None, check_mode: bool) -> dict[str, Any]:
    """Convert a file, or those of a folder and the folders in it, and return the module's result.

    :param src: path of the file or folder
    :param dest: path of the same for what is converted, None to write nothing
    :param check_mode: only say what would be written
    :raises RefusedError: with all that can't be read or converted; nothing was written then
    :raises ReportedError: when a file can't be written
    """
    files, modes, problems = {}, {}, []
    for name, path in _files(src):
        try:
            with regular_file.reading(path, follow=path == src) as (stream, status):
                modes[name] = stat.S_IMODE(status.st_mode)
                found, mistakes = documents.read(name, stream.read().decode())
        except (OSError, UnicodeDecodeError) as exc:
            problems.append(Problem(CODE, name, "", getattr(exc, "strerror", None) or "no UTF-8",
                                    "a file of YAML documents that can be read", "correct it or move it away"))
            continue
        files[name] = found
        problems += mistakes
    if problems:
        raise RefusedError(problems)
    result: dict[str, Any] = {"changed": False, "files": [_shown(name, found) for name, found in files.items()
                                                          if any(map(_concerns, found))],
                              "warnings": [line for name, found in files.items() for line in _warnings(name, found)]}
    if dest is not None:
        with os_errors_reported(dest):
            _write(src, dest, files, modes, check_mode, result)
    return result


def _files(src: str) -> list[tuple[str, str]]:
    """Return name and path of each file; names are relative to the folder."""
    if os.path.isfile(src):
        return [(os.path.basename(src), src)]
    if not os.path.isdir(src):
        raise RefusedError([Problem(CODE, "", "src", f"nothing at {src}", "a file or a folder", "correct the path")])
    found = sorted(_below(src))
    if not found:
        raise RefusedError([Problem(CODE, "", "src", f"no file ending with {' or '.join(_ENDINGS)} in {src}",
                                    "a folder with manifests", "correct the path")])
    return found


def _below(src: str) -> Iterator[tuple[str, str]]:
    def refuse(exc: OSError) -> None:
        raise ReportedError(f"{exc.filename}: {exc.strerror}, expected a folder that can be read; correct the path "
                            "or its rights") from exc

    for folder, folders, names in os.walk(src, onerror=refuse):
        # Such as .git.
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in names:
            if name.endswith(_ENDINGS):
                path = os.path.join(folder, name)
                yield os.path.relpath(path, src), path


def _concerns(document: Document) -> bool:
    return document.changes or any(converted.kept_because for _before, converted in document.objects)


def _shown(name: str, found: list[Document]) -> dict[str, Any]:
    objects = [pair for document in found for pair in document.objects]
    return {
        "path": plain(name),
        "converted": [documents.title(before) for before, converted in objects if before is not converted.obj],
        "kept": [{"object": documents.title(before), "reason": converted.kept_because}
                 for before, converted in objects if converted.kept_because],
        "lost": [{"object": documents.title(before), "field": field}
                 for before, converted in objects for field in converted.lost]}


def _warnings(name: str, found: list[Document]) -> list[str]:
    """Name what a reader of the new files would miss."""
    lines = []
    for document in found:
        for before, converted in document.objects:
            subject = plain(f"{name}: {documents.title(before)}")
            if converted.kept_because:
                lines.append(f"{subject} stays in v1beta1: {converted.kept_because}")
            if converted.lost:
                lines.append(f"{subject}: v1beta2 has no place for {few(list(converted.lost), _LIMIT)}, which is left "
                             "out")
    if any(map(documents.loses_comments, found)):
        lines.append(plain(f"{name}: comments in documents that are converted are left out"))
    return lines


def _write(src: str, dest: str, files: dict[str, list[Document]], modes: dict[str, int], check_mode: bool,
           result: dict[str, Any]) -> None:
    differences = []
    of_folder = os.path.isdir(src)
    for name, found in files.items():
        if not any(document.changes for document in found):
            continue
        path = os.path.join(dest, name) if of_folder else dest
        # Nobody reads it who may not read what it is made of.
        own = whole_file.own_mode(path)
        mode = modes[name] if own is None else modes[name] & own
        before = whole_file.write(path, documents.written(found).encode(), mode, check_mode)
        if before is None:
            continue
        result["changed"] = True
        pairs = [hidden_difference(obj, converted.obj) for document in found for obj, converted in document.objects
                 if obj is not converted.obj]
        differences.append({"before_header": path, "after_header": path,
                            "before": text_of([old for old, _new in pairs]),
                            "after": text_of([new for _old, new in pairs])})
    result["diff"] = differences
