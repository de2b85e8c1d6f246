# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Role ironic: what automatic discovery changes, in each mode, and that it is off."""
from __future__ import annotations

import configparser
import json
from pathlib import Path

import pytest
import yaml
from fakes import playbook
from machine_room import firmware

ROLE = Path(__file__).resolve().parents[3] / "roles" / "ironic"
INVENTORY = "management: {hosts: {m1: {ansible_connection: local, ansible_python_interpreter: " \
            "'{{ ansible_playbook_python }}'}}}"
KERNEL = "http://192.0.2.1/images/ipa.kernel"
GIVEN = {
    "management_plane": {"name": "mysite", "dir": "/plane", "address": "192.0.2.1", "ports": {"ironic": 6385},
                         "urls": {"ironic": "https://192.0.2.1:6385", "image_server": "https://192.0.2.1"}},
    "bmo_deploy_kernel_url": KERNEL, "bmo_deploy_ramdisk_url": "http://192.0.2.1/images/ipa.initramfs"}
WITHOUT_ANY = "without"


def option(file, name):
    """Return what a task file of the role gives to a module, as an expression without braces."""
    for task in yaml.safe_load((ROLE / "tasks" / file).read_text()):
        for module, options in task.items():
            if module.startswith("metal3.baremetal.plane_ironic"):
                return options[name].strip().removeprefix("{{").removesuffix("}}")
    raise AssertionError(f"{file}: no module of Ironic's")


def rendered(folder, **variables):
    """Return ironic.conf, inspector.ipxe, and what Ironic gets in a cluster by both ways."""
    shown = {"conf": f"lookup('ansible.builtin.template', '{ROLE}/templates/ironic.conf.j2')",
             "script": f"lookup('ansible.builtin.template', '{ROLE}/templates/inspector.ipxe.j2')",
             "environment": option("cluster.yml", "environment"),
             "extra_config": option("operator.yml", "extra_config").replace("omit", f"'{WITHOUT_ANY}'")}
    text = json.dumps([{"hosts": "management", "gather_facts": False,
                        "vars_files": [str(ROLE / "defaults" / "main.yml"), str(ROLE / "vars" / "main.yml")],
                        "tasks": [{"ansible.builtin.copy": {
                            "dest": str(folder / name), "content": "{{ (%s) | to_json }}" % value}}
                            for name, value in shown.items()]}])
    code, output = playbook.play(folder, INVENTORY, text, "play.yml", "-e", json.dumps(dict(GIVEN, **variables)))
    assert code == 0, output
    values = dict((name, json.loads((folder / name).read_text())) for name in shown)
    conf = configparser.ConfigParser(default_section="no section", interpolation=None)
    conf.read_string(values["conf"])
    return dict(values, conf=conf)


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
