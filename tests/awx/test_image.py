# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The execution environment's image: built from its definition, with the collection of the checkout, and used."""

from __future__ import annotations

import json
import subprocess

import execution_image
import pytest

INVENTORY = {
    "baremetal": {
        "hosts": {
            "server-01": {"boot_mac": "00:5c:52:31:3a:01"},
            "server-02": {"boot_mac": "00:5c:52:31:3a:02"},
        },
        "vars": {
            "bmc_address": "redfish-virtualmedia://{{ inventory_hostname }}.example.org/redfish/v1/Systems/1",
            "bmc_username": "{{ lookup('ansible.builtin.env', 'METAL3_BMC_USERNAME') }}",
            "bmc_password": "{{ lookup('ansible.builtin.env', 'METAL3_BMC_PASSWORD') }}",
        },
    }
}
CREDENTIALS = {"METAL3_BMC_USERNAME": "admin", "METAL3_BMC_PASSWORD": "bmc-password-of-the-test"}
ANSWERS = {"lint_strict": "true", "lint_skip_rules": ""}


@pytest.fixture(scope="session")
def image(tmp_path_factory):
    return execution_image.ExecutionImage(tmp_path_factory.mktemp("image"))


def test_the_image_holds_what_the_collections_need(image):
    found = json.loads(image.program("ansible-galaxy", "collection", "list", "--format", "json"))
    assert set(found[f"{execution_image.INSTALLED}/ansible_collections"]) == {"metal3.baremetal", "awx.awx"}
    assert "core 2.19." in image.program("ansible", "--version")
    image.program("python3", "-c", "import bcrypt, kubernetes, metal_python, netaddr, openstack, sushy, ansible_runner")
    for program in (("ipmitool", "-V"), ("git", "--version"), ("ssh", "-V")):
        image.program(*program)
    assert image.program("id", "-u").strip() == "1000"


def test_each_module_can_be_loaded_in_it(image):
    documented = json.loads(image.program("ansible-doc", "--list", "--json", "metal3.baremetal"))
    modules = {path.stem for path in (execution_image.REPOSITORY / "plugins" / "modules").glob("*.py")} - {"__init__"}
    assert {name.removeprefix("metal3.baremetal.") for name in documented} == modules


def lint(image, folder, inventory, **answers):
    private = execution_image.private_folder(folder, {"all": {"children": inventory}}, ANSWERS | answers, CREDENTIALS)
    code, output = image.play(private, "lint", "--network=none")
    assert "bmc-password-of-the-test" not in output
    return code, output


def test_lint_runs_in_it_without_a_network(image, tmp_path):
    code, output = lint(image, tmp_path, INVENTORY)
    assert code == 0, output


def test_lint_in_it_reports_a_mistake(image, tmp_path):
    wrong = json.loads(json.dumps(INVENTORY))
    wrong["baremetal"]["hosts"]["server-02"]["boot_mac"] = "00:5c"
    code, output = lint(image, tmp_path, wrong)
    assert code != 0 and "server-02" in output and "00:5c" in output, output


def test_navigator_runs_lint_in_it(image, tmp_path):
    """By the settings that are beside the definition, with the image of the test."""
    settings = execution_image.navigator_settings(image)
    (tmp_path / "ansible-navigator.yml").write_text(json.dumps(settings), encoding="utf-8")
    (tmp_path / "hosts.json").write_text(json.dumps({"all": {"children": INVENTORY}}), encoding="utf-8")
    found = subprocess.run(
        image.contained(str(execution_image.tools() / "ansible-navigator"), "run", "metal3.baremetal.lint", "-i",
                        "hosts.json", "-e", json.dumps(ANSWERS)),
        cwd=tmp_path, env={**image.environment, **CREDENTIALS}, capture_output=True, text=True, check=False,
        timeout=900)  # fmt: skip
    output = found.stdout + found.stderr
    assert found.returncode == 0, output
    assert "2 servers, 0 clusters: 0 errors" in output and "bmc-password-of-the-test" not in output
