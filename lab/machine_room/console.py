"""The console log of a server: what firmware, agent and operating system would have printed on its serial port."""
from __future__ import annotations

from .bounded_log import BoundedLog, now


class Console:
    """A bounded log with the time before each line.

    :param path: the file
    """

    def __init__(self, path):
        self.path = path
        self._log = BoundedLog(path)

    def print(self, text, *arguments):
        """Append one line with the time in UTC.

        :param text: text, with ``%`` placeholders for ``arguments``
        """
        self._log.append(f"{now()} {text % arguments if arguments else text}")

    def tail(self, lines):
        """Return the last lines as a list of texts.

        :param lines: how many at most
        """
        return self._log.tail(lines)
