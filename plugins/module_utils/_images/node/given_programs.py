# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Programs of Kubernetes out of a folder that the user names: they are run here as root, and go into an image.

What others can write is data and no program, so folder and files are root's or this user's alone.
"""
from __future__ import annotations

import os
import stat
from collections.abc import Iterable

from ..._common.files import regular_file
from ..._common.problems.problem import Problem
from ..sources import contents

_FIELD = "kubernetes_dir"


def problems(folder: str, names: Iterable[str]) -> list[Problem]:
    """Return why programs of a folder are not taken.

    :param folder: as the user names it
    :param names: of the programs
    """
    try:
        status = os.stat(folder)
    except OSError:
        return [_problem(os.path.join(folder, name), "which is missing", "a file", "correct the path")
                for name in names]
    return _of_others(folder, status, "a folder that") + [
        problem for name in names for problem in _of_program(folder, name)]


def _of_program(folder: str, name: str) -> list[Problem]:
    path = os.path.join(folder, name)
    place = place_of(folder, name)
    if os.path.dirname(place) != os.path.realpath(folder):
        return [_problem(path, f'a link to "{place}"', "a file of this folder",
                         "put the program itself into the folder, or name the folder that it is in")]
    try:
        with regular_file.reading(place) as (_stream, status):
            if not status.st_mode & (stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH):
                return [_problem(path, f"mode {stat.S_IMODE(status.st_mode):04o}", "an executable",
                                 "see whether it is the program, and make it executable (chmod 755)")]
            return _of_others(path, status, "a program that")
    except FileNotFoundError:
        return [_problem(path, "which is missing", "a file", "correct the path")]
    except OSError as exc:
        return [_problem(path, exc.strerror or "which cannot be read", "a file", "see what is at the path")]


def _of_others(path: str, status: os.stat_result, what: str) -> list[Problem]:
    if not regular_file.others_may_write(status, own_group=True):
        return []
    return [_problem(path, regular_file.owner_and_mode(status), f"{what} only root or the user {os.geteuid()} may "
                     "write, because it is run and goes into the image", "find out who has put it there, then take it "
                     "from others (chown, chmod go-w), or name another folder")]


def _problem(path: str, found: str, expected: str, hint: str) -> Problem:
    return Problem("node-image", "", _FIELD, f'"{path}", {found}', expected, hint)


def place_of(folder: str, name: str) -> str:
    """Return where a program is, without links."""
    return os.path.realpath(os.path.join(folder, name))


def copy(path: str, digest: str, target: str) -> None:
    """Copy a program that is still the one of a digest, by which the image is named.

    :param path: without links
    :param digest: its SHA-256, hexadecimal
    :param target: where it goes; nothing is there yet, or another file
    :raises ReportedError: when it is another one by now
    """
    contents.copy_unchanged(_FIELD, path, digest, target)
    os.chmod(target, 0o755)
