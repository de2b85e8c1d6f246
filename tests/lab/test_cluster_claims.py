# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The README's own cluster comes up; hosts are chosen as described, and CAPM3 renders every form of data for them.

Two clusters at a time: ``prod`` of the README, and ``forms``, whose one machine gets an image without a system and data
of every form, with links that the lab could not boot with. What is read is the config drive on the server's disk.
"""
from __future__ import annotations

import copy
import json

import pytest
import readme_site
import role_settings
from support import HOST, NAMESPACE, eventually, module
from test_cluster import host_of
from test_provision import config_drive
from workload import AGNHOST, ECHO, NODE_PORT, Workload

from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.description import (
    inventory as cluster_inventory,
)
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.description import (
    reader as cluster_description,
)
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.render import objects as cluster_render
from ansible_collections.metal3.baremetal.plugins.module_utils._common.waiting.progress import Progress
from ansible_collections.metal3.baremetal.plugins.module_utils._ipam.pool_service import PoolService
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.api.client import KubeClient
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.api.workload_client import workload_client
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.responses.errors import KubeError
from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.kinds import KNOWN

pytestmark = pytest.mark.claims

SECONDS = 900
# The README's selector matches the second; that of forms the first and the third, its failure domain the last two.
SERVERS = ("server-01", "server-02", "server-04")
OF_PROD, OF_FORMS = "server-02", "server-04"
DOMAIN_LABEL = "infrastructure.cluster.x-k8s.io/failure-domain"
LABELS = {"server-01": {"use": "test"}, "server-02": {DOMAIN_LABEL: "row-b", "use": "other"},
          "server-04": {DOMAIN_LABEL: "row-b", "use": "spare", "example.org/rack": "r4"}}
ANNOTATIONS = {"example.org/mac": "02:00:00:00:00:40", "example.org/pool": "claims-annotated",
               "example.org/note": "from the host"}
POOLS = [{"name": "claims-storage", "prefix": 24, "dns_servers": ["203.0.113.2"],
          "ranges": [{"start": "203.0.113.20", "end": "203.0.113.29"}]},
         {"name": "claims-annotated", "prefix": 25, "gateway": "198.51.100.1",
          "ranges": [{"start": "198.51.100.20", "end": "198.51.100.29"}]}]
SYNCED = "sync.example.org"


def forms_variables(lab):
    """Return the description of the cluster forms, with an address kept for its machine by the name of its claim."""
    prefix = lab.figures["bridge"]["network"].rpartition(".")[0]
    pool = {"apiGroup": "ipam.metal3.io", "kind": "IPPool", "name": "forms-nodes"}
    variables = {
        "cluster_kubernetes_version": "v1.35.4", "cluster_endpoint": {"host": prefix + ".12", "holder": "none"},
        "cluster_image": readme_site.image(lab, "lab.raw", "raw"),
        "cluster_networks": {
            "nodes": {
                "bond": {"mode": "802.3ad", "interfaces": ["eno1", "eno2"], "transmit_hash_policy": "layer3+4",
                         "parameters": {"miimon": 100}},
                "link_name": "bond0", "mtu": 9000,
                "ipv4": {
                    "prefix": 23, "gateway": prefix + ".1", "dns_servers": [prefix + ".2"],
                    "ranges": [{"start": prefix + ".90", "end": prefix + ".91"},
                               {"start": prefix + ".94", "end": prefix + ".95", "prefix": 24, "gateway": prefix + ".3",
                                "dns_servers": [prefix + ".4"]}],
                    "routes": [{"network": "203.0.113.128", "prefix": 25, "gateway": {"string": prefix + ".5"},
                                "services": {"dns": [prefix + ".6"]}}]},
                "ipv6": {"ranges": [{"subnet": "2001:db8:1::10/64"}], "prefix": 64, "gateway": "2001:db8:1::1"}},
            "storage": {"vlan": {"id": 30, "network": "nodes"}, "mac_address": {"string": "02:00:00:00:00:30"},
                        "ipv4": {"pool": "claims-storage", "default_route": False}, "ipv6": {"mode": "slaac"}},
            "dynamic": {"vlan": {"id": 40, "network": "nodes"},
                        "mac_address": {"fromAnnotation": {"object": "baremetalhost", "annotation": "example.org/mac"}},
                        "ipv4": {"mode": "dhcp"}, "ipv6": {"mode": "dhcp"}},
            "annotated": {"vlan": {"id": 50, "network": "nodes"}, "ipv4": {"default_route": True, "pool_annotation": {
                "object": "baremetalhost", "annotation": "example.org/pool"}}}},
        "cluster_control_plane": {
            "replicas": 1, "automated_cleaning_mode": "host",
            "host_selector_expressions": [{"key": "use", "operator": "In", "values": ["test", "spare"]},
                                          {"key": "gpu", "operator": "DoesNotExist"}],
            "metadata": {
                "strings": [{"key": "site", "value": "one"}],
                "indexes": [{"key": "index", "prefix": "node-", "suffix": "-x", "offset": 10, "step": 2}],
                "namespaces": [{"key": "namespace"}],
                "objectNames": [{"key": "host_name", "object": "baremetalhost"},
                                {"key": "metal3machine", "object": "metal3machine"}],
                "fromHostInterfaces": [{"key": "boot_mac", "fromBootMAC": True},
                                       {"key": "eno2_mac", "interface": "eno2"}],
                "fromLabels": [{"key": "rack", "object": "baremetalhost", "label": "example.org/rack"}],
                "fromAnnotations": [{"key": "note", "object": "baremetalhost", "annotation": "example.org/note"}],
                "prefixesFromPool": [dict(pool, key="nodes_prefix")],
                "gatewaysFromPool": [dict(pool, key="nodes_gateway")]}},
        "cluster_options": {"failure_domains": [{"name": "row-b"}], "node_ip_network": "nodes"},
        # It never becomes a cluster; nothing is to be asked of its endpoint.
        "cluster_check_network": False, "cluster_wait_for": "none"}
    description, mistakes = cluster_description.read(
        cluster_inventory.parameters("forms", dict(variables, cluster_name="forms")))
    assert mistakes == []
    template = cluster_render.data_template_name(description, description.groups[0])
    variables["cluster_networks"]["nodes"]["ipv4"]["pre_allocations"] = {template + "-0-forms-nodes": prefix + ".95"}
    return variables


def cloud_variables(lab, content):
    """Return the README's cluster with other addresses and one machine, whose Node a cloud controller is to link."""
    prefix = lab.figures["bridge"]["network"].rpartition(".")[0]
    variables = copy.deepcopy(content["clusters"]["children"]["prod"]["vars"])
    del variables["cluster_workers"], variables["cluster_options"]["flannel"]
    variables["cluster_endpoint"]["host"] = prefix + ".13"
    variables["cluster_networks"]["nodes"]["ipv4"].update(
        ranges=[{"start": prefix + ".70", "end": prefix + ".79"}],
        pre_allocations={"server-01-cloud-nodes": prefix + ".75"})
    variables["cluster_control_plane"]["host_selector"] = {"use": "test"}
    variables["cluster_network_addon"] = "none"
    variables["cluster_options"]["cloud_provider_enabled"] = True
    return variables


class Site:
    """The lab under the README's inventory."""

    def __init__(self, lab, folder):
        self.lab = lab
        self.path, self.content = readme_site.write(lab, folder, SERVERS, OF_PROD)
        for name, labels in LABELS.items():
            server = self.content["baremetal"]["hosts"][name]
            server["bmh_labels"] = dict(server.get("bmh_labels") or {}, **labels)
            # CAPM3 is to change that of prod's hosts and no other.
            server["bmh_automated_cleaning_mode"] = "disabled"
        self.path.write_text(json.dumps(self.content))
        self.forms_path = folder / "forms.json"
        self.forms_path.write_text(json.dumps({"clusters": {"children": {"forms": {
            "hosts": {"forms-cluster": None}, "vars": forms_variables(lab)}}}}))
        self.cloud_path = folder / "cloud.json"
        self.cloud_path.write_text(json.dumps({"clusters": {"children": {"cloud": {
            "hosts": {"cloud-cluster": None}, "vars": cloud_variables(lab, self.content)}}}}))
        self.kubeconfig = folder / "kubeconfig"

    def start(self, playbook, path=None, **extra):
        extra = dict(readme_site.connection(self.lab), **extra)
        return self.lab.start(playbook, inventory=path or self.path, extra=extra)

    def run(self, playbook, path=None, **extra):
        return self.start(playbook, path, **extra).finish(SECONDS).ok()

    def prod(self, **extra):
        """Run the playbook cluster for the README's cluster."""
        return self.run("cluster", cluster_workload_kubeconfig=str(self.kubeconfig), **extra)

    def machines(self, cluster):
        return [item for item in self.lab.kube.list(KNOWN["Machine"], NAMESPACE)[0]
                if item["spec"]["clusterName"] == cluster]

    def nodes(self):
        client = KubeClient({"kubeconfig": str(self.kubeconfig)})
        return dict((item["metadata"]["name"], item) for item in client.list(KNOWN["Node"])[0])


def hosts_of(lab, cluster):
    """Return the names of the hosts that a cluster's machines have."""
    return [name for name, host in lab.hosts().items()
            if ((host["spec"].get("consumerRef") or {}).get("name") or "").startswith(cluster + "-")]


def pools(lab, state):
    given = [dict(pool, state=state) for pool in POOLS]
    return PoolService(lab.kube, {"namespace": NAMESPACE, "pools": given}, False, Progress()).run()


def annotate(lab, annotations):
    lab.kube.patch(HOST, NAMESPACE, OF_FORMS, {"metadata": {"annotations": annotations}})


def release_annotated(lab):
    """Take away what keeps the claims that CAPM3 1.13 does not give back (see the warning of pool_annotation)."""
    for claim in lab.kube.list(KNOWN["IPClaim"], NAMESPACE)[0]:
        if claim["spec"]["pool"]["name"] == "claims-annotated":
            lab.kube.patch(KNOWN["IPClaim"], NAMESPACE, claim["metadata"]["name"], {"metadata": {"finalizers": [
                entry for entry in claim["metadata"]["finalizers"] if entry.startswith("ipclaim.ipam")]}})
    eventually(lambda: not [claim for claim in lab.kube.list(KNOWN["IPClaim"], NAMESPACE)[0]
                            if claim["spec"]["pool"]["name"].startswith("claims-")], 60, "no claim left")


@pytest.fixture(scope="module")
def site(lab, tmp_path_factory):
    """The servers under the README's inventory, with both clusters; all as before afterwards."""
    made = Site(lab, tmp_path_factory.mktemp("readme"))
    try:
        made.run("enroll")
        annotate(lab, ANNOTATIONS)
        pools(lab, "present")
        made.run("cluster", made.forms_path)
        eventually(lambda: hosts_of(lab, "forms"), 60, "forms has a host")
        yield made
    finally:
        runs = [made.start("teardown", path, metal3_confirm=name) for name, path in (
            ("prod", made.path), ("forms", made.forms_path), ("cloud", made.cloud_path))]
        for run in runs:
            run.finish(SECONDS).ok()
        release_annotated(lab)
        pools(lab, "absent")
        annotate(lab, dict.fromkeys(ANNOTATIONS))
        # What this module has added to the hosts is not in the lab's inventory; an empty text takes a mode away.
        lab.playbook("enroll", extra={"bmh_automated_cleaning_mode": ""}).ok()


@pytest.fixture(scope="module")
def prod(site):
    """The README's cluster, available."""
    site.output = site.prod().output
    return site


@pytest.fixture(scope="module")
def drive(lab, room, site, tmp_path_factory):
    """The files of the config drive that the machine of forms has."""
    lab.wait_for_host(OF_FORMS, lambda host: host["status"]["provisioning"]["state"] == "provisioned", "provisioned")
    files = config_drive(room.disk(OF_FORMS, "sda", length=0)["path"], tmp_path_factory.mktemp("drive"))
    return dict((name, json.loads(files[f"openstack/latest/{name}.json"])) for name in ("meta_data", "network_data"))


def test_the_readmes_cluster_becomes_available(prod):
    """The example of the README as it stands; what is replaced is listed in ``readme_site``."""
    assert "Cluster prod: Available True" in prod.output
    assert "endpoint.holder" not in prod.output and "network_addon" not in prod.output
    assert len(prod.nodes()) == 2
    client = KubeClient({"kubeconfig": str(prod.kubeconfig)})
    assert client.server.startswith("https://%s:6443" % (
        prod.content["clusters"]["children"]["prod"]["vars"]["cluster_endpoint"]["host"]))
    # A node is ready when its pod of Flannel has written the network's file, which is before that pod counts as ready.
    eventually(lambda: client.get(KNOWN["DaemonSet"], "kube-flannel", "kube-flannel-ds")["status"]["numberReady"] == 2,
               60, "two pods of Flannel are ready")


def test_pods_answer_across_nodes_by_the_network_that_the_readme_gets(lab, prod):
    """Flannel's default, VXLAN between nodes. The pods are on the worker, the control plane's node is asked."""
    workload = Workload(lab, "prod", prod.kubeconfig)
    assert set(node["metadata"]["annotations"]["flannel.alpha.coreos.com/backend-type"]
               for node in workload.nodes().values()) == {"vxlan"}
    pods, _budget, service = (ECHO % (AGNHOST, AGNHOST, NODE_PORT)).split("---\n")
    module("manifests", kubeconfig=str(prod.kubeconfig), manifests=[pods, service])
    eventually(lambda: len(workload.nodes_of_echo()) == 2, 180, "both pods are Ready", interval_seconds=1)
    worker, = set(workload.nodes_of_echo())
    assert worker in workload.nodes() and worker not in workload.machines("control-plane")
    eventually(lambda: workload.answers(workload.address(control_plane=True)), 60, "an answer at another node")


def test_labels_choose_the_host(lab, prod):
    plane, = [machine for machine in prod.machines("prod")
              if "cluster.x-k8s.io/control-plane" in machine["metadata"]["labels"]]
    assert host_of(lab, plane["metadata"]["name"]) == OF_PROD


def test_expressions_and_failure_domain_choose_the_host(lab, site):
    """Of the three, two have the labels, and two are in the domain: one has both."""
    assert hosts_of(lab, "forms") == [OF_FORMS]
    machine, = site.machines("forms")
    assert machine["spec"]["failureDomain"] == "row-b"


def test_the_cleaning_mode_reaches_the_host_or_is_left_to_it(lab, prod):
    modes = dict((name, lab.host(name)["spec"]["automatedCleaningMode"]) for name in SERVERS)
    assert modes == dict.fromkeys(hosts_of(lab, "prod"), "metadata") | {OF_FORMS: "disabled"} and len(modes) == 3


def test_labels_of_hosts_arrive_on_nodes(lab, prod):
    """A change in place: the machines that there are get the labels, and lose them again."""
    before = sorted(machine["metadata"]["name"] for machine in prod.machines("prod"))
    variables = prod.content["clusters"]["children"]["prod"]["vars"]
    label = SYNCED + "/row"
    node = next(name for name in before if host_of(lab, name) == OF_PROD)
    lab.kube.patch(HOST, NAMESPACE, OF_PROD, {"metadata": {"labels": {label: "b", "else.example.org/row": "b"}}})
    try:
        prod.prod(cluster_options=dict(variables["cluster_options"], label_sync_prefixes=[SYNCED]))
        eventually(lambda: prod.nodes()[node]["metadata"]["labels"].get(label) == "b", 120, "the label on the Node",
                   not_yet=KubeError)
        assert "else.example.org/row" not in prod.nodes()[node]["metadata"]["labels"]
        assert sorted(machine["metadata"]["name"] for machine in prod.machines("prod")) == before
    finally:
        lab.kube.patch(HOST, NAMESPACE, OF_PROD, {"metadata": {"labels": {label: None, "else.example.org/row": None}}})
    eventually(lambda: label not in prod.nodes()[node]["metadata"]["labels"], 120, "no label on the Node",
               not_yet=KubeError)


def test_every_form_of_meta_data_is_rendered(lab, site, drive):
    machine, = site.machines("forms")
    prefix = lab.figures["bridge"]["network"].rpartition(".")[0]
    host = lab.host(OF_FORMS)
    macs = dict((nic["name"], nic["mac"]) for nic in host["status"]["hardware"]["nics"])
    name, metal3_machine = machine["metadata"]["name"], host["spec"]["consumerRef"]["name"]
    seen = dict(drive["meta_data"])
    assert seen == {
        "site": "one", "index": "node-10-x", "namespace": NAMESPACE, "host_name": OF_FORMS,
        "metal3machine": metal3_machine, "boot_mac": lab.servers[OF_FORMS]["boot_mac"], "eno2_mac": macs["eno2"],
        "rack": "r4", "note": "from the host", "nodes_prefix": "24", "nodes_gateway": prefix + ".3",
        "name": name, "local-hostname": name, "local_hostname": name,
        "nodes_ipv4": prefix + ".95", "nodes_ipv6": "2001:db8:1::11",
        "providerid": f"{NAMESPACE}/{OF_FORMS}/{metal3_machine}",
        "uuid": host["metadata"]["uid"], "metal3-name": OF_FORMS, "metal3-namespace": NAMESPACE}


def test_every_form_of_link_is_rendered(lab, drive):
    macs = dict((nic["name"], nic["mac"]) for nic in lab.host(OF_FORMS)["status"]["hardware"]["nics"])
    links = dict((link.pop("id"), link) for link in drive["network_data"]["links"])
    ethernet = {"type": "phy", "mtu": 9000}
    vlan = {"type": "vlan", "mtu": 1500, "vlan_link": "bond0"}
    assert links == {
        "eno1": dict(ethernet, ethernet_mac_address=macs["eno1"]),
        "eno2": dict(ethernet, ethernet_mac_address=macs["eno2"]),
        "bond0": {"type": "bond", "mtu": 9000, "name": "bond0", "bond_mode": "802.3ad",
                  "bond_xmit_hash_policy": "layer3+4", "bond_miimon": 100, "bond_links": ["eno1", "eno2"],
                  "ethernet_mac_address": macs["eno1"]},
        "bond0.30": dict(vlan, vlan_id=30, vlan_mac_address="02:00:00:00:00:30"),
        "bond0.40": dict(vlan, vlan_id=40, vlan_mac_address=ANNOTATIONS["example.org/mac"]),
        "bond0.50": dict(vlan, vlan_id=50, vlan_mac_address=macs["eno1"])}


def test_every_form_of_network_is_rendered(lab, drive):
    """The address that was kept for the machine, with what its range says; every other source of addresses."""
    prefix = lab.figures["bridge"]["network"].rpartition(".")[0]
    networks = dict(((network.pop("type"), network.pop("id")), network)
                    for network in drive["network_data"]["networks"])
    none = {"network": "0.0.0.0", "netmask": "0.0.0.0", "services": []}
    assert networks == {
        ("ipv4", "nodes"): {
            "link": "bond0", "ip_address": prefix + ".95", "netmask": "255.255.255.0", "routes": [
                dict(none, gateway=prefix + ".3"),
                {"network": "203.0.113.128", "netmask": "255.255.255.128", "gateway": prefix + ".5",
                 "services": [{"type": "dns", "address": prefix + ".6"}]}]},
        ("ipv6", "nodes-v6"): {
            "link": "bond0", "ip_address": "2001:db8:1::11", "netmask": "ffff:ffff:ffff:ffff::", "routes": [
                {"network": "::", "netmask": "::", "gateway": "2001:db8:1::1", "services": []}]},
        ("ipv4", "storage"): {"link": "bond0.30", "ip_address": "203.0.113.20", "netmask": "255.255.255.0",
                              "routes": []},
        ("ipv6_slaac", "storage-v6"): {"link": "bond0.30", "routes": []},
        ("ipv4_dhcp", "dynamic"): {"link": "bond0.40", "routes": []},
        ("ipv6_dhcp", "dynamic-v6"): {"link": "bond0.40", "routes": []},
        ("ipv4", "annotated"): {"link": "bond0.50", "ip_address": "198.51.100.20", "netmask": "255.255.255.128",
                                "routes": [dict(none, gateway="198.51.100.1")]}}
    # Those of the address's range, not those of the pool as a whole.
    assert drive["network_data"]["services"] == [{"type": "dns", "address": prefix + ".4"}]


def test_a_pool_goes_down_to_no_machine_and_keeps_its_place(lab, prod):
    """The host of the worker is free for the next test."""
    worker, = [name for name in hosts_of(lab, "prod") if name != OF_PROD]
    none = {"pool-a": {"replicas": 0}}
    refused = prod.start("cluster", cluster_workers=none).finish(SECONDS)
    refused.failed("confirm: not set")
    prod.prod(cluster_workers=none, metal3_confirm="1")
    lab.wait_for_host(worker, lambda host: host["status"]["provisioning"]["state"] == "available", "available")
    pool = lab.kube.get(KNOWN["MachineDeployment"], NAMESPACE, "prod-pool-a")
    assert pool["spec"]["replicas"] == 0 and len(prod.machines("prod")) == 1


@pytest.fixture
def _preallocation_by_host():
    with role_settings.preallocation_by_host():
        yield


@pytest.mark.usefixtures("_preallocation_by_host")
def test_a_cluster_that_waits_for_a_cloud_controller_says_so_and_goes_on_with_one(lab, prod):
    """What the cloud controller does, the test does. The Node's address is the one that is kept for its host."""
    assert lab.state("server-01") == "available"
    run = prod.start("cluster", prod.cloud_path, cluster_node_startup_timeout_seconds=30).finish(SECONDS)
    run.failed("cluster metal3/cloud: cloud_provider_enabled: no manifest brings a cloud controller",
               "no Node has its provider ID within 30 s; with cloud_provider_enabled only a cloud controller sets it")
    host = lab.host("server-01")
    client = workload_client(lab.kube, NAMESPACE, "cloud")
    node, = eventually(lambda: client.list(KNOWN["Node"])[0], 300, "the Node", not_yet=KubeError)
    assert not node["spec"].get("providerID")
    taints = [taint["key"] for taint in node["spec"]["taints"]]
    assert "node.cloudprovider.kubernetes.io/uninitialized" in taints
    client.patch(KNOWN["Node"], None, node["metadata"]["name"], {"spec": {
        "providerID": f"metal3://{NAMESPACE}/server-01/{host['spec']['consumerRef']['name']}",
        "taints": [taint for taint in node["spec"]["taints"] if "cloudprovider" not in taint["key"]]}})
    assert "Cluster cloud: Available True" in prod.run("cluster", prod.cloud_path).output
    machine, = prod.machines("cloud")
    assert machine["status"]["nodeRef"]["name"] == node["metadata"]["name"]
    addresses = [entry["address"] for entry in node["status"]["addresses"] if entry["type"] == "InternalIP"]
    assert addresses == [lab.figures["bridge"]["network"].rpartition(".")[0] + ".75"]
