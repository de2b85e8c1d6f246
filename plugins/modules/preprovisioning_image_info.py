#!/usr/bin/python
# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads images that the deploy agent boots from."""
from __future__ import annotations

DOCUMENTATION = r"""
module: preprovisioning_image_info
short_description: Read images that the deploy agent boots from
version_added: "0.1.0"
description:
  - >-
    Returns PreprovisioningImages with the place of each image.
extends_documentation_fragment:
  - metal3.baremetal.kubernetes
  - metal3.baremetal.resources.info
  - metal3.baremetal.attributes
  - metal3.baremetal.attributes.info_module
  - metal3.baremetal.attributes.actiongroup_kubernetes
notes:
  - >-
    No part of the collection's lab works on PreprovisioningImages (BMO does so when it was started with C(-build-
    preprov-image)), so this was checked up to the API server only.
seealso:
  - module: metal3.baremetal.preprovisioning_image
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Read the images
  metal3.baremetal.preprovisioning_image_info:
  register: built

- name: Name those that are not ready
  ansible.builtin.debug:
    msg: "{{ built.images | rejectattr('ready') | map(attribute='name') }}"
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
    ready:
      description: Whether the image can be downloaded.
      type: bool
      returned: always
    image_url:
      description: Where it can be downloaded.
      type: str
      returned: always
    kernel_url:
      description: Where its kernel can be downloaded, of an initrd.
      type: str
      returned: always
    format:
      description: V(iso) or V(initrd).
      type: str
      returned: always
    architecture:
      description: Processor architecture that it was built for.
      type: str
      returned: always
    extra_kernel_params:
      description: Parameters for the kernel, of an initrd.
      type: str
      returned: always
    error_message:
      description: Why it could not be built.
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
    run_family_info("PreprovisioningImage")


if __name__ == "__main__":
    main()
