# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A Redfish service, asked through sushy's connector: one login, plain dicts, no retry of what was refused.

What a BMC answers is data: it names paths on itself only, so that credentials and tokens never go to another server.
"""
from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import SplitResult, urlsplit

from ..._common.addresses import web_ports
from ..._common.documents.document_text import from_json
from ..._common.documents.tolerant import dicts_in
from ..._common.texts.formats import duration
from ..._common.texts.plain_text import plain, shortened
from ..._common.transfer import answer_limits
from ..._common.transfer.user_agent import USER_AGENT
from ..._common.waiting import wait_loop
from ..addresses.address import path_mistake

try:
    import sushy.connector
    import sushy.exceptions
    import urllib3.exceptions
    HAS_SUSHY = True
except ImportError:
    HAS_SUSHY = False

ROOT = "/redfish/v1/"
_SYSTEMS = ROOT + "Systems"
# BMCs dislike connections that last for hours, for which sushy closes each at once; a survey takes seconds, and a
# handshake for each resource would make it many times longer.
_HEADERS = {"Connection": "keep-alive"}
_REDIRECTS = (301, 302, 303, 307, 308)
_REDIRECT_LIMIT = 5
# DSP0266: what takes its time is answered with 202 and where to ask for its end; states of the schema Task.
_ACCEPTED = 202
_TASK_SECONDS = 120
_TASK_POLL_SECONDS = 1.0
_UNDER_WAY = ("New", "Pending", "Starting", "Running", "Service", "Stopping", "Suspended", "Interrupted", "Cancelling")
_FAILED = ("Exception", "Killed", "Cancelled")
# A task that has ended is forgotten by some; and what it changes may end the session that has begun it.
_NO_MORE = (401, 403, 404, 410)
# The longest answers, inventories of firmware with all their members, have less than a tenth of it.
_ANSWER_LIMIT_BYTES = 16 * 1024 * 1024
# All that is read of a BMC: with its firmware inventory some need minutes, for a few MiB.
_ALL_SECONDS = 900
_ALL_BYTES = 64 * 1024 * 1024

# sushy logs each refusal; here it becomes a result, and a module's standard error must stay empty.
logging.getLogger("sushy").addHandler(logging.NullHandler())
logging.getLogger("sushy").propagate = False


class RedfishError(Exception):
    """A request that did not bring what was asked for.

    :param kind: ``unreachable``, ``unauthorized``, ``not_found``, ``unavailable`` (429, 5xx), ``refused``,
        ``malformed`` or ``unfinished`` (a task that goes on)
    :param text: what the BMC said, one line
    :param status: HTTP status, 0 without an answer
    """

    def __init__(self, kind: str, text: str, status: int = 0):
        super().__init__(plain(text))
        self.kind = kind
        self.status = status


class RedfishClient:
    """One BMC.

    :param url: ``https://host:port``
    :param verify: what ``requests`` verifies the certificate with: a path, True or False
    :param connect_timeout_seconds: for a connection
    :param read_timeout_seconds: for an answer as a whole
    :param clock: monotonic clock, in seconds
    """

    def __init__(self, url: str, verify: str | bool, connect_timeout_seconds: float, read_timeout_seconds: float,
                 clock: Callable[[], float] = time.monotonic):
        # One retry at most, and none of connections: sushy's 0 means its default, which is three.
        self._connector = sushy.connector.Connector(
            url, verify=verify, server_side_retries=1, server_side_retries_delay=1,
            default_request_timeout=read_timeout_seconds, connect_timeout=connect_timeout_seconds)
        # What the environment says of proxies and .netrc is for other servers: a BMC's credentials go to the BMC.
        self._connector._session.trust_env = False
        # Else the log of a BMC has the same as of Ironic, which asks by the same library.
        self._connector._session.headers["User-Agent"] = USER_AGENT
        answer_limits.limit_session(self._connector._session, lambda: read_timeout_seconds)
        self._clock = clock
        self._deadline = clock() + _ALL_SECONDS
        self._remaining_bytes = _ALL_BYTES
        self._origin = _origin(urlsplit(url))
        self._url = url
        self._session_path: str | None = None
        self.login_attempts = 0
        self.login_method = ""

    def root(self) -> dict[str, Any]:
        """Return the service root, which anybody may read; sent without credentials."""
        return self._get(ROOT)

    def login(self, root: dict[str, Any], username: str, password: str) -> None:
        """Log in, by exactly one request that carries the password.

        A session where the service root names the place to make one (what Ironic does first), HTTP basic otherwise.
        The connector is given no way to log in again, so a refusal later never repeats the password of a session.

        :param root: the service root
        :raises RedfishError: of kind ``unauthorized`` when the BMC refuses the credentials, ``unsendable`` when no
            request can carry them
        """
        sessions = link(root, "Links", "Sessions")
        mistake = "" if sessions else _basic_mistake(username, password)
        if mistake:
            self.login_method = "basic"
            raise RedfishError("unsendable", mistake)
        self.login_attempts += 1
        if sessions:
            self.login_method = "session"
            answer = self._send("post", sessions, data={"UserName": username, "Password": password},
                                server_side_retries_left=0)
            token = answer.headers.get("X-Auth-Token")
            if not token:
                raise RedfishError("malformed", "the answer to the login has no X-Auth-Token", answer.status_code)
            # DSP0266 wants the header; some BMCs say it in the body only.
            self._session_path = _path_of(answer.headers.get("Location")) or link(
                {"session": _json(answer.content)}, "session")
            self._connector.set_http_session_auth(token)
            return
        self.login_method = "basic"
        self._connector.set_http_basic_auth(username, password)
        self._get(link(root, "Systems") or _SYSTEMS, server_side_retries_left=0)

    def read(self, path: str) -> dict[str, Any]:
        """Return a resource. A connection that breaks is tried once more: the credentials are known to be right."""
        try:
            return self._get(path)
        except RedfishError as exc:
            if exc.kind != "unreachable":
                raise
        return self._get(path, headers={"Connection": "close"})

    def read_tagged(self, path: str) -> tuple[dict[str, Any], str]:
        """Return a resource and its ETag, empty where the BMC shows none.

        :param path: the resource
        """
        answer = self._send("get", path)
        document = _object(answer, path)
        tag = answer.headers.get("ETag") or document.get("@odata.etag")
        return document, tag if isinstance(tag, str) and tag.isprintable() and tag.isascii() else ""

    def post(self, path: str, data: dict[str, Any]) -> None:
        """Ask for an action, once.

        :param path: the action's target
        :param data: its parameters
        :raises RedfishError: when the BMC refuses it
        """
        self._send("post", path, data=data, server_side_retries_left=0)

    def patch(self, path: str, data: dict[str, Any], etag: str = "") -> None:
        """Set properties of a resource, once.

        :param path: the resource
        :param data: the properties
        :param etag: the ETag that the resource must still have, empty for no condition
        :raises RedfishError: when the BMC refuses it, at once or at the end of a task; of kind ``unfinished`` when it
            has not said so in time
        """
        headers = dict(_HEADERS, **({"If-Match": etag} if etag else {}))
        answer = self._send("patch", path, data=data, headers=headers, server_side_retries_left=0)
        if answer.status_code == _ACCEPTED:
            self._wait(answer)

    def _wait(self, answer: Any) -> None:
        """Wait for the end of a task, where the BMC says which one it is."""
        path = _path_of(answer.headers.get("Location")) or link({"task": _json(answer.content)}, "task")
        if path is None:
            return
        left = wait_loop.until_nothing(
            lambda: self._under_way(path), _TASK_SECONDS, _TASK_POLL_SECONDS, self._clock, time.sleep)
        if left:
            raise RedfishError("unfinished", f"HTTP {_ACCEPTED}, and after {duration(_TASK_SECONDS)} its task has not "
                               f"ended ({left})", _ACCEPTED)

    def _under_way(self, path: str) -> str:
        """Return how far a task is, empty when it has ended.

        :raises RedfishError: when what it does was refused
        """
        try:
            answer = self._send("get", path, server_side_retries_left=0)
        except RedfishError as exc:
            if exc.status in _NO_MORE:
                return ""
            if exc.kind in ("unreachable", "unavailable"):
                return str(exc)
            raise
        if answer.status_code == _ACCEPTED:
            return "it is under way"
        task = nested({"task": _json(answer.content)}, "task")
        state = task.get("TaskState")
        if state in _FAILED:
            said = "; ".join(f"{item['Message']}" for item in dicts_in(task, "Messages") if item.get("Message"))
            raise RedfishError("refused", shortened(f"its task ended with {state}{f' ({said})' if said else ''}"), 400)
        return f"TaskState {state}" if state in _UNDER_WAY else ""

    def close(self) -> None:
        """End the session, of which a BMC has few."""
        try:
            if self._session_path:
                # Also when the time for all that was asked is up.
                self._deadline = math.inf
                self._send("delete", self._session_path)
        except RedfishError:
            # It ends by itself.
            pass
        finally:
            self._connector.close()

    def _get(self, path: str, **options: Any) -> dict[str, Any]:
        return _object(self._send("get", path, **options), path)

    def _send(self, method: str, path: str, **options: Any) -> Any:
        """Send a request to a path of this BMC; redirects of a GET to another path of this BMC are followed."""
        options.setdefault("headers", _HEADERS)
        for dummy in range(_REDIRECT_LIMIT):
            answer = self._exchange(method, checked_path(path), **options)
            if answer.status_code not in _REDIRECTS:
                return answer
            path = self._redirected(method, answer)
        raise RedfishError("malformed", f"more than {_REDIRECT_LIMIT} redirects", answer.status_code)

    def _redirected(self, method: str, answer: Any) -> str:
        """Return the path that an answer redirects to.

        :raises RedfishError: when it leads to another server, or is not the answer to a GET
        """
        where = answer.headers.get("Location") or ""
        try:
            parts = urlsplit(where)
            elsewhere = bool(parts.scheme or parts.netloc) and _origin(parts) != self._origin
        except ValueError:
            parts, elsewhere = None, True
        if parts is None or elsewhere or method != "get":
            raise RedfishError(
                "refused", f"HTTP {answer.status_code}, a redirect of {method.upper()} to "
                           f"{shortened(where) or 'nowhere'}, which is not followed: credentials go to {self._url} "
                           "only", answer.status_code)
        return parts.path + ("?" + parts.query if parts.query else "")

    def _exchange(self, method: str, path: str, **options: Any) -> Any:
        if self._clock() > self._deadline:
            raise RedfishError("unreachable", f"all that was asked took more than {duration(_ALL_SECONDS)}")
        try:
            return getattr(self._connector, method)(
                path, allow_redirects=False, stream=True, hooks={"response": self._bounded}, **options)
        except sushy.exceptions.HTTPError as exc:
            raise RedfishError(_kind(exc.status_code), _http_text(exc), exc.status_code) from exc
        except sushy.exceptions.ConnectionError as exc:
            raise RedfishError("unreachable", _cause(exc)) from exc
        except (sushy.exceptions.SushyError, urllib3.exceptions.HTTPError, ValueError) as exc:
            raise RedfishError("malformed", shortened(str(exc))) from exc

    def _bounded(self, answer: Any, **dummy: Any) -> None:
        """Read an answer as far as any may go, and take away the body of an error that sushy could not read."""
        limit = min(_ANSWER_LIMIT_BYTES, self._remaining_bytes)
        try:
            content = answer_limits.read_answer(answer, limit)
        except answer_limits.AnswerTooLongError as exc:
            if limit < _ANSWER_LIMIT_BYTES:
                raise RedfishError("unreachable", f"answers of more than {_ALL_BYTES // 1024 ** 2} MiB in all",
                                   answer.status_code) from exc
            raise RedfishError("malformed", str(exc), answer.status_code) from exc
        self._remaining_bytes -= len(content)
        if answer.status_code >= 400 and not _is_error(_json(content)):
            answer._content = b""


def _basic_mistake(username: str, password: str) -> str:
    """Return why HTTP basic can't carry credentials, empty when it can.

    Characters are sent as Latin-1, by Ironic too, which asks by the same library (sushy, requests).
    """
    for field, text in (("user name", username), ("password", password)):
        try:
            text.encode("latin-1")
        except UnicodeEncodeError:
            return f"the BMC knows HTTP basic alone, which can't carry the {field}: a character is not in Latin-1"
    return ""


def checked_path(link: str) -> str:
    """Return what of a link is sent to a BMC: its path and query.

    :param link: what a BMC gave as the path of one of its resources
    :raises RedfishError: when it is no path, for example a URL of another server
    """
    path = link.partition("#")[0]
    bare, dummy, query = path.partition("?")
    found = path_mistake(bare) or path_mistake(query.replace("?", ""))
    if not path.startswith("/") or path.startswith("//") or found:
        raise RedfishError("malformed", "the BMC names %s, expected a path of its own in URL characters%s" % (
            shortened(link), f", found {found}" if found else ""))
    return path


def _path_of(location: str | None) -> str | None:
    """Return the path of a Location, which may be a whole URL; None when there is none."""
    try:
        return urlsplit(location or "").path or None
    except ValueError:
        return None


def _origin(parts: SplitResult) -> tuple[str, str, int | None]:
    """Return what distinguishes one server from another.

    :raises ValueError: when the port is none
    """
    return parts.scheme, (parts.hostname or "").lower(), parts.port or web_ports.BY_SCHEME.get(parts.scheme)


def _object(answer: Any, path: str) -> dict[str, Any]:
    """Return the JSON object of an answer.

    :raises RedfishError: when it is none
    """
    document = _json(answer.content)
    if not isinstance(document, dict):
        raise RedfishError("malformed", f"{path} is no JSON object", answer.status_code)
    return document


def _json(content: bytes) -> Any:
    """Return the value of a JSON document, None when it is none."""
    try:
        return from_json(content)
    except ValueError:
        return None


def _is_error(document: Any) -> bool:
    """Return whether a document has the form of Redfish's errors, which sushy takes for granted."""
    error = document.get("error") if isinstance(document, dict) else None
    if not isinstance(error, dict):
        return False
    details = error.get("@Message.ExtendedInfo") or []
    return isinstance(details, dict) or (isinstance(details, list) and all(isinstance(item, dict) for item in details))


def nested(resource: dict[str, Any], *names: str) -> dict[str, Any]:
    """Return the dict that properties lead to one after the other, empty where one is missing or no dict."""
    for name in names:
        found = resource.get(name)
        if not isinstance(found, dict):
            return {}
        resource = found
    return resource


def link(resource: dict[str, Any], *names: str) -> str | None:
    """Return the path that the last of the properties points to, None where there is none."""
    path = nested(resource, *names).get("@odata.id")
    return path if isinstance(path, str) and path else None


def _kind(status: int) -> str:
    if status in (401, 403):
        return "unauthorized"
    if status == 404:
        return "not_found"
    return "unavailable" if status == 429 or status >= 500 else "refused"


def _http_text(error: Any) -> str:
    return "HTTP %d%s" % (error.status_code, f" ({shortened(str(error.detail))})" if error.detail else "")


def _cause(error: BaseException) -> str:
    """Return the innermost reason of a failed connection."""
    cause = error.__context__
    while cause is not None and cause.__context__ is not None:
        cause = cause.__context__
    return shortened(str(getattr(cause, "strerror", None) or cause or error))
