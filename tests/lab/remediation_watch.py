# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What becomes of a node and its server while CAPM3 reboots it: its taint, its power, and the pods on it."""
from __future__ import annotations

from collections import namedtuple

import background

from ansible_collections.metal3.baremetal.plugins.module_utils._kube.responses.errors import KubeError
from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.kinds import KNOWN

# By it Kubernetes deletes the pods of a node at once, because nothing of them runs any more.
TAINT = "node.kubernetes.io/out-of-service"

Moment = namedtuple("Moment", ["tainted", "power", "pods"])


class RemediationWatch:
    """Looks several times a second while the block runs; ``moments`` has what was found, without repetitions.

    :param workload: a Workload
    :param room: a MachineRoomClient
    :param node: name of the node
    :param server: name of its server
    """

    def __init__(self, workload, room, node, server):
        self._workload, self._room, self._node, self._server = workload, room, node, server
        self._client = workload.client
        self._before = set(self._pods())
        self.moments = []

    def _pods(self):
        """Return the UIDs of the Service's pods on the node."""
        return [pod["metadata"]["uid"] for pod in self._client.list(
            KNOWN["Pod"], "default", field_selector=f"spec.nodeName={self._node}")[0]
            if pod["metadata"]["labels"].get("app") == "echo"]

    def running(self):
        """Return a context in which it looks."""
        return background.running("remediation watch", self._work)

    def _work(self, ended):
        while not ended.wait(0.2):
            try:
                node = self._client.get(KNOWN["Node"], None, self._node) or {}
                pods = len(self._before & set(self._pods()))
            except KubeError:
                continue
            taints = [taint["key"] for taint in (node.get("spec") or {}).get("taints") or []]
            moment = Moment(TAINT in taints, self._room.server(self._server)["power"], pods)
            if moment not in self.moments[-1:]:
                self.moments.append(moment)

    def check(self):
        """Fail unless the taint came when the server was off, and went after it was on."""
        tainted = [number for number, moment in enumerate(self.moments) if moment.tainted]
        assert tainted, f"no taint: {self.moments}"
        assert self.moments[tainted[0]].power == "Off" and self.moments[tainted[0] - 1].power == "Off", self.moments
        off = [moment for moment in self.moments if moment.tainted and moment.power == "Off"]
        assert any(not moment.pods for moment in off), self.moments
        assert not self.moments[-1].tainted and self.moments[-1].power == "On", self.moments
