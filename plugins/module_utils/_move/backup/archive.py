# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a backup of a plane holds, and whether it can be used; pure."""
from __future__ import annotations

import gzip
import io
import json
import zlib
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from ..._common.documents.document_text import from_json
from ..._common.options.field_checks import is_name
from ..._common.problems.problem import Problem
from ..._common.texts.plain_text import plain
from ..._host.state import handed_over
from ..objects.graph import file_name, key

Object = dict[str, Any]

FORMAT = 1
# Of an unpacked backup; a host with all that belongs to it has some 50 KiB.
LIMIT_BYTES = 1024 ** 3
_LEFT_OUT = ("managedFields",)
_TEXTS = ("taken_at", "server", "plane", "namespace")


class Backup(NamedTuple):
    """A backup.

    :ivar taken_at: RFC 3339 time
    :ivar server: URL of the API server
    :ivar plane: uid of its Namespace kube-system
    :ivar namespace: name of the namespace
    :ivar objects: objects as they were read, with status, owners before what they own
    :ivar notes: of hosts that had left the plane, by their names, see ``handed_over.texts``
    """

    taken_at: str
    server: str
    plane: str
    namespace: str
    objects: list[Object]
    notes: Mapping[str, str] = {}


def packed(backup: Backup) -> bytes:
    """Return a backup as bytes, the same for the same content."""
    objects = [dict(obj, metadata=dict((name, value) for name, value in obj["metadata"].items()
                                       if name not in _LEFT_OUT)) for obj in backup.objects]
    text = json.dumps({"format": FORMAT, **backup._replace(objects=objects)._asdict()}, sort_keys=True)
    return gzip.compress(text.encode(), mtime=0)


def unpacked(content: bytes, where: str) -> tuple[Backup | None, list[Problem]]:
    """Return the backup that bytes hold, or what is wrong with them.

    :param content: what :func:`packed` returned, as anybody may have changed it
    :param where: name of its file, for messages
    """
    def wrong(found: str) -> tuple[None, list[Problem]]:
        return None, [Problem("backup-invalid", where, "", found, "a backup of plane_backup, whole",
                              "take another one")]

    try:
        with gzip.GzipFile(fileobj=io.BytesIO(content)) as stream:
            text = stream.read(LIMIT_BYTES + 1)
        if len(text) > LIMIT_BYTES:
            return wrong(f"more than {LIMIT_BYTES // 1024 ** 2} MiB")
        data = from_json(text)
    except (OSError, EOFError, ValueError, zlib.error):
        return wrong("what is no backup, or a part of one")
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        return wrong(f"format {data.get('format') if isinstance(data, dict) else None}")
    objects = data.get("objects")
    if not all(isinstance(data.get(name), str) and plain(data[name]) == data[name] for name in _TEXTS) \
            or not is_name(data["namespace"]) or not isinstance(objects, list) \
            or not all(_is_object(obj, data["namespace"]) for obj in objects):
        return wrong("entries that are no objects of one namespace")
    return Backup(data["taken_at"], data["server"], data["plane"], data["namespace"], objects,
                  handed_over.texts({"data": data.get("notes")})), []


def _is_object(obj: Any, namespace: str) -> bool:
    metadata = obj.get("metadata") if isinstance(obj, dict) else None
    return (isinstance(metadata, dict) and all(isinstance(obj.get(name), str) for name in ("apiVersion", "kind"))
            # Playbooks say what would be created as it is.
            and plain(obj["kind"]) == obj["kind"]
            and all(isinstance(metadata.get(name), str) for name in ("name", "uid")) and _has_file_name(obj)
            and metadata.get("namespace") == namespace and isinstance(metadata.get("annotations") or {}, dict)
            and isinstance(obj.get("spec") or {}, dict) and isinstance(obj.get("status") or {}, dict))


def _has_file_name(obj: Object) -> bool:
    try:
        file_name(obj)
    except ValueError:
        return False
    return True


def counts(objects: Iterable[Object]) -> dict[str, int]:
    """Return the number of objects of each kind."""
    result: dict[str, int] = {}
    for obj in sorted(objects, key=key):
        result[obj["kind"]] = result.get(obj["kind"], 0) + 1
    return result
