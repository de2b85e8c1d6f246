# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An end for each HTTP answer: in time, however slowly its bytes come, and in size.

The timeouts of HTTP libraries begin again with each byte, so that a server which sends one now and then is never late.
Connections of ``http.client``, and what urllib3 and requests derive from them, read each answer from a file that their
socket makes: here that file ends at one moment. A TLS handshake, and what is sent, have such an end in Python itself.
"""
from __future__ import annotations

import http.client
import io
import socket
import time
import urllib.request
from collections.abc import Callable, Iterable
from typing import Any

from ..texts.formats import duration

_PIECE_BYTES = 65536
# Ten thousand hosts with all their details have about a third of it.
VALUES_LIMIT = 20 * 10 ** 6


class AnswerTooLongError(OSError):
    """An answer is longer than any that is expected."""


class Deadline:
    """A moment until which something may be received.

    :param seconds: from now
    :param what: what there is to be by then, for the error
    :param error: class of the error when it is not
    """

    def __init__(self, seconds: float, what: str, error: type[OSError]) -> None:
        self._seconds, self._what, self._error = seconds, what, error
        self._at = time.monotonic() + seconds

    def receive(self, connection: Any, read: Callable[[], Any]) -> Any:
        """Return what is read, waiting for it as long as the socket may, and no longer than until the moment.

        :param connection: the socket that is read from
        :param read: callable that reads once
        :raises OSError: of the class of this moment when it is over; what ``read`` raises before
        """
        remaining = self._at - time.monotonic()
        if remaining <= 0:
            raise self._late()
        allowed = connection.gettimeout()
        if allowed is not None and allowed <= remaining:
            return read()
        connection.settimeout(remaining)
        try:
            return read()
        # Before Python 3.10 it is no TimeoutError.
        except socket.timeout as exc:
            raise self._late() from exc
        finally:
            connection.settimeout(allowed)

    def _late(self) -> OSError:
        return self._error(f"no {self._what} within {duration(self._seconds)}")


class _TimedFile(io.RawIOBase):
    """What a socket receives, until a moment."""

    def __init__(self, connection: Any, seconds: float) -> None:
        super().__init__()
        self._connection = connection
        self._file = connection.makefile("rb", buffering=0)
        self._deadline = Deadline(seconds, "complete answer", socket.timeout)

    def readable(self) -> bool:
        """Return True."""
        return True

    def fileno(self) -> int:
        """Return the socket's descriptor."""
        return self._file.fileno()

    def readinto(self, buffer: Any) -> Any:
        """Read what has come, or wait for it as long as the socket may, and no longer than until the moment."""
        return self._deadline.receive(self._connection, lambda: self._file.readinto(buffer))

    def close(self) -> None:
        """Close the file; the socket stays open for others that use it."""
        self._file.close()
        super().close()


class _TimedSocket:
    """A connected socket whose answers end in time; in all else the socket itself."""

    def __init__(self, connection: Any, seconds: Callable[[], float]) -> None:
        self._connection = connection
        self._seconds = seconds

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)

    def makefile(self, *dummy: Any, **_options: Any) -> io.BufferedReader:
        """Return the file of the next answer, whose time begins now."""
        return io.BufferedReader(_TimedFile(self._connection, self._seconds()), _PIECE_BYTES)


def timed(connection_class: Any, seconds: Callable[[], float]) -> Any:
    """Return a class of connections whose answers end in time.

    :param connection_class: ``http.client.HTTPConnection`` or what is derived from it
    :param seconds: callable that returns how long an answer may take as a whole, asked when one is awaited
    """
    class Timed(connection_class):
        def connect(self) -> None:
            """Connect."""
            super().connect()
            self.sock: Any = _TimedSocket(self.sock, seconds)

    Timed.__name__ = connection_class.__name__
    return Timed


def handlers(seconds: float, context: Any) -> tuple[urllib.request.BaseHandler, urllib.request.BaseHandler]:
    """Return what sends the requests of a ``urllib`` opener by HTTP and by HTTPS, so that answers end in time.

    :param seconds: how long an answer may take as a whole, its head included
    :param context: the ``ssl.SSLContext`` of HTTPS
    """
    plain = timed(http.client.HTTPConnection, lambda: seconds)
    secure = timed(http.client.HTTPSConnection, lambda: seconds)

    class Plain(urllib.request.HTTPHandler):
        def http_open(self, req: urllib.request.Request) -> Any:
            """Send a request."""
            return self.do_open(plain, req)

    class Secure(urllib.request.HTTPSHandler):
        def https_open(self, req: urllib.request.Request) -> Any:
            """Send a request by TLS."""
            return self.do_open(secure, req, context=context)

    return Plain(), Secure()


def limit_pools(manager: Any, seconds: Callable[[], float]) -> Any:
    """Let the answers that come through a urllib3 ``PoolManager`` end in time, and return it.

    :param manager: a PoolManager that has made no connection yet
    :param seconds: as of :func:`timed`
    """
    manager.pool_classes_by_scheme = dict(
        (scheme, type(pool.__name__, (pool,), {"ConnectionCls": timed(pool.ConnectionCls, seconds)}))
        for scheme, pool in manager.pool_classes_by_scheme.items())
    return manager


def limit_session(session: Any, seconds: Callable[[], float]) -> None:
    """Let the answers of a ``requests`` session that has asked nothing yet end in time.

    :param session: a ``requests.Session``
    :param seconds: as of :func:`timed`
    """
    for adapter in dict.fromkeys(session.adapters.values()):
        limit_pools(adapter.poolmanager, seconds)
        _limit_proxies(adapter, seconds)


def _limit_proxies(adapter: Any, seconds: Callable[[], float]) -> None:
    make = adapter.proxy_manager_for

    def limited(proxy: str, **options: Any) -> Any:
        known = proxy in adapter.proxy_manager
        manager = make(proxy, **options)
        return manager if known else limit_pools(manager, seconds)

    adapter.proxy_manager_for = limited


def check_values(content: bytes) -> None:
    """Refuse JSON of so many values that these would take many times the memory of their text: ``[],`` takes 24 times.

    :param content: of an answer, JSON or not
    :raises AnswerTooLongError: when it has more than :data:`VALUES_LIMIT`
    """
    if len(content) > VALUES_LIMIT and sum(content.count(sign) for sign in (b",", b"[", b"{")) > VALUES_LIMIT:
        raise AnswerTooLongError(f"an answer of more than {VALUES_LIMIT // 10 ** 6} million values")


def read_stream(pieces: Iterable[bytes], limit_bytes: int) -> bytes:
    """Return an answer that comes in pieces.

    :param pieces: as they are unpacked
    :param limit_bytes: what all of them may have
    :raises AnswerTooLongError: when they have more, or too many values, see :func:`check_values`
    """
    parts, length = [], 0
    for piece in pieces:
        parts.append(piece)
        length += len(piece)
        if length > limit_bytes:
            raise AnswerTooLongError(f"an answer of more than {limit_bytes // 1024 ** 2} MiB")
    content = b"".join(parts)
    check_values(content)
    return content


def read_answer(answer: Any, limit_bytes: int) -> bytes:
    """Read the answer of a ``requests`` session and return it; what is compressed counts as it is unpacked.

    :param answer: a ``requests.Response`` of which nothing has been read
    :param limit_bytes: what it may have
    :raises AnswerTooLongError: as :func:`read_stream`
    """
    try:
        content = read_stream(answer.iter_content(_PIECE_BYTES), limit_bytes)
    except AnswerTooLongError:
        answer.close()
        raise
    # As requests keeps what it has read itself.
    answer._content, answer._content_consumed = content, True
    return content
