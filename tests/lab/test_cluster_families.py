# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Clusters of two machines with IPv4 and IPv6, and with IPv6 alone: nodes, pods and Services of each family.

They need two servers that are available, and give them back.
"""
from __future__ import annotations

import functools
import http.client
import ipaddress

import living_cluster
import pytest
import small_cluster
import yaml
from bridge_cable import ip
from support import NAMESPACE, eventually, module
from workload import AGNHOST, ECHO, NODE_PORT, Workload

from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.kinds import KNOWN

pytestmark = [pytest.mark.nodes, pytest.mark.lifecycle]
TAKES_DIRECT = True

SECONDS = 1500
# Of this machine on the bridge, which has IPv4 alone; a unique local network (RFC 4193).
ROUTER, NETWORK = "fd5c:52ac::1", ipaddress.ip_network("fd5c:52ac::/64")
PODS, SERVICES = "fd5c:52ac:1::/56", "fd5c:52ac:2::/112"
FAMILIES = {"dual": ("PreferDualStack", [4, 6]), "six": ("SingleStack", [6])}


@pytest.fixture(scope="module")
def router(lab):
    """IPv6 on the bridge."""
    where = (f"{ROUTER}/{NETWORK.prefixlen}", "dev", lab.figures["bridge"]["name"])
    ip("address", "add", *where, "nodad")
    yield
    ip("address", "delete", *where)


def described(lab, name):
    """Return the variables of a cluster by its families.

    :param name: one of FAMILIES
    """
    variables = small_cluster.variables(lab, name, {}, endpoint=13)
    network, options = variables["cluster_networks"]["nodes"], small_cluster.labs_options()
    network["ipv6"] = {"ranges": [{"start": str(NETWORK[0x20]), "end": str(NETWORK[0x2f])}],
                       "prefix": NETWORK.prefixlen, "gateway": ROUTER, "dns_servers": [ROUTER]}
    if name == "dual":
        pods, services = options["pod_cidrs"] + [PODS], ["10.96.0.0/16", SERVICES]
    else:
        pods, services = [PODS], [SERVICES]
        del network["ipv4"]
        variables["cluster_endpoint"]["host"] = str(NETWORK[0x13])
    return dict(variables, cluster_workers={"pool-a": {"replicas": 1}},
                cluster_options=dict(options, pod_cidrs=pods, service_cidrs=services))


class Site:
    """A cluster, its description, and who is asked in it.

    :param name: one of FAMILIES
    """

    def __init__(self, lab, name):
        self.lab, self.name, self.variables = lab, name, described(lab, name)
        self.policy, self.versions = FAMILIES[name]
        self.workload = Workload(lab, name, self.variables["cluster_workload_kubeconfig"])

    def run(self, *arguments):
        return self.lab.playbook("cluster", *arguments, extra=self.variables, seconds=SECONDS)

    def deploy(self):
        """Create the Service echo, of the cluster's families, with a pod on each node."""
        pods, _budget, service = yaml.safe_load_all(ECHO % (AGNHOST, AGNHOST, NODE_PORT))
        service["spec"]["ipFamilyPolicy"] = self.policy
        pod = pods["spec"]["template"]["spec"]
        pod["tolerations"].append({"operator": "Exists", "effect": "NoSchedule"})
        # By its name, which DNS answers over the cluster's first family; an address of IPv6 would want brackets.
        pod["initContainers"][0]["args"][-1] = "kubernetes.default.svc.cluster.local:443"
        pod["topologySpreadConstraints"][0]["whenUnsatisfiable"] = "DoNotSchedule"
        module("manifests", kubeconfig=self.workload.kubeconfig, manifests=[pods, service])
        eventually(lambda: len(set(self.workload.nodes_of_echo())) == 2, 300, "a pod of echo on each node")

    def node_addresses(self):
        """Return the addresses of each node, a list for each in the kubelet's order."""
        return [[ipaddress.ip_address(entry["address"]) for entry in node["status"]["addresses"]
                 if entry["type"] == "InternalIP"] for node in self.workload.nodes().values()]


@pytest.fixture(scope="module", params=FAMILIES)
def site(request, lab, router):
    """A cluster with its Service; it is made here and deleted afterwards."""
    with living_cluster.made(Site(lab, request.param)) as found:
        found.deploy()
        yield found


def hostname(address):
    """Return the name of the pod that the Service asks when a node is asked, empty when nobody answers."""
    connection = http.client.HTTPConnection(str(address), NODE_PORT, timeout=5)
    try:
        connection.request("GET", "/hostname")
        return connection.getresponse().read().decode()
    except (OSError, http.client.HTTPException):
        return ""
    finally:
        connection.close()


def test_nodes_have_an_address_of_each_family_from_its_pool(site):
    found = site.node_addresses()
    assert [[address.version for address in addresses] for addresses in found] == [site.versions] * 2
    assert all(address in NETWORK for addresses in found for address in addresses if address.version == 6)
    given = [ipaddress.ip_address(item["spec"]["address"])
             for item in site.lab.kube.list(KNOWN["IPAddress"], NAMESPACE)[0]
             if item["spec"]["pool"]["name"].startswith(f"{site.name}-nodes")]
    assert sorted(map(str, given)) == sorted(str(address) for addresses in found for address in addresses)


def test_pods_and_the_service_have_an_address_of_each_family(site):
    client = site.workload.client
    texts = [[entry["ip"] for entry in pod["status"]["podIPs"]] for pod in client.list(KNOWN["Pod"], "default")[0]
             if pod["metadata"]["labels"].get("app") == "echo"]
    texts.append(client.get(KNOWN["Service"], "default", "echo")["spec"]["clusterIPs"])
    assert [[ipaddress.ip_address(text).version for text in entry] for entry in texts] == [site.versions] * 3


def test_each_pod_answers_by_each_node_and_family(site):
    """So pods of one node are reached from the other one, too."""
    for address in [address for addresses in site.node_addresses() for address in addresses]:
        heard = set()
        eventually(functools.partial(both, heard, address), 120, f"both pods by {address}")


def both(heard, address):
    """Ask a node once; return whether two pods have been heard by now.

    :param heard: their names until now, which grows
    """
    heard.update(filter(None, [hostname(address)]))
    return len(heard) == 2


def test_a_second_run_changes_nothing(site):
    assert site.run("--diff").ok().changed() == 0
