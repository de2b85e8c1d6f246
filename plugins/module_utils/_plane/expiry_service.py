# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads the certificates of a plane: files of processes, Secrets and webhooks of a cluster; writes nothing."""
from __future__ import annotations

import base64
import datetime
import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from .._common.problems.errors import ReportedError
from .._kube.api.cluster_clock import clock_of
from .._kube.connection import kubeconfig
from .._kube.kinds.resources import TLS_TYPE
from .._kube.pods import deployment_pod
from .._kube.responses.advice import reading_failed
from .._kube.responses.errors import KubeError
from .._metal3.ironic_place import IRONIC_DEPLOYMENT
from .._metal3.kinds import KNOWN
from . import expiry, mounted
from .parts import fit_service
from .parts.catalogue import BY_NAME

Object = dict[str, Any]

_WEBHOOKS = ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration", "CustomResourceDefinition")
_TLS, _OF_CLUSTER = f"type={TLS_TYPE}", "type=cluster.x-k8s.io/secret"
_AUTHORITY = "ca.crt"


def report(params: Mapping[str, Any], client: Any, width: int | None,
           now: Callable[[], float] | None = None) -> Object:
    """Return the result of the module ``plane_certificates_info``.

    :param params: its parameters
    :param client: a KubeClient
    :param width: columns of the terminal
    :param now: callable that returns the time in seconds since 1970, by default by the clock of the API server: what
        is there decides whether certificates are valid
    :raises ReportedError: for a folder that can't be read
    :raises KubeError: when the API server can't be asked
    """
    warnings: list[str] = []
    held = _of_files(params["pki_dir"]) if params["pki_dir"] else []
    held += _of_cluster(client, params["namespaces"], warnings)
    machines = [item for name in params["namespaces"] for item in _listed(client, "Machine", name, None, warnings)]
    at = datetime.datetime.fromtimestamp((now or clock_of(client))(), datetime.timezone.utc)
    found = expiry.rows(held, at, params["warn_days"], expiry.of_machines(machines))
    return {"changed": False, "certificates": found, "table": expiry.table(found, width), "warnings": warnings,
            "urgent": [row["place"] for row in found if row["status"] != expiry.FINE]}


def _of_files(folder: str) -> list[expiry.Held]:
    authority_file = os.path.join(folder, _AUTHORITY)
    try:
        authority = _file(authority_file)
        found = [expiry.Held(authority_file, "authority of the processes", authority, None,
                             ("all processes", "agents", "nodes"))]
        for place, _folders, names in sorted(os.walk(folder)):
            found += [expiry.Held(path, f"process {os.path.relpath(path, folder)[:-4]}", _file(path), authority,
                                  (authority_file,))
                      for name in sorted(names) if name.endswith(".crt")
                      for path in [os.path.join(place, name)] if path != authority_file]
    except OSError as exc:
        raise ReportedError(f"{exc.filename}: {exc.strerror}; correct pki_dir") from exc
    return found


def _file(path: str) -> bytes:
    with open(path, "rb") as stream:
        return stream.read()


def _of_cluster(client: Any, namespaces: list[str], warnings: list[str]) -> list[expiry.Held]:
    webhooks = []
    for kind in _WEBHOOKS:
        # A list's items do not name their kind.
        webhooks += [dict(item, kind=kind) for item in _listed(client, kind, None, None, warnings)]
    places = list(dict.fromkeys(fit_service.namespaces(client) + namespaces))
    secrets = [item for name in places for item in _listed(client, "Secret", name, _TLS, warnings)]
    of_ironic = [item for name in places for item in _of_ironic(client, name, warnings)]
    of_clusters = [item for name in namespaces for item in _listed(client, "Secret", name, _OF_CLUSTER, warnings)]
    serving = expiry.of_webhooks(webhooks, secrets, places)
    return (serving + of_ironic + expiry.of_secrets(secrets, serving + of_ironic)
            + expiry.of_clusters(of_clusters, _of_kubeconfig))


def _of_ironic(client: Any, namespace: str, warnings: list[str]) -> list[expiry.Held]:
    """Return the certificates of Ironic's pods in a namespace, which read them at their start."""
    found = []
    for item in _named(client, "Deployment", namespace, [IRONIC_DEPLOYMENT], warnings):
        secrets = _named(client, "Secret", namespace, mounted.secrets_of(item), warnings)
        found += mounted.held(item, secrets, mounted.first_start(_pods(client, item, warnings)),
                              (BY_NAME["bmo"].title,))
    return found


def _pods(client: Any, deployment: Object, warnings: list[str]) -> list[Object]:
    namespace = deployment["metadata"]["namespace"]
    return _allowed(client, "Pod", namespace, "list", warnings,
                    lambda: deployment_pod.selected(client, namespace, deployment))


def _listed(client: Any, kind: str, namespace: str | None, selector: str | None, warnings: list[str]) -> list[Object]:
    return _allowed(client, kind, namespace, "list", warnings,
                    lambda: client.list(KNOWN[kind], namespace, None, selector)[0])


def _named(client: Any, kind: str, namespace: str, names: Iterable[str], warnings: list[str]) -> list[Object]:
    """Return those of the objects that are there; none when one of them may not be read."""
    return _allowed(client, kind, namespace, "get", warnings, lambda: [
        item for name in names for item in [client.get(KNOWN[kind], namespace, name)] if item is not None])


def _allowed(client: Any, kind: str, namespace: str | None, verb: str, warnings: list[str],
             call: Callable[[], list[Object]]) -> list[Object]:
    """Return what a call reads; nothing, and a warning, when that is not allowed."""
    try:
        return call()
    except KubeError as exc:
        # A plane without Cluster API has no Machines.
        if exc.status == 404 and kind == "Machine":
            return []
        if exc.status != 403:
            raise
        warnings.append("certificates: not all are listed: "
                        f"{reading_failed(exc, KNOWN[kind], namespace, client.server, verb)}")
        return []


def _of_kubeconfig(content: bytes) -> tuple[bytes, bytes | None]:
    """Return client certificate and authority of a kubeconfig, of which only inline data is read."""
    try:
        _name, cluster, user = kubeconfig.choose(kubeconfig.inline(content, "kubeconfig"), None, "kubeconfig")
        return (base64.b64decode(user["client-certificate-data"]),
                base64.b64decode(cluster["certificate-authority-data"]))
    except (KubeError, KeyError, TypeError, ValueError):
        return b"", None
