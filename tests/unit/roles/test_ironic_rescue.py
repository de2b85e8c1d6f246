# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Role ironic: what lets nodes be rescued, in each mode, and that it is off."""
from __future__ import annotations

from fakes.ironic_role import GIVEN, KERNEL, WITHOUT_ANY, rendered

RAMDISK = GIVEN["bmo_deploy_ramdisk_url"]
OWN = {"ironic_rescue_kernel_url": "http://192.0.2.1/rescue.kernel",
       "ironic_rescue_ramdisk_url": "http://192.0.2.1/rescue.initramfs"}
IN_THE_POD = "file:///shared/html/images/ironic-python-agent."


def process(values):
    """Return the interfaces, kernel and ramdisk that ironic.conf has."""
    conf = values["conf"]
    return (conf.get("DEFAULT", "enabled_rescue_interfaces", fallback=None),
            conf.get("conductor", "rescue_kernel", fallback=None),
            conf.get("conductor", "rescue_ramdisk", fallback=None))


def pod(values):
    """Return the same as a pod of ironic-image gets it, which must be the same by both ways."""
    environment = dict((name.removeprefix("OS_").replace("__", ".").lower(), value)
                       for name, value in values["environment"].items())
    assert environment == dict((f"{item['group'].lower()}.{item['name']}", item["value"])
                               for item in values["extra_config"])
    return tuple(environment[name] for name in (
        "default.enabled_rescue_interfaces", "conductor.rescue_kernel", "conductor.rescue_ramdisk"))


def test_it_is_off(tmp_path):
    values = rendered(tmp_path)
    assert process(values) == (None, None, None)
    assert (values["environment"], values["extra_config"]) == ({}, WITHOUT_ANY)


def test_a_rescue_boots_the_deploy_agents_files_unless_others_are_named(tmp_path):
    values = rendered(tmp_path, ironic_rescue=True)
    assert process(values) == pod(values) == ("no-rescue,agent", KERNEL, RAMDISK)
    values = rendered(tmp_path, ironic_rescue=True, **OWN)
    assert process(values) == pod(values) == ("no-rescue,agent", *OWN.values())


def test_in_a_pod_it_boots_what_the_pod_has_downloaded(tmp_path):
    values = rendered(tmp_path, ironic_rescue=True, ironic_mode="cluster", bmo_deploy_kernel_url="",
                      bmo_deploy_ramdisk_url="")
    assert pod(values)[1:] == (IN_THE_POD + "kernel", IN_THE_POD + "initramfs")


def test_a_lab_of_virtual_servers_has_it(tmp_path):
    plane = dict(GIVEN["management_plane"], index=0, bridge={"address": "198.18.0.1/23"})
    plane["ports"] = dict(plane["ports"], network_boot=21080)
    values = rendered(tmp_path, management_plane=plane, ironic_virtual_servers=True)
    assert process(values) == ("no-rescue,agent", "https://192.0.2.1/agent/vmlinuz", "https://192.0.2.1/agent/initrd")
