# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Running Ansible's programs with an inventory file of the plugin baremetal_hosts."""
from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import yaml

PLUGIN = "metal3.baremetal.baremetal_hosts"


def ask(lab, folder, options, program, *arguments, kubeconfig="kubeconfig"):
    """Run a program; return what it printed, and its warnings on one line.

    :param folder: where the inventory file is written
    :param options: dict, or the file's text
    :param program: for example ``ansible-inventory``
    :param kubeconfig: path below the lab's folder
    """
    path = folder / "lab.metal3.yml"
    path.write_text(options if isinstance(options, str) else yaml.safe_dump(dict({"plugin": PLUGIN}, **options)))
    # Nothing of the tester's own configuration may lead to the lab or past it.
    environment = dict((name, value) for name, value in os.environ.items()
                       if not name.startswith(("KUBECONFIG", "K8S_AUTH_", "OS_", "ANSIBLE_INVENTORY")))
    done = subprocess.run(
        [str(Path(sys.executable).parent / program), "-i", str(path), *arguments],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, check=False, cwd=folder,
        env=dict(environment, KUBECONFIG=str(lab.dir / kubeconfig)))
    return done.stdout, " ".join(done.stderr.split())


def listed(lab, folder, options):
    """Return the inventory as ansible-inventory lists it: groups with their hosts, and hosts with their variables."""
    output, warnings = ask(lab, folder, options, "ansible-inventory", "--list")
    assert warnings == "", warnings
    inventory = _plain(json.loads(output))
    groups = dict((group, content.get("hosts", [])) for group, content in inventory.items() if group != "_meta")
    return groups, inventory["_meta"]["hostvars"]


def _plain(value):
    """Return a printed value without the marks by which Ansible recognises what is no template."""
    if isinstance(value, dict):
        if set(value) == {"__ansible_unsafe"}:
            return value["__ansible_unsafe"]
        return dict((key, _plain(item)) for key, item in value.items())
    return [_plain(item) for item in value] if isinstance(value, list) else value
