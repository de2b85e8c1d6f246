# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The playbook enroll with a wrong password: the BMC is asked once, the API server not at all, unless told so."""
from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from fakes.api_server import ApiServer, kubeconfig_of
from fakes.redfish import FakeRedfish, tree

BIN = Path(sys.executable).parent
COLLECTIONS = Path(__file__).resolve().parents[3] / ".build"


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
        done = subprocess.run(
            [str(BIN / "ansible-playbook"), "metal3.baremetal.enroll", "-i", "hosts.json", "-e", json.dumps(extra)],
            cwd=tmp_path, env=dict(os.environ, ANSIBLE_COLLECTIONS_PATH=str(COLLECTIONS), ANSIBLE_NOCOLOR="1"),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        assert bmc.logins == logins
        stored = [path.rpartition("/")[2] for path, item in server.stored if item and item["kind"] == "BareMetalHost"]
        assert (done.returncode == 0, "a" in stored) == (writes, writes), done.stdout
        if not writes:
            assert server.requests == []
            assert "bmc_username: found HTTP 401" in done.stdout and "after one attempt" in done.stdout
            assert "To enrol without asking the BMCs, set enroll_preflight to none." in done.stdout
