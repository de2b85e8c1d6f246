# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ironic's API asked for out of a pod: the program that the pod runs, what becomes of its answer, and the pod's end."""
from __future__ import annotations

import contextlib
import itertools
import json
import socket
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.errors import RefusedError
from ansible_collections.metal3.baremetal.plugins.module_utils._elsewhere import asking
from ansible_collections.metal3.baremetal.plugins.module_utils._ironic.fitness import pod_question, pod_service
from ansible_collections.metal3.baremetal.plugins.module_utils._ironic.fitness import service as check_service
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.pods import short_pod

GIVEN = {"namespace": "operators", "image": "ironic", "timeout_seconds": 30, "node_selector": {"a": "b"},
         "tolerations": None, "pull_secrets": ["registry"]}
ASKED = pod_question.Asked([], "h:1")
PASSWORD = "canary-pod-7"


@contextlib.contextmanager
def answering(status):
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(status)
            self.end_headers()

        def log_message(self, *_arguments):
            """Print nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield "http://127.0.0.1:%d/v1" % server.server_address[1]
        server.shutdown()


def found(url, **params):
    """Return the problems that the pod's program finds, run here."""
    asked = pod_question.question(params, url, "")
    command = asking.command([asked.question])
    done = subprocess.run([sys.executable, *command[1:]], capture_output=True, check=True, timeout=60)
    assert done.stderr == b""
    return [str(problem) for problem in pod_question.problems(done.stdout, asked, "Pod operators/x")]


@pytest.mark.parametrize("status", [200, 300, 401])
def test_an_ironic_that_answers_is_reached(status):
    with answering(status) as url:
        assert found(url) == []


def test_what_does_not_answer_as_ironic_is_named_with_where_it_was_asked_from():
    with answering(502) as url:
        text, = found(url)
        assert "ironic: endpoint: found HTTP 502 at 127.0.0.1:" in text and "asked from Pod operators/x" in text
        # Which a server that wants a certificate would be asked for, too.
        assert found(url, client_cert="/c") == []
        text, = found(url.replace("http:", "https:"))
        assert "wrong version number" in text or "record layer" in text.lower(), text


@pytest.mark.parametrize("params", [{}, {"client_cert": "/c"}])
def test_a_closed_port_is_named(params):
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        text, = found("https://127.0.0.1:%d/v1" % closed.getsockname()[1], **params)
    assert "connection refused at 127.0.0.1:" in text and "NetworkPolicies" in text


@pytest.mark.parametrize("log", [b"", b"Traceback\nModuleNotFoundError", b"[1]", b"[" * 5000, b"\xff"])
def test_an_answer_that_is_none_says_nothing_of_ironic(log):
    problem, = pod_question.problems(log, ASKED, "Pod operators/x")
    assert problem.field == "from_pod" and "correct image" in str(problem)


class Cluster:
    """Pods that go through given phases, one at each look."""

    def __init__(self, *phases, left=None, namespaces=("operators",)):
        self.namespaces, self.phases = namespaces, list(phases)
        self.pods = {} if left is None else {("operators", pod_question.NAME): left}
        self.deleted, self.created = [], []

    def get(self, resource, namespace, name):
        if resource.kind == "Namespace":
            return {"metadata": {"name": name}} if name in self.namespaces else None
        current = self.pods.get((namespace, name))
        if current and self.created and self.phases:
            current["status"] = self.phases.pop(0)
        return current

    def create(self, _resource, namespace, body):
        self.created.append(body)
        self.pods[namespace, body["metadata"]["name"]] = dict(body, metadata=dict(body["metadata"], uid="new"))
        return self.pods[namespace, body["metadata"]["name"]]

    def delete(self, _resource, namespace, name, uid=None):
        self.deleted.append((namespace, name, uid))
        self.pods.pop((namespace, name), None)

    def beginning(self, path, _query, _subject, _limit):
        assert path.endswith(f"/pods/{pod_question.NAME}/log")
        return json.dumps([{"reached": True, "status": 200}]).encode()


def ask(cluster, **params):
    moments = itertools.count()
    return pod_service.ask(cluster, dict({"from_pod": GIVEN, "password": PASSWORD}, **params), "https://ironic:6385/v1",
                           lambda: next(moments), lambda _seconds: None)


CERTIFICATE = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
RUNNING, ENDED = {"phase": "Running"}, {"phase": "Succeeded"}


def test_the_pod_is_where_the_operator_is_has_no_secret_and_is_removed(tmp_path):
    authority = tmp_path / "ca.crt"
    authority.write_text(f"{CERTIFICATE}-----BEGIN PRIVATE KEY-----\n{PASSWORD}\n")
    cluster = Cluster(RUNNING, ENDED)
    assert ask(cluster, ca_cert=str(authority)) == []
    made, = cluster.created
    assert made["metadata"]["namespace"] == "operators" and made["spec"]["nodeSelector"] == {"a": "b"}
    assert made["spec"]["imagePullSecrets"] == [{"name": "registry"}] and "tolerations" not in made["spec"]
    asked, = json.loads(made["spec"]["containers"][0]["command"][-1])
    assert asked == ["status", "ironic", 6385, "/v1", True, CERTIFICATE, True, 10]
    assert PASSWORD not in json.dumps(made)
    assert cluster.deleted == [("operators", pod_question.NAME, "new")] and cluster.pods == {}
    authority.write_text(PASSWORD)
    problem, = ask(Cluster(ENDED), ca_cert=str(authority))
    assert "ca_cert: found" in str(problem) and "no certificate" in str(problem) and PASSWORD not in str(problem)


def test_before_the_operator_has_a_namespace_it_is_asked_from_the_default_one():
    cluster = Cluster(ENDED, namespaces=())
    assert ask(cluster) == [] and cluster.created[0]["metadata"]["namespace"] == "default"


def test_a_pod_that_does_not_run_is_named_with_the_reason_and_removed():
    waiting = {"phase": "Pending", "containerStatuses": [{"state": {"waiting": {
        "reason": "ImagePullBackOff", "message": "not found"}}}]}
    cluster = Cluster(*[dict(waiting) for _number in range(100)])
    problem, = ask(cluster)
    assert "ImagePullBackOff: not found" in str(problem) and problem.field == "from_pod" and cluster.pods == {}
    unscheduled = {"phase": "Pending", "conditions": [{"status": "False", "message": "0/1 nodes are available"}]}
    problem, = ask(Cluster(*[dict(unscheduled) for _number in range(100)]))
    assert "0/1 nodes are available" in str(problem)


def test_what_a_killed_run_has_left_goes_and_what_is_somebody_elses_stays():
    ours = {"metadata": {"name": pod_question.NAME, "namespace": "operators", "uid": "old",
                         "labels": {short_pod.NAME_LABEL: pod_question.NAME}}}
    cluster = Cluster(ENDED, left=ours)
    assert ask(cluster) == [] and [uid for _namespace, _name, uid in cluster.deleted] == ["old", "new"]
    cluster = Cluster(ENDED, left={"metadata": {"name": pod_question.NAME, "namespace": "operators", "uid": "x"}})
    problem, = ask(cluster)
    assert problem.field == "from_pod" and cluster.deleted == cluster.created == []


def test_it_is_asked_with_all_else_and_only_of_an_ironic_that_answers_from_here(monkeypatch):
    params = {"bmc_addresses": [], "bmc_schemes": ["nosuch"], "boot_images": {}}
    problem, = pod_question.problems(b'[{"words": "no answer within 10 s"}]', ASKED, "Pod a/b")
    monkeypatch.setattr(check_service, "_of_ironic", lambda _params, _wanted, result, _clock: result.update(
        server="https://ironic") or [])
    with pytest.raises(RefusedError) as caught:
        check_service.run(dict(params, endpoint="https://ironic", auth_type="none"), from_pod=lambda _url: [problem])
    assert [item.field for item in caught.value.problems] == ["bmc_schemes[0]", "endpoint"]
