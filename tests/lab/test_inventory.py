# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The lab's hosts and nodes as inventory hosts; all of it only reads."""
from __future__ import annotations

import json

import pytest
import yaml
from inventory_plugin import ask, listed
from support import REPOSITORY

from ansible_collections.metal3.baremetal.plugins.module_utils._host.state import table as host_table

EXAMPLE = REPOSITORY / "inventory" / "example" / "hosts.metal3.yml"


def test_the_example_gives_all_hosts_with_the_facts_of_the_module(lab, tmp_path):
    groups, variables = listed(lab, tmp_path, EXAMPLE.read_text())
    facts = dict((name, host_table.summary(host)) for name, host in lab.hosts().items())
    assert sorted(groups["metal3_hosts"]) == sorted(facts)
    inspected = [name for name in facts if name in lab.servers and facts[name]["hardware"]]
    assert inspected
    for name in inspected:
        seen = variables[name]["metal3"]
        own = dict((key, seen.pop(key)) for key in ("kind", "cluster", "addresses", "server"))
        assert own["kind"] == "host"
        assert own["server"] == lab.kube.server
        assert own["addresses"] == [nic["ip"] for nic in seen["hardware"]["nics"] if nic["ip"]] != []
        assert seen == facts[name]
        assert name in groups["state_" + facts[name]["state"].replace(" ", "_")]


def test_hosts_are_read_with_their_nodes_and_kept(lab, tmp_path):
    kubeconfig = tmp_path / "kubeconfig"
    kubeconfig.touch(mode=0o600)
    kubeconfig.write_text((lab.dir / "kubeconfig").read_text())
    options = {
        "kubeconfig": str(kubeconfig), "sources": ["hosts", "nodes"], "states": ["available"],
        "ironic": {"cloud": "metal3-lab", "clouds_file": str(lab.dir / "clouds.yaml")},
        "compose": {"ansible_host": "metal3.addresses | first"},
        "groups": {"redfish": "metal3.kind == 'host' and metal3.node.driver == 'redfish'"},
        "cache": True, "cache_plugin": "ansible.builtin.jsonfile", "cache_connection": str(tmp_path / "cache")}
    name = max(name for name in lab.servers if lab.state(name) == "available")
    groups, variables = listed(lab, tmp_path, options)
    facts, node = variables[name]["metal3"], lab.nodes()[name]
    assert (facts["node"]["uid"], facts["node"]["provision_state"]) == (node.id, node.provision_state)
    assert name in groups["redfish"]
    assert variables[name]["ansible_host"] == facts["addresses"][0]
    # Only the nodes of other hosts stand for themselves.
    assert name not in [variables[other]["metal3"]["host"] for other in groups["metal3_nodes"]]

    text = next((tmp_path / "cache").iterdir()).read_text()
    assert [secret for secret in secrets_of(lab, name) if secret in text] == []
    config = yaml.safe_load(kubeconfig.read_text())
    cluster = config["clusters"][0]["cluster"]
    # The same server, which nobody reaches any more.
    cluster["proxy-url"] = "http://127.0.0.1:1"
    kubeconfig.write_text(yaml.safe_dump(config))
    again, variables = listed(lab, tmp_path, options)
    assert (again, variables[name]["metal3"]) == (groups, facts)
    output, warnings = ask(lab, tmp_path, options, "ansible-inventory", "--list", "--flush-cache")
    assert f"API server {lab.kube.server} does not answer" in warnings, output
    # What is kept is of the server that it was read from.
    assert listed(lab, tmp_path, dict(options, kubeconfig=str(lab.dir / "kubeconfig")))[0] == groups
    cluster["server"] = "https://127.0.0.1:1"
    kubeconfig.write_text(yaml.safe_dump(config))
    output, warnings = ask(lab, tmp_path, options, "ansible-inventory", "--list")
    assert "API server https://127.0.0.1:1 does not answer" in warnings, output


def test_machines_are_read_where_there_are_none(lab, tmp_path):
    groups, variables = listed(lab, tmp_path, {"sources": ["machines"], "all_namespaces": True})
    assert set(groups.get("metal3_machines", [])) == set(variables)


def test_facts_are_at_hand_in_a_play_and_are_no_templates(lab, tmp_path):
    play = tmp_path / "play.yml"
    play.write_text(yaml.safe_dump([{
        "hosts": "metal3_hosts", "gather_facts": False, "connection": "local", "tasks": [
            {"ansible.builtin.assert": {"that": [
                "metal3.name == inventory_hostname",
                "metal3.boot_mac_address is metal3.baremetal.mac",
                "metal3.bmc_address is metal3.baremetal.bmc_address",
                "hostvars[inventory_hostname] is metal3.baremetal.host_matching({'match_labels': metal3.labels})"]}},
            {"ansible.builtin.debug": {"msg": "seen {{ metal3.name }}"}}]}]))
    output, warnings = ask(lab, tmp_path, {}, "ansible-playbook", str(play))
    assert "failed=0" in output, output + warnings
    assert [name for name in lab.hosts() if "seen " + name not in output] == []


@pytest.mark.parametrize("options, kubeconfig, texts", [
    ({}, "kubeconfigs/ipam", ["cannot list resource", "Role and RoleBinding in namespace metal3"]),
    ({"kubeconfig": "/nonexistent/kubeconfig"}, "kubeconfig",
     ["no file /nonexistent/kubeconfig", "correct kubeconfig"]),
    ({"context": "nowhere"}, "kubeconfig", ["nowhere", "correct kubeconfig or context"]),
    ({"host": "https://127.0.0.1:1"}, "kubeconfig", ["127.0.0.1:1 does not answer", "correct kubeconfig or host"]),
    ({"label_selector": "rack in"}, "kubeconfig", ["unable to parse requirement", "correct label_selector"]),
    ({"sources": ["nodes"], "ironic": {"endpoint": "https://127.0.0.1:1"}}, "kubeconfig", ["source nodes", "answer"]),
    ({"sources": ["servers"]}, "kubeconfig", ["sources"]),
])
def test_failures_say_what_was_asked_found_and_next(lab, tmp_path, options, kubeconfig, texts):
    output, warnings = ask(lab, tmp_path, options, "ansible-inventory", "--list", kubeconfig=kubeconfig)
    assert [text for text in texts if text not in warnings] == [], warnings + output
    assert "_meta" not in json.loads(output) or json.loads(output)["_meta"]["hostvars"] == {}


def secrets_of(lab, name):
    """Return the passwords of the lab that could show up: of Ironic and of a server's BMC."""
    paths = (lab.dir / "secrets" / "ironic_password", lab.dir / "secrets" / "bmc" / name / "password")
    return [path.read_text().strip() for path in paths]
