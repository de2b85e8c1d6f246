# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Modules that write after another task has checked a cluster refuse another one, where a kubeconfig leads by then."""
from __future__ import annotations

import importlib
import json

import pytest
from ansible.module_utils.testing import patch_module_args
from fakes.api_server import FAULTS, ApiServer, kubeconfig_of
from fakes.planes import obj, server, world

from ansible_collections.metal3.baremetal.plugins.module_utils._host.description import annotations as host_annotations
from ansible_collections.metal3.baremetal.plugins.module_utils._kube import module as kube_module
from ansible_collections.metal3.baremetal.plugins.module_utils._move import module as move_module
from ansible_collections.metal3.baremetal.plugins.module_utils._plane import ironic_module

TWO = {"kubeconfig": "/here", "to_kubeconfig": "/there", "confirm": "2"}
MOVED = dict(TWO, clusterctl="/nowhere", work_dir="/dev/null/work")
HERE = ("/here", "cluster_uid", "a-kube-system")
THERE = ("/there", "to_cluster_uid", "b-kube-system")
# Module, arguments, and which cluster was checked.
CASES = {
    "move, the plane that lets go": ("plane_move", MOVED, HERE),
    "move, the plane that takes over": ("plane_move", MOVED, THERE),
    "take back": ("plane_move", dict(TWO, state="undone"), HERE),
    "take back, the plane that takes over": ("plane_move", dict(TWO, state="undone"), THERE),
    "hold": ("plane_move_hosts", {"kubeconfig": "/here", "state": "held"}, HERE),
    "release": ("plane_move_hosts", {"kubeconfig": "/here", "state": "released", "wait_timeout_seconds": 1}, HERE),
    "restore": ("plane_restore", {"kubeconfig": "/here", "path": "/nowhere", "identity_file": "/nowhere",
                                  "clusterctl": "/nowhere"}, HERE),
    "stop pods": ("plane_scale", {"kubeconfig": "/here", "namespace": "metal3", "name": "ironic", "replicas": 0,
                                  "confirm": "ironic", "wait_timeout_seconds": 1}, HERE),
    "back up": ("plane_backup", {"kubeconfig": "/here", "directory": "/dev/null/backups", "recipients": [
        "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p"]}, HERE),
    "install parts": ("plane_components", {"kubeconfig": "/here", "parts": []}, HERE),
    "remove parts": ("plane_components", {"kubeconfig": "/here", "parts": [], "state": "absent"}, HERE),
    "install Ironic": ("plane_ironic", {"kubeconfig": "/here", "source_dir": "/nowhere", "state": "absent"}, HERE),
    "have an operator run Ironic": ("plane_ironic_operator", {"kubeconfig": "/here"}, HERE),
    "look at the parts of others": ("plane_check", {"kubeconfig": "/here"}, HERE),
}
# Modules that name the cluster that they have found, for those that come after them.
NAMING = {
    "plane_components": {"parts": [], "wait": False, "objects": [
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c", "namespace": "metal3"}}]},
    "plane_ironic": {"source_dir": "/nowhere", "state": "absent"},
    "plane_check": {"parts": []},
}
SYSTEM = "/api/v1/namespaces/kube-system"


@pytest.fixture
def planes(monkeypatch):
    """Both planes by the path of their kubeconfig."""
    ironic = obj("apps/v1", "Deployment", "ironic", spec={"replicas": 1, "selector": {"matchLabels": {"a": "b"}}})
    found = {"/here": server("a", "https://198.18.0.1:6443", [*world(), ironic]),
             "/there": server("b", "https://198.18.0.2:6443")}
    for module in (kube_module, move_module):
        monkeypatch.setattr(module, "KubeClient", lambda params: found[params["kubeconfig"]])
    # Nothing is rendered on this machine.
    monkeypatch.setattr(ironic_module, "rendered", lambda *_arguments: [])
    del found["/here"].objects["BareMetalHost", "free"]["metadata"]["annotations"]
    return found


@pytest.fixture
def run(monkeypatch, tmp_path, capfd):
    for variable in ("HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME"):
        monkeypatch.setenv(variable, str(tmp_path))

    def call(name, arguments):
        module = importlib.import_module(f"ansible_collections.metal3.baremetal.plugins.modules.{name}")
        with patch_module_args(dict(arguments, _ansible_remote_tmp=str(tmp_path))), pytest.raises(SystemExit):
            module.main()
        return json.loads(capfd.readouterr().out)
    return call


@pytest.mark.parametrize("case", CASES)
def test_another_cluster_is_refused_before_anything_is_written(planes, run, case):
    name, arguments, (path, option, checked) = CASES[case]
    # What answers by this kubeconfig now.
    planes[path].objects["Namespace", "kube-system"]["metadata"]["uid"] = "another"
    answer = run(name, dict(arguments, **{option: checked}))
    assert answer["failed"] and [problem["code"] for problem in answer["problems"]] == ["cluster-other"], answer
    assert f"{option}: found another, expected {checked}, the cluster that was checked" in answer["msg"]
    assert not any(plane.writes() for plane in planes.values())


def test_the_one_that_was_checked_is_written_to(planes, run):
    answer = run("plane_move_hosts", {"kubeconfig": "/here", "state": "held", "cluster_uid": "a-kube-system"})
    assert answer["changed"], answer
    found = planes["/here"].objects["BareMetalHost", "free"]["metadata"]["annotations"]
    assert found[host_annotations.PAUSED] == host_annotations.FOR_MOVE


@pytest.mark.parametrize("checks", [True, False], ids=["check", "run"])
@pytest.mark.parametrize("name", NAMING)
def test_the_cluster_that_was_seen_is_named_by_one_request(monkeypatch, run, name, checks):
    monkeypatch.setattr(ironic_module, "rendered", lambda *_arguments: [])
    with ApiServer([{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "kube-system"}}]) as plane:
        arguments = dict(NAMING[name], kubeconfig=kubeconfig_of(plane.url), _ansible_check_mode=checks)
        for given in ({}, {"cluster_uid": "uid-11"}):
            plane.requests.clear()
            answer = run(name, dict(arguments, **given))
            assert answer["cluster_uid"] == "uid-11", answer
            assert [request.path for request in plane.requests].count(SYSTEM) == 1


@pytest.mark.parametrize("fault", ["403", "404"])
@pytest.mark.parametrize("name", NAMING)
def test_who_may_not_ask_which_cluster_it_is_names_none(monkeypatch, run, name, fault):
    """As before there was such a question; who is given a cluster to compare has to ask."""
    monkeypatch.setattr(ironic_module, "rendered", lambda *_arguments: [])
    warnings = []
    monkeypatch.setattr(kube_module.KubeModule, "warn", lambda _module, text: warnings.append(text))
    with ApiServer(fault=lambda request: FAULTS[fault] if request.path == SYSTEM else None) as plane:
        arguments = dict(NAMING[name], kubeconfig=kubeconfig_of(plane.url), _ansible_check_mode=True)
        answer = run(name, arguments)
        assert not answer.get("failed") and answer["cluster_uid"] == "", answer
        # What is installed after this plan is not compared, and nobody would know.
        assert ("kube-system" in str(warnings)) is (name == "plane_components")
        assert run(name, dict(arguments, cluster_uid="uid-11"))["failed"]
