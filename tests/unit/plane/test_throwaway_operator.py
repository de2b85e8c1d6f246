# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How the operator of a rehearsal is started: what it may reach, and when its webhook counts as asked.

With the real programs: ``tests/lab/test_rehearsal.py``.
"""
from __future__ import annotations

import base64

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._kube.responses.errors import KubeError
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.process import throwaway, throwaway_operator


class Servers:
    def __init__(self, folder):
        self.pki, self.issued, self.added = str(folder), [], []
        (folder / "ca.crt").write_text("authority")

    def kubeconfig(self, name):
        return f"/folder/{name}.kubeconfig"

    def issue(self, certificate):
        self.issued.append(certificate["name"])

    def add(self, *arguments):
        self.added.append(arguments)

    def log(self, _name):
        return '{"msg":"Component: metal3-io/baremetal-operator v0.13.2"}\n{"msg":"v9.9.9"}'


class Client:
    """An API server that asks the webhook only after so many hosts."""

    def __init__(self, *answers):
        self.answers, self.created = list(answers), []

    def create(self, resource, namespace, body, dry_run=False):
        if resource.kind == "ValidatingWebhookConfiguration":
            self.created.append(body)
            return
        assert dry_run and namespace == "metal3"
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if answer is not None:
            raise answer


DENIED = KubeError("admission webhook denied the request: unknown BMC type", 403)


def test_it_runs_without_ironic_for_one_namespace_and_without_the_users_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("IRONIC_ENDPOINT", "http://192.0.2.1")
    monkeypatch.setenv("PATH", "/usr/bin")
    servers, client = Servers(tmp_path), Client(DENIED)
    assert throwaway_operator.start(servers, "there", client, "metal3") == "v0.13.2"
    (name, program, arguments, environment, ready), = servers.added
    assert (name, program) == ("bmo", "baremetal-operator")
    assert {"-test-mode", "-kubeconfig=/folder/there.kubeconfig", "-namespace=metal3", "-metrics-addr=0",
            "-enable-leader-election=false"} < set(arguments)
    assert environment == {"PATH": "/usr/bin", "TMPDIR": f"{tmp_path}/bmo", "METAL3_WEBHOOK_HOST": "127.0.0.1"}
    health = next(item for item in arguments if "health" in item).partition("=")[2]
    assert ready["url"] == f"http://{health}/readyz" and health.startswith("127.0.0.1:")
    assert servers.issued == ["bmo/k8s-webhook-server/serving-certs/tls"]
    config, = client.created[0]["webhooks"]
    assert base64.b64decode(config["clientConfig"]["caBundle"]) == b"authority"
    port = next(item for item in arguments if "webhook-port" in item).partition("=")[2]
    assert config["clientConfig"]["url"] == f"https://127.0.0.1:{port}/validate-metal3-io-v1alpha1-baremetalhost"
    assert config["failurePolicy"] == "Fail"


def test_it_waits_until_its_webhook_is_asked(tmp_path, monkeypatch):
    client = Client(None, KubeError("failed calling webhook", 500), DENIED)
    assert throwaway_operator.start(Servers(tmp_path), "there", client, "metal3")
    assert client.answers == [DENIED]
    monkeypatch.setattr(throwaway_operator, "_ADMITS_SECONDS", 0)
    with pytest.raises(throwaway.ThrowawayError, match="webhook is not asked: a host without a valid BMC address is"):
        throwaway_operator.start(Servers(tmp_path), "there", Client(None), "metal3")
    with pytest.raises(throwaway.ThrowawayError, match="webhook is not asked: failed calling webhook"):
        throwaway_operator.start(Servers(tmp_path), "there", Client(KubeError("failed calling webhook", 500)), "metal3")
