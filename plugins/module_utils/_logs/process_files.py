# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads what a plane that runs as processes has on this machine: its secrets, its logs, those of deploy agents."""
from __future__ import annotations

import errno

from . import secret_values
from .collected import Collected
from .folders import files_below, newest_part
from .log_texts import text_of, unpacked, whole_lines

_DEPLOY = "log/deploy"
_SECRET_LIMIT_BYTES = 1024 ** 2
# What the names of files alone may bring about.
_OF_NAMES = (errno.ENOTDIR, errno.EISDIR, errno.EEXIST, errno.ENAMETOOLONG)


class ProcessFiles:
    """The folder of such a plane.

    :param collected: what is written
    :param folder: its path
    :param limit: how many bytes of a log are read
    """

    def __init__(self, collected: Collected, folder: str, limit: int) -> None:
        self._collected, self._folder, self._limit = collected, folder, limit

    def secrets(self) -> set[str]:
        """Return the values of the plane's secrets.

        :raises OSError: when they can't be read
        """
        together: dict[str, dict[str, str]] = {}
        try:
            paths = list(files_below(self._folder, "secrets"))
        except FileNotFoundError as exc:
            if exc.filename == self._folder:
                raise
            paths = []
        for path in paths:
            place, _slash, name = path.rpartition("/")
            content, _is_longer = newest_part(self._folder, f"secrets/{path}", _SECRET_LIMIT_BYTES)
            together.setdefault(place, {})[name] = content.decode("utf-8", "replace")
        return set().union(*map(secret_values.of_texts, together.values()))

    def write_logs(self, since: float) -> None:
        """Write the logs of the plane's processes and of deploy agents.

        :param since: leave out logs of agents that are older, seconds since 1970
        """
        for path in self._found("log", 0):
            if "/" not in path and path.endswith(".log"):
                self._process_log(path)
        for path in self._found(_DEPLOY, since):
            self._deploy_log(path)

    def _found(self, inner: str, since: float) -> list[str]:
        try:
            return list(files_below(self._folder, inner, since))
        except OSError as exc:
            # Not each plane has written logs of the deploy agent.
            if inner != _DEPLOY or not isinstance(exc, FileNotFoundError):
                self._collected.leave_out(
                    f"{self._folder}/{inner}", f"found {exc.strerror}, expected a folder; correct process_dir", "files")
            return []

    def _read(self, path: str) -> tuple[bytes, bool] | None:
        try:
            return newest_part(self._folder, path, self._limit)
        except OSError as exc:
            self._collected.leave_out(f"{self._folder}/{path}", f"{exc.strerror}", "files")
            return None

    def _process_log(self, path: str) -> None:
        found = self._read(f"log/{path}")
        if found is None:
            return
        target = self._collected.paths.of(("process",), path[:-len(".log")], ".log")
        self._collected.files.append(self._collected.written(target, whole_lines(found[0], found[1], False)))
        if found[1]:
            self._collected.shortened.append(target)

    def _deploy_log(self, path: str) -> None:
        found = self._read(f"{_DEPLOY}/{path}")
        if found is None:
            return
        content, is_longer = found
        steps = ["process", "deploy", *path.split("/")]
        if is_longer:
            self._collected.leave_out(f"{_DEPLOY}/{path}", "it has more than limit_mebibytes; raise it", "deploy logs")
            return
        archive = unpacked(content, self._limit)
        if archive is None:
            self._write_if_text(steps, f"{_DEPLOY}/{path}", text_of(content))
            return
        for part in archive[0]:
            self._write_if_text([*steps, *part.name.split("/")], f"{_DEPLOY}/{path}: {part.name}", part.text)
        if archive[1]:
            self._collected.leave_out(
                f"{_DEPLOY}/{path}", "not all of it: its files have more than limit_mebibytes, or are too many, or it "
                "is broken; raise it", "deploy logs")

    def _write_if_text(self, steps: list[str], what: str, text: str | None) -> None:
        if text is None:
            self._collected.leave_out(what, "it is no text, in which secrets could be hidden", "no text")
            return
        try:
            self._collected.files.append(self._collected.written(self._collected.paths.of(steps[:-1], steps[-1]), text))
        except OSError as exc:
            # Names of an archive may be a file and a folder at once. A full disk ends the run.
            if exc.errno not in _OF_NAMES:
                raise
            self._collected.leave_out(what, f"its name has no place beside the others: {exc.strerror}", "deploy logs")
