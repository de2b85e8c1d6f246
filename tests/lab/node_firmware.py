# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The BIOS of a server that is a node is flashed by the playbook ``maintain``: images, and what is seen meanwhile."""
from __future__ import annotations

import contextlib
import json
import uuid
from collections import namedtuple
from pathlib import Path

from support import HOST, NAMESPACE, asked_of, eventually, module, only
from watching import Repeated

from ansible_collections.metal3.baremetal.plugins.module_utils._host.description import annotations as host_annotations
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.responses.errors import KubeError
from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.kinds import KNOWN

COMPONENTS = KNOWN["HostFirmwareComponents"]
BROKEN = b"another vendor's"
# A flash after one that has failed begins when BMO's second pause is over, of up to four minutes.
SECONDS = 1500
SERVICE_FAILED = "service failed"

# What is seen of a server in use at one moment; pods: how many of the Service are Ready on its node.
Moment = namedtuple("Moment", ["operational_status", "is_cordoned", "pods"])


def bios(version):
    """Return the image of a BIOS of this version."""
    return json.dumps({"component": "bios", "version": version}).encode()


@contextlib.contextmanager
def published(lab, *contents):
    """Publish images and yield their URLs, which no image had before: BMO flashes one of a URL once only."""
    paths = [lab.dir / "www" / "images" / f"node-firmware-{uuid.uuid4().hex}.fw" for _content in contents]
    try:
        for path, content in zip(paths, contents):
            path.write_bytes(content)
            path.chmod(0o644)
        yield [f"{lab.figures['urls']['image_server']}/images/{path.name}" for path in paths]
    finally:
        for path in paths:
            path.unlink(missing_ok=True)


class Flashed:
    """A worker of a cluster: the one with most pods of the Service, whom a drain costs most.

    :param lab: a Lab
    :param room: a MachineRoomClient
    :param workload: a Workload with the Service
    """

    def __init__(self, lab, room, workload):
        self.lab, self.room, self.workload = lab, room, workload
        eventually(lambda: len(workload.nodes_of_echo()) == 2, 300, "both pods of the Service are Ready")
        pods = workload.nodes_of_echo()
        self.node, self.host = max(sorted(workload.hosts("pool-a").items()), key=lambda pair: pods.count(pair[0]))
        self._others = self._asked_of_others()

    def maintain(self, url):
        """Run the playbook with an image for the BIOS."""
        inventory = self.lab.inventory({self.host: {
            "bmh_firmware_components": [{"component": "bios", "url": url}],
            "bmh_update_policy": {"firmware_updates": "onReboot"}}})
        return self.lab.playbook("maintain", "-i", str(inventory), *only(self.host), seconds=SECONDS,
                                 extra={"maintain": "firmware", "metal3_confirm": self.host})

    def identity(self):
        """Return what must not change: which host, Machine and Node it is, and whose."""
        host, node = self.lab.host(self.host), self.workload.nodes()[self.node]
        machine = self.workload.machines("pool-a")[self.node]
        return (host["metadata"]["uid"], host["spec"]["consumerRef"]["name"], machine["metadata"]["uid"],
                node["metadata"]["uid"], node["spec"]["providerID"])

    def system(self):
        """Return what tells one boot of its system from the next."""
        return json.loads(Path(self.lab.dir, "machines", self.host, "system", "run.json").read_text())["pid"]

    def flashed(self):
        """Return the BIOS's version as its BMC has it."""
        return self.room.server(self.host)["firmware"]["bios"]

    def marks(self):
        """Return what of a maintenance is left: of the host, the Machine and the Node."""
        found = {"host": self.lab.host(self.host), "Machine": self.workload.machines("pool-a")[self.node],
                 "Node": self.workload.nodes()[self.node]}
        keys = {"host": host_annotations.MAINTENANCE, "Machine": "cluster.x-k8s.io/skip-remediation",
                "Node": "metal3.baremetal/cordoned"}
        left = [kind for kind, obj in found.items() if keys[kind] in (obj["metadata"].get("annotations") or {})]
        return left + (["cordon"] if found["Node"]["spec"].get("unschedulable") else [])

    def others_are_untouched(self):
        """Say whether nobody has changed another host since this was made."""
        return self._asked_of_others() == self._others

    def _asked_of_others(self):
        return dict((name, asked_of(host)) for name, host in self.lab.hosts().items() if name != self.host)

    def is_reported(self, version):
        """Wait until BMO reports a version.

        It reads them every five minutes, and when the host's specification changes.
        """
        def reported():
            status = self.lab.kube.get(COMPONENTS, NAMESPACE, self.host)["status"]
            return dict((item["component"], item.get("currentVersion")) for item in status["components"])["bios"]

        described = self.lab.host(self.host)["spec"].get("description")
        try:
            self.lab.kube.patch(HOST, NAMESPACE, self.host, {"spec": {"description": "flashed by a test"}})
            return eventually(lambda: reported() == version, 60, f"{version} in the status", interval_seconds=1)
        finally:
            self.lab.kube.patch(HOST, NAMESPACE, self.host, {"spec": {"description": described}})

    def forget(self):
        """Take away what was asked for, and end a service that has failed; the firmware stays as it is."""
        client = {"kubeconfig": str(self.lab.dir / "kubeconfig"), "namespace": NAMESPACE}
        module("host_update_policy", policies=[{"name": self.host, "state": "absent"}], **client)
        node = self.lab.nodes()[self.host]
        if node.provision_state != SERVICE_FAILED:
            return
        # Or the operator would try the image again.
        module("host_firmware_components", hosts=[{"name": self.host, "updates": []}], **client)
        for action in ("maintenance_off", "abort"):
            module("ironic_node_action", nodes=[node.name], force_nodes=[node.name], action=action, cloud="metal3-lab",
                   clouds_file=str(self.lab.dir / "clouds.yaml"))
        self.lab.playbook("host_action", *only(self.host), extra={"host_action": "retry"}).ok()

    def give_back(self):
        """Give the node back to its cluster as it is."""
        self.lab.playbook("maintain", *only(self.host), extra={"maintain": "return"}, seconds=SECONDS).ok()

    @contextlib.contextmanager
    def put_right_afterwards(self):
        """Leave no policy, and no server out of its cluster, whatever becomes of the block."""
        try:
            yield self
        finally:
            self.forget()
            if self.marks():
                self.give_back()


class Meanwhile(Repeated):
    """The Moments of a Flashed while it is worked on."""

    INTERVAL_SECONDS = 0.5

    def __init__(self, flashed):
        super().__init__()
        self._flashed, self._workload = flashed, flashed.workload
        self.moments = []

    def ask(self):
        name = self._flashed.node
        try:
            node, pods = self._workload.nodes()[name], self._workload.nodes_of_echo()
            status = self._flashed.lab.host(self._flashed.host)["status"]["operationalStatus"]
        except KubeError:
            # Whether it answers is asked elsewhere.
            return
        self.moments.append(Moment(status, bool(node["spec"].get("unschedulable")), pods.count(name)))

    def of_service(self):
        """Return the moments at which the server was being served."""
        return [moment for moment in self.moments if moment.operational_status == "servicing"]
