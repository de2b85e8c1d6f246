#!/usr/bin/python
# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads BIOS settings of hosts."""
from __future__ import annotations

DOCUMENTATION = r"""
module: host_firmware_settings_info
short_description: Read BIOS settings of bare metal hosts
version_added: "0.1.0"
description:
  - >-
    Returns the BIOS settings of hosts, what is wanted, what is pending, and the rules for each setting.
options:
  schemas:
    description: Whether to also return the rules for each setting, from the host's FirmwareSchema.
    type: bool
    default: false
extends_documentation_fragment:
  - metal3.baremetal.kubernetes
  - metal3.baremetal.resources.info
  - metal3.baremetal.attributes
  - metal3.baremetal.attributes.info_module
  - metal3.baremetal.attributes.actiongroup_kubernetes
seealso:
  - module: metal3.baremetal.host_firmware_settings
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Read the settings and their rules
  metal3.baremetal.host_firmware_settings_info:
    names: [rack1-01]
    schemas: true
  register: bios

- name: Show what waits for a reboot
  ansible.builtin.debug:
    msg: "{{ bios.hosts | map(attribute='pending') | flatten }}"
"""

RETURN = r"""
hosts:
  description: The objects, ordered by namespace and name.
  returned: success
  type: list
  elements: dict
  contains:
    name:
      description: Name of the object.
      type: str
      returned: always
    namespace:
      description: Namespace of the object.
      type: str
      returned: always
    labels:
      description: Labels of the object.
      type: dict
      returned: always
    host_state:
      description: State of the BareMetalHost, empty when there is none.
      type: str
      returned: always
    host_power:
      description:
        - >-
          V(on), V(off), V(held) when the host must be on and a keyed reboot annotation keeps it off, V(starting) when
          it must be on and is not yet, or is served by Ironic, or its reboot was asked for; empty when there is no
          host.
      type: str
      returned: always
    settings:
      description: All settings as the server has them, as texts.
      type: dict
      sample: {ProcTurboMode: Enabled}
      returned: always
    wanted:
      description: The settings that are wanted.
      type: dict
      sample: {ProcTurboMode: Disabled}
      returned: always
    pending:
      description: What is wanted and does not count yet.
      type: list
      elements: dict
      sample: [{name: ProcTurboMode, current: Enabled, wanted: Disabled}]
      returned: always
    valid:
      description: Whether BMO takes the settings (condition C(Valid)).
      type: bool
      returned: always
    change_detected:
      description: Whether BMO has found that settings differ (condition C(ChangeDetected)).
      type: bool
      returned: always
    observed:
      description: Whether the conditions are about the newest settings.
      type: bool
      returned: always
    message:
      description: Message of the condition C(Valid).
      type: str
      returned: always
    schema_name:
      description: Name of the FirmwareSchema.
      type: str
      returned: always
    schema:
      description: The rules for each setting, as BMO's FirmwareSchema has them.
      type: dict
      returned: when O(schemas=true)
      sample: {ProcTurboMode: {attribute_type: Enumeration, allowable_values: [Enabled, Disabled], read_only: false}}
    object:
      description: The whole object, without C(managedFields).
      type: dict
      returned: when O(full_objects=true)
missing:
  description: Those of O(names) that were not found.
  returned: success
  type: list
  elements: str
  sample: []
table:
  description: The results as lines of a table.
  returned: success
  type: list
  elements: str
server:
  description: URL of the API server that the module worked on.
  returned: when the connection options led to one, also on failure
  type: str
  sample: https://192.0.2.10:6443
"""

from ansible_collections.metal3.baremetal.plugins.module_utils._resources.module import run_family_info


def main():
    """Run the module."""
    run_family_info("HostFirmwareSettings")


if __name__ == "__main__":
    main()
