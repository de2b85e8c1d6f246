# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which servers DHCP answers by default: those of the inventory, each of them."""
from __future__ import annotations

import json
import re

import pytest
from fakes import playbook

ROLE = playbook.ROOT / "roles" / "provisioning_network"
MACS = ["00:5c:52:31:3a:01", "00:5C:52:31:3A:02"]


@pytest.mark.parametrize(("servers", "expected"), [
    ({}, []), ({"node1": {"boot_mac": MACS[0]}, "node2": {}}, [{"name": "node1", "mac": MACS[0]}]),
    ({"Node1.rack-a": {"boot_mac": MACS[0]}, "node1.rack-b": {"boot_mac": MACS[1]}},
     [{"name": "node1", "mac": MACS[0]}, {"name": "node1", "mac": MACS[1]}]),
    ({"node1": {"boot_mac": MACS[0]}, "node2": {"boot_mac": MACS[0]}},
     [{"name": "node1", "mac": MACS[0]}, {"name": "node2", "mac": MACS[0]}])],
    ids=["none", "one without a MAC", "one name in two domains", "one MAC twice, which the module refuses"])
def test_each_server_with_a_boot_mac_is_known(tmp_path, servers, expected):
    code, output = known(tmp_path, servers)
    assert code == 0, output
    assert json.loads(re.search(r"known (.*) ends", output).group(1).replace('\\"', '"')) == expected


def test_a_boot_mac_that_cannot_be_known_is_an_error_that_names_the_server(tmp_path):
    code, output = known(tmp_path, {"node1": {"boot_mac": MACS[0]}, "node2": {"boot_mac": "{{ macs.node2 }}"}})
    assert code != 0 and "node2: boot_mac" in " ".join(output.split()), output


def known(tmp_path, servers):
    inventory = json.dumps({"all": {
        "vars": {"ansible_connection": "local", "ansible_python_interpreter": "{{ ansible_playbook_python }}"},
        "children": {"management": {"hosts": {"boot": None}}, "baremetal": {"hosts": servers}}}})
    files = [str(ROLE / part / "main.yml") for part in ("defaults", "vars")]
    text = json.dumps([{"hosts": "management", "gather_facts": False, "vars_files": files, "tasks": [
        {"debug": {"msg": "known {{ provisioning_network_dhcp_hosts | to_json }} ends"}}]}])
    return playbook.play(tmp_path, inventory, text, "play.yml")
