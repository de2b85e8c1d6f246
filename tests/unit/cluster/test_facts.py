# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What lies outside of a cluster's namespace, for users who may read it and for those who may not."""
from __future__ import annotations

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.checks import facts as cluster_facts
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.workflow.snapshot import Snapshot
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.responses.errors import KubeError

OWN = {"metadata": {"name": "c2", "namespace": "metal3"}}
ELSEWHERE = {"metadata": {"name": "c3", "namespace": "other"}}
OBJECTS = {"BareMetalHost": [], "HardwareData": [], "IPPool": [], "IPClaim": [], "IPAddressClaim": [],
           "Metal3Cluster": [OWN]}


class Client:
    """An API server that refuses some kinds."""

    server = "https://198.18.0.1:6443"

    def __init__(self, status, *refused):
        self.status, self.refused = status, refused

    def _answer(self, kind, value):
        if kind in self.refused:
            raise KubeError(f"{kind}: forbidden", self.status)
        return value

    def list(self, resource, _namespace=None, _label_selector=None):
        return self._answer(resource.kind, [OWN, ELSEWHERE] if resource.kind == "Metal3Cluster" else [
            {"metadata": {"name": "cluster-api"}, "version": "v1.13.5"}]), "1"

    def get(self, resource, _namespace, name):
        return self._answer(resource.kind, {"metadata": {"name": name}, "spec": {"versions": [
            {"name": "v1beta1", "served": False}, {"name": "v1beta2", "served": True}]}})


def read(client):
    own = cluster_facts.facts_of_namespace(OBJECTS, [], Snapshot({}, "c1"))
    return cluster_facts.with_the_rest(client, own, "cluster metal3/c1")


def test_who_may_read_all_gets_no_warning():
    facts, warnings = read(Client(403))
    assert warnings == [] and facts.clusters == [OWN, ELSEWHERE]
    assert facts.providers == {"cluster-api": "v1.13.5"}
    assert facts.served["clusters.cluster.x-k8s.io"] == ["v1beta2"]


@pytest.mark.parametrize("kind, words", [
    ("Metal3Cluster", "the endpoint is not compared with those of clusters in other namespaces: Metal3Cluster: "
     "forbidden; allow it by a ClusterRole and ClusterRoleBinding with the verb list on metal3clusters"),
    ("Provider", "the versions of Kubernetes, Cluster API and CAPM3 are not compared: Provider: forbidden; allow it"),
    ("CustomResourceDefinition", "the verb get on customresourcedefinitions in the API group apiextensions.k8s.io"),
])
def test_rights_in_one_namespace_are_enough_and_what_is_not_checked_is_reported(kind, words):
    facts, warnings = read(Client(403, kind))
    assert len(warnings) == 1 and warnings[0].startswith("cluster metal3/c1: ") and words in warnings[0], warnings
    unseen = {"Metal3Cluster": facts.clusters == [OWN], "Provider": facts.providers == {},
              "CustomResourceDefinition": facts.served is None}
    assert [name for name, missing in unseen.items() if missing] == [kind]


def test_other_failures_are_failures():
    with pytest.raises(KubeError):
        read(Client(500, "Metal3Cluster"))
    assert read(Client(404, "Provider"))[0].providers == {}
