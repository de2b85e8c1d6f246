#!/usr/bin/python
# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Keeps subscriptions to events of BMCs."""
from __future__ import annotations

DOCUMENTATION = r"""
module: bmc_event_subscription
short_description: Subscribe to events of BMCs
version_added: "0.1.0"
description:
  - >-
    Keeps BMCEventSubscriptions: the Bare Metal Operator (BMO) asks a host's BMC by Ironic to send its Redfish
    events to a URL.
  - >-
    A subscription can't be changed; BMO's webhook refuses it. Remove it and create it again.
options:
  subscriptions:
    description: The subscriptions.
    type: list
    elements: dict
    required: true
    suboptions:
      name:
        description: Name of the object.
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
      host_name:
        description: Name of the BareMetalHost. Required unless O(subscriptions[].state=absent).
        type: str
      destination:
        description:
          - URL that events are sent to, with a path, at least a slash.
          - Required unless O(subscriptions[].state=absent).
        type: str
      context:
        description: Text that is sent with each event.
        type: str
      http_headers_ref:
        description:
          - Secret with HTTP headers that are sent with each event, for example for authorization.
          - BMO finds it only when it has the label C(environment.metal3.io=baremetal).
          - Refused for new subscriptions, because BMO 0.13 never begins with one that has headers.
        type: dict
        suboptions:
          name:
            description: Name of the Secret.
            type: str
            required: true
          namespace:
            description: Its namespace, which must be the subscription's own; that is the default.
            type: str
  wait_for:
    description:
      - >-
        V(subscribed) waits until the BMC has given the subscription a number, V(deleted) until the BMC has ended
        it; both wait for the same by entries with O(subscriptions[].state=absent).
      - >-
        It fails at once when BMO reports an error, and on a missing, paused or detached host.
    type: str
    choices: [subscribed, deleted]
extends_documentation_fragment:
  - metal3.baremetal.kubernetes
  - metal3.baremetal.attributes
  - metal3.baremetal.resources
  - metal3.baremetal.resources.wait
  - metal3.baremetal.attributes.actiongroup_kubernetes
notes:
  - >-
    BMO 0.13 never begins with a subscription that has O(subscriptions[].http_headers_ref): its webhook compares the
    references by their addresses and so refuses BMO's own finalizer. So the option is refused, except for a
    subscription that BMO has taken on already.
seealso:
  - module: metal3.baremetal.bmc_event_subscription_info
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Have events sent
  metal3.baremetal.bmc_event_subscription:
    subscriptions:
      - name: rack1-01-events
        host_name: rack1-01
        destination: https://events.example/redfish
        context: rack1-01
    wait_for: subscribed
"""

RETURN = r"""
counts:
  description: >-
    How many entries there are and what became of them: C(total), C(created), C(updated), C(deleted), C(unchanged) and
    C(failed).
  returned: always
  type: dict
  sample: {total: 2, created: 1, updated: 0, deleted: 0, unchanged: 1, failed: 0}
subscriptions:
  description: What became of each entry, in the order of O(subscriptions).
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
    host_name:
      description: Name of the host.
      type: str
      returned: when the object is there
    destination:
      description: Where events are sent.
      type: str
      returned: when the object is there
    context:
      description: Text that is sent with each event.
      type: str
      returned: when the object is there
    subscription_id:
      description: Number that the BMC has given to the subscription, empty when it has not.
      type: str
      returned: when the object is there
    error_message:
      description: Message of the operator's last error.
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
  sample: [{"object": "BmcEventSubscription metal3/server-1", "action": "updated"}]
"""

from ansible_collections.metal3.baremetal.plugins.module_utils._resources.module import run_family


def main():
    """Run the module."""
    run_family("BMCEventSubscription")


if __name__ == "__main__":
    main()
