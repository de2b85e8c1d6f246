# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Objects of a cluster whose texts are templates: Ansible itself is run on the inventory and on modules' results."""
from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from fakes.api_server import ApiServer, kubeconfig_of

BIN = Path(sys.executable).parent
COLLECTIONS = Path(__file__).resolve().parents[3] / ".build"
PLUGIN = """
plugin: metal3.baremetal.baremetal_hosts
kubeconfig: {folder}/kubeconfig
cache: true
cache_plugin: ansible.builtin.jsonfile
cache_connection: {folder}/cache
strict: true
compose:
  ansible_host: metal3.addresses | first
  by_path: metal3.error_message
  by_template: "'told: ' ~ metal3.hardware.hostname"
groups:
  wrong: metal3.error_message is search('lookup')
keyed_groups:
  - key: metal3.hardware.product
    prefix: model
"""
TASKS = [
    {"ansible.builtin.debug": {"msg": "{{ metal3 }} {{ by_path }} {{ by_template }}"}},
    {"metal3.baremetal.baremetal_host_info": {"kubeconfig": "{{ playbook_dir }}/kubeconfig", "full_objects": True},
     "delegate_to": "localhost", "register": "read"},
    {"ansible.builtin.set_fact": {"copied": "{{ read.hosts[0].error_message }}"}},
    {"ansible.builtin.debug": {"msg": "{{ copied }} {{ read }}"}},
    {"ansible.builtin.copy": {"dest": "{{ playbook_dir }}/seen.json",
                              "content": "{{ [copied, by_path, by_template] | to_json }}"},
     "delegate_to": "localhost"},
]


def ansible(program, *arguments, cwd):
    environment = dict(os.environ, ANSIBLE_COLLECTIONS_PATH=str(COLLECTIONS), ANSIBLE_LOCALHOST_WARNING="false",
                       ANSIBLE_NOCOLOR="1")
    done = subprocess.run([str(BIN / program), *arguments], cwd=cwd, env=environment, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    assert done.returncode == 0, done.stdout
    return done.stdout


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A folder with the inventory, read once so that it is in the cache; and the template of its hosts."""
    folder = tmp_path_factory.mktemp("site")
    template = f"{{{{ lookup('ansible.builtin.pipe', 'touch {folder}/canary') }}}}"
    host = {"apiVersion": "metal3.io/v1alpha1", "kind": "BareMetalHost",
            "metadata": {"name": "a", "namespace": "metal3", "annotations": {"x/y": template}},
            "spec": {"online": True, "description": template, "bmc": {"address": template}},
            "status": {"operationalStatus": "error", "errorMessage": template, "errorType": "registration error",
                       "provisioning": {"state": "registering", "ID": ""},
                       "hardware": {"hostname": template, "systemVendor": {"productName": template},
                                    "nics": [{"name": template, "ip": ip} for ip in (
                                        f"-oProxyCommand=touch {folder}/canary", template, "127.0.0.1")]}}}
    (folder / "hosts.metal3.yml").write_text(PLUGIN.format(folder=folder))
    (folder / "play.yml").write_text(yaml.safe_dump([{
        "hosts": "wrong", "gather_facts": False,
        "vars": {"ansible_python_interpreter": "{{ ansible_playbook_python }}"},
        "tasks": TASKS}]))
    with ApiServer([host]) as server:
        (folder / "kubeconfig").write_text(json.dumps(kubeconfig_of(server.url)))
        yield folder, template, ansible("ansible-inventory", "-i", "hosts.metal3.yml", "--list", cwd=folder), server


def test_the_inventory_has_the_texts_as_they_are(site):
    folder, template, listed, dummy = site
    variables = json.loads(listed)["_meta"]["hostvars"]["a"]
    assert variables["by_path"] == {"__ansible_unsafe": template}
    assert variables["by_template"] == {"__ansible_unsafe": "told: " + template}
    assert variables["metal3"]["hardware"]["nics"][0]["name"] == {"__ansible_unsafe": template}
    assert variables["ansible_host"] == {"__ansible_unsafe": "127.0.0.1"}
    assert not (folder / "canary").exists()


def test_a_play_on_the_cached_inventory_and_on_results_templates_none_of_them(site):
    folder, template, dummy, server = site
    before = len(server.requests)
    printed = ansible("ansible-playbook", "-i", "hosts.metal3.yml", "play.yml", cwd=folder)
    assert json.loads((folder / "seen.json").read_text()) == [template, template, "told: " + template]
    # The module's own request only: the inventory is the kept one.
    assert len(server.requests) == before + 1
    assert f"touch {folder}/canary" in printed
    assert not (folder / "canary").exists()
