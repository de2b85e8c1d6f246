# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Files of encrypted backups: their names and records, what is asked of the options for them, and which are kept.

A backup has a record beside it, which only its own run writes: how long it is, its digest, and whether it can be used.
The backup itself says so only to the owner of a secret key, which belongs on another machine.
"""
from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from .._common.documents.document_text import from_json
from .._common.files import file_digest, regular_file, whole_file
from .._common.problems.problem import Problem
from .._common.texts.plain_text import few

FORMAT = 1
_RECORD = re.compile(r"\.(.+\.age)\.json")
_RECORD_BYTES = 64 * 1024
_SHOWN = 5


class _Record(NamedTuple):
    """What was kept of a backup.

    :ivar bytes: how long its file is
    :ivar sha256: its digest, hexadecimal
    :ivar usable: whether all that was asked for has shown that it can be used
    """

    bytes: int
    sha256: str
    usable: bool


class Outdated(NamedTuple):
    """What goes once another backup is there.

    :ivar paths: of backups, oldest first
    :ivar records: paths of records whose backups are gone
    :ivar warnings: of files that nothing is known of
    """

    paths: list[str]
    records: list[str]
    warnings: list[str]


def argument_spec() -> dict[str, dict[str, Any]]:
    """Return the options of a module that writes such files; documented in the fragment ``backup``."""
    return {
        "directory": {"type": "path", "required": True},
        "recipients": {"type": "list", "elements": "str", "required": True},
        "identity_file": {"type": "path"},
        "keep": {"type": "int"},
    }


def option_problems(recipients: list[str], keep: int | None) -> list[Problem]:
    """Return what is wrong with the options ``recipients`` and ``keep``."""
    problems = []
    if keep is not None and keep < 1:
        problems.append(Problem("backup-keep", "", "keep", keep, "at least 1", "leave it out to keep all"))
    if not recipients:
        problems.append(Problem("backup-recipients", "", "recipients", "none", "at least one public key of age",
                                "make a pair by age-keygen, and keep the secret key elsewhere"))
    return problems


def prefix_of(what: str, uid: str) -> str:
    """Return the prefix of the names of one cluster's backups, so that others in the same folder are left alone.

    :param what: what is backed up, for example a namespace; clusters often have some of the same name
    :param uid: of the cluster's Namespace ``kube-system``
    """
    # An API server says what it likes; this becomes part of a path.
    return f"{what}.{hashlib.sha256(uid.encode()).hexdigest()[:8]}"


def name_of(prefix: str, taken_at: str) -> str:
    """Return the name of a backup's file; names with one prefix sort by time.

    :param prefix: from :func:`prefix_of`
    """
    return f"{prefix}-{taken_at.replace(':', '')}.age"


def outdated_in(directory: str, prefix: str, keep: int | None, name: str) -> Outdated:
    """Return which backups of a folder go once another one is there.

    Backups are counted and deleted by the records that were written with them: whoever copies a file into the folder,
    renames one or writes over it has a reason, and a name is no backup.

    :param directory: path of the folder, which may be missing
    :param prefix: as :func:`name_of` takes it
    :param keep: how many are kept; None for all
    :param name: of the new one, which need not be there yet
    :raises OSError: when the folder can't be read
    """
    if keep is None or not os.path.isdir(directory):
        return Outdated([], [], [])
    names = os.listdir(directory)
    # Another prefix may begin with this one.
    pattern = re.compile(re.escape(prefix) + r"-\d{4}-\d{2}-\d{2}T\d{6}Z\.age")
    found = [other for other in sorted(names) if pattern.fullmatch(other) and other != name]
    records = dict((other, _record_of(directory, other)) for other in found)
    # A clock that was wrong has made those that are younger than the new one: they would be the newest for years.
    usable = [other for other, known in records.items() if known is not None and known.usable and other < name]
    outdated = _outdated([*usable, name], [other for other, known in records.items() if known is not None], keep)
    going = [other for other in outdated if _has_content(os.path.join(directory, other), records[other])]
    unknown = [other for other in found if records[other] is None or (other in outdated and other not in going)]
    left = [hidden for hidden in sorted(names) for other in [_of_record(hidden)]
            if pattern.fullmatch(other) and other < name and other not in names]
    warnings = [f"{directory}: {len(unknown)} files have names of backups, and no record of a run that has written "
                f"what they hold ({few(unknown, _SHOWN)}): they neither count nor are deleted; delete those that "
                "nobody needs"] if unknown else []
    return Outdated([os.path.join(directory, other) for other in going],
                    [os.path.join(directory, hidden) for hidden in left], warnings)


def _outdated(usable: Iterable[str], recorded: Iterable[str], keep: int) -> list[str]:
    """Return the names of backups that are older than the oldest one that is kept, oldest first.

    One that cannot be used takes no other one's place, and goes with those of its time.

    :param usable: names of backups that count
    :param recorded: names of all backups
    :param keep: how many are kept
    """
    kept = sorted(usable)[-keep:]
    return [name for name in sorted(recorded) if name < kept[0]] if len(kept) == keep else []


def record(path: str, size: int, sha256: str, usable: bool) -> None:
    """Write the record of a backup: before its file, and again when it has shown that it can be used.

    :param path: of the backup
    :param size: how long it is
    :param sha256: its digest, hexadecimal
    :param usable: whether it can be used
    :raises OSError: when it can't be written
    """
    text = json.dumps({"format": FORMAT, "name": os.path.basename(path),
                       **_Record(size, sha256, usable)._asdict()}, sort_keys=True)
    if usable:
        # Others go for it: a machine that loses its power then would have neither.
        _store(path)
    whole_file.write_private(_record_path(path), text.encode() + b"\n")


def _store(path: str) -> None:
    """Have a file, and its name, on the disk.

    :raises OSError: when the disk refuses
    """
    with regular_file.reading(path) as (stream, _status):
        os.fsync(stream.fileno())
    folder = os.open(os.path.dirname(path) or ".", os.O_RDONLY | os.O_DIRECTORY)
    try:
        # Not all file systems have this for folders.
        with contextlib.suppress(OSError):
            os.fsync(folder)
    finally:
        os.close(folder)


def _record_path(path: str) -> str:
    folder, name = os.path.split(path)
    # Hidden from who copies or renames what a pattern of the shell finds.
    return os.path.join(folder, f".{name}.json")


def _of_record(name: str) -> str:
    """Return the name of the backup that a record is of, empty when it is none."""
    match = _RECORD.fullmatch(name)
    return match[1] if match else ""


def _record_of(folder: str, name: str) -> _Record | None:
    """Return the record of a backup; None without one, and for a file that cannot be what was written."""
    path = os.path.join(folder, name)
    try:
        with regular_file.reading(_record_path(path)) as (stream, _status):
            data = from_json(stream.read(_RECORD_BYTES))
        with regular_file.reading(path) as (_stream, status):
            size = status.st_size
    except (OSError, ValueError):
        return None
    if not isinstance(data, Mapping) or (data.get("format"), data.get("name")) != (FORMAT, name):
        return None
    sha256, usable = data.get("sha256"), data.get("usable")
    if data.get("bytes") != size or not isinstance(sha256, str) or not isinstance(usable, bool):
        return None
    return _Record(size, sha256, usable)


def _has_content(path: str, known: _Record | None) -> bool:
    """Say whether a file still has what was written, which its name and its length do not show."""
    try:
        with regular_file.reading(path) as (stream, _status):
            return known is not None and file_digest.Digested(stream).rest() == known.sha256
    except OSError:
        return False


def remove(outdated: Outdated, progress: Any) -> list[str]:
    """Remove backups that are outdated; return those that were there: another run may have removed some already.

    :param outdated: from :func:`outdated_in`
    :param progress: a Progress
    :raises OSError: when one can't be removed
    """
    removed = []
    for path in outdated.paths:
        try:
            os.unlink(path)
        except FileNotFoundError:
            continue
        progress.wrote(path, "deleted")
        removed.append(path)
    # Last: a backup without its record would stay for ever.
    for path in [*map(_record_path, outdated.paths), *outdated.records]:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)
    return removed
