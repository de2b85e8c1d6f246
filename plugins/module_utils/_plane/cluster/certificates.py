# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Serving certificates of webhooks where no cert-manager issues them: each its own authority, kept in its Secret."""
from __future__ import annotations

import base64
import datetime
from typing import Any

from ..._kube.kinds.resources import TLS_TYPE
from ..._kube.objects import secret_data
from ..process.certificates import RENEW_BEFORE_DAYS, self_signed

try:
    from cryptography import x509
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives import serialization
    HAS_CRYPTOGRAPHY = True
except ImportError:
    HAS_CRYPTOGRAPHY = False

Object = dict[str, Any]


def secret(certificate: Object, stored: Object | None, ahead_seconds: float = 0.0) -> Object:
    """Return the Secret with what a Certificate asks for, as cert-manager's self-signed issuer fills it.

    :param certificate: the Certificate
    :param stored: the Secret as it is stored, which stays when it serves for another month; or None
    :param ahead_seconds: how far the clock of the API server that verifies it is ahead of this machine's
    """
    spec = certificate["spec"]
    data = (stored or {}).get("data") or {}
    if fault(data, spec["dnsNames"]):
        key, pem = self_signed(spec["dnsNames"], ahead_seconds=ahead_seconds)
        data = {"tls.key": _encoded(key), "tls.crt": _encoded(pem), "ca.crt": _encoded(pem)}
    labels = (spec.get("secretTemplate") or {}).get("labels")
    return {"apiVersion": "v1", "kind": "Secret", "type": TLS_TYPE,
            "metadata": dict({"name": spec["secretName"], "namespace": certificate["metadata"]["namespace"]},
                             **({"labels": dict(labels)} if labels else {})),
            "data": dict((name, data[name]) for name in ("ca.crt", "tls.crt", "tls.key"))}


def fault(data: dict[str, str], names: list[str]) -> str | None:
    """Return why a stored certificate must be issued again, or None.

    :param data: the Secret's ``data``
    :param names: DNS names that it must have
    """
    try:
        raw = dict((name, secret_data.decoded(data[name]) or b"") for name in ("ca.crt", "tls.crt", "tls.key"))
        certificate = x509.load_pem_x509_certificate(raw["tls.crt"])
        key = serialization.load_pem_private_key(raw["tls.key"], None)
        found = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
        listed = found.get_values_for_type(x509.DNSName)
        encoding = serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
        certified, own = (item.public_key().public_bytes(*encoding) for item in (certificate, key))
    # Who may write the Secret may put any key and certificate there, OpenSSL knows more than this library.
    except (KeyError, TypeError, ValueError, AttributeError, UnsupportedAlgorithm, x509.ExtensionNotFound,
            x509.DuplicateExtension, x509.UnsupportedGeneralNameType, x509.InvalidVersion):
        return "missing"
    if certified != own:
        return "key and certificate do not match"
    if raw["ca.crt"] != raw["tls.crt"]:
        return "signed by another authority"
    if sorted(listed) != sorted(names):
        return "other alternative names"
    left = certificate.not_valid_after_utc - datetime.datetime.now(datetime.timezone.utc)
    return "near expiry" if left < datetime.timedelta(days=RENEW_BEFORE_DAYS) else None


def _encoded(content: bytes) -> str:
    return base64.b64encode(content).decode()
