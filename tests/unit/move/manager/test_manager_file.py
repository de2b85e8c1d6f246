# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The folder of a site: written once, read only if it is what was recorded and nobody else could have written it."""
from __future__ import annotations

import base64
import os
import stat

import pytest
from fakes.planes import host, obj, server
from fakes.site_folder import config

from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.errors import RefusedError
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.connection import kubeconfig
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.responses.errors import KubeError
from ansible_collections.metal3.baremetal.plugins.module_utils._move.manager import service as manager_service
from ansible_collections.metal3.baremetal.plugins.module_utils._move.manager.site_folder import SiteFolder


@pytest.fixture
def folder(tmp_path):
    return SiteFolder("rack1", "/plane", "metal3/c", {"XDG_STATE_HOME": str(tmp_path)})


def test_a_record_is_its_owners_only_and_read_again(folder):
    assert folder.read() is None and not folder.has_kubeconfig()
    assert folder.keep_kubeconfig(config(), False) and not folder.keep_kubeconfig(config(), False)
    assert folder.record("cluster", True) is not None and folder.read() is None
    assert folder.record("cluster", False) is not None and folder.record("cluster", False) is None
    assert folder.read().manager == "cluster"
    assert folder.checked_kubeconfig(folder.read()) == folder.kubeconfig
    for path, mode in ((folder.path, 0o700), (folder.file, 0o600), (folder.kubeconfig, 0o600)):
        assert stat.S_IMODE(os.stat(path).st_mode) == mode


@pytest.mark.parametrize("what", ["mode", "link", "server", "authority", "gone", "record mode", "record text", "pipe"])
def test_what_others_could_have_written_is_refused(folder, what):
    folder.keep_kubeconfig(config(), False)
    folder.record("cluster", False)
    if what == "mode":
        os.chmod(folder.kubeconfig, 0o640)
    elif what == "link":
        os.rename(folder.kubeconfig, folder.kubeconfig + ".other")
        os.symlink(folder.kubeconfig + ".other", folder.kubeconfig)
    elif what == "server":
        folder.keep_kubeconfig(config("https://203.0.113.6:6443"), False)
    elif what == "authority":
        folder.keep_kubeconfig(config(ca=base64.b64encode(b"-----BEGIN CERTIFICATE-----\nother").decode()), False)
    elif what == "gone":
        os.unlink(folder.kubeconfig)
    elif what == "pipe":
        os.unlink(folder.kubeconfig)
        os.mkfifo(folder.kubeconfig, 0o600)
    elif what == "record mode":
        os.chmod(folder.file, 0o660)
    else:
        with open(folder.file, "w", encoding="utf-8") as stream:
            stream.write("{}")
    with pytest.raises(RefusedError, match=r"that the playbook metal3.baremetal.site has written"):
        folder.checked_kubeconfig(folder.read())


def test_a_renewed_user_is_no_other_cluster(folder):
    folder.keep_kubeconfig(config(), False)
    folder.record("cluster", False)
    folder.keep_kubeconfig(config(token="two"), False)
    assert folder.checked_kubeconfig(folder.read()) and folder.record("cluster", False) is None


def test_the_record_of_another_site_is_refused(folder, tmp_path):
    folder.record("bootstrap", False)
    with pytest.raises(RefusedError, match=r"that of the plane in /other and of cluster metal3/c"):
        SiteFolder("rack1", "/other", "metal3/c", {"XDG_STATE_HOME": str(tmp_path)}).read()


class Planes:
    """Two planes in memory and a module's parameters."""

    def __init__(self, monkeypatch, tmp_path, **params):
        monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
        self.dir = tmp_path / "plane"
        self.dir.mkdir()
        (self.dir / "lab.json").write_text('{"mode": "process", "name": "rack1", "dir": "%s", "ports": {}}' % self.dir)
        (self.dir / "kubeconfig").write_text("{}")
        self.params = dict({"name": "rack1", "plane_dir": str(self.dir), "cluster": "c", "cluster_namespace": "metal3",
                            "namespace": "metal3", "endpoint_host": "192.0.2.9", "endpoint_port": 6443}, **params)
        self.here = server("a", "https://127.0.0.1:6443", [host("h"), self.secret(config())])
        self.there = server("b", "https://192.0.2.9:6443")
        self.down = set()
        monkeypatch.setattr(manager_service.orphans, "processes", lambda directory: [] if "here" in self.down else [1])

    @staticmethod
    def secret(content):
        return obj("v1", "Secret", "c-kubeconfig",
                   data={"value": base64.b64encode(kubeconfig.as_text(content)).decode()})

    def connect(self, path):
        name = "here" if path == str(self.dir / "kubeconfig") else "there"
        if name in self.down:
            raise KubeError("refused")
        return getattr(self, name)

    def site(self, check_mode=False):
        return manager_service.SiteManager(self.params, check_mode, self.connect)

    def move(self):
        self.there.objects.update(self.here.objects)
        for item in [("BareMetalHost", "h"), ("Secret", "c-kubeconfig")]:
            host_or_secret = self.here.objects.pop(item)
            host_or_secret["metadata"].pop("annotations", None)
            self.there.objects[item] = host_or_secret


@pytest.fixture
def planes(monkeypatch, tmp_path):
    found = Planes(monkeypatch, tmp_path)
    found.here.objects["BareMetalHost", "h"]["metadata"].pop("annotations")
    return found


def test_the_record_follows_the_hosts(planes):
    site = planes.site()
    assert site.found()["stage"] == "bootstrap" and site.found()["recorded"] == ""
    assert planes.site(check_mode=True).recorded()["changed"] and not os.path.exists(site.found()["folder"])
    result = site.recorded()
    assert (result["changed"], result["recorded"], result["hosts"]) == (True, "bootstrap", ["h"])
    assert result["diff"]["after"]["server"] == "https://192.0.2.9:6443" and "one" not in str(result)
    assert not planes.site().recorded()["changed"]
    planes.move()
    result = planes.site().recorded()
    assert (result["changed"], result["stage"], result["recorded"]) == (True, "cluster", "cluster")
    planes.down.add("here")
    assert planes.site().found()["stage"] == "cluster" and not planes.site().recorded()["changed"]


def with_another():
    found, other = config(), config("https://203.0.113.6:6443")
    for key in ("clusters", "users", "contexts"):
        found[key] += [dict(item, name="other") for item in other[key]]
    found["contexts"][-1]["context"] = dict.fromkeys(("cluster", "user"), "other")
    return found


@pytest.mark.parametrize("content, text", [
    (with_another(), "found https://203.0.113.6:6443, or another authority, beside https://192.0.2.9:6443"),
    (config("https://203.0.113.6:6443"), "one of cluster_endpoint, host 192.0.2.9, port 6443"),
    # Who may make Services of the cluster can listen at a port of its nodes.
    (config("https://192.0.2.9:30443"), "found https://192.0.2.9:30443, expected one of cluster_endpoint"),
    (config(ca=base64.b64encode(b"-----BEGIN CERTIFICATE-----\nother").decode()),
     "with the authority that was recorded")])
def test_a_secret_does_not_lead_elsewhere(planes, content, text):
    planes.site().recorded()
    planes.move()
    planes.site().recorded()
    planes.there.objects["Secret", "c-kubeconfig"] = planes.secret(content)
    with pytest.raises(RefusedError, match=text):
        planes.site().recorded()
    assert planes.site().found()["stage"] == "cluster"


def test_a_record_that_was_lost_is_found_again(planes):
    planes.site().recorded()
    planes.move()
    found = planes.site().found()
    os.unlink(os.path.join(found["folder"], "management.json"))
    assert planes.site().recorded()["recorded"] == "cluster"


def test_both_planes_with_hosts_are_named(planes):
    planes.site().recorded()
    planes.there.objects["BareMetalHost", "h"] = host("h")
    planes.there.objects["BareMetalHost", "h"]["metadata"].pop("annotations")
    with pytest.raises(RefusedError, match=r"(?s)bootstrap plane rack1.*1 \(h\), and 1 \(h\) in cluster metal3/c"):
        planes.site().found()
