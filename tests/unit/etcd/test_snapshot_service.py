# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Snapshots of several clusters, written encrypted, read again, kept or not; one cluster's fault is no other's."""
from __future__ import annotations

import contextlib
import hashlib
import io
import os
import shutil
import tempfile

import pyrage
import pytest
from fakes.etcd_snapshots import DATABASE, SNAPSHOT, messages
from fakes.restored_plane import NAME, NAMESPACE, OLD, Plane, Workload

from ansible_collections.metal3.baremetal.plugins.module_utils._backup import age
from ansible_collections.metal3.baremetal.plugins.module_utils._common.waiting.progress import Progress
from ansible_collections.metal3.baremetal.plugins.module_utils._etcd import member, site, snapshot_service
from ansible_collections.metal3.baremetal.plugins.module_utils._etcd.errors import EtcdError
from ansible_collections.metal3.baremetal.plugins.module_utils._etcd.snapshot import unpacked


class Member:
    """etcd on a node, as it answers."""

    def __init__(self, _workload, node, _context):
        self.node = node

    content = SNAPSHOT
    wrong: dict = {}

    def status(self):
        if self.wrong.get(self.node) == "silent":
            raise EtcdError(f"etcd on Node {self.node}: no answer")
        return member.Status("3.6.16", 7, self.wrong.get(self.node) or "")

    def is_up_to_date(self):
        return self.wrong.get(self.node) is None

    @contextlib.contextmanager
    def snapshot(self):
        yield messages(self.content)


@pytest.fixture
def etcd(monkeypatch):
    """The class of the members, for one test."""
    found = type("OwnMember", (Member,), {"wrong": {}})
    monkeypatch.setattr(site, "Member", found)
    monkeypatch.setattr(site, "workload_client", lambda client, *_arguments: client.workload)
    return found


@pytest.fixture
def plane():
    return Plane(Workload())


@pytest.fixture
def identity(tmp_path):
    found = pyrage.x25519.Identity.generate()
    (tmp_path / "identity").write_text(f"{found}\n")
    return found, str(tmp_path / "identity")


# The digest of the uid of the cluster's Namespace kube-system.
PREFIX = f"etcd.{NAMESPACE}.{NAME}." + hashlib.sha256(b"uid-of-prod").hexdigest()[:8]


def take(plane, folder, identity, clusters=(NAME,), check_mode=False, now=1795000000, **params):
    return snapshot_service.Snapshots(plane, dict({
        "namespace": NAMESPACE, "clusters": list(clusters), "directory": str(folder),
        "recipients": [str(identity.to_public())], "identity_file": None, "keep": None}, **params), check_mode,
        Progress(None), lambda: now).taken()


def test_a_snapshot_is_written_and_read_again(plane, etcd, tmp_path, identity):
    key, path = identity
    result = take(plane, tmp_path / "new" / "snapshots", key, identity_file=path)
    found, = result["clusters"]
    assert result["changed"] and result["errors"] == [] and found["verified"] and found["bytes"] == len(SNAPSHOT)
    assert found["path"] == str(tmp_path / "new" / "snapshots" / f"{PREFIX}-2026-11-18T110640Z.age")
    assert os.stat(found["path"]).st_mode & 0o777 == 0o600
    assert os.stat(tmp_path / "new" / "snapshots").st_mode & 0o777 == 0o700
    name = os.path.basename(found["path"])
    assert sorted(os.listdir(tmp_path / "new" / "snapshots")) == [f".{name}.json", name]
    with open(found["path"], "rb") as stream:
        content = stream.read()
    assert DATABASE[:100] not in content
    database = io.BytesIO()
    about = unpacked(io.BytesIO(pyrage.decrypt(content, [key])), database)
    assert database.getvalue() == SNAPSHOT
    assert (about.cluster, about.uid, about.kubernetes_version, about.etcd_version, about.revision) == (
        NAME, "uid-of-prod", "v1.35.4", "3.6.16", 7)
    assert found["node"] == OLD and plane.writes() == [] and plane.workload.writes() == []


def test_a_nodes_name_steers_no_terminal(plane, etcd, tmp_path, identity):
    """The role etcd shows it, and Ansible's debug prints U+009B as it is."""
    plane.objects["Machine", OLD]["status"]["nodeRef"]["name"] = "n\x9b2J"
    assert take(plane, tmp_path, identity[0])["clusters"][0]["node"] == r"n\x9b2J"


def test_what_is_read_again_is_nowhere_in_clear_text(plane, etcd, tmp_path, identity, monkeypatch):
    # The folder may be an NFS server's, to which a file without a name is sent as well.
    monkeypatch.setattr(tempfile, "TemporaryFile", lambda *_args, **_options: pytest.fail("a temporary file"))
    assert take(plane, tmp_path, identity[0], identity_file=identity[1])["clusters"][0]["verified"] is True


def test_without_a_key_it_is_not_read_again(plane, etcd, tmp_path, identity):
    assert take(plane, tmp_path, identity[0])["clusters"][0]["verified"] is False


def test_check_mode_asks_and_writes_nothing(plane, etcd, tmp_path, identity):
    found = take(plane, tmp_path / "none", identity[0], check_mode=True)
    assert found["changed"] and found["clusters"][0]["sha256"] is None and not (tmp_path / "none").exists()
    etcd.wrong[OLD] = "silent"
    assert "no answer" in take(plane, tmp_path / "none", identity[0], check_mode=True)["errors"][0]


def test_so_many_are_kept_of_each_cluster(plane, etcd, tmp_path, identity):
    for name in (f"{PREFIX}-2026-01-01T000000Z.age", f"etcd.{NAMESPACE}.{NAME}-2-2026-01-01T000000Z.age",
                 f"etcd.{NAMESPACE}.{NAME}.0123abcd-2026-01-01T000000Z.age", f"{NAMESPACE}-2026-01-01T000000Z.age",
                 "notes"):
        (tmp_path / name).write_text("")
    paths = [take(plane, tmp_path, identity[0], now=1795000000 + day * 86400, keep=2) for day in range(3)]
    removed = [path for result in paths for path in result["clusters"][0]["removed"]]
    assert [os.path.basename(path) for path in removed] == [f"{PREFIX}-2026-11-18T110640Z.age"]
    # What no run has written stays, and is named.
    assert all(f"{PREFIX}-2026-01-01" in warning for result in paths for warning in result["warnings"])
    assert len([name for name in os.listdir(tmp_path) if name.startswith("etcd.") or name == "notes"]) == 6


def test_a_snapshot_that_is_not_whole_takes_no_other_ones_place(plane, etcd, tmp_path, identity):
    old = tmp_path / f"{PREFIX}-2026-01-01T000000Z.age"
    old.write_text("")
    etcd.content = SNAPSHOT[:-1] + b"\0"
    result = take(plane, tmp_path, identity[0], keep=1)
    assert "digest is another one" in result["errors"][0] and not result["changed"]
    assert sorted(os.listdir(tmp_path)) == [old.name, "identity"]


def test_what_is_not_read_as_it_was_written_fails(plane, etcd, tmp_path, identity, monkeypatch):
    key, path = identity
    monkeypatch.setattr(age, "decrypt_stream", lambda _source, target, _identity: target.write(b"other"))
    result = take(plane, tmp_path, key, identity_file=path)
    assert "found another content than was written" in result["errors"][0]


@pytest.mark.parametrize("kind", ["older snapshot", "more", "pipe"])
@pytest.mark.parametrize("has_key", [True, False], ids=["with the key", "without it"])
def test_a_snapshot_that_is_exchanged_when_it_is_written_is_none(plane, etcd, tmp_path, identity, monkeypatch, kind,
                                                                 has_key):
    """Its checksum would be the one that a restore is confirmed by, and older ones would go for it."""
    key, path = identity
    old = take(plane, tmp_path, key)["clusters"][0]["path"]
    writing = snapshot_service.whole_file.writing

    @contextlib.contextmanager
    def exchanged(target, mode):
        with contextlib.ExitStack() as stack:
            yield stack.enter_context(writing(target, mode))
        if not target.endswith(".age"):
            return
        if kind == "pipe":
            os.unlink(target)
            os.mkfifo(target)
        elif kind == "more":
            with open(target, "ab") as stream:
                stream.write(b"x")
        else:
            shutil.copyfile(old, target)

    monkeypatch.setattr(snapshot_service.whole_file, "writing", exchanged)
    found = take(plane, tmp_path, key, identity_file=path if has_key else None, keep=1, now=1795000000 + 86400)
    assert len(found["errors"]) == 1 and found["clusters"][0]["sha256"] is None and os.path.exists(old)


def test_the_checksum_is_that_of_the_file(plane, etcd, tmp_path, identity):
    found = take(plane, tmp_path, identity[0])["clusters"][0]
    with open(found["path"], "rb") as stream:
        assert found["sha256"] == hashlib.sha256(stream.read()).hexdigest()


def test_one_clusters_fault_is_no_other_ones(plane, etcd, tmp_path, identity):
    result = take(plane, tmp_path, identity[0], clusters=["no-such", NAME])
    assert [item["name"] for item in result["clusters"]] == ["no-such", NAME]
    assert "found no Cluster, expected one" in result["errors"][0] and len(result["errors"]) == 1
    assert result["clusters"][0]["path"] is None and os.path.exists(result["clusters"][1]["path"])


def test_a_member_that_is_not_well_is_not_taken(plane, etcd, tmp_path, identity):
    plane.add_machine("prod-control-plane-other", {}, node="prod-control-plane-other")
    etcd.wrong.update({OLD: ["alarm:CORRUPT"]})
    assert take(plane, tmp_path, identity[0])["clusters"][0]["node"] == "prod-control-plane-other"
    etcd.wrong["prod-control-plane-other"] = "silent"
    error, = take(plane, tmp_path, identity[0])["errors"]
    assert "alarm:CORRUPT" in error and "no answer" in error


def test_a_recipient_that_is_none_is_named_before_anything_is_asked(plane, etcd, tmp_path, identity):
    with pytest.raises(age.AgeError, match=r"recipients\[1\]"):
        take(plane, tmp_path, identity[0], recipients=["age1nonsense"])
    assert plane.requests == []


def test_a_folder_that_cannot_be_written_is_named(plane, etcd, tmp_path, identity):
    (tmp_path / "file").write_text("")
    assert "correct directory" in take(plane, tmp_path / "file" / "x", identity[0])["errors"][0]
