# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a cluster's description holds in the open is not in results, differences and failures of its modules."""
from __future__ import annotations

import copy
import json
import stat

import pytest
import yaml
from ansible.module_utils.basic import AnsibleModule
from ansible.module_utils.testing import patch_module_args

from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.description import (
    reader as cluster_description,
)
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.render import objects as cluster_render
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.api.client import KubeClient
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.responses.errors import (
    KubeError,
    error_from_answer,
)
from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.kinds import resource_for
from ansible_collections.metal3.baremetal.plugins.modules import cluster, cluster_template

NAMESPACE = "metal3"
# No text of Kubernetes, of Ansible or of these tests has these in it.
WORDS = [f"secret-{what}" for what in (
    "file", "new-file", "hash", "new-hash", "command", "token", "environment", "metadata", "image", "proxy")]
KUBECONFIG = {
    "apiVersion": "v1", "kind": "Config", "current-context": "test",
    "clusters": [{"name": "test", "cluster": {"server": "https://198.18.0.1:6443"}}],
    "users": [{"name": "test", "user": {"token": "not-a-token"}}],
    "contexts": [{"name": "test", "context": {"cluster": "test", "user": "test"}}]}


def description(content="secret-file\n", passwd="secret-hash"):
    """Return parameters with a secret everywhere where people put them."""
    return {
        "name": "c1", "namespace": NAMESPACE, "kubernetes_version": "v1.35.4", "endpoint": {"host": "198.18.0.10"},
        "image": {"url": "https://me:secret-image@images.example.org/a.raw", "checksum": "0" * 64},
        "files": [{"path": "/etc/same", "content": "secret-file\n"}, {"path": "/etc/other", "content": content}],
        "users": [{"name": "me", "passwd": passwd}],
        "pre_commands": ["login --password secret-command"],
        "metadata": {"strings": [{"key": "a", "value": "secret-metadata"}]},
        "init_configuration": {"bootstrapTokens": [{"token": "secret-token"}]},
        "cluster_configuration": {"apiServer": {"extraEnvs": [{"name": "A", "value": "secret-environment"}]}},
        "kubelet_extra_args": {"proxy": "http://me:secret-proxy@198.18.0.2"},
        "workers": {"pool-a": {"replicas": 2}}, "standalone_machines": {"db": {}}}


def rendered(params):
    read, mistakes = cluster_description.read(params)
    assert mistakes == []
    return cluster_render.render(read)


class Server:
    """An API server that has objects, and takes or refuses what is applied in a dry run."""

    def __init__(self, objects, refusal=None):
        self.objects = [dict(item, metadata=dict(item["metadata"], uid="u1")) for item in objects]
        self.refusal = refusal

    def request(self, method, path, query=None, body=None, content_type=None, subject=None, **options):
        if method == "PATCH":
            assert query["dryRun"] == "All"
            if self.refusal:
                raise error_from_answer(422, self.refusal(body), subject)
            return body
        if method == "DELETE":
            assert body["dryRun"] == ["All"]
            return {}
        if "/customresourcedefinitions/" in path:
            raise KubeError(f"{subject}: not found", 404)
        return {"metadata": {}, "items": [copy.deepcopy(item) for item in self.objects if path == resource_for(
            item["apiVersion"], item["kind"]).path(NAMESPACE)]}


@pytest.fixture
def run(monkeypatch, capsys, tmp_path):
    """Return a callable that runs a module in check mode with differences; it returns what the module prints."""
    kubeconfig = tmp_path / "kubeconfig"
    kubeconfig.write_text(json.dumps(KUBECONFIG))

    def call(module, server=None, check_mode=True, **arguments):
        if server:
            monkeypatch.setattr(KubeClient, "request", server.request)
            arguments.update(kubeconfig=str(kubeconfig), check_network=False, check_hosts=False)
        with patch_module_args(dict(arguments, _ansible_remote_tmp=str(tmp_path), _ansible_check_mode=check_mode,
                                    _ansible_diff=True)), pytest.raises(SystemExit):
            module.main()
        printed = capsys.readouterr()
        # Warnings go there once a test has loaded the controller's side of Ansible.
        assert seen(printed.err) == []
        return printed.out
    return call


def seen(text):
    return [word for word in WORDS if word in text]


def by_kind(diffs):
    return dict((diff["after_header"].split()[0], dict(
        diff, before=yaml.safe_load(diff["before"]) or {}, after=yaml.safe_load(diff["after"]) or {}))
        for diff in diffs
        if "pool-a" in diff["after_header"] or diff["after_header"].startswith("KubeadmControlPlane"))


def test_a_new_cluster(run):
    printed = run(cluster, Server([]), **description())
    assert seen(printed) == []
    kinds = [diff["after_header"].split()[0] for diff in json.loads(printed)["diff"]]
    assert {"Cluster", "KubeadmConfigTemplate", "KubeadmControlPlane", "MachineDeployment", "Metal3Cluster",
            "Metal3DataTemplate", "Metal3MachineTemplate"} <= set(kinds)


def test_the_difference_tells_which_file_changes(run):
    printed = run(cluster, Server(rendered(description())), **description("secret-new-file\n", "secret-new-hash"))
    assert seen(printed) == []
    answer = json.loads(printed)
    assert [change["rolls"] for change in answer["changes"]] == [True, True]
    diffs = by_kind(answer["diff"])
    assert sorted(diffs) == ["KubeadmConfigTemplate", "KubeadmControlPlane", "MachineDeployment"]
    plane = diffs["KubeadmControlPlane"]
    for spec in (plane["after"]["spec"]["kubeadmConfigSpec"],
                 diffs["KubeadmConfigTemplate"]["after"]["spec"]["template"]["spec"]):
        assert dict((entry["path"], entry["content"]) for entry in spec["files"]) == {
            "/etc/same": "(hidden)", "/etc/other": "(hidden, changed)"}
        assert spec["preKubeadmCommands"] == ["(hidden)"]
        assert spec["users"] == [{"name": "me", "passwd": "(hidden, changed)"}]
    assert [entry["content"] for entry in plane["before"]["spec"]["kubeadmConfigSpec"]["files"]] == ["(hidden)"] * 2
    assert diffs["KubeadmConfigTemplate"]["before"] == {}


def test_a_second_run_has_no_difference(run):
    answer = json.loads(run(cluster, Server(rendered(description())), **description()))
    assert (answer["changed"], answer["diff"]) == (False, [])


def test_a_webhook_that_quotes_what_it_refuses(run):
    def refusal(body):
        spec = body["spec"].get("kubeadmConfigSpec") or {}
        quoted = json.dumps(spec).replace("<", "\\u003c")
        return {"message": "refused", "details": {"causes": [{"field": "spec", "message": "Invalid value: " + quoted}]}}
    printed = run(cluster, Server([], refusal), **description(content="<secret-file>\n& \"b\""))
    assert seen(printed) == []
    answer = json.loads(printed)
    assert answer["failed"]
    assert "KubeadmControlPlane metal3/c1-control-plane: " in answer["msg"] and "/etc/other" in answer["msg"]


def test_the_traceback_of_a_failure(run, monkeypatch):
    results = []

    def fail_json(self, msg, **result):
        results.append(dict(result, msg=msg))
        raise SystemExit(1)
    monkeypatch.setattr(AnsibleModule, "fail_json", fail_json)
    run(cluster, Server([], lambda body: {"message": json.dumps(body)}), **description())
    assert "Traceback" in results[0]["exception"] and "refused" in results[0]["exception"]
    assert seen(repr(results)) == []


@pytest.mark.parametrize("mistake", [
    {"options": "files: [{path: /etc/a, content: secret-file}]\nusers: []\n"},
    {"workers": {"pool-a": '{"files": [{"path": "/etc/a", "content": "secret-file"}]}'}},
    {"files": [{"path": "/etc/a", "content": {"a": "secret-file"}, "mode": "0600"}]},
    {"users": [{"name": "me", "plain_text_passwd": "secret-hash"}], "image": {}},
    {"image": {"url": "file://me:secret-image@images.example.org/a.raw", "checksum": "0" * 64}},
], ids=["text", "JSON", "content", "users", "image"])
def test_mistakes(run, mistake):
    printed = run(cluster_template, **dict(description(), **mistake))
    assert json.loads(printed)["failed"]
    assert seen(printed) == []


def test_manifests_hold_the_contents_and_their_difference_does_not(run, tmp_path):
    path = tmp_path / "c1.yaml"
    first = json.loads(run(cluster_template, check_mode=False, dest=str(path), **description()))
    assert seen(path.read_text()) == seen(first["manifest"]) == seen(json.dumps(first["objects"]))
    assert set(seen(path.read_text())) == set(WORDS) - {"secret-new-file", "secret-new-hash"}
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert seen(json.dumps(first["diff"]) + json.dumps(first["invocation"])) == []
    second = json.loads(run(cluster_template, dest=str(path), **description("secret-new-file\n")))
    assert seen(json.dumps(second["diff"])) == []
    before, after = ([item for item in yaml.safe_load_all(second["diff"][side]) if "KubeadmC" in item["kind"]]
                     for side in ("before", "after"))
    for item, marks in [(item, ["(hidden)"] * 2) for item in before] + [
            (item, ["(hidden)", "(hidden, changed)"]) for item in after]:
        spec = item["spec"].get("kubeadmConfigSpec") or item["spec"].get("template", item)["spec"]
        assert [entry["content"] for entry in spec["files"]] == marks, item["kind"]


@pytest.mark.parametrize("text", ["password: secret-file\n", "\t- secret-file: [", "- kind: [secret-file]\n"])
def test_a_file_of_something_else_is_not_shown(run, tmp_path, text):
    path = tmp_path / "c1.yaml"
    path.write_text(text)
    diff = json.loads(run(cluster_template, dest=str(path), **description()))["diff"]
    assert seen(json.dumps(diff)) == []
    assert diff["before"] == "(hidden)\n"


def test_the_same_manifests_in_another_spelling_differ(run, tmp_path):
    path = tmp_path / "c1.yaml"
    run(cluster_template, check_mode=False, dest=str(path), **description())
    path.write_text("# a comment\n" + path.read_text())
    answer = json.loads(run(cluster_template, dest=str(path), **description()))
    assert answer["changed"] and answer["diff"]["before"] != answer["diff"]["after"]
