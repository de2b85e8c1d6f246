# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""``workload_kubeconfig``: only a file that is the cluster's own kubeconfig is overwritten or removed."""
from __future__ import annotations

import base64
import copy
import os

import pytest
import yaml

from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.kubeconfig_file import KubeconfigFile
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.service import ClusterService
from ansible_collections.metal3.baremetal.plugins.module_utils._common.files import whole_file
from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.errors import RefusedError
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.connection import kubeconfig


def pem(text):
    return base64.b64encode(b"-----BEGIN CERTIFICATE-----\n%s" % text.encode()).decode()


def kubeconfig_of(name="prod", server="https://192.0.2.10:6443", authority="ours"):
    return {"apiVersion": "v1", "kind": "Config", "preferences": {}, "current-context": name,
            "clusters": [{"name": name, "cluster": {"server": server, "certificate-authority-data": pem(authority)}}],
            "users": [{"name": name, "user": {"client-certificate-data": pem("c"), "client-key-data": pem("k")}}],
            "contexts": [{"name": name, "context": {"cluster": name, "user": name}}]}


OWN = kubeconfig_of()


class Service(ClusterService):
    """A cluster with a kubeconfig, or with none yet.

    :param stored: the stored Cluster's endpoint; None when there is no Cluster
    """

    def __init__(self, content, endpoint=None, stored=None):
        self.name, self.namespace, self.params, self._content = "prod", "metal3", {"endpoint": endpoint}, content
        self._stored = stored
        self.client = self

    def get(self, resource, namespace, name):
        assert (resource.kind, namespace, name) == ("Cluster", "metal3", "prod")
        return {"spec": {"controlPlaneEndpoint": self._stored}} if self._stored else None

    def kubeconfig(self):
        return copy.deepcopy(self._content)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "kubeconfig"


def two_clusters():
    content, other = copy.deepcopy(OWN), kubeconfig_of("other", "https://192.0.2.20:6443")
    for key in ("clusters", "users", "contexts"):
        content[key] += other[key]
    return content


OTHERS = {
    "notes": b"my notes\n",
    "binary": b"\x7fELF\0",
    "another cluster's": kubeconfig.as_text(kubeconfig_of("other", "https://192.0.2.20:6443", "theirs")),
    "another cluster of that name": kubeconfig.as_text(kubeconfig_of("prod", "https://192.0.2.20:6443", "theirs")),
    "several clusters": kubeconfig.as_text(two_clusters()),
    "a user's own": yaml.safe_dump(dict(OWN, users=[{"name": "prod", "user": {"exec": {"command": "aws"}}}])).encode(),
}


@pytest.mark.parametrize("content", OTHERS.values(), ids=OTHERS)
@pytest.mark.parametrize("known", [OWN, None], ids=["running", "without kubeconfig"])
def test_another_file_is_neither_overwritten_nor_removed(path, content, known):
    path.write_bytes(content)
    file = KubeconfigFile(str(path), Service(known, {"host": "192.0.2.10", "port": 6443}))
    for act in (file.check, lambda: file.remove(False), lambda: file.write(False, False) if known else file.check()):
        with pytest.raises(RefusedError, match=f"workload_kubeconfig: found {path}: .*, expected no file, or this"):
            act()
    assert path.read_bytes() == content


@pytest.mark.parametrize("kind", ["link", "dangling link", "folder", "pipe"])
def test_what_is_no_regular_file_is_refused_even_when_its_content_is_the_clusters(path, tmp_path, kind):
    target = tmp_path / "target"
    target.write_bytes(kubeconfig.as_text(OWN))
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to(target if kind == "link" else tmp_path / "nowhere")
    file = KubeconfigFile(str(path), Service(OWN))
    for act in (file.check, lambda: file.remove(False), lambda: file.write(False, False)):
        with pytest.raises(RefusedError, match="workload_kubeconfig"):
            act()
    assert os.path.lexists(path) and target.read_bytes() == kubeconfig.as_text(OWN)


def test_it_is_written_once_for_its_owner_only_and_removed(path):
    file = KubeconfigFile(str(path), Service(OWN))
    file.check()
    assert file.write(True, False) == {"workload_kubeconfig": str(path), "changed": True} and not path.exists()
    old = os.umask(0)
    try:
        assert file.write(False, False)["changed"]
    finally:
        os.umask(old)
    assert path.stat().st_mode & 0o777 == 0o600 and yaml.safe_load(path.read_text()) == OWN
    assert not file.write(False, False)["changed"]
    assert os.listdir(path.parent) == ["kubeconfig"]
    file.check()
    assert file.remove(True) == (True, []) and path.exists()
    assert file.remove(False) == (True, []) and not path.exists()
    assert file.remove(False) == (False, [])


def test_a_permission_that_others_got_is_taken_back(path):
    path.write_bytes(kubeconfig.as_text(OWN))
    path.chmod(0o644)
    assert KubeconfigFile(str(path), Service(OWN)).write(False, False)["changed"]
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("before", [
    kubeconfig_of(authority="an earlier one"), kubeconfig_of(server="https://192.0.2.11:6443")],
    ids=["made again", "another endpoint"])
def test_an_earlier_kubeconfig_of_the_cluster_is_replaced(path, before):
    path.write_bytes(kubeconfig.as_text(before))
    file = KubeconfigFile(str(path), Service(OWN))
    file.check()
    assert file.write(False, False)["changed"]
    assert yaml.safe_load(path.read_text()) == OWN


def test_without_a_kubeconfig_yet_name_and_endpoint_decide(path):
    path.write_bytes(kubeconfig.as_text(OWN))
    KubeconfigFile(str(path), Service(None, {"host": "192.0.2.10"})).check()
    KubeconfigFile(str(path), Service(None, stored={"host": "192.0.2.10", "port": 6443})).check()
    with pytest.raises(RefusedError, match="the kubeconfig of another cluster"):
        KubeconfigFile(str(path), Service(None, stored={"host": "192.0.2.99", "port": 6443})).check()
    with pytest.raises(RefusedError, match=r"the kubeconfig of another cluster \(prod, https://192.0.2.10:6443\)"):
        KubeconfigFile(str(path), Service(None, {"host": "192.0.2.99", "port": 6443})).check()


def test_a_removal_at_the_end_knows_the_kubeconfig_of_the_beginning(path):
    """By then the Secret is gone with the cluster."""
    content = kubeconfig_of("made-by-hand")
    service = Service(content)
    path.write_bytes(kubeconfig.as_text(content))
    file = KubeconfigFile(str(path), service)
    file.check()
    service._content = None
    assert file.remove(False) == (True, []) and not path.exists()


def test_a_removal_at_the_end_knows_the_endpoint_of_the_beginning(path):
    """The cluster never came up, and had no Secret; by then the Cluster is gone too."""
    service = Service(None, stored={"host": "192.0.2.10", "port": 6443})
    path.write_bytes(kubeconfig.as_text(OWN))
    file = KubeconfigFile(str(path), service)
    file.check()
    service._stored = None
    assert file.remove(False) == (True, []) and not path.exists()


@pytest.mark.parametrize("check_mode", [True, False])
def test_a_teardown_at_another_management_cluster_leaves_the_file_of_the_running_cluster(path, check_mode):
    """There is no Cluster of that name, so that nothing says that the file is of the one to be deleted."""
    path.write_bytes(kubeconfig.as_text(OWN))
    file = KubeconfigFile(str(path), Service(None))
    file.check()
    removed, warnings = file.remove(check_mode)
    assert not removed and len(warnings) == 1 and f"prod: {path} stays" in warnings[0]
    assert path.read_bytes() == kubeconfig.as_text(OWN)


def test_a_file_that_appears_during_a_teardown_stays(path):
    file = KubeconfigFile(str(path), Service(None))
    file.check()
    path.write_bytes(kubeconfig.as_text(OWN))
    assert file.remove(False)[0] is False and path.exists()


def test_a_write_that_fails_leaves_what_was_there(path, monkeypatch):
    path.write_bytes(b"before")

    def fail(*_arguments):
        raise OSError("no")

    monkeypatch.setattr(whole_file.os, "replace", fail)
    with pytest.raises(OSError, match="no"):
        whole_file.write(str(path), b"after", 0o600, False)
    assert path.read_bytes() == b"before" and os.listdir(path.parent) == ["kubeconfig"]


def test_an_empty_file_is_none(path):
    """tempfile makes one before its name is known."""
    path.write_bytes(b"")
    file = KubeconfigFile(str(path), Service(OWN))
    file.check()
    assert file.remove(False)[0] is False and path.exists()
    assert file.write(False, False)["changed"]
    assert yaml.safe_load(path.read_text()) == OWN and path.stat().st_mode & 0o777 == 0o600
