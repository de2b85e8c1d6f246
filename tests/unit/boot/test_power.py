# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""BMCs are asked for power with the operator's credentials, by one login, and what keeps from it is no failure."""
from __future__ import annotations

import base64

import pytest
from bmc_certificates import issue
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


@pytest.fixture
def rack(tmp_path):
    """A BMC with a certificate of its rack's authority, and a function that returns the files of authorities."""
    signers = dict((name, issue(tmp_path, name)[1]) for name in ("rack1", "rack2"))
    leaf = issue(tmp_path, "bmc", issuer=signers["rack1"])[0]
    with FakeRedfish(tree("dell"), certificate=leaf) as bmc:
        yield bmc, lambda name: name and str(tmp_path / f"{name}.crt")


@pytest.mark.parametrize(("one", "files", "answer"), [
    ("rack1", None, "off"), ("rack2", None, ""),
    ("rack2", {"hosts": {"h1": "rack1"}}, "off"),
    ("rack1", {"hosts": {"h1": "rack2"}, "others": "rack1"}, ""),
    # Of the machine, which does not know the rack's authority.
    ("rack1", {"hosts": {"h1": ""}, "others": "rack1"}, ""),
    ("rack2", {"hosts": {"h2": "rack2"}, "others": "rack1"}, "off"),
    # Of which nothing is known.
    ("rack1", {"hosts": {"h2": "rack1"}}, ""), ("rack1", {"hosts": None}, ""),
    ("rack1", {"hosts": {"h1": None}, "others": "rack1"}, "")])
def test_a_bmc_is_verified_by_the_authorities_of_its_own_host(rack, one, files, answer):
    """Those of one server counted for all: the BMC of another rack got credentials by an authority not its own."""
    bmc, path = rack
    if files:
        hosts = files["hosts"] and dict((name, path(file)) for name, file in files["hosts"].items())
        files = {"hosts": hosts, "others": path(files.get("others"))}
    assert ask(host(bmc.port, "redfish"), boot_ca_file=path(one), boot_bmc_ca_files=files) == [answer]
    assert bool(bmc.logins) == bool(answer)


def test_hosts_of_several_racks_are_asked_together(rack, tmp_path):
    bmc, path = rack
    found = ask(*[host(bmc.port, "redfish", name=name) for name in ("a", "b", "c", "d")], boot_bmc_ca_files={
        "hosts": {"a": path("rack2"), "b": path("rack1"), "c": str(tmp_path / "missing.crt")}})
    assert found == ["", "off", "", ""]


def test_where_no_certificate_is_verified_nobodys_file_counts(rack):
    bmc, dummy = rack
    unverified = host(bmc.port, "redfish")
    unverified["spec"]["bmc"]["disableCertificateVerification"] = True
    for files in ({"hosts": {}}, {"hosts": {"h1": "/nonexistent"}}):
        assert ask(unverified, boot_bmc_ca_files=files) == ["off"]
    with FakeRedfish(tree("dell")) as plain:
        assert ask(host(plain.port), boot_bmc_ca_files={"hosts": {}}) == ["off"]


@pytest.mark.parametrize("text", ["", "no certificate"])
def test_a_file_without_authorities_leaves_it_unknown(rack, tmp_path, text):
    """The thread of the wait ended with it, and with that all that it shows."""
    bmc, dummy = rack
    (tmp_path / "other.crt").write_text(text)
    for path in (tmp_path / "other.crt", tmp_path, tmp_path / "missing.crt"):
        assert ask(host(bmc.port, "redfish"), boot_ca_file=str(path)) == [""]
    assert bmc.logins == []


def test_a_path_may_begin_with_the_users_folder(rack, tmp_path, monkeypatch):
    bmc, dummy = rack
    monkeypatch.setenv("HOME", str(tmp_path))
    assert ask(host(bmc.port, "redfish"), boot_bmc_ca_files={"hosts": {"h1": "~/rack1.crt"}}) == ["off"]
