"""HTTP as the agents and the firmware speak it: TLS verified against the lab's CA."""
from __future__ import annotations

import http.client
import json
import ssl
import urllib.error
import urllib.request

TIMEOUT_SECONDS = 60


class Unreachable(Exception):
    """No answer."""


class Answer:
    """Status code and body of an answer."""

    def __init__(self, status, body):
        self.status = status
        self.body = body

    def json(self):
        """Return the body's JSON, or None for an empty body."""
        return json.loads(self.body) if self.body else None

    def text(self):
        """Return the start of the body, for messages."""
        return self.body[:400].decode("utf-8", "replace")


class _Redirects(urllib.request.HTTPRedirectHandler):
    """Follows redirects; credentials are for the server that was asked, as the agent's library has it."""

    def redirect_request(self, req, fp, code, msg, headers, newurl):
        request = super().redirect_request(req, fp, code, msg, headers, newurl)
        if request is not None and (request.type, request.host) != (req.type, req.host):
            request.remove_header("Authorization")
        return request


class Web:
    """A client.

    :param ca_file: CA certificates, PEM
    :param further: text of more of them
    """

    def __init__(self, ca_file, further=""):
        context = ssl.create_default_context(cafile=ca_file)
        if further:
            context.load_verify_locations(cadata=further)
        # All that a lab asks is on this machine: a proxy of the environment leads to others.
        self._opener = urllib.request.build_opener(
            urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=context), _Redirects)

    def open(self, url, method="GET", data=None, headers=None):
        """Return the open answer, a file-like object with ``status`` and ``headers``.

        :param data: bytes
        :raises Unreachable: without an answer
        :raises urllib.error.HTTPError: for a status of 400 and above
        """
        request = urllib.request.Request(url, method=method, data=data, headers=headers or {})
        try:
            return self._opener.open(request, timeout=TIMEOUT_SECONDS)
        except urllib.error.HTTPError:
            raise
        except (OSError, http.client.HTTPException) as error:
            raise Unreachable(f"{url}: {error}") from error

    def request(self, url, method="GET", body=None, headers=None):
        """Return the Answer, whatever its status.

        :param body: plain data, sent as JSON
        :raises Unreachable: without an answer
        """
        headers = dict(headers or {}, Accept="application/json")
        data = None
        if body is not None:
            data = json.dumps(body).encode("utf-8")
            headers["Content-Type"] = "application/json"
        try:
            try:
                answer = self.open(url, method, data, headers)
            except urllib.error.HTTPError as error:
                answer = error
            with answer:
                return Answer(answer.status, answer.read())
        except (OSError, http.client.HTTPException) as error:
            # HTTPException: the server ended in the middle of its answer.
            raise Unreachable(f"{url}: {error}") from error
