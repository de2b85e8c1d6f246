# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Removes everything of a lab, whole or half-dead."""
from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from typing import Any

from .._plane.process import figures as figures_file
from .._plane.process import orphans
from . import claim, credentials, host_limits, layout


def remove(name: str, environ: Mapping[str, str], check_mode: bool = False,
           wrote: credentials.Wrote = credentials.unnoticed) -> list[str]:
    """Stop a lab's processes and remove what it made; a lab that is not there is no error.

    :param name: the lab's name
    :param environ: mapping of environment variables
    :param check_mode: change nothing, only report
    :param wrote: see credentials.Wrote; processes and folders are ``deleted``
    :returns: what was removed, as texts
    :raises CleanupError: naming what is left and why
    """
    directory = layout.lab_dir(name, environ)
    labs_dir = layout.labs_dir(environ)
    figures = _figures(name, directory, environ)
    # All at once, not by supervisord: that stops one program after the other.
    removed = ["%s %s" % found for found in (orphans.find(figures) if check_mode else orphans.clear(figures))]
    if not check_mode:
        for found in removed:
            wrote(found, "deleted")
    if os.path.isdir(directory):
        removed.append(f"folder {directory}")
        if not check_mode:
            with claim.exclusive(labs_dir):
                shutil.rmtree(directory)
            wrote(f"folder {directory}", "deleted")
    return removed if check_mode else removed + _restore_limits(name, labs_dir)


def _restore_limits(name: str, labs_dir: str) -> list[str]:
    """Put the machine's limits back, unless another lab has its figures: its bridge may be yet to come."""
    with claim.exclusive(labs_dir):
        try:
            others = claim.others(labs_dir, name)
        except figures_file.FiguresError:
            # A lab with a broken file is a lab.
            return []
        return [] if others else host_limits.restore()


def _figures(name: str, directory: str, environ: Mapping[str, str]) -> dict[str, Any]:
    """Return the lab's figures; of a lab whose file is lost, those that its folder's name gives."""
    try:
        figures = figures_file.read(directory)
    except figures_file.FiguresError:
        figures = None
    if figures is None:
        figures = layout.layout(name, 0, environ)
        # Which bridge was its own is not known any more, and index 0 may be another lab's.
        figures["bridge"] = {"name": "m3lab-unknown"}
    return figures
