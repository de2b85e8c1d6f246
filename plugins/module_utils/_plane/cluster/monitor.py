# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What lets a Prometheus of the Prometheus operator scrape a part: ServiceMonitor, Service, certificate; pure.

Upstream's ``config/base/prometheus/monitor.yaml`` (BMO) has Prometheus verify no certificate, because a manager makes
one for localhost at each start. controller-runtime (``pkg/metrics/server/server.go``) serves that of a folder when
there is one, and reads it again when it changes: here the manager gets one with its Service's name, and Prometheus its
authority.
"""
from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any

from ..._common.options.field_checks import show
from ..._common.problems.problem import Problem
from ..._kube.kinds.resources import KNOWN, Resource
from ..parts.catalogue import Part
from . import objects, settings

Object = dict[str, Any]

MONITORS = Resource("monitoring.coreos.com", "v1", "servicemonitors", "ServiceMonitor", True)
_CERTIFICATES = Resource(objects.CERTIFICATE_GROUP, "v1", "certificates", "Certificate", True)
# In the order of their deletion: who scrapes first; last what says that something was written.
KINDS = (MONITORS, KNOWN["Service"], _CERTIFICATES, KNOWN["Secret"])
# Of the Service that the ServiceMonitor selects; its value is the part's name.
LABEL = "metal3.baremetal/metrics"
PATH = "/metrics"
VOLUME = "metal3-baremetal-metrics"
# os.TempDir() of a container in which nothing sets TMPDIR.
FOLDER = "/tmp/k8s-metrics-server/serving-certs"
# Prometheus' own; upstream's manifest has it, too.
TOKEN_FILE = "/var/run/secrets/kubernetes.io/serviceaccount/token"
AUTHORITY = "ca.crt"
# As Go reads a flag; addresses on which a pod is reached.
_FALSE, _ANY = ("false", "f", "0"), ("", "0.0.0.0", "[::]")


def name_of(part: Part) -> str:
    """Return the name of all objects that are written for a part's metrics, none of which upstream's manifests have."""
    return next(iter(part.images)) + "-metrics"


def problems(part: Part, given: Object, shipped: list[Object], certificates: str) -> list[Problem]:
    """Return why a part cannot be monitored as its settings ask for.

    :param part: a Part
    :param given: its settings, see ``settings.py``
    :param shipped: its objects as they are shipped
    :param certificates: the module's option
    """
    metrics, subject = part.metrics, f"part {part.name}"
    if metrics is None:
        return []
    container = _container(part, shipped)
    port = _port(part, container)
    if port is None or not _labels(part, shipped):
        return [Problem("part-monitor", subject, "monitor", "true", "manifests whose manager has a port named "
                        f"{metrics.port} and labels by which its pods are selected", "remove monitor, or name "
                        "other manifests")]
    found = []
    for argument in settings.arguments(container.get("args") or [], part, given):
        flag, _equals, value = argument.partition("=")
        if flag == metrics.insecure_flag and value.lower() not in _FALSE:
            found.append(Problem("part-monitor", subject, "arguments", show(argument), f"{flag}=false with "
                                 "monitor=true, because Prometheus would send its token without encryption",
                                 "remove it"))
        if flag == metrics.address_flag and value not in [f"{host}:{port}" for host in _ANY]:
            found.append(Problem("part-monitor", subject, "arguments", show(argument), f"{flag}=:{port} with "
                                 "monitor=true, the port that the manifests name", "remove it"))
    if not metrics.is_secure:
        return found
    found += [Problem("part-monitor", subject, "secret_mounts", show(mount["path"]), "another folder with "
                      "monitor=true, which mounts the certificate of the metrics there", "remove it")
              for mount in given.get("secret_mounts") or [] if mount["path"].rstrip("/") == FOLDER]
    if "TMPDIR" in (given.get("environment") or {}):
        found.append(Problem("part-monitor", subject, "environment.TMPDIR", show(given["environment"]["TMPDIR"]),
                             "no value with monitor=true, because the manager looks for the certificate of the metrics "
                             "below it", "remove it"))
    if certificates == "cert_manager" and not objects.certificates(shipped):
        found.append(Problem("part-monitor", subject, "monitor", "true", "manifests with a Certificate, whose issuer "
                             "would issue that of the metrics", "set certificates=collection, or remove monitor"))
    return found


def added(part: Part, given: Object, items: list[Object]) -> list[Object]:
    """Return a part's objects with those that let Prometheus scrape its manager.

    :param part: a Part without :func:`problems`
    :param given: its settings, see ``settings.py``
    :param items: from ``objects.desired``; are changed
    """
    metrics = part.metrics
    if metrics is None:
        return items
    deployment = _deployment(part, items)
    namespace, name = deployment["metadata"]["namespace"], name_of(part)
    container = deployment["spec"]["template"]["spec"]["containers"][0]
    result = list(items)
    labels = _labels(part, items)
    service = _service(labels, metrics.port, _port(part, container), items)
    if service is None:
        service = {"apiVersion": "v1", "kind": "Service", "metadata": _metadata(namespace, name), "spec": {
            "selector": dict(labels),
            "ports": [{"name": metrics.port, "port": _port(part, container), "targetPort": metrics.port}]}}
        result.append(service)
    service["metadata"].setdefault("labels", {})[LABEL] = part.name
    port = _service_port(service, metrics.port, _port(part, container))
    endpoint: Object = {"port": port["name"], "path": PATH, "scheme": "http"}
    if metrics.is_secure:
        host = f"{service['metadata']['name']}.{namespace}.svc"
        result.append(_certificate(items, part, _metadata(namespace, name), host))
        pod = deployment["spec"]["template"]["spec"]
        pod.setdefault("volumes", []).append({"name": VOLUME, "secret": {"secretName": name}})
        container.setdefault("volumeMounts", []).append({"name": VOLUME, "mountPath": FOLDER, "readOnly": True})
        endpoint.update(scheme="https", bearerTokenFile=TOKEN_FILE, tlsConfig={
            "serverName": host, "ca": {"secret": {"name": name, "key": AUTHORITY}}})
    chosen_by = dict((key, str(value)) for key, value in (given.get("monitor_labels") or {}).items())
    result.append({
        "apiVersion": MONITORS.api_version, "kind": MONITORS.kind, "metadata": _metadata(namespace, name, chosen_by),
        "spec": {"selector": {"matchLabels": {LABEL: part.name}}, "endpoints": [endpoint]}})
    return result


def _metadata(namespace: str, name: str, labels: Object | None = None) -> Object:
    return {"name": name, "namespace": namespace, "labels": dict(labels or {}, **dict([objects.OWNER_LABEL]))}


def _deployment(part: Part, items: Iterable[Object]) -> Object:
    return next((item for item in items if item["kind"] == "Deployment"
                 and item["metadata"]["name"] == next(iter(part.images))), {})


def _container(part: Part, items: Iterable[Object]) -> Object:
    """Return the manager's container, empty without one."""
    pod = ((_deployment(part, items).get("spec") or {}).get("template") or {}).get("spec") or {}
    return (pod.get("containers") or [{}])[0]


def _labels(part: Part, items: Iterable[Object]) -> Object:
    """Return the labels by which a part's Deployment selects its pods, empty without any."""
    return ((_deployment(part, items).get("spec") or {}).get("selector") or {}).get("matchLabels") or {}


def _port(part: Part, container: Object) -> int | None:
    return next((port.get("containerPort") for port in container.get("ports") or []
                 if part.metrics and port.get("name") == part.metrics.port), None)


def _service(labels: Object, name: str, number: int | None, items: Iterable[Object]) -> Object | None:
    """Return the Service of upstream's manifests for the port, or None."""
    def selector(item: Object) -> Object:
        return (item.get("spec") or {}).get("selector") or {}

    return next((item for item in items if item["kind"] == "Service" and selector(item)
                 and selector(item).items() <= labels.items() and _service_port(item, name, number)), None)


def _service_port(service: Object, name: str, number: int | None) -> Object:
    return next((port for port in service["spec"].get("ports") or []
                 if port.get("targetPort", port.get("port")) in (name, number) and port.get("name")), {})


def _certificate(items: Iterable[Object], part: Part, metadata: Object, host: str) -> Object:
    """Return what asks for a certificate, of the issuer that issues the webhooks'."""
    shipped = objects.certificates(list(items))
    issuer = {"issuerRef": copy.deepcopy(shipped[0]["spec"]["issuerRef"])} if shipped else {}
    # So that the Secret can be recognised, whoever writes it.
    labels = dict([objects.OWNER_LABEL, (LABEL, part.name)])
    return {"apiVersion": _CERTIFICATES.api_version, "kind": _CERTIFICATES.kind, "metadata": metadata, "spec": dict(
        issuer, dnsNames=[host, f"{host}.cluster.local"], secretName=metadata["name"],
        secretTemplate={"labels": labels})}
