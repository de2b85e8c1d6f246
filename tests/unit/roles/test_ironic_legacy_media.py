# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Role ironic, mode process: what servers with a legacy BIOS boot virtual media by."""
from __future__ import annotations

import json

import pytest
from fakes import playbook
from fakes.ironic_role import INVENTORY, ROLE, rendered

SERVERS = """
baremetal:
  hosts:
    by-media: {bmc_address: "redfish-virtualmedia+https://192.0.2.11/redfish/v1/Systems/1", bmh_boot_mode: legacy}
    by-network: {bmc_address: "redfish://192.0.2.12/redfish/v1/Systems/1", bmh_boot_mode: legacy}
    by-ipmi: {bmc_address: 192.0.2.13, bmh_boot_mode: legacy}
    uefi: {bmc_address: "redfish-virtualmedia://192.0.2.14/redfish/v1/Systems/1", bmh_boot_mode: UEFI}
    default: {bmc_address: "redfish-virtualmedia://192.0.2.15/redfish/v1/Systems/1"}
"""


def checked(folder, program, servers=SERVERS):
    text = json.dumps([{"hosts": "management", "gather_facts": False, "tasks": [
        {"include_vars": str(ROLE / "vars" / "main.yml")},
        {"import_tasks": str(ROLE / "tasks" / "legacy_media.yml")}]}])
    code, output = playbook.play(folder, INVENTORY + servers, text, "play.yml", "-e", json.dumps(
        {"ironic_isolinux_file": program}))
    return code, " ".join(output.split())


def test_a_server_that_needs_it_is_named_when_it_is_not_there(tmp_path):
    code, output = checked(tmp_path, "")
    assert code != 0 and "which by-media boots virtual media by (bmh_boot_mode legacy)" in output, output
    assert "install Debian's packages isolinux and syslinux-common" in output


@pytest.mark.parametrize(("program", "servers"), [
    ("/usr/lib/ISOLINUX/isolinux.bin", SERVERS), ("", ""), ("", SERVERS.replace("legacy", "UEFI"))])
def test_nothing_is_in_the_way_otherwise(tmp_path, program, servers):
    code, output = checked(tmp_path, program, servers)
    assert code == 0, output


@pytest.mark.parametrize(("variable", "value"), [("bmh_boot_mode", "legacy"), ("bmc_address", "192.0.2.13")])
def test_a_server_of_which_it_cannot_be_known_is_named(tmp_path, variable, value):
    """Left out, its boot media would lack what its BIOS boots."""
    servers = SERVERS.replace("{bmc_address: 192.0.2.13, bmh_boot_mode: legacy}", str(dict(
        {"bmc_address": "192.0.2.13", "bmh_boot_mode": "legacy"}, **{variable: "{{ nowhere.value }}"})))
    assert value not in servers[servers.index("by-ipmi"):servers.index("uefi")]
    code, output = checked(tmp_path, "", servers)
    found = f"by-ipmi: {variable}: found what cannot be templated ('nowhere' is undefined)"
    assert code != 0 and found in output, output


def test_the_addresses_that_ironic_is_checked_for_are_those_of_all_servers(tmp_path):
    def listed(servers):
        text = json.dumps([{"hosts": "management", "gather_facts": False, "vars_files": [
            str(ROLE / "defaults" / "main.yml")], "tasks": [{"debug": {"msg": "{{ ironic_bmc_addresses | sort }}"}}]}])
        code, output = playbook.play(tmp_path, INVENTORY + servers, text, "play.yml")
        return code, " ".join(output.split())

    code, output = listed(SERVERS.replace("bmc_address: 192.0.2.13, ", ""))
    assert code == 0 and [output.count(f"192.0.2.{number}") for number in range(11, 16)] == [1, 1, 0, 1, 1], output
    code, output = listed(SERVERS.replace("192.0.2.13", '"{{ nowhere.address }}"'))
    assert code != 0 and "by-ipmi: bmc_address: found what cannot be templated" in output, output


def test_ironic_takes_it_from_where_it_is(tmp_path):
    assert rendered(tmp_path, ironic_isolinux_file="/a/isolinux.bin")["conf"]["DEFAULT"]["isolinux_bin"] == (
        "/a/isolinux.bin")
    assert "isolinux_bin" not in rendered(tmp_path, ironic_isolinux_file="")["conf"]["DEFAULT"]
