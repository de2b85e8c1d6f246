# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes the lab's container images of Debian packages: steps that all have, and images of packages and one program."""
from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

from .._common.files import cache_entry, file_digest
from .._common.problems.errors import ReportedError
from .._images.debian import debian_root
from . import container_image, oci_layout
from .pod_images import Recipe

# Logs and caches have times in them.
CLEANING = 'rm -f "$1"/var/log/*.log "$1"/var/log/apt/* "$1"/var/cache/debconf/*-old'


class DebianImageError(ReportedError):
    """An image could not be made; the message says what to do."""


def build(title: str, directory: str, packages: list[str], hooks: Sequence[str], contents: Callable[[], list[Any]],
          entry_point: list[str], user: str, progress: Any) -> None:
    """Make an image unless it is there; an interrupted build leaves nothing.

    :param title: what is in it, as messages say it
    :param directory: of the cache; the image comes into its folder ``image``
    :param packages: names of Debian packages
    :param hooks: shell commands, of which each gets the root folder as its first argument
    :param contents: returns what comes on top of Debian: File and Link of container_image
    :param entry_point: words of the command
    :param user: ``number:number``
    :param progress: a Progress
    :raises DebianImageError: when this process is not root, or a step fails
    """
    if os.path.isdir(directory):
        return
    if os.geteuid() != 0:
        raise DebianImageError(f"building the image of {title} needs root: its files belong to several users; "
                               "run it with sudo")
    with cache_entry.making(directory, progress) as partial:
        if partial is None:
            return
        base = os.path.join(partial, "debian.tar")
        progress.event(f"Installing Debian {debian_root.SUITE} for the image of {title}")
        try:
            debian_root.install(base, packages, partial, (CLEANING, *hooks))
        except debian_root.ImageBuildError as exc:
            raise DebianImageError(f"image of {title}: {exc}") from exc
        progress.event(f"Writing the image of {title}")
        oci_layout.write(os.path.join(partial, "image"), contents(), entry_point, os.uname().machine, user, base)
        os.unlink(base)


class DebianImage(cache_entry.CacheEntry):
    """An image of packages and one program, in the cache.

    :param recipe: a Recipe
    :param source_dir: folder of the collection with the program
    :param cache_dir: folder for what is slow to make, see user_folders.cache_dir()
    """

    def __init__(self, recipe: Recipe, source_dir: str, cache_dir: str) -> None:
        self._recipe = recipe
        self._program = os.path.join(source_dir, os.path.basename(recipe.entry_point))
        digested = "\0".join((os.uname().machine, recipe.entry_point, *recipe.packages, CLEANING, *recipe.hooks))
        self.directory = os.path.join(cache_dir, recipe.title.lower() + "-image",
                                      file_digest.digest(self._program, head=digested.encode())[:16])

    def build(self, progress: Any) -> None:
        """Make the image unless it is there, see :func:`build`."""
        recipe = self._recipe
        build(recipe.title, self.directory, list(recipe.packages), recipe.hooks,
              lambda: [container_image.File(recipe.entry_point, self._program)], [recipe.entry_point],
              f"{recipe.user}:{recipe.user}", progress)

    def layouts(self) -> dict[str, str]:
        """Return the folder of the image by its name with a tag."""
        return {f"{self._recipe.name}:latest": os.path.join(self.directory, "image")}
