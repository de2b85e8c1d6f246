# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Random credentials of a lab's parts, each in a file of its own that only its owner may read."""
from __future__ import annotations

import base64
import hashlib
import os
import secrets
import string
from collections.abc import Callable
from typing import Any

from .._common.files.whole_file import write_private

USERNAME_LENGTH = 10
PASSWORD_LENGTH = 24
# IPMI takes no longer one.
BMC_PASSWORD_LENGTH = 20
TOKEN_LENGTH = 40
SALT_BYTES = 8
LETTERS_AND_DIGITS = string.ascii_letters + string.digits

# Takes a file's path and ``created`` or ``updated``, as soon as it is written.
Wrote = Callable[[str, str], Any]


def unnoticed(path: str, action: str) -> None:
    """Take a written file for a caller who does not ask."""


def _random(alphabet: str, length: int) -> str:
    return "".join(secrets.choice(alphabet) for _position in range(length))


def _missing(path: str) -> bool:
    try:
        return os.stat(path).st_size == 0
    except FileNotFoundError:
        return True


def _ensure(path: str, alphabet: str, length: int, check_mode: bool, wrote: Wrote) -> bool:
    """Write a random text to a file unless it holds one; returns whether it didn't."""
    if not _missing(path):
        return False
    if not check_mode:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        write_private(path, _random(alphabet, length).encode())
        wrote(path, "created")
    return True


def ensure_machine_room(directory: str, check_mode: bool = False, wrote: Wrote = unnoticed) -> list[str]:
    """Choose the token for the machine room's API unless there is one.

    :param directory: the lab's folder
    :param check_mode: change nothing, only report
    :param wrote: see Wrote
    :returns: the files that were written, or would be
    """
    path = os.path.join(directory, "secrets", "machine_room_token")
    return [path] if _ensure(path, LETTERS_AND_DIGITS, TOKEN_LENGTH, check_mode, wrote) else []


def ensure_registry(directory: str, check_mode: bool = False, wrote: Wrote = unnoticed) -> list[str]:
    """Choose who may push to the registry, and write the web server's password file, unless both are there.

    :param directory: the lab's folder
    :param check_mode: change nothing, only report
    :param wrote: see Wrote
    :returns: the files that were written, or would be
    """
    user, password = (os.path.join(directory, "secrets", name) for name in ("registry_username", "registry_password"))
    written = [path for path, alphabet, length in ((user, string.ascii_lowercase, USERNAME_LENGTH),
                                                   (password, LETTERS_AND_DIGITS, PASSWORD_LENGTH))
               if _ensure(path, alphabet, length, check_mode, wrote)]
    path = os.path.join(directory, "registry", "htpasswd")
    if written or _missing(path) or not _fits(_read(path), _read(user), _read(password)):
        written.append(path)
        if not check_mode:
            os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
            write_private(path, _entry(_read(user), _read(password), secrets.token_bytes(SALT_BYTES)).encode())
            wrote(path, "updated")
    return written


def _read(path: str) -> str:
    with open(path, encoding="utf-8") as stream:
        return stream.read().strip()


def _entry(username: str, password: str, salt: bytes) -> str:
    # RFC 2307's scheme, which nginx checks without waiting: the password is random and long.
    digest = hashlib.sha1(password.encode() + salt).digest()
    return f"{username}:{{SSHA}}{base64.b64encode(digest + salt).decode()}\n"


def _fits(entry: str, username: str, password: str) -> bool:
    try:
        salt = base64.b64decode(entry.partition("{SSHA}")[2], validate=True)[hashlib.sha1().digest_size:]
    except ValueError:
        return False
    return entry == _entry(username, password, salt).strip()


def ensure_bmc(servers: list[dict[str, Any]], check_mode: bool = False, wrote: Wrote = unnoticed) -> list[str]:
    """Choose user name and password of each server's BMC that has none yet.

    :param servers: list of servers, see servers.py
    :param check_mode: change nothing, only report
    :param wrote: see Wrote
    :returns: the files that were written, or would be
    """
    written = []
    for server in servers:
        for field, alphabet, length in (
            ("username_file", string.ascii_lowercase, USERNAME_LENGTH),
            ("password_file", LETTERS_AND_DIGITS, BMC_PASSWORD_LENGTH),
        ):
            path = server["bmc"][field]
            if _ensure(path, alphabet, length, check_mode, wrote):
                written.append(path)
    return written
