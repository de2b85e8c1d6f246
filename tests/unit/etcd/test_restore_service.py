# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A restore step by step on a plane in memory: what is refused, what is written, and runs that are taken up."""
from __future__ import annotations

import copy
import hashlib
import io
import json
import os
import tarfile
import threading
from pathlib import Path

import pyrage
import pytest
from fakes.etcd_snapshots import ABOUT, SNAPSHOT
from fakes.restored_plane import KUBEADM, NAME, NAMESPACE, NEW, OLD, Plane, Workload

from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.waiting import failures
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.workflow.snapshot import PAUSED_ANNOTATION
from ansible_collections.metal3.baremetal.plugins.module_utils._common.files.run_locks import RunLocks
from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.errors import RefusedError
from ansible_collections.metal3.baremetal.plugins.module_utils._common.waiting.progress import Progress
from ansible_collections.metal3.baremetal.plugins.module_utils._etcd import (
    control_plane,
    delivery,
    receiver,
    restore_service,
    restored_nodes,
    site,
)
from ansible_collections.metal3.baremetal.plugins.module_utils._etcd.errors import EtcdError
from ansible_collections.metal3.baremetal.plugins.module_utils._etcd.snapshot import packed
from ansible_collections.metal3.baremetal.plugins.module_utils._host.description import annotations as host_annotations
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.kinds.resources import KNOWN as BASE
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.responses.errors import KubeError
from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.kinds import KNOWN

HOST_NAME = "{{ ds.meta_data.name }}"
SKIP = "cluster.x-k8s.io/skip-remediation"
# As much of etcdutl as a restore runs.
ETCDUTL = """\
#!/bin/sh
if [ "$1" = version ]; then echo x >> "$0.asked"; echo "etcdutl version: ${ETCDUTL_VERSION:-3.6.16}"; exit; fi
[ "$1 $2 $4" = "snapshot restore --data-dir" ] || exit 9
[ -z "$ETCDUTL_REFUSES" ] || { echo "Error: $ETCDUTL_REFUSES"; exit 1; }
mkdir -p "$5/member/snap" && cp "$3" "$5/member/snap/db"
"""


class Member:
    """etcd's only member, as it was restored."""

    def __init__(self, urls=("https://restored.invalid:2380",)):
        self.urls, self.silent = list(urls), 1

    def members(self):
        if self.silent:
            self.silent -= 1
            raise EtcdError("etcd on Node n: not yet")
        return [{"ID": "7", "name": "n", "peerURLs": list(self.urls)}]

    def set_peer_urls(self, member_id, urls):
        assert member_id == "7"
        self.urls = urls


class Run:
    """One plane and its snapshot, and restores on it."""

    def __init__(self, folder, monkeypatch):
        self.workload, self.folder = Workload(), folder
        self.plane = Plane(self.workload)
        self.clock, self.sent, self.refusals, self.member = 0.0, [], 2, Member()
        identity = pyrage.x25519.Identity.generate()
        (folder / "identity").write_text(f"{identity}\n")
        self.recipient = identity.to_public()
        authority = site.read(self.plane, NAMESPACE, NAME).authority
        self.about = ABOUT._replace(namespace=NAMESPACE, cluster=NAME, uid="uid-of-prod", authority=authority)
        self.program = folder / "etcdutl"
        self.program.write_text(ETCDUTL)
        self.program.chmod(0o755)
        monkeypatch.setattr(restored_nodes, "_member", lambda *_arguments: self.member)

    def file(self, content=None, **changes):
        path = self.folder / "snapshot.age"
        archive = b"".join(packed(self.about._replace(**changes), len(SNAPSHOT), [SNAPSHOT]))
        path.write_bytes(pyrage.encrypt(archive if content is None else content, [self.recipient]))
        return str(path)

    def _sleep(self, seconds):
        self.clock += seconds
        self.plane.sleep(seconds)

    def _workload(self, _site):
        if not self.workload.answers:
            raise KubeError("no answer", reason="Unreachable")
        return self.workload

    def _send(self, data, host, port):
        self.sent.append((host, port))
        with open(data.path, "rb") as stream:
            content = stream.read()
        assert len(content) == data.size and hashlib.sha256(content).hexdigest() == data.sha256
        if self.refusals or host != "192.0.2.7":
            self.refusals -= 1
            return f"{host}: refused"
        with tarfile.open(fileobj=io.BytesIO(content)) as archive:
            assert archive.extractfile("member/snap/db").read() == SNAPSHOT
        self.plane.has_taken = self.workload.answers = True
        # kubelet registers what it is, or takes a Node of its name over.
        machine = self.plane.of("Machine")["metadata"]["name"]
        name = self.plane.of("KubeadmConfig", machine)["spec"]["initConfiguration"]["nodeRegistration"].get("name")
        name = self.plane.host if name in (None, HOST_NAME) else name
        if ("Node", name) in self.workload.objects:
            self.workload.objects["Node", name]["status"]["conditions"][0]["status"] = "True"
        else:
            self.workload.add_node(name, control_plane=True)
        return ""

    def restore(self, path=None, check_mode=False, send=None, node="", **params):
        locks = RunLocks(str(self.folder / f"{node}locks"))
        locks.holder = f"{node}:/locks" if node else locks.holder
        restore = restore_service.Restore(self.plane, dict({
            "namespace": NAMESPACE, "cluster_name": NAME, "path": path or self.file(), "sha256": None,
            "identity_file": str(self.folder / "identity"), "etcdutl": str(self.program), "confirm": NAME,
            "delete_machines": 1, "take_over": None, "wait_timeout_seconds": 600}, **params), check_mode,
            Progress(None), self._sleep, lambda: self.clock, lambda: 1795000000 + self.clock, self._workload,
            send or self._send, locks)
        return restore.run()


@pytest.fixture
def run(tmp_path, monkeypatch):
    return Run(tmp_path, monkeypatch)


@pytest.mark.parametrize("node", ["", "other-node"], ids=["this-machine", "another-machine"])
def test_of_two_restores_at_once_the_second_deletes_nothing(run, node):
    """Its number is that of the machine which the first one has made; the first one goes on as alone."""
    refused = []

    def send(data, host, port):
        if not refused:
            before = copy.deepcopy(run.plane.objects)
            with pytest.raises(RefusedError) as error:
                run.restore(path, node=node, delete_machines=1)
            refused.append(str(error.value))
            assert run.plane.objects == before
        return run._send(data, host, port)

    path = run.file()
    assert run.restore(path, send=send)["machine"] == NEW and is_as_described(run.plane)
    assert ("etcd_take_over=" if node else "another run on this machine") in refused[0]


def test_a_restore_that_began_since_it_was_checked_is_left_to_its_run(run, monkeypatch):
    """etcdutl may take minutes in which another machine begins."""
    patch = run.plane.patch

    def begins(resource, namespace, name, body, **options):
        monkeypatch.setattr(run.plane, "patch", patch)
        stored = run.plane.of("KubeadmControlPlane")
        patch(KNOWN["KubeadmControlPlane"], NAMESPACE, stored["metadata"]["name"],
              control_plane.begun(stored, "f" * 64, "other-node:/locks"))
        return patch(resource, namespace, name, body, **options)

    monkeypatch.setattr(run.plane, "patch", begins)
    with pytest.raises(RefusedError, match="etcd_take_over=other-node"):
        run.restore()
    assert OLD in [machine["metadata"]["name"] for machine in run.plane.list(KNOWN["Machine"], NAMESPACE)[0]]
    note = control_plane.note_of(run.plane.of("KubeadmControlPlane"))
    assert (note.holder, note.replicas) == ("other-node:/locks", 3)
    assert run.restore(take_over="other-node")["machine"] == NEW and is_as_described(run.plane)


def is_as_described(plane):
    """Say whether nothing of a restore is left, and nobody would replace the machine."""
    stored, config = plane.of("KubeadmControlPlane"), plane.of("KubeadmConfig", plane.of("Machine")["metadata"]["name"])
    annotations = [item["metadata"].get("annotations") or {} for item in
                   (stored, config, plane.of("Machine"), dict({"metadata": {}}, **stored["spec"]["machineTemplate"]))]
    assert not [marks for marks in annotations if {PAUSED_ANNOTATION, control_plane.NOTE} & set(marks)]
    assert ("Secret", receiver.secret_name(NAME)) not in plane.objects
    expected = dict(KUBEADM)
    del expected["joinConfiguration"]
    assert config["spec"] == expected
    return stored["spec"]["replicas"] == 3


def test_the_control_plane_of_a_topology_has_one_machine_until_the_restore_has_ended(run, monkeypatch):
    """Cluster API writes the topology's number over the KubeadmControlPlane's: two more machines joined at once."""
    run.plane.objects["Cluster", NAME]["spec"]["topology"] = {"controlPlane": {"replicas": 3}}

    def numbers():
        topology = run.plane.of("Cluster")["spec"]["topology"]
        return topology["controlPlane"]["replicas"], run.plane.of("KubeadmControlPlane")["spec"]["replicas"]

    found, is_linked = [], restored_nodes.has_own_address

    def has_own_address(*arguments):
        found.append(numbers())
        return is_linked(*arguments)

    monkeypatch.setattr(restored_nodes, "has_own_address", has_own_address)
    path = killed_after_delivery(run, monkeypatch)
    assert numbers() == (1, 1)
    run.restore(path, delete_machines=None)
    assert set(found) == {(1, 1)} and numbers() == (3, 3) and is_as_described(run.plane)


def test_the_number_of_a_control_plane_that_its_topology_leaves_to_others_is_not_written_there(run):
    run.plane.objects["Cluster", NAME]["spec"]["topology"] = {"controlPlane": {"metadata": {}}}
    run.restore()
    assert run.plane.of("Cluster")["spec"]["topology"] == {"controlPlane": {"metadata": {}}}
    assert is_as_described(run.plane)


def test_nodes_of_the_snapshot_on_other_servers_go_too_though_they_look_ready(run):
    run.workload.add_node("other", control_plane=True, made="2026-01-01T00:00:00Z")
    assert run.restore()["removed_nodes"] == sorted([OLD, "other"])
    assert {name for kind, name in run.workload.objects if kind == "Node"} == {NEW, "worker"}


def test_a_snapshot_is_restored_into_a_new_machine(run):
    result = run.restore()
    assert result["changed"] and result["deleted_machines"] == [OLD]
    assert (result["machine"], result["node"]) == (NEW, NEW)
    assert result["taken_at"] == ABOUT.taken_at and result["removed_nodes"] == [OLD] and result["missing_nodes"] == []
    assert is_as_described(run.plane) and run.member.urls == ["https://192.0.2.7:2380"]
    assert {name for kind, name in run.workload.objects if kind == "Node"} == {NEW, "worker"}
    # CAPM3 has paused for long by then, since it found two Nodes of one host.
    assert host_annotations.RETRY in run.plane.objects["Metal3Machine", NEW]["metadata"]["annotations"]
    # The machine's own address, and the endpoint.
    assert set(run.sent) == {("192.0.2.7", 6443), ("192.0.2.1", 6443)}


def test_the_machine_waits_for_the_data_before_it_begins(run):
    """At the moment when its controllers may have it, its KubeadmConfig has the receiver."""
    seen = []

    def send(data, host, port):
        config = run.plane.of("KubeadmConfig", NEW)
        seen.append((copy.deepcopy(config["spec"]), data))
        assert PAUSED_ANNOTATION not in config["metadata"]["annotations"]
        return run._send(data, host, port)

    run.restore(send=send)
    spec, data = seen[0]
    assert spec["preKubeadmCommands"] == [
        f"until python3 /run/metal3-etcd-restore/receive.py 6443 {data.size} {data.sha256} /var/lib/etcd; do sleep 5; "
        "done"]
    assert spec["files"][0] == KUBEADM["files"][0]
    assert [entry["contentFrom"]["secret"] for entry in spec["files"][1:]] == [
        {"name": f"{NAME}-etcd-restore", "key": key} for key in ("receive.py", "tls.crt", "tls.key")]
    assert spec["initConfiguration"]["nodeRegistration"] == {
        "name": NEW, "ignorePreflightErrors": ["SystemVerification", "DirAvailable--var-lib-etcd"]}


@pytest.mark.parametrize("registration", [{"name": HOST_NAME}, {}])
def test_a_machine_on_the_host_of_before_is_another_node(run, registration):
    """The Node of the snapshot has the provider ID of the former Machine for ever."""
    run.plane.host = OLD
    described = run.plane.of("KubeadmControlPlane")["spec"]["kubeadmConfigSpec"]
    described["initConfiguration"] = {"nodeRegistration": registration}
    result = run.restore()
    assert (result["node"], result["removed_nodes"]) == (NEW, [OLD])
    config = run.plane.of("KubeadmConfig", NEW)["spec"]
    assert config["initConfiguration"] == {"nodeRegistration": registration}


def test_a_node_whose_kubelet_answers_between_the_look_and_its_deletion_stays_until_it_is_known(run):
    """It may be that of the machine that was made, whose name nobody has told CAPM3 yet."""
    run.workload.add_node("mine", control_plane=True, made="2026-01-01T00:00:00Z", ready="Unknown")

    def answers():
        run.workload.objects["Node", "mine"]["status"]["conditions"][0]["status"] = "True"
        run.workload.objects["Node", "mine"]["metadata"]["resourceVersion"] = "2"

    run.workload.meanwhile["Node", "mine"] = answers
    delete = run.workload.delete

    def deleted(resource, namespace, name, **more):
        result = delete(resource, namespace, name, **more)
        if name == "mine":
            assert run.plane.of("Machine")["status"]["nodeRef"] == {"name": NEW}
        return result

    run.workload.delete = deleted
    assert run.restore()["removed_nodes"] == sorted(["mine", OLD])


def test_a_node_whose_kubelet_answers_stays_though_its_network_is_not_there_and_its_clock_is_behind(run):
    """A kubelet whose Node is deleted does not register it again before somebody restarts it."""
    run.workload.add_node("mine", control_plane=True, made="2026-01-01T00:00:00Z", ready="False")
    delete, linked = run.workload.delete, []

    def deleted(resource, namespace, name, **more):
        linked.append((name, run.plane.of("Machine")["status"]["nodeRef"] == {"name": NEW}))
        return delete(resource, namespace, name, **more)

    run.workload.delete = deleted
    run.restore()
    assert linked == [(OLD, False), ("mine", True)]


def test_a_control_plane_that_is_gone_needs_no_number(run):
    for kind in ("Machine", "KubeadmConfig", "Metal3Machine"):
        del run.plane.objects[kind, OLD]
    run.workload.answers = False
    assert run.restore(delete_machines=None)["machine"] == NEW and is_as_described(run.plane)


def test_check_mode_writes_nothing_and_says_what_goes(run):
    before = copy.deepcopy(run.plane.objects)
    result = run.restore(check_mode=True, confirm=None, delete_machines=None)
    assert result["deleted_machines"] == [OLD] and result["machine"] is None
    assert ["confirm: " in line or "delete_machines: " in line for line in result["warnings"]] == [True, True]
    assert run.plane.objects == before and run.plane.writes() == []


@pytest.mark.parametrize(("given", "said"), [
    ({"confirm": None}, f"expected {NAME}, the name of the cluster"),
    ({"confirm": "1"}, f"expected {NAME}, the name of the cluster"),
    ({"delete_machines": None}, f"expected 1, the number of control plane machines .*{OLD} on host"),
    ({"delete_machines": 3}, "expected 1, the number of control plane machines"),
    ({"sha256": "0" * 64}, "find out who has changed the file"),
    ({"sha256": "sha256:" + "0" * 64}, "expected sha256:0000.*find out who has changed the file"),
    ({"sha256": "x"}, "expected x; find out who has changed the file")])
def test_what_is_not_confirmed_is_refused(run, given, said):
    with pytest.raises(RefusedError, match=said):
        run.restore(**given)
    assert run.plane.writes() == []


def test_a_digest_is_taken_as_it_was_copied(run):
    path = run.file()
    sha256 = hashlib.sha256(Path(path).read_bytes()).hexdigest()
    result = run.restore(path, check_mode=True, sha256=f"sha256:{sha256.upper()} ")
    assert result["sha256"] == sha256 and not [line for line in result["warnings"] if "sha256" in line]


def test_a_plane_of_an_older_version_is_refused(run):
    run.plane.versions["KubeadmControlPlane"] = "v1beta1"
    with pytest.raises(RefusedError, match="KubeadmControlPlanes that are served in v1beta1 only, expected v1beta2"):
        run.restore()
    assert run.plane.writes() == []


@pytest.mark.parametrize(("about", "said"), [
    ({"cluster": "other"}, f"found a snapshot of cluster {NAMESPACE}/other"),
    ({"namespace": "other"}, f"found a snapshot of cluster other/{NAME}"),
    ({"authority": "cd" * 32}, "another authority of certificates"),
    ({"kubernetes_version": "v1.36.0"}, "expected the same minor version, or the next one"),
    ({"kubernetes_version": "v1.33.9"}, "expected the same minor version, or the next one"),
    ({"kubernetes_version": "v1." + "9" * 5000}, "expected the same minor version, or the next one"),
    ({"kubernetes_version": "none"}, "expected the same minor version, or the next one"),
    ({"etcd_version": "3.5.21"}, "one of etcd 3.5.21, of the same minor version"),
    ({"uid": "uid-of-the-plane"}, "its own management cluster")])
def test_a_snapshot_of_something_else_is_refused(run, about, said):
    with pytest.raises(RefusedError, match=said):
        run.restore(run.file(**about))
    assert run.plane.writes() == []


def change(run, path, value):
    found = run.plane.objects[path[0]]
    for key in path[1:-1]:
        found = found.setdefault(key, {})
    found[path[-1]] = value


PLANE, CLUSTER = ("KubeadmControlPlane", f"{NAME}-control-plane"), ("Cluster", NAME)


@pytest.mark.parametrize(("path", "value", "said"), [
    ((CLUSTER, "spec", "paused"), True, "a cluster that is paused"),
    ((PLANE, "metadata", "annotations"), {PAUSED_ANNOTATION: ""}, "a cluster that is paused"),
    ((PLANE, "metadata", "deletionTimestamp"), "now", "being deleted"),
    ((PLANE, "spec", "kubeadmConfigSpec", "format"), "ignition", "Ignition"),
    ((PLANE, "spec", "kubeadmConfigSpec", "clusterConfiguration"), {"etcd": {"external": {"endpoints": ["e"]}}},
     "outside the cluster"),
    ((PLANE, "spec", "kubeadmConfigSpec", "clusterConfiguration"), {"etcd": {"local": {"dataDir": "/x; reboot"}}},
     "no plain path"),
    ((PLANE, "spec", "machineTemplate"),
     {"spec": {"infrastructureRef": {"kind": "KubevirtMachineTemplate", "name": "t"}}},
     "machines of a KubevirtMachineTemplate, expected"),
    ((CLUSTER, "spec", "controlPlaneRef"), {"kind": "TalosControlPlane", "name": "t"}, "of kind TalosControlPlane"),
    ((("Secret", f"{NAME}-ca"), "data"), {"tls.crt": "bm8="}, "found no certificate")])
def test_a_control_plane_that_cannot_be_created_again_is_refused(run, path, value, said):
    change(run, path, value)
    with pytest.raises((RefusedError, EtcdError), match=said):
        run.restore()
    assert run.plane.writes() == []


def test_a_control_plane_on_servers_is_restored(run):
    change(run, (PLANE, "spec", "machineTemplate"),
           {"spec": {"infrastructureRef": {"kind": "Metal3MachineTemplate", "name": "t"}}})
    assert run.restore()["machine"] == NEW


def test_a_locked_host_is_left_alone(run):
    run.plane.add("BareMetalHost", "rack1-01", metadata={"annotations": {"metal3.baremetal/lock": json.dumps(
        {"reason": "fan", "until": ""})}}, spec={"consumerRef": {"kind": "Metal3Machine", "name": OLD}})
    with pytest.raises(RefusedError, match="fan"):
        run.restore()
    assert run.plane.writes() == []


def test_what_etcdutl_refuses_costs_nothing(run, monkeypatch):
    monkeypatch.setenv("ETCDUTL_REFUSES", "snapshot file integrity check failed")
    with pytest.raises(EtcdError, match="integrity check failed"):
        run.restore()
    assert run.plane.writes() == []


def test_a_file_that_is_exchanged_while_it_is_read_is_not_restored(run, monkeypatch):
    """The digest that was confirmed is that of what is decrypted."""
    other = Path(run.file(taken_at="2026-11-01T00:00:00Z")).read_bytes()
    path = run.file()
    sha256 = hashlib.sha256(Path(path).read_bytes()).hexdigest()
    decrypt = restore_service.age.decrypt_stream

    def exchanged(source, target, identity_file):
        with open(path, "r+b") as stream:
            stream.write(other)
            # The two are compressed to different lengths, depending on their keys.
            stream.truncate()
        decrypt(source, target, identity_file)

    monkeypatch.setattr(restore_service.age, "decrypt_stream", exchanged)
    with pytest.raises(RefusedError, match="find out who has changed the file"):
        run.restore(path, sha256=sha256)
    assert run.plane.writes() == []


def another_machine(run):
    """Somebody has replaced the machine that was confirmed."""
    stored = run.plane.objects.pop(("Machine", OLD))
    run.plane.add("Machine", "other", metadata={"labels": stored["metadata"]["labels"]}, spec=stored["spec"])


def another_uid(run):
    run.plane.objects["Machine", OLD]["metadata"]["uid"] = "another"


def a_pause(run):
    run.plane.objects["Cluster", NAME]["spec"]["paused"] = True


@pytest.mark.parametrize(("happens", "said"), [
    (another_machine, "other control plane machines by now .*other"), (another_uid, "other control plane machines"),
    (a_pause, "a cluster that is paused")])
def test_what_changes_while_etcdutl_works_is_refused(run, monkeypatch, happens, said):
    make = delivery.made

    def made(*arguments):
        happens(run)
        return make(*arguments)

    monkeypatch.setattr(delivery, "made", made)
    with pytest.raises(RefusedError, match=said):
        run.restore()
    assert run.plane.writes() == []


@pytest.mark.parametrize("program", ["/nonexistent", "/bin/true"])
def test_what_is_no_etcdutl_is_named(run, program):
    with pytest.raises(EtcdError, match=r"expected (the program|etcdutl)"):
        run.restore(etcdutl=program)


@pytest.mark.parametrize("content", [b"", b"no archive"])
def test_a_file_that_is_no_snapshot_is_refused(run, content):
    with pytest.raises(EtcdError, match="take another one"):
        run.restore(run.file(content))


def test_a_pipe_in_the_place_of_a_snapshot_keeps_no_run_waiting(run, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(EtcdError, match="pipe: no regular file; correct path"):
        run.restore(str(tmp_path / "pipe"))


def test_nothing_of_the_snapshot_is_left_on_this_machine(run, tmp_path, monkeypatch):
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    modes = []

    def send(data, host, port):
        modes.append(os.stat(Path(data.path).parent).st_mode & 0o777)
        return run._send(data, host, port)

    run.restore(send=send)
    assert set(modes) == {0o700} and list(folder.iterdir()) == []


FILES = ("Secret", receiver.secret_name(NAME))


@pytest.mark.parametrize("is_applied", [False, True], ids=["by others", "by the module manifests"])
def test_a_secret_of_somebody_else_is_neither_written_over_nor_deleted(run, is_applied):
    run.plane.add("Secret", FILES[1], data={"own": "b3du"})
    if is_applied:
        secret = receiver.secret(run.plane.of("Cluster"), "", b"", b"")
        run.plane.apply(BASE["Secret"], NAMESPACE, dict(secret, data={"own": "b3du"}))
    writes = run.plane.writes()
    before = copy.deepcopy(run.plane.objects[FILES])
    with pytest.raises(RefusedError, match=r"Secret metal3/prod-etcd-restore: found one that this collection has not"):
        run.restore()
    assert run.plane.writes() == writes and run.plane.objects[FILES] == before


@pytest.mark.parametrize("is_there", [False, True])
def test_a_secret_that_comes_between_the_look_and_the_write_stays_as_it_is(run, is_there):
    """With the machine's key others would get etcd's data; with theirs it would take data from them."""
    if is_there:
        run.plane.apply(BASE["Secret"], NAMESPACE, receiver.secret(run.plane.of("Cluster"), "", b"old", b"old"))

    def meanwhile():
        run.plane.add("Secret", FILES[1], data={"own": "b3du"}, metadata={"uid": "another", "resourceVersion": "7"})

    run.plane.meanwhile[FILES] = meanwhile
    with pytest.raises(KubeError, match="modified"):
        run.restore()
    assert run.plane.objects[FILES]["data"] == {"own": "b3du"}


def test_a_secret_that_a_killed_run_has_left_is_written_over(run):
    run.plane.apply(BASE["Secret"], NAMESPACE, receiver.secret(run.plane.of("Cluster"), "", b"old", b"old"))
    assert run.restore()["machine"] == NEW and is_as_described(run.plane)


class Killed(Exception):
    """The run is killed."""


def test_a_run_that_was_killed_before_the_data_arrived_begins_again(run):
    def send(_data, _host, _port):
        raise Killed

    with pytest.raises(Killed):
        run.restore(send=send)
    # It goes with the cluster when nobody restores it any more.
    owner, = run.plane.objects[FILES]["metadata"]["ownerReferences"]
    assert (owner["kind"], owner["uid"]) == ("Cluster", run.plane.of("Cluster")["metadata"]["uid"])
    assert control_plane.note_of(run.plane.of("KubeadmControlPlane"))[:3] == (3, hashlib.sha256(
        Path(run.folder, "snapshot.age").read_bytes()).hexdigest(), None)
    # The machine that waits has a key that nobody knows any more; its number is asked for as well.
    with pytest.raises(RefusedError, match=f"expected 1, the number of control plane machines .*{NEW}"):
        run.restore(delete_machines=None)
    result = run.restore()
    assert result["deleted_machines"] == [NEW] and result["machine"] == f"{NEW}-2" and is_as_described(run.plane)


def test_a_run_that_was_killed_while_the_new_machine_was_kept_from_its_controllers_begins_again(run, monkeypatch):
    """Cluster API deletes no Machine that is paused."""
    def give_files(_restore, _cluster, _data):
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(restore_service.Restore, "_give_files", give_files)
        with pytest.raises(Killed):
            run.restore()
    assert PAUSED_ANNOTATION in run.plane.of("Machine")["metadata"]["annotations"]
    result = run.restore()
    assert result["deleted_machines"] == [NEW] and result["machine"] == f"{NEW}-2" and is_as_described(run.plane)


def test_a_run_that_was_killed_before_anything_went_restores(run):
    """The old API server answers, with the same uid, and has not what is to be restored."""
    plane = run.plane.of("KubeadmControlPlane")
    run.plane.patch(KNOWN["KubeadmControlPlane"], NAMESPACE, plane["metadata"]["name"],
                    control_plane.begun(plane, "x", ""))
    assert run.restore()["deleted_machines"] == [OLD] and is_as_described(run.plane)


def killed(_restore):
    raise Killed


def killed_after_delivery(run, monkeypatch):
    """Restore a file, killed when its data had arrived; return its path."""
    path = run.file()
    with monkeypatch.context() as patch:
        patch.setattr(restore_service.Restore, "_finished", killed)
        with pytest.raises(Killed):
            run.restore(path)
    assert run.plane.of("KubeadmControlPlane")["spec"]["replicas"] == 1
    return path


def test_a_run_with_another_file_does_not_take_up_what_was_restored(run, monkeypatch):
    """The cluster has the data of the first file, whatever its API server answers."""
    killed_after_delivery(run, monkeypatch)
    other = run.file(taken_at="2026-11-01T00:00:00Z")
    with pytest.raises(RefusedError, match=f"expected 1, the number of control plane machines .*{NEW}"):
        run.restore(other, delete_machines=None)
    result = run.restore(other)
    assert result["deleted_machines"] == [NEW] and result["taken_at"] == "2026-11-01T00:00:00Z"
    assert result["machine"] == f"{NEW}-2" and is_as_described(run.plane)


def test_a_run_that_was_killed_when_the_data_had_arrived_goes_on(run, monkeypatch):
    path = killed_after_delivery(run, monkeypatch)
    sent = len(run.sent)
    result = run.restore(path, delete_machines=None)
    assert result["deleted_machines"] == [] and result["machine"] == NEW and len(run.sent) == sent
    assert is_as_described(run.plane)


def test_a_server_that_restarts_when_the_data_has_arrived_costs_no_second_machine(run, monkeypatch):
    """Without the note of who has taken it, the next run would deploy another one."""
    got, silent = run.plane.get, []

    def get(resource, namespace, name):
        if silent:
            silent.pop()
            raise KubeError("no answer", reason="Unreachable")
        return got(resource, namespace, name)

    def send(data, host, port):
        refused = run._send(data, host, port)
        silent.extend([1, 1] if not refused else [])
        return refused

    monkeypatch.setattr(run.plane, "get", get)
    assert run.restore(send=send)["machine"] == NEW and not silent and is_as_described(run.plane)


def test_a_machine_that_comes_while_the_others_go_is_not_taken_for_the_one_that_waits(run, monkeypatch):
    """The control plane's controller was at work when it was paused."""
    delete = run.plane.delete

    def deleted(resource, namespace, name, *arguments, **options):
        if resource.kind == "Machine" and name == OLD:
            run.plane.add_machine("late", {})
        return delete(resource, namespace, name, *arguments, **options)

    with monkeypatch.context() as patch:
        patch.setattr(run.plane, "delete", deleted)
        with pytest.raises(EtcdError, match="found late, which came while the others were deleted"):
            run.restore()
    assert not run.sent
    with pytest.raises(RefusedError, match=r"expected 1, the number of control plane machines .*late"):
        run.restore(delete_machines=None)
    assert run.restore()["deleted_machines"] == ["late"] and is_as_described(run.plane)


def test_a_machine_that_takes_nothing_ends_the_run_with_the_reason(run):
    with pytest.raises(EtcdError, match=r"takes etcd's data.*192\.0\.2\.1: refused"):
        run.restore(send=lambda _data, host, _port: f"{host}: refused")


def host_of(plane, machine, state, message="", count=3):
    """Add the host of a Machine; with a message it is in error."""
    status = {"provisioning": {"state": state}, "operationalStatus": "error" if message else "OK", "errorCount": count,
              "errorType": "provisioning error" if message else "", "errorMessage": message}
    plane.add("BareMetalHost", f"host-of-{machine}", status=status, spec={
        "online": True, "consumerRef": {"kind": "Metal3Machine", "name": machine, "namespace": NAMESPACE}})


def test_a_server_of_before_that_cannot_be_deprovisioned_ends_the_run_with_the_reason(run):
    """Its BMC may be what the control plane was lost with; the run waited for it until its time was up."""
    host_of(run.plane, OLD, "provisioned", "the BMC does not answer")
    delete = run.plane.delete

    def deleted(resource, namespace, name, *arguments, **options):
        if resource.kind != "Machine":
            return delete(resource, namespace, name, *arguments, **options)
        run.plane.objects["Machine", name]["metadata"]["deletionTimestamp"] = "2026-01-04T00:00:00Z"
        run.plane.sleep = lambda _seconds: None
        return True

    run.plane.delete = deleted
    with pytest.raises(EtcdError, match=f"BareMetalHost {NAMESPACE}/host-of-{OLD} can't be deprovisioned"):
        run.restore()
    # What was wrong before, a deprovisioning may put right.
    assert 180 <= run.clock < 200


def test_a_server_on_which_the_machine_cannot_be_deployed_ends_the_run_with_the_reason(run, monkeypatch):
    """Nothing was said of it before the time was up."""
    step = {"machine": NEW, "role": "control-plane", "owner": f"{NAME}-control-plane", "step": 12, "since": None,
            "host": f"host-of-{NEW}", "complete": False, "deleting": False}
    monkeypatch.setattr(failures, "machine_steps", lambda _snapshot: [step])

    def send(_data, host, _port):
        host_of(run.plane, NEW, "provisioning", "image is larger than the disk")
        return f"{host}: no answer"

    with pytest.raises(EtcdError, match=f"BareMetalHost host-of-{NEW}: the image does not fit on the root device"):
        run.restore(send=send)
    assert run.clock < 60


def test_a_cluster_that_has_no_endpoint_any_more_is_restored_by_the_machines_own_address(run):
    """It ended with a traceback when the machines of before were deleted."""
    def sleep(seconds, advance=run.plane.sleep):
        run.plane.objects["Cluster", NAME]["spec"].pop("controlPlaneEndpoint", None)
        advance(seconds)

    run.plane.sleep = sleep
    assert run.restore()["machine"] == NEW and set(run.sent) == {("192.0.2.7", 6443)}


def test_a_machine_that_somebody_deletes_is_named(run):
    def send(_data, _host, _port):
        run.plane.objects.pop(("Machine", NEW), None)
        return "refused"

    with pytest.raises(EtcdError, match="found none any more"):
        run.restore(send=send)


def add_workers(run, *names):
    """Add Machines of workers, of which the management cluster in memory does not notice anything."""
    for name in names:
        run.plane.add("Machine", name, metadata={"labels": {"cluster.x-k8s.io/cluster-name": NAME}}, spec={
            "clusterName": NAME, "infrastructureRef": {"kind": "Metal3Machine", "name": name}},
            status={"nodeRef": {"name": name}})
    machines, original = run.plane.sleep, run.plane.of

    def sleep(seconds):
        workers = [run.plane.objects.pop(("Machine", name)) for name in names]
        machines(seconds)
        run.plane.objects.update((("Machine", name), worker) for name, worker in zip(names, workers))

    run.plane.sleep = sleep
    run.plane.of = lambda kind, name=None: original(kind, NEW if kind == "Machine" and name is None else name)


def is_kept(plane, name):
    return SKIP in (plane.objects["Machine", name]["metadata"].get("annotations") or {})


def test_a_worker_that_has_joined_since_is_named(run):
    add_workers(run, "young")
    assert run.restore()["missing_nodes"] == ["young"]


def test_health_checks_replace_no_worker_whose_node_the_snapshot_does_not_know(run):
    """A Node that is not there counts as unhealthy at once, whatever time the health check allows."""
    add_workers(run, "young", "worker", "maintained")
    run.workload.add_node("maintained", control_plane=False)
    run.plane.objects["Machine", "maintained"]["metadata"]["annotations"] = {SKIP: "metal3.baremetal"}
    run.plane.add("Metal3Machine", "maintained", spec={})
    run.plane.add("BareMetalHost", "host", metadata={"annotations": {host_annotations.MAINTENANCE: "fan"}}, spec={
        "consumerRef": {"kind": "Metal3Machine", "name": "maintained", "namespace": NAMESPACE}})
    kept = []

    def send(data, host, port):
        kept.append([is_kept(run.plane, name) for name in ("young", "worker")])
        return run._send(data, host, port)

    assert run.restore(send=send)["missing_nodes"] == ["young"]
    assert kept[0] == [True, True]
    assert [is_kept(run.plane, name) for name in ("young", "worker", "maintained")] == [True, False, True]


def test_machines_are_kept_from_checks_side_by_side_and_one_that_has_gone_meanwhile_is_left_out(run, monkeypatch):
    """Of hundreds of workers one after another takes as many round trips, while the control plane is lost."""
    add_workers(run, "young", "worker", "gone")
    together, patch = threading.Barrier(3, timeout=20), run.plane.patch

    def beside_the_others(resource, namespace, name, *arguments, **options):
        if resource.kind == "Machine" and name in ("young", "worker", "gone") and not is_kept(run.plane, name):
            together.wait()
        if name == "gone":
            raise KubeError("machines gone not found", 404)
        return patch(resource, namespace, name, *arguments, **options)

    monkeypatch.setattr(run.plane, "patch", beside_the_others)
    assert run.restore()["missing_nodes"] == ["gone", "young"]
    assert is_kept(run.plane, "young") and not is_kept(run.plane, "worker")


def test_an_address_that_is_right_stays(run):
    run.member = Member(["https://192.0.2.7:2380"])
    run.member.set_peer_urls = None
    run.restore()


@pytest.mark.parametrize("containers", [7, {"name": "etcd"}, ["etcd"], [{"command": 7}], [{"command": [7]}]],
                         ids=["number", "mapping", "text", "number as command", "number in a command"])
def test_a_pod_of_another_shape_says_no_address(run, containers):
    """The cluster's own API server answers, whoever that is by then."""
    send = run._send

    def sent(*arguments):
        refused = send(*arguments)
        for (kind, _name), pod in run.workload.objects.items():
            if kind == "Pod":
                pod["spec"]["containers"] = containers
        return refused

    with pytest.raises(EtcdError, match=r"not in time: etcd on Node .* has its address"):
        run.restore(send=sent)


def test_a_version_is_read_of_what_etcdutl_says_once(run):
    assert delivery.version_of(str(run.program)) == "3.6.16"
    asked = Path(f"{run.program}.asked")
    asked.unlink()
    run.restore()
    assert asked.read_text() == "x\n"
