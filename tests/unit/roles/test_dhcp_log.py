# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The log of DHCP has an absolute path; others are refused before the interface is changed."""
from __future__ import annotations

import json

import pytest
from fakes import playbook
from tooling import ansible_yaml

ROLE = playbook.ROOT / "roles" / "provisioning_network"
INVENTORY = ("all: {hosts: {m1: {ansible_connection: local, "
             "ansible_python_interpreter: '{{ ansible_playbook_python }}'}}}")
RANGES = [{"first": "192.0.2.1", "last": "192.0.2.9"}]


@pytest.mark.parametrize("changes, refused", [
    ({"provisioning_network_dhcp_log_file": "log/dhcp.log"}, True),
    ({"provisioning_network_dhcp_log_file": "dhcp.log"}, True),
    ({"provisioning_network_dhcp_log_file": "/var/log/../dhcp.log"}, True),
    ({"provisioning_network_dhcp_log_file": "/var/log/dhcp of prov.log"}, True),
    ({"provisioning_network_dhcp_log_file": "log/dhcp.log", "provisioning_network_dhcp_ranges": []}, False),
    ({"provisioning_network_dhcp_log_file": "/var/log/dhcp.prov-1.log"}, False),
    ({"provisioning_network_dhcp_log_file": ""}, False), ({}, False)])
def test_a_path_that_dnsmasq_would_not_write_to_is_refused(tmp_path, changes, refused):
    task = ansible_yaml.read(ROLE / "tasks" / "present.yml")[0]
    text = json.dumps([{"hosts": "m1", "gather_facts": False, "tasks": [task],
                        "vars_files": [str(ROLE / part / "main.yml") for part in ("defaults", "vars")]}])
    variables = dict({"provisioning_network_name": "prov.100", "provisioning_network_dhcp_ranges": RANGES}, **changes)
    code, output = playbook.play(tmp_path, INVENTORY, text, "play.yml", "-e", json.dumps(variables))
    said = " ".join(output.split())
    assert (code != 0) is refused, output
    assert ("provisioning_network_dhcp_log_file: found" in said and "expected an absolute path" in said) is refused


def test_it_is_refused_before_anything_is_changed():
    tasks = ansible_yaml.read(ROLE / "tasks" / "present.yml")
    assert "provisioning_network_dhcp_log_file" in json.dumps(tasks[0])
