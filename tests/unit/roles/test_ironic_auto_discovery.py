# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Role ironic: what automatic discovery changes, in each mode, and that it is off."""
from __future__ import annotations

import json

import pytest
import yaml
from fakes import playbook
from fakes.ironic_role import GIVEN, INVENTORY, KERNEL, ROLE, WITHOUT_ANY, rendered
from machine_room import firmware


def test_it_is_off(tmp_path):
    values = rendered(tmp_path)
    assert not values["conf"].has_section("auto_discovery")
    assert not values["conf"].has_option("pxe", "ipxe_fallback_script")
    assert (values["environment"], values["extra_config"]) == ({}, WITHOUT_ANY)


@pytest.mark.parametrize(("fast_track", "driver"), [(True, "ipmi"), (False, "manual-management")])
def test_unknown_machines_boot_the_agent_and_report_themselves(tmp_path, fast_track, driver):
    values = rendered(tmp_path, ironic_auto_discovery=True, ironic_fast_track=fast_track,
                      ironic_environment={"OS_DEFAULT__DEBUG": "true"},
                      ironic_operator_options={"extra_config": [
                          {"group": "DEFAULT", "name": "debug", "value": "true"}]})
    conf = values["conf"]
    assert dict(conf["auto_discovery"]) == {"enabled": "true", "driver": driver}
    assert driver in conf["DEFAULT"]["enabled_hardware_types"].split(",")
    assert conf["pxe"]["ipxe_fallback_script"] == "inspector.ipxe"
    kernel, arguments = firmware.IPXE_LINE.search(values["script"]).groups()
    assert kernel == KERNEL
    words = dict(word.partition("=")[::2] for word in arguments.split())
    assert words["ipa-inspection-callback-url"] == "https://192.0.2.1:6385/v1/continue_inspection"
    assert words.get("ipa-api-url") == ("https://192.0.2.1:6385" if fast_track else None)
    assert (words["BOOTIF"], words["initrd"]) == ("${mac}", "ipa.initramfs")
    # As for machines that Ironic knows.
    for word in conf["inspector"]["extra_kernel_params"].split() + conf["pxe"]["kernel_append_params"].split():
        assert word in arguments.split()
    assert values["environment"] == {
        "OS_AUTO_DISCOVERY__ENABLED": "true", "OS_AUTO_DISCOVERY__DRIVER": driver, "OS_DEFAULT__DEBUG": "true"}
    assert values["extra_config"] == [
        {"group": "DEFAULT", "name": "debug", "value": "true"},
        {"group": "auto_discovery", "name": "enabled", "value": "true"},
        {"group": "auto_discovery", "name": "driver", "value": driver}]


@pytest.mark.parametrize("url", ["", "file:///images/ipa.kernel"])
def test_what_ipxe_can_not_load_is_refused(tmp_path, url):
    task = next(task for task in yaml.safe_load((ROLE / "tasks" / "process.yml").read_text())
                if task["name"] == "Check what unknown machines are to boot")
    text = json.dumps([{"hosts": "management", "gather_facts": False, "tasks": [task],
                        "vars_files": [str(ROLE / "defaults" / "main.yml"), str(ROLE / "vars" / "main.yml")]}])
    for on, given, status in ((True, url, 2), (True, KERNEL, 0), (False, url, 0)):
        code, output = playbook.play(tmp_path, INVENTORY, text, "play.yml", "-e", json.dumps(dict(
            GIVEN, ironic_auto_discovery=on, bmo_deploy_kernel_url=given)))
        assert code == status, output
    assert "ironic_auto_discovery" not in output
