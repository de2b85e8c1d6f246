# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs ansible-playbook on an inventory of a test, with nothing of this machine's settings."""
from __future__ import annotations

import os
import pathlib
import re

from fakes.ansible_process import ansible_playbook

ROOT = pathlib.Path(__file__).parents[3]
_RECAP = re.compile(r"^(\S+)\s+: ok=(\d+)\s+changed=(\d+)\s+unreachable=\d+\s+failed=(\d+)", re.M)


def play(folder, inventory, text, *arguments, **environment):
    """Run a playbook.

    :param folder: where its files are written
    :param inventory: the inventory in YAML
    :param text: the playbook in YAML, written to play.yml; may be empty when the arguments name one of the collection's
    :param arguments: arguments of ansible-playbook, the playbook among them
    :param environment: more environment variables
    :returns: exit status, and what was printed, as it was
    """
    (folder / "hosts.yml").write_text(inventory)
    (folder / "play.yml").write_text(text)
    inherited = dict((key, value) for key, value in os.environ.items()
                     if not key.startswith(("OS_", "K8S_AUTH_", "KUBE", "ANSIBLE_")))
    code, output, errors = ansible_playbook(["-i", "hosts.yml", *arguments], folder, dict(inherited, **environment))
    return code, output + errors


def recap(output):
    """Return the play recap: ``{host: (changed, failed)}``."""
    return dict((name, (int(changed), int(failed)))
                for name, dummy, changed, failed in _RECAP.findall(output.rpartition("PLAY RECAP")[2]))


def recap_of_group(output):
    """Return the play recap without the machine that runs Ansible, which only checks that the group has hosts."""
    return dict((name, numbers) for name, numbers in recap(output).items() if name != "localhost")
