# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Connections to an API server by WebSocket, through which it leads to a pod: its ports, programs in its containers.

Not by ``kubernetes.stream``, which has no timeout, follows redirects with the token (its call of ``WebSocket.connect``
sets no ``redirect_limit``) and leaves out the headers of impersonation.
"""
from __future__ import annotations

import base64
import contextlib
import ssl
from typing import Any
from urllib.parse import urlsplit

from ..._common.addresses import web_ports
from ..._common.transfer.answer_limits import Deadline
from ..responses.errors import KubeError, error_from_answer

try:
    import urllib3
    import websocket
except ImportError:
    # The package kubernetes requires it, so that modules ask for that one alone.
    pass

# Without any the library leaves out servers that the environment names, by rules of its own.
_NO_SERVER = "none.invalid"
# Each message begins with the number of a channel.
PROTOCOL = "v4.channel.k8s.io"
_PIECE_BYTES = 64 * 1024
# API servers send what they have read at once, some 32 KiB; with what else comes until a message is whole.
_MESSAGE_BYTES = 4 * 1024 ** 2
# Of an answer that connects or refuses, with its head.
_ANSWER_BYTES = 1024 ** 2


class _BoundedSocket:
    """A connected socket that receives until a moment, and so much as is allowed; in all else the socket itself.

    :param connection: the socket
    :param seconds: how long may be received from it
    """

    def __init__(self, connection: Any, seconds: float) -> None:
        self._connection = connection
        # No timeout: of those the library says nothing but that it was one.
        self._deadline = Deadline(seconds, "end", OSError)
        self._left = _ANSWER_BYTES

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)

    def allow(self, size_bytes: int) -> None:
        """Allow so much from now on."""
        self._left = size_bytes

    def recv(self, size: int) -> bytes:
        """Receive what has come, or wait for it as long as the socket may, and no longer than until the moment.

        :raises OSError: when the time is up, or more comes than is allowed
        """
        if self._left <= 0:
            raise OSError("a message or answer that is longer than any that is expected")
        content: bytes = self._deadline.receive(
            self._connection, lambda: self._connection.recv(min(size, self._left)))
        self._left -= len(content)
        return content


def _bounded(seconds: float) -> Any:
    """Return a class of WebSockets that end in time, and whose messages have a limit.

    The library's own reads heads, bodies of refusals, messages in parts and frames of any length, and answers pings
    without end.

    :param seconds: how long a connection may be received from
    """
    class Bounded(websocket.WebSocket):
        _bounded: _BoundedSocket | None = None

        @property
        def sock(self) -> Any:
            """Return the socket."""
            return self._bounded

        @sock.setter
        def sock(self, connection: Any) -> None:
            self._bounded = None if connection is None else _BoundedSocket(connection, seconds)

        def recv_data(self, *arguments: Any, **options: Any) -> Any:
            """Return the next message."""
            if self._bounded is not None:
                self._bounded.allow(_MESSAGE_BYTES)
            return super().recv_data(*arguments, **options)

    return Bounded


def opened(connection: Any, server: str, path: str, subject: str, timeout_seconds: float, limit_seconds: float) -> Any:
    """Return a connected WebSocket that speaks :data:`PROTOCOL`; credentials that are refused are read again, once.

    :param connection: a Connection
    :param server: URL of the API server
    :param path: URL path and query
    :param subject: what errors name
    :param timeout_seconds: for connecting, and how long the other side may be silent
    :param limit_seconds: how long may be received as a whole
    :raises KubeError: when the server refuses or does not answer
    """
    renewed = False
    while True:
        generation = connection.generation
        try:
            return _connected(connection, server, path, subject, timeout_seconds, limit_seconds)
        except KubeError as exc:
            if exc.status != 401 or renewed or not connection.renew(generation):
                raise
            renewed = True


def send(channel: Any, number: int, data: bytes) -> None:
    """Send bytes in messages of a channel.

    :param channel: a connected WebSocket
    :param number: of the channel
    :raises WebSocketException, OSError: when the connection is lost
    """
    for begin in range(0, len(data), _PIECE_BYTES):
        channel.send_binary(bytes([number]) + data[begin:begin + _PIECE_BYTES])


def close(channel: Any) -> None:
    """End a connection, which may have ended already."""
    with contextlib.suppress(websocket.WebSocketException, OSError):
        channel.close(timeout=1)


def _connected(connection: Any, server: str, path: str, subject: str, timeout_seconds: float,
               limit_seconds: float) -> Any:
    settings = connection.settings
    header = [f"{name}: {value}" for name, value in connection.impersonation]
    authorization = connection.authorization()
    if authorization:
        header.append(f"authorization: {authorization}")
    channel = _bounded(limit_seconds)(sslopt=_tls(settings), skip_utf8_validation=True)
    try:
        channel.connect("ws" + server[len("http"):] + path, header=header, subprotocols=[PROTOCOL],
                        timeout=timeout_seconds, redirect_limit=0, suppress_origin=True, **_proxy(settings))
    except websocket.WebSocketBadStatusException as exc:
        raise error_from_answer(exc.status_code, _text(exc), subject) from exc
    except (websocket.WebSocketException, OSError, ValueError, urllib3.exceptions.HTTPError) as exc:
        raise KubeError(f"{subject}: API server {server} does not answer: {exc}", reason="Unreachable") from exc
    if channel.getsubprotocol() != PROTOCOL:
        channel.close(timeout=1)
        raise KubeError(f"{subject}: found the protocol {channel.getsubprotocol()}, expected {PROTOCOL}",
                        reason="InvalidAnswer")
    return channel


def _text(exc: Any) -> str:
    body = exc.resp_body
    return body.decode(errors="replace") if isinstance(body, bytes) else str(body or "")


def _tls(settings: Any) -> dict[str, Any]:
    options: dict[str, Any] = {"cert_reqs": ssl.CERT_REQUIRED if settings.verify_ssl else ssl.CERT_NONE,
                               "check_hostname": bool(settings.verify_ssl)}
    for option, value in (("ca_certs", settings.ssl_ca_cert if settings.verify_ssl else None),
                          ("certfile", settings.cert_file), ("keyfile", settings.key_file),
                          ("server_hostname", settings.tls_server_name)):
        if value:
            options[option] = value
    return options


def _proxy(settings: Any) -> dict[str, Any]:
    if not settings.proxy:
        # Else the library takes one of the environment by rules of its own.
        return {"http_no_proxy": ["*"]}
    proxy = urlsplit(settings.proxy)
    options: dict[str, Any] = {
        "http_proxy_host": proxy.hostname, "http_proxy_port": proxy.port or web_ports.BY_SCHEME[proxy.scheme],
        "proxy_type": "http", "http_no_proxy": [_NO_SERVER]}
    credentials = (getattr(settings, "proxy_headers", None) or {}).get("proxy-authorization", "")
    if credentials.startswith("Basic "):
        user, _colon, password = base64.b64decode(credentials[len("Basic "):]).decode().partition(":")
        options["http_proxy_auth"] = (user, password)
    return options
