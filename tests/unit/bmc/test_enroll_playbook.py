# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The playbook enroll with a wrong password: the BMC is asked once, the API server not at all, unless told so."""
from __future__ import annotations

import json
import os
import sys

import pytest
from fakes.ansible_process import ansible_playbook
from fakes.api_server import ApiServer, kubeconfig_of
from fakes.redfish import FakeRedfish, tree


@pytest.mark.parametrize(("level", "password", "logins", "writes"), [
    (None, "wrong", [("session", False)], False),
    (None, "right", [("session", True)], True),
    (False, "wrong", [], True),
])
def test_a_wrong_password_is_tried_once_and_nothing_is_written(tmp_path, level, password, logins, writes):
    with FakeRedfish(tree("dell")) as bmc, ApiServer() as server:
        (tmp_path / "kubeconfig").write_text(json.dumps(kubeconfig_of(server.url)))
        (tmp_path / "hosts.json").write_text(json.dumps({"baremetal": {"hosts": {"a": {
            "bmc_address": f"idrac-virtualmedia+http://127.0.0.1:{bmc.port}/redfish/v1/Systems/System.Embedded.1",
            "bmc_username": "admin", "bmc_password": password, "boot_mac": "00:5c:52:00:00:10"}}}}))
        extra = {"metal3_kubeconfig": str(tmp_path / "kubeconfig"), "hosts_wait_for": "none",
                 "ansible_python_interpreter": sys.executable}
        if level is not None:
            extra["enroll_preflight"] = level
        environment = dict((key, value) for key, value in os.environ.items() if not key.startswith("ANSIBLE_"))
        code, output, errors = ansible_playbook(
            ["metal3.baremetal.enroll", "-i", "hosts.json", "-e", json.dumps(extra)], tmp_path, environment)
        output += errors
        assert bmc.logins == logins
        stored = [path.rpartition("/")[2] for path, item in server.stored if item and item["kind"] == "BareMetalHost"]
        assert (code == 0, "a" in stored) == (writes, writes), output
        if not writes:
            assert server.requests == []
            assert "bmc_username: found HTTP 401" in output and "after one attempt" in output
            assert "To enrol without asking the BMCs, set enroll_preflight to none." in output
