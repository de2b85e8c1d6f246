# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What to do about a request that failed."""
from __future__ import annotations

import re
from typing import Any

from ..._common.texts.formats import duration

_VERBS = {"POST": "create", "PATCH": "patch", "PUT": "update", "DELETE": "delete"}
_PATH = re.compile(r"/(?:api|apis/(?P<group>[^/]+))/[^/]+(?:/namespaces/(?P<namespace>[^/]+)(?=/))?"
                   r"/(?P<plural>[^/]+)(?:/(?P<name>[^/]+)(?:/(?P<rest>.+))?)?$")


def next_step_of(error: Any, method: str, path: str, query: dict[str, Any], server: str, user: str) -> str:
    """Return what to do about a request that failed, empty when the message says it itself.

    :param error: a KubeError
    :param method: HTTP method
    :param path: URL path
    :param query: dict of query parameters
    :param server: URL of the API server
    :param user: whose credentials were sent, as the reader knows them; empty when none were sent
    """
    if error.retry_after_seconds is not None:
        return f"{server} is busy and asks for a pause of {duration(error.retry_after_seconds)}; run again then"
    if error.reason == "Certificate":
        return _certificate(error.message)
    if error.reason == "Unreachable":
        return "start it, or correct kubeconfig or host, or the network between, then run again"
    if error.status == 400 and query.get("labelSelector") and method == "GET":
        return "correct label_selector"
    if error.status == 401:
        return _unauthorized(server, user)
    if error.status == 403 and "is being terminated" in error.message:
        return "wait until the namespace is gone, then run again; if it stays, look at what is left in it"
    if error.status == 403 and (" cannot " in error.message or not user):
        return _forbidden(method, path, query, user)
    if error.status == 404:
        return _not_found(error, method, path, server)
    if error.status in (409, 410) and method != "POST":
        return "it was changed meanwhile: run again"
    if error.status == 429 or (error.status or 0) >= 500:
        return "look at the API server and at what is before it, then run again"
    return ""


def _certificate(message: str) -> str:
    if "Hostname mismatch" in message or "IP address mismatch" in message:
        return "use a name in host that the certificate has, or tls-server-name in the kubeconfig"
    if "expired" in message:
        return "renew the API server's certificate, or correct the clock"
    return "set ca_cert to the authority of its certificate, or correct certificate-authority-data of the kubeconfig"


def _unauthorized(server: str | None, user: str) -> str:
    if not user:
        return "no credentials were sent: give api_key, or client_cert and client_key, or a kubeconfig as an option; " \
            "one of the environment is not read when host is given"
    return f"{server} does not know this user: renew the token or client certificate of {user}"


def _forbidden(method: str, path: str, query: dict[str, Any], user: str) -> str:
    if not user:
        return _unauthorized(None, user)
    found = _PATH.match(path)
    if not found:
        return ""
    verb = _VERBS.get(method) or ("watch" if query.get("watch") else "get" if found.group("name") else "list")
    return allow(verb, found.group("plural") + ("/" + found.group("rest").split("/")[0] if found.group("rest") else ""),
                 found.group("group") or "", found.group("namespace"))


def allow(verb: str, plural: str, group: str, namespace: str | None) -> str:
    """Return how a user comes to be allowed something.

    :param namespace: None for all namespaces, or for what has none
    """
    return "allow it by a %s with the verb %s on %s in the API group %s" % (
        f"Role and RoleBinding in namespace {namespace}" if namespace else "ClusterRole and ClusterRoleBinding",
        verb, plural, group or '"" (the core group)')


def _not_found(error: Any, method: str, path: str, server: str) -> str:
    found = _PATH.match(path)
    if not found:
        return ""
    namespace = found.group("namespace")
    if namespace and f'namespaces "{namespace}" not found' in error.message:
        return f"make the namespace (kubectl create namespace {namespace}), or correct namespace"
    if not found.group("name") or method == "PATCH":
        return f"install what serves {found.group('plural')} on {server} first (playbook metal3.baremetal.install)"
    return ""


def reading_failed(error: Any, resource: Any, namespace: str | None, server: str | None, verb: str = "list") -> str:
    """Return a KubeError of a LIST, or of another read, as text, with what to do next.

    :param error: a KubeError
    :param resource: the Resource that was asked for, None when it did not come to that
    :param namespace: None for all namespaces
    :param server: URL of the API server, None when it is not known
    :param verb: as RBAC calls the read
    """
    advice = error.next_step or _advice(error, resource, namespace, server, verb)
    return f"{error.cause}; {advice}" if advice else error.message


def _advice(error: Any, resource: Any, namespace: str | None, server: str | None, verb: str) -> str:
    if error.reason == "Configuration":
        return "" if "set kubeconfig" in error.message else "correct kubeconfig or context"
    if error.reason == "Unreachable" and "CERTIFICATE_VERIFY_FAILED" in error.message:
        return "set ca_cert to the authority of its certificate"
    if error.reason == "Unreachable":
        return "start it, or correct kubeconfig or host"
    if error.status == 400:
        return "correct label_selector"
    if error.status == 401:
        return f"{server} does not know this user: renew the token or client certificate of the kubeconfig"
    if error.status == 403:
        return allow(verb, resource.plural, resource.group, namespace)
    if error.status == 404:
        return (f"the API server {server} does not know {resource.kind}s: install what serves them first (playbook "
                "metal3.baremetal.install)")
    return ""
