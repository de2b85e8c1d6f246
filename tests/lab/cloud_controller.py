# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A small cloud controller of a workload cluster: it links each new Node to its server, as one of a cloud does."""
from __future__ import annotations

import background
from support import HOST, NAMESPACE

from ansible_collections.metal3.baremetal.plugins.module_utils._kube.api.workload_client import workload_client
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.responses.errors import KubeError
from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.kinds import KNOWN

# Of a kubelet with --cloud-provider=external, until the node is linked (k8s.io/cloud-provider/api).
TAINT = "node.cloudprovider.kubernetes.io/uninitialized"
UUID = "metal3.io/uuid"
_SECONDS = 1


class CloudController:
    """Works while the block runs; ``linked`` has the provider ID of each Node that it has linked, by name.

    :param lab: a Lab
    :param cluster: name of the workload cluster
    """

    def __init__(self, lab, cluster):
        self._lab, self._cluster = lab, cluster
        self.linked = {}

    def running(self):
        """Return a context in which it works."""
        return background.running("cloud controller", self._work)

    def _work(self, ended):
        while not ended.wait(_SECONDS):
            try:
                client = workload_client(self._lab.kube, NAMESPACE, self._cluster)
                for node in client.list(KNOWN["Node"])[0] if client else []:
                    if any(taint["key"] == TAINT for taint in node["spec"].get("taints") or []):
                        self._link(client, node)
            except KubeError:
                # It may be coming up, or be replaced: the next look finds it.
                continue

    def _link(self, client, node):
        name, uid = node["metadata"]["name"], node["metadata"]["labels"].get(UUID)
        host = next((item for item in self._lab.kube.list(HOST, NAMESPACE)[0] if item["metadata"]["uid"] == uid), None)
        consumer = ((host or {}).get("spec") or {}).get("consumerRef")
        if not consumer:
            return
        provider_id = f"metal3://{NAMESPACE}/{host['metadata']['name']}/{consumer['name']}"
        client.patch(KNOWN["Node"], None, name, {"spec": {
            "providerID": provider_id, "taints": [taint for taint in node["spec"]["taints"] if taint["key"] != TAINT]}})
        self.linked[name] = provider_id
