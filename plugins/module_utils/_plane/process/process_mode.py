# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What becomes of a provider's manifests when its manager is a local process instead of a Deployment."""
from __future__ import annotations

import base64
import copy
from typing import Any

from ..._kube.kinds.resources import group_of
from ..parts import injection

DROPPED = (("apps", "Deployment"), ("", "Service"), ("cert-manager.io", "Certificate"), ("cert-manager.io", "Issuer"))


def _deployment_config_maps(objects: list[dict[str, Any]]) -> set[tuple[str, str]]:
    """Return (namespace, name) of the ConfigMaps that Deployments take their environment from."""
    found = set()
    for obj in objects:
        if obj["kind"] != "Deployment":
            continue
        for container in obj["spec"]["template"]["spec"]["containers"]:
            for source in container.get("envFrom") or []:
                if "configMapRef" in source:
                    found.add((obj["metadata"].get("namespace"), source["configMapRef"]["name"]))
    return found


def _client_config(config: dict[str, Any], webhook_url: str, ca_bundle: str) -> dict[str, str]:
    """Return a webhook's clientConfig with its in-cluster service swapped for a URL; others stay unchanged."""
    service = config.get("service")
    if not service:
        return config
    return {"url": webhook_url + (service.get("path") or "/"), "caBundle": ca_bundle}


def process_mode(objects: list[dict[str, Any]], webhook_url: str, ca_certificate: str) -> list[dict[str, Any]]:
    """Return the objects to apply when the manager runs as a process; the input is left as it is.

    Deployments, Services, Certificates and Issuers go, and so do ConfigMaps that only carry a Deployment's
    environment. Webhooks, of admission and of conversion, point to the process. Nothing else changes: not which
    webhooks there are, nor their failure policies.

    :param objects: list of objects as upstream ships them
    :param webhook_url: where the process serves its webhooks, for example ``https://127.0.0.1:21023``
    :param ca_certificate: PEM text of the authority that signed the process's serving certificate
    """
    ca_bundle = base64.b64encode(ca_certificate.encode()).decode()
    environment = _deployment_config_maps(objects)
    result = []
    for original in objects:
        if (group_of(original), original["kind"]) in DROPPED:
            continue
        metadata = original["metadata"]
        if original["kind"] == "ConfigMap" and (metadata.get("namespace"), metadata["name"]) in environment:
            continue
        obj = copy.deepcopy(original)
        annotations = obj["metadata"].get("annotations") or {}
        for name in injection.ALL:
            annotations.pop(name, None)
        if not annotations:
            obj["metadata"].pop("annotations", None)
        obj["metadata"].pop("creationTimestamp", None)
        obj.pop("status", None)
        if obj["kind"] in ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"):
            for webhook in obj["webhooks"]:
                webhook["clientConfig"] = _client_config(webhook["clientConfig"], webhook_url, ca_bundle)
        elif obj["kind"] == "CustomResourceDefinition":
            webhook = (obj["spec"].get("conversion") or {}).get("webhook")
            if webhook:
                webhook["clientConfig"] = _client_config(webhook["clientConfig"], webhook_url, ca_bundle)
        elif obj["kind"] == "ClusterRole" and obj.get("aggregationRule"):
            # The controller manager fills in the rules of an aggregated role.
            obj.pop("rules", None)
        result.append(obj)
    return result
