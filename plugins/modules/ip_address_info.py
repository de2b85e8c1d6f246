#!/usr/bin/python
# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reports who has which address of which pool."""
from __future__ import annotations

DOCUMENTATION = r"""
module: ip_address_info
short_description: Report who has which address, how many are free, and which are leaked
version_added: "0.1.0"
description:
  - Reads pools, addresses and claims of Metal3's IP address manager and of Cluster API in a namespace.
  - An address is leaked when its claim is gone or can't go, or when it is in no range of its pool. One whose claim is
    being deleted, and which IPAM alone still has to take back, is not.
  - An IPAddress that somebody has made by hand has no owner. Without a claim it is not leaked - IPAM hands it to nobody
    but a claim of the name in its C(spec.claim), which need not exist.
options:
  namespace:
    description: Namespace of the pools.
    type: str
    default: metal3
  pools:
    description: Names of the pools to report on, all by default.
    type: list
    elements: str
  cluster_name:
    description: Report only on pools that belong to this cluster.
    type: str
extends_documentation_fragment:
  - metal3.baremetal.kubernetes
  - metal3.baremetal.attributes
  - metal3.baremetal.attributes.info_module
  - metal3.baremetal.attributes.actiongroup_kubernetes
seealso:
  - module: metal3.baremetal.ip_pool
  - module: metal3.baremetal.ip_claim
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Look at all pools
  metal3.baremetal.ip_address_info:
  register: addresses

- name: Stop when addresses have leaked
  ansible.builtin.assert:
    that: addresses.leaked | length == 0
"""

RETURN = r"""
pools:
  description: The pools, in order of their names.
  returned: success
  type: list
  elements: dict
  contains:
    name:
      description: Name of the pool.
      type: str
      returned: always
    namespace:
      description: Its namespace.
      type: str
      returned: always
    cluster_name:
      description: Cluster that it belongs to.
      type: str
      returned: always
    total:
      description: How many addresses it has.
      type: int
      returned: always
    used:
      description: How many of them are in use or preallocated.
      type: int
      returned: always
    free:
      description: How many of them are free.
      type: int
      returned: always
    allocations:
      description: The addresses in use, lowest first.
      type: list
      elements: dict
      returned: always
      sample:
        - address: 198.51.100.20
          claim: prod-control-plane-e69026ff-0-prod-machines
          owner: Metal3Data/prod-control-plane-dd97becd-0
          preallocated: false
          by_hand: false
          object: IPAddress/prod-machines-198-51-100-20
    leaked:
      description: The addresses that nobody has and nobody can get, with the reason.
      type: list
      elements: dict
      returned: always
    unanswered:
      description: The claims without an address, with the reason.
      type: list
      elements: dict
      returned: always
    unreadable:
      description: Ranges that have no usable address.
      type: list
      elements: str
      returned: always
leaked:
  description: The leaked addresses of all these pools.
  returned: success
  type: list
  elements: dict
  contains:
    pool:
      description: Name of the pool.
      type: str
      returned: always
    address:
      description: The address.
      type: str
      returned: always
    object:
      description: The IPAddress object.
      type: str
      returned: always
    reason:
      description: Why it is leaked.
      type: str
      returned: always
missing:
  description: Those of O(pools) that were not found.
  returned: success
  type: list
  elements: str
server:
  description: URL of the API server that the module worked on.
  returned: when the connection options led to one, also on failure
  type: str
  sample: https://192.0.2.10:6443
"""

from ansible_collections.metal3.baremetal.plugins.module_utils._ipam.module import run_ip_address_info


def main():
    """Run the module."""
    run_ip_address_info()


if __name__ == "__main__":
    main()
