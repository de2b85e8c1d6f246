# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is on a server's disk really boots: two kubeadm nodes from the node image, power and reboots. Needs root."""
from __future__ import annotations

import glob
import json
import os
import signal
import time
from pathlib import Path

import pytest
from bridge_cable import ip
from machine_room import partitions
from machine_room.node_boot import network
from machine_room.node_boot.first_stage import HIDDEN_FILES
from nodes import INDEX, MEMORY_MIB, POD_SUBNET, Nodes, built_image
from support import eventually

from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.render import flannel

pytestmark = pytest.mark.nodes

HOST_SETTINGS = ("vm/overcommit_memory", "vm/panic_on_oom", "kernel/panic", "kernel/panic_on_oops",
                 "kernel/keys/root_maxkeys", "kernel/keys/root_maxbytes", "net/ipv4/ip_forward")
ECHO = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: echo}
spec:
  replicas: 2
  selector: {matchLabels: {app: echo}}
  template:
    metadata: {labels: {app: echo}}
    spec:
      topologySpreadConstraints:
      - {maxSkew: 1, topologyKey: kubernetes.io/hostname, whenUnsatisfiable: DoNotSchedule,
         labelSelector: {matchLabels: {app: echo}}}
      containers:
      - name: echo
        image: "%s"
        args: [netexec, --http-port=8080]
        readinessProbe: {httpGet: {path: /healthz, port: 8080}, periodSeconds: 1}
---
apiVersion: v1
kind: Service
metadata: {name: echo}
spec:
  selector: {app: echo}
  ports: [{port: 80, targetPort: 8080}]
"""


def host_settings():
    return dict((name, Path("/proc/sys", name).read_text()) for name in HOST_SETTINGS)


def wait_for_kubelet(nodes, name):
    """Wait until a node's kubelet renews its lease: for 50 s the API server takes a node that is off for Ready."""
    def lease():
        return nodes.kubectl("get", "lease", name, "-n", "kube-node-lease", "-o", "jsonpath={.spec.renewTime}",
                             check=False)

    before = eventually(lease, 120, f"the lease of {name} can be read")
    eventually(lambda: lease() not in ("", before), 300, f"the kubelet of {name} renews its lease")
    eventually(lambda: name in nodes.ready(), 60, f"{name} is Ready")


@pytest.fixture(scope="module")
def image():
    """The node image, from the cache or built now."""
    return built_image()


@pytest.fixture(scope="module")
def nodes(image, tmp_path_factory, record_testsuite_property):
    """A control plane and a worker, both Ready, with flannel."""
    before = host_settings()
    cluster = Nodes(tmp_path_factory.mktemp("nodes"), image)
    try:
        for name, verb in (("server-01", "init"), ("server-02", "join")):
            cluster.write(name, verb)
        started = time.monotonic()
        cluster.machines["server-01"].power_on()
        eventually(cluster.answers, 300, "the API server answers")
        record_testsuite_property("seconds from power on to the API server", round(time.monotonic() - started, 1))
        cluster.machines["server-02"].power_on()
        eventually(lambda: cluster.ready() == {"node-server-01", "node-server-02"}, 300, "both nodes are Ready")
        record_testsuite_property("seconds from power on to two nodes Ready", round(time.monotonic() - started, 1))
        add_on = flannel.objects([POD_SUBNET], {"backend": "host-gw", "nftables": True, "cni_configuration": "node"},
                                 "lab.local")
        cluster.kubectl("apply", "-f", "-", text=json.dumps({"apiVersion": "v1", "kind": "List", "items": add_on}))
        cluster.kubectl("rollout", "status", "daemonset/kube-flannel-ds", "-n", "kube-flannel", "--timeout=300s",
                        seconds=310)
        cluster.host_settings_before = before
        yield cluster
    finally:
        cluster.close()


def test_coredns_becomes_ready(nodes):
    output = nodes.kubectl(
        "rollout", "status", "deployment/coredns", "-n", "kube-system", "--timeout=300s", seconds=310)
    assert "successfully rolled out" in output


def answering(nodes, pod, seen):
    """Add to ``seen`` what the Service answered when the pod asked it by name, and return it."""
    # Cluster DNS, kube-proxy and the route to the other node. While these learn of the Service, a dial has only errors.
    url = ("http://%s:8080/dial?host=echo.default.svc.cluster.local&port=80&request=hostname&protocol=http&tries=1"
           % pod["status"]["podIP"])
    # A pod that has not answered yet has printed nothing.
    answer = nodes.inside("server-01", "curl", "--silent", "--max-time", "10", url, check=False)
    seen.update(json.loads(answer or "{}").get("responses", []))
    return seen


def test_service_answers_across_nodes(nodes):
    nodes.kubectl("apply", "-f", "-", text=ECHO % nodes.image["container_images"]["agnhost"])
    nodes.kubectl("rollout", "status", "deployment/echo", "--timeout=300s", seconds=310)
    pods = json.loads(nodes.kubectl("get", "pods", "-l", "app=echo", "-o", "json"))["items"]
    assert {pod["spec"]["nodeName"] for pod in pods} == {"node-server-01", "node-server-02"}
    names = {pod["metadata"]["name"] for pod in pods}
    for pod in pods:
        seen = set()
        eventually(lambda pod=pod, seen=seen: answering(nodes, pod, seen) == names, 120,
                   f"both pods, reached from {pod['metadata']['name']} through the Service")


def test_node_has_the_servers_identity_and_memory(nodes):
    listed = json.loads(nodes.kubectl("get", "nodes", "-o", "json"))["items"]
    assert sorted(node["metadata"]["name"] for node in listed) == ["node-server-01", "node-server-02"]
    for node in listed:
        server = nodes.specs[node["metadata"]["name"].partition("-")[2]]
        assert node["metadata"]["labels"]["metal3.io/uuid"] == server["uuid"]
        assert node["status"]["capacity"]["memory"] == f"{MEMORY_MIB}Mi"
        assert node["status"]["nodeInfo"]["machineID"] == server["uuid"].replace("-", "")


def test_machine_keeps_its_settings(nodes):
    assert nodes.inside("server-01", "cat", "/proc/sys/kernel/panic") == "10\n"
    assert host_settings() == nodes.host_settings_before


def test_node_has_no_other_disk_and_no_sysrq(nodes):
    root = os.stat(nodes.folder).st_dev
    nodes.inside("server-02", "mknod", "/var/disk", "b", str(os.major(root)), str(os.minor(root)))
    assert nodes.inside("server-02", "head", "-c", "1", "/var/disk", check=False) == ""
    assert nodes.inside("server-02", "sh", "-c", "head -c1 /var/disk 2>&1", check=False).endswith(
        "Operation not permitted\n")
    nodes.inside("server-02", "rm", "/var/disk")
    hidden = " ".join("/proc/" + name for name in HIDDEN_FILES)
    assert nodes.inside("server-02", "sh", "-c", f"cat {hidden} 2>/dev/null", check=False) == ""
    assert nodes.inside("server-02", "sh", "-c", "ls /dev/kvm /dev/mem 2>/dev/null", check=False) == ""


def test_bridge_keeps_its_address_while_cables_come_and_go(nodes):
    """What servers send to the address that they know arrives, whichever of them are on."""
    bridge = nodes.lab["bridge"]["name"]
    address = Path("/sys/class/net", bridge, "address")
    before = address.read_text()
    # A bridge without an address of its own takes the lowest of its cables.
    ip("link", "add", "m3low", "address", "00:00:00:00:00:02", "type", "veth", "peer", "name", "m3low-end")
    try:
        network.plug("m3low", bridge)
        assert address.read_text() == before
    finally:
        ip("link", "delete", "m3low")


def test_config_drive_on_the_disk_stays_as_written(nodes):
    disk = nodes.machines["server-02"].disks[0]
    partition = partitions.config_drive(disk.path)
    iso = Path(nodes.folder, "server-02.iso").read_bytes()
    assert disk.read(partition["start"] * partitions.SECTOR_BYTES, len(iso)) == iso


def test_restarted_machine_room_finds_its_nodes(nodes):
    before = nodes.run_file("server-02")
    nodes.start_machine_room()
    assert nodes.machines["server-02"].power == "On"
    assert nodes.machines["server-02"].runs == "system"
    assert nodes.run_file("server-02") == before


def test_soft_power_off_is_followed_by_the_bmc(nodes):
    worker = nodes.machines["server-02"]
    worker.soft_off()
    eventually(lambda: worker.power == "Off", 120, "the worker shuts down")
    assert nodes.left("server-02") == []
    worker.power_on()
    wait_for_kubelet(nodes, "node-server-02")


def test_reboot_from_inside_is_noticed(nodes):
    control_plane = nodes.machines["server-01"]
    boots = control_plane.boots
    nodes.inside("server-01", "systemctl", "reboot", check=False)
    eventually(lambda: control_plane.boots == boots + 1, 300, "the machine room notices the reboot")
    eventually(nodes.answers, 300, "the API server answers again")
    assert control_plane.power == "On"


def test_power_off_from_inside_is_followed_by_the_bmc(nodes):
    worker = nodes.machines["server-02"]
    nodes.inside("server-02", "systemctl", "poweroff", check=False)
    eventually(lambda: worker.power == "Off", 120, "the worker is off")
    assert nodes.left("server-02") == []
    worker.power_on()
    wait_for_kubelet(nodes, "node-server-02")


def test_power_cut_and_power_on_keep_the_disk(nodes):
    control_plane = nodes.machines["server-01"]
    control_plane.power_off()
    assert nodes.left("server-01") == []
    assert not nodes.answers()
    control_plane.power_on()
    eventually(nodes.answers, 300, "the API server answers after a power cut")
    wait_for_kubelet(nodes, "node-server-01")
    assert nodes.kubectl("get", "deployment", "echo", "-o", "name") == "deployment.apps/echo\n"


def test_killed_run_process_takes_the_node_along(nodes):
    worker = nodes.machines["server-02"]
    os.kill(nodes.run_file("server-02")["pid"], signal.SIGKILL)
    eventually(lambda: worker.power == "Off", 60, "the BMC reports the server off")
    assert nodes.left("server-02") == []
    worker.power_on()
    wait_for_kubelet(nodes, "node-server-02")


def freeze_a_container(name):
    """Freeze a container of a node, as runc does while it changes its limits; False when there is none."""
    # Groups go while they are listed: pathlib's glob would fail at those, the module's leaves them out.
    for pattern, state in (("freezer/m3lab%d/%s/**/cri-containerd-*.scope/freezer.state", "FROZEN"),
                           ("**/m3lab%d/%s/**/cri-containerd-*.scope/cgroup.freeze", "1")):
        for path in sorted(glob.glob(pattern % (INDEX, name), root_dir="/sys/fs/cgroup", recursive=True))[:1]:
            Path("/sys/fs/cgroup", path).write_text(state)
            return True
    return False


def test_nothing_is_left_when_all_are_off(nodes):
    eventually(lambda: freeze_a_container("server-02"), 120, "server-02 has a container")
    for machine in nodes.machines.values():
        machine.power_off()
        assert nodes.left(machine.name) == []
    # With control groups version 1 there is one for each controller, with version 2 one.
    assert not [path for pattern in ("m3lab%d", "*/m3lab%d") for path in Path("/sys/fs/cgroup").glob(pattern % INDEX)]
    assert host_settings() == nodes.host_settings_before
