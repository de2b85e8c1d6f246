# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes the lab's image of keepalived for Ironic's pod, with the contract of Metal3's image."""
from __future__ import annotations

import os
from typing import Any

from .._common.errors import ReportedError
from .._images import debian_root
from .._plane.process import cache_entry
from . import container_image, oci_layout

NAME = "quay.io/metal3-io/keepalived"
ENTRY_POINT = "/usr/local/bin/manage-keepalived.sh"
# libcap2-bin for setcap, procps for looking into the pod.
PACKAGES = ("keepalived", "libcap2-bin", "procps")
# Of upstream's manifests.
USER = 65532
HOOKS = (
    'rm -f "$1"/var/log/*.log "$1"/var/log/apt/* "$1"/var/cache/debconf/*-old',
    f'chroot "$1" install -d -o {USER} -g {USER} /conf /data',
    # The pod's capabilities reach a plain user's program by its file only.
    'chroot "$1" setcap cap_net_raw,cap_net_broadcast,cap_net_admin=+eip /usr/sbin/keepalived',
)


class KeepalivedImageError(ReportedError):
    """The image could not be made; the message says what to do."""


class KeepalivedImage:
    """The image in the cache.

    :param source_dir: the collection's ``lab/keepalived_image``
    :param cache_dir: folder for what is slow to make, see user_folders.cache_dir()
    """

    def __init__(self, source_dir: str, cache_dir: str) -> None:
        self._entry_point = os.path.join(source_dir, os.path.basename(ENTRY_POINT))
        recipe = "\0".join((os.uname().machine, ENTRY_POINT, *PACKAGES, *HOOKS)).encode()
        self.directory = os.path.join(
            cache_dir, "keepalived-image", debian_root.file_digest(self._entry_point, recipe)[:16])

    def complete(self) -> bool:
        """Tell whether the image is there."""
        return os.path.isdir(self.directory)

    def build(self, progress: Any) -> None:
        """Make the image unless it is there; an interrupted build leaves nothing.

        :param progress: a Progress
        :raises KeepalivedImageError: when this process is not root, or a step fails
        """
        if self.complete():
            return
        if os.geteuid() != 0:
            raise KeepalivedImageError("building the image of keepalived needs root: its files belong to several "
                                       "users; run it with sudo")
        with cache_entry.making(self.directory, progress) as partial:
            if partial is None:
                return
            base = os.path.join(partial, "debian.tar")
            progress.event(f"Installing Debian {debian_root.SUITE} for the image of keepalived")
            try:
                debian_root.install(base, list(PACKAGES), partial, HOOKS)
            except debian_root.ImageBuildError as exc:
                raise KeepalivedImageError(f"image of keepalived: {exc}") from exc
            oci_layout.write(os.path.join(partial, "image"), [container_image.File(ENTRY_POINT, self._entry_point)],
                             [ENTRY_POINT], os.uname().machine, f"{USER}:{USER}", base)
            os.unlink(base)

    def layouts(self) -> dict[str, str]:
        """Return the folder of the image by its name with a tag."""
        return {f"{NAME}:latest": os.path.join(self.directory, "image")}
