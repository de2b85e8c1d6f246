# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the role ironic renders, by Ansible."""
from __future__ import annotations

import configparser
import json
from pathlib import Path

from tooling import ansible_yaml

from . import playbook

ROLE = Path(__file__).resolve().parents[3] / "roles" / "ironic"
INVENTORY = "management: {hosts: {m1: {ansible_connection: local, ansible_python_interpreter: " \
            "'{{ ansible_playbook_python }}'}}}"
KERNEL = "http://192.0.2.1/images/ipa.kernel"
GIVEN = {
    "management_plane": {"name": "mysite", "dir": "/plane", "address": "192.0.2.1",
                         "ports": {"ironic": 6385, "etcd_client": 20000},
                         "urls": {"ironic": "https://192.0.2.1:6385", "image_server": "https://192.0.2.1"}},
    "bmo_deploy_kernel_url": KERNEL, "bmo_deploy_ramdisk_url": "http://192.0.2.1/images/ipa.initramfs"}
WITHOUT_ANY = "without"


def option(file, name):
    """Return what a task file of the role gives to a module, as an expression without braces."""
    for task in ansible_yaml.read(ROLE / "tasks" / file):
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
    conf = configparser.ConfigParser(default_section="no section", interpolation=None, strict=False)
    conf.read_string(values["conf"])
    return dict(values, conf=conf)
