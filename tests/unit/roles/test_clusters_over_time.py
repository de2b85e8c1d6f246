# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The playbooks upgrade and rotate_certificates on an API server in memory, which has no controllers."""
from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest
import yaml
from fakes import playbook
from fakes.api_server import ApiServer
from tooling import ansible_yaml

LOCAL = {"ansible_connection": "local", "ansible_python_interpreter": "{{ ansible_playbook_python }}"}
ROLE = Path(__file__).resolve().parents[3] / "roles" / "cluster"
LATER = "2999-01-01T00:00:00Z"


def pem(text):
    return base64.b64encode(b"-----BEGIN CERTIFICATE-----\n%s" % text.encode()).decode()


def kubeconfig(text):
    return yaml.safe_dump({
        "apiVersion": "v1", "kind": "Config", "preferences": {}, "current-context": "prod",
        "clusters": [{"name": "prod", "cluster": {"server": "https://192.0.2.10:6443",
                                                  "certificate-authority-data": pem("authority")}}],
        "users": [{"name": "prod", "user": {"client-certificate-data": pem(text), "client-key-data": pem("key")}}],
        "contexts": [{"name": "prod", "context": {"cluster": "prod", "user": "prod"}}]})


def objects(certificate, ends=LATER, node=None):
    """Return a cluster with one control plane machine, by default one whose certificates do not end."""
    metadata = {"namespace": "metal3", "labels": {"cluster.x-k8s.io/cluster-name": "prod"}}
    return [
        {"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Cluster", "metadata": dict(metadata, name="prod"), "spec": {
            "controlPlaneRef": {"kind": "KubeadmControlPlane", "name": "prod-control-plane"},
            "infrastructureRef": {"kind": "Metal3Cluster", "name": "prod"}}},
        {"apiVersion": "controlplane.cluster.x-k8s.io/v1beta2", "kind": "KubeadmControlPlane",
         "metadata": dict(metadata, name="prod-control-plane"), "spec": {"replicas": 1}},
        {"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Machine", "metadata": dict(
            metadata, name="prod-control-plane-1", creationTimestamp="2026-01-01T00:00:00Z",
            labels=dict(metadata["labels"], **{"cluster.x-k8s.io/control-plane": ""})),
         "spec": {"clusterName": "prod", "bootstrap": {}, "infrastructureRef": {"kind": "Metal3Machine", "name": "m"}},
         "status": dict({"certificatesExpiryDate": ends} if ends else {},
                        **({"nodeRef": {"name": node}} if node else {}))},
        {"apiVersion": "v1", "kind": "Secret", "metadata": {"namespace": "metal3", "name": "prod-kubeconfig"},
         "data": {"value": base64.b64encode(kubeconfig(certificate).encode()).decode()}}]


def run(folder, server, name, *arguments, **variables):
    inventory = {"all": {"vars": dict(LOCAL, **variables), "children": {
        "clusters": {"hosts": {"prod": None}}, "management": {"hosts": {"bastion": None}}}}}
    return playbook.play(folder, json.dumps(inventory), "", f"metal3.baremetal.{name}", *arguments,
                         K8S_AUTH_HOST=server.url, K8S_AUTH_API_KEY="a-token")


def test_the_kubeconfig_file_is_brought_up_to_date_without_machines_that_are_due(tmp_path):
    """Cluster API renews what is in it by itself."""
    path = tmp_path / "kubeconfig-of-prod"
    path.write_text(kubeconfig("former"))
    with ApiServer(objects("renewed")) as server:
        for arguments, changed, certificate in ((["--check"], 1, "former"), ([], 1, "renewed"), ([], 0, "renewed")):
            code, output = run(tmp_path, server, "rotate_certificates", *arguments,
                               cluster_workload_kubeconfig=str(path))
            assert code == 0 and playbook.recap(output)["prod"] == (changed, 0), output
            found = yaml.safe_load(path.read_text())["users"][0]["user"]["client-certificate-data"]
            assert found == pem(certificate)
        assert path.stat().st_mode & 0o777 == 0o600 and server.stored == []
        # Without a file nothing is written, and that of another cluster is refused.
        code, output = run(tmp_path, server, "rotate_certificates")
        assert code == 0 and playbook.recap(output)["prod"] == (0, 0), output
        path.write_text("notes\n")
        code, output = run(tmp_path, server, "rotate_certificates", cluster_workload_kubeconfig=str(path))
        assert code != 0 and f"path: found {path}: another file" in output and path.read_text() == "notes\n", output


@pytest.mark.parametrize("ends, node, line", [
    (LATER, "n", None), ("", "n", "it is not replaced for them. Look at the conditions of the KubeadmControlPlane"),
    ("", None, "for it has no Node yet; it gets new ones when it joins")])
def test_machines_whose_certificates_end_nobody_knows_when_are_named(tmp_path, ends, node, line):
    """What is not known was taken for long enough, without a word."""
    with ApiServer(objects("renewed", ends, node)) as server:
        code, output = run(tmp_path, server, "rotate_certificates")
    assert code == 0 and playbook.recap(output)["prod"] == (0, 0) and server.stored == [], output
    words = " ".join(output.split())
    assert ("prod-control-plane-1 of cluster prod: not known when its certificates end" in words) is bool(line), output
    assert line is None or line in words, output
    last = "0 machines last longer, of 1 (prod-control-plane-1) it is not known" if line else "1 machines last longer"
    assert f"cluster prod: no machine is replaced; certificates of {last}" in words, output


def test_a_machine_whose_certificates_end_nobody_knows_when_is_replaced_on_request(tmp_path):
    with ApiServer(objects("renewed", "", "n")) as server:
        _code, output = run(tmp_path, server, "rotate_certificates", "--check", rotate_certificates_unknown=True)
    words = " ".join(output.split())
    assert "not known when its certificates end; it is replaced, as rotate_certificates_unknown says" in words, output
    # It goes on to what replaces machines, for which this inventory describes no cluster.
    assert "prod: no machine is replaced" not in words and "cluster_kubernetes_version" in words, output


@pytest.mark.parametrize("variables", [
    {}, {"cluster_control_plane": {"replicas": 3}}, {"cluster_control_plane": None},
    {"cluster_options": {"control_plane": {"replicas": 3}}}, {"cluster_options": {"control_plane": None}},
    {"cluster_options": {"control_plane": {"replicas": 3}}, "cluster_control_plane": {"replicas": 1}}])
def test_the_time_of_a_rotation_gets_to_the_control_plane_wherever_it_is_described(tmp_path, variables):
    """Of two places the options count, so that it must be there when the control plane is."""
    renewal = next(task for task in ansible_yaml.read(ROLE / "tasks" / "certificates.yml")[-1]["block"]
                   if task["name"] == "Replace the machines whose certificates end soon")
    module = next(task["metal3.baremetal.cluster"] for task in ansible_yaml.read(ROLE / "tasks" / "main.yml")
                  if "metal3.baremetal.cluster" in task)
    given = dict(renewal["vars"], cluster_certificate_rollout=LATER,
                 described="{{ given_options.control_plane | default(given_plane) }}",
                 given_options=module["options"], given_plane=module["control_plane"])
    play = {"hosts": "prod", "gather_facts": False, "vars": given, "tasks": [{"ansible.builtin.debug": {
        "msg": "AFTER {{ described.rollout_after }} OF {{ described.replicas | default('none') }}"}}]}
    inventory = {"all": {"vars": dict(LOCAL, **dict({"cluster_options": {}}, **variables)), "children": {
        "clusters": {"hosts": {"prod": None}}}}}
    code, output = playbook.play(tmp_path, json.dumps(inventory), json.dumps([play]), "play.yml")
    plane = variables.get("cluster_options", variables).get("control_plane", variables.get("cluster_control_plane"))
    assert code == 0 and f"AFTER {LATER} OF {(plane or {}).get('replicas', 'none')}" in output, output


def test_an_upgrade_is_planned_before_a_backup_and_writes_nothing_by_that(tmp_path):
    """Its backup then lacks a folder, with which the run ends."""
    described = {
        "cluster_kubernetes_version": "v1.35.4", "cluster_endpoint": {"host": "192.0.2.10", "holder": "none"},
        "cluster_image": {"url": "https://x/a.raw", "checksum": "0" * 64}, "cluster_network_addon": "none",
        "cluster_check_hosts": False, "cluster_check_network": False, "cluster_workers": {}}
    with ApiServer() as server:
        code, output = run(tmp_path, server, "upgrade", **described)
        planned, _play, backup = output.partition("PLAY [Back up what the management plane manages]")
        assert code != 0 and "Create or change the cluster" in planned and "failed: [prod]" not in planned, output
        assert "fatal: [bastion]" in backup and "backup_directory" in backup, output
        assert playbook.recap(output)["prod"] == (0, 0) and "Upgrade the workload clusters" not in output
        assert server.stored == []
        described["cluster_kubernetes_version"] = "1.35"
        code, output = run(tmp_path, server, "upgrade", upgrade_backup=False, **described)
        assert code != 0 and "cluster_kubernetes_version: found" in output and "PLAY [Back up" not in output, output


UPGRADE = ansible_yaml.read(Path(__file__).resolve().parents[3] / "playbooks" / "upgrade.yml")


@pytest.mark.parametrize("failing, goes_on", [(None, True), ("one", False), ("two", False)])
def test_an_upgrade_goes_on_with_the_backups_of_all_planes_of_the_run_only(tmp_path, failing, goes_on):
    """A plane whose backup, or what belongs to it, has failed is out of the run, with whose others Ansible goes on."""
    note, upgrade = UPGRADE[-2:]
    inventory = {"all": {"vars": LOCAL, "children": {
        "clusters": {"hosts": {"prod": None}}, "management": {"hosts": {"one": None, "two": None}}}}}
    backup = {"hosts": "management", "gather_facts": False, "tasks": [
        {"ansible.builtin.set_fact": {"upgrade_backs_up": True, "backup_result": {"path": "/b"}}},
        {"ansible.builtin.assert": {"that": f"inventory_hostname != '{failing}'"}}]}
    machines = dict(upgrade, tasks=[{"ansible.builtin.debug": {"msg": "MACHINES ARE REPLACED"}}])
    del machines["roles"]
    code, output = playbook.play(tmp_path, json.dumps(inventory), json.dumps([backup, note, machines]), "play.yml")
    words = " ".join(output.split())
    assert ("MACHINES ARE REPLACED" in words, code == 0) == (goes_on, goes_on), output
    assert goes_on or f"upgrade_backup: found no backup of this run on {failing}" in words, output


@pytest.mark.parametrize("variables, saver, left_out", [
    ({}, {}, ""), ({"metal3_namespace": "rack2"}, {}, ""), ({"cluster_namespace": "rack2"}, {}, "rack2/prod"),
    ({"cluster_namespace": "rack2"}, {"backup_namespace": "rack2"}, ""),
    ({}, {"metal3_namespace": "rack2"}, "metal3/prod")])
def test_an_upgrade_is_refused_without_a_backup_of_the_clusters_namespace(tmp_path, variables, saver, left_out):
    """A backup is of one namespace: that of others would be taken for that of the cluster."""
    _check, first, plan, *_plays = UPGRADE
    inventory = {"all": {"vars": dict(LOCAL, **variables), "children": {
        "clusters": {"hosts": {"prod": None}}, "management": {"hosts": {"bastion": saver}}}}}
    tasks = [task for task in plan["pre_tasks"] if "ansible.builtin.import_tasks" not in task]
    asked = dict(plan, pre_tasks=tasks)
    del asked["roles"]
    code, output = playbook.play(tmp_path, json.dumps(inventory), json.dumps([first, asked]), "play.yml")
    words = " ".join(output.split())
    assert (code == 0) == (not left_out) and ("upgrade_backup: found" in words) == bool(left_out), output
    assert f"and clusters elsewhere ({left_out})" in words or not left_out, output
