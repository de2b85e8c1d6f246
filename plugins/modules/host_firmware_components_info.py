#!/usr/bin/python
# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads firmware of hosts."""
from __future__ import annotations

DOCUMENTATION = r"""
module: host_firmware_components_info
short_description: Read firmware versions of bare metal hosts
version_added: "0.1.0"
description:
  - >-
    Returns the firmware that Ironic has found on hosts, and what is still to be flashed.
extends_documentation_fragment:
  - metal3.baremetal.kubernetes
  - metal3.baremetal.resources.info
  - metal3.baremetal.attributes
  - metal3.baremetal.attributes.info_module
  - metal3.baremetal.attributes.actiongroup_kubernetes
seealso:
  - module: metal3.baremetal.host_firmware_components
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Read the versions
  metal3.baremetal.host_firmware_components_info:
  register: firmware

- name: Show them
  ansible.builtin.debug:
    msg: "{{ firmware.table }}"
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
    components:
      description:
        - The firmware that Ironic has found, as the operator read it the last time. It reads it every few minutes, so
          that the versions after an update may come later than the word that it is done.
      type: list
      elements: dict
      sample:
        - component: bios
          initial_version: 1.0.0
          current_version: 1.1.0
          last_version_flashed: 1.1.0
          updated_at: "2026-11-21T18:27:59Z"
      returned: always
    wanted:
      description: The images to be flashed, with C(component) and C(url).
      type: list
      elements: dict
      returned: always
    pending:
      description: Those of RV(hosts[].wanted) that BMO has not begun with.
      type: list
      elements: dict
      returned: always
    unfinished:
      description:
        - Whether the host is being prepared or serviced, or its service has failed. Images that are not pending any
          more were begun with then, and need not be flashed.
      type: bool
      returned: always
    valid:
      description: Whether BMO takes the updates (condition C(Valid)).
      type: bool
      returned: always
    change_detected:
      description: Whether BMO has found that updates differ (condition C(ChangeDetected)).
      type: bool
      returned: always
    observed:
      description: Whether the conditions are about the newest updates.
      type: bool
      returned: always
    message:
      description: Message of the condition C(Valid).
      type: str
      returned: always
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
    run_family_info("HostFirmwareComponents")


if __name__ == "__main__":
    main()
