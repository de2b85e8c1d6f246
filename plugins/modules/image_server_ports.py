#!/usr/bin/python
# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Refuses a port of an image server that another program of the machine has."""
from __future__ import annotations

DOCUMENTATION = r"""
module: image_server_ports
short_description: Refuse a port of an image server that another program of the machine has
version_added: "0.1.0"
description:
  - Run it on the machine of the image server before its service knows of the port. It would otherwise be started again
    and again, or go on with the port of before, and could take the port from the other program at the next start of
    the machine.
  - It listens on the port at each address for a moment, accepts nothing, and changes nothing.
  - An address that the machine does not have yet counts as free.
options:
  addresses:
    description: IP addresses to listen on, V(0.0.0.0) and V(::) for all.
    type: list
    elements: str
    required: true
  port:
    description: The port.
    type: int
    required: true
  unit:
    description:
      - Name of the systemd unit of the image server. What its own processes listen on is not taken.
    type: str
extends_documentation_fragment:
  - metal3.baremetal.attributes
  - metal3.baremetal.attributes.info_module
seealso:
  - module: metal3.baremetal.image_cache
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Check that no other program has the port
  metal3.baremetal.image_server_ports:
    addresses: [172.22.0.1]
    port: 443
    unit: metal3-image-server-images.service
"""

RETURN = r"""
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
"""

from ansible_collections.metal3.baremetal.plugins.module_utils._images.module import run_image_server_ports


def main():
    """Run the module."""
    run_image_server_ports()


if __name__ == "__main__":
    main()
