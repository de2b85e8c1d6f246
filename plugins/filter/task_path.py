# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Filter that makes a path on the host of a task relative to where Ansible was started."""
from __future__ import annotations

from jinja2 import pass_context

DOCUMENTATION = r"""
name: task_path
short_description: Path on the host of a task, relative to the folder in which Ansible was started
version_added: "0.1.0"
description:
  - What P(metal3.baremetal.start_path#filter) returns for the connection of the host that the task runs on. For a task
    that is delegated use that filter, since the variables stay those of the host.
options:
  _input:
    description: Path, V(~) of the user that runs Ansible included.
    type: str
    required: true
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Write a file where Ansible was started, or on the host if that is another machine
  ansible.builtin.copy:
    content: "{{ report }}"
    dest: "{{ 'report.txt' | metal3.baremetal.task_path }}"
    mode: "0644"
"""

RETURN = r"""
_value:
  description: The path.
  type: str
"""

# How Ansible reaches a host whose variables do not say it.
_CONNECTION = "ssh"


@pass_context
def task_path(context, path):
    """Return the path; see DOCUMENTATION."""
    from ansible_collections.metal3.baremetal.plugins.plugin_utils import _start_folder

    return _start_folder.absolute("task_path", path, context.get("ansible_connection") or _CONNECTION)


class FilterModule:
    """The filter of this file."""

    def filters(self):
        """Return the filter by name."""
        return {"task_path": task_path}
