# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A thin client: openstacksdk for configuration, login and TLS; known paths and plain dicts for the rest."""
from __future__ import annotations

import email.utils
import importlib.util
import os
import re
from collections.abc import Sequence
from typing import Any, Callable
from urllib.parse import quote

from ..._common.documents.document_text import from_json
from ..._common.redaction.redaction import redacted
from ..._common.transfer import answer_limits
from . import answers
from .errors import IronicError, error_from_answer, lost_answer

# Looked for, not imported: that takes a third of a second, which a module that asks no Ironic would pay for nothing.
HAS_OPENSTACK = all(importlib.util.find_spec(name) is not None for name in ("keystoneauth1", "openstack"))
WORKERS = 8
REQUEST_TIMEOUT_SECONDS = 60
# More than one Ironic manages by far.
_MOST_PAGES = 1000
# The newest API version whose fields and verbs this collection knows; an older Ironic is asked for its own newest.
NEWEST_MINOR = 110
# 2024.1: firmware interface, service steps and unhold are in.
OLDEST_MINOR = 87
_VERSION = re.compile(r"^1\.([0-9]{1,6})$")
# Methods by which the same request may be sent twice.
_REPEATABLE = ("GET", "DELETE")
# What results call the changes of the other methods.
_CHANGES = {"POST": "created", "PUT": "updated", "PATCH": "updated", "DELETE": "deleted"}


def ironic_argument_spec() -> dict[str, dict[str, Any]]:
    """Return the options by which a module finds Ironic; documented in the fragment ``ironic``.

    The environment is read by :func:`connection_settings`: which variables count depends on what is given.
    """
    return {
        "cloud": {"type": "str"},
        "clouds_file": {"type": "path"},
        "endpoint": {"type": "str"},
        "auth_type": {"type": "str", "choices": ["none", "http_basic"]},
        "username": {"type": "str"},
        "password": {"type": "str", "no_log": True},
        "ca_cert": {"type": "path"},
        "client_cert": {"type": "path"},
        "client_key": {"type": "path", "no_log": False},
        "validate_certs": {"type": "bool"},
        "request_timeout_seconds": {"type": "int", "default": REQUEST_TIMEOUT_SECONDS},
    }


def connection_settings(params: dict[str, Any], environment: Any) -> dict[str, Any]:
    """Return how Ironic is to be found, from a module's options and the environment; pure.

    An option wins over the environment. ``endpoint`` wins over ``cloud``, so that a task can name an address
    although ``OS_CLOUD`` is set. With neither, openstacksdk looks at ``OS_*`` itself (Keystone).

    :param params: dict with the options of :func:`ironic_argument_spec`
    :param environment: dict of environment variables
    :returns: ``{"cloud", "clouds_file", "arguments"}``: the cloud's name or None, the path of a clouds.yaml or None,
        and keyword arguments for openstacksdk's ``get_one``
    :raises IronicError: when the options contradict each other
    """
    endpoint = params.get("endpoint")
    cloud = params.get("cloud")
    if endpoint and cloud:
        raise IronicError("endpoint and cloud: found both, expected one of them", reason="Configuration")
    if not endpoint and not cloud:
        cloud = environment.get("OS_CLOUD")
        endpoint = None if cloud else environment.get("OS_ENDPOINT")
    arguments = {}
    if endpoint:
        arguments.update(_endpoint_arguments(endpoint.rstrip("/"), params, environment))
    ca_cert = params.get("ca_cert") or (environment.get("OS_CACERT") if endpoint else None)
    pairs = (("cacert", ca_cert), ("cert", params.get("client_cert")), ("key", params.get("client_key")))
    arguments.update((name, value) for name, value in pairs if value)
    if params.get("validate_certs") is not None:
        arguments["verify"] = params["validate_certs"]
    elif endpoint and environment.get("OS_INSECURE", "").lower() in ("1", "true", "yes"):
        arguments["verify"] = False
    return {"cloud": cloud, "clouds_file": params.get("clouds_file"), "arguments": arguments}


def _credentials_of(environment: Any, endpoint: str) -> Any:
    """Return the environment for logging in at an endpoint: without a login that it has for another server."""
    servers = [environment.get("OS_ENDPOINT"), environment.get("OS_AUTH_URL")]
    if not any(servers) or (servers[0] or "").rstrip("/") == endpoint:
        return environment
    return {}


def _endpoint_arguments(endpoint: str, params: dict[str, Any], environment: Any) -> dict[str, Any]:
    environment = _credentials_of(environment, endpoint)
    username = params.get("username") or environment.get("OS_USERNAME")
    password = params.get("password") or environment.get("OS_PASSWORD")
    auth_type = params.get("auth_type") or environment.get("OS_AUTH_TYPE") or ("http_basic" if username else "none")
    auth = {"endpoint": endpoint}
    if auth_type == "http_basic":
        if not username or not password:
            raise IronicError("auth_type http_basic: found no %s, expected username and password (or OS_USERNAME and "
                              "OS_PASSWORD, which are not read when OS_ENDPOINT or OS_AUTH_URL names another server)" %
                              ("password" if username else "username"), reason="Configuration")
        auth.update(username=username, password=password)
    elif auth_type != "none":
        raise IronicError(f"OS_AUTH_TYPE: found {auth_type}, expected none or http_basic with an endpoint; name a "
                          "cloud of clouds.yaml for Keystone", reason="Configuration")
    # An endpoint without login is read from baremetal_endpoint_override.
    return {"auth_type": auth_type, "auth": auth, "baremetal_endpoint_override": endpoint}


def _load_session() -> Any:
    from . import session

    if not session.HAS_OPENSTACK:
        raise IronicError("Python package openstacksdk: found one that can't be imported, expected 4.0 or newer; "
                          "install it by pip", reason="Configuration")
    return session


class IronicClient:
    """Requests to one Ironic; safe to share between threads.

    :param params: dict with the options of :func:`ironic_argument_spec`
    :param wrote: callable that takes a request's subject and what became of it, called for each change that Ironic took
    :raises IronicError: when no usable configuration is found, Ironic does not answer or is too old
    """

    def __init__(self, params: dict[str, Any], wrote: Callable[[str, str], Any] = lambda subject, action: None) -> None:
        self._wrote = wrote
        self._timeout_seconds = params.get("request_timeout_seconds") or REQUEST_TIMEOUT_SECONDS
        self._session = _load_session()
        self._adapter = self._session.open_adapter(connection_settings(params, os.environ), self._timeout_seconds)
        self.minor = 1
        self.minor = self._negotiated()

    @property
    def server(self) -> str:
        """URL of Ironic's API."""
        return self._adapter.endpoint_override

    def _negotiated(self) -> int:
        response = self._send("GET", "/", {}, None, "API version", True)
        newest = response.headers.get("X-OpenStack-Ironic-API-Maximum-Version", "")
        match = _VERSION.match(newest)
        if not match:
            raise IronicError(f"{self.server} does not answer as Ironic does: no API version in its answer; check the "
                              "endpoint", reason="Configuration")
        if int(match.group(1)) < OLDEST_MINOR:
            raise IronicError(f"Ironic at {self.server}: found API version {newest}, expected 1.{OLDEST_MINOR} or "
                              "newer", reason="Version")
        return min(int(match.group(1)), NEWEST_MINOR)

    def _send(self, method: str, path: str, query: dict[str, str] | None, body: Any, subject: str,
              repeatable: bool) -> Any:
        fields = "&".join(f"{key}={quote(str(value), safe=',')}" for key, value in (query or {}).items()
                          if value is not None)
        url = path + ("?" + fields if fields else "")
        options = {} if body is None else {"json": body}
        try:
            response = self._adapter.request(
                url, method, microversion=f"1.{self.minor}", raise_exc=False, timeout=self._timeout_seconds,
                connect_retries=0, status_code_retries=0, redirect=False, **options)
        except answer_limits.AnswerTooLongError as exc:
            if not repeatable:
                raise lost_answer(subject, str(exc)) from exc
            raise IronicError(f"{subject}: {self.server} sends {exc}; check the endpoint, and what is between here and "
                              "there", reason="Answer") from exc
        except self._session.FAULTS as exc:
            raise self._session.no_answer(subject, self.server, exc, repeatable) from exc
        if response.status_code >= 400:
            raise error_from_answer(response.status_code, response.text, subject, repeatable,
                                    response.headers.get("Retry-After"))
        if response.status_code >= 300:
            location = str(response.headers.get("Location")).split("?", 1)[0][:200]
            raise IronicError(f"{subject}: Ironic {self.server} redirects to {redacted(location)}, which is not "
                              "followed: the login would go to another place; if that is where Ironic is, set endpoint "
                              "to it",
                              response.status_code, "Configuration")
        return response

    def request(self, method: str, path: str, query: dict[str, str] | None = None, body: Any = None,
                subject: str | None = None, repeatable: bool | None = None) -> Any:
        """Send one request and return the decoded answer, None when it has no body.

        :param method: HTTP method
        :param path: path below ``/v1``
        :param query: dict of query parameters; None values are left out
        :param body: a dict or list, sent as JSON
        :param subject: what errors name, defaults to the path
        :param repeatable: whether it may be sent twice; by default what reads or deletes may. When the answer to
            another one is lost, the error is ``lost`` and not ``retriable``
        :raises IronicError: when Ironic refuses or does not answer
        """
        subject = subject or path
        repeatable = method in _REPEATABLE if repeatable is None else repeatable
        response = self._send(method, path, query, body, subject, repeatable)
        if method in _CHANGES:
            self._wrote(subject, _CHANGES[method])
        if not response.content:
            return None
        try:
            return answers.shallow(from_json(response.content), subject)
        except ValueError as exc:
            raise _no_json(subject, self.server, response.text, repeatable) from exc

    def _list(self, path: str, key: str, query: dict[str, str],
              fields: Sequence[Any] | None = None) -> list[dict[str, Any]]:
        found, markers = [], set()
        while True:
            marker = found[-1]["uuid"] if found else None
            answer = self.request("GET", path, dict(query, marker=marker) if marker else query,
                                  subject="list of " + key)
            page = answers.items(answer, key, fields)
            found += page
            # Where the next page is, is computed here: the answer's link may lead anywhere.
            if not answer.get("next") or not page:
                return found
            if len(markers) >= _MOST_PAGES:
                raise IronicError(f"list of {key}: Ironic {self.server} answers with more than {_MOST_PAGES} pages; "
                                  "check the endpoint", reason="Answer")
            if page[-1]["uuid"] in markers:
                raise IronicError(f"list of {key}: Ironic {self.server} answers with the same page again and again; "
                                  "look at its log, and at what is between here and there", reason="Answer")
            markers.add(page[-1]["uuid"])

    def list_nodes(self, fields: Sequence[Any] | None = None, **filters: Any) -> list[dict[str, Any]]:
        """Return nodes as dicts: one request (for each 1000, where Ironic pages).

        :param fields: names of the fields to return, None for all
        :param filters: Ironic's query parameters, for example ``provision_state``
        """
        query = dict(filters)
        if fields is not None:
            query["fields"] = ",".join(fields)
        return self._list("/nodes/detail" if fields is None else "/nodes", "nodes", query, fields)

    def node(self, uuid: str, fields: tuple[Any, ...] | None) -> dict[str, Any] | None:
        """Return one node, None when there is none.

        :param uuid: its UUID
        :param fields: names of the fields to return
        """
        return self._one("nodes", uuid, fields)

    def port(self, uuid: str, fields: tuple[str, ...] | None = None) -> dict[str, str] | None:
        """Return one port, None when there is none.

        :param uuid: its UUID
        :param fields: names of the fields to return, None for all
        """
        return self._one("ports", uuid, fields)

    def _one(self, key: str, uuid: str, fields: tuple[Any, ...] | None) -> dict[str, Any] | None:
        subject = f"{key[:-1]} {uuid}"
        try:
            answer = self.request("GET", path_of(key, uuid), {"fields": ",".join(fields)} if fields else None,
                                  subject=subject)
        except IronicError as exc:
            if exc.status == 404:
                return None
            raise
        return answers.item(answer, key, fields, subject)

    def list_ports(self, fields: tuple[str, ...] | None = None) -> list[dict[str, Any]]:
        """Return all ports as dicts.

        :param fields: names of the fields to return, None for all
        """
        if fields is None:
            return self._list("/ports/detail", "ports", {})
        return self._list("/ports", "ports", {"fields": ",".join(fields)}, fields)

    def list_portgroups(self, fields: tuple[str, ...]) -> list[dict[str, Any]]:
        """Return all port groups as dicts.

        :param fields: names of the fields to return
        """
        return self._list("/portgroups", "portgroups", {"fields": ",".join(fields)}, fields)

    def server_time(self) -> float | None:
        """Return the time that Ironic's answers have, as seconds since 1970; None when they have none."""
        header = self._send("GET", "/", {}, None, "API version", True).headers.get("Date")
        try:
            return email.utils.parsedate_to_datetime(header).timestamp() if header else None
        except (ValueError, TypeError, OverflowError):
            return None

    def list_drivers_in_detail(self) -> list[dict[str, Any]]:
        """Return the hardware types of Ironic's conductors, with a list of enabled interfaces of each kind."""
        return answers.items(self.request("GET", "/drivers", {"detail": "true"}, subject="drivers"), "drivers")

    def list_conductors(self) -> list[dict[str, Any]]:
        """Return Ironic's conductors as dicts with ``hostname`` and ``alive``."""
        return answers.items(self.request("GET", "/conductors", subject="conductors"), "conductors")

    def list_drivers(self) -> list[str]:
        """Return the names of the hardware types that Ironic's conductors have enabled.

        :raises IronicError: when there are none: Ironic's API then answers, but does nothing
        """
        answer = self.request("GET", "/drivers", subject="drivers")
        found = sorted(driver["name"] for driver in answers.items(answer, "drivers"))
        if not found:
            raise IronicError("drivers: Ironic answers, but has no conductor online that does its work; "
                              "look at the conductor's log, and start it again")
        return found


def path_of(kind: str, uuid: str, rest: str = "") -> str:
    """Return the path of an object below ``/v1``.

    :param kind: ``nodes`` or ``ports``
    :param uuid: UUID as Ironic reports it: data, which must not lead to another path
    :param rest: what comes after it, beginning with a slash
    """
    # Clients resolve the steps of a relative path whatever they are quoted as.
    return f"/{kind}/{quote(uuid, safe='') if uuid.strip('.') else '-'}{rest}"


def _no_json(subject: str, server: str, text: str, repeatable: bool) -> IronicError:
    begin = " ".join(text[:80].split())
    if not repeatable:
        return lost_answer(subject, f"no JSON, but: {begin}")
    # The first half of an answer; the next time it may be whole.
    cut = text.lstrip()[:1] in ("{", "[")
    return IronicError(f"{subject}: {server} answers with something that is no JSON ({begin}); check the endpoint, and "
                       "what is between here and there", reason="Unreachable" if cut else "Answer")
