# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a certificate that a user gives for Ironic will be accepted by those who connect to it."""
from __future__ import annotations

import datetime
import ipaddress
from collections.abc import Sequence
from typing import Any

from ..._common.addresses import ip_texts
from ..._common.options.field_checks import show
from ..._common.problems.problem import Problem
from ..._common.texts.plain_text import shortened

try:
    from cryptography import x509
    from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
    from cryptography.hazmat.primitives import serialization
    HAS_CRYPTOGRAPHY = True
except ImportError:
    HAS_CRYPTOGRAPHY = False

CODE = "ironic-certificate"


def problems(certificate: str, key: str, authority: str, address: str | None,
             called: tuple[str, str, str] = ("tls_certificate", "tls_key", "provisioning_ip"),
             replicas: Sequence[str] = (), names: Sequence[str] = ()) -> list[Problem]:
    """Return what does not fit; no text of the key is in it.

    :param certificate: the certificate, with intermediate ones after it, in PEM
    :param key: its key, in PEM
    :param authority: certificates of authorities, in PEM
    :param address: the address that is connected to, None when it is not known yet
    :param called: names of certificate, key and address in messages
    :param replicas: further addresses that are connected to, of several pods
    :param names: further host names and addresses by which it is called, of the option ``tls_names``
    """
    of_certificate, of_key, of_address = called
    found: list[Problem] = []
    chain = _certificates(of_certificate, certificate, found)
    authorities = _certificates("tls_authority", authority, found)
    try:
        own = serialization.load_pem_private_key(key.encode(), None)
    # OpenSSL knows more kinds of keys than this library, and TypeError is its word for an encrypted one.
    except (ValueError, TypeError, UnsupportedAlgorithm):
        own = None
        found.append(Problem(CODE, "ironic", of_key, "no key that can be read", "a key in PEM without a passphrase",
                             "correct the file"))
    if not chain:
        return found
    encoding = serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
    if own is not None and own.public_key().public_bytes(*encoding) != chain[0].public_key().public_bytes(*encoding):
        found.append(Problem(CODE, "ironic", of_key, "the key of another certificate", f"the key of {of_certificate}",
                             "give both from the same pair"))
    if chain[0].not_valid_after_utc <= datetime.datetime.now(datetime.timezone.utc):
        found.append(Problem(CODE, "ironic", of_certificate, f"valid until {chain[0].not_valid_after_utc:%Y-%m-%d}",
                             "one that is valid", "issue it again"))
    wanted = [(address, of_address)] if address else []
    wanted += [*((item, "replica_addresses") for item in replicas), *((item, "tls_names") for item in names)]
    addresses, hosts = (_alternative_names(chain[0], kind) for kind in (x509.IPAddress, x509.DNSName))
    for each, option in wanted:
        if ip_texts.is_address(each):
            is_there, listed = ipaddress.ip_address(each) in addresses, addresses or ["no address"]
        else:
            is_there, listed = each.lower() in (item.lower() for item in hosts), hosts or ["no host name"]
        if not is_there:
            found.append(Problem(CODE, "ironic", of_certificate, shortened(", ".join(str(item) for item in listed)),
                                 f"{each} among its alternative names",
                                 f"issue it for {option}"))
    if authorities and not _is_trusted(chain, authorities):
        names = ", ".join(show(_name(item.subject)) for item in authorities)
        found.append(Problem(CODE, "ironic", "tls_authority", names,
                             f"the issuer of {of_certificate}, {show(_name(chain[-1].issuer))}",
                             "give the certificate of the authority that issued it"))
    return found


def _certificates(field: str, text: str, found: list[Problem]) -> list[Any]:
    try:
        return list(x509.load_pem_x509_certificates(text.encode()))
    except ValueError:
        found.append(Problem(CODE, "ironic", field, "no certificate that can be read", "certificates in PEM",
                             "correct the file"))
        return []


def _name(name: Any) -> str:
    return str(name.rfc4514_string())


def _alternative_names(certificate: Any, kind: Any) -> list[Any]:
    try:
        names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except (ValueError, x509.ExtensionNotFound):
        return []
    return list(names.get_values_for_type(kind))


def _is_trusted(chain: list[Any], authorities: list[Any]) -> bool:
    """Say whether a certificate leads to an authority, by the intermediate ones that come with it."""
    current, left = chain[0], chain[1:]
    while not any(_issued(current, item) or current == item for item in authorities):
        following = next((item for item in left if _issued(current, item)), None)
        if following is None:
            return False
        left = [item for item in left if item != following]
        current = following
    return True


def _issued(certificate: Any, issuer: Any) -> bool:
    try:
        certificate.verify_directly_issued_by(issuer)
    except (ValueError, TypeError, InvalidSignature, UnsupportedAlgorithm):
        return False
    return True
