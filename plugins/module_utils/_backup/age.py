# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Encryption and decryption in the format of ``age``, by the library pyrage."""
from __future__ import annotations

import io
from typing import IO, Any

from .._common.problems.errors import ReportedError
from .._common.texts.plain_text import cut, plain

try:
    import pyrage
    HAS_PYRAGE = True
except ImportError:
    HAS_PYRAGE = False

_NEXT_RECIPIENT = "correct it: it is a public key, age1… or ssh-ed25519 … or ssh-rsa …"
_NEXT_IDENTITY = "give a file that age-keygen wrote, or a secret key of ssh (ed25519, RSA) without a passphrase"


class AgeError(ReportedError):
    """A key cannot be used, or the content cannot be decrypted with it."""


def encrypt(content: bytes, recipients: list[str]) -> bytes:
    """Return content that only the owners of the recipients' identities can read.

    :param content: what is to be encrypted
    :param recipients: public keys, ``age1…`` or of ssh
    :raises AgeError: when a recipient is no such key
    """
    return pyrage.encrypt(content, _recipients(recipients))


def encrypt_stream(source: IO[bytes] | io.RawIOBase, target: IO[bytes] | io.RawIOBase, recipients: list[str]) -> None:
    """Write what a file has to another one, as :func:`encrypt` does, without keeping it all.

    :param source: file to read from; what it raises ends the encryption
    :param target: file to write to
    :param recipients: public keys
    :raises AgeError: when a recipient is no such key
    """
    keys, reading = _recipients(recipients), _Reading(source)
    try:
        pyrage.encrypt_io(reading, target, keys)
    except pyrage.EncryptError as exc:
        # The library makes a text of what its files raise.
        raise reading.error or AgeError(f"encryption failed: {_words(exc)}") from exc


class _Reading:
    """A file that keeps what was raised while it was read."""

    def __init__(self, source: IO[bytes] | io.RawIOBase) -> None:
        self._source = source
        self.error: Exception | None = None

    def read(self, size: int = -1) -> bytes:
        try:
            return self._source.read(size) or b""
        except Exception as exc:
            self.error = exc
            raise


def check_recipients(recipients: list[str]) -> None:
    """Refuse what is no public key, before anything is made to be encrypted for it.

    :raises AgeError: when a recipient is no such key
    """
    _recipients(recipients)


def _recipients(recipients: list[str]) -> list[Any]:
    keys = []
    for number, recipient in enumerate(recipients, start=1):
        kind = pyrage.ssh if recipient.startswith("ssh-") else pyrage.x25519
        try:
            keys.append(kind.Recipient.from_str(recipient.strip()))
        except pyrage.RecipientError as exc:
            raise AgeError(f"recipients[{number}]: {_words(exc)}; {_NEXT_RECIPIENT}") from exc
    return keys


def decrypt(content: bytes, identity_file: str) -> bytes:
    """Return what was encrypted.

    :param content: from :func:`encrypt`
    :param identity_file: path of the file with the secret key: lines ``AGE-SECRET-KEY-1…``, or one key of ssh
    :raises AgeError: when the identity is none of the recipients', or the content was changed
    """
    identities = _identities(identity_file)
    try:
        return pyrage.decrypt(content, identities)
    except pyrage.DecryptError as exc:
        raise _undecrypted(exc) from exc


def decrypt_stream(source: Any, target: IO[bytes] | io.RawIOBase, identity_file: str) -> None:
    """Write what was encrypted to another file, as :func:`decrypt` does, without keeping it all.

    :param source: file to read from, of which nothing but ``read`` is called
    :param target: file to write to
    :param identity_file: path of the file with the secret key
    :raises AgeError: when the identity is none of the recipients', or the content was changed
    """
    identities = _identities(identity_file)
    try:
        pyrage.decrypt_io(source, target, identities)
    except pyrage.DecryptError as exc:
        raise _undecrypted(exc) from exc
    except OSError as exc:
        # What is wrong with a later part of the content has no number, other than what the disk says.
        if exc.errno is not None:
            raise
        raise _undecrypted(exc) from exc


def _undecrypted(exc: Exception) -> AgeError:
    return AgeError(f"decryption failed: {_words(exc)}; identity_file: take the secret key of one of its recipients, "
                    "and the backup as it was written")


def _identities(path: str) -> list[Any]:
    try:
        with open(path, "rb") as stream:
            content = stream.read()
    except OSError as exc:
        raise AgeError(f"identity_file: {path}: {exc.strerror}; {_NEXT_IDENTITY}") from exc
    lines = [line.strip() for line in content.decode(errors="replace").splitlines()]
    try:
        if any(line.startswith("-----BEGIN") for line in lines):
            return [pyrage.ssh.Identity.from_buffer(content)]
        found = [pyrage.x25519.Identity.from_str(line) for line in lines if line and not line.startswith("#")]
    except pyrage.IdentityError as exc:
        raise AgeError(f"identity_file: {path}: {_words(exc)}; {_NEXT_IDENTITY}") from exc
    if not found:
        raise AgeError(f"identity_file: {path}: holds no key; {_NEXT_IDENTITY}")
    return found


def _words(exc: Exception) -> str:
    """Return the library's words, which never have a key in them, as plain text."""
    return cut(plain(str(exc)), 200)
