# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Connections to ports of pods, through the API server and the kubelet, by WebSocket.

Kubelets speak ``v4.channel.k8s.io``: each message begins with the number of a channel, 0 for the port's bytes and 1 for
what went wrong; the first message of each says the port (k8s.io/kubelet, ``pkg/cri/streaming/portforward``).
"""
from __future__ import annotations

from typing import Any

from ..responses.errors import KubeError
from . import web_socket

try:
    import websocket
except ImportError:
    # As in web_socket.
    websocket = None  # type: ignore[assignment]

_DATA, _ERROR = 0, 1


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
            web_socket.send(self._channel, _DATA, data)
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
        web_socket.close(self._channel)

    def _lost(self, cause: Any) -> KubeError:
        return KubeError(f"{self._subject}: port {self._port}: the connection is lost: {cause}", reason="Unreachable")


def opened(connection: Any, server: str, path: str, port: int, subject: str, timeout_seconds: float,
           limit_seconds: float) -> Tunnel:
    """Connect to a port of a pod, see :meth:`KubeClient.port_forward`.

    :param connection: a Connection
    :param server: URL of the API server
    :param path: URL path of the pod
    """
    return Tunnel(web_socket.opened(connection, server, f"{path}/portforward?ports={port}", subject, timeout_seconds,
                                    limit_seconds), port, subject)
