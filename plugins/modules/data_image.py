#!/usr/bin/python
# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Attaches images to hosts."""
from __future__ import annotations

DOCUMENTATION = r"""
module: data_image
short_description: Attach images to provisioned bare metal hosts
version_added: "0.1.0"
description:
  - >-
    Keeps DataImages: ISO images that the Bare Metal Operator (BMO) attaches to provisioned hosts as virtual CDs.
  - >-
    BMO attaches and detaches when the host is switched on, so a host that runs must be rebooted, for example by
    M(metal3.baremetal.baremetal_host_action). A DataImage bears the name of its host.
options:
  images:
    description: The hosts and their images.
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
      url:
        description:
          - Where the image is downloaded. Required unless O(images[].state=absent).
          - Without user name and password, because everybody who may read the object would read them.
        type: str
  wait_for:
    description:
      - >-
        V(attached) waits until the image is attached, V(deleted) until it is ejected and the object is gone; both
        wait for the same by entries with O(images[].state=absent).
      - >-
        It fails at once on a host that is paused, for V(attached) also on one that is not provisioned or is detached,
        and after three failures of Ironic since the last change of the image.
    type: str
    choices: [attached, deleted]
extends_documentation_fragment:
  - metal3.baremetal.kubernetes
  - metal3.baremetal.attributes
  - metal3.baremetal.resources
  - metal3.baremetal.resources.wait
  - metal3.baremetal.attributes.actiongroup_kubernetes
seealso:
  - module: metal3.baremetal.data_image_info
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Attach an image with the next reboot
  metal3.baremetal.data_image:
    images:
      - {name: rack1-01, url: "https://images.example/drivers.iso"}
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
    host_state:
      description: State of the BareMetalHost, empty when there is none.
      type: str
      returned: when the object is there
    url:
      description: URL of the image to be attached.
      type: str
      returned: when the object is there
    attached_url:
      description: URL of the image that is attached, empty when there is none.
      type: str
      returned: when the object is there
    error_count:
      description: How often attaching or detaching has failed in a row.
      type: int
      returned: when the object is there
    error_message:
      description: Why it failed the last time.
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
  sample: [{"object": "DataImage metal3/server-1", "action": "updated"}]
"""

from ansible_collections.metal3.baremetal.plugins.module_utils._resources.module import run_family


def main():
    """Run the module."""
    run_family("DataImage")


if __name__ == "__main__":
    main()
