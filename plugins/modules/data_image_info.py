#!/usr/bin/python
# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads images of hosts."""
from __future__ import annotations

DOCUMENTATION = r"""
module: data_image_info
short_description: Read images attached to bare metal hosts
version_added: "0.1.0"
description:
  - >-
    Returns DataImages with what is attached.
extends_documentation_fragment:
  - metal3.baremetal.kubernetes
  - metal3.baremetal.resources.info
  - metal3.baremetal.attributes
  - metal3.baremetal.attributes.info_module
  - metal3.baremetal.attributes.actiongroup_kubernetes
seealso:
  - module: metal3.baremetal.data_image
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Read what is attached
  metal3.baremetal.data_image_info:
  register: attached

- name: Name the hosts that wait for a reboot
  ansible.builtin.debug:
    msg: "{{ attached.images | selectattr('attached_url', 'eq', '') | map(attribute='name') }}"
"""

RETURN = r"""
images:
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
    url:
      description: URL of the image to be attached.
      type: str
      returned: always
    attached_url:
      description: URL of the image that is attached, empty when there is none.
      type: str
      returned: always
    error_count:
      description: How often attaching or detaching has failed in a row.
      type: int
      returned: always
    error_message:
      description: Why it failed the last time.
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
    run_family_info("DataImage")


if __name__ == "__main__":
    main()
