# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Roles in a user's play whose strategy does not know run_once: a call for all servers would be made for each."""
from __future__ import annotations

import json

import pytest
from fakes import playbook
from fakes.api_server import WRITE, ApiServer, kubeconfig_of
from fakes.used_hosts import in_use

NAMES = ("h1", "h2")


@pytest.fixture(name="run")
def run_against_server(tmp_path):
    """Yield a callable that reboots the servers in a play; it returns exit status, output and the hosts it wrote."""
    with ApiServer([in_use(name) for name in NAMES]) as server:
        (tmp_path / "kubeconfig").write_text(json.dumps(kubeconfig_of(server.url)))
        inventory = json.dumps({"baremetal": {"hosts": dict.fromkeys(NAMES), "vars": {
            "ansible_connection": "local", "metal3_kubeconfig": str(tmp_path / "kubeconfig")}}})

        def play(confirm, **keywords):
            own = dict({"hosts": "baremetal", "gather_facts": False, "tasks": [{
                "import_role": {"name": "metal3.baremetal.hosts", "tasks_from": "action"},
                "vars": {"hosts_action": "reboot", "hosts_wait_for": "none"}}]}, **keywords)
            code, output = playbook.play(tmp_path, inventory, json.dumps([own]), "play.yml", "-e",
                                         f"metal3_confirm={confirm}")
            return code, " ".join(output.split()), [item.path.rpartition("/")[2] for item in server.of_kind(WRITE)]
        yield play


@pytest.mark.parametrize("strategy", ["free", "ansible.builtin.host_pinned"])
def test_what_is_for_all_servers_is_refused(run, strategy):
    code, output, written = run(2, strategy=strategy)
    assert code and written == []
    name = strategy.rpartition(".")[2]
    assert f"strategy: found {name}, expected linear: this task is for all servers at once (run_once)" in output
    assert "each of the 2 hosts" in output and "set strategy: linear in the play" in output


@pytest.mark.parametrize("keywords", [{}, {"strategy": "ansible.builtin.linear"}, {"strategy": "free", "serial": 1}],
                         ids=["default", "linear", "batches of one"])
def test_what_is_done_once_is_done(run, keywords):
    code, output, written = run("h1,h2", **keywords)
    assert code == 0 and sorted(written) == ["h1", "h2"], output
