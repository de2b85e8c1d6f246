#!/usr/bin/python
# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads subscriptions to events of BMCs."""
from __future__ import annotations

DOCUMENTATION = r"""
module: bmc_event_subscription_info
short_description: Read subscriptions to events of BMCs
version_added: "0.1.0"
description:
  - >-
    Returns BMCEventSubscriptions with the numbers that BMCs gave them.
extends_documentation_fragment:
  - metal3.baremetal.kubernetes
  - metal3.baremetal.resources.info
  - metal3.baremetal.attributes
  - metal3.baremetal.attributes.info_module
  - metal3.baremetal.attributes.actiongroup_kubernetes
seealso:
  - module: metal3.baremetal.bmc_event_subscription
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Read the subscriptions
  metal3.baremetal.bmc_event_subscription_info:
  register: events

- name: Name those that BMCs don't have
  ansible.builtin.debug:
    msg: "{{ events.subscriptions | selectattr('subscription_id', 'eq', '') | map(attribute='name') }}"
"""

RETURN = r"""
subscriptions:
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
    host_name:
      description: Name of the host.
      type: str
      returned: always
    destination:
      description: Where events are sent.
      type: str
      returned: always
    context:
      description: Text that is sent with each event.
      type: str
      returned: always
    subscription_id:
      description: Number that the BMC has given to the subscription, empty when it has not.
      type: str
      returned: always
    error_message:
      description: Message of the operator's last error.
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
server:
  description: URL of the API server that the module worked on.
  returned: when the connection options led to one, also on failure
  type: str
  sample: https://192.0.2.10:6443
"""

from ansible_collections.metal3.baremetal.plugins.module_utils._resources.module import run_family_info


def main():
    """Run the module."""
    run_family_info("BMCEventSubscription")


if __name__ == "__main__":
    main()
