# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which container images of upstream's releases have the programs of a plane of processes, and where in them; pure."""
from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from . import images

# Program → image without a tag, path in it: build/server-image/Dockerfile and staging/src/k8s.io/kubectl/images of
# Kubernetes, Dockerfile of etcd. Their tags are the versions.
_BASE = {
    "etcd": ("gcr.io/etcd-development/etcd", "/usr/local/bin/etcd"),
    "kube-apiserver": ("registry.k8s.io/kube-apiserver", "/usr/local/bin/kube-apiserver"),
    "kube-controller-manager": ("registry.k8s.io/kube-controller-manager", "/usr/local/bin/kube-controller-manager"),
    "kubectl": ("registry.k8s.io/kubectl", "/bin/kubectl"),
}
# Cluster API releases it as a file only. A pivot needs it, and takes it by a path.
WITHOUT_IMAGE = ("clusterctl",)


class ProgramImage(NamedTuple):
    """The image that has a program.

    :ivar program: name of the program, as it is built
    :ivar reference: the image's name with its tag
    :ivar path: where the program is in the image
    """

    program: str
    reference: str
    path: str


def program_images(versions: Mapping[str, str]) -> list[ProgramImage]:
    """Return the images that have the programs of a plane of processes.

    :param versions: program name → pinned version; programs that no image has are left out
    """
    found = [ProgramImage(program, f"{image}:{versions[program]}", path)
             for program, (image, path) in _BASE.items() if program in versions]
    return found + [ProgramImage(image.program, image.reference, image.path)
                    for image in images.controller_images(versions)]
