# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The file that holds generated passwords, so that none is lost: written before any is used, read by its owner only.

A JSON document, which ``ansible-playbook -e @FILE`` reads, too: ``{"bmc_new_passwords": {"rack1-01": "…"}}``.
"""
from __future__ import annotations

import json
import os
import secrets
import string
from collections.abc import Iterable, Mapping

from ..._common.documents.document_text import from_json
from ..._common.files import file_lock, regular_file, whole_file
from ..._common.options.field_checks import show
from ..._common.problems.problem import Problem

CODE = "password-file"
VARIABLE = "bmc_new_passwords"
MODE = 0o600
SHORTEST, LONGEST = 12, 64
_SIGNS = "-_."
_KINDS = (string.ascii_uppercase, string.ascii_lowercase, string.digits, _SIGNS)


class PasswordFile:
    """Passwords by host.

    :param path: of the file
    """

    def __init__(self, path: str):
        self.path = path
        self._passwords: dict[str, str] = {}

    def read(self) -> list[Problem]:
        """Read what an earlier run has written, if there is any; return what is wrong with it."""
        try:
            with regular_file.reading(self.path, follow=True) as (stream, status):
                text = stream.read().decode()
        except FileNotFoundError:
            return []
        except (OSError, UnicodeDecodeError) as exc:
            return [self._problem(str(getattr(exc, "strerror", None) or "no text"),
                                  "make it a file that you can read, or name one that does not exist")]
        if text.startswith("$ANSIBLE_VAULT"):
            return [self._problem("a file that ansible-vault has encrypted",
                                  "give its passwords as bmc_new_password of the hosts, or name another file")]
        try:
            found = from_json(text)[VARIABLE]
            if not all(isinstance(item, str) and item for pair in found.items() for item in pair):
                raise ValueError
        except (ValueError, KeyError, TypeError, AttributeError):
            return [self._problem("another file", "name one that does not exist, or one that this has written")]
        # Who could have written it would know the passwords that BMCs get; who could have read it does.
        if status.st_uid != os.geteuid() or status.st_mode & 0o077:
            return [self._problem(regular_file.owner_and_mode(status),
                                  "find out who could have written or read it; if that is nobody, make it yours and "
                                  "set its mode to 0600, else name another file")]
        self._passwords = found
        return []

    def of(self, names: Iterable[str]) -> str:
        """Return the password that the file has for the first of some hosts that it has one for, empty for none."""
        return next((self._passwords[name] for name in names if name in self._passwords), "")

    def write(self, passwords: Mapping[str, str]) -> tuple[bool, list[Problem]]:
        """Keep passwords beside those that there are by now; return whether the file has changed, and what is wrong.

        Another run may have written its own since the file was read, and BMCs may have them: none of these is lost.

        :param passwords: ``{host: password}``
        :raises OSError: when it can't be written; no password may be used then
        """
        folder, name = os.path.split(self.path)
        folder = folder or "."
        os.makedirs(folder, mode=0o700, exist_ok=True)
        with file_lock.held(os.path.join(folder, f".{name}.lock")):
            stored = PasswordFile(self.path)
            problems = stored.read() + [
                self._problem(f"another password of {host} than when it was read",
                              "wait until the other run has ended, then run again")
                for host in passwords if stored.of([host]) not in (self.of([host]), passwords[host])]
            if problems:
                return False, problems
            self._passwords = dict(stored._passwords, **passwords)
            content = json.dumps({VARIABLE: self._passwords}, indent=2, sort_keys=True) + "\n"
            before = whole_file.write(self.path, content.encode(), MODE, False)
            # What a power failure takes must not be the only copy of a password that a BMC has.
            for path in (self.path, folder):
                descriptor = os.open(path, os.O_RDONLY)
                try:
                    os.fsync(descriptor)
                finally:
                    os.close(descriptor)
        return before is not None, []

    def _problem(self, found: str, hint: str) -> Problem:
        return Problem(CODE, self.path, "password_file", show(found)[1:-1], "a file of generated passwords", hint)


def generated(length: int) -> str:
    """Return a random password with letters of both cases, digits and signs, beginning with a letter.

    :param length: number of characters
    """
    alphabet = "".join(_KINDS)
    while True:
        password = secrets.choice(string.ascii_letters) + "".join(
            secrets.choice(alphabet) for _position in range(length - 1))
        # What BMCs ask of a password's complexity.
        if all(set(password) & set(kind) for kind in _KINDS):
            return password
