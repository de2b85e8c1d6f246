# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The Ironic in memory behind real HTTP on loopback, and everything that can come in place of its answers."""
from __future__ import annotations

import json
import threading
from urllib.parse import unquote, urlsplit

from fakes.ironic import FakeIronic

from ansible_collections.metal3.baremetal.plugins.module_utils._ironic.api.errors import IronicError

from .http_server import QuietHandler, Served

# status, headers, body. Of those below nothing is sent, or not all.
ANSWERS = {
    "401": (401, {}, b'{"error": {"message": "Incorrect username or password"}}'),
    "403": (403, {}, b'{"error_message": {"faultstring": "Policy baremetal:node:get does not allow it"}}'),
    "404": (404, {}, b'{"error_message": {"faultstring": "Resource could not be found."}}'),
    "409": (409, {}, b'{"error_message": {"faultstring": "A node with that name already exists."}}'),
    "429": (429, {"Retry-After": "0"}, b"{}"),
    "503": (503, {"Retry-After": "0"}, b'{"error_message": {"faultstring": "No free conductor workers"}}'),
    "500": (500, {}, b'{"error_message": {"faultstring": "Internal error"}}'),
    "502": (502, {}, b"<html><body>Bad Gateway</body></html>"),
    "html": (200, {"Content-Type": "text/html"}, b"<!DOCTYPE html><html><body>Please log in</body></html>"),
    "text": (200, {}, b"\xff\xfe not at all"),
    "list": (200, {}, b'[{"nodes": 1}]'),
    "deep": (200, {}, b"[" * 5000 + b"]" * 5000),
}
HALF, HANG, RESET, REDIRECT = "half", "hang", "reset", "redirect"
ALL = (*ANSWERS, HALF, HANG, RESET, REDIRECT)
# After these Ironic may have carried out a request.
LOST = ("502", "html", "text", "deep", HALF, HANG, RESET)


class HttpIronic(Served):
    """A server; use it in a ``with`` statement.

    A test sets ``kind`` (``version``, ``read`` or ``write``) and ``answer`` (one of :data:`ALL`) for the requests that
    do not get theirs. ``carried_out`` tells what such a request was to do, ``requests`` what arrived.
    """

    def __init__(self):
        self.ironic = FakeIronic()
        self.kind = self.answer = self.redirect_to = None
        # Faults only for so many requests, None for all.
        self.times = None
        # After so many changes everything is refused, None for never.
        self.stops = None
        self.requests, self.carried_out = [], []
        self._over = threading.Event()
        outer = self

        class Handler(QuietHandler):
            def do(self):
                outer.handle(self)

            do_GET = do_PUT = do_POST = do_PATCH = do_DELETE = do

        self.serve(Handler)

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def __exit__(self, *dummy):
        self._over.set()
        super().__exit__()

    def handle(self, request):
        parts = urlsplit(request.path)
        path = unquote(parts.path)[len("/v1"):]
        text = request.rfile.read(int(request.headers.get("Content-Length") or 0))
        self.requests.append((request.command, path, request.headers.get("Authorization")))
        kind = "version" if path.strip("/") == "" else "read" if request.command == "GET" else "write"
        if self.stops is not None and kind != "version" and len(self.carried_out) >= self.stops:
            self._send(request, *ANSWERS["403"])
            return
        faulty = kind == self.kind and self.times != 0
        if faulty and self.times is not None:
            self.times -= 1
        if faulty and not (kind == "write" and self.answer in LOST):
            self._send_fault(request)
            return
        status, body = self._carry_out(request.command, path, json.loads(text) if text else None, parts.query)
        if kind == "write" and status < 300:
            self.carried_out.append((request.command, path))
        if faulty:
            self._send_fault(request)
        else:
            self._send(request, status, {}, b"" if body is None else json.dumps(body).encode())

    def _carry_out(self, method, path, body, query):
        lists = {"/nodes": ("nodes", self.ironic.list_nodes), "/ports": ("ports", self.ironic.list_ports),
                 "/portgroups": ("portgroups", lambda: self.ironic.list_portgroups(None)),
                 "/drivers": ("drivers", lambda: [{"name": name} for name in self.ironic.list_drivers()]),
                 "/conductors": ("conductors", lambda: [{"hostname": "one", "alive": True}])}
        place = path.rpartition("/detail")[0] or path
        try:
            if not path.strip("/"):
                return 200, {}
            if method == "GET" and place in lists:
                key, read = lists[place]
                return 200, {key: read()}
            if method == "GET" and path.count("/") == 2:
                found = getattr(self.ironic, path.split("/")[1][:-1])(path.split("/")[2], None)
                return (404, {}) if found is None else (200, found)
            answer = self.ironic.request(method, path, None, body)
            return (204, None) if answer is None else (200, answer)
        except IronicError as exc:
            return exc.status or 500, {"error_message": {"faultstring": exc.message}}
        except KeyError:
            return 404, {"error_message": {"faultstring": "not found"}}

    def _send_fault(self, request):
        if self.answer == HANG:
            self._over.wait(30)
            request.close_connection = True
        elif self.answer == RESET:
            request.close_connection = True
        elif self.answer == HALF:
            request.send_response(200)
            request.send_header("Content-Length", "1000")
            request.end_headers()
            request.wfile.write(b'{"nodes": [{"uuid": "')
            request.close_connection = True
        elif self.answer == REDIRECT:
            self._send(request, 302, {"Location": self.redirect_to + request.path}, b"")
        else:
            self._send(request, *ANSWERS[self.answer])

    @staticmethod
    def _send(request, status, headers, body):
        request.send_response(status)
        for name, value in dict({"X-OpenStack-Ironic-API-Maximum-Version": "1.110",
                                 "Content-Type": "application/json"}, **headers).items():
            request.send_header(name, value)
        if status != 204:
            request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        if status != 204:
            request.wfile.write(body)
