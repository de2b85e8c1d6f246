# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The lab's certificate authority and the certificates it signs."""
from __future__ import annotations

import contextlib
import datetime
import ipaddress
import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ..._common.files import file_lock
from ..._common.files.whole_file import write_private
from ..._common.problems.errors import RefusedError
from ..._common.problems.problem import Problem
from . import kubeconfig

try:
    from cryptography import x509
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID
    HAS_CRYPTOGRAPHY = True
except ImportError:
    HAS_CRYPTOGRAPHY = False

# What the common name of each authority begins with that this collection creates by its defaults.
OWN_PREFIX = "metal3.baremetal "
DEFAULT_NAME = OWN_PREFIX + "lab"
VALIDITY_DAYS = 365
RENEW_BEFORE_DAYS = 30
# A lab's parts have one clock, but a machine's may be set back a little, and those of nodes may be a little behind.
BACKDATED = datetime.timedelta(minutes=5)
_ENDING = "near expiry"
LOCK = ".lock"


def _now() -> Any:
    return datetime.datetime.now(datetime.timezone.utc)


def _key_bytes(key: Any) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())


def _certificate_bytes(certificate: Any) -> bytes:
    return certificate.public_bytes(serialization.Encoding.PEM)


def _load(path: str) -> tuple[Any | None, Any | None]:
    """Return (certificate, key) of ``<path>.crt`` and ``<path>.key``; None for one that is missing or unreadable."""
    return (_read(path + ".crt", x509.load_pem_x509_certificate),
            _read(path + ".key", lambda content: serialization.load_pem_private_key(content, None)))


def _read(path: str, load: Callable[[bytes], Any]) -> Any | None:
    try:
        with open(path, "rb") as stream:
            return load(stream.read())
    # TypeError is OpenSSL's word for an encrypted key.
    except (OSError, ValueError, TypeError, UnsupportedAlgorithm):
        return None


def _not_after(certificate: Any) -> Any:
    # not_valid_after_utc came with cryptography 42.
    if hasattr(certificate, "not_valid_after_utc"):
        return certificate.not_valid_after_utc
    return certificate.not_valid_after.replace(tzinfo=datetime.timezone.utc)


def _subject(common_name: str, organizations: list[str]) -> Any:
    names = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, name) for name in organizations]
    return x509.Name(names + [x509.NameAttribute(NameOID.COMMON_NAME, common_name)])


def _alternative_names(sans: list[str]) -> list[Any]:
    names: list[x509.GeneralName] = []
    for san in sans:
        try:
            names.append(x509.IPAddress(ipaddress.ip_address(san)))
        except ValueError:
            names.append(x509.DNSName(san))
    return names


def _usages(names: list[str]) -> list[Any]:
    table = {"server": ExtendedKeyUsageOID.SERVER_AUTH, "client": ExtendedKeyUsageOID.CLIENT_AUTH}
    return [table[name] for name in names]


def _public_bytes(key: Any) -> bytes:
    return key.public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)


def _same_public_key(certificate: Any, key: Any) -> bool:
    return _public_bytes(certificate.public_key()) == _public_bytes(key.public_key())


def _extension(certificate: Any, kind: Any) -> Any:
    try:
        return certificate.extensions.get_extension_for_class(kind).value
    except x509.ExtensionNotFound:
        return None


class Authority:
    """A certificate authority in a folder: ``ca.crt`` and ``ca.key``.

    :param directory: folder, made with mode 0700
    """

    def __init__(self, directory: str) -> None:
        self.directory = directory
        self.certificate_file = os.path.join(directory, "ca.crt")
        self._path = os.path.join(directory, "ca")
        self._certificate: Any
        self._key: Any
        self.load()

    def load(self) -> None:
        """Read the files, which another run may have written since."""
        self._certificate, self._key = _load(self._path)

    def fault(self) -> str | None:
        """Return why the authority must be created again, or None."""
        if self._certificate is None or self._key is None:
            return "missing"
        if not _same_public_key(self._certificate, self._key):
            return "key and certificate do not match"
        if _not_after(self._certificate) - _now() < datetime.timedelta(days=RENEW_BEFORE_DAYS):
            return _ENDING
        return None

    def given_problem(self, common_name: str, given: bool = False) -> Problem | None:
        """Return what is wrong with an authority that a site has given, which nobody but the site can replace.

        One that ends soon still signs. Another one in its place would be trusted by none of the site's clients.

        :param common_name: of the authority that would be created
        :param given: whether the site has given it, whatever its name is
        """
        if not (self._is_given(common_name) or (given and os.path.exists(self.certificate_file))):
            return None
        found = ""
        if self._certificate is None:
            found = "no certificate that can be read"
        elif self._key is None:
            found = "no key that can be read in ca.key beside it"
        elif not _same_public_key(self._certificate, self._key):
            found = "a certificate whose key is not the one in ca.key beside it"
        elif _not_after(self._certificate) <= _now():
            found = f"a certificate that was valid until {_not_after(self._certificate):%Y-%m-%d}"
        return Problem("plane-authority", f"authority {self._name()}".rstrip(), self.certificate_file, found,
                       "the site's certificate, which is valid, and its key without a passphrase, both in PEM",
                       "correct the two files that the site gives; or, to have an authority created, give none and "
                       "delete ca.crt and ca.key") if found else None

    def ending(self, common_name: str, given: bool = False) -> str:
        """Return a warning when an authority that a site has given ends soon, else an empty text.

        :param common_name: as for :meth:`given_problem`
        :param given: as for :meth:`given_problem`
        """
        if self.fault() != _ENDING or not (given or self._is_given(common_name)):
            return ""
        return (f"{self.certificate_file}: found the authority {self._name()}, which ends on "
                f"{_not_after(self._certificate):%Y-%m-%d} with all that it has signed, expected one that is valid for "
                f"{RENEW_BEFORE_DAYS} more days; give another one in its place")

    def _is_given(self, common_name: str) -> bool:
        name = self._name()
        return name not in ("", common_name) and not name.startswith(OWN_PREFIX)

    def _name(self) -> str:
        if self._certificate is None:
            return ""
        found = self._certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)
        return str(found[0].value) if found else str(self._certificate.subject.rfc4514_string())

    def make(self, common_name: str) -> None:
        """Make the authority; everything it signed before becomes invalid.

        :param common_name: its subject
        """
        os.makedirs(self.directory, mode=0o700, exist_ok=True)
        key = ec.generate_private_key(ec.SECP256R1())
        name = _subject(common_name, [])
        now = _now()
        certificate = (
            x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - BACKDATED).not_valid_after(now + datetime.timedelta(days=10 * VALIDITY_DAYS))
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .add_extension(_key_usage(signs=True), critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
            .sign(key, hashes.SHA256()))
        write_private(self._path + ".key", _key_bytes(key))
        write_private(self._path + ".crt", _certificate_bytes(certificate), 0o644)
        self._certificate, self._key = certificate, key

    def certificate_fault(self, wanted: dict[str, Any]) -> str | None:
        """Return why a certificate must be created again, or None.

        :param wanted: dict with ``name``, ``common_name``, ``organizations``, ``sans`` and ``usages``
        """
        certificate, key = _load(os.path.join(self.directory, wanted["name"]))
        if certificate is None or key is None:
            return "missing"
        if self._certificate is None or certificate.issuer != self._certificate.subject or not self._signed(
                certificate):
            return "signed by another authority"
        if not _same_public_key(certificate, key):
            return "key and certificate do not match"
        if _not_after(certificate) - _now() < datetime.timedelta(days=RENEW_BEFORE_DAYS):
            return _ENDING
        if certificate.subject != _subject(wanted["common_name"], wanted["organizations"]):
            return "other subject"
        names = _extension(certificate, x509.SubjectAlternativeName)
        if set(names or []) != set(_alternative_names(wanted["sans"])):
            return "other alternative names"
        if set(_extension(certificate, x509.ExtendedKeyUsage) or []) != set(_usages(wanted["usages"])):
            return "other usages"
        return None

    def _signed(self, certificate: Any) -> bool:
        identifier = _extension(certificate, x509.AuthorityKeyIdentifier)
        return identifier is not None and identifier.key_identifier == x509.SubjectKeyIdentifier.from_public_key(
            self._certificate.public_key()).digest

    def issue(self, wanted: dict[str, Any]) -> None:
        """Make a key and a certificate, ``<name>.key`` and ``<name>.crt``.

        :param wanted: see certificate_fault()
        """
        key = ec.generate_private_key(ec.SECP256R1())
        now = _now()
        builder = (
            x509.CertificateBuilder().subject_name(_subject(wanted["common_name"], wanted["organizations"]))
            .issuer_name(self._certificate.subject).public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - BACKDATED).not_valid_after(now + datetime.timedelta(days=VALIDITY_DAYS))
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(_key_usage(signs=False), critical=True)
            .add_extension(x509.ExtendedKeyUsage(_usages(wanted["usages"])), critical=False)
            .add_extension(
                x509.AuthorityKeyIdentifier.from_issuer_public_key(self._certificate.public_key()), critical=False))
        if wanted["sans"]:
            builder = builder.add_extension(
                x509.SubjectAlternativeName(_alternative_names(wanted["sans"])), critical=False)
        path = os.path.join(self.directory, wanted["name"])
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        write_private(path + ".key", _key_bytes(key))
        write_private(path + ".crt", _certificate_bytes(builder.sign(self._key, hashes.SHA256())), 0o644)


def validity(length: datetime.timedelta, ahead_seconds: float) -> tuple[Any, Any]:
    """Return from when until when a certificate is valid, by this machine's clock as by the one it is verified by.

    :param length: for how long at least
    :param ahead_seconds: how far the other clock is ahead of this machine's, negative for behind
    """
    now, ahead, none = _now(), datetime.timedelta(seconds=ahead_seconds), datetime.timedelta(0)
    return now + min(ahead, none) - BACKDATED, now + max(ahead, none) + length


def self_signed(names: list[str], usages: Sequence[str] = ("server",), ahead_seconds: float = 0.0
                ) -> tuple[bytes, bytes]:
    """Return key and certificate, as PEM, of a server that is its own authority.

    :param names: its DNS names
    :param usages: ``server``, ``client``, or both
    :param ahead_seconds: as for :func:`validity`
    """
    key = ec.generate_private_key(ec.SECP256R1())
    begins, ends = validity(datetime.timedelta(days=VALIDITY_DAYS), ahead_seconds)
    # A common name has at most 64 characters.
    name = _subject("metal3.baremetal", [])
    certificate = (
        x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(begins).not_valid_after(ends)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_key_usage(signs=True), critical=True)
        .add_extension(x509.ExtendedKeyUsage(_usages(list(usages))), critical=False)
        .add_extension(x509.SubjectAlternativeName(_alternative_names(names)), critical=False)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .sign(key, hashes.SHA256()))
    return _key_bytes(key), _certificate_bytes(certificate)


def key_pair_fault(path: str) -> str | None:
    """Return why a signing key pair (``<path>.key``, ``<path>.pub``) must be created again, or None."""
    try:
        with open(path + ".key", "rb") as stream:
            key = serialization.load_pem_private_key(stream.read(), None)
        with open(path + ".pub", "rb") as stream:
            public_key = serialization.load_pem_public_key(stream.read())
    except (OSError, ValueError):
        return "missing"
    return None if _public_bytes(key.public_key()) == _public_bytes(public_key) else "keys do not match"


def make_key_pair(path: str) -> None:
    """Make a signing key pair, ``<path>.key`` and ``<path>.pub``."""
    key = ec.generate_private_key(ec.SECP256R1())
    write_private(path + ".key", _key_bytes(key))
    write_private(path + ".pub", key.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo), 0o644)


def _key_usage(signs: bool) -> Any:
    return x509.KeyUsage(
        digital_signature=True, content_commitment=False, key_encipherment=False, data_encipherment=False,
        key_agreement=False, key_cert_sign=signs, crl_sign=signs, encipher_only=False, decipher_only=False)


@contextlib.contextmanager
def _alone(authority: Authority, check_mode: bool) -> Iterator[None]:
    """Keep other runs waiting: the key of one authority would stand beside the certificate of another one."""
    if check_mode:
        yield
        return
    os.makedirs(authority.directory, mode=0o700, exist_ok=True)
    with file_lock.held_alone(os.path.join(authority.directory, LOCK)):
        authority.load()
        yield


def ensure(authority: Authority, certificates: list[dict[str, Any]], key_pairs: Sequence[Any] = (),
           common_name: str = DEFAULT_NAME, check_mode: bool = False,
           wrote: Callable[[str, str], Any] = lambda name, action: None, given: bool = False) -> list[dict[str, Any]]:
    """Make what is missing, changed or near expiry.

    :param authority: an Authority
    :param certificates: list of dicts, see Authority.certificate_fault(); ``kubeconfig`` is None or a dict with
        ``path``, ``server`` and ``namespace``
    :param key_pairs: names of signing key pairs
    :param common_name: the authority's subject
    :param check_mode: change nothing, only report
    :param wrote: callable that takes a file's name and ``created``, called for each as soon as it is there
    :param given: whether the authority is the site's; one with a name of its own is in any case
    :returns: list of dicts ``name`` and ``reason`` of what was made
    :raises RefusedError: for an authority of the site's that cannot sign
    """
    with _alone(authority, check_mode):
        return _ensured(authority, certificates, key_pairs, common_name, check_mode, wrote, given)


def _ensured(authority: Authority, certificates: list[dict[str, Any]], key_pairs: Sequence[Any], common_name: str,
             check_mode: bool, wrote: Callable[[str, str], Any], given: bool) -> list[dict[str, Any]]:
    made = []
    problem = authority.given_problem(common_name, given)
    if problem:
        raise RefusedError([problem])
    fault = None if authority.ending(common_name, given) else authority.fault()
    if fault:
        made.append({"name": "ca", "reason": fault})
        if not check_mode:
            authority.make(common_name)
            wrote("certificate ca", "created")
    renewed = bool(fault)
    for name in key_pairs:
        path = os.path.join(authority.directory, name)
        fault = key_pair_fault(path)
        if fault:
            made.append({"name": name, "reason": fault})
            if not check_mode:
                make_key_pair(path)
                wrote(f"key pair {name}", "created")
    for wanted in certificates:
        fault = "signed by another authority" if renewed and check_mode else authority.certificate_fault(wanted)
        if fault:
            made.append({"name": wanted["name"], "reason": fault})
            if not check_mode:
                authority.issue(wanted)
                wrote(f"certificate {wanted['name']}", "created")
        if wanted.get("kubeconfig"):
            made += _ensure_kubeconfig(authority, wanted, bool(fault), check_mode)
    return made


def _ensure_kubeconfig(authority: Authority, wanted: dict[str, Any], reissued: bool,
                       check_mode: bool) -> list[dict[str, Any]]:
    target = wanted["kubeconfig"]
    if reissued and check_mode:
        return [{"name": target["path"], "reason": "certificate changes"}]
    path = os.path.join(authority.directory, wanted["name"])
    content = kubeconfig.build(
        target["server"], authority.certificate_file, target["namespace"], wanted["name"],
        kubeconfig.certificate_user(path + ".crt", path + ".key"))
    if not kubeconfig.write(target["path"], content, check_mode):
        return []
    return [{"name": target["path"], "reason": "missing or other contents"}]
