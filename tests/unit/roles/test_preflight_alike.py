# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The playbook preflight checks all servers of a run in one task: what counts for the first one is that of each."""
from __future__ import annotations

import json

import pytest
from fakes import playbook

ASKED = "a BMC that takes connections"


def run(folder, first, second, *arguments):
    """Return what the playbook prints for two servers whose BMCs do not answer, and whether it succeeds."""
    inventory = json.dumps({"all": {
        "hosts": {"localhost": {}},
        "vars": {"ansible_connection": "local", "ansible_python_interpreter": "{{ ansible_playbook_python }}",
                 # A port that nobody listens at.
                 "bmc_address": "redfish+http://127.0.0.1:1", "preflight_connect_timeout_seconds": 1},
        "children": {"baremetal": {"hosts": {"h1": first, "h2": second}}}}})
    code, output = playbook.play(folder, inventory, "", "metal3.baremetal.preflight", *arguments)
    return " ".join(output.split()), code == 0


@pytest.mark.parametrize("variable, first, second", [
    ("preflight_fail_on", "none", None), ("preflight_checks", "login", "all"),
    ("preflight_certificate_days", None, 90), ("preflight_clock_drift_seconds", 9999, None)])
def test_a_server_is_not_checked_by_what_another_one_says(tmp_path, variable, first, second):
    """With ``none`` for the first server the problems of all others were none either."""
    output, succeeded = run(tmp_path, *[{} if value is None else {variable: value} for value in (first, second)])
    assert not succeeded and ASKED not in output, output
    assert f"{variable}: found " in output, output
    assert "for h2; expected one value for all; repeat the run with --limit" in output


def test_servers_of_two_planes_are_not_asked_from_the_ironic_of_one(tmp_path):
    pod = json.dumps({"preflight_ironic_pod": {"kubeconfig": "/none", "namespace": "ironic"}})
    output, succeeded = run(tmp_path, {}, {"metal3_namespace": "other"}, "-e", pod)
    assert not succeeded and ASKED not in output, output
    assert "found servers of several planes or namespaces" in output
    # From this machine all can be asked.
    output, succeeded = run(tmp_path, {"preflight_certificate_days": "30"}, {"metal3_namespace": "other"})
    assert not succeeded and ASKED in output, output


def test_a_task_that_is_begun_with_refuses_them_too(tmp_path):
    output, succeeded = run(tmp_path, {"preflight_fail_on": "none"}, {}, "--start-at-task", "Check the BMCs")
    assert not succeeded and "preflight_fail_on: found none, which would count" in output, output
