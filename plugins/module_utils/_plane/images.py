# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is in the container images of the plane's controllers; their names are the catalogue's; pure."""
from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from .parts import catalogue

# "nonroot" of distroless, from which upstream makes nearly all of them.
DEFAULT_USER = "65532:65532"
DEFAULT_PATH = "/manager"
# By each project's Dockerfile.
_PATHS = {
    "baremetal-operator": "/baremetal-operator",
    "cert-manager-cainjector": "/app/cmd/cainjector/cainjector",
    "cert-manager-controller": "/app/cmd/controller/controller",
    "cert-manager-webhook": "/app/cmd/webhook/webhook",
}
_USERS = {"cert_manager": "1000:1000"}


class ControllerImage(NamedTuple):
    """The image of one controller.

    :param reference: its name with its tag
    :param program: name of the program in it, as it is built
    :param path: where the program is in the image; the entry point
    :param user: the user that it runs as
    """

    reference: str
    program: str
    path: str
    user: str


def controller_images(versions: Mapping[str, str]) -> list[ControllerImage]:
    """Return the images of the controllers that were built.

    :param versions: program name to version, which becomes the tag
    """
    found = []
    for part in catalogue.PARTS:
        for repository in sorted(part.images.values()):
            # A part of several programs names one of them; its images are named like the programs.
            program = part.program if len(part.images) == 1 else repository.rpartition("/")[2]
            if program in versions:
                found.append(ControllerImage(
                    f"{repository}:{versions[program]}", program, _PATHS.get(program, DEFAULT_PATH),
                    _USERS.get(part.name, DEFAULT_USER)))
    return found
