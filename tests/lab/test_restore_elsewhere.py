# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A plane is lost for good while its cluster lives on: its backup goes into another plane, which never had its objects.

The lab's own plane stops, API server, etcd and Ironic included. The other one is a site's of processes with all
controllers and an Ironic of its own, and is installed afterwards. What is done is the guide's ("Bring a lost plane
back" in pivot.rst).
"""
from __future__ import annotations

import lab_supervisor
import pytest
import small_cluster
from bootstrap_site import PROGRAMS, Site
from keystoneauth1.exceptions import ClientException
from lost_plane import back_up, new_identity
from openstack.exceptions import SDKException
from support import HOST, NAMESPACE, eventually, only
from watching import Polled, Untouched, facts

from ansible_collections.metal3.baremetal.plugins.module_utils._kube.api.client import KubeClient
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.responses.errors import KubeError
from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.kinds import KNOWN
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.process import orphans

pytestmark = [pytest.mark.nodes, pytest.mark.pivot]

SECONDS = 1500
CLUSTER = "survivor"
PROVISIONED = "server-03"
# Of the lab's programs those that make up its plane, the API server last.
PLANE = ("bmo", "capm3", "ipam", "kcp", "cabpk", "capi", "ironic", "kube-controller-manager", "kube-apiserver", "etcd")


@pytest.fixture(scope="module")
def site(lab, tmp_path_factory):
    """Another plane's inventory, with all servers of the lab; they boot by virtual media from whichever Ironic asks."""
    found = Site(lab, tmp_path_factory.mktemp("site"))
    found.hosts = dict((name, found.server(name)) for name in lab.servers)
    for host in found.hosts.values():
        host["bmc_address"] = "redfish-virtualmedia+" + host["bmc_address"].partition("+")[2]
    return found


@pytest.fixture(scope="module")
def hosts(lab, site):
    """All servers as hosts of the lab's plane, by these addresses; one of them is provisioned without Cluster API."""
    addresses = {"bmc_address": "{{ lab_bmc_addresses[inventory_hostname] }}", "lab_bmc_addresses": dict(
        (name, host["bmc_address"]) for name, host in site.hosts.items())}
    lab.remove_hosts(*lab.hosts())
    lab.playbook("enroll", extra=addresses, seconds=SECONDS).ok()
    lab.playbook("provision", *only(PROVISIONED), extra=addresses, seconds=SECONDS).ok()
    yield sorted(site.hosts)
    lab.remove_hosts(*lab.hosts())
    lab.playbook("enroll", seconds=SECONDS).ok()


@pytest.fixture(scope="module")
def cluster(lab, hosts):
    """The variables of a cluster of one machine."""
    variables = dict(small_cluster.variables(lab, CLUSTER, {}, endpoint=13),
                     cluster_control_plane={"replicas": 1, "node_taints": []})
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LAB_CLUSTER", "workload")
        lab.playbook("cluster", seconds=SECONDS, extra=variables).ok()
        yield variables
        lab.playbook("teardown", seconds=SECONDS, extra=dict(variables, **small_cluster.teardown(CLUSTER))).ok()


@pytest.fixture(scope="module")
def before(lab, cluster):
    """What the lab's plane says of hosts and machines."""
    found = facts(lab.kube)
    assert len(found.machines) == 1
    return found


@pytest.fixture(scope="module")
def variables(lab, before, tmp_path_factory):
    """What to give to the playbook ``restore``."""
    identity = new_identity(tmp_path_factory.mktemp("age"))
    return {"restore_path": str(back_up(lab, tmp_path_factory.mktemp("backups"), identity)),
            "restore_identity_file": str(identity)}


@pytest.fixture(scope="module")
def other(lab, site, before, variables):
    """The other plane, installed while the lab's is stopped; the lab's goes on when it has ended."""
    lab_supervisor.control(lab, "stop", *PLANE)
    try:
        site.playbook("install").ok()
        yield site
    finally:
        if site.dir.exists():
            orphans.stop_processes(str(site.dir))
        lab_supervisor.control(lab, "start", *reversed(PLANE), check=False)
        # Their first answers come seconds after their start.
        eventually(lambda: facts(lab.kube) == before and lab.nodes(), SECONDS, "the lab's plane as it was",
                   not_yet=(KubeError, KeyError, OSError, SDKException, ClientException))


@pytest.fixture(scope="module")
def polled(cluster):
    with Polled(cluster["cluster_workload_kubeconfig"]) as found:
        yield found


def restore(site, *arguments, **variables):
    return site.lab.playbook("restore", *arguments, inventory=site.inventory(), extra=variables, seconds=SECONDS)


def in_cluster(site, variables, **changes):
    """Run the playbook ``cluster`` against the other plane."""
    ironic = {"cloud": "metal3-lab", "clouds_file": str(site.dir / "clouds.yaml")}
    return site.lab.playbook("cluster", seconds=SECONDS, extra=dict(
        variables, metal3_kubeconfig=str(site.dir / "kubeconfig"), metal3_ironic=ironic, **changes))


def test_a_backup_goes_into_a_plane_that_never_had_its_objects_and_no_server_is_touched(
        lab, before, variables, other, polled):
    assert len(other.programs()) == PROGRAMS
    for kind in ("BareMetalHost", "Cluster", "Machine", "HardwareData"):
        assert other.kube().list(KNOWN[kind])[0] == [], kind
    touched = Untouched(lab)
    plan = restore(other, "--check", **variables).ok()
    provisioned = [name for name, (state, *_rest) in before.hosts.items() if state == "provisioned"]
    assert len(provisioned) == 2 and plan.output.count(": adopted: ") == len(provisioned), plan.output
    assert other.kube().list(HOST)[0] == []
    restore(other, **variables).failed(f"set metal3_confirm={len(before.hosts)}")
    assert other.kube().list(HOST)[0] == []
    restore(other, metal3_confirm=len(before.hosts), **variables).ok()
    eventually(lambda: facts(other.kube()) == before, SECONDS, "as they were", not_yet=KeyError)
    assert {node.name for node in lab.ironic(other.dir).nodes()} == {f"{NAMESPACE}~{name}" for name in before.hosts}
    assert touched.resets() == {} and polled.asked > 50 and polled.failed == []
    assert restore(other, **variables).ok().changed() == 0


def test_inventory_and_plane_do_not_differ(site, other):
    assert site.playbook("enroll", "--check", "--diff").ok().changed() == 0


def test_the_cluster_grows_there_by_a_machine_and_shrinks_again(lab, site, before, cluster, other, polled):
    assert in_cluster(site, cluster).ok().changed() == 0
    workers = {"w": {"replicas": 1}}
    touched = Untouched(lab)
    in_cluster(site, cluster, cluster_workers=workers).ok()
    assert len(facts(site.kube()).machines) == 2
    nodes = KubeClient({"kubeconfig": cluster["cluster_workload_kubeconfig"]}).list(KNOWN["Node"])[0]
    assert len(nodes) == 2
    taken, = set(touched.resets())
    assert before.hosts[taken][0] == "available"
    in_cluster(site, cluster, cluster_workers={"w": {"replicas": 0}}, metal3_confirm=1).ok()
    eventually(lambda: site.kube().get(HOST, NAMESPACE, taken)["status"]["provisioning"]["state"] == "available",
               SECONDS, f"{taken} is available again")
    assert polled.failed == []
