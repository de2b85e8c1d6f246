# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Keeps runs of one user and machine from working on one thing at once, for as long as their processes live."""
from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Iterable

from . import file_lock, user_folders
from .holder import holder_of

_FOLDER = "locks"


class RunLocks:
    """Locks by what is worked on.

    :param folder: path of the folder with their files; empty for that of the user
    :ivar holder: this machine and folder, see :func:`holder_of`
    """

    def __init__(self, folder: str = "") -> None:
        self._folder = folder or os.path.join(user_folders.state_dir(), _FOLDER)
        self.holder = holder_of(os.uname().nodename, self._folder)

    def alone(self, *what: str) -> contextlib.AbstractContextManager[bool]:
        """Return a context that holds a lock, and says whether it is held, or another run has it.

        :param what: texts that name the thing, such as a uid, which are no part of a path
        :raises OSError: when the lock's file can't be made
        """
        return file_lock.tried(self._path(what))

    def in_turn(self, *what: str) -> contextlib.AbstractContextManager[None]:
        """Return a context that holds a lock; another run that has it is waited for.

        :param what: as for :meth:`alone`
        :raises OSError: as :meth:`alone` does
        """
        return file_lock.held_alone(self._path(what))

    def _path(self, what: Iterable[str]) -> str:
        os.makedirs(self._folder, mode=0o700, exist_ok=True)
        name = hashlib.sha256("\n".join(what).encode()).hexdigest()
        return os.path.join(self._folder, f"{name}.lock")
