# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""DHCP and the plane's address, once served, end only when the interface's name is repeated."""
from __future__ import annotations

import json
from pathlib import Path

import pytest
from fakes import playbook

ROLE = Path(__file__).resolve().parents[3] / "roles" / "provisioning_network"
INVENTORY = """\
all:
  vars: {ansible_connection: local, ansible_python_interpreter: "{{ ansible_playbook_python }}"}
  hosts: {one: , two: }
"""
SERVICES = {"unit_file": "provisioning_network_dhcp_ranges",
            "keepalived_unit_file": "provisioning_network_keepalived_address"}


@pytest.fixture()
def ending(tmp_path):
    """Return a function that runs the role's questions, and returns whether they refuse and the words."""
    def run(*arguments, **described):
        variables = dict({"provisioning_network_name": "prov", "provisioning_network_state": "present",
                          "provisioning_network_dhcp_ranges": [], "provisioning_network_keepalived_address": ""},
                         **dict((f"provisioning_network_{name}", str(tmp_path / name)) for name in SERVICES),
                         **described)
        text = json.dumps([{"hosts": "all", "gather_facts": False, "vars_files": [str(ROLE / "vars" / "main.yml")],
                            "tasks": [{"import_tasks": str(ROLE / "tasks" / "ending.yml")}]}])
        code, output = playbook.play(tmp_path, INVENTORY, text, "play.yml", "-e", json.dumps(variables), *arguments)
        return code != 0, " ".join(output.split())
    return run


def test_without_a_service_of_before_nothing_is_asked(ending):
    assert not ending()[0]


@pytest.mark.parametrize("name", sorted(SERVICES))
def test_a_service_ends_with_the_interface_s_name_only(ending, tmp_path, name):
    (tmp_path / name).write_text("")
    for given, is_refused in (([], True), (["-e", "metal3_confirm=1"], True), (["-e", "metal3_confirm=prov"], False)):
        refused, words = ending("--limit", "one", *given)
        assert refused is is_refused, words
        assert (f"({SERVICES[name]}): described no more" in words and "-e metal3_confirm=prov" in words) is is_refused
    refused, words = ending("--limit", "one", "--check")
    assert not refused and "Without check mode this would be refused" in words


@pytest.mark.parametrize("name", sorted(SERVICES))
def test_a_name_is_of_one_machine(ending, tmp_path, name):
    (tmp_path / name).write_text("")
    refused, words = ending("-e", "metal3_confirm=prov")
    assert refused and "found 2 machines (one, two) in this play, expected one" in words


def test_what_is_described_is_not_asked_for(ending, tmp_path):
    for name in SERVICES:
        (tmp_path / name).write_text("")
    assert not ending(provisioning_network_dhcp_ranges=[{"first": "192.0.2.1", "last": "192.0.2.2"}],
                      provisioning_network_keepalived_address="192.0.2.9/24")[0]
