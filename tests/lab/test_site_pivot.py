# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""``site`` on an inventory of BMCs with no cluster at hand: in the end the cluster that it has made manages itself.

The servers are the lab's, whose own plane has no host meanwhile. The bootstrap plane is one of processes beside it, of
ports of its own.
"""
from __future__ import annotations

import json
import stat

import plane_site
import pytest
import yaml
from bmc_requests import BmcLogs
from bmc_system import credential
from support import HOST, NAMESPACE, REPOSITORY, eventually
from watching import Untouched, facts

from ansible_collections.metal3.baremetal.plugins.module_utils._kube.api.client import KubeClient
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.responses.errors import KubeError
from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.kinds import KNOWN
from ansible_collections.metal3.baremetal.plugins.module_utils._move.objects.record import NAME as RECORD
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.process import orphans
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.process.site_figures import DEFAULT_PORTS

pytestmark = [pytest.mark.nodes, pytest.mark.pivot]

SECONDS = 1500
CLUSTER = "prod"
NAME = "site"
# Those of test_plane_process.py are the default ones.
FURTHER = 500


class Site:
    """The inventory of a site, and its two planes."""

    def __init__(self, lab, folder):
        self.lab, self.dir, self.file, self.state = lab, folder / "plane", folder / "site.json", folder / "state"
        self.folder = self.state / "metal3.baremetal" / "sites" / NAME
        self.kubeconfig = self.folder / f"{CLUSTER}.kubeconfig"
        self.labels = {}
        bridge, prefix = plane_site.bridge(lab), lab.figures["bridge"]["network"].rpartition(".")[0]
        authority = str(lab.dir / "pki" / "ca")
        images = plane_site.image_server(lab) + "/agent/"
        self.variables = {
            "metal3_namespace": NAMESPACE, "metal3_ca_file": authority + ".crt",
            "bootstrap_plane_ca_certificate_file": authority + ".crt",
            "bootstrap_plane_ca_key_file": authority + ".key",
            "ironic_bmc_ca_file": authority + ".crt", "ironic_bootloader_url": images + "esp.img",
            "bmo_deploy_kernel_url": images + "vmlinuz", "bmo_deploy_ramdisk_url": images + "initrd"}
        self.plane = {"mode": "process", "name": NAME, "dir": str(self.dir), "address": bridge, "ports": dict(
            (part, port + FURTHER) for part, port in DEFAULT_PORTS.items())}
        # As the lab describes its own cluster, with the lab's figures by another name.
        described = yaml.safe_load((REPOSITORY / "inventory/lab/group_vars/clusters.yml").read_text().replace(
            "management_plane.", "lab_figures."))
        # The site keeps it where it finds it again.
        del described["cluster_workload_kubeconfig"]
        self.cluster = dict(
            described, lab_figures=lab.figures, lab_dir=str(lab.dir), cluster_management=True, cluster_workers={},
            cluster_control_plane={"replicas": 1, "node_taints": []},
            cluster_endpoint={"host": prefix + ".13", "holder": "keepalived"},
            **dict(plane_site.parts(lab, folder, prefix + ".80"),
                   management_plane={"mode": "cluster", "certificates": "collection"}))
        self.cluster["cluster_networks"]["nodes"]["ipv4"]["ranges"] = [{"start": prefix + ".80", "end": prefix + ".89"}]

    def host(self, name):
        bmc = self.lab.servers[name]["bmc"]
        path = bmc["address"].partition("/redfish/")[2]
        port = self.lab.figures["ports"]["redfish"]
        return {"bmc_address": f"redfish-virtualmedia+https://{plane_site.bridge(self.lab)}:{port}/redfish/{path}",
                "boot_mac": self.lab.servers[name]["boot_mac"], "bmh_labels": self.labels.get(name, {}),
                "bmc_username": credential(self.lab.servers[name], "username"),
                "bmc_password": credential(self.lab.servers[name], "password")}

    def inventory(self, **cluster):
        self.file.write_text(json.dumps({"all": {"vars": self.variables, "children": {
            "management": {"hosts": {"localhost": {
                "ansible_connection": "local", "ansible_python_interpreter": "{{ ansible_playbook_python }}",
                "management_plane": self.plane}}},
            "baremetal": {"hosts": dict((name, self.host(name)) for name in self.lab.servers)},
            "clusters": {"children": {CLUSTER: {"hosts": {f"{CLUSTER}-cluster": dict(self.cluster, **cluster)}}}}}}}))
        return self.file

    def start(self, name, *arguments, **cluster):
        return self.lab.start(name, *arguments, inventory=self.inventory(**cluster),
                              environment={"XDG_STATE_HOME": str(self.state)})

    def playbook(self, name, *arguments, **cluster):
        return self.start(name, *arguments, **cluster).finish(SECONDS)

    def bootstrap(self):
        return KubeClient({"kubeconfig": str(self.dir / "kubeconfig")})

    def target(self):
        return plane_site.client(self.kubeconfig)

    def record(self):
        return json.loads((self.folder / "management.json").read_text())

    def confirm(self):
        return "-e", f"metal3_confirm={len(self.lab.servers)}"


def hosts(client):
    return sorted(item["metadata"]["name"] for item in client.list(HOST, NAMESPACE)[0])


def is_there(connect, kind, name):
    """Return whether a plane that may not be up yet has an object."""
    try:
        return connect().get(KNOWN[kind], NAMESPACE, name) is not None
    except (KubeError, OSError):
        return False


@pytest.fixture(scope="module")
def site(lab, tmp_path_factory):
    lab.remove_hosts(*lab.hosts())
    found = Site(lab, tmp_path_factory.mktemp("site"))
    yield found
    orphans.stop_processes(str(found.dir))
    lab.playbook("enroll", seconds=SECONDS).ok()


def test_all_mistakes_are_refused_before_anything_is_written(site):
    site.variables["metal3_kubeconfig"] = "/nowhere/kubeconfig"
    try:
        site.playbook("site", cluster_kubernetes_version="v1.31.0", bmo_deploy_kernel_url="https://localhost/vmlinuz").failed(
            "cluster_kubernetes_version: found \"v1.31.0\", expected v1.32 to",
            "localhost: metal3_kubeconfig: found \"/nowhere/kubeconfig\"",
            "prod-cluster: bmo_deploy_kernel_url: found \"https://localhost/vmlinuz\"")
    finally:
        del site.variables["metal3_kubeconfig"]
    assert not site.dir.exists() and not site.state.exists()


def test_a_site_that_is_killed_and_run_again_manages_itself(site):
    """From nothing. Killed while the cluster is made, and while hosts are on their way into it."""
    running = site.start("site", *site.confirm())
    eventually(lambda: is_there(site.bootstrap, "Cluster", CLUSTER), SECONDS, "the cluster")
    running.kill()
    running = site.start("site", *site.confirm())
    eventually(lambda: running.process.poll() is not None or (
        site.kubeconfig.exists() and is_there(site.target, "ConfigMap", RECORD)), SECONDS, "the record of the move")
    # One that ended by itself proves nothing.
    assert running.process.poll() is None, running.output
    running.kill()
    touched, logs, before = Untouched(site.lab), BmcLogs(site.lab), sorted(site.lab.servers)
    run = site.playbook("site", *site.confirm()).ok()
    print(run.output)
    assert "Hosts are on their way into cluster prod" in run.output
    assert hosts(site.target()) == before
    assert touched.resets() == {} and logs.mistakes() == []
    assert len(facts(site.target()).machines) == 1
    assert orphans.processes(str(site.dir)) == [] and (site.dir / "lab.json").exists()
    assert site.record()["manager"] == "cluster"
    for path in (site.kubeconfig, site.folder / "management.json"):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600, path


def test_a_second_run_changes_nothing(site):
    run = site.playbook("site").ok()
    assert "Cluster prod manages the site" in run.output
    assert run.changed() == 0, run.output
    assert orphans.processes(str(site.dir)) == []


def test_the_same_inventory_manages_through_the_cluster(site):
    site.labels["server-04"] = {"through": "itself"}
    site.playbook("enroll").ok()
    assert site.target().get(HOST, NAMESPACE, "server-04")["metadata"]["labels"]["through"] == "itself"
    assert site.playbook("cluster").ok().changed() == 0
    assert orphans.processes(str(site.dir)) == []


def test_what_others_could_have_written_is_not_used(site):
    site.kubeconfig.chmod(0o644)
    try:
        site.playbook("enroll").failed("mode 0644", "the file that the playbook metal3.baremetal.site has written")
    finally:
        site.kubeconfig.chmod(0o600)


def test_what_would_move_back_is_said_while_the_bootstrap_plane_is_stopped(site):
    before, record = facts(site.target()), site.record()
    run = site.playbook("repivot", "--check", "--diff").ok()
    assert all(f"BareMetalHost {name}" in run.output for name in site.lab.servers), run.output
    assert f"Cluster {CLUSTER}" in run.output and "is asked by a run without check mode" in run.output
    assert f"metal3_confirm={len(site.lab.servers)}" in run.output
    assert (facts(site.target()), site.record(), orphans.processes(str(site.dir))) == (before, record, [])


def test_the_management_moves_back_and_the_record_follows(site):
    before, touched, logs = facts(site.target()), Untouched(site.lab), BmcLogs(site.lab)
    site.playbook("repivot", *site.confirm()).ok()
    assert facts(site.bootstrap()) == before and hosts(site.target()) == []
    assert touched.resets() == {} and logs.mistakes(back=True) == []
    assert site.record()["manager"] == "bootstrap"
    assert site.playbook("enroll").ok().changed() == 0
