# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An API server on loopback that keeps objects, and answers chosen kinds of requests with faults."""
from __future__ import annotations

import copy
import functools
import json
import re
import threading
import time
from collections import namedtuple
from http.server import BaseHTTPRequestHandler
from urllib.parse import parse_qs, urlsplit

from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.kinds import KNOWN, resource_for

from .http_server import Served

# Kinds of requests.
LIST, GET, WATCH, WRITE, DELETE = "list", "get", "watch", "write", "delete"
KINDS = (LIST, GET, WATCH, WRITE, DELETE)

# headers: list of (name, value).
Request = namedtuple("Request", ["kind", "method", "path", "query", "body", "authorization", "headers"], defaults=[()])

# status: of the answer; headers: dict; content: bytes; form: "whole", "half" (the connection ends in the middle),
# "stored" (of a write: it is carried out all the same) or "hang" (nothing comes at all).
Fault = namedtuple("Fault", ["status", "headers", "content", "form"], defaults=[{}, b"", "whole"])

# A watch ends soon, because nothing changes but by those who are tested.
WATCH_SECONDS = 0.1
HTML = b"<html><head><title>Please sign in</title></head><body>...</body></html>"


def status(code, reason, message, **more):
    """Return a fault that is a proper answer of an API server."""
    return Fault(code, {"Content-Type": "application/json"}, json.dumps(dict(
        {"kind": "Status", "apiVersion": "v1", "code": code, "reason": reason, "message": message}, **more)).encode())


FAULTS = {
    "401": status(401, "Unauthorized", "Unauthorized"),
    "403": status(403, "Forbidden", 'x is forbidden: User "u" cannot list resource "x" in API group "y"'),
    "404": status(404, "NotFound", "the server could not find the requested resource"),
    "409": status(409, "Conflict", "the object has been modified; please apply your changes to the latest version"),
    "410": status(410, "Expired", "too old resource version"),
    "429": status(429, "TooManyRequests", "too many requests")._replace(headers={"Retry-After": "3600"}),
    "500": status(500, "InternalError", "etcdserver: request timed out"),
    "503": status(503, "ServiceUnavailable", "apiserver is shutting down"),
    "503-retry-after": status(503, "ServiceUnavailable", "shutting down")._replace(headers={"Retry-After": "3600"}),
    "302": Fault(302, {"Location": "https://sign-in.example.com/"}, HTML),
    "html": Fault(200, {"Content-Type": "text/html"}, HTML),
    "html-502": Fault(502, {"Content-Type": "text/html"}, b"<html><title>502 Bad Gateway</title></html>"),
    "null": Fault(200, {"Content-Type": "application/json"}, b"null"),
    "half": Fault(200, {}, b"", "half"),
    "hang": Fault(200, {}, b"", "hang"),
}


class ApiServer(Served):
    """The server; a context manager.

    :param objects: list of objects that it has
    :param fault: callable that takes a Request and returns a Fault, or None for a proper answer
    """

    def __init__(self, objects=(), fault=None):
        self.fault = fault or (lambda request: None)
        self.requests = []
        # (path, what was stored) of each request that changed something.
        self.stored = []
        self._objects = {}
        self._version = 10
        self._lock = threading.Lock()
        self._closing = threading.Event()
        for item in objects:
            self.put(item)
        self.stored.clear()
        self.serve(_handler(self))
        self.url = f"http://127.0.0.1:{self.port}"

    def __exit__(self, *dummy):
        self._closing.set()
        super().__exit__()

    def of_kind(self, *kinds):
        """Return the requests of some kinds."""
        return [request for request in list(self.requests) if request.kind in kinds]

    def wait(self, seconds):
        """Sleep, or until the server closes."""
        self._closing.wait(seconds)

    # What it keeps

    def put(self, item):
        """Keep an object, in place of the one that there is."""
        item = copy.deepcopy(item)
        resource = resource_for(item["apiVersion"], item["kind"])
        self._put(resource.path(item["metadata"].get("namespace"), item["metadata"]["name"]), item)

    def annotate(self, path, **annotations):
        """Do what a controller does: give an object these annotations only."""
        item = copy.deepcopy(self._objects[path])
        item["metadata"]["annotations"] = annotations
        self._put(path, item)

    def set_status(self, path, status):
        """Do what a controller does: give an object this status."""
        self._put(path, dict(copy.deepcopy(self._objects[path]), status=status))

    def _put(self, path, item):
        with self._lock:
            self._version += 1
            metadata = item["metadata"]
            known = self._objects.get(path)
            metadata["uid"] = known["metadata"]["uid"] if known else f"uid-{self._version}"
            metadata["creationTimestamp"] = "2026-01-01T00:00:00Z"
            metadata["resourceVersion"] = str(self._version)
            self._objects[path] = item
            self.stored.append((path, copy.deepcopy(item)))
            return item

    def answer(self, request):
        """Return ``(status, object)`` for a request."""
        if request.method == "GET":
            return self._read(request)
        if request.method == "DELETE":
            known = self._objects.get(request.path)
            if known is None:
                return _failure(404, "NotFound", f"{request.path} not found")
            refused = _refused((request.body or {}).get("preconditions") or {}, known)
            if refused:
                return refused
            if not (request.body or {}).get("dryRun"):
                with self._lock:
                    del self._objects[request.path]
                    self.stored.append((request.path, None))
            return 200, {"kind": "Status", "apiVersion": "v1", "status": "Success"}
        return self._write(request)

    def _write(self, request):
        path, body = request.path, request.body
        if request.method == "POST":
            name = body["metadata"].get("name") or f"{body['metadata']['generateName']}{self._version}"
            path, body = f"{path}/{name}", dict(body, metadata=dict(body["metadata"], name=name))
            if path in self._objects:
                return _failure(409, "AlreadyExists", f"{path} already exists")
        subresource = re.search(r"/(status|scale)$", path)
        path = path[:subresource.start()] if subresource else path
        known = self._objects.get(path)
        metadata = (body.get("metadata") or {}) if isinstance(body, dict) else {}
        condition = dict((key, metadata.get(key)) for key in ("uid", "resourceVersion"))
        refused = _refused(dict((key, value) for key, value in condition.items() if value), known)
        if refused:
            return refused
        if known is None and request.content_type == "application/merge-patch+json":
            return _failure(404, "NotFound", f"{path} not found")
        merged = _merge(copy.deepcopy(known or {}), body)
        merged["metadata"] = dict(merged["metadata"], name=path.rpartition("/")[2])
        namespace = re.search(r"/namespaces/([^/]+)/", path)
        if namespace:
            merged["metadata"]["namespace"] = namespace.group(1)
        if "dryRun" in request.query or (known is not None and merged == known):
            return 200, dict(merged, metadata=dict({"resourceVersion": "1", "uid": "u"}, **merged["metadata"]))
        return 200, self._put(path, merged)

    def _read(self, request):
        if request.path in self._objects:
            return 200, self._objects[request.path]
        resources = _lists().get(re.sub(r"/namespaces/[^/]+(?=/)", "", request.path))
        if resources is not None:
            with self._lock:
                items = [item for path, item in self._objects.items()
                         if path.rpartition("/")[0] == request.path
                         or re.sub("/namespaces/[^/]+", "", path.rpartition("/")[0]) == request.path]
                return 200, {"kind": "List", "apiVersion": "v1", "items": copy.deepcopy(items),
                             "metadata": {"resourceVersion": str(self._version)}}
        served = [resource for resource in KNOWN.values() if request.path == resource.path(None).rpartition("/")[0]]
        if served:
            return 200, {"resources": [{"name": resource.plural, "kind": resource.kind,
                                        "namespaced": resource.namespaced} for resource in served]}
        if request.path == "/version":
            return 200, {"gitVersion": "v1.35.4"}
        return _failure(404, "NotFound", f"{request.path} not found")


@functools.cache
def _lists():
    result = dict((resource.path(None), resource) for resource in KNOWN.values())
    # Cluster API's own, which shares its kind with IPAM's.
    claims = KNOWN["IPAddressClaim"]
    result[claims._replace(plural="ipaddresses").path(None)] = claims
    return result


def _failure(code, reason, message):
    return code, json.loads(status(code, reason, message).content)


def _refused(condition, known):
    for key, value in condition.items():
        if known is None or known["metadata"].get(key) != value:
            if known is None and key == "resourceVersion" and "uid" not in condition:
                continue
            return _failure(409, "Conflict", f"the {key} in the precondition does not match")
    return None


def _merge(target, patch):
    for key, value in patch.items():
        if value is None:
            target.pop(key, None)
        elif isinstance(value, dict) and isinstance(target.get(key), dict):
            _merge(target[key], value)
        else:
            target[key] = copy.deepcopy(value)
    return target


def _handler(server):
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _handle(self):
            parts = urlsplit(self.path)
            query = dict((key, values[0]) for key, values in parse_qs(parts.query).items())
            length = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(length)) if length else None
            kind = {"GET": GET, "DELETE": DELETE}.get(self.command, WRITE)
            if kind == GET and "watch" in query:
                kind = WATCH
            elif kind == GET and re.sub(r"/namespaces/[^/]+(?=/)", "", parts.path) in _lists():
                kind = LIST
            request = Request(kind, self.command, parts.path, query, body, self.headers.get("Authorization"),
                              self.headers.items())
            server.requests.append(request)
            fault = server.fault(request)
            if fault is not None and fault.form == "stored":
                server.answer(_WithType(request, self.headers.get("Content-Type")))
            if fault is not None and fault.form in ("whole", "stored"):
                self._send(fault.status, fault.content, fault.headers)
                return
            if fault is not None and fault.form == "hang":
                if kind in (WRITE, DELETE):
                    # The worst: it has done what it does not say.
                    server.answer(_WithType(request, self.headers.get("Content-Type")))
                server.wait(30)
                self.close_connection = True
                return
            if kind == WATCH:
                self._watch(fault)
                return
            code, answer = server.answer(_WithType(request, self.headers.get("Content-Type")))
            self._send(code, json.dumps(answer).encode(), {"Content-Type": "application/json"},
                       half=fault is not None)

        do_GET = do_PATCH = do_POST = do_PUT = do_DELETE = _handle

        def _watch(self, fault):
            self.send_response(200)
            self.send_header("Connection", "close")
            self.end_headers()
            self.close_connection = True
            if fault is not None:
                self.wfile.write(b'{"type": "MODIFIED", "obj')
                return
            server.wait(WATCH_SECONDS)

        def _send(self, code, content, headers, half=False):
            self.send_response(code)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content[:len(content) // 2] if half else content)
            self.close_connection = half or self.close_connection

        def log_message(self, *_arguments):
            pass

    return Handler


class _WithType:
    """A Request with the type of its content."""

    def __init__(self, request, content_type):
        self._request = request
        self.content_type = content_type

    def __getattr__(self, name):
        return getattr(self._request, name)


def kubeconfig_of(server, user=None):
    """Return a kubeconfig of a server as a dict.

    :param server: URL
    :param user: what it says of its user
    """
    return {"apiVersion": "v1", "kind": "Config", "current-context": "a",
            "clusters": [{"name": "a", "cluster": {"server": server}}],
            "users": [{"name": "a", "user": {"token": "kubeconfigs-token"} if user is None else user}],
            "contexts": [{"name": "a", "context": {"cluster": "a", "user": "a"}}]}


def eventually(condition, seconds=10):
    """Wait until a condition holds and return whether it does."""
    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.02)
    return condition()
