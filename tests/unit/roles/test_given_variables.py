# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Variables that a role or playbook gives to another: the command line counts more, for every role of the run."""
from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from fakes import playbook
from tooling import ansible_yaml

REPOSITORY = Path(__file__).resolve().parents[3]
FILES = [*sorted((REPOSITORY / "playbooks").rglob("*.yml")), *sorted((REPOSITORY / "roles").glob("*/tasks/*.yml"))]
HOST = {"ansible_connection": "local"}
INVENTORY = json.dumps({"all": {"children": {
    "baremetal": {"hosts": {"h1": HOST, "h2": HOST}}, "management": {"hosts": {"m1": HOST}},
    "clusters": {"hosts": {"c1": dict(HOST, metalstack_project="p", cluster_provider="metalstack")}}}}})
# Documented variables that are given and may be given otherwise, and why no other thing is done by it.
HARMLESS = {
    "which files and programs a safety copy has": {
        "backup_clusterctl", "backup_directory", "backup_rehearsal", "backup_rehearsal_programs", "etcd_directory",
        "etcd_identity_file", "etcd_keep", "etcd_recipients"},
    "names of parts, which confirm these parts": {
        f"{part}_confirmed_parts" for part in ("bmo", "capi", "capm3", "cert_manager", "ipam", "ironic")},
    "which cluster was seen, which each module compares": {
        f"{part}_cluster_uid" for part in ("bmo", "capi", "capm3", "cert_manager", "ipam", "ironic")},
    "when a part is waited for": {f"{part}_wait" for part in ("bmo", "capi", "capm3", "ipam")},
    "a lab, or one program of it": {
        "bootstrap_plane_authority", "bootstrap_plane_fsync", "bootstrap_plane_further_addresses", "lab_echo_cluster",
        "lab_echo_kubeconfig", "lab_echo_replicas"},
    "refused by a check of its own, or which images are gathered": {"management_plane", "ironic_mode"},
    "the same by another name, asked for as it is": {
        "cluster_certificate_days", "cluster_certificates_before", "cluster_certificates_unknown",
        "cluster_machine_action", "cluster_machines",
        "hosts_action", "hosts_image_required", "maintenance_max_fail_percentage",
        "maintenance_max_unavailable_per_pool", "maintenance_step", "remediation_up_to"},
    "what is described of the cluster": {"cluster_endpoint", "cluster_metalstack"},
    "what is looked at, or printed": {
        "bootstrap_plane_figures", "cluster_show_tree", "cluster_verify", "hosts_action_variable", "hosts_report_each",
        "preflight_advice", "preflight_checks", "preflight_media_url", "preflight_report_each"},
    "how Ironic and BMCs are asked": {
        "ironic_insecure", "ironic_password_file", "ironic_username_file", "pivot_reach_from", "pivot_to_ironic_config",
        "pivot_to_may_be_stopped"},
    "when a password or certificate changes, which is checked afterwards": {
        "ironic_renew_certificate", "ironic_rotation"},
    "identities of hosts, which the module compares": {"hosts_checked"},
}


def documented():
    """Return the names of all variables of the roles' argument specs."""
    points = [point for path in (REPOSITORY / "roles").glob("*/meta/argument_specs.yml")
              for point in ansible_yaml.read(path)["argument_specs"].values()]
    return {name for point in points for name in point.get("options") or {}}


def given(items):
    """Yield what tasks, plays and imports of a file give by name."""
    for item in items or []:
        yield from item.get("vars") or {}
        yield from item.get("ansible.builtin.set_fact") or {}
        for part in ("block", "rescue", "always", "tasks", "pre_tasks", "post_tasks", "roles"):
            yield from given(item.get(part))


def refused():
    """Return the names that the filter is asked for, wherever."""
    paths = [*FILES, *(REPOSITORY / "roles").glob("*/vars/main.yml")]
    lists = [found for path in paths for found in re.findall(
        r"\[([^\]]*)\]\s*\| metal3\.baremetal\.command_line_refusal\(", path.read_text())]
    return {name for found in lists for name in re.findall(r"'(\w+)'", found)}


def test_each_variable_that_is_given_is_refused_or_harmless():
    harmless = {name for names in HARMLESS.values() for name in names}
    found = {name for path in FILES for name in given(ansible_yaml.read(path))} & documented()
    assert found - refused() - harmless == set()
    assert harmless - found == set() and harmless & refused() == set()


def refusal_of(folder, name, *arguments):
    """Run a playbook with variables of the command line; return what was printed, in words."""
    code, output = playbook.play(folder, INVENTORY, "", f"metal3.baremetal.{name}", *arguments,
                                 K8S_AUTH_HOST="https://127.0.0.1:1")
    words = " ".join(output.split())
    assert code and "Traceback" not in words, output
    return words


@pytest.mark.parametrize("name, variable, value, arguments", [
    ("maintain", "hosts_names", ["h2"], ("--limit", "h1", "-e", "maintain=firmware", "-e", "metal3_confirm=1")),
    ("upgrade", "cluster_plan_only", False, ("-e", "upgrade_backup=false", "-e", "metal3_confirm=1")),
    ("site", "hosts_confirmable", True, ("-e", "metal3_confirm=1")),
    ("repivot", "pivot_to_kubeconfig", "/elsewhere", ("-e", "metal3_confirm=1")),
    ("metalstack_teardown", "metalstack_state", "present", ("-e", "metal3_confirm=c1")),
], ids=["maintain", "upgrade", "site", "repivot", "metalstack_teardown"])
def test_a_variable_that_is_given_is_refused_on_the_command_line(tmp_path, name, variable, value, arguments):
    giver = "the role maintenance" if name == "maintain" else f"the playbook {name}"
    words = refusal_of(tmp_path, name, "-e", json.dumps({variable: value}), *arguments)
    assert (f"{variable}: found on the command line (-e), where a variable counts more than what {giver} gives" in words
            and f"expected from {giver} alone; leave it out" in words), words
    # Modules of the collection do all that is done.
    assert "fatal: [" in words and "changed=0" in words and "changed=1" not in words


def test_a_variable_that_nobody_gives_is_taken(tmp_path):
    words = refusal_of(tmp_path, "maintain", "--limit", "h1", "-e", "maintain=reboot", "-e", '{"hosts_force": ["h1"]}')
    assert "found on the command line" not in words and "127.0.0.1:1" in words


@pytest.mark.parametrize("name", ["renew_certificates", "rotate_credentials"])
def test_a_number_counts_for_ironic_or_the_operator(tmp_path, name):
    (text,) = [task["vars"]["bmo_confirmed_parts"]
               for play in ansible_yaml.read(REPOSITORY / "playbooks" / f"{name}.yml")
               for task in play["tasks"] if "bmo_confirmed_parts" in task.get("vars", {})]
    interrupts, stays = ({"ironic_installed": {"upgrades": [{"interrupts": found}]}} for found in (True, False))
    plays = [{"hosts": "m1", "gather_facts": False, "vars": dict(variables, metal3_confirm=1), "tasks": [{
        "assert": {"that": f"found | join(',') == '{expected}'", "fail_msg": "{{ found }}"}, "vars": {"found": text}}]}
        for variables, expected in [({}, "1"), (stays, "1"), (interrupts, "")]]
    code, output = playbook.play(tmp_path, INVENTORY, json.dumps(plays), "play.yml")
    assert code == 0, output
