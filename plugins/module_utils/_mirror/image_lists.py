# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Files that name images, one in a line, as ``kubeadm config images list`` prints them."""
from __future__ import annotations

from collections.abc import Iterable

from .._common.files import regular_file
from .._common.problems.errors import RefusedError
from .._common.problems.problem import Problem

# The list of a Kubernetes version has 7 lines.
_MAX_BYTES = 1 << 20


def read(paths: Iterable[str]) -> list[str]:
    """Return the names in the files, without empty lines and those that begin with ``#``.

    :param paths: of the files
    :raises RefusedError: with each file that is no text or cannot be read
    """
    names, problems = [], []
    for path in paths:
        try:
            lines = [line.strip() for line in regular_file.whole(path, _MAX_BYTES).decode("ascii").splitlines()]
        except (OSError, ValueError) as exc:
            problems.append(Problem("mirror-images", f'file "{path}"', "image_lists", str(exc),
                                    "a file with the name of one image in each line",
                                    "write it by kubeadm config images list, or correct its path"))
            continue
        names += [line for line in lines if line and not line.startswith("#")]
    if problems:
        raise RefusedError(problems)
    return names
