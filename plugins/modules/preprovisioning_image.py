#!/usr/bin/python
# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Keeps images that the deploy agent boots from."""
from __future__ import annotations

DOCUMENTATION = r"""
module: preprovisioning_image
short_description: Have images built that the deploy agent boots from
version_added: "0.1.0"
description:
  - >-
    Keeps PreprovisioningImages: images of the deploy agent, with the network data of one host in them.
  - >-
    The Bare Metal Operator (BMO) creates them for its hosts itself when it was started with C(-build-preprov-image).
    This module is for those of one's own.
options:
  images:
    description: The images.
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
      network_data_name:
        description:
          - Name of a Secret with network data that are built into the image. When the Secret is there and has
            OpenStack's format, links that cannot stand on one another, VLANs, MTUs and second default routes in it are
            refused.
        type: str
      architecture:
        description: Processor architecture that the image is built for.
        type: str
      accept_formats:
        description:
          - Formats that will do, V(iso) or V(initrd), the best first.
          - Required unless O(images[].state=absent).
        type: list
        elements: str
  wait_for:
    description:
      - >-
        V(ready) waits until the image can be downloaded, V(deleted) until the object is gone; both wait for the
        same by entries with O(images[].state=absent).
      - >-
        It fails at once when the controller reports an error, other than a Secret that is still missing.
    type: str
    choices: [ready, deleted]
extends_documentation_fragment:
  - metal3.baremetal.kubernetes
  - metal3.baremetal.attributes
  - metal3.baremetal.resources
  - metal3.baremetal.resources.wait
  - metal3.baremetal.attributes.actiongroup_kubernetes
notes:
  - >-
    No part of the collection's lab works on PreprovisioningImages (BMO does so when it was started with C(-build-
    preprov-image)), so this was checked up to the API server only.
seealso:
  - module: metal3.baremetal.preprovisioning_image_info
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Have an image built
  metal3.baremetal.preprovisioning_image:
    images:
      - {name: rack1-01, network_data_name: rack1-01-network, architecture: x86_64, accept_formats: [iso]}
    wait_for: ready
"""

RETURN = r"""
counts:
  description: >-
    How many entries there are and what became of them: C(total), C(created), C(updated), C(deleted), C(unchanged) and
    C(failed).
  returned: always
  type: dict
  sample: {total: 2, created: 1, updated: 0, deleted: 0, unchanged: 1, failed: 0}
images:
  description: What became of each entry, in the order of O(images).
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
    ready:
      description: Whether the image can be downloaded.
      type: bool
      returned: when the object is there
    image_url:
      description: Where it can be downloaded.
      type: str
      returned: when the object is there
    kernel_url:
      description: Where its kernel can be downloaded, of an initrd.
      type: str
      returned: when the object is there
    format:
      description: V(iso) or V(initrd).
      type: str
      returned: when the object is there
    architecture:
      description: Processor architecture that it was built for.
      type: str
      returned: when the object is there
    extra_kernel_params:
      description: Parameters for the kernel, of an initrd.
      type: str
      returned: when the object is there
    error_message:
      description: Why it could not be built.
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
  sample: [{"object": "PreprovisioningImage metal3/server-1", "action": "updated"}]
"""

from ansible_collections.metal3.baremetal.plugins.module_utils._resources.module import run_family


def main():
    """Run the module."""
    run_family("PreprovisioningImage")


if __name__ == "__main__":
    main()
