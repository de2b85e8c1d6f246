# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which certificates a plane has: who serves each, who trusts it, and how long it is valid; pure."""
from __future__ import annotations

import datetime
import re
from collections.abc import Collection, Iterable
from typing import Any, NamedTuple

from .._cluster.workflow.snapshot import CLUSTER_LABEL, is_control_plane, node_name
from .._common import certificates
from .._common.texts.formats import moment_of, timestamp
from .._common.texts.text_table import lines
from .._kube.objects import secret_data
from .._kube.objects.finalizers import is_going
from .._kube.objects.titles import title_of
from .._metal3.kinds import GROUPS
from .cluster.objects import client_configs
from .parts import injection

try:
    from cryptography import x509
    from cryptography.exceptions import InvalidSignature
    HAS_CRYPTOGRAPHY = True
except ImportError:
    HAS_CRYPTOGRAPHY = False

Object = dict[str, Any]

_PUBLIC_KEY = b"-----BEGIN PUBLIC KEY-----"

EXPIRED, EXPIRING, UNTRUSTED, UNREADABLE, FINE = "expired", "expiring", "untrusted", "unreadable", "ok"
OUTDATED = "outdated"
# Between whoever issues a certificate and the machine of the pod that reads it.
_SKEW_SECONDS = 60
_FIRST = (UNREADABLE, EXPIRED, UNTRUSTED, OUTDATED, EXPIRING, FINE)


class Held(NamedTuple):
    """Certificates as they were found.

    :ivar place: file, or Secret and its key
    :ivar holder: who serves or shows it, for a reader
    :ivar pem: the certificates
    :ivar authority: certificates of the authorities that are to have signed it, or None when nobody says which
    :ivar trusted_by: who verifies it
    :ivar read: when the holder has read it, in seconds since 1970, if it reads it only then
    """

    place: str
    holder: str
    pem: bytes
    authority: bytes | None
    trusted_by: tuple[str, ...]
    read: int | None = None


class Known(NamedTuple):
    """Certificates of which only the end is known.

    :ivar place: the object that says it
    :ivar holder: who serves or shows them, for a reader
    :ivar not_after: when the first of them ends, RFC 3339 in UTC; empty when nobody says it
    """

    place: str
    holder: str
    not_after: str


def of_webhooks(objects: Iterable[Object], secrets: Iterable[Object], namespaces: Collection[str]) -> list[Held]:
    """Return the serving certificates of a plane's webhooks, with the authority by which the API server verifies each.

    :param objects: webhook configurations and definitions, those of others among them
    :param secrets: of type ``kubernetes.io/tls``
    :param namespaces: those of the plane's parts, in which its webhooks run
    """
    secrets = list(secrets)
    found: dict[tuple[str, str], Held] = {}
    for obj in objects:
        for config in client_configs(obj):
            service, bundle = config.get("service") or {}, config.get("caBundle")
            if not service or not bundle or not (service["namespace"] in namespaces or _is_of_plane(obj)):
                continue
            held = _of_webhook(obj, service, secret_data.decoded(bundle) or b"", secrets)
            key = (held.place, bundle)
            trusting = (*(found[key].trusted_by if key in found else ()), title_of(obj))
            found[key] = held._replace(trusted_by=tuple(dict.fromkeys(trusting)))
    return [item._replace(trusted_by=_shortened(item.trusted_by)) for item in found.values()]


def _is_of_plane(obj: Object) -> bool:
    """Say whether an object defines a kind of Metal³ or Cluster API, wherever its webhook runs."""
    return str((obj.get("spec") or {}).get("group") or "").endswith(GROUPS)


def _of_webhook(obj: Object, service: Object, authority: bytes, secrets: list[Object]) -> Held:
    """Return what a webhook serves, or what it signs that with; nothing where neither is known.

    :param obj: webhook configuration or definition
    :param authority: by which the API server verifies it
    """
    host = f"{service['name']}.{service['namespace']}.svc"
    serving = next((item for item in secrets if item["metadata"]["namespace"] == service["namespace"]
                    and host in _names(secret_data.value(item, "tls.crt"))), None)
    if serving:
        return Held(_place(serving), f"webhook {host}", secret_data.value(serving, "tls.crt") or b"", authority, ())
    own = _own_authority(obj, service["namespace"])
    if own:
        return Held(own, f"authority of webhook {host}", authority, None, ())
    return Held(f"Service {host}", f"webhook {host}", b"", authority, ())


def _own_authority(obj: Object, namespace: str) -> str | None:
    """Return the Secret of the authority by which a webhook signs certificates that no Secret has; None without one.

    So cert-manager's own does (``--dynamic-serving-ca-secret-name``), and renews both by itself.

    :param obj: webhook configuration
    :param namespace: of the webhook's Service
    """
    named = str((obj["metadata"].get("annotations") or {}).get(injection.BY_SECRET) or "")
    return f"Secret {named}" if re.fullmatch(re.escape(namespace) + "/[a-z0-9][-.a-z0-9]{0,252}", named) else None


def _shortened(names: tuple[str, ...]) -> tuple[str, ...]:
    # A provider has a dozen of definitions.
    return names if len(names) <= 2 else (names[0], f"{len(names) - 1} more")


def of_secrets(secrets: Iterable[Object], known: Iterable[Held]) -> list[Held]:
    """Return the certificates of TLS Secrets that no webhook serves, such as Ironic's.

    :param known: of :func:`of_webhooks`
    """
    seen = set(item.place for item in known)
    return [Held(place, "whoever mounts it", secret_data.value(item, "tls.crt") or b"",
                 secret_data.value(item, "ca.crt"), ())
            for item in secrets for place in [_place(item)] if place not in seen]


def _place(secret: Object) -> str:
    return f"Secret {secret['metadata']['namespace']}/{secret['metadata']['name']}"


def of_clusters(secrets: Iterable[Object], load: Any) -> list[Held]:
    """Return the authorities of workload clusters, and the client certificates of their kubeconfigs.

    :param secrets: of type ``cluster.x-k8s.io/secret``
    :param load: callable that takes the bytes of a kubeconfig and returns ``(client certificate, authority)`` as PEM
    """
    found = []
    for item in secrets:
        pem = secret_data.value(item, "tls.crt") or b""
        cluster = (item["metadata"].get("labels") or {}).get(CLUSTER_LABEL, "unknown")
        if item["metadata"]["name"].endswith("-kubeconfig"):
            client, authority = load(secret_data.value(item, "value") or b"")
            found.append(Held(_place(item), f"clients of cluster {cluster}", client, authority,
                              (f"API server of cluster {cluster}",)))
        # Of the key that signs service accounts' tokens it is the public key, which never ends.
        elif pem and _PUBLIC_KEY not in pem:
            found.append(Held(_place(item), f"authority of cluster {cluster}", pem, None, (f"cluster {cluster}",)))
    return found


def of_machines(machines: Iterable[Object]) -> list[Known]:
    """Return when the certificates of control plane machines end, as Cluster API has noted it.

    One that has a Node has certificates, whether Cluster API has noted their end or not.

    :param machines: Machines
    """
    return [Known(f"Machine {item['metadata']['namespace']}/{item['metadata']['name']}",
                  f"control plane of cluster {(item.get('spec') or {}).get('clusterName', 'unknown')}", ends or "")
            for item in machines for ends in [(item.get("status") or {}).get("certificatesExpiryDate")]
            if ends or (is_control_plane(item) and node_name(item) and not is_going(item))]


def rows(held: Iterable[Held], now: datetime.datetime, warn_days: int, known: Iterable[Known] = ()) -> list[Object]:
    """Return a row for each certificate, the most urgent first.

    :param held: what was found
    :param known: what else is known to end
    :param now: with a time zone
    :param warn_days: fewer days left than this are reported as ``expiring``
    """
    result = [_row(item, now, warn_days) for item in held] + [_known_row(item, now, warn_days) for item in known]
    return sorted(result, key=lambda row: (
        _FIRST.index(row["status"]), float("inf") if row["days_left"] is None else row["days_left"], row["place"]))


def _known_row(item: Known, now: datetime.datetime, warn_days: int) -> Object:
    row: Object = {"place": item.place, "holder": item.holder, "trusted_by": [], "subject": None, "issuer": None,
                   "names": [], "not_after": None, "days_left": None, "status": UNREADABLE}
    ends = moment_of(item.not_after)
    if ends is None:
        return row
    left = datetime.datetime.fromtimestamp(ends, datetime.timezone.utc) - now
    row.update(not_after=item.not_after, days_left=left.days, status=EXPIRED if left < datetime.timedelta(0)
               else EXPIRING if left < datetime.timedelta(days=warn_days) else FINE)
    return row


def _row(item: Held, now: datetime.datetime, warn_days: int) -> Object:
    row: Object = {"place": item.place, "holder": item.holder, "trusted_by": list(item.trusted_by), "subject": None,
                   "issuer": None, "names": [], "not_after": None, "days_left": None, "status": UNREADABLE}
    try:
        certificate = certificates.first(item.pem)
        row.update(subject=certificate.subject.rfc4514_string(), issuer=certificate.issuer.rfc4514_string(),
                   names=_names(item.pem))
    except ValueError:
        return row
    left = certificate.not_valid_after_utc - now
    row.update(not_after=timestamp(certificate.not_valid_after_utc.timestamp()), days_left=left.days)
    if left < datetime.timedelta(0):
        row["status"] = EXPIRED
    elif item.authority is not None and not signed(item.pem, item.authority, now):
        row["status"] = UNTRUSTED
    elif item.read is not None and certificate.not_valid_before_utc.timestamp() > item.read + _SKEW_SECONDS:
        # It did not exist when its holder has read one.
        row["status"] = OUTDATED
    else:
        row["status"] = EXPIRING if left < datetime.timedelta(days=warn_days) else FINE
    return row


def _names(pem: bytes | None) -> list[str]:
    try:
        certificate = certificates.first(pem or b"")
        found = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except (ValueError, x509.ExtensionNotFound):
        return []
    return [*found.get_values_for_type(x509.DNSName),
            *(str(address) for address in found.get_values_for_type(x509.IPAddress))]


def signed(pem: bytes, authority: bytes, now: datetime.datetime) -> bool:
    """Return whether one of several authorities, itself valid, has signed a certificate, or is it.

    :param pem: the certificate; others after it may lead to the authority
    :param authority: certificates of authorities
    """
    try:
        chain = certificates.every(pem)
        trusted = [item for item in certificates.every(authority)
                   if item.not_valid_before_utc <= now <= item.not_valid_after_utc]
    except ValueError:
        return False
    current = chain[0]
    for _link in chain:
        if current in trusted or any(_issued(current, item) for item in trusted):
            return True
        following = [item for item in chain if item != current and _issued(current, item)]
        if not following:
            return False
        current = following[0]
    return False


def _issued(certificate: Any, issuer: Any) -> bool:
    try:
        certificate.verify_directly_issued_by(issuer)
    except (ValueError, TypeError, InvalidSignature):
        return False
    return True


def table(found: list[Object], width: int | None = None) -> list[str]:
    """Return rows as lines of text.

    :param found: from :func:`rows`
    :param width: columns of the terminal
    """
    return lines(["status", "days", "certificate", "served by", "trusted by"], [
        [row["status"], "-" if row["days_left"] is None else str(row["days_left"]), row["place"], row["holder"],
         ", ".join(row["trusted_by"]) or "-"] for row in found], width, ["certificate", "served by", "trusted by"])
