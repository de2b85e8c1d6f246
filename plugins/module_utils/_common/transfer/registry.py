# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Copies images and artifacts from and to registries by skopeo, with the authority and the login of each registry."""
from __future__ import annotations

import base64
import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple
from urllib.parse import urlsplit

from ..files import file_digest, private_folder
from ..problems.errors import ReportedError

SKOPEO = "skopeo"
ASK_TIMEOUT_SECONDS = 60
COPY_TIMEOUT_SECONDS = 3600
_RETRIES = 3
# A registry may send a layer without end, whatever size its manifest names.
_LARGEST_FILE_BYTES = 16 * 1024 ** 3
# What registries say of an image or a repository that they do not have: by the codes of the specification; Harbor and
# Red Hat's, whose codes skopeo does not know; and those that say it by HTTP status alone, as the specification allows.
_ABSENT = re.compile(
    r"manifest unknown|name unknown|reading manifest .*(unknown: .*not found|(StatusCode:|HTTP) 404\b)", re.IGNORECASE)
# Of the folder with a login.
_FOLDER_PREFIX = "metal3-registry-"


class RegistryError(ReportedError):
    """A registry did not do what was asked; the message says which, and what to do."""


class Registry(NamedTuple):
    """Where images are read from or written to.

    :ivar prefix: registry, and path if any, that names of images are put behind; empty for the names themselves
    :ivar ca_file: certificates of the authorities that its certificate is verified with; None for the system's
    :ivar username_file: file with a user's name; None without a login
    :ivar password_file: file with that user's password
    """

    prefix: str
    ca_file: str | None = None
    username_file: str | None = None
    password_file: str | None = None

    def reference(self, name: str) -> str:
        """Return where an image is, as skopeo takes it.

        :param name: upstream's name with its tag
        """
        return f"docker://{self.prefix.rstrip('/')}/{name}" if self.prefix else f"docker://{name}"


def parse(url: str) -> str:
    """Return the prefix that a URL stands for.

    :param url: ``https://host:port/path``, or without ``https://``
    :raises RegistryError: for one with a login, which would be in the list of processes
    """
    parts = urlsplit(url if "://" in url else "https://" + url)
    if "@" in parts.netloc:
        raise RegistryError("registry: found a URL with a login, expected https://host:port/path; set username_file "
                            "and password_file")
    return parts.netloc + parts.path.rstrip("/")


def digest(registry: Registry, name: str) -> str | None:
    """Return the digest of an image's manifest, or list of manifests, computed of what the registry has; or None.

    :param name: upstream's name with its tag
    :raises RegistryError: when the registry can't be asked
    """
    found = manifest(registry, name)
    return None if found is None else file_digest.checksum_of(found)


def manifest(registry: Registry, name: str) -> bytes | None:
    """Return the manifest, or list of manifests, of an image or artifact as the registry has it; or None.

    :param name: its name with a tag or, behind an ``@``, its digest, which is not verified here
    :raises RegistryError: when the registry can't be asked
    """
    with _options(registry, "") as options:
        done = _run(["inspect", "--raw", *options, registry.reference(name)], ASK_TIMEOUT_SECONDS)
    if done.returncode == 0:
        return done.stdout
    text = _text(done.stderr)
    if _ABSENT.search(text):
        return None
    raise RegistryError(f"{registry.reference(name)}: {text}; {_hint(text)}")


def fetch(registry: Registry, name: str, wanted: str, directory: str) -> None:
    """Copy an image of all architectures into a folder of skopeo's "dir" transport.

    :param name: upstream's name with its tag
    :param wanted: its digest, by which it is asked for: the tag may be moved meanwhile
    """
    shutil.rmtree(directory, ignore_errors=True)
    os.makedirs(directory, mode=0o700)
    source = f"{registry.reference(name).rpartition(':')[0]}@{wanted}"
    with _options(registry, "src-") as options:
        _copy([*options, source, f"dir:{directory}"], name)


def fetch_one(registry: Registry, name: str, wanted: str, directory: str) -> None:
    """Copy an image of this machine's architecture into a folder of skopeo's "dir" transport.

    :param name: upstream's name with its tag
    :param wanted: digest of the image, or of the list that has it
    """
    os.makedirs(directory, mode=0o700)
    source = f"{registry.reference(name).rpartition(':')[0]}@{wanted}"
    with _options(registry, "src-") as options:
        _copy([*options, source, f"dir:{directory}"], name, every_architecture=False)


def fetch_artifact(registry: Registry, path: str, wanted: str, directory: str, most_bytes: int) -> None:
    """Copy an artifact, which is of no architecture, into a folder of skopeo's "dir" transport.

    :param path: its name without a tag
    :param wanted: digest of its manifest
    :param most_bytes: how many bytes one of its files may have
    """
    with _options(registry, "src-") as options:
        _copy([*options, f"{registry.reference(path)}@{wanted}", f"dir:{directory}"], path, most_bytes=most_bytes)


def push(registry: Registry, name: str, directory: str) -> None:
    """Copy an image of a folder into a registry, byte for byte.

    :param name: upstream's name with its tag
    """
    with _options(registry, "dest-") as options:
        _copy([*options, f"dir:{directory}", registry.reference(name)], name)


def _copy(arguments: list[str], name: str, every_architecture: bool = True,
          most_bytes: int = _LARGEST_FILE_BYTES) -> None:
    done = _run(["copy", "--quiet", *(["--all"] if every_architecture else []), "--preserve-digests", "--retry-times",
                 str(_RETRIES), *arguments], COPY_TIMEOUT_SECONDS, most_bytes)
    if done.returncode:
        text = _text(done.stderr)
        raise RegistryError(f"{name}: {text}; {_hint(text)}")


def _run(arguments: list[str], seconds: int,
         most_bytes: int = _LARGEST_FILE_BYTES) -> subprocess.CompletedProcess[bytes]:
    if not shutil.which(SKOPEO):
        raise RegistryError(f"{SKOPEO} is missing: install the package {SKOPEO}")
    try:
        # Whose signatures are checked is no question here: digests are.
        return subprocess.run([*_limited(most_bytes), SKOPEO, "--insecure-policy", *arguments],
                              stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=seconds)
    except subprocess.TimeoutExpired as exc:
        raise RegistryError(f"{arguments[-1]}: no answer within {seconds} s; run again") from exc


def _limited(most_bytes: int) -> list[str]:
    # Of util-linux, which every Linux has.
    return ["prlimit", f"--fsize={most_bytes}", "--"] if shutil.which("prlimit") else []


@contextmanager
def _options(registry: Registry, side: str) -> Iterator[list[str]]:
    with private_folder.folder(_FOLDER_PREFIX) as work:
        login, auths = os.path.join(work, "auth.json"), {}
        if registry.username_file and registry.password_file:
            texts = []
            for path in (registry.username_file, registry.password_file):
                with open(path, encoding="utf-8") as stream:
                    texts.append(stream.read().strip())
            auths[registry.prefix.partition("/")[0]] = {"auth": base64.b64encode(":".join(texts).encode()).decode()}
        # An empty one, too, so that no login of the user's own is sent.
        with open(os.open(login, os.O_WRONLY | os.O_CREAT, 0o600), "w", encoding="utf-8") as stream:
            json.dump({"auths": auths}, stream)
        options = [f"--{side}authfile" if side else "--authfile", login]
        if registry.ca_file:
            trust = os.path.join(work, "trust")
            os.mkdir(trust)
            shutil.copyfile(registry.ca_file, os.path.join(trust, "ca.crt"))
            options += [f"--{side}cert-dir", trust]
        yield options


def _text(content: bytes) -> str:
    # logfmt, of which the message is the last field.
    text = " ".join(content.decode(errors="replace").split())
    return text.rpartition(' msg="')[2].rstrip('"') or "no answer"


def _hint(text: str) -> str:
    # By the limit of _limited().
    if "file too large" in text:
        return "find out why the registry sends a file without end"
    if "no space left on device" in text:
        # skopeo keeps layers there for a while, whatever folder they go to.
        return "free space in the work folder, in /var/tmp (or what TMPDIR names) and at the registry, then run again"
    if "toomanyrequests" in text or "too many requests" in text:
        return "wait until the registry answers again, or log in to it (username_file, password_file), then run again"
    if "certificate" in text:
        return "give the file of the authority that signed the registry's certificate"
    if re.search(r"\bproject \S+ not found", text):
        return "make the project at the registry, or correct the path behind the registry's name"
    if "nauthorized" in text or "denied" in text:
        return "correct user name and password"
    if _ABSENT.search(text):
        return "correct the image's name, or make the repository at a registry that makes none by itself"
    return "correct the registry's address, or run again"
