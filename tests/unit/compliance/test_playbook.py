# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The playbook compliance, against an API server and a BMC in memory."""
from __future__ import annotations

import json
import os
import sys

import pytest
from bmc_certificates import issue
from fakes.ansible_process import ansible_playbook
from fakes.api_server import ApiServer, kubeconfig_of
from fakes.redfish import FakeRedfish, tree

HOST = {"apiVersion": "metal3.io/v1alpha1", "kind": "BareMetalHost", "metadata": {"name": "h1", "namespace": "metal3"}}


@pytest.fixture
def compliance(tmp_path):
    """A callable that runs the playbook for a host with an expectation, and returns output and success."""
    def run(server, address, expected, others=None, own=None, arguments=(), **extra):
        (tmp_path / "kubeconfig").write_text(json.dumps(kubeconfig_of(server.url)))
        (tmp_path / "hosts.json").write_text(json.dumps({"baremetal": {
            "hosts": dict({"h1": dict({"bmh_expected": expected}, **own or {})}, **others or {}),
            "vars": {"bmc_address": address, "bmc_username": "admin", "bmc_password": "right"}}}))
        environment = dict((key, value) for key, value in os.environ.items()
                           if not key.startswith(("OS_", "K8S_AUTH_", "KUBE", "ANSIBLE_")))
        code, output, errors = ansible_playbook(
            ["metal3.baremetal.compliance", "-i", "hosts.json", *arguments, "-e", json.dumps(dict({
                "ansible_python_interpreter": sys.executable, "metal3_kubeconfig": str(tmp_path / "kubeconfig")},
                **extra))], tmp_path, dict(environment, HOME=str(tmp_path)))
        return " ".join((output + errors).replace("\\n", " ").replace('\\"', '"').split()), code == 0
    return run


def test_a_bmc_is_asked_only_when_something_is_expected_of_it(compliance):
    with ApiServer([HOST]) as server, FakeRedfish(tree("dell")) as bmc:
        address = f"redfish+http://127.0.0.1:{bmc.port}/redfish/v1/Systems/System.Embedded.1"
        output, succeeded = compliance(server, address, {"certificate": {}, "accounts": [{"name": "operator"}]})
        assert not succeeded and bmc.logins, output
        for text in ("h1: certificate: found no TLS, expected TLS", "h1: accounts.admin: found",
                     "h1: accounts.operator: found none"):
            assert text in output, output
        bmc.logins.clear()
        output, succeeded = compliance(server, address, {"settings": {"A": "b"}})
        assert succeeded and bmc.logins == [], output
        output, succeeded = compliance(server, address, {"accounts": [{"name": "admin", "role": "Administrator"}]},
                                       compliance_strict=True)
        assert succeeded and bmc.logins, output


OF_OTHERS = [
    # The same plane, another namespace; another plane.
    ({"metal3_namespace": "site2"}, {},
     "metal3_kubeconfig, metal3_namespace: found servers of several planes or namespaces"),
    ({"hosts_kubeconfig": "elsewhere"}, {}, "found servers of several planes or namespaces"),
    ({"compliance_firmware_catalogue": "rack2.yml"}, {},
     "compliance_firmware_catalogue: found nothing, which would count for all servers of the run, and rack2.yml for "
     "h2"),
    ({}, {"compliance_cabling_file": "rack1.yml"}, "compliance_cabling_file: found rack1.yml"),
    ({"compliance_strict": True}, {}, "compliance_strict: found false"),
]


@pytest.mark.parametrize(("of_other", "own", "text"), OF_OTHERS)
def test_servers_that_are_not_compared_alike_are_refused_before_a_bmc_is_asked(compliance, of_other, own, text):
    """One task is for all of them, in the plane and by the files of the first one."""
    second = dict(HOST, metadata={"name": "h2", "namespace": "metal3"})
    with ApiServer([HOST, second]) as server, FakeRedfish(tree("dell")) as bmc:
        address = f"redfish+http://127.0.0.1:{bmc.port}/redfish/v1/Systems/System.Embedded.1"
        others = {"h2": dict({"bmh_expected": {"certificate": {}}}, **of_other)}
        output, succeeded = compliance(server, address, {"certificate": {}}, others, own)
        assert not succeeded and text in output and "--limit" in output, output
        assert bmc.logins == [] and server.requests == [], output


def test_a_run_that_begins_later_compares_no_servers_of_two_planes(compliance):
    with ApiServer([HOST]) as server:
        output, succeeded = compliance(server, "redfish://192.0.2.11", {"settings": {"A": "b"}}, {"h2": {
            "bmh_expected": {}, "metal3_namespace": "site2"}}, arguments=["--start-at-task", "Compare the servers"])
    assert not succeeded and "found servers of several planes or namespaces" in output, output


@pytest.mark.parametrize("first, second, given, expected", [
    ({"metal3_ca_file": "rack1"}, {"compliance_ca_cert": "rack2", "metal3_ca_file": "rack1"}, {}, True),
    # What the first server trusts is not what another one does.
    ({"metal3_ca_file": "rack2"}, {"metal3_ca_file": "rack1"}, {}, False),
    ({"metal3_ca_file": "rack2"}, {}, {}, False),
    ({}, {"metal3_ca_file": "rack1"}, {"compliance_ca_cert": "rack2"}, True)])
def test_a_bmc_is_verified_by_the_authorities_of_its_own_server(
        compliance, tmp_path, first, second, given, expected):
    """The first server's BMC is not asked; that of the second has a certificate of the second rack's authority."""
    signers = dict((rack, issue(tmp_path, rack)[1]) for rack in ("rack1", "rack2"))
    leaf = issue(tmp_path, "bmc", issuer=signers["rack2"])[0]
    first, second, given = (dict((name, str(tmp_path / f"{rack}.crt")) for name, rack in variables.items())
                            for variables in (first, second, given))
    other = dict(HOST, metadata={"name": "h2", "namespace": "metal3"})
    with ApiServer([HOST, other]) as server, FakeRedfish(tree("dell"), certificate=leaf) as bmc:
        address = f"redfish://127.0.0.1:{bmc.port}/redfish/v1/Systems/System.Embedded.1"
        expectation = {"certificate": {"days_minimum": 1}}
        output, succeeded = compliance(server, address, {"settings": {"A": "b"}},
                                       {"h2": dict(second, bmh_expected=expectation)}, first, **given)
    assert succeeded == bool(bmc.logins) == expected, output
