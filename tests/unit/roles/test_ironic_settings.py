# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Role ironic: a site's own settings of Ironic, and of the agent's command line, in each mode."""
from __future__ import annotations

import json

import pytest
from fakes import playbook
from fakes.ironic_role import GIVEN, INVENTORY, ROLE, WITHOUT_ANY, rendered
from tooling import ansible_yaml

OWN = {"conductor": {"workers_pool_size": 500, "automated_clean": False}, "DEFAULT": {"debug": "true"}}


def test_a_plane_of_processes_has_the_sites_words_on_the_agents_command_line(tmp_path):
    values = rendered(tmp_path, ironic_kernel_params="console=ttyS1\n site.rack=7\n", ironic_vlan_interfaces="eno1.7",
                      ironic_boot_iso_source="http")
    for section in ("pxe", "redfish"):
        words = values["conf"][section]["kernel_append_params"].split(" ")
        assert words == ["nofb", "nomodeset", "vga=normal", "console=ttyS1", "site.rack=7",
                         "systemd.journald.forward_to_console=yes"]
    assert "ipa-enable-vlan-interfaces=eno1.7" in values["conf"]["inspector"]["extra_kernel_params"].split(" ")
    assert values["conf"]["deploy"]["ramdisk_image_download_source"] == "http"
    # Of unknown machines, too.
    line, = [line for line in values["script"].splitlines() if line.startswith("kernel ")]
    assert " site.rack=7 " in line and " ipa-enable-vlan-interfaces=eno1.7 " in line


def test_without_them_it_is_as_upstream_has_it(tmp_path):
    values = rendered(tmp_path)
    assert values["conf"]["pxe"]["kernel_append_params"] == (
        "nofb nomodeset vga=normal systemd.journald.forward_to_console=yes")
    assert "ipa-enable-vlan-interfaces=all" in values["conf"]["inspector"]["extra_kernel_params"].split(" ")
    assert "ramdisk_image_download_source" not in values["conf"]["deploy"]
    assert (values["environment"], values["extra_config"]) == ({}, WITHOUT_ANY)


def test_any_option_of_ironic_is_set_the_same_in_each_mode(tmp_path):
    values = rendered(tmp_path, ironic_settings=OWN, ironic_workers_pool_size=100)
    conductor = values["conf"]["conductor"]
    # The last of an option counts, and what the site has not named stays.
    assert (conductor["workers_pool_size"], conductor["automated_clean"]) == ("500", "False")
    assert conductor["power_state_change_timeout"] == "120" and values["conf"]["DEFAULT"]["debug"] == "true"
    assert values["environment"] == {"OS_CONDUCTOR__WORKERS_POOL_SIZE": "500", "OS_CONDUCTOR__AUTOMATED_CLEAN": "False",
                                     "OS_DEFAULT__DEBUG": "true"}
    assert values["extra_config"] == [
        {"group": "conductor", "name": "workers_pool_size", "value": "500"},
        {"group": "conductor", "name": "automated_clean", "value": "False"},
        {"group": "DEFAULT", "name": "debug", "value": "true"}]


@pytest.mark.parametrize(("given", "file"), [
    ({}, None), ({"metal3_ca_file": "/etc/ssl/site.crt"}, "/etc/ssl/site.crt"),
    ({"metal3_ca_file": "/etc/ssl/site.crt", "ironic_bmc_ca_file": "/etc/ssl/bmc.crt"}, "/etc/ssl/bmc.crt")])
def test_a_process_verifies_bmcs_by_the_file_that_preflight_has_used(tmp_path, given, file):
    assert rendered(tmp_path, **given)["conf"]["redfish"].get("verify_ca") == file


def test_in_a_pod_its_own_variables_go_before_them(tmp_path):
    values = rendered(tmp_path, ironic_settings=OWN, ironic_rescue=True,
                      ironic_environment={"OS_DEFAULT__DEBUG": "false"})
    assert values["environment"]["OS_DEFAULT__DEBUG"] == "false"
    assert values["environment"]["OS_DEFAULT__ENABLED_RESCUE_INTERFACES"] == "no-rescue,agent"


@pytest.mark.parametrize("mode", ["process", "cluster"])
@pytest.mark.parametrize("given", [
    {"conductor": "workers_pool_size=500"}, {"conductor": {"workers_pool_size": [500]}},
    {"conductor": {"workers_pool_size": "500\n[api]"}}, {"conductor": {"workers_pool_size": None}}])
def test_what_is_no_option_is_refused(tmp_path, mode, given):
    text = json.dumps([{"hosts": "management", "gather_facts": False, "roles": ["metal3.baremetal.ironic"]}])
    code, output = playbook.play(tmp_path, INVENTORY, text, "play.yml", "-e", json.dumps({
        "ironic_settings": given, "ironic_mode": mode, "management_plane": {"dir": str(tmp_path / "plane")}}))
    assert code and "ironic_settings: found something else than texts and numbers of one line" in " ".join(
        output.split()), output
    assert not (tmp_path / "plane").exists()


@pytest.mark.parametrize("separate", [False, True])
def test_no_difference_of_the_configuration_is_shown(tmp_path, separate):
    """A site's own options may be passwords, and so may what the file had before."""
    (tmp_path / "plane" / "ironic").mkdir(parents=True)
    (tmp_path / "plane" / "ironic" / "ironic.conf").write_text("[json_rpc]\npassword = formerword\n")
    tasks = ansible_yaml.read(ROLE / "tasks" / "process.yml")
    task = next(task for task in tasks if task["name"] == "Configure Ironic")
    task["ansible.builtin.template"]["src"] = str(ROLE / "templates" / "ironic.conf.j2")
    text = json.dumps([{"hosts": "management", "gather_facts": False, "tasks": [task], "vars_files": [
        str(ROLE / "defaults" / "main.yml"), str(ROLE / "vars" / "main.yml")]}])
    given = dict(GIVEN, ironic_settings={"swift": {"password": "siteword"}}, ironic_rpc_username="u",
                 ironic_rpc_password="rpcword", ironic_processes="separate" if separate else "combined")
    given["management_plane"] = dict(given["management_plane"], dir=str(tmp_path / "plane"))
    code, output = playbook.play(tmp_path, INVENTORY, text, "play.yml", "--diff", "-vvv", "-e",
                                 "@" + str(_kept(tmp_path, given)))
    assert code == 0 and playbook.recap(output)["m1"] == (1, 0), output
    assert "siteword" in (tmp_path / "plane" / "ironic" / "ironic.conf").read_text()
    assert not [word for word in ("siteword", "formerword", "rpcword") if word in output], output


def _kept(folder, variables):
    path = folder / "given.json"
    path.write_text(json.dumps(variables))
    return path
