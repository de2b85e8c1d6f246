# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""From a part's manifests and settings to the objects of mode cluster; pure."""
from __future__ import annotations

import base64
import copy
from typing import Any

from ..._kube.kinds.resources import group_of
from ..._manifests.order import WEBHOOKS
from ..parts import fit, injection, order
from ..parts.catalogue import Part
from . import leases
from . import settings as part_settings

Object = dict[str, Any]

# Says which objects a removal may take: of one without fields, as a Namespace, managedFields have no entry.
OWNER_LABEL = (fit.MANAGER_LABEL, "metal3.baremetal")
CERTIFICATE_GROUP = "cert-manager.io"
# pkg/apis/certmanager/v1/types.go: CertificateNameKey.
CERTIFICATE_NAME = "cert-manager.io/certificate-name"
# Its webhook makes it: --dynamic-serving-ca-secret-name of its manifests, AllowsInjectionFromSecretAnnotation.
WEBHOOK_AUTHORITY, INJECTABLE = "cert-manager-webhook-ca", "cert-manager.io/allow-direct-injection"
# Of a Deployment: the uid of the Namespace kube-system of the plane from which a move has started it.
STARTED_BY_MOVE = "metal3.baremetal/started-by-move"


def encoded(text: str) -> str:
    """Return a text as a Secret's ``data`` has it."""
    return base64.b64encode(text.encode()).decode()


def desired(part: Part, shipped: list[Object], settings: Object, version: str) -> list[Object]:
    """Return a part's objects as they are applied.

    :param part: a Part
    :param shipped: its objects as upstream ships them; are not changed
    :param settings: its settings, see ``settings.py``
    :param version: its version
    """
    objects = [_cleaned(copy.deepcopy(obj)) for obj in shipped]
    namespace = settings.get("namespace")
    if namespace and namespace != part.namespace:
        objects = [moved(obj, part.namespace, namespace) for obj in objects]
    for obj in leases.granted(part, objects):
        obj["metadata"].setdefault("labels", {})[OWNER_LABEL[0]] = OWNER_LABEL[1]
        if obj["kind"] == "Deployment":
            part_settings.deployment(obj, part, settings, version)
        elif obj["kind"] == "Namespace" and settings.get("pod_security"):
            obj["metadata"].setdefault("labels", {})[part_settings.POD_SECURITY_LABEL] = settings["pod_security"]
        elif obj["kind"] == "Provider" and group_of(obj) == "clusterctl.cluster.x-k8s.io":
            obj["version"] = version
    return objects


def _cleaned(obj: Object) -> Object:
    obj["metadata"].pop("creationTimestamp", None)
    obj.pop("status", None)
    if obj["kind"] == "ClusterRole" and obj.get("aggregationRule"):
        # The controller manager fills in the rules of an aggregated role.
        obj.pop("rules", None)
    return obj


def is_ours(obj: Object) -> bool:
    """Say whether an object was written by this collection, or at its behest."""
    label, value = OWNER_LABEL
    return bool((obj["metadata"].get("labels") or {}).get(label) == value)


def kept_with_namespace(obj: Object) -> Object:
    """Return an object that is applied beside the parts, marked so that it goes with a part's namespace.

    :param obj: is not changed
    """
    if not isinstance(obj.get("metadata"), dict) or not obj["metadata"].get("namespace"):
        return obj
    labels = obj["metadata"].get("labels") or {}
    return dict(obj, metadata=dict(obj["metadata"], labels=dict([OWNER_LABEL], **labels)))


def moved(obj: Object, source: str, target: str) -> Object:
    """Return an object with all that names its namespace changed to another, as ``clusterctl init`` does.

    The fields are those of ``cmd/clusterctl/client/repository/components.go``.

    :param obj: the object; is changed
    :param source: the namespace that its manifests name
    :param target: the other one
    """
    metadata = obj["metadata"]
    if obj["kind"] == "Namespace":
        metadata["name"] = target if metadata["name"] == source else metadata["name"]
        return obj
    if metadata.get("namespace") == source:
        metadata["namespace"] = target
    annotations = metadata.get("annotations") or {}
    for key in injection.ALL:
        if annotations.get(key, "").startswith(source + "/"):
            annotations[key] = f"{target}/{annotations[key].partition('/')[2]}"
    for subject in obj.get("subjects") or []:
        if subject.get("namespace") == source:
            subject["namespace"] = target
    for config in client_configs(obj):
        service = config.get("service") or {}
        if service.get("namespace") == source:
            service["namespace"] = target
    if obj["kind"] == "Certificate":
        obj["spec"]["dnsNames"] = [name.replace(f".{source}.svc", f".{target}.svc") for name in obj["spec"]["dnsNames"]]
    return obj


def client_configs(obj: Object) -> list[Object]:
    """Return where an object's webhooks, of admission or of conversion, are called."""
    if obj["kind"] in WEBHOOKS:
        return [webhook["clientConfig"] for webhook in obj.get("webhooks") or []]
    if obj["kind"] == order.DEFINITION:
        webhook = (obj["spec"].get("conversion") or {}).get("webhook") or {}
        return [webhook["clientConfig"]] if webhook.get("clientConfig") else []
    return []


def certificates(objects: list[Object]) -> list[Object]:
    """Return the Certificates among objects."""
    return [obj for obj in objects if obj["kind"] == "Certificate" and group_of(obj) == CERTIFICATE_GROUP]


def is_issued_by_cert_manager(obj: Object) -> bool:
    """Say whether a Secret is one that cert-manager keeps, which goes with its namespace."""
    return obj["kind"] == "Secret" and CERTIFICATE_NAME in (obj["metadata"].get("annotations") or {})


def secrets_of(objects: list[Object]) -> set[tuple[str | None, str | None]]:
    """Return (namespace, name) of the Secrets among objects, and of those that their Certificates name."""
    return set((obj["metadata"].get("namespace"), name) for obj in objects for name in [
        obj["metadata"]["name"] if obj["kind"] == "Secret" else (obj.get("spec") or {}).get("secretName")
        if obj["kind"] == "Certificate" else None] if name)


def without_cert_manager(objects: list[Object], issued: dict[tuple[str, str], Object]) -> list[Object]:
    """Return objects with Secrets in place of Certificates and Issuers, and their authority in the webhooks.

    :param objects: from :func:`desired`; are changed
    :param issued: (namespace, name) of each Certificate → the Secret with what it asks for
    """
    result = []
    for obj in objects:
        if group_of(obj) == CERTIFICATE_GROUP:
            continue
        annotations = obj["metadata"].get("annotations") or {}
        source = annotations.pop(injection.BY_CERTIFICATE, None)
        if source:
            namespace, _slash, name = source.partition("/")
            for config in client_configs(obj):
                config["caBundle"] = issued[namespace, name]["data"]["ca.crt"]
            if not annotations:
                del obj["metadata"]["annotations"]
        result.append(obj)
    return result + list(issued.values())
