# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Programs that work on hosts are not started again meanwhile."""
from __future__ import annotations

import pytest
from fakes.plane_server import Server

from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.errors import RefusedError
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.process import readiness, restart_guard
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.process.supervisor_files import (
    Layout,
    write_program,
)


class Running:
    """A supervisord with one program."""

    def __init__(self, layout, state, due=()):
        self.layout, self.state, self.due = layout, state, due

    def write_config(self, _check_mode):
        return False

    def processes(self):
        return {"ironic": {"statename": self.state}}

    def pending(self):
        return dict.fromkeys(self.due, "restarted")


@pytest.fixture
def program(tmp_path):
    (tmp_path / "ironic.conf").write_text("[DEFAULT]\n")
    for folder in ("conf.d", "ready"):
        (tmp_path / "supervisor" / folder).mkdir(parents=True)
    return {"name": "ironic", "command": ["ironic"], "environment": {}, "restart_on": [str(tmp_path / "ironic.conf")],
            "ready": {"url": "https://ironic.example"}}


@pytest.mark.parametrize(("host", "changed", "state", "fault", "refused"), [
    ({"provisioning": {"state": "provisioning"}}, True, "RUNNING", "", True),
    ({"provisioning": {"state": "inspecting"}}, True, "RUNNING", "", True),
    ({"provisioning": {"state": "provisioned"}}, True, "RUNNING", "", False),
    ({"provisioning": {"state": "provisioning"}}, False, "RUNNING", "", False),
    ({"provisioning": {"state": "provisioning"}}, True, "FATAL", "", False),
    ({"provisioning": {"state": "provisioning"}}, True, "RUNNING", "no answer", False),
    ({"provisioning": {"state": "provisioning"}, "errorType": "provisioning error"}, True, "RUNNING", "", False)])
def test_what_works_on_hosts_is_not_started_again(tmp_path, monkeypatch, program, host, changed, state, fault, refused):
    layout = Layout(str(tmp_path / "supervisor"))
    write_program(layout, program)
    if changed:
        (tmp_path / "ironic.conf").write_text("[DEFAULT]\ndebug = true\n")
    monkeypatch.setattr(readiness, "fault", lambda check: fault if check == program["ready"] else "another check")
    server, asked = Server(), []
    server.store("BareMetalHost", "metal3", {"metadata": {"name": "h", "namespace": "metal3"}, "status": host})
    found = restart_guard.problems(Running(layout, state), [program], "the-kubeconfig",
                                   lambda options: asked.append(options) or server)
    assert [str(problem) for problem in found] == ([
        f"program ironic: BareMetalHost: found 1 in transition (metal3/h: {host['provisioning']['state']}), expected "
        "none, since what was changed starts it again; wait until they have reached their state, then run again"
    ] if refused else [])
    assert asked == ([{"kubeconfig": "the-kubeconfig"}] if refused or host["provisioning"]["state"] == "provisioned"
                     or "errorType" in host else [])
    # Asked again it would be the same: nothing was written.
    assert write_program(layout, program, check_mode=True) == changed


def test_a_start_is_refused_and_nothing_else(tmp_path, monkeypatch, program):
    layout = Layout(str(tmp_path / "supervisor"))
    write_program(layout, program)
    (tmp_path / "ironic.conf").write_text("[DEFAULT]\ndebug = true\n")
    monkeypatch.setattr(readiness, "fault", lambda check: "")
    monkeypatch.setattr(restart_guard, "Supervisor", lambda layout: Running(layout, "RUNNING"))
    server = Server()
    server.store("BareMetalHost", "metal3", {"metadata": {"name": "h", "namespace": "metal3"}, "status": {
        "provisioning": {"state": "provisioning"}}})
    params = {"supervisor_dir": layout.directory, "state": "started", "programs": [program],
              "pending_files": [], "hosts_kubeconfig": "the-kubeconfig"}
    with pytest.raises(RefusedError, match="found 1 in transition"):
        restart_guard.check(params, lambda options: server)
    for other in ({"pending_files": [], "hosts_kubeconfig": None}, {"state": "ready"}, {"state": "absent"}):
        restart_guard.check(dict(params, **other), lambda options: pytest.fail("the API server was asked"))


def test_what_a_killed_run_has_configured_is_a_start_too(tmp_path, monkeypatch, program):
    layout = Layout(str(tmp_path / "supervisor"))
    write_program(layout, program)
    monkeypatch.setattr(readiness, "fault", lambda check: "")
    server = Server()
    server.store("BareMetalHost", "metal3", {"metadata": {"name": "h", "namespace": "metal3"}, "status": {
        "provisioning": {"state": "provisioning"}}})
    found = [
        restart_guard.problems(Running(layout, "RUNNING", due), [program], "the-kubeconfig", lambda _options: server)
        for due in ([], ["etcd"], ["ironic"])]
    assert found[:2] == [[], []] and "found 1 in transition" in str(found[2][0])
