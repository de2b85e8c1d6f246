# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The images that planes in clusters pull, by what decides it when they are installed; and images by digest; pure."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from .._common.options.field_checks import show
from .._common.problems.problem import Problem
from .._plane.cluster import ironic_pod, operator_images
from .._plane.cluster import settings as part_settings
from .._plane.parts.catalogue import BY_NAME, NAMES
from . import bill as bills

# A plane in a cluster, as an option of the module ``mirror_gather``.
OPTIONS: dict[str, dict[str, Any]] = {
    "parts": {"type": "list", "elements": "dict", "default": [], "options": {
        "name": {"type": "str", "required": True, "choices": list(NAMES)},
        "version": {"type": "str"},
        "source_dir": {"type": "path"}}},
    "ironic": {"type": "dict", "options": ironic_pod.IMAGE_OPTIONS},
    "ironic_operator": {"type": "dict", "options": operator_images.OPTIONS},
}


def references(planes: Iterable[Mapping[str, Any]], pinned: Callable[[Mapping[str, Any]], str]) -> list[str]:
    """Return the images, by upstream's names; one whose digest was chosen has it behind an ``@``.

    :param planes: each as OPTIONS has it
    :param pinned: callable that returns the version of a part that has none of its own
    """
    found: list[str] = []
    for plane in planes:
        for settings in plane["parts"]:
            version = settings.get("version") or pinned(settings)
            found += [part_settings.image(image, version, None, None)
                      for image in BY_NAME[settings["name"]].images.values()]
        if plane.get("ironic"):
            found += ironic_pod.pulled(plane["ironic"])
    return found


def of_operators(planes: Iterable[Mapping[str, Any]],
                 read: Callable[[str], tuple[list[dict[str, Any]], list[Problem]]]) -> operator_images.Found:
    """Return the images of planes whose Ironic the Ironic operator runs.

    :param planes: as for :func:`references`
    :param read: callable that takes a path and returns the objects of the file, and problems
    """
    images: list[str] = []
    problems: list[Problem] = []
    unknown: list[str] = []
    for options in (plane.get("ironic_operator") for plane in planes):
        if not options:
            continue
        objects, faults = read(options["manifests"]) if options.get("manifests") else (None, [])
        found = operator_images.pulled(options, objects) if not faults else operator_images.Found([], faults, [])
        images, problems = images + found.images, problems + found.problems
        unknown += [text for text in found.unknown if text not in unknown]
    return operator_images.Found(images, problems, unknown)


def by_digest(images: Iterable[str]) -> tuple[list[str], dict[str, str], list[Problem]]:
    """Return the names of images without digests, the digests by name, and what is wrong with these.

    :param images: names with tag; those that may be no other image have a digest behind an ``@``
    """
    names: list[str] = []
    digests: dict[str, str] = {}
    problems: list[Problem] = []
    for image in images:
        name, given, digest = image.partition("@")
        names.append(name)
        if not given:
            continue
        fault = bills.digest_problem(name, digest)
        if not fault and digests.setdefault(name, digest) != digest:
            fault = Problem("mirror-image", f'image "{name}"', "digest", f"{show(digests[name])} and {show(digest)}",
                            "one digest for one tag", "give one of the two another version")
        if fault:
            problems.append(fault)
    return names, digests, problems
