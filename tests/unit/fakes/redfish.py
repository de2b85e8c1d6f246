# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A Redfish service that serves a tree of resources on loopback and counts logins; for tests and benchmarks."""
from __future__ import annotations

import base64
import json
import ssl
import time
from http.server import BaseHTTPRequestHandler
from pathlib import Path

from .http_server import Served

TREES = Path(__file__).resolve().parents[1] / "bmc" / "trees"
SESSIONS = "/redfish/v1/SessionService/Sessions"
TOKEN = "session-token"


def tree(vendor):
    """Return the resources of a vendor's server by path, without slashes at the end."""
    resources = json.loads((TREES / (vendor + ".json")).read_text())
    return dict((path.rstrip("/"), resource) for path, resource in resources.items())


def hostile_tree(canary):
    """Return the resources of a server all of whose texts are a template, and this template.

    Who takes it for one makes the file ``canary``; who prints it as it is has a red terminal. Beside its system the BMC
    names one whose path is the template.

    :param canary: path
    """
    template = f"\x1b[31m{{{{ lookup('ansible.builtin.pipe', 'touch {canary}') }}}}"
    system_path = "/redfish/v1/Systems/System.Embedded.1"
    resources = tree("dell")
    system = resources[system_path]
    for field in ("Manufacturer", "Model", "SKU", "SerialNumber", "HostName", "AssetTag", "BiosVersion"):
        system[field] = template
    manager = resources[system["Links"]["ManagedBy"][0]["@odata.id"]]
    manager.update(Model=template, FirmwareVersion=template)
    resources[system_path + "/Bios"]["Attributes"] = {template: template}
    for path, resource in resources.items():
        if path.startswith(system_path + "/EthernetInterfaces/"):
            resource["Id"] = template
    resources["/redfish/v1/Systems"]["Members"] += [{"@odata.id": "/redfish/v1/Systems/" + template}, {"@odata.id": 7}]
    return resources, template


class FakeRedfish(Served):
    """A BMC; use it as a context manager.

    :param resources: mapping path → resource
    :param username: the only account's
    :param password: the only account's
    :param latency_seconds: how long each answer takes
    :param certificate: ``(certificate file, key file)`` for TLS
    :param host: address to listen at
    """

    # A benchmark runs hundreds of them.
    poll_seconds = 0.05

    def __init__(self, resources, username="admin", password="right", latency_seconds=0.0, certificate=None,
                 host="127.0.0.1"):
        self.resources = resources
        self.username, self.password = username, password
        self.latency_seconds = latency_seconds
        # Each login as (way, whether it was right); for basic that is each request with credentials.
        self.logins = []
        self.requests = []
        self.user_agents = set()
        self.open_sessions = 0
        self.drop = lambda path: False
        # path → (status, Location), and path → body as bytes: answers in place of the resources, whoever asks.
        self.redirects, self.bodies = {}, {}
        # None for a BMC that says where a session is in the answer's body only.
        self.session_location = SESSIONS + "/1"
        # What came with each request that could let somebody in.
        self.credentials = []
        fake = self

        class Handler(_Handler):
            bmc = fake

        self.serve(Handler, host)
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*certificate)
            # Not in accept(), where one client's slow handshake would hold up the others.
            self._server.socket = context.wrap_socket(
                self._server.socket, server_side=True, do_handshake_on_connect=False)

    def act(self, dummy_path, dummy_body):
        """Carry an action out and return ``(status, document)``; None, as here, when it is none of this BMC's."""

    def change(self, dummy_path, dummy_body, dummy_condition):
        """Set properties and return ``(status, document)``, perhaps with headers; a status of None for no answer."""
        return 405, None

    def wrong_logins(self):
        """Return how many logins were refused."""
        return sum(not right for dummy, right in self.logins)


class _Handler(BaseHTTPRequestHandler):
    bmc = None
    protocol_version = "HTTP/1.1"
    # Head and body in one segment, without waiting for more.
    wbufsize = -1
    disable_nagle_algorithm = True

    def log_message(self, *dummy):
        """Say nothing."""

    def do_GET(self):
        """Answer with the resource at the path."""
        path = self.path.partition("?")[0].rstrip("/")
        if self._begin("GET", path):
            return
        if path in self.bmc.redirects:
            status, location = self.bmc.redirects[path]
            self._answer(status, headers={"Location": location})
        elif path in self.bmc.bodies:
            self._answer(200, self.bmc.bodies[path])
        elif path not in ("/redfish", "/redfish/v1") and not self._authorized():
            self._answer(401, {"error": {"code": "Base.1.0.AccessDenied", "message": "access denied"}})
        elif path not in self.bmc.resources:
            self._answer(404, {"error": {"code": "Base.1.0.ResourceMissing", "message": "no such resource"}})
        else:
            self._answer(200, self._expanded(path) if "$expand" in self.path else self.bmc.resources[path])

    def do_POST(self):
        """Make a session, or carry an action out."""
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self._begin("POST", self.path):
            return
        self.bmc.credentials.append(("body", body.get("Password")))
        if self.path in self.bmc.redirects:
            status, location = self.bmc.redirects[self.path]
            self._answer(status, headers={"Location": location})
            return
        done = self.bmc.act(self.path, body) if self._authorized() else None
        if done is not None:
            self._answer(*done)
            return
        right = (body.get("UserName"), body.get("Password")) == (self.bmc.username, self.bmc.password)
        self.bmc.logins.append(("session", right))
        if not right:
            self._answer(401, {"error": {"code": "Base.1.0.NoValidSession", "message": "wrong user name or password"}})
            return
        self.bmc.open_sessions += 1
        location = {} if self.bmc.session_location is None else {"Location": self.bmc.session_location}
        self._answer(201, {"@odata.id": SESSIONS + "/1", "Id": "1"}, dict({"X-Auth-Token": TOKEN}, **location))

    def do_PATCH(self):
        """Set properties of a resource; its path with a # may be redirected."""
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self._begin("PATCH", self.path):
            return
        if self.path + "#" in self.bmc.redirects:
            status, location = self.bmc.redirects[self.path + "#"]
            self._answer(status, headers={"Location": location})
        elif not self._authorized():
            self._answer(401, {"error": {"code": "Base.1.0.AccessDenied", "message": "access denied"}})
        else:
            status, *answer = self.bmc.change(self.path, body, self.headers.get("If-Match"))
            if status is None:
                self.close_connection = True
            else:
                self._answer(status, *answer)

    def do_DELETE(self):
        """End a session."""
        if not self._begin("DELETE", self.path):
            self.bmc.open_sessions -= 1
            self._answer(204)

    def _begin(self, method, path):
        """Note the request; return whether it stays without an answer."""
        self.bmc.requests.append((method, path))
        self.bmc.user_agents.add(self.headers.get("User-Agent"))
        self.bmc.credentials += [(name, self.headers[name]) for name in ("Authorization", "X-Auth-Token")
                                 if name in self.headers]
        time.sleep(self.bmc.latency_seconds)
        if self.bmc.drop(path):
            self.close_connection = True
            return True
        return False

    def _authorized(self):
        if self.headers.get("X-Auth-Token") == TOKEN and self.bmc.open_sessions > 0:
            return True
        given = self.headers.get("Authorization", "")
        if not given.startswith("Basic "):
            return False
        pair = f"{self.bmc.username}:{self.bmc.password}"
        right = given == "Basic " + base64.b64encode(pair.encode()).decode()
        self.bmc.logins.append(("basic", right))
        return right

    def _expanded(self, path):
        resource = self.bmc.resources[path]
        return dict(resource, Members=[self.bmc.resources.get(member["@odata.id"].rstrip("/"), member)
                                       for member in resource.get("Members", [])])

    def _answer(self, status, body=None, headers=None):
        data = b"" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        for name, value in dict(headers or {}, **{"Content-Type": "application/json"}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
