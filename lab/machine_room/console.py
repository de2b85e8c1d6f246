"""The console log of a server: what firmware, agent and operating system would have printed on its serial port."""
from __future__ import annotations

import datetime
import os
import threading

LIMIT_BYTES = 1024 * 1024


class Console:
    """Append-only text file; it begins again, keeping one predecessor, when it grows beyond LIMIT_BYTES.

    :param path: the file, made when the first line is printed
    """

    def __init__(self, path):
        self.path = path
        self._lock = threading.Lock()

    def print(self, text, *arguments):
        """Append one line with the time in UTC.

        :param text: text, with ``%`` placeholders for ``arguments``
        """
        moment = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3]
        line = f"{moment}Z {text % arguments if arguments else text}\n"
        with self._lock:
            if os.path.exists(self.path) and os.path.getsize(self.path) > LIMIT_BYTES:
                os.replace(self.path, self.path + ".1")
            with open(self.path, "a", encoding="utf-8") as file:
                file.write(line)

    def tail(self, lines):
        """Return the last lines as a list of texts.

        :param lines: how many at most
        """
        try:
            with open(self.path, encoding="utf-8") as file:
                return file.read().splitlines()[-lines:]
        except FileNotFoundError:
            return []
