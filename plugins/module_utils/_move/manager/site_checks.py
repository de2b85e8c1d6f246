# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What must hold of an inventory whose management moves into a cluster of its own; pure.

One cluster has the variable ``cluster_management``. What its plane runs in, and what its servers boot from, must be
there when the bootstrap plane is not any more.
"""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import urlsplit

from ..._cluster.checks.versions import newest_providers, parse
from ..._cluster.description.inventory import PREFIX, namespace_of
from ..._common.addresses import ip_texts
from ..._common.options.field_checks import show
from ..._common.problems.problem import Problem
from ..._plane.parts import matrix
from ..._plane.process.site_figures import DEFAULT_PORTS, ON_ADDRESS

VARIABLE = PREFIX + "management"
# Codes, of the rules of the lint too; the last one is a warning.
CLUSTER, VERSION, ADDRESS, IMAGES, SIZE = (
    "management-cluster", "management-version", "management-address", "management-images", "management-size")
PREFIX_OF_CODES = "management-"
_PLANE = "management_plane"
_URLS = ("bmo_deploy_kernel_url", "bmo_deploy_ramdisk_url", "bmo_deploy_iso_url", "bmo_ironic_external_url_v6",
         "ironic_boot_iso_source", "ironic_cache_url", "ironic_image_registry_mirror")
_TRUE, _FALSE = ("true", "yes", "on", "1"), ("false", "no", "off", "0", "")
# Voters of etcd that outlive the loss of one.
_SAFE_REPLICAS = 3


def is_set(value: Any) -> bool | None:
    """Return whether a cluster is to manage its site, None for what is neither true nor false.

    :param value: of the variable VARIABLE, as an inventory file or the command line has it
    """
    text = "" if value is None else str(value).strip().lower()
    return True if text in _TRUE else False if text in _FALSE else None


def chosen(clusters: Mapping[str, Mapping[str, Any]]) -> tuple[str | None, list[Problem]]:
    """Return the one cluster that is to manage the site, None without one, and what is wrong with the choice.

    :param clusters: inventory name → variables of all clusters
    """
    values = dict((name, is_set(variables.get(VARIABLE))) for name, variables in clusters.items())
    problems = [Problem(CLUSTER, name, VARIABLE, show(clusters[name][VARIABLE]), "true or false", "correct it")
                for name, value in values.items() if value is None]
    names = [name for name, value in values.items() if value]
    if len(names) > 1:
        problems += [Problem(CLUSTER, name, VARIABLE,
                             f"true, as of {', '.join(other for other in names if other != name)}",
                             "one cluster that manages the site", "leave it out for all others") for name in names]
    return (names[0] if len(names) == 1 and not problems else None), problems


def problems(name: str, cluster: Mapping[str, Any], manager: str | None, managing: Mapping[str, Any],
             hosts: Mapping[str, Mapping[str, Any]], own_kubeconfig: str = "") -> list[Problem]:
    """Return what keeps a site from moving into its cluster, and the warning SIZE.

    :param name: inventory name of the cluster
    :param cluster: its variables
    :param manager: inventory name of the first host of the group ``management``, None without one
    :param managing: its variables
    :param hosts: inventory name → variables of the servers
    :param own_kubeconfig: path at which the collection keeps the cluster's kubeconfig
    """
    plane = managing.get(_PLANE)
    found = bootstrap_problems(name, manager, plane)
    found += _kubeconfigs({name: cluster, **({manager: managing} if manager else {}), **hosts})
    found += _own_plane(name, cluster, own_kubeconfig) + _namespaces(name, cluster, managing) + _version(name, cluster)
    gone = _Gone(plane if isinstance(plane, Mapping) else {})
    found += _images(name, cluster) + gone.problems(name, _urls(cluster))
    for server, variables in hosts.items():
        found += gone.problems(server, [("bmc_address", variables.get("bmc_address"))])
    return found + _size(name, cluster)


def own_plane(cluster: Mapping[str, Any], kubeconfig: str) -> dict[str, Any]:
    """Return the variable ``management_plane`` of the plane in the cluster.

    :param cluster: variables of the cluster; its ``management_plane`` counts if it is of the mode ``cluster``
    :param kubeconfig: path of the cluster's kubeconfig
    """
    given = cluster.get(_PLANE)
    own = dict(given) if isinstance(given, Mapping) and given.get("mode") == "cluster" else {}
    return dict(own, mode="cluster", kubeconfig=kubeconfig)


def bootstrap_problems(name: str, manager: str | None, plane: Any) -> list[Problem]:
    """Return what is wrong with the bootstrap plane of a site.

    :param name: inventory name of the cluster that is to manage
    :param manager: first host of the group ``management``, None without one
    :param plane: its variable ``management_plane``
    """
    if manager is None:
        return [Problem(CLUSTER, name, VARIABLE, "true, and no host of the group management", "one, which runs the "
                        "bootstrap plane", "add it, with ansible_connection: local and management_plane")]
    fields = plane if isinstance(plane, Mapping) else {}
    mode = fields.get("mode")
    if mode != "process" or "index" in fields:
        actual = "process of a lab" if mode == "process" else mode and show(mode)
        return [Problem(CLUSTER, manager, f"{_PLANE}.mode", actual,
                        f"process, a bootstrap plane of the site, which makes the cluster of {name}",
                        f"set it, or leave {VARIABLE} out: a plane that is in a cluster already stays there")]
    return [Problem(CLUSTER, manager, f"{_PLANE}.{field}", None, "a text", "set it")
            for field in ("name", "dir") if not isinstance(fields.get(field), str) or not fields[field]]


def _kubeconfigs(variables: Mapping[str, Mapping[str, Any]]) -> list[Problem]:
    return [Problem(CLUSTER, name, "metal3_kubeconfig", show(found["metal3_kubeconfig"]),
                    "not to be set: playbooks find the plane that manages the site", "remove it")
            for name, found in variables.items() if found.get("metal3_kubeconfig")]


def _own_plane(name: str, cluster: Mapping[str, Any], own_kubeconfig: str) -> list[Problem]:
    given = cluster.get(_PLANE)
    provider = cluster.get(PREFIX + "provider")
    found = []
    if isinstance(given, Mapping) and given.get("mode") == "cluster":
        found += [Problem(CLUSTER, name, f"{_PLANE}.{field}", show(given[field]), "not to be set: the cluster's own "
                          "kubeconfig is used", "remove it")
                  for field in ("kubeconfig", "context") if given.get(field) not in (None, "", own_kubeconfig)]
    if provider not in (None, "metal3"):
        found.append(Problem(CLUSTER, name, PREFIX + "provider", show(provider), "metal3", "remove it"))
    return found


def _namespaces(name: str, cluster: Mapping[str, Any], managing: Mapping[str, Any]) -> list[Problem]:
    own, hosts = namespace_of(cluster), namespace_of(dict(managing, cluster_namespace=None))
    if own == hosts:
        return []
    return [Problem(CLUSTER, name, "namespace", show(own), f"{hosts}, that of the hosts, which move with it",
                    "set metal3_namespace for all, and leave cluster_namespace out")]


def _version(name: str, cluster: Mapping[str, Any]) -> list[Problem]:
    version = parse(cluster.get(PREFIX + "kubernetes_version") or "")
    core = parse(newest_providers()["cluster-api"])[1]
    first, last = matrix.KUBERNETES[core]
    if version is None or first <= version[1] <= last:
        return []
    return [Problem(VERSION, name, PREFIX + "kubernetes_version", show(cluster[PREFIX + "kubernetes_version"]),
                    f"v1.{first} to v1.{last}, in which Cluster API 1.{core} runs", "choose one of them")]


def _images(name: str, cluster: Mapping[str, Any]) -> list[Problem]:
    given = dict((field, cluster.get(f"bmo_deploy_{field}_url")) for field in ("iso", "kernel", "ramdisk"))
    if given["iso"] or (given["kernel"] and given["ramdisk"]) or cluster.get("ironic_cache_url"):
        return []
    return [Problem(IMAGES, name, "bmo_deploy_kernel_url", None, "where the Ironic in this cluster gets the agent from",
                    "set bmo_deploy_iso_url, or bmo_deploy_kernel_url and bmo_deploy_ramdisk_url, or ironic_cache_url, "
                    "for this cluster or for all")]


def _urls(cluster: Mapping[str, Any]) -> list[tuple[str, Any]]:
    image, plane = cluster.get(PREFIX + "image"), cluster.get(_PLANE)
    found = [(field, cluster.get(field)) for field in _URLS]
    if isinstance(image, Mapping):
        found += [(f"{PREFIX}image.{field}", image.get(field)) for field in ("url", "checksum")]
    options = plane.get("options") if isinstance(plane, Mapping) else None
    if isinstance(options, Mapping):
        found.append((f"{_PLANE}.options.image_registry_mirror", options.get("image_registry_mirror")))
    return found


class _Gone:
    """Addresses that nobody answers at when the bootstrap plane is stopped, or that are another machine's in a pod.

    :param plane: the variable ``management_plane`` of the bootstrap plane
    """

    def __init__(self, plane: Mapping[str, Any]) -> None:
        self._address = plane.get("address")
        ports = plane.get("ports")
        ports = dict(DEFAULT_PORTS, **(ports if isinstance(ports, Mapping) else {}))
        self._ports = [ports[part] for part in ON_ADDRESS]

    def problems(self, subject: str, values: Iterable[tuple[str, Any]]) -> list[Problem]:
        found = []
        for field, value in values:
            host, port = _place(value)
            if ip_texts.is_loopback(host or ""):
                found.append(Problem(ADDRESS, subject, field, show(value), "an address that the cluster's nodes "
                                     "reach: there it is their own", "give another one"))
            elif host and host == self._address and port in self._ports:
                found.append(Problem(ADDRESS, subject, field, show(value), "another server than the bootstrap "
                                     "plane's own, which is stopped at the end", "serve it from another one"))
        return found


def _place(value: Any) -> tuple[str | None, int | None]:
    if not isinstance(value, str):
        return None, None
    try:
        parts = urlsplit(value if "://" in value else "//" + value)
        return parts.hostname, parts.port
    except ValueError:
        # Its own rule reports it.
        return None, None


def _size(name: str, cluster: Mapping[str, Any]) -> list[Problem]:
    control, workers = cluster.get(PREFIX + "control_plane"), cluster.get(PREFIX + "workers")
    control = control if isinstance(control, Mapping) else {}
    replicas = control.get("replicas", 1)
    found = []
    if isinstance(replicas, int) and replicas < _SAFE_REPLICAS:
        found.append(Problem(SIZE, name, PREFIX + "control_plane.replicas", str(replicas),
                             f"{_SAFE_REPLICAS}, so that the management outlives the loss of a server",
                             f"set it to {_SAFE_REPLICAS}"))
    if not workers and control.get("node_taints") != []:
        found.append(Problem(SIZE, name, PREFIX + "workers", "none, and a control plane with its taint",
                             "nodes that take the plane's pods",
                             f"add workers, or set {PREFIX}control_plane.node_taints to an empty list"))
    return found
