# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ironic by the Ironic operator: the fields of its resource ``Ironic``, checks and verdict; pure.

The fields are those of api/v1alpha1/ironic_types.go, version 0.9.0.
"""
from __future__ import annotations

import re
from typing import Any, NamedTuple

from ..._common.addresses import ip_texts
from ..._common.options import lending
from ..._common.options.field_checks import show
from ..._common.options.fields import Field, to_crd
from ..._common.problems.problem import Problem
from ..._common.waiting.wait_report import FAILED, REACHED, WAITING, Verdict
from ..._kube.objects.conditions import condition
from .objects import OWNER_LABEL

Object = dict[str, Any]

API_VERSION, KIND = "ironic.metal3.io/v1alpha1", "Ironic"
DEFINITION = "ironics.ironic.metal3.io"
# common.go: without it the operator may not use what a user has created.
LABEL = ("environment.metal3.io/ironic-standalone-operator", "true")
CODE = "ironic-operator"
_VERSION = re.compile(r"latest|[0-9]{1,4}\.[0-9]{1,4}")
_KINDS = ("ConfigMap", "Secret")

_REFERENCE = (Field("name", "name", required=True), Field("kind", "kind", required=True, choices=_KINDS))
FIELDS = (
    Field("api_credentials_name", "apiCredentialsName"),
    Field("database", "database", "dict", fields=(
        Field("credentials_name", "credentialsName", required=True), Field("host", "host", required=True),
        Field("name", "name", required=True), Field("tls_certificate_name", "tlsCertificateName"))),
    Field("deploy_ramdisk", "deployRamdisk", "dict", fields=(
        Field("disable_downloader", "disableDownloader", "bool"), Field("extra_kernel_params", "extraKernelParams"),
        Field("ssh_key", "sshKey"))),
    Field("extra_config", "extraConfig", "list", element="dict", fields=(
        Field("group", "group", required=True), Field("name", "name", required=True),
        Field("value", "value", required=True))),
    Field("high_availability", "highAvailability", "bool"),
    Field("images", "images", "dict", fields=(
        Field("deploy_ramdisk_branch", "deployRamdiskBranch"),
        Field("deploy_ramdisk_downloader", "deployRamdiskDownloader"),
        Field("ironic", "ironic"), Field("keepalived", "keepalived"))),
    Field("inspection", "inspection", "dict", fields=(
        Field("collectors", "collectors", "list", element="str"),
        Field("vlan_interfaces", "vlanInterfaces", "list", element="str"))),
    Field("networking", "networking", "dict", fields=(
        Field("api_port", "apiPort", "int", minimum=1), Field("bind_interface", "bindInterface", "bool"),
        Field("dhcp", "dhcp", "dict", fields=(
            Field("dns_address", "dnsAddress"), Field("gateway_address", "gatewayAddress"),
            Field("hosts", "hosts", "list", element="str"), Field("ignore", "ignore", "list", element="str"),
            Field("network_cidr", "networkCIDR", required=True), Field("range_begin", "rangeBegin", required=True),
            Field("range_end", "rangeEnd", required=True), Field("serve_dns", "serveDNS", "bool"))),
        Field("external_ip", "externalIP"), Field("image_server_port", "imageServerPort", "int", minimum=1),
        Field("image_server_tls_port", "imageServerTLSPort", "int", minimum=1), Field("interface", "interface"),
        Field("ip_address", "ipAddress"), Field("ip_address_manager", "ipAddressManager", choices=("keepalived",)),
        Field("mac_addresses", "macAddresses", "list", element="str"),
        Field("prometheus_exporter_port", "prometheusExporterPort", "int", minimum=1),
        Field("rpc_port", "rpcPort", "int", minimum=1))),
    Field("node_selector", "nodeSelector", "dict"),
    Field("overrides", "overrides", "dict", fields=(
        Field("annotations", "annotations", "dict"), Field("labels", "labels", "dict"),
        Field("agent_images", "agentImages", "list", element="dict", fields=(
            Field("kernel", "kernel", required=True), Field("initramfs", "initramfs", required=True),
            Field("architecture", "architecture", choices=("x86_64", "aarch64")))),
        Field("containers", "containers", "list", element="dict"),
        Field("init_containers", "initContainers", "list", element="dict"),
        Field("httpd_liveness_probe", "httpdLivenessProbe", "dict"),
        Field("httpd_readiness_probe", "httpdReadinessProbe", "dict"))),
    Field("prometheus_exporter", "prometheusExporter", "dict", fields=(
        Field("enabled", "enabled", "bool", required=True),
        Field("disable_service_monitor", "disableServiceMonitor", "bool"), Field("bind_address", "bindAddress"),
        Field("sensor_collection_interval_seconds", "sensorCollectionInterval", "int", minimum=60))),
    Field("tls", "tls", "dict", fields=(
        Field("bmc_ca", "bmcCA", "dict", fields=_REFERENCE), Field("certificate_name", "certificateName"),
        Field("trusted_ca", "trustedCA", "dict", fields=(*_REFERENCE, Field("key", "key"))),
        Field("disable_virtual_media_tls", "disableVirtualMediaTLS", "bool"),
        Field("insecure_rpc", "insecureRPC", "bool"))),
    Field("version", "version"),
)
# Fields of the resource without an option, with the reason; a path each.
WITHOUT_OPTION = {
    "tls.bmcCAName": "deprecated, bmcCA has taken its place",
    "tls.trustedCAName": "deprecated, trustedCA has taken its place",
}


class Reference(NamedTuple):
    """A Secret or ConfigMap that the resource names, which the user creates.

    :ivar field: path of the option
    :ivar kind: its kind
    :ivar name: its name
    """

    field: str
    kind: str
    name: str


def desired(options: Object) -> Object:
    """Return the resource.

    :param options: the parameters of the module ``plane_ironic_operator``
    """
    return {"apiVersion": API_VERSION, "kind": KIND,
            "metadata": {"name": options["name"], "namespace": options["namespace"], "labels": dict([OWNER_LABEL])},
            "spec": to_crd(FIELDS, options)}


def references(options: Object) -> list[Reference]:
    """Return what the resource names, see :func:`desired`."""
    database, tls = options.get("database") or {}, options.get("tls") or {}
    found = [Reference("api_credentials_name", "Secret", options.get("api_credentials_name") or ""),
             Reference("database.credentials_name", "Secret", database.get("credentials_name") or ""),
             Reference("database.tls_certificate_name", "Secret", database.get("tls_certificate_name") or ""),
             Reference("tls.certificate_name", "Secret", tls.get("certificate_name") or "")]
    found += [Reference(f"tls.{name}", tls[name]["kind"], tls[name]["name"]) for name in ("bmc_ca", "trusted_ca")
              if tls.get(name)]
    return [item for item in found if item.name]


def unusable(reference: Reference, stored: Object | None, subject: str) -> list[Problem]:
    """Return why the operator cannot use what the resource names.

    :param stored: the object, or None
    """
    label, value = LABEL
    if stored is None:
        return [Problem(CODE, subject, reference.field, f"no {reference.kind} {show(reference.name)}",
                        f"a {reference.kind} with the label {label}={value}", "create it in the same namespace")]
    found = (stored["metadata"].get("labels") or {}).get(label)
    if found != value:
        return [Problem(CODE, subject, reference.field, f"{reference.kind} {show(reference.name)} without the label",
                        f"the label {label}={value}", "set it: without it the operator may not use the object")]
    return []


def problems(options: Object) -> list[Problem]:
    """Return what does not fit in the options, which the API server would not refuse."""
    subject = f"{KIND} {options['namespace']}/{options['name']}"
    network, tls = options.get("networking") or {}, options.get("tls") or {}
    found = []

    def add(name: str, actual: Any, expected: str, hint: str) -> None:
        found.append(Problem(CODE, subject, name, actual, expected, hint))

    version = options.get("version")
    if version and not _VERSION.fullmatch(version):
        add("version", show(version), "latest, or two numbers such as 35.0",
            "leave it out for that of the operator's release")
    if options.get("high_availability"):
        if not options.get("database"):
            add("database", None, "a MariaDB for all replicas with high_availability=true", "set it")
        for name in ("dhcp", "ip_address", "ip_address_manager"):
            if network.get(name):
                add(f"networking.{name}", "it", "none with high_availability=true", "remove one of them")
        exporter = options.get("prometheus_exporter") or {}
        if exporter.get("enabled") and not exporter.get("disable_service_monitor"):
            add("prometheus_exporter.disable_service_monitor", "false", "true with high_availability=true",
                "set it, and collect from each replica")
    elif tls.get("insecure_rpc") is not None:
        add("tls.insecure_rpc", show(str(tls["insecure_rpc"]).lower()), "none without high_availability", "remove it")
    if network.get("ip_address_manager") and not (network.get("ip_address") and network.get("interface")):
        add("networking.ip_address_manager", show(network["ip_address_manager"]),
            "networking.ip_address and networking.interface with it", "set both")
    for name in ("ip_address", "external_ip"):
        if network.get(name) and _address(network[name]) is None:
            add(f"networking.{name}", show(network[name]), "an IP address",
                "set it to one by which servers and their BMCs reach Ironic")
    if network.get("dhcp"):
        found += _dhcp(subject, network["dhcp"]) + _lending_problems(subject, network, options.get("taken"))
    if (options.get("deploy_ramdisk") or {}).get("disable_downloader"):
        for name in ("deploy_ramdisk_branch", "deploy_ramdisk_downloader"):
            if (options.get("images") or {}).get(name):
                add(f"images.{name}", show(options["images"][name]), "none with deploy_ramdisk.disable_downloader=true",
                    "remove it")
    return found


def _dhcp(subject: str, dhcp: Object) -> list[Problem]:
    found = []
    if dhcp.get("dns_address") and dhcp.get("serve_dns"):
        found.append(Problem(CODE, subject, "networking.dhcp.serve_dns", "true", "false with dns_address",
                             "remove one of them"))
    try:
        network = ip_texts.network(dhcp["network_cidr"])
    except ValueError:
        return [*found, Problem(CODE, subject, "networking.dhcp.network_cidr", show(dhcp["network_cidr"]),
                                "a network such as 192.0.2.0/24", ip_texts.network_hint(dhcp["network_cidr"]))]
    ends = [(name, _address(dhcp[name])) for name in ("range_begin", "range_end")]
    found += [Problem(CODE, subject, f"networking.dhcp.{name}", show(dhcp[name]), f"an address of {network}",
                      "correct it") for name, address in ends if address is None or address not in network]
    if not found and ends[0][1] > ends[1][1]:
        found.append(Problem(CODE, subject, "networking.dhcp.range_end", show(dhcp["range_end"]),
                             f"{dhcp['range_begin']} or higher", "exchange them"))
    return found


def _lending_problems(subject: str, network: Object, taken: Any) -> list[Problem]:
    """Return what the pod's DHCP server would lend, or keep for a server, of what others have."""
    dhcp, where = network["dhcp"], "networking.dhcp"
    others = [lending.Taken(network.get(name), f"the address of networking.{name}")
              for name in ("ip_address", "external_ip")]
    others += [lending.Taken(dhcp.get("gateway_address"), "the gateway's address"),
               lending.Taken(dhcp.get("dns_address"), f"the address of {where}.dns_address", may_be_kept=True)]
    return lending.problems(CODE, subject,
                            [lending.Range(f"{where}.range_begin", dhcp["range_begin"], dhcp["range_end"])],
                            lending.kept_in(f"{where}.hosts", dhcp.get("hosts") or ()),
                            [*others, *lending.taken_by(taken)])


def _address(text: str) -> Any:
    try:
        return ip_texts.address(text)
    except ValueError:
        return None


def verdict_on(obj: Object | None, failing_seconds: float, patience_seconds: float) -> Verdict:
    """Return the Verdict on a resource: reached when its condition Ready was made of its newest spec.

    :param obj: the resource, or None
    :param failing_seconds: how long it has said that its deployment failed
    :param patience_seconds: how long it may: the operator tries again
    """
    if obj is None:
        return Verdict(FAILED, "it was deleted meanwhile", "find out who did it, then run again")
    ready = condition(obj, "Ready")
    if not ready or (ready.get("observedGeneration") or 0) < (obj["metadata"].get("generation") or 0):
        return Verdict(WAITING, "the operator has not looked at it", "look whether the Ironic operator runs")
    if ready.get("status") == "True":
        return Verdict(REACHED, "", "")
    text = f"{ready.get('reason')}: {ready.get('message')}"
    if failing(obj) and failing_seconds >= patience_seconds:
        return Verdict(FAILED, text, "correct what it names, then run again")
    return Verdict(WAITING, text, "look at the pods of its namespace")


def not_ready(obj: Object) -> bool:
    """Say whether a resource reports that Ironic does not answer."""
    ready = condition(obj, "Ready")
    return bool(ready) and ready.get("status") != "True"


def failing(obj: Object | None) -> bool:
    """Say whether a resource reports that its deployment failed."""
    return obj is not None and not_ready(obj) and condition(obj, "Ready").get("reason") == "DeploymentFailed"
