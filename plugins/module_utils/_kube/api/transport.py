# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Sends requests to one API server, with credentials, within limits of time and size, and pauses when it is busy."""
from __future__ import annotations

import json
import time
from collections.abc import Sequence
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import quote

from ..._common.texts.plain_text import cut
from ..._common.transfer.answer_limits import AnswerTooLongError, read_stream
from ..._elsewhere.asking import Printed
from ..connection.connection import Connection
from ..responses.advice import next_step_of
from ..responses.answers import NOT_KUBERNETES, decode
from ..responses.errors import KubeError, error_from_answer, text_of
from . import pod_exec
from .port_forward import Tunnel, opened

try:
    import urllib3
    from urllib3._collections import HTTPHeaderDict
except ImportError:
    urllib3 = None  # type: ignore[assignment]

FIELD_MANAGER = "metal3.baremetal"
# Of a request with all that belongs to it, the pauses that a busy server asks for included.
REQUEST_TIMEOUT_SECONDS = 30
LIST_TIMEOUT_SECONDS = 120
# An answer as a whole may take so many times what the server may be silent for: networks are slow, lists are long.
_ANSWER_TIMES = 4
# A LIST of ten thousand hosts with all their details has about a tenth of it.
ANSWER_LIMIT_BYTES = 1024 ** 3
# A refusal or what a Service says is read by a user.
TEXT_LIMIT_BYTES = 1024 ** 2
# The header has whole seconds, and an answer takes a while.
_LEAST_DIFFERENCE_SECONDS = 5
# No clock is so wrong: times that are reckoned with more may be none that Python has.
_MOST_DIFFERENCE_SECONDS = 100 * 365 * 86400
_pause = time.sleep

_JSON = "application/json"


class Transport:
    """Requests to one API server; safe to share between threads.

    :param params: dict with the options of ``kube_argument_spec``, or with ``kubeconfig_content``, see
        :class:`Connection`
    :ivar ahead_seconds: how far the server's clock is ahead of this machine's, by its newest answer; 0 for the same
    :raises KubeError: when no usable configuration is found
    """

    ahead_seconds = 0.0

    def __init__(self, params: dict[str, Any]) -> None:
        self._connection = Connection(params)
        # Set once: whatever becomes of the kubeconfig during the run, all goes to this server.
        self._server = self._connection.server

    @property
    def server(self) -> str:
        """URL of the API server."""
        return self._server

    @property
    def context(self) -> str | None:
        """Name of the kubeconfig's context by which the server was found; None without a kubeconfig."""
        return self._connection.context

    def require_same_server(self) -> None:
        """Refuse a kubeconfig that leads to another server by now, before another program reads it by itself.

        :raises KubeError: when it does, or can't be read any more
        """
        self._connection.require_same_server()

    def request(self, method: str, path: str, query: dict[str, Any] | None = None, body: dict[str, Any] | None = None,
                content_type: str | None = None, subject: str | None = None, timeout_seconds: int | None = None,
                stream: bool = False, any_content: bool = False) -> Any:
        """Send one request and return the decoded answer (or the raw response when ``stream``).

        Credentials that are refused are read again, once; a server that is busy is asked again when it wants to be. A
        write only at HTTP 429, which is sent before anything is stored: after 5xx it may be stored, see
        :attr:`KubeError.may_be_stored`.

        :param method: HTTP method
        :param path: URL path, see :meth:`Resource.path`
        :param query: dict of query parameters
        :param body: a dict or list, sent as JSON
        :param content_type: defaults to JSON when there is a body
        :param subject: what errors name, defaults to the path
        :param timeout_seconds: for connecting, for each read and for all pauses together, see
            :data:`REQUEST_TIMEOUT_SECONDS`; a stream ends after it, any other answer must after four times as long
        :param any_content: whether an answer that is no JSON object is one: what a Service says
        :raises KubeError: when the server refuses or does not answer
        """
        timeout_seconds = REQUEST_TIMEOUT_SECONDS if timeout_seconds is None else timeout_seconds
        deadline = time.monotonic() + timeout_seconds
        renewed = False
        while True:
            generation = self._connection.generation
            try:
                return self._send(method, path, query, body, content_type, subject or path, timeout_seconds, stream,
                                  any_content)
            except KubeError as exc:
                if exc.status == 401 and not renewed and self._connection.renew(generation):
                    renewed = True
                    continue
                pause = exc.retry_after_seconds
                if pause is None or time.monotonic() + pause > deadline:
                    raise self._advised(exc, method, path, query) from exc
                if method != "GET" and not (query or {}).get("dryRun") and exc.status != 429:
                    raise self._advised(exc, method, path, query, may_be_stored=True) from exc
                _pause(pause)

    def _send(self, method: str, path: str, query: dict[str, Any] | None, body: dict[str, Any] | None,
              content_type: str | None, subject: str, timeout_seconds: int, stream: bool,
              any_content: bool) -> Any:
        fields = "&".join(f"{key}={_quote(value)}" for key, value in (query or {}).items() if value is not None)
        data = None if body is None else json.dumps(body, separators=(",", ":")).encode()
        # One that keeps several headers of a name, as groups need them.
        headers = HTTPHeaderDict({"Accept": _JSON, "User-Agent": FIELD_MANAGER})
        for name, value in self._connection.impersonation:
            headers.add(name, value)
        if content_type or data:
            headers["Content-Type"] = content_type or _JSON
        authorization = self._connection.authorization()
        if authorization:
            headers["authorization"] = authorization
        self._connection.allow(timeout_seconds * (1 if stream else _ANSWER_TIMES))
        try:
            response = self._connection.pool.request(
                method, self._server + path + ("?" + fields if fields else ""), body=data, headers=headers,
                timeout=urllib3.Timeout(connect=timeout_seconds, read=timeout_seconds),
                preload_content=False, retries=False, redirect=False)
            if not 200 <= response.status < 300:
                raise self._refusal(response, subject)
            self.ahead_seconds = _ahead_seconds(response.headers.get("Date"))
            if stream:
                return response
            content = self._content(response, subject, TEXT_LIMIT_BYTES if any_content else ANSWER_LIMIT_BYTES)
        # ValueError: a proxy's or kubeconfig's odd URL; OSError: a certificate's file that went away.
        except (urllib3.exceptions.HTTPError, OSError, ValueError) as exc:
            raise self._no_answer(subject, exc) from exc
        answer = decode(content)
        if not isinstance(answer, dict) and not any_content:
            # Not quoted: what was to be the JSON of a Secret is one still.
            is_markup = str(answer).lstrip().startswith("<")
            shown = text_of(answer) if is_markup else f"{len(content)} bytes that are no JSON object"
            raise self._no_kubernetes(subject, f"HTTP {response.status} with {shown}")
        return answer

    def _refusal(self, response: Any, subject: str) -> KubeError:
        if 300 <= response.status < 400:
            response.close()
            return self._no_kubernetes(subject, f"HTTP {response.status}, a redirection, which is not followed")
        pause = _pause_seconds(response.headers.get("Retry-After")) \
            if response.status == 429 or response.status >= 500 else None
        return error_from_answer(response.status, decode(self._content(response, subject, TEXT_LIMIT_BYTES)), subject,
                                 pause)

    def _content(self, response: Any, subject: str, limit: int) -> bytes:
        """Return an answer's content as far as any may go; what is compressed counts as it is unpacked."""
        try:
            content = read_stream(response.stream(65536, decode_content=True), limit)
        except AnswerTooLongError as exc:
            response.close()
            raise self._no_kubernetes(subject, exc) from exc
        response.release_conn()
        return content

    def _no_kubernetes(self, subject: Any, found: Any) -> Any:
        return KubeError(
            f"{subject}: found {found}, expected the JSON of a Kubernetes API server at {self._server}",
            reason="InvalidAnswer", next_step=NOT_KUBERNETES)

    def _no_answer(self, subject: str, exc: Any) -> KubeError:
        text = cut(" ".join(str(exc).split()), 500)
        if "CERTIFICATE_VERIFY_FAILED" in text:
            return KubeError(f"{subject}: the certificate of API server {self._server} is not trusted: {text}",
                             reason="Certificate")
        return KubeError(f"{subject}: API server {self._server} does not answer: {text}", reason="Unreachable")

    def _advised(self, exc: KubeError, method: str, path: str, query: dict[str, Any] | None,
                 may_be_stored: bool = False) -> KubeError:
        if exc.next_step:
            return exc
        return KubeError(
            exc.cause, exc.status, exc.reason, exc.causes, retry_after_seconds=exc.retry_after_seconds,
            may_be_stored=may_be_stored,
            next_step=next_step_of(exc, method, path, query or {}, self._server, self._connection.user))

    def port_forward(self, path: str, port: int, subject: str, timeout_seconds: float = REQUEST_TIMEOUT_SECONDS,
                     limit_seconds: float = REQUEST_TIMEOUT_SECONDS * _ANSWER_TIMES) -> Tunnel:
        """Return a connection to a port of a pod, as its containers reach it on the loopback device.

        :param path: URL path of the pod, see :meth:`Resource.path`
        :param port: number of the port
        :param subject: what errors name
        :param timeout_seconds: for connecting, and how long the other side may be silent
        :param limit_seconds: how long the connection may be received from as a whole
        :raises KubeError: when the server refuses or does not answer
        """
        return opened(self._connection, self._server, path, port, subject, timeout_seconds, limit_seconds)

    def execute(self, path: str, container: str, command: Sequence[str], given: bytes, subject: str,
                limit_seconds: float) -> Printed:
        """Run a program in a container of a pod, and return what it has printed.

        :param path: URL path of the pod, see :meth:`Resource.path`
        :param container: name of the container
        :param command: program and arguments; part of the URL, so that what is long or secret is none of them
        :param given: what it reads; it is not said that there is no more
        :param subject: what errors name
        :param limit_seconds: how long it may take
        :raises KubeError: when the server refuses or does not answer, or the program can't be run
        """
        return pod_exec.run(self._connection, self._server, path, container, command, given, subject, limit_seconds)

    def beginning(self, path: str, query: dict[str, Any], subject: str, limit_bytes: int) -> bytes:
        """Return the beginning of an answer that is no JSON, such as a container's log.

        :param path: URL path, see :meth:`Resource.path`
        :param query: dict of query parameters
        :param subject: what errors name
        :param limit_bytes: how much is read at most, whatever the server sends
        :raises KubeError: when the server refuses or does not answer
        """
        response = self.request("GET", path, query, subject=subject, timeout_seconds=LIST_TIMEOUT_SECONDS, stream=True)
        try:
            parts, size = [], 0
            for part in response.stream(65536, decode_content=True):
                parts.append(part)
                size += len(part)
                if size >= limit_bytes:
                    break
            return b"".join(parts)[:limit_bytes]
        except (urllib3.exceptions.HTTPError, OSError) as exc:
            raise KubeError(f"{subject}: connection to {self.server} lost: {exc}", reason="Unreachable",
                            next_step="run again") from exc
        finally:
            response.close()


def _pause_seconds(value: str) -> float | None:
    """Return how long a server asks to be left alone, by the header ``Retry-After``; None when it does not say."""
    try:
        return max(0.1, float(int(value)))
    except OverflowError:
        return float("inf")
    except (TypeError, ValueError):
        pass
    try:
        return max(0.1, parsedate_to_datetime(value).timestamp() - time.time())
    except (TypeError, ValueError, OverflowError):
        return None


def _ahead_seconds(value: str | None) -> float:
    """Return how far a server's clock is ahead of this machine's, by the header ``Date``; 0 when it does not say."""
    try:
        theirs = parsedate_to_datetime(value or "")
        difference = theirs.timestamp() - time.time()
    except (TypeError, ValueError, OverflowError):
        return 0.0
    is_one = theirs.tzinfo is not None and _LEAST_DIFFERENCE_SECONDS < abs(difference) < _MOST_DIFFERENCE_SECONDS
    return difference if is_one else 0.0


def _quote(value: str) -> str:
    return quote(str(value), safe="")
