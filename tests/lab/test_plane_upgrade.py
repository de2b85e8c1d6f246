# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A running plane of the release before becomes the present one, while it manages hosts and a cluster.

The plane is pods of a cluster of the lab's; the hosts, and the machine of the cluster that it manages, are the lab's
other servers, whose consoles say what their BMCs were asked for.
"""
from __future__ import annotations

import time

import older_plane
import plane_site
import pytest
import small_cluster
from support import NAMESPACE, eventually, only
from watching import Polled, Repeated, States, Untouched, facts

from ansible_collections.metal3.baremetal.plugins.module_utils._kube.responses.errors import KubeError
from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.kinds import KNOWN
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.parts.catalogue import RENDERED
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.process.go_mod import GoMod

pytestmark = [pytest.mark.nodes, pytest.mark.upgrade]

SECONDS = 1500
TENANT = "tenant"
PRESENT = GoMod((older_plane.SOURCE / "go.mod").read_text())
# Parts of which an older release was installed, in the order in which they are upgraded.
UPGRADED = [part for part in RENDERED if part.module in older_plane.PINS]


class Rollouts(Repeated):
    """The versions of the plane's managers meanwhile, and whether each was available."""

    def __init__(self, target):
        super().__init__()
        self._target, self.moments = target, []

    def ask(self):
        try:
            moment = managers(self._target)
        except KubeError:
            # The API server's webhooks are among what is replaced.
            return
        if not self.moments or self.moments[-1] != moment:
            self.moments.append(moment)


def managers(target):
    """Return for each Deployment of the plane: version, whether all of it is available at that version."""
    found = {}
    for name, item in plane_site.managers(target).items():
        status = item.get("status") or {}
        rolled_out = (status.get("observedGeneration") == item["metadata"]["generation"] and status.get("replicas", 0)
                      == status.get("updatedReplicas", 0) == status.get("availableReplicas", 0) > 0)
        image = item["spec"]["template"]["spec"]["containers"][0]["image"]
        found[name] = (image.rpartition(":")[2], rolled_out)
    return found


def expected(*upgraded):
    """Return the versions of all managers when these parts are upgraded and the others are not."""
    return dict((name, (PRESENT.version(part.module) if part.name in upgraded
                        else older_plane.PINS.get(part.module, PRESENT.version(part.module)), True))
                for part in RENDERED for name in part.images)


def without_ironic(found):
    return dict((name, item) for name, item in found.items() if name != "ironic")


def stored(target):
    """Return what shows whether anybody has written an object of the plane, its status left out."""
    return dict((name, item["metadata"]["generation"]) for name, item in plane_site.managers(target).items())


@pytest.fixture(scope="module")
def older(lab, tmp_path_factory):
    """The folder that pins the older release, whose images are in the lab's registry."""
    source = older_plane.write_source(tmp_path_factory.mktemp("older"))
    older_plane.push(lab, older_plane.build(source, lab.figures["engine_dir"]))
    return source


@pytest.fixture(scope="module")
def variables(lab, kubeconfig, tmp_path_factory):
    """The variables of the plane, at the present pins."""
    return plane_site.plane(lab, kubeconfig, tmp_path_factory.mktemp("ironic"))


@pytest.fixture(scope="module")
def servers(lab, kubeconfig):
    """Servers that the lab's own plane lets go; the cluster has one by then."""
    names = [name for name, host in sorted(lab.hosts().items())
             if not host["spec"].get("consumerRef") and lab.state(name) == "available"]
    lab.remove_hosts(*names)
    yield names
    lab.playbook("enroll", *only(*names), seconds=SECONDS).ok()


@pytest.fixture(scope="module")
def running(lab, older, kubeconfig, target, variables, servers):
    """An older plane with an available host, a provisioned one, and a cluster of one machine; its kubeconfig."""
    lab.playbook("install", extra=dict(variables, **older_plane.variables(older)), seconds=SECONDS).ok()
    assert without_ironic(managers(target)) == expected()
    images = plane_site.server(lab, servers[0], kubeconfig)["bmh_image"]
    hosts = dict((name, plane_site.server(lab, name, kubeconfig)["bmc_address"]) for name in servers)
    addresses = {"metal3_kubeconfig": str(kubeconfig), "lab_bmc_addresses": hosts, "bmh_image": images,
                 "bmc_address": "{{ lab_bmc_addresses[inventory_hostname] }}"}
    lab.playbook("enroll", *only(*servers), extra=addresses, seconds=SECONDS).ok()
    lab.playbook("provision", *only(servers[0]), extra=addresses, seconds=SECONDS).ok()
    tenant = cluster(lab, kubeconfig)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LAB_CLUSTER", "workload")
        lab.playbook("cluster", extra=tenant, seconds=SECONDS).ok()
        yield tenant["cluster_workload_kubeconfig"]
        # Through the plane as it is then.
        lab.playbook("teardown", extra=dict(tenant, **small_cluster.teardown(TENANT)), seconds=SECONDS).ok()
    lab.playbook("unenroll", *only(*servers), extra=dict(addresses, metal3_confirm=len(servers)), seconds=SECONDS).ok()


def cluster(lab, kubeconfig):
    """Return the variables of a cluster of one machine that the plane in the cluster manages."""
    url = plane_site.image_server(lab) + "/images/node.qcow2"
    found = dict(small_cluster.variables(lab, TENANT, {"url": url, "checksum": url + ".sha256"}, endpoint=15),
                 cluster_control_plane={"replicas": 1, "node_taints": []}, metal3_kubeconfig=str(kubeconfig))
    prefix = lab.figures["bridge"]["network"].rpartition(".")[0]
    # Another plane gives away what small_cluster has.
    found["cluster_networks"]["nodes"]["ipv4"]["ranges"] = [{"start": prefix + ".90", "end": prefix + ".99"}]
    return found


def unready(target):
    return plane_site.not_ready(target)


def test_a_plan_names_each_step_and_writes_nothing(lab, target, variables, running):
    before, managed = stored(target), facts(target)
    run = lab.playbook("install", "--check", "--diff", extra=variables, seconds=SECONDS).ok()
    print(run.output)
    rows = dict((line.split()[0], line.split()[1:]) for line in run.output.splitlines() if len(line.split()) > 4)
    for part in UPGRADED:
        assert rows[part.name][:2] == [older_plane.PINS[part.module], PRESENT.version(part.module)], rows[part.name]
        for name in part.images:
            assert f"Deployment {part.namespace}/{name}" in run.output
    assert stored(target) == before and facts(target) == managed
    assert without_ironic(managers(target)) == expected()


def test_a_host_that_is_worked_on_stops_the_upgrade(lab, room, target, variables, running, servers, kubeconfig):
    before = stored(target)
    name = next(name for name, (state, *_rest) in facts(target).hosts.items() if state == "available")
    of_server = plane_site.server(lab, name, kubeconfig)
    room.set_knobs(name, slow_download=1)
    try:
        provision = lab.start("provision", *only(name), extra=of_server)
        eventually(lambda: facts(target).hosts[name][0] == "provisioning", 120, f"{name} provisioning")
        lab.playbook("install", extra=variables, seconds=SECONDS).failed(
            f"found 1 in transition ({NAMESPACE}/{name}: provisioning)", "wait until they have reached their state")
        assert stored(target) == before
    finally:
        room.clear_knobs(name)
    provision.finish(SECONDS).ok()
    lab.playbook("deprovision_hosts", *only(name), extra=dict(of_server, metal3_confirm=1), seconds=SECONDS).ok()


def test_a_part_that_does_not_come_up_is_rolled_back_and_the_ones_before_stay(lab, target, variables, running):
    plane = dict(variables["management_plane"], wait_timeout_seconds=150)
    resources = {"requests": {"memory": "900Gi"}}
    managed, touched = facts(target), Untouched(lab)
    with Polled(running) as polled, States(target) as states:
        run = lab.playbook("install", extra=dict(variables, management_plane=plane, ipam_options={
            "resources": resources}), seconds=SECONDS)
    found, planned = older_plane.PINS[older_plane.IPAM], PRESENT.version(older_plane.IPAM)
    run.failed(f"the upgrade of IP address manager from {found} to {planned} failed and was rolled back",
               "Insufficient memory")
    assert without_ironic(managers(target)) == expected("capi", "cabpk", "kcp")
    assert "900Gi" not in str(target.get(KNOWN["Deployment"], "metal3-ipam-system", "ipam-controller-manager")["spec"])
    assert facts(target) == managed and touched.resets() == {} and polled.failed == []
    assert all(len(seen) == 1 for seen in states.found.values()) and states.looked > 20


def test_a_killed_upgrade_is_finished_part_by_part_and_nothing_rolls(lab, target, variables, running):
    managed, touched, rollouts = facts(target), Untouched(lab), Rollouts(target)
    began = time.monotonic()
    with rollouts, Polled(running) as polled, States(target) as states:
        killed = lab.start("install", extra=variables)
        eventually(lambda: managers(target)["ipam-controller-manager"][0] == PRESENT.version(older_plane.IPAM), SECONDS,
                   "IPAM's new Deployment", interval_seconds=0.05)
        killed.kill()
        lab.playbook("install", extra=variables, seconds=SECONDS).ok()
        eventually(lambda: unready(target) == [], 60, "all parts ready")
    print(f"upgraded in {time.monotonic() - began:.0f} s; asked the cluster {polled.asked} times, "
          f"hosts {states.looked} times")
    assert without_ironic(managers(target)) == expected(*(part.name for part in RENDERED))
    assert facts(target) == managed and touched.resets() == {}
    assert polled.asked > 50 and polled.failed == []
    assert all(len(seen) == 1 for seen in states.found.values()) and states.looked > 20, states.found
    ordered(rollouts.moments)
    assert lab.playbook("install", extra=variables, seconds=SECONDS).ok().changed() == 0


def ordered(moments):
    """Each part is begun only when all parts before it have become available at their new version."""
    names = [(name, PRESENT.version(part.module)) for part in UPGRADED for name in part.images]
    available = set()
    for moment in moments:
        # By this moment or an earlier one: a part that was available may wait for its webhook's Secret again, and on a
        # busy machine a probe may fail once.
        available |= {(name, version) for name, version in names if moment[name] == (version, True)}
        begun = [number for number, (name, version) in enumerate(names) if moment[name][0] == version]
        assert set(names[:max(begun, default=0)]) <= available, (available, moment)


def test_the_upgraded_plane_works_on_hosts_and_clusters(lab, target, running, servers, kubeconfig):
    free = next(name for name, (state, *_rest) in facts(target).hosts.items() if state == "available")
    of_server = plane_site.server(lab, free, kubeconfig)
    lab.playbook("provision", *only(free), extra=of_server, seconds=SECONDS).ok()
    assert facts(target).hosts[free][0] == "provisioned"
    lab.playbook("deprovision_hosts", *only(free), extra=dict(of_server, metal3_confirm=1), seconds=SECONDS).ok()
