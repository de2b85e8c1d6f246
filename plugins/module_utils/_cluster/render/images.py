# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The container images that a cluster's options bring, and where its nodes pull them from; pure."""
from __future__ import annotations

import re
from typing import Any, NamedTuple

from ..._common.options.field_checks import shown
from ..._common.problems.problem import Problem

# OCI distribution specification 1.1, "Pulling manifests": host, path, tag and digest; no character has a meaning in
# the files and templates that a reference becomes part of.
_HOST = r"[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?(:[0-9]{1,5})?"
_PATH = r"[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*"
_REGISTRY = re.compile(rf"{_HOST}(/{_PATH})*")
_REFERENCE = re.compile(rf"({_HOST}/)?{_PATH}(/{_PATH})*"
                        r"(:[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?(@sha256:[0-9a-f]{64})?")
LONGEST = 255


class Image(NamedTuple):
    """An image as upstream publishes it.

    :param registry: host of the registry
    :param path: name in the registry
    :param tag: the version that this collection was tested with
    """

    registry: str
    path: str
    tag: str


KUBE_VIP = Image("ghcr.io", "kube-vip/kube-vip", "v1.0.0")
FLANNEL = Image("ghcr.io", "flannel-io/flannel", "v0.28.0")
# The one that flannel 0.28.0's own manifest names.
FLANNEL_CNI_PLUGIN = Image("ghcr.io", "flannel-io/flannel-cni-plugin", "v1.8.0-flannel1")
# What brings images of its own into a cluster, by the value of the option that asks for it.
ADD_ONS = {"flannel": (FLANNEL, FLANNEL_CNI_PLUGIN), "kube-vip": (KUBE_VIP,)}


def reference(image: Image, registry: str | None, given: str | None) -> str:
    """Return what to pull.

    :param registry: registry, with a path or without, that takes the place of upstream's; None for upstream's own
    :param given: a whole reference, which is used as it is
    """
    return given or f"{registry or image.registry}/{image.path}:{image.tag}"


def registry_problems(subject: str, registry: Any) -> list[Problem]:
    """Return what is wrong with the registry that takes the place of upstream's; None is right."""
    if registry is None or (len(registry) <= LONGEST and _REGISTRY.fullmatch(registry)):
        return []
    return [Problem("cluster-image", subject, "image_registry", shown(registry),
                    "a registry, with a path or without, such as registry.example.org:5000/mirror",
                    "leave scheme, tag and a slash at the end out")]


def reference_problems(subject: str, field: str, given: Any) -> list[Problem]:
    """Return what is wrong with the reference of an image; None is right."""
    if given is None or (len(given) <= LONGEST and _REFERENCE.fullmatch(given)):
        return []
    return [Problem("cluster-image", subject, field, shown(given),
                    "the reference of a container image, such as registry.example.org/name:v1.0.0",
                    "a digest is sha256: and 64 hexadecimal digits, after @")]
