# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a BMC can be reached, and the certificate that it shows: asked before any credential is sent."""
from __future__ import annotations

import socket
import ssl
import time
from typing import Any

from ..._common.texts.plain_text import plain

try:
    from cryptography import x509
    # Since cryptography 42.
    HAS_CRYPTOGRAPHY = hasattr(x509.Certificate, "not_valid_after_utc")
except ImportError:
    HAS_CRYPTOGRAPHY = False


def probe(host: str, port: int, ca_cert: str | None, uses_tls: bool, timeout_seconds: float) -> dict[str, Any]:
    """Connect to a BMC and return what was found as plain data.

    :param host: host name or IP address
    :param port: TCP port
    :param ca_cert: path of a file with the certificate authorities, None or empty for the system's
    :param uses_tls: whether to go on with a TLS handshake
    :param timeout_seconds: for the connection, and again for the handshake
    :returns: ``{"reached", "error", "connect_seconds", "tls"}``; ``tls`` is empty, or ``{"verified", "error",
        "protocol", "certificate"}``, where ``certificate`` holds what :func:`certificate_facts` returns
    """
    began = time.monotonic()
    try:
        connection = socket.create_connection((host, port), timeout=timeout_seconds)
    except OSError as exc:
        return {"reached": False, "error": reason(exc), "connect_seconds": 0.0, "tls": {}}
    seconds = round(time.monotonic() - began, 3)
    with connection:
        tls = _handshake(connection, host, _verifying(ca_cert)) if uses_tls else {}
    if tls and not tls["verified"]:
        tls["certificate"] = _shown_certificate(host, port, timeout_seconds)
    return {"reached": True, "error": "", "connect_seconds": seconds, "tls": tls}


def trust(ca_cert: str | None) -> str | bool:
    """Return what ``requests`` is to verify with, the same that :func:`probe` verifies with.

    :param ca_cert: path of a file, None or empty for the system's
    """
    if ca_cert:
        return ca_cert
    paths = ssl.get_default_verify_paths()
    # Without a system bundle, that of requests.
    return paths.cafile or paths.capath or True


def unreadable(ca_cert: str | None) -> str:
    """Return why no certificate can be verified with a file, empty when that can be done.

    :param ca_cert: path of a file with the certificate authorities, None or empty for the system's
    """
    try:
        _verifying(ca_cert)
    except OSError as exc:
        return str(exc)
    return ""


def certificate_facts(der: bytes | None) -> dict[str, Any]:
    """Return what a certificate says as plain data, times as seconds since 1970; empty without ``cryptography``.

    :param der: the certificate in DER form
    """
    if not der or not HAS_CRYPTOGRAPHY:
        return {}
    try:
        return _certificate_facts(x509.load_der_x509_certificate(der))
    except (ValueError, TypeError, x509.DuplicateExtension, x509.InvalidVersion, x509.UnsupportedGeneralNameType):
        # OpenSSL takes some that this library does not.
        return {}


def _certificate_facts(certificate: Any) -> dict[str, Any]:
    try:
        names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        names = []
    return {
        "subject": plain(certificate.subject.rfc4514_string()),
        "issuer": plain(certificate.issuer.rfc4514_string()),
        "names": [plain(str(name.value)) for name in names],
        "valid_from": int(certificate.not_valid_before_utc.timestamp()),
        "valid_until": int(certificate.not_valid_after_utc.timestamp()),
        "self_signed": certificate.subject == certificate.issuer,
    }


def reason(error: OSError) -> str:
    """Return the text of an OSError in the field's words."""
    if isinstance(error, (socket.timeout, TimeoutError)):
        return "no answer in time"
    return getattr(error, "strerror", None) or str(error)


def _verifying(ca_cert: str | None) -> ssl.SSLContext:
    return ssl.create_default_context(cafile=ca_cert)


def _unseeing() -> ssl.SSLContext:
    """A context that takes any certificate: only to read it, nothing is sent over the connection."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


def _handshake(connection: socket.socket, host: str, context: ssl.SSLContext) -> dict[str, Any]:
    try:
        with context.wrap_socket(connection, server_hostname=host) as tls:
            return {"verified": True, "error": "", "protocol": tls.version() or "",
                    "certificate": certificate_facts(tls.getpeercert(binary_form=True))}
    except ssl.SSLCertVerificationError as exc:
        return {"verified": False, "error": exc.verify_message, "protocol": "", "certificate": {}}
    except ssl.SSLError as exc:
        return {"verified": False, "error": f"handshake failed ({exc.reason or exc})", "protocol": "",
                "certificate": {}}
    except OSError as exc:
        return {"verified": False, "error": f"handshake failed ({reason(exc)})", "protocol": "", "certificate": {}}


def _shown_certificate(host: str, port: int, timeout_seconds: float) -> dict[str, Any]:
    try:
        with socket.create_connection((host, port), timeout=timeout_seconds) as connection, \
                _unseeing().wrap_socket(connection, server_hostname=host) as tls:
            return certificate_facts(tls.getpeercert(binary_form=True))
    except (OSError, ValueError):
        return {}
