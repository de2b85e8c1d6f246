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
import re
import ssl
from collections.abc import Iterator
from typing import Any, NamedTuple

from .._common.documents.document_text import from_json
from .._common.documents.tolerant import dicts_in
from .._common.texts.plain_text import cut, plain
from .._kube.responses.errors import KubeError
from .._metal3.kinds import KNOWN
from .errors import EtcdError
from .tls_tunnel import TlsTunnel, post

NAMESPACE = "kube-system"
PORT = 2379
# kubeadm's certificates of etcd have it on all nodes.
HOST = "localhost"
_ANSWER_BYTES = 1024 ** 2
# It becomes a part of the file, and of what a restore compares.
_VERSION = re.compile(r"[0-9]{1,6}(\.[0-9]{1,6}){1,3}([-+][A-Za-z0-9.+-]{1,40})?")
_REVISION = re.compile(r"[0-9]{1,20}")
_ERRORS = 5
# Of 32 KiB of a snapshot as base64 (snapshotSendBufferSize in etcdserver/api/v3rpc/maintenance.go).
_LINE_BYTES = 1024 ** 2
_SILENT_SECONDS = 60
# A question as a whole; a snapshot, whose file may have gigabytes.
_QUESTION_SECONDS = 240
_SNAPSHOT_SECONDS = 6 * 3600


class Status(NamedTuple):
    """What a member says of itself.

    :ivar version: for example ``3.6.16``
    :ivar revision: of its data
    :ivar wrong: what is wrong with it, empty for nothing
    """

    version: str
    revision: int
    wrong: str


class Member:
    """etcd's member on one node.

    :param client: a KubeClient of the workload cluster
    :param node: name of the node
    :param context: what :func:`client_certificate.tls_context` returned
    """

    def __init__(self, client: Any, node: str, context: ssl.SSLContext) -> None:
        self._client, self.node, self._context = client, node, context
        self._subject = f"etcd on Node {node}"

    def status(self) -> Status:
        """Return what etcd says of itself."""
        found = self._asked("/v3/maintenance/status", {})
        version, header, errors = found.get("version"), found.get("header"), found.get("errors") or []
        # As JSON has numbers of 64 bits; 0 is left out.
        revision = str(header.get("revision") or 0) if isinstance(header, dict) else ""
        if not (isinstance(version, str) and _VERSION.fullmatch(version) and _REVISION.fullmatch(revision)):
            raise EtcdError(f"{self._subject}: found a status without etcd's version or revision, expected both; look "
                            "what answers in its pod")
        texts = [str(item) for item in errors] if isinstance(errors, list) else [str(errors)]
        return Status(version, int(revision), cut(plain("; ".join(texts[:_ERRORS])), 300))

    def is_up_to_date(self) -> bool:
        """Ask for a key in a way that etcd answers only when this member has all that was written; no key is read."""
        key = base64.b64encode(b"\0").decode()
        return "header" in self._asked("/v3/kv/range", {"key": key, "count_only": True})

    def members(self) -> list[dict[str, Any]]:
        """Return the members as etcd knows them: ``ID``, ``name``, ``peerURLs``."""
        return dicts_in(self._asked("/v3/cluster/member/list", {}), "members")

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
            found = from_json(content)
        except ValueError:
            found = None
        if len(content) > _ANSWER_BYTES or not isinstance(found, dict):
            raise EtcdError(f"{self._subject}: found {len(content)} bytes that are no JSON object, expected an answer "
                            "of etcd's gateway")
        return found
