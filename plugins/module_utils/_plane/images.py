# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Under which names upstream releases the controllers' container images, and what is in them; pure."""
from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

# "nonroot" of distroless, from which upstream makes all of them.
USER = "65532:65532"


class ControllerImage(NamedTuple):
    """The image of one controller.

    :param program: name of the program, as ``process/engine.py`` has it
    :param repository: name of the image without its tag
    :param path: where the program is in the image; the entry point
    """

    program: str
    repository: str
    path: str


# Names by the release manifests of each project (their Makefiles and config/), paths by their Dockerfiles.
CONTROLLERS = (
    ControllerImage("cluster-api", "registry.k8s.io/cluster-api/cluster-api-controller", "/manager"),
    ControllerImage("cluster-api-bootstrap-kubeadm", "registry.k8s.io/cluster-api/kubeadm-bootstrap-controller",
                    "/manager"),
    ControllerImage("cluster-api-control-plane-kubeadm", "registry.k8s.io/cluster-api/kubeadm-control-plane-controller",
                    "/manager"),
    ControllerImage("cluster-api-provider-metal3", "quay.io/metal3-io/cluster-api-provider-metal3", "/manager"),
    ControllerImage("ip-address-manager", "quay.io/metal3-io/ip-address-manager", "/manager"),
    ControllerImage("baremetal-operator", "quay.io/metal3-io/baremetal-operator", "/baremetal-operator"),
)


def reference(image: ControllerImage, versions: Mapping[str, str]) -> str:
    """Return an image's name with its tag, the version of its program.

    :param versions: program name to version
    """
    return f"{image.repository}:{versions[image.program]}"
