# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The lines that a log gets from now on, over its rotation."""
from __future__ import annotations

import os
import re

# Of a busy web server's log; what comes in between two looks and is more is passed over.
_LOOK_BYTES = 1024 ** 2


class LogTail:
    """Reads what a log gets after the beginning.

    :param path: the log's path
    :ivar is_of_dhcp: whether it is the log of a DHCP server
    """

    def __init__(self, path: str) -> None:
        self.path = path
        # By its name: nothing comes to the log of a server of DHCP that does not run.
        self.is_of_dhcp = re.search(r"dhcp|dnsmasq", os.path.basename(path)) is not None
        self._file: tuple[int, int] | None = None
        self._position = 0
        try:
            found = os.stat(path)
            self._file, self._position = (found.st_dev, found.st_ino), found.st_size
        except OSError:
            # It comes with the first request; anything else is an error when it is read.
            pass

    @property
    def is_there(self) -> bool:
        """Whether the log was there when it was last looked for."""
        return self._file is not None

    def lines(self) -> list[str]:
        """Return the lines that came since the last look.

        :raises OSError: when the log can't be read
        """
        try:
            with open(self.path, "rb") as file:
                found = os.fstat(file.fileno())
                if self._file != (found.st_dev, found.st_ino) or found.st_size < self._position:
                    self._file, self._position = (found.st_dev, found.st_ino), 0
                self._position = max(self._position, found.st_size - _LOOK_BYTES)
                file.seek(self._position)
                data = file.read(_LOOK_BYTES)
        except FileNotFoundError:
            self._file = None
            return []
        # The last line may not be whole yet.
        whole = data[:data.rfind(b"\n") + 1]
        self._position += len(whole)
        return whole.decode("utf-8", "replace").splitlines()
