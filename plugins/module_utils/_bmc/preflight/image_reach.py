# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Asks from where an Ironic runs whether image servers answer for images."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import SplitResult, urlunsplit

from ..._common.problems.errors import ReportedError
from ..._common.problems.problem import Problem
from ..._common.transfer import image_checks
from ..._elsewhere import answered, asking

_CODE = "image-reach"
_SECONDS = 10


class Image(NamedTuple):
    """What is asked for.

    :ivar subject: whose image it is, for messages
    :ivar field: the option that has it
    :ivar image: with ``url`` and ``checksum``
    """

    subject: str
    field: str
    image: Mapping[str, Any]


def problems(images: Sequence[Image], asked: asking.Asked) -> tuple[list[Problem], list[str]]:
    """Return a problem for each image and checksum file that Ironic does not reach, and a warning when none was asked.

    :param images: those whose URLs are neither HTTP nor HTTPS are left out
    :param asked: where Ironic runs
    """
    wanted = [(image, part, question) for image in images for part in ("url", "checksum")
              for question in [_question(image.image.get(part) or "")] if question]
    questions = sorted(set(question for _image, _part, question in wanted))
    if not questions:
        return [], []
    try:
        said = asking.ask([["image", *question, _SECONDS] for question in questions], asked)
    except ReportedError as exc:
        # No proof that they are not reached.
        return [], [f"images: whether Ironic reaches their servers was not asked from {asked.place}: {exc}"]
    found = dict((question, answered.unreached(answer)) for question, answer in zip(questions, said))
    return [Problem(_CODE, image.subject, f"{image.field}.{part}",
                    f"{image.image[part]}: {found[question]}, asked from {asked.place}",
                    "an image server that Ironic reaches",
                    "look at names, routes and firewalls between the two, or correct the URL")
            for image, part, question in wanted if found[question]], []


def _question(url: str) -> tuple[str, bool] | None:
    """Return the URL without login and query, which may be secrets, and whether that is all of it."""
    parts = image_checks.url_parts(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        return None
    bare = SplitResult(parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", "")
    return urlunsplit(bare), bare == parts._replace(fragment="")
