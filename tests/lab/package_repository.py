# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A flat repository of Debian packages, signed with a key of its own, as Kubernetes' own repository is laid out."""
from __future__ import annotations

import contextlib
import hashlib
import shutil
import subprocess
import tempfile
from email.utils import formatdate
from pathlib import Path

ARCHITECTURE = "amd64"


class Signer:
    """An OpenPGP key of the test's.

    :param home: folder of GnuPG, with a short path: a socket is in it
    """

    def __init__(self, home):
        self._home = home
        self._gpg("--quick-generate-key", "Packages of a test <packages@example.org>", "ed25519", "sign", "never")

    def _gpg(self, *arguments):
        return subprocess.run(
            ["gpg", "--homedir", self._home, "--batch", "--quiet", "--pinentry-mode", "loopback", "--passphrase", "",
             *arguments], check=True, capture_output=True, text=True).stdout

    @property
    def public_key(self):
        """The key in ASCII armour."""
        return self._gpg("--armor", "--export")

    @property
    def identifier(self):
        """The end of its fingerprint, by which apt names it."""
        lines = self._gpg("--with-colons", "--list-keys").splitlines()
        return next(line.split(":")[9] for line in lines if line.startswith("fpr:"))[-16:]

    def sign(self, text, target):
        """Write a text with its signature."""
        plain = target.with_suffix(".plain")
        plain.write_text(text)
        target.unlink(missing_ok=True)
        self._gpg("--clear-sign", "--output", str(target), str(plain))
        plain.unlink()


@contextlib.contextmanager
def signer():
    """A new key, and none of GnuPG's processes afterwards."""
    home = tempfile.mkdtemp(prefix="gpg")
    try:
        yield Signer(home)
    finally:
        subprocess.run(["gpgconf", "--homedir", home, "--kill", "all"], check=True)
        shutil.rmtree(home)


def add_package(folder, name, version, files, depends=()):
    """Write a package to the repository's folder.

    :param files: {absolute path: (contents as bytes or path of a file, permissions)}
    """
    with tempfile.TemporaryDirectory() as work:
        root = Path(work, "root")
        for path, (contents, mode) in files.items():
            target = root / path.lstrip("/")
            target.parent.mkdir(parents=True, exist_ok=True)
            if isinstance(contents, bytes):
                target.write_bytes(contents)
            else:
                shutil.copyfile(contents, target)
            target.chmod(mode)
        control = root / "DEBIAN" / "control"
        control.parent.mkdir(parents=True)
        control.write_text(
            f"Package: {name}\nVersion: {version}\nArchitecture: {ARCHITECTURE}\nMaintainer: a test <a@example.org>\n"
            + (f"Depends: {', '.join(depends)}\n" if depends else "") + "Description: package of a test\n")
        subprocess.run(["dpkg-deb", "--root-owner-group", "-Zgzip", "-z1", "--build", str(root),
                        str(folder / f"{name}_{version}_{ARCHITECTURE}.deb")], check=True, capture_output=True)


def publish(folder, key):
    """Write the lists of the packages in a folder, and sign them.

    :param key: a Signer
    """
    entries = []
    for path in sorted(folder.glob("*.deb")):
        control = subprocess.run(["dpkg-deb", "--field", str(path)], check=True, capture_output=True, text=True).stdout
        entries.append(f"{control}Filename: ./{path.name}\nSize: {path.stat().st_size}\nSHA256: {_digest(path)}\n")
    packages = folder / "Packages"
    packages.write_text("\n".join(entries))
    key.sign(f"Origin: a test\nDate: {formatdate(usegmt=True)}\nArchitectures: {ARCHITECTURE}\nSHA256:\n"
             f" {_digest(packages)} {packages.stat().st_size} Packages\n", folder / "InRelease")


def _digest(path):
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
