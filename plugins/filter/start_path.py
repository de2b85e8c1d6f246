# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Filter that makes a path relative to where Ansible was started."""
from __future__ import annotations

DOCUMENTATION = r"""
name: start_path
short_description: Path relative to the folder in which Ansible was started
version_added: "0.1.0"
description:
  - On its own machine Ansible runs modules in the folder of the playbook. For the playbooks of a collection that is the
    installed collection, so that a file with a relative path would be written there, and be lost with the next
    installation.
  - Returns such a path below the folder in which Ansible was started. An absolute path, an empty one and one on another
    machine stay as they are.
  - P(metal3.baremetal.task_path#filter) does it for the host of the task, whatever its connection is.
positional: connection
options:
  _input:
    description: Path, V(~) of the user that runs Ansible included.
    type: str
    required: true
  connection:
    description: The connection of the machine that the path is on.
    type: str
    default: local
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Write a file where Ansible was started
  ansible.builtin.copy:
    content: "{{ report }}"
    dest: "{{ 'report.txt' | metal3.baremetal.start_path }}"
    mode: "0644"
  delegate_to: localhost
"""

RETURN = r"""
_value:
  description: The path.
  type: str
"""


def start_path(path, connection="local"):
    """Return the path; see DOCUMENTATION."""
    from ansible_collections.metal3.baremetal.plugins.plugin_utils import _start_folder

    return _start_folder.absolute("start_path", path, connection)


class FilterModule:
    """The filter of this file."""

    def filters(self):
        """Return the filter by name."""
        return {"start_path": start_path}
