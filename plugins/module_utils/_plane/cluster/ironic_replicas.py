# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ironic as several pods, each with an API and a conductor, that talk JSON-RPC and share a database; pure.

ironic-image has what each pod needs (``IRONIC_EXPOSE_JSON_RPC``), the kustomization ``ironic-deployment`` has one pod.
"""
from __future__ import annotations

from typing import Any

from ..._common.addresses import ip_texts
from ..._common.options.field_checks import show
from ..._common.problems.problem import Problem
from ..._common.texts.plain_text import few
from ..._kube.objects.label_selector import selects
from ..._kube.objects.placement import holders, host_ports, obstacle
from ..._metal3 import ironic_rpc

Object = dict[str, Any]

CODE = "ironic-replicas"
# Name and password by which the pods talk to each other.
RPC_CREDENTIALS = "ironic-rpc-credentials"
API_PORT = 6385
_ADDRESS_VARIABLE = "PROVISIONING_IP"
_RPC_VOLUME, _RPC_FOLDER = "ironic-rpc", "/auth/ironic-rpc"
# Of upstream's component tls; without it Ironic's own container has the authority alone.
_CERTIFICATE_VOLUME, _CERTIFICATE_FOLDER = "cert-ironic", "/certs/ironic"
_NODE_LABEL = "kubernetes.io/hostname"
# As many nodes are named that can hold no pod.
_MOST_NODES = 4


def several(options: Object) -> bool:
    """Return whether there is more than one pod.

    :param options: the parameters of the module ``plane_ironic``
    """
    return (options.get("replicas") or 1) > 1


def problems(options: Object) -> list[Problem]:
    """Return what does not fit in the options, see :func:`several`."""
    replicas = options.get("replicas", 1)
    if replicas < 1:
        return [Problem(CODE, "ironic", "replicas", show(replicas), "1 or more", "set state=absent to remove Ironic")]
    if not several(options):
        return []
    found, with_replicas = [], f"with replicas={replicas}"

    def add(field: str, actual: str | None, expected: str, advice: str) -> None:
        found.append(Problem(CODE, "ironic", field, actual, expected, advice))

    if not options.get("database"):
        actual = "that of mariadb=true, which each pod would have for itself" if options["mariadb"] else None
        add("database", actual, f"one MariaDB outside of the pods {with_replicas}", "set it, or replicas=1")
    if options["tls"] == "none":
        add("tls", show("none"), f"TLS {with_replicas}, since conductors tell each other passwords of BMCs",
            "set tls to cert_manager or files")
    if options.get("dhcp_range"):
        add("dhcp_range", show(options["dhcp_range"]),
            f"none {with_replicas}, as upstream has it: each pod would lend the same addresses",
            "leave it out, and let the role provisioning_network serve DHCP")
    if options.get("standby"):
        add("standby", "true", f"no Ironic that waits {with_replicas}: a pivot starts one pod",
            "set replicas=1 until the move has ended")
    if not options.get("provisioning_interface"):
        add("provisioning_interface", None, "the interface whose address each pod has for itself", "set it")
    address, own = options.get("provisioning_ip"), options.get("replica_addresses") or []
    if not address:
        add("provisioning_ip", None, "the address at which all pods are reached",
            "set it to the one that keepalived=true gives a node, or to that of a load balancer")
    for item in own:
        if not ip_texts.is_address(item):
            add("replica_addresses", show(item), "IP addresses", "correct it")
        elif address and ip_texts.is_address(address) and ip_texts.address(item) == ip_texts.address(address):
            add("replica_addresses", show(item), "addresses of single nodes, which provisioning_ip is not",
                "take it out, or set another provisioning_ip")
    if len(set(own)) < replicas:
        add("replica_addresses", show(", ".join(own)) if own else None,
            f"the addresses of provisioning_interface of at least {replicas} nodes, for the certificate",
            "name those of all nodes on which a pod may run")
    return found


def place_problems(deployment: Object, options: Object, nodes: list[Object], pods: list[Object]) -> list[Problem]:
    """Return the problem of more pods than there are nodes that can hold one, in a list.

    All are in the network of their nodes, with the same ports. What passes, such as a node that is not ready, is left
    to the wait for the pods; a cluster without any node says nothing.

    :param deployment: as it is to be applied
    :param options: see :func:`several`
    :param nodes: of the cluster
    :param pods: of all namespaces
    """
    wanted, spec = deployment["spec"].get("replicas", 1), deployment["spec"]["template"]["spec"]
    if not wanted or not nodes:
        return []
    place = deployment["metadata"].get("namespace")
    # Those of before end before the first new one starts.
    others = [pod for pod in pods if pod["metadata"].get("namespace") != place or not selects(deployment, pod)]
    ports = _ports(options, spec)
    reasons = []
    for node in nodes:
        found = [obstacle(node, spec), *(
            f"its port {number} is that of Pod {pod['metadata'].get('namespace')}/{pod['metadata']['name']}"
            for number, pod in holders(ports, node, others))]
        reasons += [f"node {node['metadata']['name']}: {reason}" for reason in list(filter(None, found))[:1]]
    usable = len(nodes) - len(reasons)
    if usable >= wanted:
        return []
    return [Problem(
        CODE, "ironic", "replicas", show(wanted),
        f"a node for each pod; of {len(nodes)} nodes {usable} can hold one" + (
            f" ({few(reasons, _MOST_NODES, '; ')})" if reasons else ""),
        "set another number, correct node_selector, tolerations or affinity, or add nodes")]


def _ports(options: Object, spec: Object) -> set[tuple[str, int]]:
    """Return the ports that a pod needs of its node; upstream's Deployment declares none."""
    if not spec.get("hostNetwork"):
        return host_ports(spec)
    own = [API_PORT, options["http_port"], *([ironic_rpc.PORT] if several(options) else [])]
    return host_ports(spec) | {("TCP", number) for number in own}


def certificate_addresses(options: Object) -> list[str]:
    """Return the addresses that Ironic's certificate is for, see :func:`several`."""
    return [options["provisioning_ip"], *(options.get("replica_addresses") or [] if several(options) else [])]


def environment(options: Object, named: dict[str, str]) -> dict[str, str]:
    """Return the variables of all containers, changed for several pods: each is known by its own node's address.

    :param options: see :func:`several`
    :param named: variable → text, of one pod
    """
    if not several(options):
        return named
    address = options["provisioning_ip"]
    host = f"[{address}]" if ":" in address else address
    # Where agents and clients call: any pod takes it, and passes on what is another conductor's.
    return dict(((name, value) for name, value in named.items() if name != _ADDRESS_VARIABLE),
                IRONIC_EXPOSE_JSON_RPC="true", IRONIC_JSON_RPC_PORT=str(ironic_rpc.PORT),
                IRONIC_BASE_URL=f"https://{host}:{API_PORT}")


def complete(deployment: Object, options: Object, ironic_container: str, keepalived_container: str) -> None:
    """Give a Deployment its number of pods and each of them what it needs to talk to the others.

    :param deployment: is changed
    :param options: see :func:`several`
    :param ironic_container: name of the container of Ironic itself
    :param keepalived_container: name of the one that holds the common address, where there is one
    """
    if not several(options):
        return
    spec = deployment["spec"]
    pod = spec["template"]["spec"]
    spec["replicas"] = options["replicas"]
    # All are in the network of their nodes, with the same ports.
    pod["affinity"] = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
        {"topologyKey": _NODE_LABEL, "labelSelector": {"matchLabels": dict(spec["selector"]["matchLabels"])}}]}}
    for container in pod["containers"]:
        if container["name"] == ironic_container:
            container.setdefault("volumeMounts", []).extend([
                {"name": _CERTIFICATE_VOLUME, "mountPath": _CERTIFICATE_FOLDER, "readOnly": True},
                {"name": _RPC_VOLUME, "mountPath": _RPC_FOLDER, "readOnly": True}])
        elif container["name"] == keepalived_container:
            container.setdefault("env", []).append({"name": _ADDRESS_VARIABLE, "value": options["provisioning_ip"]})
    pod.setdefault("volumes", []).append({"name": _RPC_VOLUME, "secret": {"secretName": RPC_CREDENTIALS}})
