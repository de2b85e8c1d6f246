# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A client for a workload cluster, by the kubeconfig that Cluster API keeps of it in the management cluster."""
from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from ..._common.addresses import ip_texts, web_ports
from ..._common.documents.tolerant import dict_in
from ..._common.texts.plain_text import plain
from ..connection import kubeconfig
from ..connection.connection import kube_argument_spec
from ..kinds.resources import KNOWN, Older, table
from ..objects import secret_data
from ..responses.errors import KubeError
from .client import KubeClient

# Of a Cluster only its endpoint is read, which all versions have in the same place.
_CLUSTER = table("cluster.x-k8s.io", "v1beta2", ("clusters", "Cluster", True), older=(
    Older("v1beta1", lambda stored: stored, lambda obj, _version: obj, lambda patch: patch),))[0]


def workload_argument_spec() -> Any:
    """Return the options by which a module finds a cluster; documented in the fragment ``workload``."""
    return dict(kube_argument_spec(), cluster_name={"type": "str"},
                cluster_namespace={"type": "str", "default": "metal3"})


def secret_title(namespace: str | None, name: str) -> str:
    """Return what messages call the Secret with a cluster's kubeconfig."""
    return f"Secret {namespace}/{name}-kubeconfig"


def workload_kubeconfig(client: Any, namespace: str | None, name: str) -> Any:
    """Return the kubeconfig that Cluster API keeps for a cluster, or None when there is none yet.

    :returns: dict, see :func:`kubeconfig.inline`
    :raises KubeError: when it holds more than addresses, certificates, keys and tokens, or leads to another host or
        port than the endpoint of its Cluster
    """
    secret = client.get(KNOWN["Secret"], namespace, f"{name}-kubeconfig")
    if not dict_in(secret, "data").get("value"):
        return None
    source, content = f"{secret_title(namespace, name)}: value", secret_data.value(secret, "value")
    if content is None:
        raise kubeconfig.invalid(source, "found no base64, expected a kubeconfig")
    config = kubeconfig.inline(content, source)
    words = elsewhere(config, client.get(_CLUSTER, namespace, name), source)
    if words:
        raise kubeconfig.invalid(source, words, "find out who has written it; when it is deleted, Cluster API creates "
                                                "it again")
    return config


def elsewhere(config: dict[str, Any], cluster: Any, source: str) -> str:
    """Return in words where a kubeconfig leads, empty when it is where its Cluster says, or that says nothing.

    Who may write Secrets, and no Clusters, must not decide which server is asked, and written to, in place of the
    cluster's.

    :param config: of :func:`kubeconfig.inline`
    :param cluster: the Cluster, None for none
    :param source: where the kubeconfig comes from, for messages
    """
    endpoint = dict_in(dict_in(cluster, "spec"), "controlPlaneEndpoint")
    host, port = endpoint.get("host"), endpoint.get("port")
    # Whichever of its contexts is used.
    for context in config["contexts"] if host else ():
        _context, server, _user = kubeconfig.choose(config, context["name"], source)
        parts = urlsplit(server["server"])
        found_host, found_port = parts.hostname or "", parts.port or web_ports.BY_SCHEME[parts.scheme]
        # Behind a load balancer another port of that host is another cluster's.
        if not ip_texts.is_same_host(found_host, str(host)) or (port and found_port != port):
            return plain(f"found a server at {found_host} port {found_port}, expected one at {host}"
                         f"{f' port {port}' if port else ''}, the endpoint of its Cluster")
    return ""


def workload_client(client: Any, namespace: str | None, name: str) -> Any:
    """Return a client for a workload cluster, or None when it has no kubeconfig yet.

    :param client: a KubeClient of the management cluster
    :param namespace: namespace of the Cluster
    :param name: its name
    """
    content = workload_kubeconfig(client, namespace, name)
    return KubeClient({"kubeconfig_content": content, "kubeconfig_name": secret_title(namespace, name)}) \
        if content else None


def client_for(module: Any, required: bool = True) -> Any:
    """Return the client that a module's parameters ask for.

    :param module: a KubeModule with the options of :func:`workload_argument_spec`
    :param required: whether a missing workload cluster is an error; else the answer is None
    :raises KubeError: when there is none
    """
    client, params = module.connect(), module.params
    if not params["cluster_name"]:
        return client
    found = workload_client(client, params["cluster_namespace"], params["cluster_name"])
    if found is None and required:
        raise KubeError(f"cluster {params['cluster_namespace']}/{params['cluster_name']}: found no Secret "
                        f"{params['cluster_name']}-kubeconfig, expected a cluster whose control plane is initialized; "
                        "make it first (playbook metal3.baremetal.cluster)")
    if found is not None:
        module.works_on(found, f"cluster {params['cluster_namespace']}/{params['cluster_name']}: API server %s")
    return found
