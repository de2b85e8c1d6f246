# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Waits until the systems of provisioned servers answer on a TCP port, in the background of a wait for their hosts.

A BareMetalHost is provisioned when its server was set to boot from its disk and powered on; nobody looks whether that
went well.
"""
from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from .._common.texts.formats import duration
from .._common.texts.plain_text import plain
from .._common.waiting import parallel

INTERVAL_SECONDS = 2
CONNECT_SECONDS = 5
_SIDE_BY_SIDE = 32


class SystemPorts:
    """Asks systems while it is entered, each from when it is first asked about.

    :param port: the TCP port, 0 for none
    :param addresses: address by host; one that is missing or empty is the host's name
    :param clock: monotonic clock, in seconds
    :param connect: as ``socket.create_connection``
    """

    def __init__(self, port: int, addresses: Mapping[str, Any], clock: Callable[[], float] = time.monotonic,
                 connect: Callable[..., Any] = socket.create_connection) -> None:
        self._port = port
        self._addresses = addresses
        self._clock = clock
        self._connect = connect
        # By host: since when its system is waited for, and what came of the newest question.
        self._since: dict[str, float] = {}
        self._answers: dict[str, str | None] = {}
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> SystemPorts:
        if self._port:
            self._thread.start()
        return self

    def __exit__(self, *_exception: Any) -> None:
        self._ended.set()

    def lacking(self, name: str, boot: Callable[[float], str] = lambda seconds: "") -> str:
        """Return what is said of a system that does not answer yet, empty when it does or none is waited for.

        :param name: of the host
        :param boot: callable that takes for how many seconds the system is waited for, and says how far its boot is
        """
        if not self._port:
            return ""
        with self._lock:
            since = self._since.setdefault(name, self._clock())
            if self._answers.get(name, "") is None:
                return ""
            answer = self._answers.get(name) or "was not asked yet"
        seconds = self._clock() - since
        return "; ".join(text for text in (
            boot(seconds), f"port {self._port} of {self._address(name)} {answer} ({duration(seconds)})") if text)

    def look(self) -> None:
        """Ask all systems that have not answered once."""
        with self._lock:
            due = [name for name in self._since if self._answers.get(name, "") is not None]
        outcomes = parallel.run([partial(self._ask, name) for name in due], _SIDE_BY_SIDE, (OSError, UnicodeError))
        with self._lock:
            self._answers.update(zip(due, (outcome.value if outcome.error is None else _text(outcome.error)
                                           for outcome in outcomes)))

    def _address(self, name: str) -> str:
        return plain(str(self._addresses.get(name) or name))

    def _ask(self, name: str) -> None:
        self._connect((self._address(name), self._port), timeout=CONNECT_SECONDS).close()

    def _run(self) -> None:
        while not self._ended.wait(INTERVAL_SECONDS):
            self.look()


def _text(error: BaseException) -> str:
    if isinstance(error, ConnectionRefusedError):
        return "refuses connections: the system runs, and nothing listens there yet"
    if isinstance(error, (socket.gaierror, UnicodeError)):
        return "is no address that can be resolved"
    return "does not answer yet"
