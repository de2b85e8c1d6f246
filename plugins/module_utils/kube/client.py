# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A thin client: one connection pool, known paths, plain dicts."""
from __future__ import annotations

import json
import time
from urllib.parse import quote

from ansible.module_utils.basic import env_fallback

from . import precondition
from .errors import KubeError, error_from_answer

try:
    import kubernetes
    import urllib3
    HAS_KUBERNETES = True
except ImportError:
    HAS_KUBERNETES = False

FIELD_MANAGER = "metal3.baremetal"
WORKERS = 8
REQUEST_TIMEOUT_SECONDS = 30
# Tokens of exec plugins and service accounts live for minutes at least.
CREDENTIALS_SECONDS = 10

_JSON = "application/json"
MERGE_PATCH = "application/merge-patch+json"
JSON_PATCH = "application/json-patch+json"
APPLY_PATCH = "application/apply-patch+yaml"


def kube_argument_spec():
    """Return the options by which a module finds its API server; documented in the fragment ``kubernetes``."""
    return {
        "kubeconfig": {"type": "path", "fallback": (env_fallback, ["KUBECONFIG", "K8S_AUTH_KUBECONFIG"])},
        "context": {"type": "str", "fallback": (env_fallback, ["K8S_AUTH_CONTEXT"])},
        "host": {"type": "str", "fallback": (env_fallback, ["K8S_AUTH_HOST"])},
        "api_key": {"type": "str", "no_log": True, "fallback": (env_fallback, ["K8S_AUTH_API_KEY"])},
        "ca_cert": {"type": "path", "fallback": (env_fallback, ["K8S_AUTH_SSL_CA_CERT"])},
        "client_cert": {"type": "path", "fallback": (env_fallback, ["K8S_AUTH_CERT_FILE"])},
        "client_key": {"type": "path", "no_log": False, "fallback": (env_fallback, ["K8S_AUTH_KEY_FILE"])},
        "validate_certs": {"type": "bool", "fallback": (env_fallback, ["K8S_AUTH_VERIFY_SSL"])},
    }


def _configuration(params):
    configuration = kubernetes.client.Configuration()
    if params.get("kubeconfig_content"):
        try:
            kubernetes.config.load_kube_config_from_dict(
                params["kubeconfig_content"], client_configuration=configuration, persist_config=False)
        except kubernetes.config.ConfigException as exc:
            raise KubeError("kubeconfig: %s" % exc, reason="Configuration") from exc
    elif params.get("host") and not params.get("kubeconfig"):
        configuration.host = params["host"]
    else:
        try:
            kubernetes.config.load_kube_config(
                config_file=params.get("kubeconfig"), context=params.get("context"),
                client_configuration=configuration, persist_config=False)
        except (kubernetes.config.ConfigException, OSError) as exc:
            if params.get("kubeconfig"):
                raise KubeError("kubeconfig %s: %s" % (params["kubeconfig"], exc), reason="Configuration") from exc
            try:
                kubernetes.config.load_incluster_config(client_configuration=configuration)
            except kubernetes.config.ConfigException:
                raise KubeError(
                    "no Kubernetes API server given: set kubeconfig (or KUBECONFIG), or host and api_key; "
                    "seen: %s" % exc, reason="Configuration") from exc
        if params.get("host"):
            configuration.host = params["host"]
    if params.get("api_key"):
        configuration.api_key = {"authorization": "Bearer %s" % params["api_key"]}
    for option, attribute in (("ca_cert", "ssl_ca_cert"), ("client_cert", "cert_file"), ("client_key", "key_file"),
                              ("validate_certs", "verify_ssl")):
        if params.get(option) is not None:
            setattr(configuration, attribute, params[option])
    configuration.connection_pool_maxsize = WORKERS + 2
    configuration.retries = False
    return configuration


class KubeClient:
    """Requests to one API server; safe to share between threads.

    :param params: dict with the options of :func:`kube_argument_spec`, or with ``kubeconfig_content``, a kubeconfig as
        a dict
    :raises KubeError: when no usable configuration is found
    """

    def __init__(self, params):
        self.configuration = _configuration(params)
        self._api = kubernetes.client.ApiClient(self.configuration)
        self._pool = self._api.rest_client.pool_manager
        self._known_credentials = (float("-inf"), {})

    @property
    def server(self):
        """URL of the API server."""
        return self.configuration.host

    def _headers(self, content_type):
        headers = {"Accept": _JSON, "User-Agent": FIELD_MANAGER}
        if content_type:
            headers["Content-Type"] = content_type
        headers.update(self._credentials())
        return headers

    def _credentials(self):
        # Asking kubernetes may load the kubeconfig's token anew, which costs more than a request.
        known_at, headers = self._known_credentials
        if time.monotonic() - known_at > CREDENTIALS_SECONDS:
            headers = dict((setting["key"], setting["value"])
                           for setting in self.configuration.auth_settings().values()
                           if setting["in"] == "header" and setting["value"])
            self._known_credentials = (time.monotonic(), headers)
        return headers

    def request(self, method, path, query=None, body=None, content_type=None, subject=None,
                timeout_seconds=REQUEST_TIMEOUT_SECONDS, stream=False):
        """Send one request and return the decoded answer (or the raw response when ``stream``).

        :param method: HTTP method
        :param path: URL path, see :meth:`Resource.path`
        :param query: dict of query parameters
        :param body: a dict or list, sent as JSON
        :param content_type: defaults to JSON when there is a body
        :param subject: what errors name, defaults to the path
        :param timeout_seconds: for connecting and for each read
        :raises KubeError: when the server refuses or does not answer
        """
        subject = subject or path
        fields = "&".join("%s=%s" % (key, _quote(value)) for key, value in (query or {}).items() if value is not None)
        url = self.server.rstrip("/") + path + ("?" + fields if fields else "")
        data = None if body is None else json.dumps(body, separators=(",", ":")).encode()
        try:
            response = self._pool.request(
                method, url, body=data, headers=self._headers(content_type or (_JSON if data else None)),
                timeout=urllib3.Timeout(connect=timeout_seconds, read=timeout_seconds),
                preload_content=not stream, retries=False, redirect=False)
        except urllib3.exceptions.HTTPError as exc:
            raise KubeError("%s: API server %s does not answer: %s" % (subject, self.server, exc),
                            reason="Unreachable") from exc
        if response.status >= 400:
            raise error_from_answer(response.status, _decode(response.data), subject)
        return response if stream else _decode(response.data)

    def list(self, resource, namespace=None, label_selector=None, field_selector=None):
        """Return ``(items, resource_version)`` of one LIST, every item with its apiVersion and kind.

        :param resource: a :class:`Resource`
        :param namespace: None for all namespaces
        """
        answer = self.request(
            "GET", resource.path(namespace),
            {"labelSelector": label_selector, "fieldSelector": field_selector},
            subject="%s list in %s" % (resource.kind, namespace or "all namespaces"), timeout_seconds=120)
        for item in answer["items"]:
            item.setdefault("apiVersion", resource.api_version)
            item.setdefault("kind", resource.kind)
        return answer["items"], answer["metadata"].get("resourceVersion")

    def get(self, resource, namespace, name):
        """Return one object, or None when there is none."""
        try:
            return self.request("GET", resource.path(namespace, name), subject=_subject(resource, namespace, name))
        except KubeError as exc:
            if exc.status == 404:
                return None
            raise

    def create(self, resource, namespace, body, dry_run=False):
        """Create an object and return it as stored."""
        return self.request(
            "POST", resource.path(namespace), {"fieldManager": FIELD_MANAGER, "dryRun": _dry_run(dry_run)}, body,
            subject=_subject(resource, namespace, body["metadata"].get("name", "(generated)")))

    def apply(self, resource, namespace, body, dry_run=False, force=True, checked=None):
        """Server-side apply an object under this collection's field manager and return it as stored.

        :param force: take over fields that another manager owns
        :param checked: refuse (409) when the object is no longer this one, as it was read, or when there is one
            (``precondition.ABSENT``); None to write in any case
        """
        name = body["metadata"]["name"]
        return self.request(
            "PATCH", resource.path(namespace, name),
            {"fieldManager": FIELD_MANAGER, "force": "true" if force else None, "dryRun": _dry_run(dry_run)},
            precondition.in_body(body, checked), APPLY_PATCH, subject=_subject(resource, namespace, name))

    def patch(self, resource, namespace, name, body, content_type=MERGE_PATCH, subresource=None, dry_run=False,
              checked=None):
        """Patch an object (JSON merge patch unless said otherwise) and return it as stored.

        :param checked: for merge patches: refuse (409) when the object is no longer this one, as it was read
        """
        return self.request(
            "PATCH", resource.path(namespace, name, subresource),
            {"fieldManager": FIELD_MANAGER, "dryRun": _dry_run(dry_run)}, precondition.in_body(body, checked),
            content_type, subject=_subject(resource, namespace, name))

    def delete(self, resource, namespace, name, propagation="Background", uid=None, dry_run=False, checked=None):
        """Delete an object; False when it was not there.

        :param propagation: Background, Foreground or Orphan
        :param uid: refuse (409) when the object is another one by now
        :param checked: refuse (409) when the object is no longer this one, as it was read
        """
        body = {"propagationPolicy": propagation}
        conditions = precondition.identity(checked) if checked else {"uid": uid} if uid else {}
        if conditions:
            body["preconditions"] = conditions
        if dry_run:
            # In the query it would not count: the API server takes all options from the body when there is one.
            body["dryRun"] = ["All"]
        try:
            self.request("DELETE", resource.path(namespace, name), None, body,
                         subject=_subject(resource, namespace, name))
        except KubeError as exc:
            if exc.status == 404:
                return False
            raise
        return True

    def watch(self, resource, namespace, resource_version, timeout_seconds=60, label_selector=None,
              field_selector=None):
        """Yield the events of one watch, ``{"type": …, "object": …}``, until the server ends it.

        :param resource_version: where to begin, from a LIST
        :param timeout_seconds: after which the server ends the watch
        :raises KubeError: status 410 when the resource version is too old: LIST again
        """
        subject = "watch of %s in %s" % (resource.kind, namespace or "all namespaces")
        response = self.request(
            "GET", resource.path(namespace),
            {"watch": "1", "allowWatchBookmarks": "true", "resourceVersion": resource_version,
             "timeoutSeconds": timeout_seconds, "labelSelector": label_selector, "fieldSelector": field_selector},
            subject=subject, timeout_seconds=timeout_seconds + 15, stream=True)
        try:
            pending = b""
            for chunk in response.stream(65536, decode_content=True):
                *lines, pending = (pending + chunk).split(b"\n")
                for line in lines:
                    if not line.strip():
                        continue
                    event = json.loads(line)
                    if event["type"] == "ERROR":
                        raise error_from_answer(event["object"].get("code", 500), event["object"], subject)
                    yield event
        except urllib3.exceptions.HTTPError as exc:
            raise KubeError("%s: connection to %s lost: %s" % (subject, self.server, exc),
                            reason="Unreachable") from exc
        finally:
            response.close()


def _subject(resource, namespace, name):
    return "%s %s%s" % (resource.kind, namespace + "/" if namespace else "", name)


def _dry_run(dry_run):
    return "All" if dry_run else None


def _decode(data):
    if not data:
        return {}
    try:
        return json.loads(data)
    except ValueError:
        return data.decode(errors="replace")


def _quote(value):
    return quote(str(value), safe="")
