# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A folder of images that a web server reads: files, a checksum file for each, and what they were made from.

Others than the user of the module may write into it, such as the web server. Files are made, looked at and digested in
a folder below it that nobody else can enter: one that is exchanged meanwhile would be published with its own checksum.
What the files were made from, and their checksums, is believed only of a file that nobody else could have written.
"""
from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
import stat
from collections.abc import Callable, Iterator, Mapping
from typing import IO, Any, NamedTuple

from ..._common.documents.document_text import from_json
from ..._common.files import file_digest, open_folder, regular_file, whole_file
from ..._common.problems.errors import ReportedError
from . import private_work

# What the files were made from, and their checksums; read by the next run and by whoever wants to know.
MANIFEST = "image.json"
_LARGEST_MANIFEST_BYTES = 2 ** 20
# Of folders in which files are being made, and of those that a run has left that was killed.
_TEMPORARY = ".metal3-image-"
LOCK = ".image.lock"
_MODE = 0o644
_CHUNK_BYTES = 2 ** 20

# Writes a file into a stream; it gets the paths of the files that were written before it.
Writer = Callable[[IO[bytes], Mapping[str, str]], Any]


class Taken(NamedTuple):
    """A file that is published as it is, in place of a :data:`Writer`.

    :ivar path: of a file that only this user can write to
    """

    path: str


class ImageFolder:
    """The folder and what is in it.

    :param directory: its path
    :param manifest: name of the file that says what the files were made from; each image of a folder has its own
    """

    def __init__(self, directory: str, manifest: str = MANIFEST) -> None:
        self.directory = directory
        self._manifest_name = manifest

    def path(self, name: str) -> str:
        """Return the path of a file."""
        return os.path.join(self.directory, name)

    def published(self, key: str, names: list[str], by_time: bool = False) -> dict[str, dict[str, Any]] | None:
        """Return what is known of the files when all of them are there as they were published, else None.

        :param key: what they are to be made from
        :param names: of the files
        :param by_time: whether a file with the size and the time of modification of the published one is that one,
            without being read
        """
        known = self._manifest()
        files = self._known_files()
        if known.get("key") != key or sorted(files) != sorted(names):
            return None
        for name in names:
            line = f"{files[name]['sha256']}  {name}\n"
            if not self._is_own(name) or self._read(name + ".sha256") != line:
                return None
            if not (by_time and self._is_of_the_time(name, files[name])) and \
                    file_digest.digest(self.path(name)) != files[name]["sha256"]:
                return None
        return self._described(dict((name, files[name]) for name in names))

    def key(self) -> Any:
        """Return what the published files were made from, None when that is not known."""
        return self._manifest().get("key")

    def give_name(self, name: str, other: str) -> bool:
        """Give a file another name beside its own, in place of what has that name; return whether it had it not.

        :param name: of the file
        :param other: the further name
        """
        if self.has_name(name, other):
            return False
        with self._alone(), self._work() as work:
            os.replace(_taken(self.path(name), os.path.join(work, other)), self.path(other))
        return True

    def has_name(self, name: str, other: str) -> bool:
        """Return whether a file has another name beside its own."""
        try:
            found = os.lstat(self.path(other))
        except FileNotFoundError:
            return False
        return stat.S_ISREG(found.st_mode) and os.path.samestat(os.lstat(self.path(name)), found)

    def differing(self, digests: Mapping[str, str]) -> list[str]:
        """Return the names of the files that are missing, have other contents, or could be given others by somebody.

        :param digests: name → SHA-256, hexadecimal
        """
        return [name for name, digest in digests.items()
                if not self._is_own(name) or file_digest.digest(self.path(name)) != digest]

    def publish(self, key: str, writers: Mapping[str, Writer | Taken],
                check: Callable[[Mapping[str, str]], Any], wrote: Callable[[str, str], Any]) -> Any:
        """Write the files; each gets its name when all are written.

        :param key: what they are made from
        :param writers: name → its :data:`Writer`, or the file that is :class:`Taken`
        :param check: called with the paths after each of them, before the first gets its name; raises when they
            cannot be published
        :param wrote: called with a path and ``created`` or ``updated``
        :returns: what is known of the files, and the names of those that differed
        """
        open_folder.make(self.directory)
        with self._alone():
            self._clear()
            made: dict[str, str] = {}
            with self._work() as work:
                for name, write in writers.items():
                    path = os.path.join(work, name)
                    made[name] = _taken(write.path, path) if isinstance(write, Taken) else _written(write, path, made)
                    check(made)
                files: dict[str, dict[str, Any]] = dict((name, _facts(path)) for name, path in made.items())
                differing = self.differing(dict((name, file["sha256"]) for name, file in files.items()))
                gone = [name for name in self._known_files() if name not in files]
                # Without it a run that ends between two files leaves what the next one takes for complete.
                self._unlink(self._manifest_name)
                for name, path in made.items():
                    if name in differing:
                        action = "updated" if os.path.exists(self.path(name)) else "created"
                        os.replace(path, self.path(name))
                        wrote(self.path(name), action)
                    else:
                        files[name]["modified_ns"] = os.lstat(self.path(name)).st_mtime_ns
                    self._write(name + ".sha256", f"{files[name]['sha256']}  {name}\n")
                for name in gone:
                    self._unlink(os.path.basename(name))
                    self._unlink(os.path.basename(name) + ".sha256")
                self._write(self._manifest_name,
                            json.dumps({"key": key, "files": files}, indent=1, sort_keys=True) + "\n")
        return self._described(files), differing

    def _described(self, files: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
        return dict((name, {"sha256": file["sha256"], "size_bytes": file.get("size_bytes"), "path": self.path(name)})
                    for name, file in files.items())

    def _is_own(self, name: str) -> bool:
        """Say whether there is a file that nobody else can give other contents, or any time, once it was looked at."""
        try:
            found = os.lstat(self.path(name))
        except FileNotFoundError:
            return False
        return stat.S_ISREG(found.st_mode) and not regular_file.others_may_write(found)

    def _is_of_the_time(self, name: str, file: Mapping[str, Any]) -> bool:
        found = os.lstat(self.path(name))
        return (found.st_size, found.st_mtime_ns) == (file.get("size_bytes"), file.get("modified_ns"))

    def _manifest(self) -> dict[str, Any]:
        try:
            found = from_json(self._read(self._manifest_name, own=True) or "{}")
        except ValueError:
            return {}
        return found if isinstance(found, dict) else {}

    def _known_files(self) -> dict[str, dict[str, Any]]:
        files = self._manifest().get("files")
        items = files.items() if isinstance(files, dict) else ()
        return dict((name, file) for name, file in items
                    if isinstance(file, dict) and isinstance(file.get("sha256"), str))

    def _read(self, name: str, own: bool = False) -> str | None:
        """Return what a plain file holds; None for a link or a pipe too, whose reader would wait for ever.

        :param name: of the file
        :param own: whether one that somebody else could have written counts as none
        """
        try:
            with regular_file.reading(self.path(name)) as (stream, found):
                if own and regular_file.others_may_write(found):
                    return None
                text: str = stream.read(_LARGEST_MANIFEST_BYTES).decode("utf-8", "replace")
                return text
        except OSError:
            return None

    def _write(self, name: str, text: str) -> None:
        if self._read(name) != text or stat.S_IMODE(os.lstat(self.path(name)).st_mode) != _MODE:
            with whole_file.writing(self.path(name), _MODE) as stream:
                stream.write(text.encode())

    @contextlib.contextmanager
    def _work(self) -> Iterator[str]:
        """Give a path of a new folder that nobody else can enter."""
        try:
            with private_work.made(self.directory, _TEMPORARY) as work:
                yield work
        finally:
            self._clear()

    def _clear(self) -> None:
        for name in os.listdir(self.directory):
            if name.startswith(_TEMPORARY):
                if stat.S_ISDIR(os.lstat(self.path(name)).st_mode):
                    shutil.rmtree(self.path(name), ignore_errors=True)
                else:
                    self._unlink(name)

    def _unlink(self, name: str) -> None:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.path(name))

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        """Keep other runs waiting.

        :raises ReportedError: for a lock that somebody else could hold for ever
        """
        try:
            descriptor = os.open(self.path(LOCK), os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK, 0o600)
        except OSError as exc:
            raise self._unlockable(exc.strerror or str(exc)) from exc
        with os.fdopen(descriptor, "rb+", buffering=0) as stream:
            found = os.fstat(descriptor)
            if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid():
                raise self._unlockable(regular_file.owner_and_mode(found))
            # Who may read it may lock it; earlier releases let everybody.
            os.fchmod(descriptor, 0o600)
            fcntl.flock(stream, fcntl.LOCK_EX)
            yield

    def _unlockable(self, found: str) -> ReportedError:
        return ReportedError(f"{self.path(LOCK)}: found what cannot be locked ({found}), expected a plain file of user "
                             f"{os.geteuid()} or none; find out who has made it, and delete it")


def _written(write: Writer, path: str, made: Mapping[str, str]) -> str:
    """Return the path of a new file that a writer has filled."""
    with open(path, "xb") as stream:
        write(stream, made)
        os.fchmod(stream.fileno(), _MODE)
    return path


def _taken(source: str, path: str) -> str:
    """Return another name of a file, under which it has no second copy."""
    os.link(source, path, follow_symlinks=False)
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        os.fchmod(descriptor, _MODE)
    finally:
        os.close(descriptor)
    return path


def _facts(path: str) -> dict[str, Any]:
    found = os.stat(path)
    return {"sha256": file_digest.digest(path), "size_bytes": found.st_size, "modified_ns": found.st_mtime_ns}


def copied(source: str) -> Writer:
    """Return a writer that copies a file.

    :param source: its path
    """
    def write(stream: IO[bytes], _made: Mapping[str, str]) -> None:
        with open(source, "rb") as reader:
            shutil.copyfileobj(reader, stream, _CHUNK_BYTES)

    return write
