#!/usr/bin/python
# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes keepalived's file for an address of the plane that one of several machines holds."""
from __future__ import annotations

DOCUMENTATION = r"""
module: provisioning_keepalived
short_description: Write the file by which keepalived gives one of several machines the plane's address
version_added: "0.1.0"
description:
  - Renders an instance of VRRP version 3 for C(keepalived --use-file), on an interface of the provisioning network. The
    role C(provisioning_network) starts keepalived with it.
  - The first of O(machines) holds the address while it runs and O(check_ports) answer on it; then the next one does.
  - keepalived itself tries the file before it is written (C(keepalived -t)).
options:
  name:
    description: Name of the interface.
    type: str
    required: true
  address:
    description: The plane's address with its prefix, one of the network of O(own_address) that no machine has.
    type: str
    required: true
  own_address:
    description: An address of this machine on the interface, with its prefix.
    type: str
    required: true
  machines:
    description:
      - Names of all machines that may hold the address, at most 10, the one that is to hold it first. Each of them must
        be given the same list.
    type: list
    elements: str
    required: true
  machine:
    description: Name of this machine, one of O(machines).
    type: str
    required: true
  virtual_router_id:
    description: Number by which machines know each other, 1 to 255; no others on the wire may have it.
    type: int
    default: 51
  peers:
    description: Addresses of the other machines where the network carries no multicast.
    type: list
    elements: str
    default: []
  check_ports:
    description:
      - TCP ports of this machine's O(own_address) that the plane listens on. While one does not answer, each other
        machine on which they do goes before this one.
    type: list
    elements: int
    default: []
  config_file:
    description: Absolute path of the file, which is written.
    type: path
    required: true
  keepalived:
    description: Path or name of keepalived.
    type: path
    default: keepalived
extends_documentation_fragment:
  - metal3.baremetal.attributes
attributes:
  check_mode:
    support: full
  diff_mode:
    support: full
  idempotent:
    support: full
seealso:
  - module: metal3.baremetal.provisioning_network
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: The plane's address on the first of two machines
  metal3.baremetal.provisioning_keepalived:
    name: provisioning
    address: 172.22.0.2/24
    own_address: 172.22.0.11/24
    machines: [bastion-1, bastion-2]
    machine: bastion-1
    check_ports: [6385, 6183]
    config_file: /etc/metal3.baremetal/keepalived-provisioning.conf
"""

RETURN = r"""
config_file:
  description: The file.
  returned: success
  type: str
  sample: /etc/metal3.baremetal/keepalived-provisioning.conf
program:
  description: Path of keepalived.
  returned: success
  type: str
  sample: /usr/sbin/keepalived
notifies:
  description: Whether keepalived was built to tell systemd that it has started (C(Type=notify)).
  returned: success
  type: bool
  sample: true
priority:
  description: This machine's priority; of those whose ports answer the highest holds the address.
  returned: success
  type: int
  sample: 200
warnings:
  description: What was not done in check mode.
  returned: success
  type: list
  elements: str
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

from ansible_collections.metal3.baremetal.plugins.module_utils._network.module import run_provisioning_keepalived


def main():
    """Run the module."""
    run_provisioning_keepalived()


if __name__ == "__main__":
    main()
