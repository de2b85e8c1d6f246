# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A store of objects that answers as the API of AWX does, for the modules of awx.awx: no object does anything.

No registry that the gates use has AWX, and awxkit holds no schema of its API. The store takes any field, so that only
the modules of awx.awx check what is sent, and of what AWX itself checks only that a schedule answers what the survey of
its template requires.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

TOKEN = "token-of-the-test"
HIDDEN = "$encrypted$"
# Types of AWX itself.
BUILT_IN = {"credential_types": ["Machine", "Vault", "Source Control"]}
_TEMPLATES = ("job_templates", "workflow_job_templates", "projects")


class Store:
    """The objects by collection and number, and the requests that changed something."""

    def __init__(self) -> None:
        self.objects: dict[str, dict[int, dict[str, Any]]] = {}
        self.links: dict[tuple[str, int, str], list[tuple[str, int]]] = {}
        self.surveys: dict[int, dict[str, Any]] = {}
        self.writes: list[str] = []
        self._last = 0
        for kind, names in BUILT_IN.items():
            for name in names:
                self.add(kind, {"name": name, "kind": "ssh"})

    def add(self, kind: str, given: dict[str, Any]) -> dict[str, Any]:
        """Create an object; a field that AWX takes as secret is shown hidden."""
        self._last += 1
        url = f"/api/v2/{kind}/{self._last}/"
        related = {"survey_spec": f"{url}survey_spec/"} if kind in _TEMPLATES else {}
        found = {
            "id": self._last,
            "url": url,
            "type": kind.rstrip("s"),
            "related": related,
            "summary_fields": {},
            "status": "successful",
            "scm_revision": "",
            **given,
        }
        self.objects.setdefault(kind, {})[self._last] = found
        return found

    def named(self, kind: str, name: str) -> dict[str, Any]:
        """Return the one object with this name."""
        (found,) = [item for item in self.objects[kind].values() if name in (item.get("name"), item.get("identifier"))]
        return found

    def linked(self, kind: str, name: str, relation: str) -> list[str]:
        """Return the names of what an object refers to."""
        links = self.links.get((kind, self.named(kind, name)["id"], relation), [])
        return sorted(
            self.objects[other][number].get("name") or self.objects[other][number]["identifier"]
            for other, number in links
        )

    def unanswered(self, schedule: dict[str, Any]) -> list[str]:
        """Return what AWX says of required questions that a schedule leaves open; a default is no answer to it."""
        survey = self.surveys.get(schedule["unified_job_template"], {})
        return [
            f"'{question['variable']}' value missing"
            for question in survey.get("spec", [])
            if question["required"] and question["variable"] not in (schedule.get("extra_data") or {})
        ]

    def listed(self, kind: str, query: dict[str, str]) -> list[dict[str, Any]]:
        """Return the objects with these fields."""
        kinds = _TEMPLATES if kind == "unified_job_templates" else (kind,)
        found = [item for each in kinds for item in self.objects.get(each, {}).values()]
        return [
            item
            for item in found
            if all(str(item.get(key)) == value for key, value in query.items() if key not in ("page_size", "order_by"))
        ]


def _shown(kind: str, item: dict[str, Any]) -> dict[str, Any]:
    if kind != "credentials":
        return item
    return {**item, "inputs": dict.fromkeys(item.get("inputs") or {}, HIDDEN)}


class _Handler(BaseHTTPRequestHandler):
    store: Store

    def _answer(self, code: int, body: Any = None) -> None:
        data = b"" if body is None else json.dumps(body).encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("X-API-Product-Name", "AWX")
        self.send_header("X-API-Product-Version", "24.6.1")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _handle(self) -> None:
        size = int(self.headers.get("Content-Length") or 0)
        body = json.loads(self.rfile.read(size)) if size else {}
        parts = urlsplit(self.path)
        query = dict(parse_qsl(parts.query))
        match = re.fullmatch(r"/api/v2/(\w+)/(?:(\d+)/)?(?:(\w+)/)?", parts.path)
        if self.headers.get("Authorization") != f"Bearer {TOKEN}":
            return self._answer(401, {"detail": "no such token"})
        if match is None:
            return self._answer(404, {"detail": f"no such path: {parts.path}"})
        kind, number, relation = match[1], int(match[2] or 0), match[3]
        if self.command != "GET":
            self.store.writes.append(f"{self.command} {parts.path}")
        if not number:
            if self.command == "POST":
                missing = self.store.unanswered(body) if kind == "schedules" else []
                if missing:
                    return self._answer(400, {"variables_needed_to_start": missing})
                return self._answer(201, _shown(kind, self.store.add(kind, body)))
            found = self.store.listed(kind, query)
            return self._answer(200, _page([_shown(kind, item) for item in found]))
        if number not in self.store.objects.get(kind, {}):
            return self._answer(404, {"detail": "no such object"})
        item = self.store.objects[kind][number]
        if relation:
            return self._relation(kind, item, relation, body)
        if self.command == "PATCH":
            item.update(body)
        return self._answer(200, _shown(kind, item))

    def _relation(self, kind: str, item: dict[str, Any], relation: str, body: dict[str, Any]) -> None:
        number = item["id"]
        if relation == "survey_spec":
            if self.command == "POST":
                self.store.surveys[number] = body
            return self._answer(200, self.store.surveys.get(number, {}))
        if relation == "create_approval_template":
            made = self.store.add("workflow_approval_templates", body)
            item["related"]["unified_job_template"] = made["url"]
            return self._answer(201, made)
        links = self.store.links.setdefault((kind, number, relation), [])
        if self.command == "GET":
            return self._answer(200, _page([_shown(other, self.store.objects[other][each]) for other, each in links]))
        other = (
            "workflow_job_template_nodes"
            if relation.endswith("_nodes")
            else ("notification_templates" if relation.startswith("notification_templates") else relation)
        )
        if body["id"] not in self.store.objects.get(other, {}):
            return self._answer(400, {"detail": f"no {other} with the number {body['id']}"})
        if body.get("disassociate"):
            links.remove((other, body["id"]))
        else:
            links.append((other, body["id"]))
        return self._answer(204)

    do_GET = do_POST = do_PATCH = _handle

    def log_message(self, *dummy_args: Any) -> None:
        """Say nothing."""


def _page(found: list[dict[str, Any]]) -> dict[str, Any]:
    return {"count": len(found), "next": None, "previous": None, "results": found}


@contextmanager
def running() -> Iterator[tuple[Store, str]]:
    """Serve a store on loopback; give it and its URL."""
    store = Store()
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"store": store}))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield store, f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
