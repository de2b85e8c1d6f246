# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which logs a wait reads on a site that the collection's roles have made."""
from __future__ import annotations

import json
import pathlib

import yaml
from fakes import playbook

from ansible_collections.metal3.baremetal.plugins.filter.site_boot_logs import site_boot_logs
from ansible_collections.metal3.baremetal.plugins.module_utils._boot.site_logs import site_logs

ROLES = pathlib.Path(__file__).parents[3] / "roles"
PLANE = {"mode": "process", "name": "rack1", "dir": "/plane", "address": "192.0.2.10"}
DHCP = {"provisioning_network_name": "prov", "provisioning_network_dhcp_ranges": [{"first": "a", "last": "b"}]}
LOCAL = {"ansible_connection": "local"}


def test_they_are_those_of_the_plane_and_of_dhcp():
    assert site_logs([dict(LOCAL, **DHCP, management_plane=PLANE)]) == [
        "/plane/log/image-server.log", "/var/log/dnsmasq-prov.log"]
    assert site_logs([dict(LOCAL, **DHCP, provisioning_network_dhcp_log_file="/l")] * 2) == ["/l"]


def test_what_is_not_on_this_machine_or_not_a_file_is_left_out():
    assert site_logs([dict(DHCP, management_plane=PLANE), dict(DHCP, management_plane=PLANE,
                                                               ansible_connection="ssh")]) == []
    for changes in ({"management_plane": {"mode": "cluster", "kubeconfig": "/k"}}, {"management_plane": None},
                    dict(DHCP, provisioning_network_dhcp_ranges=[]), dict(DHCP, provisioning_network_state="absent"),
                    dict(DHCP, provisioning_network_dhcp_log_file=""),
                    dict(DHCP, provisioning_network_dhcp_log_file="log/dhcp.log")):
        assert site_logs([dict(LOCAL, **changes)]) == []


def test_the_filter_asks_the_group_management_alone():
    machine = dict(LOCAL, group_names=["management"], management_plane=PLANE)
    assert site_boot_logs({"bastion": machine, "other": dict(machine, group_names=["nodes"],
                                                             management_plane=dict(PLANE, dir="/other"))}) == [
        "/plane/log/image-server.log"]


def test_what_can_not_be_templated_fails_nothing(tmp_path):
    """ansible-core makes the values of a dict only when they are read."""
    planes = {"whole": PLANE, "address": dict(PLANE, dir="/other", address="{{ missing }}"),
              "folder": dict(PLANE, dir="{{ missing }}/x"), "mode": dict(PLANE, mode="{{ 1 / 0 }}"),
              "plane": "{{ missing }}", "text": "process"}
    inventory = {"all": {"children": {"management": {"hosts": dict(
        (name, dict(LOCAL, management_plane=plane)) for name, plane in planes.items())}}}}
    code, output = playbook.play(tmp_path, json.dumps(inventory), json.dumps([{
        "hosts": "whole", "gather_facts": False, "tasks": [{"ansible.builtin.debug": {
            "msg": "found {{ hostvars | metal3.baremetal.site_boot_logs | join(' and ') }}"}}]}]), "play.yml")
    assert code == 0 and "found /plane/log/image-server.log and /other/log/image-server.log\"" in output, output


def test_dnsmasqs_log_is_where_the_role_has_it():
    defaults = yaml.safe_load((ROLES / "provisioning_network/defaults/main.yml").read_text(encoding="utf-8"))
    assert defaults["provisioning_network_dhcp_log_file"] == "/var/log/dnsmasq-{{ provisioning_network_name }}.log"
