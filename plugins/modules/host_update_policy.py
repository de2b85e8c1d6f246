#!/usr/bin/python
# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Says when firmware of hosts in use may change."""
from __future__ import annotations

DOCUMENTATION = r"""
module: host_update_policy
short_description: Say when firmware of bare metal hosts in use may change
version_added: "0.1.0"
description:
  - >-
    Keeps HostUpdatePolicies. Without one, the Bare Metal Operator (BMO) changes firmware only while it prepares a
    host, never on one that is provisioned.
  - >-
    A policy bears the name of its host. BMO deletes it with the host.
options:
  policies:
    description: The hosts and their policies.
    type: list
    elements: dict
    required: true
    suboptions:
      name:
        description: Name of the host.
        type: str
        required: true
      state:
        description: Whether the object is there. V(present) is refused while the stored one is being deleted.
        type: str
        choices: [present, absent]
        default: present
      labels:
        description: Labels of the object.
        type: dict
      annotations:
        description: Annotations of the object.
        type: dict
      firmware_settings:
        description: When BIOS settings of the host may change.
        type: str
        choices: [onPreparing, onReboot]
      firmware_updates:
        description: When firmware of the host may be flashed.
        type: str
        choices: [onPreparing, onReboot]
extends_documentation_fragment:
  - metal3.baremetal.kubernetes
  - metal3.baremetal.attributes
  - metal3.baremetal.resources
  - metal3.baremetal.attributes.actiongroup_kubernetes
seealso:
  - module: metal3.baremetal.host_firmware_settings
  - module: metal3.baremetal.host_firmware_components
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Let BIOS settings change with the next reboot
  metal3.baremetal.host_update_policy:
    policies:
      - {name: rack1-01, firmware_settings: onReboot}
"""

RETURN = r"""
counts:
  description: >-
    How many entries there are and what became of them: C(total), C(created), C(updated), C(deleted), C(unchanged) and
    C(failed).
  returned: always
  type: dict
  sample: {total: 2, created: 1, updated: 0, deleted: 0, unchanged: 1, failed: 0}
policies:
  description: What became of each entry, in the order of O(policies).
  returned: success and failure
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
    action:
      description: V(created), V(updated), V(deleted) or V(unchanged).
      type: str
      returned: always
    changed:
      description: Whether the object was changed, or would be.
      type: bool
      returned: always
    error:
      description: Why the object could not be written or did not get to the goal; empty when all is well.
      type: str
      returned: always
    seconds:
      description: How long the goal took, in seconds.
      type: float
      returned: always
    firmware_settings:
      description: When BIOS settings may change, empty when the policy does not say.
      type: str
      returned: when the object is there
    firmware_updates:
      description: When firmware may be flashed, empty when the policy does not say.
      type: str
      returned: when the object is there
seconds:
  description: How long the whole run took, in seconds.
  returned: success and failure
  type: float
problems:
  description: What was refused, all of it at once; nothing was changed then.
  returned: when the input was refused
  type: list
  elements: dict
  contains:
    code:
      description: Name of the rule that was broken.
      type: str
    subject:
      description: The object that it is about.
      type: str
    field:
      description: Path of the option; empty when the whole object is meant.
      type: str
    actual:
      description: What was found, V(null) when it is not set; never a secret value.
      type: str
    expected:
      description: What is allowed.
      type: str
    hint:
      description: What to do, or V(null).
      type: str
    text:
      description: All of it as one line.
      type: str
server:
  description: URL of the API server that the module worked on.
  returned: when the connection options led to one, also on failure
  type: str
  sample: https://192.0.2.10:6443
written:
  description: What the run had stored before it failed, objects of other kinds included.
  returned: when it failed after something was stored
  type: list
  elements: dict
  contains:
    object:
      description: The object, as messages name it.
      type: str
    action:
      description: What became of it, for example V(created), V(updated) or V(deleted).
      type: str
  sample: [{"object": "HostUpdatePolicy metal3/server-1", "action": "updated"}]
"""

from ansible_collections.metal3.baremetal.plugins.module_utils._resources.module import run_family


def main():
    """Run the module."""
    run_family("HostUpdatePolicy")


if __name__ == "__main__":
    main()
