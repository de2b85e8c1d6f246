# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a program does its work: by a URL, a TCP port, a Unix socket or a file."""
from __future__ import annotations

import base64
import http.client
import os
import socket
import ssl
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from ..._common.documents.document_text import from_json
from ..._common.transfer import answer_limits
from ..._common.waiting.wait_loop import poll

CHECK_TIMEOUT_SECONDS = 5
_ANSWER_SECONDS = 3 * CHECK_TIMEOUT_SECONDS
_ANSWER_BYTES = 4 * 1024 ** 2
# All programs of a lab may start at once, on a machine that has other work.
DEFAULT_TIMEOUT_SECONDS = 180
POLL_INTERVAL_SECONDS = 0.1


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, req: Any, fp: Any, code: Any, msg: Any, headers: Any, newurl: Any) -> None:
        """Refuse: a redirection is an answer of its own."""
        return


def _context(check: Any) -> Any:
    context = ssl.create_default_context(cafile=check.get("ca_file"))
    if check.get("client_cert"):
        context.load_cert_chain(check["client_cert"], check.get("client_key"))
    return context


def _read(path: str) -> str:
    with open(path, encoding="utf-8") as stream:
        return stream.read().strip()


def _request(check: dict[str, Any]) -> Any:
    request = urllib.request.Request(check["url"])
    if check.get("username_file"):
        login = f"{_read(check['username_file'])}:{_read(check['password_file'])}"
        request.add_header("Authorization", "Basic " + base64.b64encode(login.encode()).decode())
    return request


def _content_fault(check: dict[str, Any], content: bytes) -> str | None:
    if not check.get("holds"):
        return None
    try:
        held = from_json(content).get(check["holds"])
    except (ValueError, AttributeError):
        return f"{check['url']}: not a JSON object"
    return None if held else f"{check['url']}: {check['holds']} is empty"


def _url_fault(check: dict[str, Any]) -> str | None:
    content = b""
    try:
        context = _context(check) if check["url"].startswith("https:") else None
        opener = urllib.request.build_opener(
            _NoRedirect(), urllib.request.ProxyHandler({}), *answer_limits.handlers(_ANSWER_SECONDS, context))
        with opener.open(_request(check), timeout=CHECK_TIMEOUT_SECONDS) as answer:
            status, content = answer.status, answer.read(_ANSWER_BYTES)
    except urllib.error.HTTPError as exc:
        status = exc.code
        exc.close()
    # Something else may listen there, or the program may end meanwhile.
    except (OSError, ValueError, http.client.HTTPException) as exc:
        return f"{check['url']}: {getattr(exc, 'reason', None) or exc}"
    expected = check.get("status") or [200]
    if status in expected:
        return _content_fault(check, content)
    return f"{check['url']}: HTTP {status}, expected {' or '.join(str(code) for code in expected)}"


def _tcp_fault(check: dict[str, str]) -> Any:
    host, port = check["tcp"].rsplit(":", 1)
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=CHECK_TIMEOUT_SECONDS).close()
    except OSError as exc:
        return f"{check['tcp']}: {exc.strerror or exc}"
    return None


def _unix_fault(check: dict[str, str]) -> str | None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(CHECK_TIMEOUT_SECONDS)
        try:
            probe.connect(check["unix"])
        except OSError as exc:
            return f"{check['unix']}: {exc.strerror or exc}"
    return None


def fault(check: dict[str, Any]) -> str | None:
    """Return why a program is not ready, or None.

    :param check: dict with any of ``url`` (with ``ca_file``, ``client_cert``, ``client_key``, ``username_file``
        and ``password_file`` for HTTP basic authentication, ``status``: list of codes, ``holds``: what must not be
        empty in the JSON object it answers), ``tcp`` (``host:port``), ``unix`` (path of a socket) and ``file`` (path);
        an empty one is always fulfilled
    """
    if check.get("url"):
        text = _url_fault(check)
        if text:
            return text
    if check.get("tcp"):
        text = _tcp_fault(check)
        if text:
            return text
    if check.get("unix"):
        text = _unix_fault(check)
        if text:
            return text
    if check.get("file") and not os.path.exists(check["file"]):
        return f"{check['file']}: missing"
    return None


def faults(checks: dict[str, dict[str, Any]]) -> dict[str, str]:
    """Check many programs at once.

    :param checks: dict name → check
    :returns: dict name → why it is not ready, of those that are not
    """
    names = sorted(checks)
    if not names:
        return {}
    with ThreadPoolExecutor(max_workers=len(names)) as pool:
        found = dict(zip(names, pool.map(fault, (checks[name] for name in names))))
    return dict((name, text) for name, text in found.items() if text)


def wait(checks: dict[str, Any], given_up: Callable[..., Any] | None = None,
         clock: Callable[[], float] = time.monotonic) -> dict[str, str]:
    """Wait until all programs are ready, each within its ``timeout_seconds``.

    :param checks: dict name → check
    :param given_up: callable without arguments that returns the names of programs not worth waiting for
    :param clock: callable that returns seconds
    :returns: dict name → why it is not ready, of those that are not
    """
    start = clock()
    pending, failed = dict(checks), {}
    limits = dict((name, check.get("timeout_seconds") or DEFAULT_TIMEOUT_SECONDS) for name, check in checks.items())
    for step in poll(lambda: faults(pending), start + max(limits.values(), default=0), POLL_INTERVAL_SECONDS, clock):
        for name in set(pending) - set(step.objects):
            del pending[name]
        lost = set(given_up() if given_up and pending else ())
        for name in list(pending):
            if name in lost or clock() - start >= limits[name]:
                failed[name] = step.objects[name]
                del pending[name]
        if not pending:
            return failed
    return dict(failed, **dict((name, step.objects[name]) for name in pending))
