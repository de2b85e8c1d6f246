# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Three control plane machines and a worker: the cluster outlives the machine that holds its address, and an upgrade.

Once for each holder of the address. kube-vip's cluster begins with one control plane machine. All playbooks have the
rights of docs/rbac only.
"""
from __future__ import annotations

import json
import time
from pathlib import Path

import other_kubernetes
import pytest
import watching
from support import NAMESPACE, eventually

from ansible_collections.metal3.baremetal.plugins.module_utils._kube.api.client import KubeClient
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.responses.errors import KubeError
from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.kinds import KNOWN

pytestmark = pytest.mark.ha

NAME = "workload"
SECONDS = 1800


def available_mib():
    """Return the machine's memory that is available, in MiB."""
    line = next(line for line in Path("/proc/meminfo").read_text().splitlines() if line.startswith("MemAvailable:"))
    return int(line.split()[1]) // 1024


@pytest.fixture(scope="module", params=["keepalived", "kube-vip"])
def kind(request):
    """Who holds the endpoint's address."""
    return request.param


@pytest.fixture(scope="module")
def cluster(lab, as_operator, kind, record_testsuite_property):
    """The cluster's client; made here and deleted afterwards."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LAB_CLUSTER", NAME)
        patch.setenv("LAB_ENDPOINT_HOLDER", kind)
        memory = available_mib()
        try:
            for size in (1, 3) if kind == "kube-vip" else (3,):
                began = time.monotonic()
                control_planes = json.dumps({"lab_control_planes": size})
                lab.playbook("cluster", "-e", control_planes, seconds=SECONDS).ok()
                figures = {f"{kind}: seconds to {size} + 1 Available": round(time.monotonic() - began),
                           f"{kind}: MiB of memory that {size} + 1 nodes take": memory - available_mib()}
                for name, value in figures.items():
                    record_testsuite_property(name, value)
                    print(f"{name}: {value}")
            assert lab.playbook("cluster", "-e", control_planes, seconds=SECONDS).ok().changed() == 0
            yield KubeClient({"kubeconfig": str(lab.dir / "kubeconfigs" / NAME)})
        finally:
            lab.playbook("teardown", "-e", "metal3_confirm=" + NAME, seconds=SECONDS).ok()


def ready(client):
    """Return the names of the ready nodes, None while the API does not answer."""
    try:
        return [node["metadata"]["name"] for node in client.list(KNOWN["Node"])[0] if any(
            entry["type"] == "Ready" and entry["status"] == "True" for entry in node["status"]["conditions"])]
    except KubeError:
        return None


def holder(lab):
    """Return the server whose namespace has the endpoint's address, by the neighbour that answers for it."""
    macs = dict((nic["mac"], name) for name, server in lab.servers.items() for nic in server["nics"])
    address = lab.figures["bridge"]["network"].rpartition(".")[0] + ".10"
    for line in Path("/proc/net/arp").read_text().splitlines()[1:]:
        fields = line.split()
        if fields[0] == address and fields[3] in macs:
            return macs[fields[3]]
    return None


def test_all_four_are_ready(cluster):
    assert len(ready(cluster)) == 4


def test_the_described_holder_holds_the_address(cluster, kind):
    pods = [pod for pod in cluster.list(KNOWN["Pod"], "kube-system")[0]
            if (pod["metadata"].get("labels") or {}).get("app.kubernetes.io/name") == "kube-vip"]
    assert len(pods) == (3 if kind == "kube-vip" else 0)
    for pod in pods:
        # Not the kubeconfig that the first machine began with.
        assert pod["spec"]["volumes"][0]["hostPath"]["path"] == "/etc/kubernetes/admin.conf"


def test_the_endpoint_moves_when_its_machine_loses_power(lab, room, cluster, kind):
    first = eventually(lambda: ready(cluster) and holder(lab), 60, "who has the endpoint's address")
    try:
        room.set_knobs(first, bmc_unreachable=True)
        room.power(first, "power_off")
        began = time.monotonic()
        eventually(lambda: ready(cluster) is not None and holder(lab) not in (None, first), 60,
                   "the endpoint answers from another machine")
        print(f"{kind}: seconds until the endpoint answered again: {time.monotonic() - began:.1f}")
    finally:
        room.clear_knobs(first)
    room.power(first, "power_on")
    eventually(lambda: len(ready(cluster) or []) == 4 and lab.kube.get(
        KNOWN["KubeadmControlPlane"], NAMESPACE, NAME + "-control-plane")["status"]["readyReplicas"] == 3, 300,
        "all four are ready again")


@pytest.fixture(scope="module")
def following(lab, tmp_path_factory):
    """The version after the lab's, and its image."""
    return other_kubernetes.served(lab, tmp_path_factory.mktemp("following"))


def test_the_endpoint_answers_while_kubernetes_is_upgraded(lab, cluster, kind, following, record_testsuite_property):
    """Each machine is replaced, so that the address moves; between two answers lie seconds."""
    extra = {"lab_control_planes": 3, "cluster_kubernetes_version": following.kubernetes_version,
             "cluster_image": following.image, "upgrade_backup": False}
    lab.playbook("upgrade", extra=extra).failed("expected 4, the number of machines")
    began, holders = time.monotonic(), set()
    with watching.Polled(lab.dir / "kubeconfigs" / NAME, timeout_seconds=3) as endpoint:
        running = lab.start("upgrade", extra=dict(extra, metal3_confirm="4"))

        def ended():
            holders.add(holder(lab))
            return running.process.poll() is not None

        eventually(ended, 2 * SECONDS, "the upgrade's end", interval_seconds=1)
        running.finish(60).ok()
    print(f"{kind}: upgrade of 3 + 1 machines: {time.monotonic() - began:.0f} s; endpoint: {endpoint}")
    record_testsuite_property(f"{kind}: seconds without the endpoint in an upgrade", endpoint.longest_silence_seconds)
    assert len(holders - {None}) > 1 and endpoint.asked > 1000
    assert endpoint.longest_silence_seconds < 20
    assert len(ready(cluster)) == 4
    assert {node["status"]["nodeInfo"]["kubeletVersion"] for node in cluster.list(KNOWN["Node"])[0]} == {
        following.kubernetes_version}
