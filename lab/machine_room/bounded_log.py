"""Log files of a server that do not grow without end."""
from __future__ import annotations

import datetime
import os
import threading

LIMIT_BYTES = 1024 * 1024


class BoundedLog:
    """Append-only text file; it begins again, keeping one predecessor, when it grows beyond LIMIT_BYTES.

    :param path: the file, created with the first line; the predecessor has ``.1`` behind its name
    """

    def __init__(self, path):
        self.path = path
        self._lock = threading.Lock()

    def append(self, line):
        """Append one line.

        :param line: text without a line end
        """
        with self._lock:
            if os.path.exists(self.path) and os.path.getsize(self.path) > LIMIT_BYTES:
                os.replace(self.path, self.path + ".1")
            with open(self.path, "a", encoding="utf-8") as file:
                file.write(line + "\n")

    def tail(self, lines):
        """Return the last lines as a list of texts.

        :param lines: how many at most
        """
        try:
            with open(self.path, encoding="utf-8") as file:
                return file.read().splitlines()[-lines:]
        except FileNotFoundError:
            return []


def now():
    """Return the time in UTC with milliseconds, RFC 3339."""
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"
