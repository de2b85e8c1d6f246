# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A certificate with which a workload cluster's etcd is asked, issued as Cluster API issues its own.

The authority is in the Secret ``<cluster>-etcd`` of the management cluster; without its key etcd is not the cluster's
own (controlplane/kubeadm/internal/cluster.go).
"""
from __future__ import annotations

import datetime
import os
import ssl
from typing import Any

from .._common import certificates
from .._common.files import private_folder
from .._kube.objects import secret_data
from .._plane.process.certificates import validity
from .errors import EtcdError

try:
    from cryptography import x509
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID
    HAS_CRYPTOGRAPHY = True
except ImportError:
    HAS_CRYPTOGRAPHY = False

ORGANIZATION = "metal3.baremetal"
_VALID = datetime.timedelta(hours=1)
_FOLDER_PREFIX = "metal3-etcd-tls-"


def secret_name(cluster: str) -> str:
    """Return the name of the Secret with the authority of a cluster's etcd."""
    return f"{cluster}-etcd"


def tls_context(secret: dict[str, Any] | None, title: str, ahead_seconds: float = 0.0) -> ssl.SSLContext:
    """Return what a connection to etcd is made with; key and certificate are in a file for a moment only.

    :param secret: the Secret with the authority, None when there is none
    :param title: what messages call it
    :param ahead_seconds: how far etcd's clock is ahead of this machine's, by which it takes a certificate or not
    :raises EtcdError: when there is no key in it
    """
    authority, key = _authority(secret, title)
    try:
        certificate, own_key = _issued(authority, key, ahead_seconds)
    except (ValueError, TypeError, UnsupportedAlgorithm) as exc:
        raise EtcdError(f"{title}: found an authority that signs nothing by SHA-256 ({type(key).__name__}), expected "
                        "that of an etcd that Cluster API manages; correct the Secret") from exc
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.load_verify_locations(cadata=authority.public_bytes(serialization.Encoding.PEM).decode())
    with private_folder.folder(_FOLDER_PREFIX) as folder:
        path = os.path.join(folder, "client.pem")
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(certificate.public_bytes(serialization.Encoding.PEM) + own_key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()))
        context.load_cert_chain(path)
    return context


def fingerprint(secret: dict[str, Any] | None, title: str) -> str:
    """Return the SHA-256 of the certificate in a Secret of an authority, hexadecimal.

    :raises EtcdError: when there is none in it
    """
    certificate = _certificate(secret, title)
    return certificate.fingerprint(hashes.SHA256()).hex()


def _certificate(secret: dict[str, Any] | None, title: str) -> Any:
    try:
        return certificates.first(secret_data.value(secret, "tls.crt") or b"")
    except (ValueError, TypeError) as exc:
        raise EtcdError(f"{title}: tls.crt: found no certificate, expected that of an authority of the cluster; "
                        "Cluster API makes it with the cluster, or restore it from a backup of the plane") from exc


def _authority(secret: dict[str, Any] | None, title: str) -> tuple[Any, Any]:
    certificate = _certificate(secret, title)
    try:
        key = serialization.load_pem_private_key(secret_data.value(secret, "tls.key") or b"", None)
    except (ValueError, TypeError, UnsupportedAlgorithm) as exc:
        raise EtcdError(f"{title}: tls.key: found no key, expected that of the authority of an etcd that Cluster API "
                        "manages; save and restore an etcd of your own by its own means") from exc
    return certificate, key


def _issued(authority: Any, key: Any, ahead_seconds: float) -> tuple[Any, Any]:
    own_key = ec.generate_private_key(ec.SECP256R1())
    begins, ends = validity(_VALID, ahead_seconds)
    # No common name: etcd takes that for a user, whom its gateway could not pass on.
    subject = x509.Name([x509.NameAttribute(NameOID.ORGANIZATION_NAME, ORGANIZATION)])
    certificate = (
        x509.CertificateBuilder().subject_name(subject).issuer_name(authority.subject).public_key(own_key.public_key())
        .serial_number(x509.random_serial_number()).not_valid_before(begins).not_valid_after(ends)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.CLIENT_AUTH]), critical=False)
        .sign(key, hashes.SHA256()))
    return certificate, own_key
