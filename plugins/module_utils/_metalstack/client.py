# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A bounded client of metal-api: metal_python for operations, paths and bodies; login and transport of our own.

metal_python's own transport reads answers of any length, follows redirects with the login, prints the login when
``DEBUG`` is set, and fails on refusals with a new urllib3.
"""
from __future__ import annotations

import hashlib
import hmac
import json
import os
import re
import secrets
import time
from collections.abc import Callable
from typing import Any, NamedTuple

from .._common.documents.document_text import from_json
from .._common.options.field_checks import show
from .._common.texts.formats import timestamp
from .._common.transfer import answer_limits
from .._common.transfer.image_checks import url_parts
from .errors import MetalError, error_from_answer
from .kinds import Kind

try:
    import metal_python.api as metal_apis
    import urllib3
    from metal_python.api_client import ApiClient
    from metal_python.configuration import Configuration
    HAS_METAL_PYTHON = True
except ImportError:
    HAS_METAL_PYTHON = False

WORKERS = 4
REQUEST_TIMEOUT_SECONDS = 60
ANSWER_LIMIT_BYTES = 256 * 1024 ** 2
# An answer as a whole may take so many times what metal-api may be silent for.
_ANSWER_TIMES = 4
_HMAC_USERS = ("Metal-View", "Metal-Edit", "Metal-Admin")
# What may be a part of a path: an answer's id is data, and "..", for one, would lead elsewhere.
_PATH_PART = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,127}\Z")
# Operations of metal_python by their API; those that only read may be sent twice.
_READING = {
    "find_networks": "NetworkApi", "find_i_ps": "IpApi", "find_machines": "MachineApi",
    "find_ipmi_machines": "MachineApi", "list_images": "ImageApi", "list_sizes": "SizeApi",
    "list_partitions": "PartitionApi", "list_projects": "ProjectApi"}
_WRITING = {
    "allocate_network": "NetworkApi", "update_network": "NetworkApi", "free_network": "NetworkApi",
    "allocate_ip": "IpApi", "allocate_specific_ip": "IpApi", "update_ip": "IpApi", "free_ip": "IpApi",
    "allocate_machine": "MachineApi", "free_machine": "MachineApi", "reinstall_machine": "MachineApi",
    "update_machine": "MachineApi", "machine_on": "MachineApi", "machine_off": "MachineApi",
    "machine_cycle": "MachineApi", "machine_reset": "MachineApi", "allocate_firewall": "FirewallApi"}


class _Answer(NamedTuple):
    status: int
    content: bytes
    location: str


def metal_argument_spec() -> dict[str, dict[str, Any]]:
    """Return the options by which a module finds metal-api; documented in the fragment ``metalstack``."""
    return {
        "api_url": {"type": "str"},
        "hmac_key": {"type": "str", "no_log": True},
        "hmac_user": {"type": "str", "choices": list(_HMAC_USERS)},
        "token": {"type": "str", "no_log": True},
        "ca_cert": {"type": "path"},
        "validate_certs": {"type": "bool", "default": True},
        "request_timeout_seconds": {"type": "int", "default": REQUEST_TIMEOUT_SECONDS},
    }


def connection_settings(params: dict[str, Any], environment: Any) -> dict[str, str]:
    """Return how metal-api is found, from a module's options and the environment; pure.

    A login of the environment is that of its ``METAL_API_URL``, and no other server gets it.

    :returns: ``{"url", "hmac_key", "hmac_user", "token"}``, texts that may be empty
    :raises MetalError: when there is no address or not exactly one login
    """
    known = environment.get("METAL_API_URL", "").rstrip("/")
    url = (params.get("api_url") or known).rstrip("/")
    parts = url_parts(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.query or parts.fragment:
        raise MetalError(f"api_url: found {show(url) if url else 'nothing'}, expected a URL such as "
                         "https://api.metal-stack.example/metal, without a login; set api_url or METAL_API_URL",
                         reason="Configuration")
    key, token = params.get("hmac_key"), params.get("token")
    if not key and not token and known in ("", url):
        key, token = environment.get("METAL_API_HMAC"), environment.get("METAL_API_TOKEN")
    if bool(key) == bool(token):
        raise MetalError(f"hmac_key and token: found {'both' if key else 'neither'}, expected one of them; set one (or "
                         "METAL_API_HMAC or METAL_API_TOKEN, which are not read when METAL_API_URL names another "
                         "server)", reason="Configuration")
    user = params.get("hmac_user") or environment.get("METAL_API_HMAC_AUTH_TYPE") or "Metal-Admin"
    if user not in _HMAC_USERS:
        raise MetalError(f"METAL_API_HMAC_AUTH_TYPE: found {show(user)}, expected one of {', '.join(_HMAC_USERS)}",
                         reason="Configuration")
    if any(not text.isprintable() for text in (key or "", token or "")):
        raise MetalError("hmac_key or token: found a control character, expected one line of text; remove the line "
                         "break at its end", reason="Configuration")
    if not (token or "").isascii():
        raise MetalError("token: found a character outside of ASCII, such as a typographic quotation mark, expected a "
                         "token as metal-stack issues it; copy it again", reason="Configuration")
    return {"url": url, "hmac_key": key or "", "hmac_user": user, "token": token or ""}


def login_headers(settings: dict[str, str], method: str, date: str, salt: str) -> dict[str, str]:
    """Return the headers of one request; pure.

    Source: metal-lib's ``security`` package: the hex HMAC-SHA256 of date, method and salt.
    """
    if settings["token"]:
        return {"Authorization": f"Bearer {settings['token']}"}
    signature = hmac.new(settings["hmac_key"].encode(), (date + method + salt).encode(), hashlib.sha256).hexdigest()
    return {"Authorization": f"{settings['hmac_user']} {signature}", "X-Date": date, "X-Data-Salt": salt}


class MetalClient:
    """Requests to one metal-api; safe to share between threads.

    :param params: dict with the options of :func:`metal_argument_spec`
    :param wrote: callable that takes a request's subject and what became of it, called for each change that metal-api
        took
    :raises MetalError: when no usable configuration is found
    """

    def __init__(self, params: dict[str, Any], wrote: Callable[[str, str], Any] = lambda subject, action: None) -> None:
        self._wrote = wrote
        self._settings = connection_settings(params, os.environ)
        timeout_seconds = params.get("request_timeout_seconds") or REQUEST_TIMEOUT_SECONDS
        if timeout_seconds < 0:
            raise MetalError(f"request_timeout_seconds: found {timeout_seconds}, expected at least 1; correct it, or "
                             "leave it out", reason="Configuration")
        self._timeout = urllib3.Timeout(connect=timeout_seconds, read=timeout_seconds)
        checking: dict[str, Any] = {
            "cert_reqs": "CERT_REQUIRED" if params.get("validate_certs", True) else "CERT_NONE",
            "ca_certs": params.get("ca_cert")}
        if params.get("ca_cert") and not os.path.exists(params["ca_cert"]):
            raise MetalError(f"ca_cert {params['ca_cert']}: found no such file, expected the authority of metal-api's "
                             "certificate", reason="Configuration")
        self._pools = answer_limits.limit_pools(urllib3.PoolManager(maxsize=WORKERS, **checking),
                                                lambda: timeout_seconds * _ANSWER_TIMES)
        configuration = Configuration()
        configuration.host = self._settings["url"]
        self._client = ApiClient(configuration=configuration)
        self._client.request = self._send

    @property
    def server(self) -> str:
        """URL of metal-api."""
        return self._settings["url"]

    def _send(self, method: str, url: str, query_params: Any = None, headers: Any = None, body: Any = None,
              **_options: Any) -> _Answer:
        """Send one request in the place of metal_python's transport."""
        date = timestamp(time.time())
        headers = dict(headers or {}, **login_headers(self._settings, method, date, secrets.token_hex(12)))
        response = self._pools.request(
            method, url, body=None if method == "GET" else json.dumps(body or {}), headers=headers,
            fields=query_params or None if method == "GET" else None, timeout=self._timeout, retries=False,
            redirect=False, preload_content=False)
        try:
            content = answer_limits.read_stream(response.stream(65536, decode_content=True), ANSWER_LIMIT_BYTES)
        finally:
            response.close()
        return _Answer(response.status, content, str(response.headers.get("Location", ""))[:200])

    def call(self, operation: str, *arguments: Any, subject: str, became: str = "") -> Any:
        """Run one operation of metal_python and return the decoded answer.

        :param operation: its name, one of those of this file's tables
        :param arguments: ids and body
        :param subject: what errors name
        :param became: what became of the subject, for an operation that changes something
        :raises MetalError: when metal-api refuses or does not answer
        """
        for part in arguments:
            if isinstance(part, str) and not _PATH_PART.match(part):
                raise MetalError(f"{subject}: metal-api names it {show(part)}, which can be no part of a path; look at "
                                 "it with metalctl", reason="Answer")
        api = getattr(metal_apis, self._module_of(operation))
        try:
            answer = getattr(api(self._client), operation)(*arguments, _preload_content=False,
                                                           _return_http_data_only=True)
        except (urllib3.exceptions.HTTPError, OSError) as exc:
            raise self._no_answer(operation, subject, exc) from exc
        if 300 <= answer.status < 400:
            raise MetalError(f"{subject}: metal-api {self.server} redirects to {show(answer.location.split('?')[0])}, "
                             "which is not followed: the login would go to another place; set api_url to where "
                             "metal-api is", answer.status, "Configuration")
        if answer.status >= 400:
            # One of the environment is none of the module's parameters, which hides those.
            raise error_from_answer(answer.status, answer.content, subject,
                                    (self._settings["hmac_key"], self._settings["token"]))
        if operation in _WRITING:
            self._wrote(subject, became)
        try:
            return from_json(answer.content)
        except ValueError as exc:
            raise MetalError(f"{subject}: {self.server} does not answer with JSON; check api_url, which ends with "
                             "/metal by default", reason="Lost" if operation in _WRITING else "Answer") from exc

    @staticmethod
    def _module_of(operation: str) -> str:
        return _READING.get(operation) or _WRITING[operation]

    def _no_answer(self, operation: str, subject: str, error: Exception) -> MetalError:
        never_sent = isinstance(error, (urllib3.exceptions.NewConnectionError, urllib3.exceptions.ConnectTimeoutError,
                                        urllib3.exceptions.SSLError))
        cause = " ".join(str(error).split())[:300]
        if isinstance(error, (urllib3.exceptions.SSLError, urllib3.exceptions.LocationValueError)):
            return MetalError(f"{subject}: no connection to {self.server}: {cause}; set ca_cert, or check api_url",
                              reason="Configuration")
        if never_sent or operation in _READING:
            return MetalError(f"{subject}: no answer of {self.server}: {cause}; check api_url and whether metal-api "
                              "runs", reason="Unreachable")
        return MetalError(f"{subject}: the answer of {self.server} got lost: {cause}; whether it was carried out is "
                          "unknown: run again", reason="Lost")

    def items(self, operation: str, *arguments: Any, subject: str, key: str = "id") -> list[dict[str, Any]]:
        """Run an operation that lists and return the objects, each with a text as its key.

        :param key: the field by which an object is known
        :raises MetalError: when metal-api refuses, does not answer, or answers with something else
        """
        answer = self.call(operation, *arguments, subject=subject)
        if not isinstance(answer, list) or not all(
                isinstance(item, dict) and isinstance(item.get(key), str) for item in answer):
            raise MetalError(f"{subject}: {self.server} answers with something else than a list of objects with "
                             f"{key}; check api_url", reason="Answer")
        return answer

    def stored(self, kind: Kind, query: dict[str, Any] | None = None) -> list[dict[str, Any]]:
        """Return the stored objects of a kind.

        :param kind: a Kind
        :param query: what they must have, by field
        :raises MetalError: as for :meth:`items`
        """
        return self.items(kind.listing, query or {}, subject=f"list of {kind.option}", key=kind.key)

    def projects(self) -> list[dict[str, Any]]:
        """Return the projects that the login may see, each with its id, which is in its metadata.

        :raises MetalError: when metal-api refuses or does not answer
        """
        answer = self.call("list_projects", subject="list of projects")
        found = []
        for item in answer if isinstance(answer, list) else []:
            meta = item.get("meta") if isinstance(item, dict) else None
            if isinstance(meta, dict) and isinstance(meta.get("id"), str):
                found.append(dict(item, id=meta["id"]))
        return found
