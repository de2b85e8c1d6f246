# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Filter that names the files of saved statuses."""
from __future__ import annotations

from ansible.errors import AnsibleFilterError

DOCUMENTATION = r"""
name: status_files
short_description: The files in which the role hosts keeps the status of each host
version_added: "0.1.0"
description:
  - The playbook C(metal3.baremetal.host_action) writes these files with C(host_action=save_status), and reads them with
    C(host_action=restore_status).
positional: folder
options:
  _input:
    description: Names of the hosts.
    type: list
    elements: str
    required: true
  folder:
    description: Folder on the controller.
    type: str
    required: true
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Name the files of two hosts
  ansible.builtin.debug:
    msg: "{{ ['rack1-01', 'rack1-02'] | metal3.baremetal.status_files('saved') }}"
"""

RETURN = r"""
_value:
  description: A path for each host, in the order of the names.
  type: list
  elements: str
"""


def status_files(names, folder):
    """Return the paths; see DOCUMENTATION."""
    from ansible_collections.metal3.baremetal.plugins.module_utils._common.options.field_checks import type_name
    from ansible_collections.metal3.baremetal.plugins.module_utils._host.state import saved_status

    if isinstance(names, str) or not isinstance(folder, str):
        raise AnsibleFilterError(f"status_files: found {type_name(names)} and {type_name(folder)}, expected "
                                 "a list of names, and the path of a folder")
    return [saved_status.path(folder, name) for name in names]


class FilterModule:
    """The filter of this file."""

    def filters(self):
        """Return the filter by name."""
        return {"status_files": status_files}
