# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Encryption and decryption by the program ``age``: content by pipes, never in arguments or files."""
from __future__ import annotations

import shutil
import subprocess

from .._common.errors import ReportedError
from .._common.plain_text import cut, plain

_SECONDS = 600


class AgeError(ReportedError):
    """``age`` is not there, or refuses."""


def encrypt(content: bytes, recipients: list[str]) -> bytes:
    """Return content that only the owners of the recipients' identities can read.

    :param content: what is to be encrypted
    :param recipients: public keys, ``age1…`` or ssh
    :raises AgeError: when age refuses
    """
    return _run([part for recipient in recipients for part in ("--recipient", recipient)], content,
                "recipients: correct them: each is a public key, age1… or ssh-ed25519 …")


def decrypt(content: bytes, identity_file: str) -> bytes:
    """Return what was encrypted.

    :param content: from :func:`encrypt`
    :param identity_file: path of the file with the secret key
    :raises AgeError: when the identity is none of the recipients', or the content was changed
    """
    return _run(["--decrypt", "--identity", identity_file], content,
                "identity_file: take the secret key of one of its recipients, and the backup as it was written")


def _run(arguments: list[str], content: bytes, next_step: str) -> bytes:
    program = shutil.which("age")
    if program is None:
        raise AgeError("age: found no such program, expected it on the PATH; install the package age")
    try:
        done = subprocess.run([program, *arguments], input=content, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              check=False, timeout=_SECONDS)
    except (OSError, subprocess.TimeoutExpired) as exc:
        raise AgeError(f"age: {type(exc).__name__}: {cut(str(exc), 200)}") from exc
    if done.returncode:
        words = cut(" ".join(plain(done.stderr.decode(errors="replace")).split()), 300)
        raise AgeError(f"age: ended with code {done.returncode}: {words}; {next_step}")
    return done.stdout
