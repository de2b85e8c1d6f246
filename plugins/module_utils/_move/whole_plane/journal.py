# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The journal of moves on the operator's machine: what was moved from where to where, for when neither plane answers.

A run never reads it: what has become of a move is decided by what both planes say. Beside it is the key of the digests
in the move's record, as long as the move is on its way: without it nobody can try out by them what a Secret holds.
"""
from __future__ import annotations

import hashlib
import json
import os
import secrets
import time
from collections.abc import Callable
from typing import Any

from ..._common.files import regular_file, whole_file
from ..._common.redaction.redaction import hidden
from ..._common.texts.formats import timestamp
from ..objects.record import Record

_MODE, _FOLDER_MODE = 0o600, 0o700
_HEX_DIGITS = 16
_SECRET_BYTES = 32


class Journal:
    """The file of one direction between two planes, to which each step adds a line of JSON.

    :param folder: where the files are; made when it is not there
    :param planes: URLs of the API servers of the plane that lets go and of the one that takes over
    :param namespace: of the hosts
    :param report: callable that takes one line of text, for live progress
    :param clock: seconds since 1970
    """

    def __init__(self, folder: str, planes: tuple[str, str], namespace: str, report: Callable[[str], Any],
                 clock: Callable[[], float] = time.time) -> None:
        self._folder, self._planes, self._namespace = folder, planes, namespace
        self._report, self._clock = report, clock

    def path(self, of: Record) -> str:
        """Return the path of a move's file; what the planes call themselves is no part of it."""
        name = hashlib.sha256(json.dumps([of.source, of.target, self._namespace]).encode()).hexdigest()
        return os.path.join(self._folder, f"{name[:_HEX_DIGITS]}.jsonl")

    def new_secret(self, of: Record) -> bytes:
        """Return a new key for the digests of a move that is about to begin.

        :raises OSError: when it can't be written; no record is then
        """
        secret = secrets.token_bytes(_SECRET_BYTES)
        os.makedirs(self._folder, _FOLDER_MODE, exist_ok=True)
        whole_file.write(self._secret_path(of), secret.hex().encode(), _MODE, False)
        return secret

    def secret(self, of: Record) -> bytes | None:
        """Return the key of a move's digests; None when this machine has none."""
        try:
            with regular_file.reading(self._secret_path(of)) as (stream, _status):
                found = bytes.fromhex(stream.read(2 * _SECRET_BYTES + 1).decode())
        except (OSError, ValueError):
            return None
        return found if len(found) == _SECRET_BYTES else None

    def forget_secret(self, of: Record) -> None:
        """Delete the key of a move that has ended."""
        try:
            os.unlink(self._secret_path(of))
        except OSError as exc:
            if not isinstance(exc, FileNotFoundError):
                self._report(f"{self._secret_path(of)}: not deleted: {exc.strerror or exc}")

    def _secret_path(self, of: Record) -> str:
        return self.path(of).removesuffix("jsonl") + "key"

    def begin(self, of: Record) -> None:
        """Note a move that is about to begin, with all that it moves.

        :raises OSError: when it can't be written; no record is then
        """
        facts = {"objects": [entry[:4] for entry in of.entries],
                 "hosts": hidden(of.hosts), "machines": hidden(of.machines)}
        self._write("begins", of, facts)
        self._report(f"journal of the move: {self.path(of)}")

    def note(self, step: str, of: Record) -> None:
        """Note what has become of a move; that it can't be written stops none."""
        try:
            self._write(step, of, {})
        except OSError as exc:
            self._report(f"journal {self.path(of)}: not written: {exc.strerror or exc}")

    def _write(self, step: str, of: Record, facts: dict[str, Any]) -> None:
        sides = [{"server": server, "uid": uid} for server, uid in zip(self._planes, (of.source, of.target))]
        line = json.dumps(dict({"at": timestamp(self._clock()), "step": step, "from": sides[0], "to": sides[1],
                                "namespace": self._namespace, "holder": of.holder}, **facts)) + "\n"
        os.makedirs(self._folder, _FOLDER_MODE, exist_ok=True)
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        with open(os.open(self.path(of), flags, _MODE), "wb") as stream:
            stream.write(line.encode())
            stream.flush()
            os.fsync(stream.fileno())
