# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""BMCs are asked for power with the operator's credentials, by one login, and what keeps from it is no failure."""
from __future__ import annotations

import base64

import pytest
from fakes.redfish import FakeRedfish, tree

from ansible_collections.metal3.baremetal.plugins.module_utils._bmc.protocols import ipmi, power
from ansible_collections.metal3.baremetal.plugins.module_utils._boot.power import TEXTS, PowerQuestion
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.responses.errors import KubeError

SYSTEM = "/redfish/v1/Systems/System.Embedded.1"


class Cluster:
    """A client of an API server with Secrets by name."""

    def __init__(self, error=None, **secrets):
        self.secrets, self.error = secrets, error

    def get(self, resource, namespace, name):
        if self.error:
            raise self.error
        assert (resource.kind, namespace) == ("Secret", "metal3")
        return self.secrets.get(name)


def secret(password="right", username="admin"):
    return {"data": {key: base64.b64encode(value.encode()).decode()
                     for key, value in (("username", username), ("password", password))}}


def host(port, scheme="redfish+http", name="h1", path=SYSTEM, credentials="creds"):
    return {"metadata": {"name": name, "namespace": "metal3"}, "spec": {"bmc": {
        "address": f"{scheme}://127.0.0.1:{port}{path}", "credentialsName": credentials}}}


def ask(*hosts, cluster=None, **params):
    return PowerQuestion(params, lambda given: cluster or Cluster(creds=secret())).ask(list(hosts))


@pytest.mark.parametrize(("state", "answer"), [("On", "on"), ("Off", "off"), ("PoweringOn", ""), (None, "")])
def test_what_the_system_says_is_the_answer_to_one_login(state, answer):
    resources = tree("dell")
    resources[SYSTEM]["PowerState"] = state
    with FakeRedfish(resources) as bmc:
        assert ask(host(bmc.port)) == [answer]
        assert bmc.logins == [("session", True)] and bmc.open_sessions == 0
        assert [path for method, path in bmc.requests if method == "GET"] == ["/redfish/v1", SYSTEM]


def test_the_only_system_needs_no_path():
    with FakeRedfish(tree("dell")) as bmc:
        assert ask(host(bmc.port, path="")) == ["off"]


def test_each_host_has_its_own_answer():
    with FakeRedfish(tree("dell")) as bmc:
        found = ask(host(bmc.port, name="a", credentials="none"), host(bmc.port, name="b"),
                    {"metadata": {"name": "c", "namespace": "metal3"}, "spec": {}})
    assert found == ["", "off", ""]
    assert ask(host(bmc.port)) == [power.SILENT] and power.SILENT in TEXTS


def test_a_wrong_password_or_no_way_to_the_secret_leaves_it_unknown():
    with FakeRedfish(tree("dell")) as bmc:
        assert ask(host(bmc.port), cluster=Cluster(creds=secret("wrong"))) == [""] and bmc.wrong_logins() == 1
        assert ask(host(bmc.port), cluster=Cluster(KubeError("forbidden", 403))) == [""]
        assert ask(host(bmc.port), cluster=Cluster(creds={"data": {"username": "%", "password": 7}})) == [""]
        assert len(bmc.logins) == 1
    assert PowerQuestion({"kubeconfig": "/nonexistent/kubeconfig"}).ask([host(1)]) == [""]


@pytest.mark.parametrize(("outcome", "answer"), [
    ({"power": "off"}, "off"), ({"power": ""}, ""), (ipmi.IpmiError("unreachable", "no answer"), "silent"),
    (ipmi.IpmiError("missing", "no program"), ""), (ipmi.IpmiError("unauthorized", "refused"), "")])
def test_so_it_is_by_ipmi(monkeypatch, outcome, answer):
    def asked(*arguments):
        if isinstance(outcome, Exception):
            raise outcome
        return outcome
    monkeypatch.setattr(ipmi, "ask", asked)
    assert ask(host(623, "ipmi", path="")) == [answer]
