# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the library encrypts the program ``age`` decrypts, and the other way round; keys that cannot be used."""
from __future__ import annotations

import io
import subprocess

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._backup import age

CONTENT = b"what a plane manages\n" * 1000


def run(*command, content=b""):
    return subprocess.run(command, input=content, capture_output=True, check=True).stdout


def of_age(folder, name="identity"):
    """Return the path of a secret key, and the public one."""
    path = folder / name
    run("age-keygen", "-o", str(path))
    return path, run("age-keygen", "-y", str(path)).decode().strip()


def of_ssh(folder, kind, passphrase=""):
    path = folder / kind
    run("ssh-keygen", "-q", "-t", kind, "-N", passphrase, "-f", str(path))
    return path, path.with_suffix(".pub").read_text()


@pytest.mark.parametrize("kind", ["age", "ed25519", "rsa"])
def test_the_program_and_the_library_read_each_other(tmp_path, kind):
    identity, recipient = of_age(tmp_path) if kind == "age" else of_ssh(tmp_path, kind)
    encrypted = age.encrypt(CONTENT, [recipient])
    assert CONTENT[:20] not in encrypted
    assert run("age", "--decrypt", "--identity", str(identity), content=encrypted) == CONTENT
    assert age.decrypt(run("age", "--recipient", recipient.strip(), content=CONTENT), str(identity)) == CONTENT


def test_each_of_the_recipients_reads_it_and_a_file_may_hold_several_keys(tmp_path):
    (first, one), (second, two), (third, three) = (of_age(tmp_path, name) for name in "abc")
    encrypted = age.encrypt(CONTENT, [one, two])
    assert age.decrypt(encrypted, str(second)) == CONTENT
    with pytest.raises(age.AgeError, match="No matching keys found; identity_file: take the secret key of one of its"):
        age.decrypt(encrypted, str(third))
    (tmp_path / "both").write_text(third.read_text() + "\n" + first.read_text())
    assert age.decrypt(encrypted, str(tmp_path / "both")) == CONTENT
    assert age.decrypt(age.encrypt(CONTENT, [three]), str(tmp_path / "both")) == CONTENT


@pytest.mark.parametrize("recipient", ["age1wrong", "ssh-ed25519 wrong", "ssh-dss AAAA", "text", ""])
def test_a_recipient_that_is_no_public_key_is_named_by_its_number(tmp_path, recipient):
    with pytest.raises(age.AgeError, match=r"recipients\[2\]: .*; correct it"):
        age.encrypt(CONTENT, [of_age(tmp_path)[1], recipient])


@pytest.mark.parametrize("content", [
    b"", b"# only a comment\n", b"text\n", b"\xff\xfe\x00", b"-----BEGIN OPENSSH PRIVATE KEY-----\n"])
def test_a_file_without_a_usable_key_is_named(tmp_path, content):
    path = tmp_path / "identity"
    path.write_bytes(content)
    with pytest.raises(age.AgeError, match=f"identity_file: {path}: .*; give a file that age-keygen wrote"):
        age.decrypt(age.encrypt(CONTENT, [of_age(tmp_path, "other")[1]]), str(path))


def test_a_missing_file_and_a_key_with_a_passphrase_are_named(tmp_path):
    encrypted = age.encrypt(CONTENT, [of_age(tmp_path)[1]])
    with pytest.raises(age.AgeError, match="absent: No such file or directory"):
        age.decrypt(encrypted, str(tmp_path / "absent"))
    with pytest.raises(age.AgeError, match="without a passphrase"):
        age.decrypt(encrypted, str(of_ssh(tmp_path, "ed25519", "secret")[0]))


def test_no_error_quotes_a_secret_key(tmp_path):
    identity, dummy = of_age(tmp_path)
    secret = identity.read_text().splitlines()[-1]
    (tmp_path / "cut").write_text(secret[:-3])
    for use in (lambda: age.encrypt(CONTENT, [secret]), lambda: age.decrypt(CONTENT, str(tmp_path / "cut"))):
        with pytest.raises(age.AgeError) as error:
            use()
        assert secret[16:-6] not in str(error.value)


def test_a_later_part_that_was_changed_or_lacks_is_named_and_so_is_a_full_disk(tmp_path):
    identity, recipient = of_age(tmp_path)
    encrypted = age.encrypt(CONTENT * 20, [recipient])
    for content in (encrypted[:-1], encrypted[:-1] + b"\0", encrypted + b"\0"):
        with pytest.raises(age.AgeError, match=r"decryption failed.*the backup as it was written"):
            age.decrypt_stream(io.BytesIO(content), io.BytesIO(), str(identity))
    with open("/dev/full", "wb", buffering=0) as full, pytest.raises(OSError, match="No space left"):
        age.decrypt_stream(io.BytesIO(encrypted), full, str(identity))
