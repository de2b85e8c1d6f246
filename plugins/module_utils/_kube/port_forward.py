# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Connections to ports of pods, through the API server and the kubelet, by WebSocket.

Kubelets speak ``v4.channel.k8s.io``: each message begins with the number of a channel, 0 for the port's bytes and 1 for
what went wrong; the first message of each says the port (k8s.io/kubelet, ``pkg/cri/streaming/portforward``).

Not by ``kubernetes.stream.portforward``, which has no timeout, follows redirects with the token (its call of
``WebSocket.connect`` sets no ``redirect_limit``) and leaves out the headers of impersonation.
"""
from __future__ import annotations

import base64
import contextlib
import ssl
from typing import Any
from urllib.parse import urlsplit

from .._common.answer_limits import Deadline
from .errors import KubeError, error_from_answer

try:
    import urllib3
    import websocket
except ImportError:
    # The package kubernetes requires it, so that modules ask for that one alone.
    pass

PROTOCOL = "v4.channel.k8s.io"
_DATA, _ERROR = 0, 1
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


class Tunnel:
    """Bytes to and from a port of a pod; of one thread.

    :param channel: a connected WebSocket
    :param port: number of the port
    :param subject: what errors name
    """

    def __init__(self, channel: Any, port: int, subject: str) -> None:
        self._channel, self._port, self._subject = channel, port, subject
        self._begun: set[int] = set()
        self._ended = False

    def send(self, data: bytes) -> None:
        """Send bytes.

        :raises KubeError: when the connection is lost
        """
        try:
            for begin in range(0, len(data), _PIECE_BYTES):
                self._channel.send_binary(bytes([_DATA]) + data[begin:begin + _PIECE_BYTES])
        except (websocket.WebSocketException, OSError) as exc:
            raise self._lost(exc) from exc

    def receive(self) -> bytes:
        """Return the bytes that come next; empty at the end.

        :raises KubeError: when the connection is lost, or the kubelet does not reach the port
        """
        while not self._ended:
            try:
                opcode, message = self._channel.recv_data()
            except websocket.WebSocketConnectionClosedException:
                break
            except (websocket.WebSocketException, OSError) as exc:
                raise self._lost(exc) from exc
            if opcode == websocket.ABNF.OPCODE_CLOSE:
                break
            if opcode != websocket.ABNF.OPCODE_BINARY or not message or message[0] not in (_DATA, _ERROR):
                raise self._lost("found a message that is none of a port's")
            content = self._content(message)
            if content:
                return content
        self._ended = True
        return b""

    def _content(self, message: bytes) -> bytes:
        channel, content = message[0], message[1:]
        if channel not in self._begun:
            if len(content) != 2 or int.from_bytes(content, "little") != self._port:
                raise self._lost("found another port than the one that was asked for")
            self._begun.add(channel)
            return b""
        if channel == _ERROR and content:
            raise self._lost(content.decode(errors="replace")[:500].strip())
        return content

    def close(self) -> None:
        """End the connection."""
        self._ended = True
        # It may have ended already.
        with contextlib.suppress(websocket.WebSocketException, OSError):
            self._channel.close(timeout=1)

    def _lost(self, cause: Any) -> KubeError:
        return KubeError(f"{self._subject}: port {self._port}: the connection is lost: {cause}", reason="Unreachable")


def opened(connection: Any, server: str, path: str, port: int, subject: str, timeout_seconds: float,
           limit_seconds: float) -> Tunnel:
    """Connect to a port of a pod, see :meth:`KubeClient.port_forward`.

    :param connection: a Connection
    :param server: URL of the API server
    :param path: URL path of the pod
    """
    renewed = False
    while True:
        generation = connection.generation
        try:
            return Tunnel(_connected(connection, server, f"{path}/portforward?ports={port}", subject, timeout_seconds,
                                     limit_seconds), port, subject)
        except KubeError as exc:
            if exc.status != 401 or renewed or not connection.renew(generation):
                raise
            renewed = True


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
        raise KubeError(f"{subject}: found the protocol {channel.getsubprotocol()}, expected {PROTOCOL} of "
                        "port-forward", reason="InvalidAnswer")
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
        # Else the library takes one of the environment, which the other requests do not.
        return {"http_no_proxy": ["*"]}
    proxy = urlsplit(settings.proxy)
    options: dict[str, Any] = {"http_proxy_host": proxy.hostname, "http_proxy_port": proxy.port, "proxy_type": "http"}
    if settings.no_proxy:
        options["http_no_proxy"] = [part.strip() for part in settings.no_proxy.split(",")]
    credentials = (getattr(settings, "proxy_headers", None) or {}).get("proxy-authorization", "")
    if credentials.startswith("Basic "):
        user, _colon, password = base64.b64decode(credentials[len("Basic "):]).decode().partition(":")
        options["http_proxy_auth"] = (user, password)
    return options
