# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Fills a lab's registry with the controllers' images, made from the engine's programs."""
from __future__ import annotations

import base64
import http.client
import json
import os
import shutil
import ssl
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from .._common.files import cache_entry
from .._common.files.whole_file import write_private
from .._common.problems.errors import ReportedError
from .._common.texts.formats import duration
from .._plane import images
from . import container_image, oci_layout

# Raise it when the images are made in another way than before: it is part of the cache's key.
RECIPE = "1"
ASK_TIMEOUT_SECONDS = 30
PUSH_TIMEOUT_SECONDS = 300
SIDE_BY_SIDE = 2
SKOPEO = "skopeo"


class RegistryError(ReportedError):
    """The registry could not be filled; the message says what to do."""


class Registry(NamedTuple):
    """A registry and who may write to it.

    :param url: its address, https
    :param ca_file: certificates of the authorities that its certificate is verified with
    :param username_file: file with the name of a user who may push
    :param password_file: file with that user's password
    """

    url: str
    ca_file: str
    username_file: str
    password_file: str

    @property
    def host(self) -> str:
        """Return host and port, as names of images have it."""
        return urlsplit(self.url).netloc


class ControllerImages(cache_entry.CacheEntry):
    """The controllers' images in the cache.

    :param engine_dir: folder with the programs in its ``bin``, named after what they are built from
    :param versions: program name to version of the programs there
    :param cache_dir: folder for what is slow to make, see user_folders.cache_dir()
    """

    def __init__(self, engine_dir: str, versions: Mapping[str, str], cache_dir: str) -> None:
        self._bin_dir = os.path.join(engine_dir, "bin")
        self._architecture = os.uname().machine
        self._images = images.controller_images(versions)
        key = cache_entry.key((RECIPE, self._architecture, os.path.basename(engine_dir), repr(self._images)))
        self.directory = os.path.join(cache_dir, "controller-images", key)

    def build(self, progress: Any) -> None:
        """Make the images unless they are there.

        :param progress: a Progress
        """
        with cache_entry.making(self.directory, progress) as partial:
            if partial is None:
                return
            progress.event(f"Making the container images of {len(self._images)} controllers")
            with ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
                list(pool.map(lambda image: self._write(partial, image), self._images))

    def _write(self, directory: str, image: images.ControllerImage) -> None:
        program = container_image.File(image.path, os.path.join(self._bin_dir, image.program))
        oci_layout.write(os.path.join(directory, image.program), [program], [image.path], self._architecture,
                         image.user)

    def layouts(self) -> dict[str, str]:
        """Return the folder of each image by the image's name with its tag."""
        return dict((image.reference, os.path.join(self.directory, image.program)) for image in self._images)


def missing(registry: Registry, digests: Mapping[str, str]) -> list[str]:
    """Return the names of images that a registry does not have, or has with another digest.

    :param digests: name with tag to the manifest's digest
    :raises RegistryError: when the registry does not answer
    """
    parts = urlsplit(registry.url)
    connection = http.client.HTTPSConnection(
        parts.netloc, timeout=ASK_TIMEOUT_SECONDS, context=ssl.create_default_context(cafile=registry.ca_file))
    found = []
    try:
        for reference, digest in digests.items():
            repository, _colon, tag = reference.rpartition(":")
            connection.request("HEAD", f"/v2/{repository}/manifests/{tag}", headers={
                "Accept": oci_layout.MANIFEST_TYPE, "Authorization": "Basic " + _login(registry)})
            answer = connection.getresponse()
            answer.read()
            if answer.status not in (200, 404):
                raise RegistryError(
                    f"{registry.url}: HTTP {answer.status} for {reference}, expected 200 or 404")
            if answer.status == 404 or answer.headers.get("Docker-Content-Digest") != digest:
                found.append(reference)
    except (OSError, http.client.HTTPException) as exc:
        raise RegistryError(f"{registry.url}: {exc}") from exc
    finally:
        connection.close()
    return found


def push(registry: Registry, layouts: Mapping[str, str],
         wrote: Callable[[str, str], Any] = lambda name, action: None) -> None:
    """Push images into a registry, below a folder with the name of the registry that they have upstream.

    :param layouts: name with tag to the folder of the image's OCI layout
    :param wrote: callable that takes an image's name and ``created``, called for each as soon as it is there
    :raises RegistryError: when one can't be pushed
    """
    if not shutil.which(SKOPEO):
        raise RegistryError(f"{SKOPEO} is missing: install the package {SKOPEO}")
    with tempfile.TemporaryDirectory() as work:
        login = os.path.join(work, "auth.json")
        write_private(login, json.dumps({"auths": {registry.host: {"auth": _login(registry)}}}).encode())
        trust = os.path.join(work, "trust")
        os.mkdir(trust)
        shutil.copyfile(registry.ca_file, os.path.join(trust, "ca.crt"))

        def copy_one_by_one(references: list[str]) -> None:
            for reference in references:
                _copy(registry, reference, layouts[reference], login, trust, wrote)

        with ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
            list(pool.map(copy_one_by_one, by_repository(layouts)))


def by_repository(references: Iterable[str]) -> list[list[str]]:
    """Return the names of images in groups of one repository each.

    Debian's docker-registry writes the links of a repository's layers in place: of two tags that are pushed at the same
    time, one may read the link that the other is just writing, and is refused ("digest invalid").

    :param references: names with tags
    """
    groups: dict[str, list[str]] = {}
    for reference in references:
        groups.setdefault(reference.rpartition(":")[0], []).append(reference)
    return list(groups.values())


def _copy(registry: Registry, reference: str, layout: str, login: str, trust: str,
          wrote: Callable[[str, str], Any]) -> None:
    # Whose signatures are checked is no question here: the image was made on this machine.
    command = [SKOPEO, "--insecure-policy", "copy", "--quiet", "--preserve-digests", "--dest-authfile", login,
               "--dest-cert-dir", trust, f"oci:{layout}", f"docker://{registry.host}/{reference}"]
    try:
        result = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                check=False, timeout=PUSH_TIMEOUT_SECONDS, universal_newlines=True)
    except subprocess.TimeoutExpired as exc:
        raise RegistryError(
            f"{reference}: not pushed to {registry.url} within {duration(PUSH_TIMEOUT_SECONDS)}") from exc
    if result.returncode:
        said = " ".join(result.stdout.split())
        raise RegistryError(
            f"{reference}: pushing to {registry.url} failed (exit code {result.returncode}): {said}")
    wrote(f"image {reference}", "created")


def _login(registry: Registry) -> str:
    texts = []
    for path in (registry.username_file, registry.password_file):
        with open(path, encoding="utf-8") as stream:
            texts.append(stream.read().strip())
    return base64.b64encode(":".join(texts).encode()).decode()
