# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Backups by the real age: written, read, changed by somebody; what would become of each host of one."""
from __future__ import annotations

import base64
import copy
import gzip
import json
import os
import subprocess
import time
from pathlib import Path

import pytest
from fakes.plane_server import definition
from fakes.planes import DEFINITIONS, GATE_IS_OFF, MOVE, NAMESPACE, STAY, classes, managed, obj, server

from ansible_collections.metal3.baremetal.plugins.module_utils._backup import age, files
from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.errors import RefusedError
from ansible_collections.metal3.baremetal.plugins.module_utils._common.texts.formats import moment
from ansible_collections.metal3.baremetal.plugins.module_utils._common.waiting.progress import Progress
from ansible_collections.metal3.baremetal.plugins.module_utils._host.description.annotations import (
    DETACHED,
    FOR_MOVE,
    FOR_RESTORE,
    PAUSED,
    PAUSED_BY_CAPM3,
    STATUS,
)
from ansible_collections.metal3.baremetal.plugins.module_utils._host.rotation import claim
from ansible_collections.metal3.baremetal.plugins.module_utils._host.state import handed_over
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.responses.errors import KubeError
from ansible_collections.metal3.baremetal.plugins.module_utils._move.backup import archive, verdicts
from ansible_collections.metal3.baremetal.plugins.module_utils._move.backup import service as backup_service
from ansible_collections.metal3.baremetal.plugins.module_utils._move.nodes import now as nodes_now
from ansible_collections.metal3.baremetal.plugins.module_utils._move.nodes.since import Member, NodeNow, since
from ansible_collections.metal3.baremetal.plugins.module_utils._move.objects import graph, record
from ansible_collections.metal3.baremetal.plugins.module_utils._move.pauses import clusters as cluster_pauses
from ansible_collections.metal3.baremetal.plugins.module_utils._move.rehearsal import service as rehearsal

IMAGE = {"url": "https://images.example/a.qcow2", "checksum": "https://images.example/a.sha256"}
OTHER = dict(IMAGE, url="https://images.example/b.qcow2")
# The Nodes of the fixture's cluster, as they were.
SAME_NODES = {"c": {"m": NodeNow("2026-11-01T00:00:00Z")}}
pytestmark = pytest.mark.usefixtures("complete_plane")


@pytest.fixture(scope="module")
def identity(tmp_path_factory):
    path = tmp_path_factory.mktemp("age") / "identity.txt"
    subprocess.run(["age-keygen", "-o", str(path)], check=True, capture_output=True)
    return str(path)


@pytest.fixture
def recipient(identity):
    return next(line.rpartition(" ")[2] for line in Path(identity).read_text().splitlines() if "public key" in line)


def back_up(here, folder, recipient, identity=None, check_mode=False, rehearse=None, keep=None,
            now=1795000000):
    return backup_service.backed_up(here, {
        "namespace": NAMESPACE, "directory": str(folder), "recipients": [recipient], "identity_file": identity,
        "rehearsal_programs": "/programs" if rehearse else None, "clusterctl": "/clusterctl",
        "keep": keep}, check_mode, Progress(None), now and (lambda: now), rehearse)


def test_a_backup_has_the_time_of_its_cluster(here, tmp_path, recipient):
    """A restore takes a Node that has joined later for another system; nodes have the cluster's time."""
    here.ahead_seconds = -3600.0
    taken = moment(back_up(here, tmp_path, recipient, now=None)["taken_at"])
    assert abs(taken - time.time() + 3600) < 60


class Killed(Exception):
    """What a kill is to those who call."""


class Clusterctl:
    """Creates what is not there, and resumes all Clusters in the end, as ``clusterctl move --from-directory`` does.

    :param killed_at: before which object it is killed
    """

    def __init__(self, there, killed_at=None):
        self.there, self.modes, self.killed_at = there, set(), killed_at

    def __call__(self, _program, _target, folder, *_arguments):
        self.modes.add(os.stat(folder).st_mode & 0o777)
        clusters = []
        for number, path in enumerate(sorted(Path(folder).iterdir())):
            if number == self.killed_at:
                raise Killed
            self.modes.add(path.stat().st_mode & 0o777)
            obj = json.loads(path.read_text())
            obj.pop("status", None)
            stored = self.there.objects.setdefault((obj["kind"], obj["metadata"]["name"]), obj)
            if obj["kind"] == "Cluster":
                assert stored is not obj or obj["spec"]["paused"], "Cluster API would make other machines"
                clusters.append(stored)
        if self.killed_at is not None:
            raise Killed
        for cluster in clusters:
            cluster["spec"]["paused"] = False


def restore(there, path, identity, run=None, check_mode=False, servers=(), accept=(), nodes=None, sha256=None,
            namespace=NAMESPACE):
    nodes = SAME_NODES if nodes is None else nodes
    return backup_service.restored(there, {
        "namespace": namespace,
        "path": path, "identity_file": identity, "servers": list(servers), "accept": list(accept), "sha256": sha256,
        "kubeconfig": "there", "context": None, "clusterctl": "clusterctl", "work_dir": "work"}, check_mode,
        Progress(None), run or Clusterctl(there), nodes if callable(nodes) else lambda _objects: nodes)


@pytest.mark.parametrize("check_mode", [False, True])
def test_half_of_a_move_is_not_backed_up_in_place_of_the_whole(here, tmp_path, recipient, check_mode):
    made = back_up(here, tmp_path, recipient, keep=1)
    here.objects["ConfigMap", record.NAME] = record.config_map(
        record.Record(record.MOVING, "a-kube-system", "b-kube-system", (), {}, {}), NAMESPACE)
    here.objects["ConfigMap", record.NAME]["metadata"].update(uid="u", resourceVersion="1")
    del here.objects["BareMetalHost", "free"]
    with pytest.raises(RefusedError, match="the record of a move that has not ended"):
        back_up(here, tmp_path, recipient, keep=1, now=1795000060, check_mode=check_mode)
    assert [str(path) for path in tmp_path.glob("*.age")] == [made["path"]]


def test_a_backup_comes_back_with_its_hosts_held(here, tmp_path, recipient, identity):
    before = copy.deepcopy(here.objects)
    made = back_up(here, tmp_path / "backups", recipient, identity)
    assert made["verified"] and made["hosts"] == ["free", "used"]
    assert os.stat(made["path"]).st_mode & 0o777 == 0o600 and b"metal3.io" not in Path(made["path"]).read_bytes()
    assert here.objects == before
    there = server("b", "https://198.18.0.2:6443")
    clusterctl = Clusterctl(there)
    # The backup of the fixture has hosts that are provisioned without an image.
    result = restore(there, made["path"], identity, clusterctl, accept=["used"])
    assert result["changed"] and clusterctl.modes == {0o700, 0o600}
    assert managed(there) == managed(here) - STAY
    for name in ("used", "free"):
        annotations = there.objects["BareMetalHost", name]["metadata"]["annotations"]
        assert annotations[PAUSED] == FOR_RESTORE
        assert json.loads(annotations[STATUS])["provisioning"]["ID"] == f"node-{name}"
    assert restore(there, made["path"], identity, accept=["used"])["changed"] is False


def test_secrets_that_hosts_and_nodes_name_are_in_a_backup_whoever_owns_them(here, tmp_path, recipient, identity):
    """One without the Secret of a BMC is no backup."""
    here.logs_in = False
    kind = definition("bootstrap.cluster.x-k8s.io", "kubeadmconfigtemplates", "KubeadmConfigTemplate", "v1beta2")
    kind["metadata"]["labels"] = MOVE
    there = server("b", "https://198.18.0.2:6443")
    for side in (here, there):
        kind["spec"].update(scope="Namespaced", versions=[{"name": "v1beta2", "served": True, "storage": True}])
        side.objects["CustomResourceDefinition", "kubeadmconfigtemplates.bootstrap.cluster.x-k8s.io"] = kind
    here.objects["KubeadmConfigTemplate", "c"] = obj(
        "bootstrap.cluster.x-k8s.io/v1beta2", "KubeadmConfigTemplate", "c", ("Cluster", "c"),
        spec={"template": {"spec": {
            "files": [{"path": "/a", "content": "b"}, {"path": "/b", "contentFrom": {"secret": {"name": "file"}}}],
            "users": [{"name": "u", "passwdFrom": {"secret": {"name": "login"}}}]}}})
    named = {"bmc-of-free": ("credentialsName",), "user-data": ("userData",), "file": (), "login": ()}
    for name in named:
        here.objects["Secret", name] = obj("v1", "Secret", name, data={"value": "c2VjcmV0"})
    here.objects["Secret", "bmc-of-free"]["metadata"]["ownerReferences"] = [
        {"kind": "BareMetalHost", "name": "free", "uid": "uid-BareMetalHost-free"},
        {"kind": "ExternalSecret", "name": "free", "uid": "uid-ExternalSecret-free"}]
    here.objects["BareMetalHost", "free"]["spec"]["bmc"]["credentialsName"] = "bmc-of-free"
    here.objects["BareMetalHost", "used"]["spec"].update(
        userData={"name": "user-data"}, metaData={"name": "user-data"},
        bmc={"address": "ipmi://192.0.2.1", "credentialsName": "not-there"})
    before = copy.deepcopy(here.objects)
    made = back_up(here, tmp_path, recipient, identity)
    assert here.objects == before and made["objects"]["Secret"] == 3 + len(named)
    assert {f"Secret {name}" for name in named} <= set(made["contents"]) and "Secret unrelated" not in made["contents"]
    (warning,) = made["warnings"]
    assert warning.startswith("BareMetalHost used: spec.bmc.credentialsName: Secret not-there is not there, and not in")
    assert restore(there, made["path"], identity, accept=["used"])["changed"]
    # clusterctl takes none without an owner or this label, and none with an owner that is not among the rest.
    taken = graph.Graph(
        [item for item in there.objects.values() if item["metadata"].get("namespace") == NAMESPACE],
        graph.kinds([item for (of, _name), item in there.objects.items() if of == "CustomResourceDefinition"]))
    assert set(named) <= {item["metadata"]["name"] for item in taken.moved}
    assert there.objects["Secret", "bmc-of-free"]["data"] == {"value": "c2VjcmV0"}


def test_a_password_that_is_being_replaced_is_said_to_be_in_no_backup(here, tmp_path, recipient):
    """The claim of the rotation, which alone has it, is none of the hosts' Secrets."""
    found = claim.claim("free-bmc", NAMESPACE, "new-password", "node:/locks")
    found["metadata"].update(uid="claim", resourceVersion="1")
    here.objects["Secret", "free-bmc-rotation"] = found
    made = back_up(here, tmp_path, recipient)
    assert any("Secret free-bmc-rotation: a rotation of a BMC's password that has not ended; the backup has" in text
               for text in made["warnings"]) and "new-password" not in str(made)
    del here.objects["Secret", "free-bmc-rotation"]
    assert back_up(here, tmp_path, recipient, now=1795000060)["warnings"] == []


def test_hosts_of_other_namespaces_are_said_to_be_in_no_backup(here, tmp_path, recipient, monkeypatch):
    other = obj("metal3.io/v1alpha1", "BareMetalHost", "apart", spec={})
    other["metadata"]["namespace"] = "rack2"
    here.objects["BareMetalHost", "apart"] = other
    made = back_up(here, tmp_path, recipient)
    assert made["hosts"] == ["free", "used"] and made["warnings"] == [
        "1 hosts in other namespaces are not in this backup (rack2/apart): back up each namespace"]
    listed = here.list

    def forbidden(resource, namespace=None, *more):
        if resource.kind == "BareMetalHost" and namespace is None:
            raise KubeError("baremetalhosts.metal3.io is forbidden", 403)
        return listed(resource, namespace, *more)

    monkeypatch.setattr(here, "list", forbidden)
    (warning,) = back_up(here, tmp_path, recipient, check_mode=True, now=1795000001)["warnings"]
    assert warning.startswith("hosts of other namespaces than metal3 were not looked for at https://198.18.0.1:6443")


@pytest.mark.parametrize("pause", ["", "my reason"])
def test_a_host_that_somebody_had_paused_stays_so(here, tmp_path, recipient, identity, pause):
    here.objects["BareMetalHost", "free"]["metadata"]["annotations"][PAUSED] = pause
    made = back_up(here, tmp_path, recipient, identity)
    there = server("b", "https://198.18.0.2:6443")
    result = restore(there, made["path"], identity, accept=["used"])
    assert result["to_release"] == ["used"]
    assert dict((item["name"], item["stays_paused"]) for item in result["verdicts"]) == {"free": True, "used": False}
    annotations = there.objects["BareMetalHost", "free"]["metadata"]["annotations"]
    assert annotations[PAUSED] == pause and json.loads(annotations[STATUS])["provisioning"]["ID"] == "node-free"
    # Nor does the next run release it.
    again = restore(there, made["path"], identity, accept=["used"])
    assert not again["changed"] and again["to_release"] == ["used"]


@pytest.mark.parametrize("pause", [FOR_MOVE, PAUSED_BY_CAPM3, ["no text"]])
def test_a_pause_of_capm3_or_of_a_move_is_not_restored(here, tmp_path, recipient, identity, pause):
    here.objects["BareMetalHost", "free"]["metadata"]["annotations"][PAUSED] = pause
    made = back_up(here, tmp_path, recipient, identity)
    there = server("b", "https://198.18.0.2:6443")
    assert restore(there, made["path"], identity, accept=["used"])["to_release"] == ["free", "used"]
    assert there.objects["BareMetalHost", "free"]["metadata"]["annotations"][PAUSED] == FOR_RESTORE


@pytest.mark.parametrize("flashed", [True, False])
def test_no_firmware_is_flashed_because_a_restore_brings_no_status(here, tmp_path, recipient, identity, flashed):
    """The operator would flash what the backup asks for, maybe older than what the server has by now."""
    updates = [{"component": "bios", "url": "http://192.0.2.1/b"}]
    kind = definition("metal3.io", "hostfirmwarecomponents", "HostFirmwareComponents", "v1alpha1")
    kind["metadata"]["labels"] = MOVE
    here.objects["CustomResourceDefinition", "hostfirmwarecomponents.metal3.io"] = kind
    firmware = obj("metal3.io/v1alpha1", "HostFirmwareComponents", "free", ("BareMetalHost", "free"),
                   spec={"updates": updates}, status={"updates": updates if flashed else []})
    here.objects["HostFirmwareComponents", "free"] = firmware
    made = back_up(here, tmp_path, recipient, identity)
    there = server("b", "https://198.18.0.2:6443")
    there.objects["CustomResourceDefinition", "hostfirmwarecomponents.metal3.io"] = kind
    result = restore(there, made["path"], identity, accept=["used"])
    assert there.objects["HostFirmwareComponents", "free"]["spec"] == {"updates": []}
    assert "HostFirmwareComponents free: its 1 updates are left out" in "".join(result["warnings"])
    assert restore(there, made["path"], identity, accept=["used"])["warnings"] == []


def test_a_remediation_is_not_restored_since_it_would_begin_again_with_a_reboot(here, tmp_path, recipient, identity):
    kind = definition("infrastructure.cluster.x-k8s.io", "metal3remediations", "Metal3Remediation", "v1beta1")
    kind["metadata"]["labels"] = MOVE
    there = server("b", "https://198.18.0.2:6443")
    for side in (here, there):
        side.objects["CustomResourceDefinition", "metal3remediations.infrastructure.cluster.x-k8s.io"] = kind
    here.objects["Metal3Remediation", "m"] = obj(
        "infrastructure.cluster.x-k8s.io/v1beta1", "Metal3Remediation", "m", ("Machine", "m"))
    made = back_up(here, tmp_path, recipient, identity)
    assert made["objects"]["Metal3Remediation"] == 1
    result = restore(there, made["path"], identity, accept=["used"])
    assert result["changed"] and "Metal3Remediation" not in result["objects"]
    assert ("Metal3Remediation", "m") not in there.objects and ("Machine", "m") in there.objects
    assert "Metal3Remediation m: left out" in "".join(result["warnings"])
    assert not restore(there, made["path"], identity, accept=["used"])["changed"]


def restored_cluster(there):
    cluster = there.objects["Cluster", "c"]
    assert cluster_pauses.RESTORING not in (cluster["metadata"].get("annotations") or {})
    return cluster


@pytest.mark.parametrize("paused", [False, True])
def test_a_cluster_is_paused_until_all_of_it_is_there(here, tmp_path, recipient, identity, paused):
    here.objects["Cluster", "c"]["spec"]["paused"] = paused
    made = back_up(here, tmp_path, recipient)
    count = sum(back_up(here, tmp_path, recipient, now=1795000001)["objects"].values())
    # Killed before the first, in the middle, and when clusterctl was about to resume it.
    for number in (0, 1, count // 2, count):
        there = server("b", "https://198.18.0.2:6443")
        with pytest.raises(Killed):
            restore(there, made["path"], identity, Clusterctl(there, number), accept=["used"])
        cluster = there.objects.get(("Cluster", "c"))
        assert cluster is None or cluster["spec"]["paused"] is True
        planned = restore(there, made["path"], identity, check_mode=True)
        assert planned["due"] and planned["changed"]
        assert restore(there, made["path"], identity, accept=["used"])["changed"]
        assert bool(restored_cluster(there)["spec"].get("paused")) is paused
        assert restore(there, made["path"], identity, accept=["used"])["changed"] is False


def test_a_cluster_that_somebody_has_paused_in_the_plane_stays_so(here, tmp_path, recipient, identity):
    made = back_up(here, tmp_path, recipient)
    here.objects["Cluster", "c"]["spec"]["paused"] = True
    del here.objects["BareMetalHost", "free"]
    with pytest.raises(Killed):
        restore(here, made["path"], identity, Clusterctl(here, 0))
    assert restore(here, made["path"], identity)["changed"]
    assert restored_cluster(here)["spec"]["paused"] is True


def test_check_mode_writes_nothing(here, tmp_path, recipient, identity):
    assert back_up(here, tmp_path / "none", recipient, check_mode=True)["changed"]
    assert not (tmp_path / "none").exists()
    made = back_up(here, tmp_path, recipient)
    there = server("b", "https://198.18.0.2:6443")
    result = restore(there, made["path"], identity, check_mode=True)
    assert result["changed"] and managed(there) == set()
    assert ["BareMetalHost used" in warning for warning in result["warnings"]] == [True]


def test_a_host_that_would_lose_something_must_be_named(here, tmp_path, recipient, identity):
    made = back_up(here, tmp_path, recipient)
    there = server("b", "https://198.18.0.2:6443")
    with pytest.raises(RefusedError, match=r"its server would be wiped: an image is deployed, and none is wanted"):
        restore(there, made["path"], identity)
    assert managed(there) == set()


def test_a_backup_that_was_changed_or_is_for_somebody_else_is_refused(here, tmp_path, recipient, identity):
    made = back_up(here, tmp_path, recipient)
    content = bytearray(Path(made["path"]).read_bytes())
    content[-20] ^= 1
    Path(made["path"]).write_bytes(bytes(content))
    there = server("b", "https://198.18.0.2:6443")
    with pytest.raises(age.AgeError, match="the backup as it was written"):
        restore(there, made["path"], identity)
    subprocess.run(["age-keygen", "-o", str(tmp_path / "other")], check=True, capture_output=True)
    made = back_up(here, tmp_path, recipient)
    with pytest.raises(age.AgeError, match="secret key of one of its recipients"):
        restore(there, made["path"], str(tmp_path / "other"))
    with pytest.raises(RefusedError, match="a backup of plane_backup"):
        restore(there, str(tmp_path / "absent"), identity)


def test_what_clusterctl_would_leave_behind_is_not_left_out_of_a_backup(here, tmp_path, recipient):
    del here.objects["CustomResourceDefinition", "hostfirmwaresettings.metal3.io"]["metadata"]["labels"]
    with pytest.raises(RefusedError, match="HostFirmwareSettings"):
        back_up(here, tmp_path, recipient)
    assert not list(tmp_path.iterdir())


def forged(recipient, folder, *objects, namespace=NAMESPACE):
    """Return the path of a backup that somebody has written who knows the public key alone."""
    made = [{"apiVersion": version, "kind": kind, "metadata": {"name": "x", "uid": "u", "namespace": namespace}}
            for version, kind in objects]
    path = folder / "forged.age"
    path.write_bytes(age.encrypt(archive.packed(archive.Backup("t", "s", "p", namespace, made)), [recipient]))
    return str(path)


@pytest.mark.parametrize("version, kind", [
    ("v1", "Pod"), ("v1", "ServiceAccount"), ("v1", "Node"), ("other.example/v1", "Application")])
def test_a_backup_with_what_no_backup_takes_creates_nothing(tmp_path, recipient, identity, version, kind):
    there = server("b", "https://198.18.0.2:6443")
    known = definition("other.example", "applications", "Application", "v1")
    known["spec"].update(scope="Namespaced", versions=[{"name": "v1", "served": True, "storage": True}])
    there.objects["CustomResourceDefinition", known["metadata"]["name"]] = known
    before = managed(there)
    path = forged(recipient, tmp_path, ("v1", "Secret"), (version, kind))
    with pytest.raises(RefusedError, match=rf"kind {kind}.*: found objects of it, .*find out who has written it"):
        restore(there, path, identity)
    assert managed(there) == before


def test_a_class_that_the_plane_refuses_is_named_before_anything_is_restored(here, tmp_path, recipient, identity):
    there = server("b", "https://198.18.0.2:6443")
    asked = classes(here, there, GATE_IS_OFF)
    path, before = back_up(here, tmp_path, recipient)["path"], copy.deepcopy(there.objects)
    with pytest.raises(RefusedError, match=r"ClusterClass fast: .* set capi_cluster_topology: true for that plane"):
        restore(there, path, identity, run=None, accept=["used"])
    assert there.objects == before and len(asked) == 1


def test_a_backup_for_a_namespace_of_kubernetes_creates_nothing(tmp_path, recipient, identity):
    there = server("b", "https://198.18.0.2:6443")
    path = forged(recipient, tmp_path, ("v1", "Secret"), namespace="kube-system")
    with pytest.raises(RefusedError, match="namespace kube-system: found one of Kubernetes itself"):
        restore(there, path, identity, namespace="kube-system")
    assert managed(there) == set()


@pytest.mark.parametrize("namespace", ["", "..", "metal3/secrets"])
def test_a_backup_of_all_namespaces_is_none(tmp_path, recipient, identity, namespace):
    # An empty one would stand for all: hosts of the same names would be looked at, and released, in each.
    there = server("b", "https://198.18.0.2:6443")
    path = forged(recipient, tmp_path, ("v1", "Secret"), namespace=namespace)
    with pytest.raises(RefusedError, match="found entries that are no objects of one namespace"):
        restore(there, path, identity, check_mode=True)
    assert managed(there) == set()


def test_a_backup_whose_kinds_steer_a_terminal_is_none(tmp_path, recipient, identity):
    """The role restore prints how many objects of each it would create."""
    path = forged(recipient, tmp_path, ("v1", "Se\x9b2Jcret"))
    with pytest.raises(RefusedError, match="found entries that are no objects of one namespace"):
        restore(server("b", "https://198.18.0.2:6443"), path, identity, check_mode=True)


def test_what_is_restored_is_the_file_that_was_looked_at(here, tmp_path, recipient, identity):
    made = back_up(here, tmp_path, recipient)
    there = server("b", "https://198.18.0.2:6443")
    planned = restore(there, made["path"], identity, check_mode=True)
    assert planned["sha256"] == made["sha256"]
    Path(made["path"]).write_bytes(Path(forged(recipient, tmp_path, ("v1", "Secret"))).read_bytes())
    with pytest.raises(RefusedError, match="find out who has changed the file since it was looked at"):
        restore(there, made["path"], identity, sha256=planned["sha256"], accept=["used"])
    assert managed(there) == set()


def test_a_checksum_is_the_same_in_capitals(here, tmp_path, recipient, identity):
    made = back_up(here, tmp_path, recipient)
    planned = restore(server("b", "https://198.18.0.2:6443"), made["path"], identity, check_mode=True,
                      sha256=f"{made['sha256'].upper()} ")
    assert planned["due"] and planned["sha256"] == made["sha256"]


@pytest.mark.parametrize("check_mode", [False, True])
def test_a_file_with_another_checksum_than_the_given_one_is_refused(here, tmp_path, recipient, identity, check_mode):
    """Anybody can encrypt for the public key: what came from elsewhere is known by what the backup had printed."""
    made = back_up(here, tmp_path, recipient)
    there = server("b", "https://198.18.0.2:6443")
    wanted = "sha256:" + "0a" * 32
    with pytest.raises(RefusedError, match=f"sha256: found {made['sha256']}, expected {'0a' * 32}; find out"):
        restore(there, made["path"], identity, sha256=wanted, accept=["used"], check_mode=check_mode)
    assert managed(there) == set()
    planned = restore(there, made["path"], identity, sha256=f"sha256:{made['sha256']}", check_mode=True)
    assert planned["due"] and planned["sha256"] == made["sha256"]


@pytest.mark.parametrize("given", ["sha256:", "sha512:" + "0a" * 64, "0a" * 31, " ", f"{'0a' * 32}  metal3.age"])
def test_a_checksum_that_is_none_is_not_said_to_be_another_files(tmp_path, identity, given):
    with pytest.raises(RefusedError, match="expected 64 hexadecimal digits, with or without sha256: before them; copy"):
        restore(server("b", "https://198.18.0.2:6443"), str(tmp_path / "absent"), identity, sha256=given)


@pytest.mark.parametrize("kind", ["older backup", "pipe", "link"])
@pytest.mark.parametrize("key", [True, False], ids=["with the key", "without it"])
def test_a_backup_that_is_exchanged_when_it_is_written_is_none(here, tmp_path, recipient, identity, monkeypatch, kind,
                                                               key):
    """Its checksum would be the one that a restore is confirmed by, and older ones would go for it."""
    old = Path(back_up(here, tmp_path, recipient)["path"])
    write = backup_service.whole_file.write

    def exchanged(path, *arguments):
        found = write(path, *arguments)
        if path.endswith(".age"):
            os.unlink(path)
            if kind == "pipe":
                os.mkfifo(path)
            elif kind == "link":
                os.symlink(old, path)
            else:
                Path(path).write_bytes(old.read_bytes())
        return found

    monkeypatch.setattr(backup_service.whole_file, "write", exchanged)
    with pytest.raises(RefusedError, match="expected what was written; look at the disk, and who writes"):
        back_up(here, tmp_path, recipient, identity if key else None, keep=1, now=1795000000 + 86400)
    assert old.exists()


def test_a_pipe_in_the_place_of_a_backup_keeps_no_run_waiting(identity, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(RefusedError, match="no regular file"):
        restore(server("b", "https://198.18.0.2:6443"), str(tmp_path / "pipe"), identity)


@pytest.mark.parametrize("key", [True, False], ids=["with the key", "without it"])
def test_a_backup_is_restored_into_an_api_server_that_lives_for_its_time(here, tmp_path, recipient, identity, key):
    calls = []

    def rehearse(*arguments):
        calls.append(arguments)
        return rehearsal.Outcome([], [], 10, 2.0, 0)

    made = back_up(here, tmp_path, recipient, identity if key else None, rehearse=rehearse)
    assert made["rehearsal"]["objects"] == 10 and made["verified"] is key
    (programs, clusterctl, namespace, objects, contents, _progress), = calls
    assert (programs, clusterctl, namespace) == ("/programs", "/clusterctl", NAMESPACE)
    assert sorted(item["metadata"]["name"] for item in objects if item["kind"] == "BareMetalHost") == ["free", "used"]
    assert len(contents.definitions) == len(DEFINITIONS)
    assert back_up(here, tmp_path, recipient, check_mode=True, rehearse=rehearse)["rehearsal"] is None
    assert len(calls) == 1


def test_a_backup_that_does_not_come_back_is_refused_and_stays(here, tmp_path, recipient):
    problem = rehearsal.Problem("rehearsal-refused", "BareMetalHost used", "", "a refusal", "an object")
    with pytest.raises(RefusedError, match="BareMetalHost used: found a refusal") as refused:
        back_up(here, tmp_path, recipient, rehearse=lambda *_arguments: rehearsal.Outcome([problem], [], 0, 1.0, 0))
    path, = tmp_path.glob("*.age")
    assert refused.value.problems[-1].subject == str(path)


def visible(folder):
    """Return the paths of a folder without records."""
    return {str(path) for path in folder.iterdir() if not path.name.startswith(".")}


def test_older_backups_are_deleted_and_nothing_else(here, tmp_path, recipient):
    # Those of another plane, with a namespace of the same name, too.
    others = ["notes.txt", f"{NAMESPACE}-2026.age", f"{NAMESPACE}-b-2020-01-01T000000Z.age",
              files.name_of(files.prefix_of(NAMESPACE, "of another plane"), "2020-01-01T00:00:00Z")]
    for name in others:
        (tmp_path / name).write_text("x")
    paths = [back_up(here, tmp_path, recipient, now=1795000000 + day * 86400)["path"] for day in range(3)]
    would = back_up(here, tmp_path, recipient, keep=2, now=1795000000 + 3 * 86400, check_mode=True)
    assert would["removed"] == paths[:2] and len(visible(tmp_path)) == 7
    made = back_up(here, tmp_path, recipient, keep=2, now=1795000000 + 3 * 86400)
    assert made["removed"] == paths[:2]
    assert visible(tmp_path) == {paths[2], made["path"], *(str(tmp_path / o) for o in others)}
    assert back_up(here, tmp_path, recipient, now=1795000000 + 4 * 86400)["removed"] == []


def test_a_backup_that_does_not_come_back_takes_no_others_place(here, tmp_path, recipient):
    old = back_up(here, tmp_path, recipient)["path"]
    problem = rehearsal.Problem("rehearsal-refused", "BareMetalHost used", "", "a refusal", "an object")
    with pytest.raises(RefusedError):
        back_up(here, tmp_path, recipient, keep=1, now=1795000000 + 86400,
                rehearse=lambda *_arguments: rehearsal.Outcome([problem], [], 0, 1.0, 0))
    assert Path(old).exists()
    # Nor later: it would be one of those that are kept.
    made = back_up(here, tmp_path, recipient, keep=2, now=1795000000 + 2 * 86400)
    assert made["removed"] == [] and Path(old).exists()
    newest = back_up(here, tmp_path, recipient, keep=1, now=1795000000 + 3 * 86400)
    assert visible(tmp_path) == {newest["path"]} and newest["removed"][0] == old and len(newest["removed"]) == 3


@pytest.mark.parametrize("check_mode", [True, False])
def test_a_file_that_somebody_has_copied_into_the_folder_stays(here, tmp_path, recipient, check_mode):
    old = back_up(here, tmp_path, recipient)["path"]
    copied = tmp_path / Path(old).name.replace("2026", "2025")
    copied.write_bytes(Path(old).read_bytes())
    made = back_up(here, tmp_path, recipient, keep=2, now=1795000000 + 86400, check_mode=check_mode)
    assert made["removed"] == [] and copied.exists() and Path(old).exists()
    assert any(copied.name in warning for warning in made["warnings"])


def packed(**changes):
    return gzip.compress(json.dumps(dict({
        "format": 1, "taken_at": "", "server": "", "plane": "", "namespace": "n", "objects": []}, **changes)).encode())


def secret_called(name):
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name, "uid": "u", "namespace": "n"}}


# Of the next test: compressed bytes have the time in them, and each process of a run must name tests alike.
NO_BACKUPS = ("hidden file", "folder", "name that steers a terminal", "time that does", "damaged",
              "deep", "empty", "text", "no format", "list", "cut",
              "other format", "number",
              "no object", "no list", "other namespace")


@pytest.mark.parametrize("content", [
    packed(objects=[secret_called(".x")]), packed(objects=[secret_called("a/b")]),
    packed(objects=[secret_called("a\x9b2J")]), packed(taken_at="\x9b2J"),
    gzip.compress(b"{}")[:10] + b"\xff" * 20, gzip.compress(b"[" * 10 ** 6), b"", b"none",
    gzip.compress(b"{}"), gzip.compress(b"[1]"), gzip.compress(b"x" * 100)[:-10], packed(format=2),
    packed(server=1), packed(objects=[1]), packed(objects={}), packed(objects=[
        {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s", "uid": "u", "namespace": "other"}}])],
    ids=NO_BACKUPS)
def test_what_is_no_backup_is_refused(content):
    backup, problems = archive.unpacked(content, "a file")
    assert backup is None and len(problems) == 1


@pytest.mark.parametrize("version, kind, name", [
    ("v1", "Secret", "../../etc/x"), ("v1", "a/../../etc", "x"), ("a/../../etc/v1", "Secret", "x")])
def test_an_object_cannot_lead_out_of_the_folder(version, kind, name):
    with pytest.raises(ValueError, match=r"Secret|etc"):
        graph.file_name({"apiVersion": version, "kind": kind, "metadata": {"name": name}})


def host(state="provisioned", image=None, deployed=None, online=True, method=None, annotations=None, **spec):
    custom = {"method": method} if method else None
    return {"metadata": {"name": "h", "annotations": annotations or {}}, "spec": dict(
        {"bmc": {"address": "ipmi://192.0.2.1"}, "online": online, "image": image}, **spec), "status": {
            "provisioning": {"state": state, "image": deployed, "customDeploy": custom}}}


@pytest.mark.parametrize("bmh, powered_on, effect", [
    (host(image=IMAGE, deployed=IMAGE), True, verdicts.ADOPTED),
    (host(image=IMAGE, deployed=IMAGE), None, verdicts.ADOPTED),
    (host(image=IMAGE, deployed=dict(IMAGE, format="qcow2")), True, verdicts.ADOPTED),
    (host(image=IMAGE, deployed=IMAGE), False, verdicts.POWERED),
    (host(image=IMAGE, deployed=IMAGE, online=False), True, verdicts.POWERED),
    (host(image=OTHER, deployed=IMAGE), True, verdicts.REINSTALLED),
    (host(deployed=IMAGE), True, verdicts.WIPED),
    (host("available", image=IMAGE), True, verdicts.REINSTALLED),
    (host("available"), True, verdicts.NOTHING),
    (host("provisioning", image=IMAGE), True, verdicts.REINSTALLED),
    (host("deprovisioning"), True, verdicts.WIPED),
    (host(""), True, verdicts.WIPED),
    (host("externally provisioned", externallyProvisioned=True), True, verdicts.ADOPTED),
    (host("unmanaged", bmc={}), None, verdicts.NOTHING),
    # What host_state_machine.go of BMO 0.13 deprovisions, inspects or prepares, and so cleans.
    (host("unmanaged"), True, verdicts.WIPED),
    (host("unmanaged", image=IMAGE), True, verdicts.REINSTALLED),
    (host("externally provisioned"), True, verdicts.WIPED),
    (host("externally provisioned", image=IMAGE), True, verdicts.REINSTALLED),
    (host(method="a", customDeploy={"method": "a"}), True, verdicts.ADOPTED),
    (host(method="a", customDeploy={"method": "b"}), True, verdicts.REINSTALLED),
    (host(method="a", image=IMAGE, deployed=IMAGE), True, verdicts.REINSTALLED),
    (host(customDeploy={"method": "a"}, deployed=IMAGE), True, verdicts.REINSTALLED),
    (host(customDeploy={"method": "a"}, deployed=IMAGE, image=OTHER), True, verdicts.REINSTALLED),
    (host(image=IMAGE, deployed=IMAGE, annotations={"reboot.metal3.io": ""}), True, verdicts.POWERED),
    (host(image=IMAGE, deployed=IMAGE, annotations={"reboot.metal3.io/mine": ""}), None, verdicts.POWERED),
    # What checkDetachedHost leaves out of Ironic.
    (host(image=OTHER, deployed=IMAGE, annotations={DETACHED: ""}), False, verdicts.NOTHING),
    (host("available", image=IMAGE, annotations={DETACHED: "{}"}), True, verdicts.NOTHING),
    (host("deprovisioning", annotations={DETACHED: ""}), True, verdicts.WIPED),
    (host("deprovisioning", annotations={DETACHED: '{"force": true}'}), True, verdicts.NOTHING),
    # Anybody can have written it.
    (host(bmc=None), True, verdicts.NOTHING), (host(bmc="x"), True, verdicts.NOTHING),
    (host(image="x", customDeploy=1), True, verdicts.WIPED),
    (dict(host(), status={"provisioning": "x"}), True, verdicts.WIPED)])
def test_what_would_become_of_a_host(bmh, powered_on, effect):
    assert verdicts.of(bmh, verdicts.Now(powered_on)).effect == effect


def test_what_a_backup_says_of_a_host_steers_no_terminal():
    """The role restore prints it, and Ansible's debug prints U+009B as it is."""
    assert verdicts.of(host("a\x9b2J")).cause.startswith(r"it was a\x9b2J when the backup was taken")
    assert verdicts.of(host(), verdicts.Now(moved_to="u\x1b[2J")).cause.endswith(r"the plane u\x1b[2J since")


def test_a_host_that_was_being_deleted_would_be_wiped():
    bmh = host(image=IMAGE, deployed=IMAGE)
    bmh["metadata"]["deletionTimestamp"] = "2026-11-23T00:00:00Z"
    assert verdicts.of(bmh).effect == verdicts.WIPED


ADOPTABLE = host(image=IMAGE, deployed=IMAGE)
TAKEN = "2026-11-23T12:00:00Z"


@pytest.mark.parametrize("now, effect, words", [
    (verdicts.Now(True, "c", "n", True, "2026-11-23T11:00:00Z"), verdicts.ADOPTED, "what is deployed"),
    (verdicts.Now(True, "c", "n", True, "2026-11-23T12:00:01Z"), verdicts.OUTDATED, "installed again since"),
    (verdicts.Now(True, "c", "n", True, "2026-11-23T12:00:01Z", is_linked=False), verdicts.OUTDATED,
     "installed again since; that Node has no provider ID"),
    (verdicts.Now(True, "c", "n", True, None), verdicts.OUTDATED, "not in the cluster c any more"),
    (verdicts.Now(True, "c", "n", False, None), verdicts.OUTDATED, "may have been deleted since"),
    (verdicts.Now(False, "c", "n", True, "2026-11-23T11:00:00Z"), verdicts.POWERED, "is off now"),
    (verdicts.Now(True, moved_to="uid"), verdicts.TWICE, "handed it over to the plane uid"),
    (verdicts.Now(True), verdicts.ADOPTED, "what is deployed")])
def test_what_has_happened_since_the_backup_is_found(now, effect, words):
    verdict = verdicts.of(ADOPTABLE, now, TAKEN)
    assert verdict.effect == effect and words in verdict.cause


def test_what_would_be_wiped_is_so_whatever_it_has_become():
    assert verdicts.of(host(deployed=IMAGE), verdicts.Now(True, "c", "n", False), TAKEN).effect == verdicts.WIPED


def clustered(here):
    """Make the used host a machine of the cluster, with an image."""
    used = here.objects["BareMetalHost", "used"]
    used["spec"].update(image=IMAGE, consumerRef={"kind": "Metal3Machine", "name": "m3"})
    used["status"]["provisioning"]["image"] = IMAGE
    machine = here.objects["Machine", "m"]
    machine["spec"]["clusterName"] = "c"
    here.objects["Metal3Machine", "m3"] = obj(
        "infrastructure.cluster.x-k8s.io/v1beta2", "Metal3Machine", "m3", ("Machine", "m"), spec={})
    return list(here.objects.values())


class Workload:
    """The API server of a workload cluster."""

    def __init__(self, nodes, error=None):
        self._nodes, self._error = nodes, error

    def __call__(self, params):
        assert params["kubeconfig_content"]["clusters"][0]["cluster"]["server"] == "https://192.0.2.9:6443"
        return self

    def request(self, _method, path, timeout_seconds, any_content):
        assert path == "/version" and timeout_seconds == 10 and any_content
        if self._error:
            raise self._error

    def list(self, _resource):
        return [{"metadata": {"name": name, "creationTimestamp": at}, "spec": {}}
                for name, at in self._nodes.items()], "1"


KUBECONFIG = {"apiVersion": "v1", "kind": "Config", "current-context": "c", "contexts": [
    {"name": "c", "context": {"cluster": "c", "user": "u"}}], "users": [{"name": "u", "user": {"token": "t"}}],
    "clusters": [{"name": "c", "cluster": {"server": "https://192.0.2.9:6443"}}]}


@pytest.mark.parametrize("workload, answers, joined_at", [
    (Workload({"m": TAKEN, "other": TAKEN}), True, TAKEN), (Workload({"other": TAKEN}), True, None),
    (Workload({}, KubeError("no answer", reason="Unreachable")), False, None),
    (Workload({"m": TAKEN}, KubeError("forbidden", 403)), True, TAKEN)])
def test_clusters_are_asked_which_nodes_they_have(here, workload, answers, joined_at):
    objects = clustered(here)
    here.objects["Secret", "c-kubeconfig"]["data"] = {
        "value": base64.b64encode(json.dumps(KUBECONFIG).encode()).decode()}
    found = nodes_now.of_clusters(objects, workload)
    assert since(objects, found, TAKEN).members == {
        "used": Member("c", "m", answers, joined_at, is_linked=joined_at is None)}


@pytest.mark.parametrize("endpoint, is_asked", [
    ("192.0.2.9", True), ("", True), (None, True), ("192.0.2.10", False), ("api.example", False)])
def test_a_cluster_is_asked_at_its_own_endpoint_alone(here, tmp_path, recipient, identity, endpoint, is_asked):
    """Who may write Secrets must not decide whose Nodes say what has become of a host."""
    objects = clustered(here)
    here.objects["Cluster", "c"]["spec"]["controlPlaneEndpoint"] = {"host": endpoint, "port": 6443}
    here.objects["Secret", "c-kubeconfig"]["data"] = {
        "value": base64.b64encode(json.dumps(KUBECONFIG).encode()).decode()}
    workload = Workload({"m": "2026-11-01T00:00:00Z"})
    found = nodes_now.of_clusters(objects, workload if is_asked else lambda _params: pytest.fail("it was used"))
    assert (found["c"] is not None) is is_asked
    made = back_up(here, tmp_path, recipient)
    there = server("b", "https://198.18.0.2:6443")
    result = restore(there, made["path"], identity, check_mode=True,
                     nodes=lambda known: nodes_now.of_clusters(known, workload))
    words = [text for text in result["warnings"] if text.startswith("Secret c-kubeconfig of the backup: found a ")]
    assert len(words) == (not is_asked)
    assert ("taken for what it was" in str(result["verdicts"])) is not is_asked


@pytest.mark.parametrize("data", [None, {}, {"value": "!"}, {"value": base64.b64encode(json.dumps(dict(
    KUBECONFIG, users=[{"name": "u", "user": {"exec": {"command": "/bin/sh"}}}])).encode()).decode()}])
def test_a_kubeconfig_that_is_none_or_leads_elsewhere_is_not_used(here, data):
    objects = clustered(here)
    here.objects["Secret", "c-kubeconfig"]["data"] = data
    found = nodes_now.of_clusters(objects, lambda _params: pytest.fail("it was used"))
    assert found == {"c": None}


def test_a_host_whose_cluster_was_deleted_meanwhile_must_be_named(here, tmp_path, recipient, identity):
    clustered(here)
    made = back_up(here, tmp_path, recipient)
    there = server("b", "https://198.18.0.2:6443")
    with pytest.raises(RefusedError, match=r"BareMetalHost used: accept: .* taken for what it was: the API") as refused:
        restore(there, made["path"], identity, nodes={"c": None})
    # A cluster that may be there all the same may have taken it.
    assert "BareMetalHost free: accept: " in str(refused.value)
    assert managed(there) == set()
    assert restore(there, made["path"], identity, accept=["used", "free"], nodes={"c": None})["changed"]


def test_a_host_that_was_handed_over_meanwhile_must_be_named(here, tmp_path, recipient, identity):
    clustered(here)
    made = back_up(here, tmp_path, recipient)
    there = server("a", "https://198.18.0.2:6443")
    moved = record.Record(record.MOVED, "a-kube-system", "b-kube-system", (), {"free": {}}, {})
    there.objects["ConfigMap", record.NAME] = dict(record.config_map(moved, NAMESPACE))
    there.objects["ConfigMap", record.NAME]["metadata"].update(uid="u", resourceVersion="1")
    with pytest.raises(RefusedError, match=r"1 problem.*\n.*BareMetalHost free: accept: .* managed by two planes"):
        restore(there, made["path"], identity)


def test_a_host_that_move_hosts_has_given_away_must_be_named(here, tmp_path, recipient, identity):
    clustered(here)
    made = back_up(here, tmp_path, recipient)
    there = server("a", "https://198.18.0.2:6443")
    note = handed_over.note(here.objects["BareMetalHost", "free"], "https://192.0.2.8:6443", TAKEN)
    there.objects["ConfigMap", handed_over.NAME] = obj("v1", "ConfigMap", handed_over.NAME, data={"free": note})
    with pytest.raises(RefusedError, match=r"1 problem.*\n.*BareMetalHost free: accept: .*to the plane https://192"):
        restore(there, made["path"], identity)


@pytest.mark.parametrize("nodes, words", [
    ({"m": NodeNow("2026-11-01T00:00:00Z"), "new": NodeNow("2099-01-01T00:00:00Z", "metal3://metal3/free/m9")},
     "free for other machines: it is the Node new of the cluster c by now"),
    ({"m": NodeNow("2026-11-01T00:00:00Z"), "new": NodeNow("2099-01-01T00:00:00Z")},
     "free for other machines: it was free when the backup was taken, and may be a node since: the Node new of"),
    # Also when it was switched meanwhile, which somebody else may have named it for.
    (None, "and may be a node since: the API server of the cluster c does not answer")])
@pytest.mark.parametrize("powered", ["On", "Off", None])
def test_a_free_host_that_is_a_node_since_is_not_released_unnamed(
        here, tmp_path, recipient, identity, nodes, words, powered):
    """The machine that takes it next would be installed over the node."""
    clustered(here)
    made = back_up(here, tmp_path, recipient)
    there = server("b", "https://198.18.0.2:6443")
    servers = [{"name": "free", "system": {"power_state": powered}}] if powered else []
    accept = ["used"] if nodes is None else []
    with pytest.raises(RefusedError, match=r"^1 problem.*\n.*BareMetalHost free: accept: ") as refused:
        restore(there, made["path"], identity, servers=servers, accept=accept, nodes={"c": nodes})
    assert words in str(refused.value) and managed(there) == set()
    assert restore(there, made["path"], identity, servers=servers, accept=[*accept, "free"], nodes={"c": nodes})[
        "to_release"] == ["free", "used"]
    # Held since then, it is not released by a run that does not name it.
    with pytest.raises(RefusedError, match=r"BareMetalHost free: accept: "):
        restore(there, made["path"], identity, servers=servers, accept=accept, nodes={"c": nodes})


def test_another_server_behind_the_address_of_a_bmc_must_be_named(here, tmp_path, recipient, identity):
    clustered(here)
    here.objects["HardwareData", "used"]["spec"] = {"hardware": {"systemVendor": {"serialNumber": "S1"}}}
    made = back_up(here, tmp_path, recipient)
    there = server("b", "https://198.18.0.2:6443")
    servers = [{"name": "used", "system": {"power_state": "On", "serial_number": "S2"}}]
    with pytest.raises(RefusedError, match=r"1 problem.*\n.*BareMetalHost used: accept: .*taken for another one: its "
                                           r"BMC is that of another server: it says the serial number S2, and"):
        restore(there, made["path"], identity, servers=servers)
    assert managed(there) == set()
    servers[0]["system"]["serial_number"] = "S1"
    assert restore(there, made["path"], identity, servers=servers)["changed"]


def test_each_host_says_what_was_not_asked(here, tmp_path, recipient, identity):
    clustered(here)
    here.objects["HardwareData", "used"]["spec"] = {"hardware": {"systemVendor": {"serialNumber": "S1"}}}
    made = back_up(here, tmp_path, recipient)
    servers = [{"name": "used", "system": {"power_state": "On", "serial_number": "S1"}}]
    result = restore(server("b", "https://198.18.0.2:6443"), made["path"], identity, servers=servers, check_mode=True)
    assert dict((item["name"], item["not_asked"]) for item in result["verdicts"]) == {"used": [], "free": [
        "whether it is on: its BMC was not asked, or has not answered",
        "whether it is the same server: its BMC was not asked, or has not answered",
        "what is on its disks by now: it was no node of a cluster, and no BMC says that"]}
    # Of those that stay as they are nothing is decided.
    result = restore(here, made["path"], identity, check_mode=True)
    assert [item["not_asked"] for item in result["verdicts"]] == [[], []]


def left_held(here, folder, recipient, identity):
    """Return the path of a backup and a plane whose hosts a run has restored and not released."""
    clustered(here)
    made = back_up(here, folder, recipient)
    there = server("b", "https://198.18.0.2:6443")
    result = restore(there, made["path"], identity)
    assert result["to_release"] == ["free", "used"]
    return made["path"], there


@pytest.mark.parametrize("spec", [
    {"bmc": {"address": "redfish://192.0.2.2/redfish/v1/Systems/1"}}, {"bootMACAddress": "00:5C:52:31:3A:02"}])
def test_a_host_whose_server_another_one_has_by_now_must_be_named(here, tmp_path, recipient, identity, spec):
    """It was renamed since the backup; restored under its old name, the operator would switch a server in use."""
    here.objects["BareMetalHost", "free"]["spec"]["bootMACAddress"] = "00:5c:52:31:3a:02"
    made = back_up(here, tmp_path, recipient)
    there = server("b", "https://198.18.0.2:6443")
    there.objects["BareMetalHost", "renamed"] = obj("metal3.io/v1alpha1", "BareMetalHost", "renamed", spec=spec)
    with pytest.raises(RefusedError, match=r"BareMetalHost free: accept: .*managed by two hosts: the host "
                                           r"metal3/renamed of this plane has its spec\.b"):
        restore(there, made["path"], identity, accept=["used"])
    assert ("BareMetalHost", "free") not in there.objects
    assert restore(there, made["path"], identity, accept=["used", "free"])["changed"]
    # Held since then, it is found again, and not by itself.
    with pytest.raises(RefusedError, match=r"BareMetalHost free: accept: .*managed by two hosts"):
        restore(there, made["path"], identity, accept=["used"])
    del there.objects["BareMetalHost", "renamed"]
    assert restore(there, made["path"], identity, accept=["used"])["to_release"] == ["free", "used"]


def test_hosts_that_are_held_are_looked_at_again_before_they_are_released(here, tmp_path, recipient, identity):
    path, there = left_held(here, tmp_path, recipient, identity)
    again = restore(there, path, identity)
    assert not again["changed"] and again["to_release"] == ["free", "used"]
    assert [(item["is_there"], item["is_held"]) for item in again["verdicts"]] == [(True, True)] * 2
    rejoined = {"c": {"m": NodeNow("2099-01-01T00:00:00Z", "metal3://metal3/used/m3")}}
    with pytest.raises(RefusedError, match=r"BareMetalHost used: accept: .*installed again since"):
        restore(there, path, identity, nodes=rejoined)
    switched = [{"name": "used", "system": {"power_state": "Off"}}]
    with pytest.raises(RefusedError, match=r"BareMetalHost used: accept: .*its server is off now"):
        restore(there, path, identity, servers=switched)
    assert restore(there, path, identity, servers=switched, accept=["used"])["to_release"] == ["free", "used"]
    there.objects["BareMetalHost", "free"]["spec"]["image"] = IMAGE
    with pytest.raises(RefusedError, match=r"BareMetalHost free: accept: .*reinstalled: an image is wanted"):
        restore(there, path, identity)


def test_hosts_that_are_held_since_another_backup_are_refused(here, tmp_path, recipient, identity):
    _path, there = left_held(here, tmp_path, recipient, identity)
    here.objects["BareMetalHost", "free"]["status"]["lastUpdated"] = "2026-11-24T00:00:00Z"
    later = back_up(here, tmp_path, recipient, now=1796000000)
    with pytest.raises(RefusedError, match=r"1 problem.*\n.*BareMetalHost free: .*take the backup from which it was"):
        restore(there, later["path"], identity)


def test_of_hosts_that_work_or_are_held_for_something_else_nothing_is_released(here, tmp_path, recipient, identity):
    path, there = left_held(here, tmp_path, recipient, identity)
    del there.objects["BareMetalHost", "used"]["metadata"]["annotations"][PAUSED]
    there.objects["BareMetalHost", "free"]["metadata"]["annotations"][PAUSED] = FOR_MOVE
    # Nor is refused what a release of them would cost.
    result = restore(there, path, identity, servers=[{"name": "used", "ipmi": {"power": "off"}}])
    assert result["to_release"] == [] and not any(item["is_held"] for item in result["verdicts"])


def on_its_way(there, source, target):
    moved = record.Record(record.MOVING, source, target, (), {}, {})
    there.objects["ConfigMap", record.NAME] = record.config_map(moved, NAMESPACE)
    there.objects["ConfigMap", record.NAME]["metadata"].update(uid="u", resourceVersion="1")


def test_nothing_is_restored_while_a_move_from_here_has_not_ended(here, tmp_path, recipient, identity):
    path, there = left_held(here, tmp_path, recipient, identity)
    on_its_way(there, "b-kube-system", "c-kube-system")
    with pytest.raises(RefusedError, match=r"the record of a move that has not ended.*finish or take back the move"):
        restore(there, path, identity)


def test_what_a_move_to_here_has_lost_is_restored_for_that_move(here, tmp_path, recipient, identity):
    path, there = left_held(here, tmp_path, recipient, identity)
    on_its_way(there, "a-kube-system", "b-kube-system")
    del there.objects["BareMetalHost", "free"], there.objects["Cluster", "c"]
    result = restore(there, path, identity)
    # As clusterctl has left it when it was killed; pivot resumes it.
    assert restored_cluster(there)["spec"]["paused"] is True
    assert result["to_release"] == [] and "the playbook pivot releases them" in result["warnings"][0]
    assert there.objects["BareMetalHost", "free"]["metadata"]["annotations"][PAUSED] == FOR_MOVE


def test_a_pause_that_a_move_to_here_cannot_keep_is_reported(here, tmp_path, recipient, identity):
    here.objects["BareMetalHost", "free"]["metadata"]["annotations"][PAUSED] = "my reason"
    made = back_up(here, tmp_path, recipient, identity)
    there = server("b", "https://198.18.0.2:6443")
    on_its_way(there, "a-kube-system", "b-kube-system")
    result = restore(there, made["path"], identity, accept=["used"])
    assert there.objects["BareMetalHost", "free"]["metadata"]["annotations"][PAUSED] == FOR_MOVE
    assert "BareMetalHost free was paused when the backup was taken" in "".join(result["warnings"])


@pytest.mark.parametrize("consumer", [None, {"kind": "Machine", "name": "another"}])
def test_a_machine_does_not_take_a_host_that_works_without_it(here, tmp_path, recipient, identity, consumer):
    """Its cluster was deleted, and the host stayed: nothing asks for a confirmation of hosts that are there."""
    used = here.objects["BareMetalHost", "used"]
    used["spec"]["consumerRef"] = {"kind": "Machine", "name": "m"}
    made = back_up(here, tmp_path, recipient)
    assert restore(here, made["path"], identity)["changed"] is False
    del here.objects["Machine", "m"]
    # Its machine alone was lost.
    assert restore(here, made["path"], identity, check_mode=True)["warnings"] == []
    used["spec"]["consumerRef"] = consumer
    with pytest.raises(RefusedError, match=r"BareMetalHost used: accept: .* Machine m, which is restored, would take"):
        restore(here, made["path"], identity)
    assert ("Machine", "m") not in here.objects
    [warning] = restore(here, made["path"], identity, check_mode=True)["warnings"]
    assert "BareMetalHost used: accept: not set, expected used in it; Machine m, which is restored" in warning
    assert restore(here, made["path"], identity, accept=["used"])["changed"]


@pytest.mark.parametrize("check_mode", [True, False])
def test_a_backup_of_another_namespace_than_the_one_that_is_meant_is_refused(
        here, tmp_path, recipient, identity, check_mode):
    """Who has the public key could write Secrets and clusters anywhere, and no host asked for a confirmation."""
    made = back_up(here, tmp_path, recipient)
    there = server("b", "https://198.18.0.2:6443")
    with pytest.raises(RefusedError, match=r"namespace: found metal3, expected production; take a backup of that"):
        restore(there, made["path"], identity, namespace="production", check_mode=check_mode)
    assert not there.writes()


def test_each_object_that_would_be_created_is_named(here, tmp_path, recipient, identity):
    made = back_up(here, tmp_path, recipient)
    del here.objects["Cluster", "c"], here.objects["Machine", "m"]
    result = restore(here, made["path"], identity, check_mode=True)
    assert result["created"] == ["Cluster c", "Machine m"] and result["objects"] == {"Cluster": 1, "Machine": 1}
    assert restore(server("b", "https://198.18.0.2:6443", here.objects.values()), made["path"], identity)["created"]


def test_nobody_is_asked_when_all_hosts_are_there(here, tmp_path, recipient, identity):
    clustered(here)
    made = back_up(here, tmp_path, recipient)
    assert restore(here, made["path"], identity, nodes=lambda _objects: pytest.fail("asked"))["changed"] is False


def authority(name, certificate):
    return obj("v1", "Secret", f"{name}-ca", ("Cluster", name), data={
        "tls.crt": base64.b64encode(certificate.encode()).decode()})


@pytest.mark.parametrize("mine, other, endpoint, words", [
    ("one", "two", "a", "another authority"), ("one", "one", "b", ""), ("one", None, "a", ""),
    (None, None, "b", "another endpoint"), (None, "two", "b", "another endpoint"), (None, None, "", "")])
def test_another_cluster_of_a_name_gets_no_machines(here, tmp_path, recipient, identity, mine, other, endpoint, words):
    """Its control plane would have those of both, and delete some."""
    clustered(here)
    here.objects["Cluster", "c"]["spec"] = {"controlPlaneEndpoint": {"host": "a", "port": 6443}}
    here.objects["Machine", "m"]["metadata"]["labels"] = {"cluster.x-k8s.io/cluster-name": "c"}
    if mine:
        here.objects["Secret", "c-ca"] = authority("c", mine)
    made = back_up(here, tmp_path, recipient)
    there = server("b", "https://198.18.0.2:6443")
    there.objects["Cluster", "c"] = obj("cluster.x-k8s.io/v1beta2", "Cluster", "c", spec={
        "controlPlaneEndpoint": {"host": endpoint, "port": 6443}})
    if other:
        there.objects["Secret", "c-ca"] = authority("c", other)
    if not words:
        assert restore(there, made["path"], identity)["changed"]
        return
    with pytest.raises(RefusedError, match=f"Cluster c: accept: .*with {words} than the backup has"):
        restore(there, made["path"], identity)
    assert ("Machine", "m") not in there.objects
    assert any(words in text for text in restore(there, made["path"], identity, check_mode=True)["warnings"])
    assert restore(there, made["path"], identity, accept=["Cluster c"])["changed"]
    # Nothing of it comes any more.
    assert restore(there, made["path"], identity)["changed"] is False


@pytest.mark.parametrize("links", [{"labels": {"cluster.x-k8s.io/cluster-name": "c"}}, {"ownerReferences": [
    {"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Cluster", "name": "c", "uid": "uid-Cluster-c"}]}])
def test_nothing_is_restored_under_what_is_being_deleted(here, tmp_path, recipient, identity, links):
    """The machine would be deleted with its Cluster, and its server wiped."""
    clustered(here)
    here.objects["Machine", "m"]["metadata"].update(links)
    made = back_up(here, tmp_path, recipient)
    there = server("b", "https://198.18.0.2:6443")
    there.objects["Cluster", "c"] = obj("cluster.x-k8s.io/v1beta2", "Cluster", "c", spec={})
    there.objects["Cluster", "c"]["metadata"].update(deletionTimestamp="2026-11-25T00:00:00Z", finalizers=["a"])
    with pytest.raises(RefusedError, match=r"Cluster c: metadata\.deletionTimestamp: found an object that is"):
        restore(there, made["path"], identity)
    assert ("Machine", "m") not in there.objects
    del there.objects["Cluster", "c"]
    assert restore(there, made["path"], identity)["changed"]


@pytest.mark.parametrize("data, is_named", [({"password": "b3RoZXI="}, True), ({"password": "b25l"}, False)])
def test_another_password_that_is_there_is_named(here, tmp_path, recipient, identity, data, is_named):
    """The operator logs in with it."""
    clustered(here)
    here.objects["BareMetalHost", "free"]["spec"]["bmc"]["credentialsName"] = "free-bmc"
    here.objects["Secret", "free-bmc"]["data"] = {"password": "b25l"}
    made = back_up(here, tmp_path, recipient)
    there = server("b", "https://198.18.0.2:6443")
    there.objects["Secret", "free-bmc"] = obj("v1", "Secret", "free-bmc", data=data)
    found = restore(there, made["path"], identity)["warnings"]
    assert "b3RoZXI=" not in str(found)
    assert any("Secret free-bmc: it is there" in text for text in found) is is_named


def test_who_is_enrolled_while_objects_are_restored_is_not_noted_as_gone(here, tmp_path, recipient, identity):
    """What a restore notes is decided before clusterctl runs, for minutes, and written afterwards."""
    clustered(here)
    here.objects["ConfigMap", handed_over.NAME] = obj("v1", "ConfigMap", handed_over.NAME, data=dict.fromkeys(
        ("gone", "enrolled"), handed_over.note(host(), "https://192.0.2.8:6443", TAKEN)))
    made = back_up(here, tmp_path, recipient)
    there = server("b", "https://198.18.0.2:6443")
    clusterctl = Clusterctl(there)

    def run(*arguments):
        clusterctl(*arguments)
        there.objects["BareMetalHost", "enrolled"] = dict(
            obj("metal3.io/v1alpha1", "BareMetalHost", "enrolled", spec={}), status={})

    restore(there, made["path"], identity, run=run)
    assert set(there.objects["ConfigMap", handed_over.NAME]["data"]) == {"gone"}


def test_who_had_left_the_plane_is_noted_again(here, tmp_path, recipient, identity):
    """Whoever enrols by the same inventory would give a server to two planes."""
    clustered(here)
    note = handed_over.note(host(), "https://192.0.2.8:6443", TAKEN)
    data = {"gone": note, "there": note, "free": note, "broken": "none", "a b": note}
    here.objects["ConfigMap", handed_over.NAME] = obj("v1", "ConfigMap", handed_over.NAME, data=data)
    made = back_up(here, tmp_path, recipient, identity)
    assert made["verified"]
    there = server("b", "https://198.18.0.2:6443", [dict(
        obj("metal3.io/v1alpha1", "BareMetalHost", "there", spec={}), status={})])
    words = "1 hosts had left the plane when the backup was taken (gone): they are noted here"
    assert any(words in text for text in restore(there, made["path"], identity, check_mode=True)["warnings"])
    assert ("ConfigMap", handed_over.NAME) not in there.objects
    assert restore(there, made["path"], identity)["changed"]
    assert there.objects["ConfigMap", handed_over.NAME]["data"] == {"gone": note}
    assert restore(there, made["path"], identity)["changed"] is False
    # Of an earlier run that was killed before, or lost since.
    del there.objects["ConfigMap", handed_over.NAME]
    assert restore(there, made["path"], identity)["due"]
    assert there.objects["ConfigMap", handed_over.NAME]["data"] == {"gone": note}
