# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What pods of a cluster reach: their program, run here in place of them, and what becomes of its answers."""
from __future__ import annotations

import hashlib
import http.server
import itertools
import json
import subprocess
import sys
import threading

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.errors import RefusedError
from ansible_collections.metal3.baremetal.plugins.module_utils._network import pod_reach, reach_answers

GIVEN = {"namespace": "operators", "image": "ironic", "nodes": [], "host_network": False, "node_selector": None,
         "tolerations": None, "pull_secrets": None, "timeout_seconds": 30}


CERTIFICATE = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"


class Cluster:
    """Runs the program of each pod when it is created, or lets it end in another way.

    :param printed: what each pod prints in place of its program's answer
    :param ends: whether pods end
    """

    def __init__(self, printed=None, ends=True, left=None, nodes=("node-1", "node-2")):
        self.nodes, self.ends, self._printed = nodes, ends, printed
        self.pods, self.created, self.logs = dict(left or {}), [], {}

    def list(self, resource):
        assert resource.kind == "Node"
        return [{"metadata": {"name": name}} for name in self.nodes], "1"

    def get(self, resource, _namespace, name):
        assert resource.kind == "Pod"
        return self.pods.get(name)

    def create(self, _resource, namespace, body):
        name = body["metadata"]["name"]
        self.created.append(body)
        command = body["spec"]["containers"][0]["command"]
        if self._printed is None:
            done = subprocess.run([sys.executable, *command[1:]], capture_output=True, check=True, timeout=60)
            assert done.stderr == b""
        self.logs[f"/api/v1/namespaces/{namespace}/pods/{name}/log"] = (
            done.stdout if self._printed is None else self._printed)
        status = {"phase": "Succeeded"} if self.ends else {
            "phase": "Pending", "conditions": [{"status": "False", "message": "0/1 nodes are available"}]}
        self.pods[name] = dict(body, metadata=dict(body["metadata"], uid="new"), status=status)
        return self.pods[name]

    def delete(self, _resource, _namespace, name, uid=None):
        assert self.pods[name]["metadata"]["uid"] == uid
        del self.pods[name]

    def beginning(self, path, _query, _subject, _limit):
        return self.logs[path]


def ask(cluster, tcp=(), tftp=(), http=(), **pods):
    moments = itertools.count()
    wanted = {"tcp": list(tcp), "tftp": list(tftp), "http": list(http), "dhcp": [], "timeout_seconds": 2,
              "from_pods": dict(GIVEN, **pods)}
    assert reach_answers.problems(wanted) == reach_answers.pod_problems(wanted) == []
    checks, found = pod_reach.check(cluster, wanted, lambda: next(moments), lambda _seconds: None)
    assert cluster.pods == {}
    return checks, [str(problem) for problem in found]


@pytest.fixture
def files():
    """Address of a web server with one file, to which another path redirects; a third leads to the client's."""
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            there = {"/moved": "/known", "/stolen": "file:///etc/passwd"}.get(self.path)
            self.send_response(302 if there else 200 if self.path == "/known" else 404)
            if there:
                self.send_header("Location", there)
            self.end_headers()
            self.wfile.write(b"" if there else b"known")

        def log_message(self, *dummy):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"127.0.0.1:{server.server_address[1]}"
        server.shutdown()


def test_each_node_has_a_pod_and_an_answer(listener, closed):
    cluster = Cluster()
    checks, found = ask(cluster, nodes=["node-1", "node-2"], tcp=[
        {"name": "Ironic", "host": "127.0.0.1", "port": listener, "reachable": True},
        {"name": "telnet", "host": "127.0.0.1", "port": closed, "reachable": True}])
    assert [(entry["ok"], entry["found"], entry["asked_from"].rpartition(" on ")[2]) for entry in checks] == [
        (True, "a connection", "node node-1"), (False, "connection refused", "node node-1"),
        (True, "a connection", "node node-2"), (False, "connection refused", "node node-2")]
    assert found[0].startswith(f"telnet (127.0.0.1:{closed}): tcp: found connection refused, asked from Pod operators/")
    assert "on node node-2, expected a connection" in found[1] and len(found) == 2
    nodes = [pod["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"][
        "nodeSelectorTerms"][0]["matchFields"][0]["values"] for pod in cluster.created]
    assert sorted(nodes) == [["node-1"], ["node-2"]]
    assert len({pod["metadata"]["name"] for pod in cluster.created}) == 2


def test_files_by_http_are_read_where_the_pod_runs(files):
    digest = hashlib.sha256(b"known").hexdigest()
    checks, found = ask(Cluster(), http=[
        {"url": f"http://{files}/moved", "sha256": digest}, {"url": f"http://{files}/known", "sha256": "0" * 64},
        {"url": f"http://{files}/none"}, {"url": f"http://{files}/stolen"}])
    assert [entry["ok"] for entry in checks] == [True, False, False, False]
    assert f"5 bytes with the SHA-256 {digest}, asked from Pod operators/" in found[0]
    assert "not found" in found[1] and "root:" not in found[2]


def test_a_file_by_tftp_is_asked_for_by_the_same_program(closed):
    checks, found = ask(Cluster(), tftp=[{"host": "127.0.0.1", "port": closed, "path": "snponly.efi"}])
    assert checks[0]["ok"] is False and "no answer within 2 s" in found[0]


def test_an_authority_goes_along_and_counts(tmp_path, files):
    authority = tmp_path / "ca.crt"
    authority.write_text(CERTIFICATE)
    cluster = Cluster(b'[{"reached": false, "words": "a certificate that is not verified"}]')
    _checks, (text,) = ask(cluster, http=[{"url": f"https://{files}/known", "ca_file": str(authority)}])
    (_web, _url, given, *_more), = json.loads(cluster.created[0]["spec"]["containers"][0]["command"][-1])
    assert given == CERTIFICATE and "expected the file" in text


def test_a_key_beside_an_authority_stays_here(tmp_path):
    """Everybody who may read pods would read it."""
    authority = tmp_path / "all.pem"
    authority.write_text(f"-----BEGIN PRIVATE KEY-----\ncanary\n-----END PRIVATE KEY-----\n{CERTIFICATE}canary\n"
                         f"{CERTIFICATE}")
    cluster = Cluster(b"[]")
    ask(cluster, http=[{"url": "https://192.0.2.1/known", "ca_file": str(authority)}])
    assert "canary" not in json.dumps(cluster.created)
    assert json.loads(cluster.created[0]["spec"]["containers"][0]["command"][-1])[0][2] == CERTIFICATE * 2
    for content in (b"canary", b"\xff"):
        authority.write_bytes(content)
        with pytest.raises(RefusedError) as caught:
            ask(cluster, http=[{"url": "https://192.0.2.1/known", "ca_file": str(authority)}])
        assert "no certificate" in str(caught.value) and "canary" not in str(caught.value)


def test_a_pod_in_the_place_of_the_one_that_was_made_answers_nothing():
    """Who may make pods in the namespace would say what is reached."""
    class Exchanged(Cluster):
        def get(self, resource, namespace, name):
            found = super().get(resource, namespace, name)
            return found and dict(found, metadata=dict(found["metadata"], uid="other"))

    cluster = Exchanged(b'[{"reached": true, "words": "a connection"}]')
    checks, (text,) = ask(cluster, tcp=[TCP])
    assert checks == [] and "of somebody else" in text


def test_the_pod_has_no_rights_and_what_it_is_given():
    cluster = Cluster(b"[]")
    ask(cluster, host_network=True, pull_secrets=["registry"], tolerations=[{"operator": "Exists"}])
    spec = cluster.created[0]["spec"]
    assert spec["automountServiceAccountToken"] is False and spec["hostNetwork"] is True
    assert spec["tolerations"] == [{"operator": "Exists"}] and spec["imagePullSecrets"] == [{"name": "registry"}]
    assert "affinity" not in spec and spec["activeDeadlineSeconds"] == 30
    ask(cluster)
    assert "hostNetwork" not in cluster.created[1]["spec"]


TCP = {"host": "127.0.0.1", "port": 1, "reachable": False}


@pytest.mark.parametrize("printed", [b"", b"Traceback\nModuleNotFoundError", b"[]", b"[1]", b"[" * 5000])
def test_an_answer_that_is_none_says_nothing_about_the_network(printed):
    checks, (text,) = ask(Cluster(printed), tcp=[TCP])
    assert checks == [] and "from_pods: found no answer from Pod operators/" in text and "correct image" in text


@pytest.mark.parametrize("answer", [{}, {"reached": "true", "words": "\x1b[2J"}, {"reached": 0, "words": ["a"] * 900}])
def test_what_a_pod_answers_is_data(answer):
    checks, (text,) = ask(Cluster(json.dumps([answer]).encode()), tcp=[TCP])
    assert checks[0]["ok"] is False and "\x1b" not in text and len(text) < 700


def test_a_pod_that_does_not_run_is_named_with_the_reason():
    checks, (text,) = ask(Cluster(ends=False), tcp=[TCP], nodes=["node-2"])
    assert checks == [] and "on node node-2: 0/1 nodes are available" in text


def test_what_a_killed_run_has_left_goes_and_what_is_somebody_elses_stays():
    ours = {"metadata": {"name": pod_reach.KIND, "namespace": "operators", "uid": "old",
                         "labels": {"app.kubernetes.io/name": pod_reach.KIND}}}
    assert ask(Cluster(left={pod_reach.KIND: ours}), tcp=[TCP])[1] == []
    other = dict(ours, metadata=dict(ours["metadata"], labels={}))
    cluster = Cluster(left={pod_reach.KIND: other})
    _checks, (problem,) = pod_reach.check(cluster, {"tcp": [TCP], "timeout_seconds": 1, "from_pods": GIVEN})
    assert "somebody else" in str(problem) and cluster.pods == {pod_reach.KIND: other} and not cluster.created


def test_a_node_that_does_not_exist_is_refused_before_a_pod_is_created():
    cluster = Cluster()
    with pytest.raises(RefusedError, match="found node-9, expected nodes of the cluster, which are node-1, node-2"):
        ask(cluster, tcp=[TCP], nodes=["node-1", "node-9"])
    assert not cluster.created


def test_mistakes_are_found_before_a_pod_is_created():
    wrong = reach_answers.pod_problems({"dhcp": [{}], "http": [
        {"url": "https://admin:secret-word@192.0.2.1/a"}, {"url": "https://192.0.2.1/a?token=secret-word"},
        {"url": "https://192.0.2.1/a"}], "from_pods": dict(GIVEN, timeout_seconds=0, nodes=["a", "a"])})
    assert [(problem.subject, problem.field) for problem in wrong] == [
        ("network_check", "dhcp"), ("http[0]", "url"), ("http[1]", "url"), ("from_pods", "timeout_seconds"),
        ("from_pods", "nodes")]
    assert "secret-word" not in "".join(map(str, wrong))
