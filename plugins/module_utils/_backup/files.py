# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Files of encrypted backups: their names, what is asked of the options for them, and which are kept."""
from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable
from typing import Any

from .._common.problems.problem import Problem


def argument_spec() -> dict[str, dict[str, Any]]:
    """Return the options of a module that writes such files; documented in the fragment ``backup``."""
    return {
        "directory": {"type": "path", "required": True},
        "recipients": {"type": "list", "elements": "str", "required": True},
        "identity_file": {"type": "path"},
        "keep": {"type": "int"},
    }


def option_problems(recipients: list[str], keep: int | None) -> list[Problem]:
    """Return what is wrong with the options ``recipients`` and ``keep``."""
    problems = []
    if keep is not None and keep < 1:
        problems.append(Problem("backup-keep", "", "keep", keep, "at least 1", "leave it out to keep all"))
    if not recipients:
        problems.append(Problem("backup-recipients", "", "recipients", "none", "at least one public key of age",
                                "make a pair by age-keygen, and keep the secret key elsewhere"))
    return problems


def prefix_of(what: str, uid: str) -> str:
    """Return the prefix of the names of one cluster's backups, so that others in the same folder are left alone.

    :param what: what is backed up, for example a namespace; clusters often have some of the same name
    :param uid: of the cluster's Namespace ``kube-system``
    """
    # An API server says what it likes; this becomes part of a path.
    return f"{what}.{hashlib.sha256(uid.encode()).hexdigest()[:8]}"


def name_of(prefix: str, taken_at: str) -> str:
    """Return the name of a backup's file; names with one prefix sort by time.

    :param prefix: from :func:`prefix_of`
    """
    return f"{prefix}-{taken_at.replace(':', '')}.age"


def outdated(names: Iterable[str], prefix: str, keep: int | None) -> list[str]:
    """Return the names of backups beyond the newest ones, oldest first; of other files none.

    :param names: of the files in the folder
    :param prefix: as :func:`name_of` takes it
    :param keep: how many are kept; None for all
    """
    if keep is None:
        return []
    # Another prefix may begin with this one.
    pattern = re.compile(re.escape(prefix) + r"-\d{4}-\d{2}-\d{2}T\d{6}Z\.age")
    found = sorted(name for name in names if pattern.fullmatch(name))
    return found[:max(0, len(found) - keep)]


def outdated_in(directory: str, prefix: str, keep: int | None, name: str) -> list[str]:
    """Return the paths of backups in a folder that go once another one is there.

    :param directory: path of the folder, which may be missing
    :param prefix: as :func:`name_of` takes it
    :param keep: how many are kept; None for all
    :param name: of the new one, which need not be there yet
    """
    names = os.listdir(directory) if os.path.isdir(directory) else []
    return [os.path.join(directory, old) for old in outdated({*names, name}, prefix, keep) if old != name]


def remove(paths: Iterable[str], progress: Any) -> list[str]:
    """Remove backups that are outdated; return those that were there: another run may have removed some already.

    :param paths: from :func:`outdated_in`
    :param progress: a Progress
    :raises OSError: when one can't be removed
    """
    removed = []
    for path in paths:
        try:
            os.unlink(path)
        except FileNotFoundError:
            continue
        progress.wrote(path, "deleted")
        removed.append(path)
    return removed
