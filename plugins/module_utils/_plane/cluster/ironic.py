# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ironic in a cluster: from BMO's kustomization ``ironic-deployment`` and settings to objects; pure."""
from __future__ import annotations

import copy
import hashlib
import json
import re
from typing import Any

from ..._common.addresses import ip_texts, virtual_router
from ..._common.options import lending
from ..._common.options.field_checks import is_host_name, show
from ..._common.problems.problem import Problem
from ..._kube.kinds.resources import group_of
from ..._metal3.ironic_place import IRONIC_CONTAINER
from ..parts import order
from ..parts.catalogue import IRONIC_CONFIG_MAP, IRONIC_KEEPALIVED, IRONIC_MARIADB, MARIADB_PASSWORD
from . import ironic_database, ironic_pod, ironic_replicas
from . import objects as plane_objects

Object = dict[str, Any]

IMAGE, DOWNLOADER, KEEPALIVED = ironic_pod.IMAGE, ironic_pod.DOWNLOADER, ironic_pod.KEEPALIVED
# Names that upstream's manifests give; the credentials' is this collection's.
CONFIG_MAP, HTPASSWD = IRONIC_CONFIG_MAP, "ironic-htpasswd"
CERTIFICATE, AUTHORITY, CREDENTIALS = "ironic-cert", "ironic-cacert", "ironic-credentials"
# A Secret of its own: that of cert-manager's authority has a type that cannot be changed.
ISSUERS_AUTHORITY = "ironic-issuer-cacert"
DHCP_CONTAINER, KEEPALIVED_CONTAINER = "ironic-dnsmasq", "ironic-endpoint-keepalived"
# ironic-image verifies BMCs by the files of this folder, without one by what Python trusts (``scripts/tls-common.sh``).
BMC_AUTHORITY, _BMC_VOLUME, _BMC_FOLDER = "ironic-bmc-cacert", "cert-bmc-ca", "/certs/ca/bmc"
# Its variable names a file, where upstream mounts the authority of Ironic alone.
IMAGE_AUTHORITY, _IMAGE_VOLUME, _IMAGE_FOLDER = "ironic-image-cacert", "cert-image-ca", "/certs/ca/images"
# Changes of what the pod reads once, at its start, must start it again.
DIGEST_ANNOTATION = "metal3.baremetal/configuration"
ADDRESS_PLACEHOLDER = "IRONIC_HOST_IP"
_PEM = "-----BEGIN CERTIFICATE-----"
_NUMBERS = re.compile(r"[0-9.]+")
# Port of upstream's probes.
HTTP_PORT = 6180

# As much of cert-manager's definitions as a plan needs that comes before them.
CERTIFICATE_DEFINITIONS: tuple[dict[str, Any], ...] = tuple(
    {"apiVersion": "apiextensions.k8s.io/v1", "kind": order.DEFINITION,
     "metadata": {"name": f"{plural}.{plane_objects.CERTIFICATE_GROUP}"},
     "spec": {"group": plane_objects.CERTIFICATE_GROUP, "names": {"plural": plural, "kind": kind},
              "scope": "Namespaced", "versions": [{"name": "v1", "storage": True}]}}
    for plural, kind in (("certificates", "Certificate"), ("issuers", "Issuer")))

_IMAGE_VARIABLE = "WEBSERVER_CACERT_FILE"
# Lines ``dhcp-host`` for dnsmasq, with semicolons between them (ironic-image, ``dnsmasq.conf.j2``).
_DHCP_HOSTS = "DHCP_HOSTS"
# Option → variable of ironic-image.
VARIABLES = {
    "provisioning_ip": "PROVISIONING_IP", "provisioning_interface": "PROVISIONING_INTERFACE",
    "dhcp_range": "DHCP_RANGE", "gateway_ip": "GATEWAY_IP", "dns_ip": "DNS_IP", "http_port": "HTTP_PORT",
    "deploy_kernel_url": "DEPLOY_KERNEL_URL", "deploy_ramdisk_url": "DEPLOY_RAMDISK_URL",
    "cache_url": "CACHEURL", "kernel_params": "IRONIC_KERNEL_PARAMS", "fast_track": "IRONIC_FAST_TRACK",
    "vlan_interfaces": "IRONIC_ENABLE_VLAN_INTERFACES", "boot_iso_source": "IRONIC_BOOT_ISO_SOURCE",
    "image_authority_file": _IMAGE_VARIABLE,
}


def variant(authentication: str, tls: str, keepalived: bool, mariadb: bool) -> str:
    """Return the name of the rendered manifests that fit, see ``manifests.IRONIC_VARIANTS``."""
    parts = (["basic-auth"] if authentication == "http_basic" else []) + ([] if tls == "none" else ["tls"])
    return ("_".join(parts) or "plain") + (IRONIC_KEEPALIVED if keepalived else "") \
        + (IRONIC_MARIADB if mariadb else "")


def problems(options: Object) -> list[Problem]:
    """Return what does not fit in the options.

    :param options: the parameters of the module ``plane_ironic``
    """
    found = []
    address = options.get("provisioning_ip")
    if not address and not options.get("provisioning_interface"):
        found.append(Problem("ironic-address", "ironic", "provisioning_ip", None, "an address of the node",
                             "set it, or provisioning_interface"))
    if options["keepalived"]:
        needed = (("provisioning_ip", "an address that no machine has"),
                  ("provisioning_interface", "the interface of the provisioning network"))
        advice = "set it, because keepalived gives the interface the address"
        found += [Problem("ironic-address", "ironic", name, None, expected, advice)
                  for name, expected in needed if not options.get(name)]
        found += _router_problems(address, options.get("virtual_routers") or ())
    if address and not ip_texts.is_address(address):
        found.append(Problem("ironic-address", "ironic", "provisioning_ip", show(address),
                             "an IP address", "set it to that by which servers and their BMCs reach Ironic"))
    if options["tls"] == "cert_manager" and not address:
        found.append(Problem("ironic-address", "ironic", "provisioning_ip", None, "the address of the certificate",
                             "set it, because tls=cert_manager issues a certificate for it"))
    if options.get("renew_certificate") and options["tls"] != "cert_manager":
        found.append(Problem("ironic-renewal", "ironic", "renew_certificate", "true",
                             f"false with tls={options['tls']}", "issue the certificate again yourself and give it"))
    found += _issuer_problems(options) + _name_problems(options)
    if options["tls"] == "files":
        found += [Problem("ironic-tls-file", "ironic", name, None, "text in PEM", "set it, because tls=files")
                  for name in ("tls_certificate", "tls_key", "tls_authority") if not options.get(name)]
    found += [Problem(f"ironic-{name.replace('_', '-')}", "ironic", name, "no certificate in it", "certificates in PEM",
                      "correct the file")
              for name in ("bmc_authority", "image_authority") if options.get(name) and _PEM not in options[name]]
    if options.get("image_authority") and options.get("image_authority_file"):
        found.append(Problem("ironic-image-authority", "ironic", "image_authority_file",
                             show(options["image_authority_file"]), "none with image_authority", "remove one"))
    if bool(options.get("deploy_kernel_url")) != bool(options.get("deploy_ramdisk_url")):
        found.append(Problem("ironic-agent", "ironic", "deploy_ramdisk_url", options.get("deploy_ramdisk_url"),
                             "both URLs or none", "set deploy_kernel_url and deploy_ramdisk_url"))
    if not any(options.get(name) for name in ("deploy_kernel_url", "cache_url", "deploy_iso_url")):
        found.append(Problem("ironic-agent", "ironic", "deploy_kernel_url", None, "where the agent's kernel is",
                             "set it and deploy_ramdisk_url, or cache_url, or deploy_iso_url"))
    if options.get("deploy_kernel_url") and options.get("cache_url"):
        found.append(Problem("ironic-agent", "ironic", "cache_url", show(options["cache_url"]),
                             "none with deploy_kernel_url, since one of them names the agent's kernel", "remove one"))
    found += _lending_problems(options)
    return found + ironic_database.problems(options) + ironic_replicas.problems(options) + ironic_pod.problems(options)


def _lending_problems(options: Object) -> list[Problem]:
    """Return what the pod's DHCP server would lend, or keep for a server, of what others have."""
    if not options.get("dhcp_range"):
        return []
    hosts = str((options.get("environment") or {}).get(_DHCP_HOSTS) or "").split(";")
    # dns_ip may be a word, which has no address.
    taken = [lending.Taken(options.get("provisioning_ip"), "the address of provisioning_ip"),
             lending.Taken(options.get("gateway_ip"), "the gateway's address"),
             lending.Taken(options.get("dns_ip"), "the address of dns_ip", may_be_kept=True),
             *lending.taken_by(options.get("taken"))]
    return lending.problems("ironic-dhcp", "ironic", lending.range_of("dhcp_range", options["dhcp_range"]),
                            lending.kept_in(f"environment.{_DHCP_HOSTS}", hosts), taken)


def _router_problems(address: Any, given: Any) -> list[Problem]:
    """Return the Problem of a number that another virtual router on the network has, in a list."""
    own = virtual_router.of_text(address or "", virtual_router.IRONIC_NUMBER)
    others = virtual_router.others_of(given)
    # Its own one is among them, with the network, where the inventory says that.
    networks = [other.network for _owner, other in others
                if own is not None and other.address == own.address and other.network is not None]
    return [Problem(
        "ironic-address", "ironic", "keepalived",
        f"the virtual router {other.number}, which {owner} has for its address {other.address} on the same network",
        "a number that no other virtual router there has",
        "upstream's image has no other one: give that plane another network, or another number "
        "(provisioning_network_keepalived_router_id), or, where the wires are apart, set virtual_routers to []")
        for owner, other in virtual_router.clashing(own, others, networks)[:1]]


def _issuer_problems(options: Object) -> list[Problem]:
    given, authority = options.get("tls_issuer"), options.get("tls_authority")
    if not given:
        return []
    found = []
    if options["tls"] != "cert_manager":
        found.append(Problem("ironic-issuer", "ironic", "tls_issuer", show(given["name"]),
                             f"none with tls={options['tls']}", "set tls=cert_manager, or leave it out"))
    if not authority or _PEM not in authority:
        found.append(Problem("ironic-issuer", "ironic", "tls_authority", "no certificate in it" if authority else None,
                             f"certificates of the authority of {given['kind']} {given['name']} in PEM",
                             "set it: agents and the Bare Metal Operator verify Ironic by them"))
    return found


def _name_problems(options: Object) -> list[Problem]:
    names = options.get("tls_names") or []
    if names and options["tls"] != "cert_manager":
        return [Problem("ironic-tls-names", "ironic", "tls_names", show(", ".join(names)),
                        f"none with tls={options['tls']}",
                        "issue a certificate for them yourself and give it" if options["tls"] == "files"
                        else "set tls=cert_manager, or leave it out")]
    # An address with a wrong number would be a name by its letters.
    return [Problem("ironic-tls-names", "ironic", f"tls_names[{number}]", show(name), "a host name or an IP address",
                    "correct it") for number, name in enumerate(names)
            if not ip_texts.is_address(name) and (not is_host_name(name) or _NUMBERS.fullmatch(name))]


def secrets(options: Object, credentials: dict[str, str], database_password: str = "",
            rpc: dict[str, str] | None = None) -> list[Object]:
    """Return the Secrets that the pod and the Bare Metal Operator mount.

    :param options: see :func:`problems`
    :param credentials: ``username``, ``password`` and ``htpasswd``; empty without authentication
    :param database_password: of MariaDB; empty without it
    :param rpc: as ``credentials``, of JSON-RPC between several pods; None with one
    """
    found = []
    if credentials:
        found = [_secret(options, HTPASSWD, {"htpasswd": credentials["htpasswd"]}),
                 _secret(options, CREDENTIALS, dict((key, credentials[key]) for key in ("username", "password")))]
    if options["tls"] == "files":
        found += [_secret(options, CERTIFICATE, {"tls.crt": options["tls_certificate"], "tls.key": options["tls_key"]}),
                  _secret(options, AUTHORITY, {"tls.crt": options["tls_authority"]})]
    if options.get("tls_issuer"):
        found.append(_secret(options, ISSUERS_AUTHORITY, {"tls.crt": options["tls_authority"]}))
    if options.get("bmc_authority"):
        found.append(_secret(options, BMC_AUTHORITY, {"tls.crt": options["bmc_authority"]}))
    if options.get("image_authority"):
        found.append(_secret(options, IMAGE_AUTHORITY, {"tls.crt": options["image_authority"]}))
    if rpc:
        found.append(_secret(options, ironic_replicas.RPC_CREDENTIALS, rpc))
    if options["mariadb"]:
        found += [_secret(options, name, data) for name, data in ironic_database.secrets(
            options, database_password).items()]
    return found


def removable(shipped: list[Object], namespace: str) -> list[Object]:
    """Return what an installation may consist of, whatever its options were; only the names count.

    :param shipped: the rendered objects with authentication and TLS, which are all that there are
    :param namespace: of all of them
    """
    items = copy.deepcopy(shipped)
    items += [{"apiVersion": "v1", "kind": kind, "metadata": {"name": name}} for kind, name in (
        ("ConfigMap", CONFIG_MAP), ("ConfigMap", ironic_database.SETTINGS), ("Secret", HTPASSWD),
        ("Secret", CREDENTIALS), ("Secret", CERTIFICATE), ("Secret", AUTHORITY), ("Secret", MARIADB_PASSWORD),
        ("Secret", BMC_AUTHORITY), ("Secret", IMAGE_AUTHORITY), ("Secret", ISSUERS_AUTHORITY),
        ("Secret", ironic_replicas.RPC_CREDENTIALS), ("Secret", ironic_database.CERTIFICATE))]
    for item in items:
        item["metadata"]["namespace"] = namespace
    return items


def _secret(options: Object, name: str, data: dict[str, str]) -> Object:
    return {"apiVersion": "v1", "kind": "Secret", "type": "Opaque",
            "metadata": {"name": name, "namespace": options["namespace"]},
            "data": dict((key, plane_objects.encoded(text)) for key, text in data.items())}


def desired(shipped: list[Object], options: Object, made: list[Object],
            issued: dict[str, str] | None = None) -> list[Object]:
    """Return all objects as they are applied.

    :param shipped: the rendered objects; are not changed
    :param options: see :func:`problems`
    :param made: from :func:`secrets`
    :param issued: ``data`` of the Secret that cert-manager keeps Ironic's certificate in, once it is there
    """
    variables = environment(options)
    result = [{"apiVersion": "v1", "kind": "ConfigMap", "data": variables,
               "metadata": {"name": CONFIG_MAP, "namespace": options["namespace"]}}, *made]
    if options["mariadb"]:
        result.append(ironic_database.settings(options["namespace"]))
    for obj in copy.deepcopy(shipped):
        if group_of(obj) == plane_objects.CERTIFICATE_GROUP:
            spec, issuer = obj["spec"], options.get("tls_issuer")
            # Upstream's own authority, and what issues by it.
            if options["tls"] == "files" or (issuer and (obj["kind"] != "Certificate" or spec.get("isCA"))):
                continue
            if issuer:
                spec["issuerRef"] = dict((key, issuer[key]) for key in ("name", "kind", "group"))
            if spec.get("ipAddresses"):
                replaced = {ADDRESS_PLACEHOLDER: ironic_replicas.certificate_addresses(options),
                            ironic_database.ADDRESS_PLACEHOLDER: [ironic_database.ADDRESS]}
                if options.get("tls_names") and ADDRESS_PLACEHOLDER in spec["ipAddresses"]:
                    _add_names(spec, replaced[ADDRESS_PLACEHOLDER], options["tls_names"])
                spec["ipAddresses"] = [address for item in spec["ipAddresses"]
                                       for address in replaced.get(item, [item])]
        elif obj["kind"] == "Deployment":
            _deployment(obj, options, variables, made, issued)
        obj["metadata"]["namespace"] = options["namespace"]
        result.append(obj)
    for obj in result:
        obj["metadata"].setdefault("labels", {})[plane_objects.OWNER_LABEL[0]] = plane_objects.OWNER_LABEL[1]
    return result


def _add_names(spec: Object, addresses: list[str], names: list[str]) -> None:
    """Add names to a Certificate, and addresses among them to its own."""
    for name in names:
        kept = addresses if ip_texts.is_address(name) else spec.setdefault("dnsNames", [])
        if not any(ip_texts.is_same_host(name, item) for item in kept):
            kept.append(name)


def environment(options: Object) -> dict[str, str]:
    """Return the ConfigMap's data: variable of ironic-image → text."""
    named = dict((variable, _text(options[name])) for name, variable in VARIABLES.items()
                 if options.get(name) not in (None, ""))
    if options.get("image_authority"):
        named[_IMAGE_VARIABLE] = _IMAGE_FOLDER + "/tls.crt"
    if options["mariadb"]:
        named[ironic_database.RESTART_VARIABLE] = "false"
    named = ironic_replicas.environment(options, named)
    return dict(named, **dict((name, _text(value)) for name, value in (options.get("environment") or {}).items()))


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _deployment(obj: Object, options: Object, variables: dict[str, str], made: list[Object],
                issued: dict[str, str] | None) -> None:
    template = obj["spec"]["template"]
    pod = template["spec"]
    if options.get("standby"):
        obj["spec"]["replicas"] = 0
    if not options.get("dhcp_range"):
        pod["containers"] = [item for item in pod["containers"] if item["name"] != DHCP_CONTAINER]
    if not options.get("cache_url"):
        # Nothing to download into the pod.
        del pod["initContainers"]
    ironic_pod.complete(pod, options)
    for container in ironic_pod.containers(pod):
        _probe_port(container, options["http_port"])
    if options.get("tls_issuer"):
        for volume in pod.get("volumes") or []:
            if (volume.get("secret") or {}).get("secretName") == AUTHORITY:
                volume["secret"]["secretName"] = ISSUERS_AUTHORITY
    container = next(item for item in pod["containers"] if item["name"] == IRONIC_CONTAINER)
    for option, volume, folder, secret in (("bmc_authority", _BMC_VOLUME, _BMC_FOLDER, BMC_AUTHORITY),
                                           ("image_authority", _IMAGE_VOLUME, _IMAGE_FOLDER, IMAGE_AUTHORITY)):
        if options.get(option):
            container.setdefault("volumeMounts", []).append({"name": volume, "mountPath": folder, "readOnly": True})
            pod.setdefault("volumes", []).append({"name": volume, "secret": {"secretName": secret}})
    if options["mariadb"]:
        ironic_database.complete(pod, options.get("mariadb_claim"))
    if options.get("database"):
        ironic_database.reach(pod, IRONIC_CONTAINER, options["database"])
    ironic_replicas.complete(obj, options, IRONIC_CONTAINER, KEEPALIVED_CONTAINER)
    ironic_pod.place(pod, options)
    if options.get("pull_secrets"):
        pod["imagePullSecrets"] = [{"name": name} for name in options["pull_secrets"]]
    contents = [item["data"] for item in made if item["metadata"]["name"] != CREDENTIALS]
    read: list[Any] = [variables, contents + [issued] if issued else contents]
    if options.get("tls_names"):
        # Before cert-manager has issued it for others, so that hosts in transition keep the pod from its next start.
        read.append(options["tls_names"])
    template["metadata"].setdefault("annotations", {})[DIGEST_ANNOTATION] = hashlib.sha256(
        json.dumps(read, sort_keys=True).encode()).hexdigest()


def _probe_port(container: Object, port: int) -> None:
    for name in ("livenessProbe", "readinessProbe"):
        command = ((container.get(name) or {}).get("exec") or {}).get("command")
        if command:
            container[name]["exec"]["command"] = [word.replace(f":{HTTP_PORT}/", f":{port}/") for word in command]
