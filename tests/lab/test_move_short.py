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
from fakes import move_planes, moves

from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.errors import ReportedError
from ansible_collections.metal3.baremetal.plugins.module_utils._common.waiting.progress import Progress
from ansible_collections.metal3.baremetal.plugins.module_utils._host.description import annotations as host_annotations
from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.kinds import KNOWN
from ansible_collections.metal3.baremetal.plugins.module_utils._move.backup import service as backup_service
from ansible_collections.metal3.baremetal.plugins.module_utils._move.checks import rules as checks
from ansible_collections.metal3.baremetal.plugins.module_utils._move.objects import clusterctl, copies, record
from ansible_collections.metal3.baremetal.plugins.module_utils._move.pauses import clusters as cluster_pauses
from ansible_collections.metal3.baremetal.plugins.module_utils._move.whole_plane.journal import Journal
from ansible_collections.metal3.baremetal.plugins.module_utils._move.whole_plane.service import Move

NAMESPACE = "short"
HOSTS = 2
# What controllers write, who take no part.
STATUS = ("BareMetalHost", "Cluster", "Machine")


def move(servers, folder, source, target, namespace=NAMESPACE, run=clusterctl.move, accept=()):
    # Hosts of other namespaces keep their Ironic.
    params = moves.move_params(
        namespace=namespace, confirm=str(HOSTS), clusterctl=move_planes.clusterctl(), work_dir=str(folder),
        kubeconfig=servers.kubeconfig(source), to_kubeconfig=servers.kubeconfig(target), accept=list(accept),
        former_ironic_mode="external", ironic_namespace="", ironic_deployment="")
    here, there = (move_planes.client(servers, name) for name in (source, target))
    journal = Journal(str(folder / "moves"), (here.server, there.server), namespace, lambda _line: None)
    return Move(here, there, params, False, Progress(None), run=run, journal=journal).moved()


@pytest.fixture(scope="module")
def servers():
    with move_planes.planes() as found:
        yield found


def test_a_backup_comes_back_with_its_cluster_paused_until_all_is_there(servers, tmp_path):
    here, there = (move_planes.client(servers, name) for name in ("here", "there"))
    move_planes.populate(here, "saved", HOSTS)
    # Secrets that clusterctl leaves behind: that of a BMC whose host does not own it, or owns it with somebody else,
    # and one of user data.
    owners = here.get(KNOWN["Secret"], "saved", "host-001-bmc")["metadata"]["ownerReferences"]
    here.patch(KNOWN["Secret"], "saved", "host-000-bmc", {"metadata": {"ownerReferences": None}})
    here.patch(KNOWN["Secret"], "saved", "host-001-bmc", {"metadata": {"ownerReferences": [*owners, {
        "apiVersion": "external-secrets.io/v1", "kind": "ExternalSecret", "name": "x", "uid": "x"}]}})
    here.create(KNOWN["Secret"], "saved", {"apiVersion": "v1", "kind": "Secret", "metadata": {
        "name": "user-data", "namespace": "saved"}, "data": {"userData": move_planes.PASSWORD}})
    here.patch(KNOWN["BareMetalHost"], "saved", "host-000", {"spec": {"userData": {"name": "user-data"}}})
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
    assert set(before) == set(after) and ("", "Secret", "user-data") in after
    secrets = dict((name, item) for (_group, kind, name), item in after.items() if kind == "Secret")
    assert secrets["user-data"]["data"] == {"userData": move_planes.PASSWORD}
    assert [owner["kind"] for owner in secrets["host-001-bmc"]["metadata"]["ownerReferences"]] == ["BareMetalHost"]
    cluster, = (item for (_group, kind, _name), item in after.items() if kind == "Cluster")
    assert not cluster["spec"].get("paused")
    assert cluster_pauses.RESTORING not in (cluster["metadata"].get("annotations") or {})
    assert not restore()["changed"] and paused == [True]


def test_all_objects_move_and_come_back_as_they_were(servers, tmp_path):
    here, there = (move_planes.client(servers, name) for name in ("here", "there"))
    # Other servers than those that the test above has restored over there.
    total = move_planes.populate(here, NAMESPACE, HOSTS, first=HOSTS)
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


def test_what_is_lost_on_the_way_is_named_and_the_hosts_stay_held(servers, tmp_path):
    """Something over there takes a field from a Secret while clusterctl moves, as a webhook does."""
    here, there = (move_planes.client(servers, name) for name in ("here", "there"))
    namespace, lost = "spoilt", "host-100-bmc"
    move_planes.populate(here, namespace, HOSTS, first=100)
    before = move_planes.objects(here, namespace)

    def run(*arguments):
        clusterctl.move(*arguments)
        there.patch(KNOWN["Secret"], namespace, lost, {"data": {"password": None}})

    def again(*_arguments):
        raise AssertionError("clusterctl has nothing to do any more")

    with pytest.raises(ReportedError, match=rf"Secret {lost}: found data.password \(lost\), over there") as reported:
        move(servers, tmp_path, "here", "there", namespace, run)
    assert move_planes.PASSWORD not in str(reported.value) and "1 of 14 objects" in str(reported.value)
    # By the digest that the record has.
    with pytest.raises(ReportedError, match=rf"Secret {lost}: found another content than it had here"):
        move(servers, tmp_path, "here", "there", namespace, again)
    assert record.read(there.get(KNOWN["ConfigMap"], namespace, record.NAME)).state == record.MOVING
    for key, item in move_planes.objects(there, namespace).items():
        assert key[1] != "BareMetalHost" or host_annotations.of(item)[host_annotations.PAUSED] == checks.HELD
    there.patch(KNOWN["Secret"], namespace, lost, {"data": {"password": move_planes.PASSWORD}})
    assert move(servers, tmp_path, "here", "there", namespace, again)["warnings"] == []
    after = move_planes.objects(there, namespace)
    assert set(after) == set(before) and record.read(
        there.get(KNOWN["ConfigMap"], namespace, record.NAME)).state == record.MOVED
