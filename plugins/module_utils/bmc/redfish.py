# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A Redfish service, asked through sushy's connector: one login, plain dicts, no retry of what was refused."""
from __future__ import annotations

import logging

try:
    import sushy.connector
    import sushy.exceptions
    HAS_SUSHY = True
except ImportError:
    HAS_SUSHY = False

ROOT = "/redfish/v1/"
_SYSTEMS = ROOT + "Systems"
# BMCs dislike connections that last for hours, for which sushy closes each at once; a survey takes seconds, and a
# handshake for each resource would make it many times longer.
_HEADERS = {"Connection": "keep-alive"}

# sushy logs each refusal; here it becomes a result, and a module's standard error must stay empty.
logging.getLogger("sushy").addHandler(logging.NullHandler())
logging.getLogger("sushy").propagate = False


class RedfishError(Exception):
    """A request that did not bring what was asked for.

    :param kind: ``unreachable``, ``unauthorized``, ``not_found``, ``unavailable`` (5xx), ``refused`` or ``malformed``
    :param text: what the BMC said, one line
    :param status: HTTP status, 0 without an answer
    """

    def __init__(self, kind, text, status=0):
        super().__init__(text)
        self.kind = kind
        self.status = status


class RedfishClient:
    """One BMC.

    :param url: ``https://host:port``
    :param verify: what ``requests`` verifies the certificate with: a path, True or False
    :param connect_timeout_seconds: for a connection
    :param read_timeout_seconds: for an answer
    """

    def __init__(self, url, verify, connect_timeout_seconds, read_timeout_seconds):
        # One retry at most, and none of connections: sushy's 0 means its default, which is three.
        self._connector = sushy.connector.Connector(
            url, verify=verify, server_side_retries=1, server_side_retries_delay=1,
            default_request_timeout=read_timeout_seconds, connect_timeout=connect_timeout_seconds)
        self._session_path = None
        self.login_attempts = 0
        self.login_method = ""

    def root(self):
        """Return the service root, which anybody may read; sent without credentials."""
        return self._get(ROOT)

    def login(self, root, username, password):
        """Log in, by exactly one request that carries the password.

        A session where the service root names the place to make one (what Ironic does first), HTTP basic otherwise.
        The connector is given no way to log in again, so a refusal later never repeats the password of a session.

        :param root: the service root
        :raises RedfishError: of kind ``unauthorized`` when the BMC refuses the credentials
        """
        self.login_attempts += 1
        sessions = link(root, "Links", "Sessions")
        if sessions:
            self.login_method = "session"
            answer = self._send("post", sessions, data={"UserName": username, "Password": password},
                                server_side_retries_left=0)
            token = answer.headers.get("X-Auth-Token")
            if not token:
                raise RedfishError("malformed", "the answer to the login has no X-Auth-Token", answer.status_code)
            self._session_path = answer.headers.get("Location")
            self._connector.set_http_session_auth(token)
            return
        self.login_method = "basic"
        self._connector.set_http_basic_auth(username, password)
        self._get(link(root, "Systems") or _SYSTEMS, server_side_retries_left=0)

    def read(self, path):
        """Return a resource. A connection that breaks is tried once more: the credentials are known to be right."""
        try:
            return self._get(path)
        except RedfishError as exc:
            if exc.kind != "unreachable":
                raise
        return self._get(path, headers={"Connection": "close"})

    def close(self):
        """End the session, of which a BMC has few."""
        try:
            if self._session_path:
                self._send("delete", self._session_path)
        except RedfishError:
            # It ends by itself.
            pass
        finally:
            self._connector.close()

    def _get(self, path, **options):
        answer = self._send("get", path, **options)
        try:
            document = answer.json()
        except ValueError:
            document = None
        if not isinstance(document, dict):
            raise RedfishError("malformed", "%s is no JSON object" % path, answer.status_code)
        return document

    def _send(self, method, path, **options):
        options.setdefault("headers", _HEADERS)
        try:
            return getattr(self._connector, method)(path, **options)
        except sushy.exceptions.HTTPError as exc:
            raise RedfishError(_kind(exc.status_code), _told(exc), exc.status_code) from exc
        except sushy.exceptions.ConnectionError as exc:
            raise RedfishError("unreachable", _cause(exc)) from exc
        except sushy.exceptions.SushyError as exc:
            raise RedfishError("malformed", " ".join(str(exc).split())) from exc


def nested(resource, *names):
    """Return the dict that properties lead to one after the other, empty where one is missing or no dict."""
    for name in names:
        resource = resource.get(name)
        if not isinstance(resource, dict):
            return {}
    return resource


def link(resource, *names):
    """Return the path that the last of the properties points to, None where there is none."""
    path = nested(resource, *names).get("@odata.id")
    return path if isinstance(path, str) and path else None


def _kind(status):
    if status in (401, 403):
        return "unauthorized"
    if status == 404:
        return "not_found"
    return "unavailable" if status >= 500 else "refused"


def _told(error):
    return "HTTP %d%s" % (error.status_code, " (%s)" % " ".join(str(error.detail).split()) if error.detail else "")


def _cause(error):
    """Return the innermost reason of a failed connection."""
    cause = error.__context__
    while cause is not None and cause.__context__ is not None:
        cause = cause.__context__
    text = getattr(cause, "strerror", None) or str(cause or error)
    return " ".join(text.split())
