# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Kubeconfigs and inventories as results, for execution environments that throw files away."""
from __future__ import annotations

import base64
import importlib
import json
import os
import pathlib
import types

import pytest
import yaml
from ansible.errors import AnsibleActionFail
from ansible.module_utils.testing import patch_module_args
from fakes.api_server import ApiServer, kubeconfig_of

from ansible_collections.metal3.baremetal.plugins.action.cluster_info import ActionModule
from ansible_collections.metal3.baremetal.plugins.module_utils._bmc import discovery_module
from ansible_collections.metal3.baremetal.plugins.module_utils._common.files.run_locks import RunLocks
from ansible_collections.metal3.baremetal.plugins.plugin_utils._progress import ProgressAction

MODULES = "ansible_collections.metal3.baremetal.plugins.modules"
CANARY = "canary-6b0d"
KUBECONFIG = kubeconfig_of("https://192.0.2.1:6443", {"token": CANARY})
SERVER = {
    "address": "redfish-virtualmedia://192.0.2.1/redfish/v1/Systems/1", "scheme": "redfish-virtualmedia",
    "reasons": [], "bmc": {"host": "192.0.2.1", "port": 443}, "system_path": "/redfish/v1/Systems/1",
    "manufacturer": "A vendor", "model": "A model", "serial_number": "SN 1", "sku": "", "uuid": "0-1", "hostname": "",
    "bmc_model": "", "boot_mac_candidates": ["00:5c:52:00:01:01"],
    "nics": [{"name": "eno1", "mac": "00:5c:52:00:01:01", "link": ""}]}


@pytest.fixture
def run(capfd, monkeypatch, tmp_path):
    """Return a callable that runs a module and returns its answer."""
    monkeypatch.chdir(tmp_path)

    def call(name, **arguments):
        module = importlib.import_module(f"{MODULES}.{name}")
        with patch_module_args(dict(arguments, _ansible_remote_tmp=str(tmp_path))), pytest.raises(SystemExit):
            module.main()
        return json.loads(capfd.readouterr().out)
    return call


def cluster_info(run, content=None, **options):
    """Return the answer of the module about a cluster whose Secret has this kubeconfig."""
    objects = [{"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Cluster",
                "metadata": {"name": "c1", "namespace": "metal3"}, "spec": {}}]
    if content:
        objects.append({"apiVersion": "v1", "kind": "Secret", "metadata": {
            "name": "c1-kubeconfig", "namespace": "metal3"},
            "data": {"value": base64.b64encode(yaml.safe_dump(content).encode()).decode()}})
    with ApiServer(objects) as server:
        return run("cluster_info", host=server.url, names=["c1"], **options)


def test_a_kubeconfig_is_returned_on_request_and_other_modules_take_it(run):
    found = cluster_info(run, KUBECONFIG, return_kubeconfig=True)["clusters"][0]["kubeconfig"]
    assert found["clusters"][0]["cluster"]["server"] == "https://192.0.2.1:6443"
    assert found["users"][0]["user"]["token"] == CANARY
    with ApiServer([]) as server:
        found["clusters"][0]["cluster"]["server"] = server.url
        assert run("cluster_info", kubeconfig=found)["clusters"] == []
        assert server.requests[0].authorization == f"Bearer {CANARY}"


def test_without_a_request_no_kubeconfig_is_read_or_returned(run):
    answer = cluster_info(run, KUBECONFIG)
    assert "kubeconfig" not in answer["clusters"][0]
    assert CANARY not in json.dumps(answer)


def test_a_cluster_without_kubeconfig_has_none(run):
    assert cluster_info(run, return_kubeconfig=True)["clusters"][0]["kubeconfig"] is None


def test_a_kubeconfig_that_runs_a_command_is_refused_without_its_content(run):
    command = kubeconfig_of("https://192.0.2.1:6443", {"exec": {"command": CANARY}})
    answer = cluster_info(run, command, return_kubeconfig=True)
    assert answer["failed"] and "c1-kubeconfig" in answer["msg"]
    assert CANARY not in json.dumps(answer)


def task(no_log, **arguments):
    action = ActionModule.__new__(ActionModule)
    action._task = types.SimpleNamespace(args=arguments, no_log=no_log)
    return action


@pytest.fixture
def was_run(monkeypatch):
    monkeypatch.setattr(ProgressAction, "run", lambda action, tmp=None, task_vars=None: {"ran": True})


@pytest.mark.parametrize("value", [True, "yes", "true", 1])
def test_a_task_that_returns_kubeconfigs_without_no_log_is_refused_before_it_runs(was_run, value):
    with pytest.raises(AnsibleActionFail, match="set no_log to true on this task"):
        task(False, return_kubeconfig=value).run()


@pytest.mark.parametrize(("no_log", "arguments"), [
    (True, {"return_kubeconfig": True}), (False, {"return_kubeconfig": False}), (False, {"return_kubeconfig": "no"}),
    (False, {"return_kubeconfig": None}), (False, {})])
def test_other_tasks_run(was_run, no_log, arguments):
    assert task(no_log, **arguments).run() == {"ran": True}


def test_an_inventory_is_returned_without_a_path_and_nothing_is_written(run, tmp_path):
    before = sorted(pathlib.Path(tmp_path).rglob("*"))
    answer = run("discovered_inventory", servers=[SERVER], return_inventory=True, password_expression="vault_password",
                 hosts=[{"name": "other", "bmc": {"address": "redfish://192.0.2.9/x", "password": CANARY}}])
    assert not answer.get("failed") and not answer["changed"] and answer["path"] is None
    assert "server-sn-1" in answer["inventory"] and "{{ vault_password }}" in answer["inventory"]
    assert CANARY not in json.dumps(answer)
    assert sorted(pathlib.Path(tmp_path).rglob("*")) == before


def test_no_other_run_writes_an_inventory_between_what_this_one_reads_and_writes(run, tmp_path, monkeypatch):
    """What it adds would be lost; by whatever name it knows the file."""
    path, link, found = tmp_path / "00-discovered.yml", tmp_path / "link.yml", []
    link.symlink_to(path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    merge = discovery_module.discovered_inventory.merge

    def merging(*arguments):
        with RunLocks().alone("inventory", os.path.realpath(link)) as is_alone:
            found.append(is_alone)
        return merge(*arguments)

    monkeypatch.setattr(discovery_module.discovered_inventory, "merge", merging)
    assert run("discovered_inventory", servers=[SERVER], hosts=[], path=str(path))["changed"]
    assert found == [False] and list((tmp_path / "state").rglob("*.lock")) == []


def test_an_inventory_that_is_returned_is_the_one_that_is_written(run, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    path = tmp_path / "00-discovered.yml"
    answer = run("discovered_inventory", servers=[SERVER], hosts=[], return_inventory=True, path=str(path))
    assert answer["changed"] and path.read_text() == answer["inventory"]
    assert "inventory" not in run("discovered_inventory", servers=[SERVER], hosts=[], path=str(path))


def test_an_inventory_without_path_and_request_is_refused(run):
    answer = run("discovered_inventory", servers=[SERVER], hosts=[])
    assert answer.get("failed") and "all of the following are missing: path" in answer["msg"]
