# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Questions to a workload cluster's etcd, by its JSON gateway, through the API server to the member's pod.

That is how Cluster API reaches etcd, which speaks gRPC to it; the gateway (``--enable-grpc-gateway``, on by default)
has the same calls as JSON: etcd, api/etcdserverpb/rpc.proto.
"""
from __future__ import annotations

import base64
import contextlib
import http.client
import json
import ssl
from collections.abc import Iterator
from typing import Any

from .._common.plain_text import cut, plain
from .._kube.errors import KubeError
from .._metal3.kinds import KNOWN
from .errors import EtcdError
from .tls_tunnel import TlsTunnel, post

NAMESPACE = "kube-system"
PORT = 2379
# kubeadm's certificates of etcd have it on all nodes.
HOST = "localhost"
_ANSWER_BYTES = 1024 ** 2
# Of 32 KiB of a snapshot as base64 (snapshotSendBufferSize in etcdserver/api/v3rpc/maintenance.go).
_LINE_BYTES = 1024 ** 2
_SILENT_SECONDS = 60
# A question as a whole; a snapshot, whose file may have gigabytes.
_QUESTION_SECONDS = 240
_SNAPSHOT_SECONDS = 6 * 3600


class Member:
    """etcd's member on one node.

    :param client: a KubeClient of the workload cluster
    :param node: name of the node
    :param context: what :func:`client_certificate.tls_context` returned
    """

    def __init__(self, client: Any, node: str, context: ssl.SSLContext) -> None:
        self._client, self.node, self._context = client, node, context
        self._subject = f"etcd on Node {node}"

    def status(self) -> dict[str, Any]:
        """Return what etcd says of itself: ``version``, ``leader``, ``errors``, ``header`` and more."""
        return self._asked("/v3/maintenance/status", {})

    def is_up_to_date(self) -> bool:
        """Ask for a key in a way that etcd answers only when this member has all that was written; no key is read."""
        key = base64.b64encode(b"\0").decode()
        return "header" in self._asked("/v3/kv/range", {"key": key, "count_only": True})

    def members(self) -> list[dict[str, Any]]:
        """Return the members as etcd knows them: ``ID``, ``name``, ``peerURLs``."""
        found = self._asked("/v3/cluster/member/list", {}).get("members")
        return [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []

    def set_peer_urls(self, member_id: str, urls: list[str]) -> None:
        """Change where the other members reach a member."""
        self._asked("/v3/cluster/member/update", {"ID": member_id, "peerURLs": urls})

    @contextlib.contextmanager
    def snapshot(self) -> Iterator[Iterator[dict[str, Any]]]:
        """Give the messages of a snapshot for the time of a ``with``: ``blob``, ``remaining_bytes``, ``version``."""
        with self._answer("/v3/maintenance/snapshot", {}, _SNAPSHOT_SECONDS) as answer:
            yield self._messages(answer)

    def _asked(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        with self._answer(path, body) as answer:
            return self._decoded(answer.read(_ANSWER_BYTES + 1))

    @contextlib.contextmanager
    def _answer(self, path: str, body: dict[str, Any], limit_seconds: float = _QUESTION_SECONDS) -> Iterator[Any]:
        pod = KNOWN["Pod"].path(NAMESPACE, f"etcd-{self.node}")
        try:
            with contextlib.closing(self._client.port_forward(
                    pod, PORT, self._subject, _SILENT_SECONDS, limit_seconds)) as tunnel:
                stream = TlsTunnel(tunnel, self._context, HOST)
                answer = post(stream, f"{HOST}:{PORT}", path, json.dumps(body).encode())
                if answer.status != 200:
                    raise self._refused(answer)
                yield answer
        except (OSError, http.client.HTTPException) as exc:
            raise EtcdError(f"{self._subject}: {plain(str(exc)) or type(exc).__name__}") from exc
        except KubeError as exc:
            raise EtcdError(exc.message) from exc

    def _refused(self, answer: Any) -> EtcdError:
        text = cut(plain(answer.read(_ANSWER_BYTES).decode(errors="replace")), 300)
        hint = "; its gateway is off: start etcd without --enable-grpc-gateway=false" if answer.status == 404 else ""
        return EtcdError(f"{self._subject}: HTTP {answer.status}: {text}{hint}")

    def _messages(self, answer: Any) -> Iterator[dict[str, Any]]:
        while True:
            line = answer.readline(_LINE_BYTES + 1)
            if not line:
                return
            if len(line) > _LINE_BYTES:
                raise EtcdError(f"{self._subject}: found a message of more than {_LINE_BYTES} bytes, expected one of a "
                                "snapshot")
            message = self._decoded(line)
            if "error" in message:
                raise EtcdError(f"{self._subject}: {cut(plain(json.dumps(message['error'])), 300)}")
            result = message.get("result")
            yield result if isinstance(result, dict) else {}

    def _decoded(self, content: bytes) -> dict[str, Any]:
        try:
            found = json.loads(content)
        except (ValueError, RecursionError):
            found = None
        if len(content) > _ANSWER_BYTES or not isinstance(found, dict):
            raise EtcdError(f"{self._subject}: found {len(content)} bytes that are no JSON object, expected an answer "
                            "of etcd's gateway")
        return found
