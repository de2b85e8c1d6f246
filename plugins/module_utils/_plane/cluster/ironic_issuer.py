# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A site's own issuer for Ironic's certificate: whether it is there, and whether what it issued will be accepted."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..._common.options.field_checks import show
from ..._common.problems.errors import RefusedError
from ..._common.problems.problem import Problem
from ..._common.waiting.wait_loop import until_nothing
from ..._kube.api.discovery import resolve
from ..._kube.kinds.resources import KNOWN
from ..._kube.objects import secret_data
from ..._kube.objects.conditions import condition
from ..._kube.responses.errors import KubeError
from ..._manifests import rollout
from . import given_certificate, ironic
from .objects import CERTIFICATE_GROUP

Object = dict[str, Any]

INTERVAL_SECONDS = 1.0
_API_VERSION = f"{CERTIFICATE_GROUP}/v1"


def problems(client: Any, run: Callable[..., Any], params: Object) -> list[Problem]:
    """Return why an issuer cannot issue the certificate; one of another group is not looked at.

    :param client: a KubeClient
    :param run: callable that takes a list of calls and returns their ``bulk.Outcome``
    :param params: the parameters of the module ``plane_ironic``, with ``tls_issuer``
    :raises KubeError: when the API server can't be asked
    """
    given = params["tls_issuer"]
    if given["group"] != CERTIFICATE_GROUP:
        return []
    resource = resolve(client, [{"apiVersion": _API_VERSION, "kind": given["kind"]}], run)[_API_VERSION, given["kind"]]
    # In check mode cert-manager may be yet to come; without check mode the Certificate is refused.
    if resource is None:
        return []
    try:
        stored = client.get(resource, params["namespace"] if resource.namespaced else None, given["name"])
    except KubeError as exc:
        # It may be used without a right to read it.
        if exc.status != 403:
            raise
        return []
    place = f"namespace {params['namespace']}" if resource.namespaced else "the cluster"
    if stored is None:
        return [Problem("ironic-issuer", "ironic", "tls_issuer.name", show(given["name"]),
                        f"the {given['kind']} of {place}", "create it first, or correct name and kind")]
    ready = condition(stored, "Ready")
    if ready.get("status") != "True":
        return [Problem("ironic-issuer", "ironic", "tls_issuer.name",
                        f"{given['kind']} {given['name']}, which is not ready: {ready.get('message') or 'no reason'}",
                        "one that is ready", "correct it")]
    return []


def refuse_unfit(client: Any, run: Callable[..., Any], params: Object, clock: Callable[[], float],
                 sleep: Callable[[float], Any]) -> None:
    """Wait until the certificate is issued, and refuse one that those who connect to Ironic would not accept.

    :param client: a KubeClient
    :param run: see :func:`problems`
    :param params: see :func:`problems`
    :raises RefusedError: for such a certificate, and for one that is not issued in time
    :raises KubeError: when the API server can't be asked
    """
    resource = resolve(client, [{"apiVersion": _API_VERSION, "kind": "Certificate"}], run)[_API_VERSION, "Certificate"]

    def left() -> list[str]:
        said = rollout.missing(client.get(resource, params["namespace"], ironic.CERTIFICATE))
        return [said] if said else []

    said = until_nothing(left, params["wait_timeout_seconds"], INTERVAL_SECONDS, clock, sleep)
    if said:
        raise RefusedError([Problem("ironic-issuer", f"Certificate {params['namespace']}/{ironic.CERTIFICATE}", None,
                                    said[0], "one that the issuer has issued", "look at its CertificateRequest")])
    stored = client.get(KNOWN["Secret"], params["namespace"], ironic.CERTIFICATE)
    certificate, key = (secret_data.text(stored, name) for name in ("tls.crt", "tls.key"))
    called = (f"Secret {ironic.CERTIFICATE} tls.crt", f"Secret {ironic.CERTIFICATE} tls.key", "provisioning_ip")
    found = given_certificate.problems(certificate, key, params["tls_authority"], params["provisioning_ip"], called,
                                       names=params.get("tls_names") or [])
    if found:
        raise RefusedError(found)
