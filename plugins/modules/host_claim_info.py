#!/usr/bin/python
# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads claims of hosts."""
from __future__ import annotations

DOCUMENTATION = r"""
module: host_claim_info
short_description: Read claims of bare metal hosts
version_added: "0.1.0"
description:
  - >-
    Returns HostClaims with the hosts that they have.
extends_documentation_fragment:
  - metal3.baremetal.kubernetes
  - metal3.baremetal.resources.info
  - metal3.baremetal.attributes
  - metal3.baremetal.attributes.info_module
  - metal3.baremetal.attributes.actiongroup_kubernetes
notes:
  - >-
    The controller for HostClaims of BMO 0.13 does nothing yet, so this was checked up to the API server only, and
    no claim gets a host.
seealso:
  - module: metal3.baremetal.host_claim
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Read the claims
  metal3.baremetal.host_claim_info:
  register: claimed

- name: Name those without a host
  ansible.builtin.debug:
    msg: "{{ claimed.claims | rejectattr('associated') | map(attribute='name') }}"
"""

RETURN = r"""
claims:
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
    associated:
      description: Whether the claim has a host.
      type: bool
      returned: always
    host_name:
      description: Name of the BareMetalHost, empty when there is none.
      type: str
      returned: always
    host_namespace:
      description: Namespace of the BareMetalHost, empty when there is none.
      type: str
      returned: always
    powered_on:
      description: Whether the host is powered on.
      type: bool
      returned: always
    message:
      description: Message of the condition C(Associated).
      type: str
      returned: always
    reason:
      description: Reason of the condition C(Associated).
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
    run_family_info("HostClaim")


if __name__ == "__main__":
    main()
