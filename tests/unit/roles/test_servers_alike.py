# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What variables allow for the first server of a run counts for no other one: one task is for all of them."""
from __future__ import annotations

import json
from pathlib import Path

import pytest
from fakes import playbook
from fakes.api_server import WRITE, ApiServer, kubeconfig_of
from fakes.used_hosts import in_use
from tooling import ansible_yaml

ROLES = Path(__file__).resolve().parents[3] / "roles"
IMAGE = {"bmh_image": {"url": "https://images.example/a.raw", "format": "raw"}}


def run(folder, name, first, second, *arguments, text=""):
    """Return exit status, output, and which hosts a playbook for two servers in use has written."""
    with ApiServer([in_use("h1"), in_use("h2")]) as server:
        (folder / "kubeconfig").write_text(json.dumps(kubeconfig_of(server.url)))
        inventory = json.dumps({"all": {
            "hosts": {"localhost": {}},
            "vars": {"ansible_connection": "local", "metal3_kubeconfig": str(folder / "kubeconfig"),
                     "ansible_python_interpreter": "{{ ansible_playbook_python }}", "hosts_wait_timeout_seconds": 1,
                     "hosts_force": ["h1", "h2"], "remediation_wait_timeout_seconds": 1},
            "children": {"baremetal": {"hosts": {"h1": first, "h2": second}}}}})
        code, output = playbook.play(folder, inventory, text, name, "-e", "metal3_confirm=2", *arguments)
        written = [item.path for item in server.of_kind(WRITE) if item.query.get("dryRun") != "All"]
    return code, " ".join(output.split()), written


@pytest.mark.parametrize("name, variable, first, second, more", [
    ("provision", "hosts_reprovision", True, None, {}),
    ("provision", "hosts_reprovision", True, False, {}),
    ("provision", "hosts_check_images", False, None, {"hosts_reprovision": True}),
    ("provision", "hosts_confirmable", None, False, {}),
    ("deprovision_hosts", "hosts_confirmable", None, False, {}),
    ("unenroll", "hosts_confirmable", "yes", "no", {}),
    ("unenroll", "hosts_remove_by", None, "detach", {}),
    ("enroll", "hosts_allow_detach", True, None, {}),
    ("enroll", "hosts_delete_discovered", True, None, {}),
    ("host_action", "host_action", "power_off", None, {}),
    ("host_action", "hosts_action_mode", "hard", None, {"host_action": "reboot"}),
    ("host_action", "hosts_action_force", True, None, {"host_action": "reboot"}),
    ("host_action", "hosts_action_delete_action", None, "delay", {"host_action": "detach"}),
    ("host_action", "hosts_action_status_dir", "a", "b", {"host_action": "restore_status"}),
    ("host_action", "metal3_namespace", None, "other", {"host_action": "power_off"}),
    ("firmware", "hosts_firmware_reboot", "hard", None, {}),
    ("firmware", "metal3_namespace", None, "other", {}),
    ("inspect", "metal3_namespace", None, "other", {}),
    ("maintain", "maintain", "reboot", "return", {"maintain_serial": 2}),
    ("maintain", "maintain_max_unavailable_per_pool", "100%", None, {"maintain_serial": 2, "maintain": "drain"}),
    ("maintain", "maintain_max_fail_percentage", 100, None, {"maintain_serial": 2, "maintain": "drain"}),
    ("maintain", "metal3_namespace", None, "other", {"maintain_serial": 2, "maintain": "drain"}),
    ("maintain", "maintenance_namespace", None, "other", {"maintain_serial": 2, "maintain": "return"}),
    ("maintain", "maintenance_kubeconfig", "/a", "/b", {"maintain_serial": 2, "maintain": "drain"}),
    ("remediate", "remediation_namespace", "other", None, {}),
    ("remediate", "remediation_kubeconfig", None, "/b", {}),
    ("remediate", "remediate", "replace", None, {}),
    ("remediate", "remediation_mode", None, "soft", {}),
    ("remediate", "remediation_step_timeout_seconds", 1, 900, {}),
    ("remediate", "metal3_namespace", None, "other", {}),
    ("rotate_bmc_credentials", "bmc_credentials_password_file", "a.json", "b.json", {}),
    ("rotate_bmc_credentials", "bmc_credentials_password_length", 12, None, {}),
    ("rotate_bmc_credentials", "bmc_credentials_take_over", "m1", None, {}),
    ("rotate_bmc_credentials", "bmc_credentials_namespace", None, "other", {}),
    ("rotate_bmc_credentials", "bmc_credentials_kubeconfig", "/a", "/b", {}),
    ("rotate_bmc_credentials", "metal3_namespace", None, "other", {}),
    ("move_hosts", "pivot_to_kubeconfig", "/a", "/b", {}),
    ("move_hosts", "pivot_reach_from", "none", None, {"pivot_to_kubeconfig": "/a"}),
    ("move_hosts", "metal3_namespace", None, "other", {"pivot_to_kubeconfig": "/a"})])
def test_servers_with_other_values_are_refused_before_anything_is_written(
        tmp_path, name, variable, first, second, more):
    values = [dict(IMAGE, **({} if value is None else {variable: value})) for value in (first, second)]
    code, output, written = run(tmp_path, f"metal3.baremetal.{name}", *values, "-e", json.dumps(more), "-e",
                                "enroll_preflight=none")
    assert code != 0 and written == [], output
    if variable == "metal3_namespace":
        assert "found servers of several planes or namespaces" in output, output
    else:
        assert f"{variable}: found " in output and "which would count for all servers of the run, and " in output
        assert "for h2; expected one value for all; repeat the run with --limit" in output


def test_a_task_that_is_begun_with_refuses_them_too(tmp_path):
    """Nobody has looked at the variables by then."""
    for name, variable, task in (("host_action", "hosts_action_mode", "Act on the servers"),
                                 ("remediate", "remediation_mode", "Bring the servers back")):
        code, output, written = run(tmp_path, f"metal3.baremetal.{name}", {variable: "hard"}, {variable: "soft"},
                                    "-e", "host_action=reboot", "--start-at-task", task)
        assert code != 0 and written == [] and f"{variable}: found hard, which would count" in output, output


def test_what_is_the_same_in_other_words_is_one_value(tmp_path):
    dummy, output, written = run(
        tmp_path, "metal3.baremetal.host_action", {"hosts_action_mode": "soft", "hosts_action_force": "no"},
        {"hosts_action_delete_action": "delay"}, "-e", "host_action=reboot")
    assert len(written) == 2 and "would count" not in output, output


def test_a_play_of_the_controller_does_not_pass_over_what_servers_say(tmp_path):
    text = json.dumps([{"hosts": "localhost", "gather_facts": False, "tasks": [
        {"include_role": {"name": "metal3.baremetal.hosts", "tasks_from": "absent"}, "vars": {
            "hosts_names": ["h1", "h2"]}}]}])
    detach = {"hosts_remove_by": "detach"}
    code, output, written = run(tmp_path, "play.yml", detach, detach, text=text)
    assert code != 0 and written == [], output
    assert "hosts_remove_by: found deprovision, which would count for all servers of the run, and detach for h1" in (
        output)


def documented():
    """Yield the variables that must be alike, with the default that the refusal goes by and that of the role."""
    for path in sorted(ROLES.glob("*/vars/main.yml")):
        pairs = {}
        for name, value in ansible_yaml.read(path).items():
            if "_alike" in name and isinstance(value, dict):
                pairs.update((variable, pair[1]) for variable, pair in value.items() if isinstance(pair, list))
        points = ansible_yaml.read(path.parents[1] / "meta" / "argument_specs.yml")["argument_specs"].values()
        options = {name: option for point in points for name, option in (point.get("options") or {}).items()}
        yield from ((path.parts[-3], name, default, options[name]["default"])
                    for name, default in pairs.items() if "default" in options.get(name, {}))


def test_who_has_no_variable_has_the_default_of_the_role():
    found = list(documented())
    assert {role for role, *dummy in found} >= {"hosts", "maintenance", "remediation", "bmc_credentials", "pivot"}
    assert [row for row in found if str(row[2]) != str(row[3])] == []
