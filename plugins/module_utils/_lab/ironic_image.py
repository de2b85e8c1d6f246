# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes the lab's image of Ironic, with the contract of ironic-image: Debian, and Ironic as the lab runs it."""
from __future__ import annotations

import glob
import os
from collections.abc import Iterator
from typing import Any

from .._common.files import cache_entry
from .._common.problems.errors import ReportedError
from .._images.debian import debian_root
from .._plane.cluster import ironic
from . import container_image, debian_image

# Raise it when the image is made in another way than before: it is part of the cache's key.
RECIPE = "2"
# Debian's: the wheels of the services' Python environment run on the same version only.
PYTHON = "python3.11"
PACKAGES_DIR = f"/usr/local/lib/{PYTHON}/dist-packages"
PROGRAM = "ironic-image"
# Upstream's entry points, and where its manifests call them.
ENTRY_POINTS = ("/usr/bin/runironic", "/usr/bin/runhttpd", "/usr/bin/runlogwatch.sh", "/usr/bin/rundnsmasq",
                "/usr/bin/ironic-liveness", "/usr/bin/ironic-readiness", "/usr/local/bin/get-resource.sh")
USER, GROUP = 997, 994
HOOKS = (
    f'chroot "$1" groupadd -g {GROUP} ironic',
    f'chroot "$1" useradd -u {USER} -g {GROUP} -d /data -M -s /usr/sbin/nologin ironic',
    f'chroot "$1" install -d -o {USER} -g {GROUP} /conf /data /shared /certs /certs/ca',
    # The pod's capabilities reach a plain user's program by its file only.
    'chroot "$1" setcap cap_net_raw,cap_net_admin,cap_net_bind_service=+eip /usr/sbin/dnsmasq',
)
# iPXE of Debian by the names that ironic-image builds it under; Debian has none for ARM.
FIRMWARE = {"/tftpboot/undionly.kpxe": "/usr/lib/ipxe/undionly.kpxe",
            "/tftpboot/snponly-x86_64.efi": "/usr/lib/ipxe/snponly.efi"}
# What other services of the same environment need, and numpy, which the console proxy alone would use.
LEFT_OUT = ("__pycache__", "numpy", "numpy.libs", "pip", "sushy_tools", "flask", "supervisor", "yappi")
IRONIC, DOWNLOADER = ironic.IMAGE, ironic.DOWNLOADER


class IronicImageError(ReportedError):
    """The image could not be made; the message says what to do."""


class IronicImage(cache_entry.CacheEntry):
    """The image in the cache.

    :param source_dir: the collection's ``lab/ironic_image``
    :param services_python: the Python interpreter that runs the lab's Ironic
    :param cache_dir: folder for what is slow to make, see user_folders.cache_dir()
    :raises IronicImageError: for another Python than Debian's
    """

    def __init__(self, source_dir: str, services_python: str, cache_dir: str) -> None:
        self._source_dir = source_dir
        environment = os.path.dirname(os.path.dirname(services_python))
        self._packages = os.path.join(environment, "lib", PYTHON, "site-packages")
        found = glob.glob(os.path.join(self._packages, "ironic-[0-9]*.dist-info"))
        if not found:
            raise IronicImageError(
                f"{services_python}: found no Ironic for {PYTHON}, expected the lab's environment made by {PYTHON}; "
                f"run make with PYTHON={PYTHON}")
        self.version = "v" + os.path.basename(found[0])[len("ironic-"):-len(".dist-info")]
        parts: list[str | bytes] = [RECIPE, os.uname().machine, os.path.basename(environment)]
        for content in self._own():
            parts.append(content.path)
            if isinstance(content, container_image.File):
                with open(content.source, "rb") as stream:
                    parts.append(stream.read())
        self.directory = os.path.join(cache_dir, "ironic-image", cache_entry.key(parts))

    def build(self, progress: Any) -> None:
        """Make the image unless it is there; an interrupted build leaves nothing.

        :param progress: a Progress
        :raises DebianImageError: when this process is not root, or a step fails
        """
        with open(os.path.join(self._source_dir, "packages.txt"), encoding="utf-8") as stream:
            names = debian_root.packages(stream.read())
        debian_image.build("Ironic", self.directory, names, HOOKS, lambda: self._own() + list(self._environment()),
                           ["/bin/sh"], f"{USER}:{GROUP}", progress)

    def layouts(self) -> dict[str, str]:
        """Return the folder of the image by its names with tags."""
        layout = os.path.join(self.directory, "image")
        return {f"{IRONIC}:{self.version}": layout, f"{IRONIC}:latest": layout, f"{DOWNLOADER}:latest": layout}

    def _own(self) -> list[Any]:
        """Return the programs of this image, and the links by which upstream's manifests call them."""
        contents: list[Any] = [
            container_image.File(f"{PACKAGES_DIR}/ironic_image/{os.path.basename(path)}", path)
            for path in sorted(glob.glob(os.path.join(self._source_dir, "*.py")))]
        contents += [container_image.File("/usr/bin/" + os.path.basename(path), path)
                     for path in sorted(glob.glob(os.path.join(self._source_dir, "bin", "*")))]
        # The programs' first lines name it without a version, as ansible-test wants it.
        contents.append(container_image.Link("/usr/bin/python", "python3"))
        links = dict(dict.fromkeys(ENTRY_POINTS, "/usr/bin/" + PROGRAM), **FIRMWARE)
        return contents + [container_image.Link(path, target) for path, target in links.items()]

    def _environment(self) -> Iterator[Any]:
        for parent, folders, names in os.walk(self._packages):
            folders[:] = sorted(name for name in folders if name not in LEFT_OUT)
            for name in sorted(names):
                path = os.path.join(parent, name)
                yield container_image.File(f"{PACKAGES_DIR}/{os.path.relpath(path, self._packages)}", path)
