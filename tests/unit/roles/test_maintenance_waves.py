# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The playbook ``maintain`` in waves: their sizes, how many servers may fail, what is said of those that did."""
from __future__ import annotations

import json

import pytest
from fakes import playbook
from fakes.api_server import WRITE, ApiServer, kubeconfig_of
from fakes.used_hosts import in_use

NAMES = ("h1", "h2", "h3")
MARK = "metal3.baremetal/maintenance"


@pytest.fixture(name="run")
def run_against_server(tmp_path):
    """Yield a callable that runs the playbook; it returns output, recap and the hosts that it wrote, in their order.

    Nobody reboots them, so that each reboot fails by its time.
    """
    with ApiServer([in_use(name) for name in NAMES]) as server:
        (tmp_path / "kubeconfig").write_text(json.dumps(kubeconfig_of(server.url)))
        inventory = json.dumps({"all": {
            "vars": {"ansible_connection": "local", "metal3_kubeconfig": str(tmp_path / "kubeconfig"),
                     "ansible_python_interpreter": "{{ ansible_playbook_python }}",
                     "maintenance_wait_timeout_seconds": 1},
            "children": {"baremetal": {"hosts": dict.fromkeys(NAMES)}}}})

        def play(*arguments, step="reboot", confirm="h1,h2,h3"):
            dummy, output = playbook.play(
                tmp_path, inventory, "", "metal3.baremetal.maintain", "-e", f"maintain={step}", "-e",
                f"metal3_confirm={confirm}", *arguments)
            written = [item.path.rpartition("/")[2] for item in server.of_kind(WRITE)
                       if item.query.get("dryRun") != "All"]
            return " ".join(output.split()), playbook.recap_of_group(output), list(dict.fromkeys(written))
        yield play


def test_the_first_server_that_fails_ends_the_run(run):
    output, recap, written = run()
    assert written == ["h1"] and recap["h1"][1] == 1 and "h1: the step reboot failed, for the reason above" in output


def test_as_many_may_fail_as_are_allowed(run):
    output, recap, written = run("-e", "maintain_max_fail_percentage=34")
    assert written == ["h1", "h2"] and "h2: the step reboot failed" in output
    assert "1 of the 1 servers that may fail (maintain_max_fail" not in output
    assert "1 of the 1 servers that may fail (maintenance_max_fail_percentage); the run goes on without it" in output
    assert recap["h2"][1] == 1


def test_the_last_play_fails_for_those_that_were_left_behind(run):
    """In a wave of two that fail and one of one; each stays marked."""
    output, recap, written = run("-e", "maintain_max_fail_percentage=100", "-e", "maintain_serial=2,1")
    assert set(written) == set(NAMES) and [recap[name][1] for name in NAMES] == [1, 1, 1]
    assert "h1, h2: " in output and "TASK [metal3.baremetal.maintenance : Fail for each server" in output


def test_what_is_left_out_of_use_fails_nothing(run):
    output, recap, written = run("-e", "maintain_serial=100%", step="drain")
    assert [failed for dummy, failed in recap.values()] == [0, 0, 0] and set(written) == set(NAMES), output
    assert "h3: in no cluster, so that nothing is evicted" in output


def test_what_is_said_beforehand_is_part_of_what_is_asked_for(run):
    output, dummy, written = run(confirm="")
    assert written == [] and "set metal3_confirm=h1,h2,h3" in output
    assert "h1: in no cluster, so that nothing is evicted" in output.partition("To continue")[2]


def test_a_server_of_another_batch_is_not_worked_on_by_each(run):
    output, dummy, written = run("-e", '{"maintenance_names": ["h2"]}', step="drain")
    assert written == [] and "maintenance_names: found h2 of another batch of the play (serial)" in output
    assert "expected servers of this one (h1)" in output and "use --limit in place of maintenance_names" in output


@pytest.mark.parametrize("given, text", [
    ("maintain_serial=0", 'maintain_serial: found "0", expected a number from 1 on'),
    ("maintain_max_fail_percentage=101", "maintenance_max_fail_percentage: found 101, expected 0 to 100"),
    ("maintain_max_unavailable_per_pool=0", 'max_unavailable_per_pool: found "0", expected a number from 1 on')])
def test_what_is_no_size_is_refused(run, given, text):
    output, dummy, written = run("-e", given)
    assert written == [] and text in output, output


@pytest.mark.parametrize("variables", [
    {"maintenance_allow_local_data": True}, {"maintenance_allow_bare_pods": "yes"}, {"maintenance_mode": "hard"}])
def test_what_is_allowed_for_one_server_counts_for_no_other_one_of_its_batch(run, tmp_path, variables):
    """One task drains them all, with the variables of the first one."""
    (tmp_path / "host_vars").mkdir()
    (tmp_path / "host_vars" / "h1.yml").write_text(json.dumps(variables))
    output, dummy, written = run("-e", "maintain_serial=2,1", step="drain")
    assert written == [] and f"{next(iter(variables))}: found " in output
    assert "which would count for all servers of the run, and " in output and " for h2; expected one" in output, output
    output, dummy, written = run("--limit", "h2,h3", "-e", "maintain_serial=2,1", step="drain", confirm="h2,h3")
    assert sorted(written) == ["h2", "h3"], output


def machine_on(host):
    """Return the objects by which a host is a node of a cluster."""
    name = f"{host['metadata']['name']}-machine"
    host["spec"]["consumerRef"] = {"kind": "Metal3Machine", "name": name}
    made = {"name": name, "namespace": "metal3", "labels": {"cluster.x-k8s.io/cluster-name": "c1"}}
    return [
        {"apiVersion": "infrastructure.cluster.x-k8s.io/v1beta2", "kind": "Metal3Machine",
         "metadata": dict(made, ownerReferences=[{"kind": "Machine", "name": name}]), "spec": {}},
        {"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Machine", "metadata": made, "spec": {"clusterName": "c1"},
         "status": {"nodeRef": {"name": name}}}]


@pytest.mark.parametrize("is_node", [False, True], ids=["in no cluster", "a node"])
def test_only_servers_that_are_maintained_are_switched_on(tmp_path, is_node):
    """Others are off because somebody wants them so, who may be working on them; they hold up nobody."""
    marked, other = in_use("h1"), in_use("h2")
    marked["metadata"]["annotations"] = {MARK: "maintenance"}
    for host in (marked, other):
        host["spec"]["online"] = host["status"]["poweredOn"] = False
    with ApiServer([marked, other, *(machine_on(other) if is_node else [])]) as server:
        inventory = json.dumps({"all": {
            "vars": {"ansible_connection": "local", "ansible_python_interpreter": "{{ ansible_playbook_python }}",
                     "maintenance_wait_timeout_seconds": 1},
            "children": {"baremetal": {"hosts": {"h1": None, "h2": None}}}}})
        for arguments in (["--check"], [], ["--limit", "h2"]):
            dummy, output = playbook.play(
                tmp_path, inventory, "", "metal3.baremetal.maintain", "-e", "maintain=return", "-e",
                "maintain_serial=100%", *arguments, K8S_AUTH_HOST=server.url, K8S_AUTH_API_KEY="a-token")
            words = " ".join(output.split())
            assert "h2: not marked as being maintained, so that it is not switched on" in words, output
        assert [path.rpartition("/")[2] for path, dummy in server.stored] == ["h1"], server.stored
        assert server.stored[0][1]["spec"]["online"] is True and playbook.recap(output)["h2"] == (0, 0), output
