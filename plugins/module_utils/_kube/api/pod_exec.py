# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Programs in containers of pods, through the API server and the kubelet, by WebSocket.

Kubelets speak ``v4.channel.k8s.io``: each message begins with the number of a channel, 0 for what the program reads, 1
and 2 for what it prints, 3 for how it has ended (k8s.io/kubelet, ``pkg/cri/streaming/remotecommand/websocket.go``).
Nothing in it says that there is no more to read.
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode

from ..._common.documents.document_text import from_json
from ..._elsewhere.asking import Printed
from ..responses.errors import KubeError, error_from_answer
from . import web_socket

try:
    import websocket
except ImportError:
    # As in web_socket.
    websocket = None  # type: ignore[assignment]

_INPUT, _OUTPUT, _ERRORS, _STATUS = 0, 1, 2, 3
_CONNECT_SECONDS = 30
# Of both outputs together: a thousand answers about BMCs have a hundredth of it.
_PRINTED_BYTES = 4 * 1024 ** 2


def run(connection: Any, server: str, path: str, container: str, command: Sequence[str], given: bytes, subject: str,
        limit_seconds: float) -> Printed:
    """Run a program in a container, see :meth:`KubeClient.execute`.

    :param connection: a Connection
    :param server: URL of the API server
    :param path: URL path of the pod
    """
    query = urlencode([("container", container), *(("command", part) for part in command), ("stdin", "true"),
                       ("stdout", "true"), ("stderr", "true")])
    channel = web_socket.opened(connection, server, f"{path}/exec?{query}", subject, _CONNECT_SECONDS, limit_seconds)
    try:
        # A program that works prints nothing.
        channel.settimeout(limit_seconds)
        return _followed(channel, given, subject)
    except (websocket.WebSocketException, OSError) as exc:
        raise _lost(subject, exc) from exc
    finally:
        web_socket.close(channel)


def _followed(channel: Any, given: bytes, subject: str) -> Printed:
    web_socket.send(channel, _INPUT, given)
    printed: dict[int, list[bytes]] = {_OUTPUT: [], _ERRORS: []}
    left = _PRINTED_BYTES
    while True:
        opcode, message = channel.recv_data()
        if opcode == websocket.ABNF.OPCODE_CLOSE:
            raise _lost(subject, "it ended without a word of how the program has")
        if opcode != websocket.ABNF.OPCODE_BINARY or not message or message[0] not in (*printed, _STATUS):
            raise _lost(subject, "found a message that is none of a program's")
        if message[0] == _STATUS and len(message) > 1:
            return Printed(b"".join(printed[_OUTPUT]), b"".join(printed[_ERRORS]), _code(message[1:], subject))
        if message[0] in printed:
            printed[message[0]].append(message[1:])
            left -= len(message)
        if left < 0:
            raise _lost(subject, f"it prints more than {_PRINTED_BYTES // 1024 ** 2} MiB")


def _code(status: bytes, subject: str) -> int:
    """Return the exit code that a status says.

    :raises KubeError: when the program was not run
    """
    try:
        found = from_json(status.decode(errors="replace"))
        if found["status"] == "Success":
            return 0
        if found.get("reason") == "NonZeroExitCode":
            return next(int(cause["message"]) for cause in found["details"]["causes"] if cause["reason"] == "ExitCode")
    except (ValueError, TypeError, KeyError, AttributeError, StopIteration) as exc:
        raise KubeError(f"{subject}: found a status that is none", reason="InvalidAnswer") from exc
    raise error_from_answer(500, found, subject)


def _lost(subject: str, cause: Any) -> KubeError:
    return KubeError(f"{subject}: the connection is lost: {cause}", reason="Unreachable")
