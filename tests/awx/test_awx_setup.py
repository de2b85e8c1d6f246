# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The playbook awx_setup with the modules of awx.awx, against a store of objects in place of AWX."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import controller
import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
PASSWORD = "bmc-password-of-the-test"
HOOK_PASSWORD = "hook-password-of-the-test"
VARIABLES = {
    "awx_setup_inventory_url": "https://git.example.org/site.git",
    "awx_setup_execution_environment": "registry.example.org/metal3-ee:1",
    "awx_setup_credentials": [
        {"name": "BMCs", "kind": "bmc", "inputs": {"username": "admin", "password": PASSWORD}},
        {"name": "management cluster", "kind": "kubeconfig", "inputs": {"kubeconfig": PASSWORD}},
        {
            "name": "Ironic",
            "kind": "ironic",
            "inputs": {"endpoint": "https://192.0.2.1:6385", "username": "u", "password": PASSWORD, "ca_cert": "pem"},
        },
        {"name": "bastion", "kind": "machine", "inputs": {"username": "root", "ssh_key_data": PASSWORD}},
        {"name": "repositories", "kind": "scm", "inputs": {"username": "git", "password": PASSWORD}},
    ],
    "awx_setup_notifications": [
        {
            "name": "hook",
            "type": "webhook",
            "events": ["error", "approvals"],
            "configuration": {
                "url": "https://hook.example.org",
                "http_method": "POST",
                "username": "",
                "password": HOOK_PASSWORD,
                "headers": {},
                "disable_ssl_verification": False,
            },
        }
    ],
}


def setup(url: str, folder: Path, *arguments: str, **changes: object) -> tuple[int, str]:
    """Run the playbook; return its exit code and everything it printed."""
    file = folder / "variables.json"
    file.write_text(json.dumps({**VARIABLES, **changes}), encoding="utf-8")
    environment = {
        **os.environ,
        "ANSIBLE_COLLECTIONS_PATH": str(REPOSITORY / ".build"),
        "CONTROLLER_HOST": url,
        "CONTROLLER_OAUTH_TOKEN": controller.TOKEN,
        "ANSIBLE_LOCALHOST_WARNING": "False",
        "ANSIBLE_INVENTORY_UNPARSED_WARNING": "False",
    }
    run = subprocess.run(
        [
            str(Path(sys.executable).parent / "ansible-playbook"),
            "-vvv",
            "metal3.baremetal.awx_setup",
            "-e",
            f"@{file}",
            *arguments,
        ],
        capture_output=True,
        text=True,
        env=environment,
        cwd=folder,
        check=False,
        timeout=400,
    )
    return run.returncode, run.stdout + run.stderr


def changed(output: str) -> int:
    """Return how many tasks changed something."""
    return int(re.search(r"changed=(\d+)", output)[1])


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """An AWX that was set up, its store, URL and the output."""
    with controller.running() as (store, url):
        code, output = setup(url, tmp_path_factory.mktemp("setup"))
        assert code == 0, output[-6000:]
        yield store, url, output


def test_a_second_run_changes_nothing(site, tmp_path):
    store, url, dummy = site
    before = len(store.writes)
    code, output = setup(url, tmp_path)
    assert code == 0, output[-6000:]
    assert store.writes[before:] == []
    assert changed(output) == 0


def test_check_mode_writes_nothing(site, tmp_path):
    store, url, dummy = site
    before = len(store.writes)
    code, output = setup(url, tmp_path, "--check", awx_setup_execution_environment="registry.example.org/other:2")
    assert code == 0, output[-6000:]
    # The execution environment is what differs.
    assert changed(output) == 1, output[-20000:]
    assert store.writes[before:] == []


def test_no_secret_is_printed(site):
    dummy, dummy_url, output = site
    assert "Create the credentials" in output
    assert PASSWORD not in output and HOOK_PASSWORD not in output and controller.TOKEN not in output


def test_templates_have_surveys_and_credentials(site):
    store, dummy_url, dummy = site
    template = store.named("job_templates", "metal3 enroll")
    assert (template["playbook"], template["ask_limit_on_launch"], template["survey_enabled"]) == (
        "playbooks/enroll.yml",
        True,
        True,
    )
    questions = {question["variable"]: question for question in store.surveys[template["id"]]["spec"]}
    assert questions["hosts_wait_for"]["choices"] == ["none", "registered", "inspected", "available"]
    assert (questions["hosts_error_limit"]["type"], questions["hosts_error_limit"]["default"]) == ("integer", 3)
    assert questions["hosts_allow_detach"]["choices"] == ["true", "false"]
    assert store.linked("job_templates", "metal3 enroll", "credentials") == ["BMCs", "management cluster"]
    assert store.linked("job_templates", "metal3 ironic_audit", "credentials") == ["Ironic", "management cluster"]


def test_projects_have_the_login_at_their_repositories_and_no_template_has_it(site):
    store, dummy_url, dummy = site
    login = store.named("credentials", "repositories")["id"]
    assert {store.named("projects", f"metal3 {name}")["credential"] for name in ("playbooks", "site")} == {login}
    for template in store.objects["job_templates"].values():
        assert "repositories" not in store.linked("job_templates", template["name"], "credentials")


def test_job_variables_lead_to_the_environment_only(site):
    store, dummy_url, dummy = site
    text = store.named("job_templates", "metal3 discover")["extra_vars"]
    assert json.loads(text)["discover_password"] == "{{ lookup('ansible.builtin.env', 'METAL3_BMC_PASSWORD') }}"
    kinds = store.objects["credential_types"].values()
    assert [item["injectors"]["env"]["METAL3_BMC_PASSWORD"] for item in kinds if item["name"] == "Metal3 BMC"] == [
        "{{ password }}"
    ]


def test_the_workflow_waits_for_an_approval(site):
    store, dummy_url, dummy = site
    nodes = store.objects["workflow_job_template_nodes"].values()
    order = ["lint"]
    while following := store.linked("workflow_job_template_nodes", order[-1], "success_nodes"):
        order += following
    assert order == ["lint", "preflight", "approve", "enroll", "cluster"]
    assert store.linked("workflow_job_template_nodes", "cluster", "always_nodes") == ["report"]
    assert len(nodes) == 6
    report = store.named("workflow_job_template_nodes", "report")
    assert (report["job_type"], report["unified_job_template"]) == (
        "check",
        store.named("job_templates", "metal3 cluster")["id"],
    )
    approval = store.named("workflow_approval_templates", "metal3 approve")
    assert store.named("workflow_job_template_nodes", "approve")["related"]["unified_job_template"] == approval["url"]


def test_schedules_and_notifications(site):
    store, dummy_url, dummy = site
    checks = {item["name"]: item.get("job_type") for item in store.objects["schedules"].values()}
    assert checks == {
        "metal3 backup daily": None,
        "metal3 certificates daily": None,
        "metal3 compliance of hosts daily": "check",
        "metal3 compliance of clusters daily": "check",
    }
    assert {item["name"] for item in store.objects["schedules"].values() if not item["enabled"]} == {
        "metal3 backup daily"
    }
    for relation, expected in (("error", ["hook"]), ("approvals", ["hook"]), ("success", [])):
        assert store.linked("organizations", "Bare metal", f"notification_templates_{relation}") == expected


def test_an_unknown_playbook_is_refused_before_anything_is_written(tmp_path):
    with controller.running() as (store, url):
        code, output = setup(url, tmp_path, awx_setup_playbooks=["enrol"])
    assert code != 0 and "found enrol, expected some of" in output
    assert store.writes == []
