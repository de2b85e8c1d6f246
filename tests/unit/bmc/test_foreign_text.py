# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A BMC that answers with templates and terminal escapes: Ansible itself is run on what discovery makes of it."""
from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from fakes.http_ironic import HttpIronic
from fakes.redfish import FakeRedfish, hostile_tree

from ansible_collections.metal3.baremetal.plugins.module_utils._bmc.discovery import discovered_inventory

BIN = Path(sys.executable).parent
COLLECTIONS = Path(__file__).resolve().parents[3] / ".build"


def ansible(program, *arguments, cwd):
    environment = dict(os.environ, ANSIBLE_COLLECTIONS_PATH=str(COLLECTIONS), ANSIBLE_LOCALHOST_WARNING="false",
                       ANSIBLE_NOCOLOR="1")
    return subprocess.run([str(BIN / program), *arguments], cwd=cwd, env=environment, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)


def playbook(path, tasks):
    """Write a play of tasks on the servers, which are run on this machine."""
    path.write_text(yaml.safe_dump([{
        "hosts": "baremetal", "gather_facts": False, "connection": "local",
        "vars": {"ansible_python_interpreter": "{{ ansible_playbook_python }}"},
        "tasks": [dict(("ansible.builtin." + name, value) for name, value in task.items()) for task in tasks]}]))


def hostile_site(folder):
    """Make an inventory without servers, and return a path, a BMC's resources and a template in them that makes it."""
    (folder / "inventory").mkdir()
    (folder / "inventory" / "hosts.yml").write_text(
        "all:\n  hosts:\n    localhost: {ansible_connection: local, "
        "ansible_python_interpreter: '{{ ansible_playbook_python }}'}\n")
    canary = folder / "canary"
    return (canary, *hostile_tree(canary))


@pytest.fixture(scope="module")
def discovered(tmp_path_factory):
    """One run of the playbook discover against the hostile BMC, by which the file is written."""
    folder = tmp_path_factory.mktemp("site")
    canary, resources, template = hostile_site(folder)
    with FakeRedfish(resources) as bmc:
        run = ansible("ansible-playbook", "metal3.baremetal.discover", "-i", "inventory", "-e", json.dumps({
            "discover_addresses": ["127.0.0.1"], "discover_ports": [bmc.port], "discover_transports": ["http"],
            "discover_username": "admin", "discover_password": "right", "discover_name_format": "{model}"}), cwd=folder)
    # As it is kept: what steers a terminal is an escape.
    return folder, run, canary, template.replace("\x1b", "\\x1b")


def test_a_system_path_that_is_none_is_refused_by_name(discovered):
    """The server with a plain path is written; the run fails and names the other."""
    folder, run, canary, dummy = discovered
    assert run.returncode == 2, run.stdout
    assert "1 servers found, written to" in run.stdout
    assert "the BMC names /redfish/v1/Systems/\\x1b[31m{{ lookup(" in run.stdout
    assert "\x1b" not in run.stdout
    assert "expected a path of its own in URL characters, found '\\x1b'" in run.stdout
    assert (folder / "inventory" / "00-discovered.yml").exists()
    assert not canary.exists()


def test_what_a_bmc_tells_is_no_template_in_the_inventory(discovered):
    """ansible-inventory and a playbook that templates every variable: shown as it is, and nothing is run."""
    folder, dummy, canary, template = discovered
    listed = ansible("ansible-inventory", "-i", "inventory", "--list", cwd=folder)
    assert listed.returncode == 0, listed.stdout
    (name, variables), = [item for item in json.loads(listed.stdout)["_meta"]["hostvars"].items()
                          if item[0] != "localhost"]
    # Ansible's own mark of what is no template.
    assert variables["bmc_discovered"]["model"] == {"__ansible_unsafe": template}
    playbook(folder / "show.yml", [
        {"copy": {"dest": "{{ playbook_dir }}/read.json", "content": "{{ bmc_discovered | to_json }}"}},
        {"debug": {"msg": "NIC {{ bmc_discovered.nics.keys() | first }}, {{ bmc_address }}"}},
        {"debug": {"var": "bmc_discovered.model"}},
        {"set_fact": {"copied": "{{ bmc_discovered.serial_number }}"}},
        {"debug": {"msg": "{{ copied }}"}},
        {"assert": {"that": "copied is search('lookup')"}}])
    run = ansible("ansible-playbook", "-i", "inventory", "show.yml", cwd=folder)
    assert run.returncode == 0, run.stdout
    read = json.loads((folder / "read.json").read_text())
    for field in ("manufacturer", "model", "serial_number", "sku", "bmc_model"):
        assert read[field] == template
    assert list(read["nics"]) == [template]
    assert not canary.exists()
    assert name.startswith("x1b-31m-lookup-ansible-builtin-pipe-touch")


def test_the_same_values_written_without_the_mark_would_be_templates(discovered):
    """What the two tests before would find, if the file were written as it was once."""
    folder, dummy, canary, dummy2 = discovered
    text = (folder / "inventory" / "00-discovered.yml").read_text()
    assert " !unsafe\n" in text
    (folder / "before.yml").write_text(text.replace(" !unsafe\n", "\n"))
    playbook(folder / "show-model.yml", [{"debug": {"msg": "{{ bmc_discovered.model }}"}}])
    ansible("ansible-playbook", "-i", "before.yml", "show-model.yml", cwd=folder)
    assert canary.exists()
    canary.unlink()


def test_a_second_run_reads_what_the_first_has_written(discovered):
    folder = discovered[0]
    text = (folder / "inventory" / "00-discovered.yml").read_text()
    content = discovered_inventory.read(text)
    assert discovered_inventory.write(content) == text
    (dummy, variables), = content["baremetal"]["hosts"].items()
    assert variables["bmc_discovered"]["model"] == discovered[3]


@pytest.fixture(scope="module")
def reported(tmp_path_factory):
    """One run of discover by what two machines reported; one of them names a BMC that nobody approved."""
    folder = tmp_path_factory.mktemp("reported")
    canary, resources, template = hostile_site(folder)
    mac, *_others = (resource["MACAddress"] for path, resource in sorted(resources.items())
                     if path.startswith("/redfish/v1/Systems/") and resource.get("MACAddress"))
    with FakeRedfish(resources) as bmc, FakeRedfish(resources, host="127.0.0.2") as other, HttpIronic() as ironic:
        for name, address, card in (("true", "127.0.0.1", mac.lower()), ("false", "127.0.0.2", "00:5c:52:00:00:01")):
            uuid = ironic.ironic.add(name)
            ironic.ironic.nodes[uuid]["name"] = None
            ironic.ironic.answers["GET", f"/nodes/{uuid}/inventory"] = {
                "plugin_data": {"auto_discovered": True}, "inventory": {
                    "bmc_address": address, "interfaces": [{"name": template, "mac_address": card}],
                    "boot": {"pxe_interface": card}, "system_vendor": dict.fromkeys(
                        ("manufacturer", "product_name", "serial_number"), template)}}
        run = ansible("ansible-playbook", "metal3.baremetal.discover", "-i", "inventory", "-e", json.dumps({
            "discover_source": "ironic", "discover_ironic": {"endpoint": ironic.url, "auth_type": "none"},
            "discover_addresses": ["127.0.0.1", "127.0.0.3-127.0.0.99", "10.0.0.0/8"],
            "discover_ports": [bmc.port, other.port], "discover_transports": ["http"],
            "discover_username": "admin", "discover_password": "right", "discover_name_format": "{model}"}), cwd=folder)
        yield folder, run, canary, sorted(ironic.ironic.nodes), bmc, other, mac


def test_what_machines_report_is_no_template_and_an_address_of_theirs_gets_no_password(reported):
    folder, run, canary, nodes, bmc, other, mac = reported
    assert run.returncode == 2, run.stdout
    assert "discover_addresses: found 127.0.0.2 as its BMC's address" in run.stdout
    assert "set discover_addresses so that it is among them" in run.stdout
    assert bmc.logins and not other.logins
    assert "\x1b" not in run.stdout and not canary.exists()
    content = discovered_inventory.read((folder / "inventory" / "00-discovered.yml").read_text())
    (dummy, variables), = content["baremetal"]["hosts"].items()
    assert variables["bmc_address"].endswith(f"127.0.0.1:{bmc.port}/redfish/v1/Systems/System.Embedded.1")
    assert variables["boot_mac"] == mac.lower()
    # The node of the machine that was found is gone, the other's stays to be looked at.
    assert nodes == ["uuid-false"] and "node uuid-true: deleted in Ironic" in run.stdout
