# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a plane manages moves to another one and back, and comes out of a backup, by the real clusterctl.

Between API servers without controllers: the short form of what ``make test-pivot`` does with controllers, Ironics and
servers.
"""
from __future__ import annotations

import json
from pathlib import Path

import pyrage
import pytest
from fakes import move_planes

from ansible_collections.metal3.baremetal.plugins.module_utils._common.progress import Progress
from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.kinds import KNOWN
from ansible_collections.metal3.baremetal.plugins.module_utils._move.backup import service as backup_service
from ansible_collections.metal3.baremetal.plugins.module_utils._move.objects import clusterctl, copies
from ansible_collections.metal3.baremetal.plugins.module_utils._move.pauses import clusters as cluster_pauses
from ansible_collections.metal3.baremetal.plugins.module_utils._move.whole_plane.service import Move

NAMESPACE = "short"
HOSTS = 2
# What controllers write, who take no part.
STATUS = ("BareMetalHost", "Cluster", "Machine")


def move(servers, folder, source, target):
    params = {"namespace": NAMESPACE, "confirm": str(HOSTS), "clusterctl": move_planes.clusterctl(),
              "work_dir": str(folder), "kubeconfig": servers.kubeconfig(source), "context": None,
              "to_kubeconfig": servers.kubeconfig(target), "to_context": None, "rehearsal_programs": None,
              "rehearsal_operator": False,
              "reach_from": "none", "kubectl": None, "take_over": None, "former_ironic_deployment": "",
              "machine_ironic": {"ip": "", "dhcp_networks": []}, "ironic_config": None, "media_checks": [],
              "node_checks": [], "ironic_namespace": "",
              "ironic_deployment": ""}
    here, there = (move_planes.client(servers, name) for name in (source, target))
    return Move(here, there, params, False, Progress(None)).moved()


@pytest.fixture(scope="module")
def servers():
    with move_planes.planes() as found:
        yield found


def test_a_backup_comes_back_with_its_cluster_paused_until_all_is_there(servers, tmp_path):
    here, there = (move_planes.client(servers, name) for name in ("here", "there"))
    move_planes.populate(here, "saved", HOSTS)
    identity = pyrage.x25519.Identity.generate()
    (tmp_path / "identity.txt").write_text(f"{identity}\n")
    identity_file, paused = str(tmp_path / "identity.txt"), []
    made = backup_service.backed_up(here, {
        "namespace": "saved", "directory": str(tmp_path / "backups"), "recipients": [str(identity.to_public())],
        "identity_file": identity_file, "rehearsal_programs": None, "clusterctl": None, "keep": None}, False,
        Progress(None))

    def run(program, target, folder, *arguments):
        found = [json.loads(path.read_text()) for path in Path(folder).iterdir()]
        paused.extend(item["spec"]["paused"] for item in found if item["kind"] == "Cluster")
        clusterctl.restore(program, target, folder, *arguments)

    def restore():
        return backup_service.restored(there, {
            "path": made["path"], "identity_file": identity_file, "servers": [], "accept": made["hosts"],
            "sha256": None, "namespace": "saved", "kubeconfig": servers.kubeconfig("there"), "context": None,
            "clusterctl": move_planes.clusterctl(), "work_dir": str(tmp_path)}, False, Progress(None), run,
            lambda _objects: {})

    assert restore()["changed"] and paused == [True]
    before, after = (move_planes.objects(client, "saved") for client in (here, there))
    assert set(before) == set(after)
    cluster, = (item for (_group, kind, _name), item in after.items() if kind == "Cluster")
    assert not cluster["spec"].get("paused")
    assert cluster_pauses.RESTORING not in (cluster["metadata"].get("annotations") or {})
    assert not restore()["changed"] and paused == [True]


def test_all_objects_move_and_come_back_as_they_were(servers, tmp_path):
    here, there = (move_planes.client(servers, name) for name in ("here", "there"))
    total = move_planes.populate(here, NAMESPACE, HOSTS)
    before = move_planes.objects(here, NAMESPACE)
    assert move(servers, tmp_path, "here", "there")["changed"]
    assert move_planes.objects(here, NAMESPACE) == {} and len(move_planes.objects(there, NAMESPACE)) == total
    assert not move(servers, tmp_path, "here", "there")["changed"]
    for (_group, kind, name), item in before.items():
        if kind in STATUS:
            there.patch(KNOWN[kind], NAMESPACE, name, {"status": item["status"]}, subresource="status")
    assert move(servers, tmp_path, "there", "here")["changed"]
    after = move_planes.objects(here, NAMESPACE)
    assert set(after) == set(before) and move_planes.objects(there, NAMESPACE) == {}
    for key, item in before.items():
        assert copies.differences(item, after[key]) == ([], []), key
