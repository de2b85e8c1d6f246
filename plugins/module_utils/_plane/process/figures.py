# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The figures of a management plane of processes: its name, index, folder, ports and bridge, in ``lab.json``."""
from __future__ import annotations

import os
from typing import Any

from ..._common.documents.document_text import from_json
from ..._common.files import regular_file
from ..._common.problems.errors import ReportedError

FILE = "lab.json"
_NEXT = "restore the file; a lab can be removed by make lab-down, and made again"


class FiguresError(ReportedError):
    """A plane has no usable figures; the message says what is invalid, or which figure somebody else has."""


def read(directory: str) -> dict[str, Any] | None:
    """Return a lab's figures, or None when it has none.

    :param directory: the lab's folder
    :raises FiguresError: for an unreadable file
    """
    path = os.path.join(directory, FILE)
    try:
        with open(path, encoding="utf-8") as stream:
            text = stream.read()
    except FileNotFoundError:
        return None
    except ValueError as exc:
        raise FiguresError(f"{path}: not UTF-8 ({exc}); {_NEXT}") from exc
    try:
        return parsed(text)
    except ValueError as exc:
        raise FiguresError(f"{path}: {exc}; {_NEXT}") from exc


def read_own(directory: str) -> dict[str, Any] | None:
    """Return a plane's figures, or None when it has none; those of another user's folder are not followed.

    They say what is stopped and deleted, and the kubeconfig beside them may name a program that is run.

    :param directory: the plane's folder
    :raises FiguresError: for an unreadable file, and for a folder that others may write into
    """
    try:
        found = os.stat(directory)
    except FileNotFoundError:
        return None
    if regular_file.others_may_write(found, own_group=True):
        raise FiguresError(f"{directory}: found {regular_file.owner_and_mode(found)}, expected a folder that only user "
                           f"{os.geteuid()} may write into, because what is in it is followed; become its user, or set "
                           "management_plane.dir to a plane of this user")
    return read(directory)


# Field of ``lab.json`` → its type: what identifies a plane and what its removal needs.
FIELDS = {"name": str, "dir": str, "ports": dict}
# Of a lab only: a site's plane has no simulated network.
FIELDS_OF_A_LAB = {"index": int, "bridge": dict}


def parsed(text: str) -> dict[str, Any]:
    """Return the figures of a lab out of the text of its ``lab.json``.

    :raises ValueError: for anything else
    """
    try:
        found = from_json(text)
    except ValueError as exc:
        raise ValueError(f"not JSON ({exc})") from exc
    if not isinstance(found, dict):
        raise ValueError("expected a mapping")
    # One of the two, damaged or lost, must not turn a lab into a site's plane.
    fields = dict(FIELDS, **FIELDS_OF_A_LAB) if found.get("mode") != "process" else FIELDS
    wrong = [name for name, kind in fields.items()
             if not isinstance(found.get(name), kind) or isinstance(found[name], bool)]
    if wrong:
        raise ValueError(f"without a usable {', '.join(wrong)}")
    return found
