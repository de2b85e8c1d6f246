# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Filter that decides which servers in use are rebooted for their firmware."""
from __future__ import annotations

from ansible.errors import AnsibleFilterError

DOCUMENTATION = r"""
name: firmware_plan
short_description: Which servers in use are rebooted for their firmware, and which change later
version_added: "0.1.0"
description:
  - The Bare Metal Operator changes firmware of a server in use when it is switched on again, and only if its
    HostUpdatePolicy says C(onReboot). What is switched off is left as it is and changes later.
positional: components, policies, reboot
options:
  _input:
    description: The entries that M(metal3.baremetal.host_firmware_settings) returned.
    type: list
    elements: dict
    required: true
  components:
    description: The entries that M(metal3.baremetal.host_firmware_components) returned.
    type: list
    elements: dict
    required: true
  policies:
    description: The entries for M(metal3.baremetal.host_update_policy).
    type: list
    elements: dict
    required: true
  reboot:
    description: How servers are rebooted.
    type: str
    choices: [soft, hard, never]
    required: true
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Name the servers that would be rebooted
  ansible.builtin.debug:
    msg: "{{ (settings.hosts | metal3.baremetal.firmware_plan(components.hosts, policies, 'soft')).reboot }}"
"""

RETURN = r"""
_value:
  description: >-
    Names of servers, sorted, as C(reboot), C(settings_later) and C(components_later); and as C(unaffected) the servers
    in use that are not off and of which neither a reboot nor the start in progress changes anything.
  type: dict
"""


def firmware_plan(settings, components, policies, reboot):
    """Return the plan; see DOCUMENTATION."""
    from ansible_collections.metal3.baremetal.plugins.module_utils._resources import firmware_plan as resources_plan

    if reboot not in ("soft", "hard", "never"):
        raise AnsibleFilterError(f"firmware_plan: reboot: found {reboot!r}, expected soft, hard or never")
    return resources_plan.plan(settings, components, policies, reboot)


class FilterModule:
    """The filter of this file."""

    def filters(self):
        """Return the filter by name."""
        return {"firmware_plan": firmware_plan}
