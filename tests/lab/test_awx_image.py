# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Playbooks in the image of the execution environment, started by ansible-runner as AWX does, against the lab."""
from __future__ import annotations

import json
import re
import stat
import subprocess
import xml.etree.ElementTree
from urllib.parse import urlsplit

import execution_image
import pytest
import yaml
from bmc_system import credential
from support import NAMESPACE, only
from surveys import answers

from ansible_collections.metal3.baremetal.plugins.module_utils._kube.api.client import KubeClient
from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.kinds import KNOWN

pytestmark = pytest.mark.awx
SERVER = "server-03"
CLUSTER = "job"
# A volume of the jobs' containers.
EXPORTS = "/exports"
CLUSTER_SECONDS = 1500
QUERIES = yaml.safe_load((execution_image.REPOSITORY / "extensions" / "audit" / "event_query.yml").read_text())


@pytest.fixture(scope="module")
def image(tmp_path_factory):
    return execution_image.ExecutionImage(tmp_path_factory.mktemp("image"))


@pytest.fixture
def exports(tmp_path):
    """The folder that jobs have as ``EXPORTS``."""
    folder = tmp_path / "exports"
    folder.mkdir()
    return folder


def cluster_variables(lab):
    """Return the lab's own description of a cluster, with one machine and a kubeconfig in the volume."""
    path = execution_image.REPOSITORY / "inventory" / "lab" / "group_vars" / "clusters.yml"
    return yaml.safe_load(path.read_text()) | {
        "management_plane": {name: lab.figures[name] for name in ("bridge", "ports")},
        "cluster_workers": {}, "cluster_workload_kubeconfig": EXPORTS + "/{{ inventory_hostname }}.kubeconfig"}


@pytest.fixture
def job(lab, image, tmp_path, exports):
    """Run a template's playbook on one server; nothing of the lab's files is in the container but the credentials."""
    bmc = lab.servers[SERVER]["bmc"]
    login = {"METAL3_BMC_USERNAME": credential(lab.servers[SERVER], "username"),
             "METAL3_BMC_PASSWORD": credential(lab.servers[SERVER], "password"),
             "KUBECONFIG": "/runner/env/kubeconfig"}
    servers = {
        "hosts": {SERVER: {"bmc_address": bmc["address"], "boot_mac": lab.servers[SERVER]["boot_mac"]}},
        "vars": {"bmc_username": "{{ lookup('ansible.builtin.env', 'METAL3_BMC_USERNAME') }}",
                 "bmc_password": "{{ lookup('ansible.builtin.env', 'METAL3_BMC_PASSWORD') }}"}}
    inventory = {"all": {
        "children": {"baremetal": servers, "clusters": {"hosts": {CLUSTER: {}}, "vars": cluster_variables(lab)}},
        "vars": {"metal3_namespace": NAMESPACE, "metal3_ca_file": "/runner/env/ca.crt",
                 "discover_allowed_addresses": [urlsplit(bmc["address"]).hostname]}}}
    files = {"kubeconfig": (lab.dir / "kubeconfig").read_text(), "ca.crt": (lab.dir / "pki" / "ca.crt").read_text()}

    def run(name, *arguments, seconds=900, **given):
        private = tmp_path / f"{name}-{len(list(tmp_path.iterdir()))}"
        variables = answers(name, **given)
        assert all(isinstance(value, str) for value in variables.values())
        execution_image.private_folder(private, inventory, variables, login, files)
        code, output = image.play(private, name, f"--volume={exports}:{EXPORTS}", arguments=arguments, seconds=seconds)
        assert login["METAL3_BMC_PASSWORD"] not in output
        return code, output, private
    return run


def changed(output):
    return "changed=0" not in output.rpartition("PLAY RECAP")[2]


def test_a_server_is_enrolled_and_counted(lab, job):
    lab.playbook("unenroll", *only(SERVER), "-e", "metal3_confirm=1").ok()
    assert lab.host(SERVER) is None
    code, output, dummy = job("enroll", "--check", hosts_wait_for="available")
    assert code == 0 and lab.host(SERVER) is None, output
    code, output, private = job("enroll", hosts_wait_for="available")
    assert code == 0 and changed(output), output
    assert lab.host(SERVER)["status"]["provisioning"]["state"] == "available"

    # As Automation Platform counts it, from the job's events.
    module = "metal3.baremetal.baremetal_host"
    serial = lab.kube.get(KNOWN["HardwareData"], NAMESPACE, SERVER)["spec"]["hardware"]["systemVendor"]["serialNumber"]
    counted = [node for result in execution_image.results(private, "enroll", module) for node in nodes(module, result)]
    assert counted and all(node == {"name": SERVER, "facts": {"device_type": "bare_metal"},
                                    "canonical_facts": {"serial_number": serial}} for node in counted), counted

    code, output, dummy = job("enroll", hosts_wait_for="available")
    assert code == 0 and not changed(output), output


def nodes(module, result):
    found = subprocess.run(["jq", "-c", QUERIES[module]["query"]], input=json.dumps(result), capture_output=True,
                           text=True, check=True)
    return [json.loads(line) for line in found.stdout.splitlines()]


def test_a_power_action_asks_for_its_confirmation_and_is_counted(lab, job):
    module = "metal3.baremetal.baremetal_host_action"
    code, output, dummy = job("host_action", host_action="power_off")
    assert code != 0 and "metal3_confirm=1" in output, output
    assert lab.host(SERVER)["spec"]["online"] is True
    try:
        code, output, private = job("host_action", host_action="power_off", metal3_confirm="1")
        assert code == 0 and lab.host(SERVER)["spec"]["online"] is False, output
        counted = [node for result in execution_image.results(private, "host_action", module)
                   for node in nodes(module, result)]
        assert [node["name"] for node in counted] == [SERVER] and "serial_number" in counted[0]["canonical_facts"]
    finally:
        lab.playbook("host_action", *only(SERVER), "-e", "host_action=power_on").ok()


def test_preflight_passes(job):
    code, output, dummy = job("preflight")
    assert code == 0, output


def test_the_reports_of_lint_are_in_a_volume(job, exports):
    code, output, dummy = job("lint", lint_sarif_file=f"{EXPORTS}/lint.sarif", lint_junit_file=f"{EXPORTS}/lint.xml")
    assert code == 0, output
    assert json.loads((exports / "lint.sarif").read_text())["version"] == "2.1.0"
    report = xml.etree.ElementTree.parse(exports / "lint.xml").getroot()
    assert "boot-mac-invalid" in [case.get("name") for case in report.iter("testcase")]


def test_a_cluster_and_its_kubeconfig_in_a_volume(lab, job, exports):
    try:
        code, output, private = job("cluster", seconds=CLUSTER_SECONDS)
        assert code == 0 and changed(output), output
        path = exports / f"{CLUSTER}.kubeconfig"
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        node, = KubeClient({"kubeconfig": str(path)}).list(KNOWN["Node"])[0]
        assert node["metadata"]["name"].startswith(CLUSTER + "-control-plane")
        # What the job keeps: its events, the results in them too.
        key = yaml.safe_load(path.read_text())["users"][0]["user"]["client-key-data"].encode()
        written = [found for found in private.rglob("*") if found.is_file()]
        assert written and [found for found in written if key in found.read_bytes()] == []
        code, output, dummy = job("cluster", seconds=CLUSTER_SECONDS)
        assert code == 0 and not changed(output), output
    finally:
        code, output, dummy = job("teardown", metal3_confirm=CLUSTER, seconds=CLUSTER_SECONDS)
    assert code == 0, output
    assert lab.kube.get(KNOWN["Cluster"], NAMESPACE, CLUSTER) is None


def test_discovered_servers_come_back_in_the_output(lab, job):
    bmc = urlsplit(lab.servers[SERVER]["bmc"]["address"])
    code, output, dummy = job("discover", "--diff", discover_addresses=bmc.hostname, discover_ports=str(bmc.port))
    assert code == 0, output
    # What the inventory says of the server already is not said twice.
    plain = re.sub(r"\x1b\[[0-9;]*m", "", output)
    assert f"+          eno1: {lab.servers[SERVER]['boot_mac']}\n" in plain and "boot_mac:" not in plain, output
