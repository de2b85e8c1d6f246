# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The playbook lint on the lab's inventory, and on one in which somebody mistyped; no request to any server is made."""
from __future__ import annotations

import json
import shutil
from xml.etree import ElementTree

import pytest
from support import REPOSITORY

PASSWORD = "c4nary-of-the-lint-test"
# Mistakes written into a copy of the lab's own variables: file, what is replaced, by what.
BREAKS = (
    ("group_vars/clusters.yml", "cluster_kubernetes_version: v1.35.4",
     "cluster_kubernetes_version: v1.21.0"),
    ("group_vars/clusters.yml", "interface: \"{{ lab_nic }}\"", "interfaces: eno1"),
    ("group_vars/direct.yml", "format: raw", "format: rew"),
    ("group_vars/baremetal.yml", "boot_mac:", "boot_mca:"),
)
SERVERS = f"""baremetal:
  hosts:
    extra:
      bmc_address: ipmi://192.0.2.200
      bmc_username: admin
      bmc_password: [{PASSWORD}]
      boot_mac: 00:5c:52:00:00:fe
    another:
      bmc_address: ipmi://192.0.2.201
      bmc_username: admin
      bmc_password: {PASSWORD}
      boot_mac: 00:5c:52:00:00:ff
      bmh_boot_mode: UEFISecureBoot
clusters:
  children:
    nobody:
"""
# What must be reported: rule, host, variable, and the file and text by which its line is found.
REPORTED = (
    ("unknown-variable", "workload-cluster", "cluster_networks.nodes.interfaces", "group_vars/clusters.yml",
     "interfaces: eno1"),
    ("version", "workload-cluster", "cluster_kubernetes_version", "group_vars/clusters.yml",
     "cluster_kubernetes_version: v1.21.0"),
    ("value", "server-03", "bmh_image.format", "group_vars/direct.yml", "format: rew"),
    ("unknown-variable", "server-01", "boot_mca", "group_vars/baremetal.yml", "boot_mca:"),
    ("boot-mode", "another", "bmh_boot_mode", "extra.yml", "bmh_boot_mode"),
    ("value", "extra", "bmc_password", "extra.yml", "bmc_password"),
)


@pytest.fixture(scope="module")
def broken(lab, tmp_path_factory):
    """Lint a broken copy of the lab's inventory; return the run, the copy and the reports."""
    folder = tmp_path_factory.mktemp("lint")
    site = folder / "site"
    shutil.copytree(REPOSITORY / "inventory" / "lab", site)
    for name, before, after in BREAKS:
        text = (site / name).read_text()
        assert before in text, (name, before)
        (site / name).write_text(text.replace(before, after))
    (site / "extra.yml").write_text(SERVERS)
    run = lab.playbook("lint", "-vvv", inventory=site, environment={"LAB_CLUSTER": "workload"}, extra={
        "lint_sarif_file": str(folder / "lint.sarif"), "lint_junit_file": str(folder / "lint.xml"),
        "lint_base_dir": str(site)})
    return run, site, json.loads((folder / "lint.sarif").read_text()), ElementTree.parse(folder / "lint.xml").getroot()


def test_the_lab_s_inventory_has_no_findings(lab):
    run = lab.playbook("lint", environment={"LAB_CLUSTER": "workload"}, extra={
        "lint_provisioning_cidr": lab.figures["bridge"]["network"], "lint_strict": True})
    assert "1 cluster: 0 errors, 0 warnings" in run.ok().output


@pytest.mark.parametrize("rule, host, variable, name, text", REPORTED, ids=[entry[2] for entry in REPORTED])
def test_each_mistake_is_reported_with_its_line(broken, rule, host, variable, name, text):
    run, site, sarif, dummy = broken
    number = next(number for number, line in enumerate((site / name).read_text().splitlines(), 1) if text in line)
    run.failed(f"{name}:{number}: error {rule}: {host}")
    found = [result for result in sarif["runs"][0]["results"] if result["ruleId"] == rule and
             result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == name and
             result["locations"][0]["physicalLocation"]["region"]["startLine"] == number]
    assert variable in found[0]["message"]["text"]


def test_a_cluster_s_group_needs_a_host(broken):
    broken[0].failed("error cluster-without-host: nobody: found a group without a host")


def test_pipelines_see_which_rules_fail(broken):
    failed = set(case.get("name") for case in broken[3].iter("testcase") if case.find("failure") is not None)
    assert failed >= set(entry[0] for entry in REPORTED)


def test_no_secret_is_shown(broken):
    run, dummy, sarif, root = broken
    assert PASSWORD not in run.output + json.dumps(sarif) + ElementTree.tostring(root, encoding="unicode")
