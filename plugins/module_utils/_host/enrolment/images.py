# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether the images that hosts are to get can be downloaded, and their checksum files speak of them."""
from __future__ import annotations

from ..._common.transfer import image_checks

_AT_ONCE = 8


def due(hosts, current):
    """Return ``{(URL, checksum): [entry]}`` of the images that hosts do not have yet.

    :param hosts: list of entries
    :param current: ``{name: BareMetalHost}``
    """
    found = {}
    for host in hosts:
        image = host.get("image") or {}
        stored = ((current.get(host["name"]) or {}).get("spec") or {}).get("image") or {}
        given = (image.get("url"), image.get("checksum"))
        if host.get("state") != "absent" and image.get("url") and given != (stored.get("url"), stored.get("checksum")):
            found.setdefault(given, []).append(host)
    return found


def problems(hosts, current, fetch, run):
    """Ask the servers of the images, each image once, and return a Problem for each host that would not get its own.

    :param fetch: see ``image_checks.reachability_problems``
    :param run: ``parallel.run``
    """
    images = due(hosts, current)
    asked = run([_question(named[0]["image"], fetch) for named in images.values()], _AT_ONCE, OSError)
    return [mistake._replace(subject=host["name"])
            for named, outcome in zip(images.values(), asked) for host in named for mistake in outcome.value]


def _question(image, fetch):
    return lambda: image_checks.reachability_problems("", "image", image, fetch)
