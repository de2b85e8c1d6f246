#!/usr/bin/python
# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Gives a machine its interface of the provisioning network, and takes back what cuts it off."""
from __future__ import annotations

DOCUMENTATION = r"""
module: provisioning_network
short_description: Give a machine its interface of the provisioning network
version_added: "0.1.0"
description:
  - Makes a bridge, VLAN or bond, or takes a card, with static addresses, by the files of the one system that configures
    this machine's network. That is netplan, systemd-networkd, NetworkManager or ifupdown, found out by what runs.
  - The machine is asked afterwards what it has. When it does not get what is described, the files of before come back,
    and the module fails with what is missing.
  - With O(rollback_seconds) a process of the machine takes the change back unless O(state=confirmed) follows in time.
    Who can still reach the machine after the change confirms it; who cannot has it back after that time.
  - The files begin with C(60-metal3-). Others are never changed.
options:
  state:
    description:
      - V(present) makes the interface. V(confirmed) keeps a change that waits for it.
      - V(absent) removes the collection's files of the interface, and the bridge, VLAN or bond that they made. It is
        refused while VLANs are on it, or a bridge or bond has it as a port.
    type: str
    choices: [present, confirmed, absent]
    default: present
  system:
    description: Which system configures the interface. V(auto) finds it out, and refuses when that would be a guess.
    type: str
    choices: [auto, netplan, networkd, network_manager, ifupdown]
    default: auto
  rollback_seconds:
    description: How long a change waits for its confirmation. V(0) keeps it without one.
    type: int
    default: 120
  wait_timeout_seconds:
    description: How long the interface may take to get what is described.
    type: int
    default: 30
  confirm:
    description: The interface's name once more. Required for O(state=absent), which cuts off what uses it.
    type: str
  keepalived:
    description:
      - What M(metal3.baremetal.provisioning_keepalived) is given on this interface afterwards. O(state=present) refuses
        its mistakes with those of the network, also an address that O(dhcp) lends; nothing else is done with it.
    type: dict
    suboptions:
      address:
        description: The plane's address with its prefix.
        type: str
        required: true
      machines:
        description: Names of all machines that may hold the address.
        type: list
        elements: str
        required: true
      machine:
        description: Name of this machine.
        type: str
        required: true
      virtual_router_id:
        description: Number by which machines know each other.
        type: int
        default: 51
      peers:
        description: Addresses of the other machines.
        type: list
        elements: str
        default: []
      check_ports:
        description: TCP ports that the plane listens on.
        type: list
        elements: int
        default: []
      others:
        description:
          - Virtual routers of others, such as those of clusters' endpoints. O(keepalived.virtual_router_id) must be
            none of their numbers on the same network, unless O(keepalived.peers) are named.
            P(metal3.baremetal.virtual_routers#filter) makes them of an inventory.
        type: list
        elements: dict
        default: []
        suboptions:
          owner:
            description: Whose it is, for messages.
            type: str
            required: true
          address:
            description: The address, with the prefix of its network where that is known.
            type: str
            required: true
          number:
            description: Number of the virtual router.
            type: int
            required: true
extends_documentation_fragment:
  - metal3.baremetal.taken_addresses
  - metal3.baremetal.provisioning_network
  - metal3.baremetal.attributes
attributes:
  check_mode:
    support: full
  diff_mode:
    support: full
    details:
      - Shows the files.
  idempotent:
    support: full
seealso:
  - module: metal3.baremetal.provisioning_dhcp
  - module: metal3.baremetal.network_check
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: A bridge with one port
  metal3.baremetal.provisioning_network:
    name: provisioning
    kind: bridge
    ports: [eno2]
    addresses: [172.22.0.1/24]
  register: interface

- name: Wait until the machine answers
  ansible.builtin.wait_for_connection:
    timeout: 60

- name: Keep the change
  metal3.baremetal.provisioning_network:
    state: confirmed
    name: provisioning
    kind: bridge
    ports: [eno2]
    addresses: [172.22.0.1/24]
  when: interface.confirmation_needed
"""

RETURN = r"""
system:
  description: Which system has the files; empty when none has and for V(state=confirmed).
  returned: success
  type: str
  sample: networkd
confirmation_needed:
  description: Whether the change is taken back unless it is confirmed.
  returned: success
  type: bool
files:
  description: Paths of the files.
  returned: success
  type: list
  elements: str
  sample: [/etc/systemd/network/60-metal3-provisioning.netdev, /etc/systemd/network/60-metal3-provisioning.network]
differences:
  description: What the machine lacked before.
  returned: success
  type: list
  elements: str
  sample: [interface provisioning does not exist]
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

from ansible_collections.metal3.baremetal.plugins.module_utils._network.module import run_provisioning_network


def main():
    """Run the module."""
    run_provisioning_network()


if __name__ == "__main__":
    main()
