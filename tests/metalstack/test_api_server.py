# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A cluster on metal-stack against a real etcd and kube-apiserver, without controllers: what is stored, what stays.

The CRDs of Cluster API and kubeadm's providers are upstream's, without their webhooks; those of metal-stack's provider
are written from its documented fields (``tests/lab/metalstack_provider.py``).
"""
from __future__ import annotations

import copy
from pathlib import Path

import control_plane
import metalstack_provider
import pytest
import yaml
from fakes.progress import Reports
from support import eventually

from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.service import ClusterService
from ansible_collections.metal3.baremetal.plugins.module_utils._common.files import user_folders
from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.errors import RefusedError
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.responses.errors import KubeError
from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.kinds import KNOWN, resource_for
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.process.engine import Engine

ROOT = Path(__file__).parents[2]
GOLDEN = ROOT / "tests" / "unit" / "cluster" / "golden"
PARAMS = dict(yaml.safe_load((GOLDEN / "metalstack.yml").read_text(encoding="utf-8")), namespace="metal3")
OBJECTS = list(yaml.safe_load_all((GOLDEN / "metalstack" / "objects.manifest").read_text(encoding="utf-8")))
OPTIONS = {"check_hosts": True, "check_network": False, "image_ca_file": None, "neighbours": [], "wait_for": "none",
           "wait_timeout_seconds": 60, "node_startup_timeout_seconds": 60, "prune": True, "confirm": None,
           "manifests": []}
CRD = KNOWN["CustomResourceDefinition"]


class Server(control_plane.ControlPlane):
    """An API server with the CRDs of Cluster API, kubeadm's providers and metal-stack's provider."""

    def __init__(self, engine_dir, work_dir):
        super().__init__(engine_dir, work_dir)
        self._manifests = Path(engine_dir) / "manifests-2"
        self._crds = self._manifests / "bmo.yaml"

    def serve(self):
        """Write the CRDs and wait until all of their kinds are served."""
        kube, found = self.client(), metalstack_provider.crds()
        for name in ("capi", "cabpk", "kcp"):
            for document in yaml.safe_load_all((self._manifests / f"{name}.yaml").read_text(encoding="utf-8")):
                if document and document["kind"] == CRD.kind:
                    # Nobody would answer it.
                    document["spec"].pop("conversion", None)
                    found.append(document)
        for crd in found:
            kube.apply(CRD, None, crd)
        for kind in sorted({item["kind"] for item in OBJECTS} | {"MetalStackMachine", "MachineSet", "Machine"}):
            self._until(lambda kind=kind: kube.list(KNOWN[kind], "metal3"), f"serving {kind}s")
        kube.create(KNOWN["Namespace"], None, {"metadata": {"name": "metal3"}})


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    control_plane.READY_SECONDS = 300
    engine = Engine(str(ROOT / "lab" / "engine"), user_folders.cache_dir())
    with Server(engine.directory, tmp_path_factory.mktemp("server")) as found:
        found.serve()
        yield found


def covers(stored, wanted):
    if isinstance(wanted, dict):
        # A controlPlane: {} says that there is one.
        return isinstance(stored, dict) and all(key in stored and covers(stored[key], value)
                                                for key, value in wanted.items())
    if isinstance(wanted, list):
        return isinstance(stored, list) and len(stored) == len(wanted) and all(map(covers, stored, wanted))
    return stored == wanted


@pytest.mark.parametrize("item", OBJECTS, ids=lambda item: f"{item['kind']}-{item['metadata']['name']}")
def test_what_is_rendered_is_stored_whole(server, item):
    stored = server.client().apply(resource_for(item["apiVersion"], item["kind"]), "metal3", item, dry_run=True)
    assert covers(stored["spec"], item["spec"])


def test_what_the_provider_requires_is_required(server):
    cluster = copy.deepcopy(next(item for item in OBJECTS if item["kind"] == "MetalStackCluster"))
    del cluster["spec"]["projectID"]
    with pytest.raises(KubeError, match="projectID"):
        server.client().apply(KNOWN["MetalStackCluster"], "metal3", cluster, dry_run=True)


def service(server, check_mode=False, confirm=None, **changes):
    return ClusterService(server.client(), dict(copy.deepcopy(PARAMS), **changes), dict(OPTIONS, confirm=confirm),
                          check_mode, Reports())


def test_a_cluster_is_created_changed_and_deleted(server):
    assert len(service(server, check_mode=True).present()["objects"]) == len(OBJECTS)
    assert server.client().list(KNOWN["Cluster"], "metal3")[0] == []
    first = service(server).present()
    assert [(item["kind"], item["name"]) for item in first["objects"]] == [
        (item["kind"], item["metadata"]["name"]) for item in OBJECTS]
    assert "├─ MetalStackFirewallDeployment prod" in first["tree"]
    again = service(server).present()
    assert (again["changed"], again["objects"], again["diff"]) == (False, [], [])

    # The provider writes into what was not described, which stays.
    firewall = KNOWN["MetalStackFirewallDeployment"]
    server.client().patch(firewall, "metal3", "prod", {"spec": {"managedResourceRef": {"name": "metal://fra-1/x"}}})
    about = copy.deepcopy(PARAMS["metalstack"])
    about["firewall"]["size"] = "n1-large-x86"
    changed = service(server, metalstack=about).present()
    assert [item["kind"] for item in changed["objects"]] == ["MetalStackFirewallTemplate"]
    assert any("does not change a firewall that is there" in line for line in changed["warnings"])
    assert server.client().get(firewall, "metal3", "prod")["spec"]["managedResourceRef"]

    workers = copy.deepcopy(PARAMS["workers"])
    workers["pool-a"]["metalstack_size"] = "c1-xlarge-x86"
    rolled = service(server, metalstack=about, workers=workers).present()
    assert [change["reasons"] for change in rolled["changes"]] == [["workers.pool-a.metalstack_size"]]
    assert len(rolled["collected"]) == 1

    with pytest.raises(RefusedError, match="the cluster's name"):
        service(server).absent()
    assert service(server, confirm="prod").absent()["changed"]
    eventually(lambda: not service(server, confirm="prod").absent()["changed"], 60, "nothing is left to delete", 1)
    # No garbage collector runs: what the Cluster would take along is there, what nothing takes is gone.
    assert server.client().list(KNOWN["MetalStackMachineTemplate"], "metal3")[0] == []
