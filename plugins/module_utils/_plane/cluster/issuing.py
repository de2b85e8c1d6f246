# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether cert-manager issues: a certificate is asked for, waited for, and removed with all that came of it."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..._common.problems.errors import ReportedError
from ..._common.waiting.wait_loop import until_nothing
from ..._kube.api.discovery import resolve
from ..._kube.kinds.resources import KNOWN
from ..._kube.objects import secret_data
from ..._kube.objects.conditions import condition
from ..._kube.responses.errors import KubeError
from ..._kube.responses.patience import Patience
from . import objects

try:
    from cryptography import x509
    HAS_CRYPTOGRAPHY = True
except ImportError:
    HAS_CRYPTOGRAPHY = False

Object = dict[str, Any]

NAME = "metal3-baremetal-probe"
# Reserved by RFC 2606: no name that anybody serves.
DNS_NAME = NAME + ".invalid"
INTERVAL_SECONDS = 0.5


class IssuingError(ReportedError):
    """No certificate was issued; the message says what cert-manager says."""


def wanted(namespace: str) -> list[Object]:
    """Return the Issuer and the Certificate that are created; pure."""
    def metadata() -> Object:
        return {"name": NAME, "namespace": namespace, "labels": dict([objects.OWNER_LABEL])}
    return [
        {"apiVersion": "cert-manager.io/v1", "kind": "Issuer", "metadata": metadata(), "spec": {"selfSigned": {}}},
        {"apiVersion": "cert-manager.io/v1", "kind": "Certificate", "metadata": metadata(), "spec": {
            "secretName": NAME, "dnsNames": [DNS_NAME], "issuerRef": {"name": NAME, "kind": "Issuer"},
            # Else the Secret stays without an owner and a label.
            "secretTemplate": {"labels": dict([objects.OWNER_LABEL])}}}]


def ask(client: Any, run: Callable[..., Any], namespace: str, seconds: float, progress: Any,
        clock: Callable[[], float], sleep: Callable[[float], Any]) -> float:
    """Have a certificate issued and remove it; return the seconds that it took.

    What a run that was killed has left is removed first.

    :param client: a KubeClient
    :param run: callable that takes a list of calls and returns their ``bulk.Outcome``
    :param namespace: cert-manager's
    :param seconds: how long to wait
    :raises IssuingError: when none is issued in time, or an object of this name is somebody else's
    :raises KubeError: when the API server can't be asked or refuses
    """
    began_at = clock()
    items = wanted(namespace)
    found = resolve(client, items, run)
    kinds = [(found[item["apiVersion"], item["kind"]], item) for item in items]
    if any(resource is None for resource, _item in kinds):
        raise IssuingError("cert-manager: found no Issuers and Certificates served, expected cert-manager.io/v1; "
                           "install its definitions")
    resources = [*(resource for resource, _item in kinds), KNOWN["Secret"]]
    _remove(client, resources, namespace)
    state = {"text": "nothing was said"}
    patience = Patience(clock)

    def look() -> list[str]:
        try:
            stored = client.get(kinds[1][0], namespace, NAME) or {}
            issued = _is_issued(client.get(KNOWN["Secret"], namespace, NAME))
            patience.answered()
        except KubeError as exc:
            if patience.is_final(exc):
                raise
            state["text"] = exc.cause
            return [NAME]
        ready = condition(stored, "Ready")
        state["text"] = ready.get("message") or state["text"]
        return [] if issued and ready.get("status") == "True" else [NAME]

    try:
        for resource, item in kinds:
            client.create(resource, namespace, item)
        if until_nothing(look, seconds, INTERVAL_SECONDS, clock, sleep):
            raise IssuingError(
                f"cert-manager: found no certificate issued in time ({state['text']}), expected one from a self-signed "
                f"issuer; look at the log of its controller in the namespace {namespace}")
    finally:
        _remove(client, resources, namespace)
    progress.event("cert-manager: issued a certificate")
    return round(clock() - began_at, 1)


def _is_issued(secret: Object | None) -> bool:
    try:
        certificate = x509.load_pem_x509_certificate(secret_data.value(secret, "tls.crt") or b"")
        names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
        return DNS_NAME in names.get_values_for_type(x509.DNSName)
    except (ValueError, x509.ExtensionNotFound):
        return False


def _remove(client: Any, resources: list[Any], namespace: str) -> None:
    # The Certificate before its Secret, which would be issued again.
    for resource in (resources[1], resources[0], resources[2]):
        stored = client.get(resource, namespace, NAME)
        if stored is None:
            continue
        if not objects.is_ours(stored):
            label, owner = objects.OWNER_LABEL
            raise IssuingError(f"{resource.kind} {namespace}/{NAME}: found one without the label {label}={owner}, "
                               "expected none; rename it")
        client.delete(resource, namespace, NAME, uid=stored["metadata"].get("uid"))
