# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The playbook compliance, against an API server and a BMC in memory."""
from __future__ import annotations

import json
import os
import sys

import pytest
from fakes.ansible_process import ansible_playbook
from fakes.api_server import ApiServer, kubeconfig_of
from fakes.redfish import FakeRedfish, tree

HOST = {"apiVersion": "metal3.io/v1alpha1", "kind": "BareMetalHost", "metadata": {"name": "h1", "namespace": "metal3"}}


@pytest.fixture
def compliance(tmp_path):
    """A callable that runs the playbook for a host with an expectation, and returns output and success."""
    def run(server, address, expected, **extra):
        (tmp_path / "kubeconfig").write_text(json.dumps(kubeconfig_of(server.url)))
        (tmp_path / "hosts.json").write_text(json.dumps({"baremetal": {"hosts": {"h1": {
            "bmc_address": address, "bmc_username": "admin", "bmc_password": "right", "bmh_expected": expected}}}}))
        environment = dict((key, value) for key, value in os.environ.items()
                           if not key.startswith(("OS_", "K8S_AUTH_", "KUBE", "ANSIBLE_")))
        code, output, errors = ansible_playbook(
            ["metal3.baremetal.compliance", "-i", "hosts.json", "-e", json.dumps(dict({
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
