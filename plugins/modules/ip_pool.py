#!/usr/bin/python
# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes, changes and deletes IPPools."""
from __future__ import annotations

DOCUMENTATION = r"""
module: ip_pool
short_description: Make, change and delete IP pools
version_added: "0.1.0"
description:
  - Takes a list of pools of Metal3's IP address manager (IPPool, C(ipam.metal3.io/v1alpha1)).
  - The list is checked as a whole before anything is written, by itself and against the pools that are there.
    Overlapping ranges, ranges with the pool's gateway, a DNS server of it or the endpoint of a cluster, preallocated
    addresses out of range, doubled or in use, gateways outside their network, prefixes that do not fit, and changes
    that would leave an address in use outside its pool are all reported at once.
  - Several changes are tried first by the API server (dry run). When it refuses one of them, none is written, so that
    an address that goes from one pool to another is never in both.
  - A pool with addresses in use is not deleted.
  - A pool that the description of a cluster makes (M(metal3.baremetal.cluster), its
    O(metal3.baremetal.cluster#module:networks)) is refused as long as that Cluster is there. It is changed there.
  - A pool that is being deleted is refused unless O(pools[].state) is V(absent). The address manager keeps it until its
    last claim is gone.
options:
  namespace:
    description: Namespace of the pools.
    type: str
    default: metal3
  pools:
    description: The pools. With V(absent) as O(pools[].state) only O(pools[].name) counts.
    type: list
    elements: dict
    required: true
    suboptions:
      name:
        description: Name of the pool.
        type: str
        required: true
      name_prefix:
        description:
          - Beginning of the names of the pool's IPAddress objects, by default the pool's name.
          - It can't be changed.
        type: str
      cluster_name:
        description:
          - Cluster that owns the pool; the pool goes away with it.
          - Until that Cluster exists, IPAM hands out nothing. It looks again when the pool or one of its claims
            changes.
        type: str
      ranges:
        description:
          - Where addresses come from, in this order. A pool is of one address family.
        type: list
        elements: dict
        suboptions:
          start:
            description: First address. Without it, the one after the address in O(pools[].ranges[].subnet).
            type: str
          end:
            description: Last address. Without it, the last of O(pools[].ranges[].subnet), the broadcast address
              included.
            type: str
          subnet:
            description: Network that the addresses are in, for example V(198.51.100.0/24).
            type: str
          prefix:
            description: Prefix length of the addresses, in place of O(pools[].prefix).
            type: int
          gateway:
            description: Gateway, in place of O(pools[].gateway).
            type: str
          dns_servers:
            description: DNS servers, in place of O(pools[].dns_servers).
            type: list
            elements: str
      prefix:
        description: Prefix length of the addresses.
        type: int
      gateway:
        description: Gateway.
        type: str
      dns_servers:
        description: DNS servers.
        type: list
        elements: str
      pre_allocations:
        description:
          - Names of claims and the address that each of them gets.
          - CAPM3 names the claim of a machine C(<host>-<pool>) with C(capm3_name_based_preallocation), and
            C(<Metal3DataTemplate>-<number>-<pool>) without. An address under a name that no claim has is given to
            nobody.
          - IPAM also keeps the address of an IPAddress that is made by hand before the pool, for the claim of the name
            in its C(spec.claim). Call it C(<name_prefix>-<address>), with dashes in place of dots and colons - the
            claim is answered with that name.
        type: dict
      allocation_strategy:
        description:
          - Order in which addresses are given out.
          - Refused when the address manager has no such field; version 1.13 has none.
        type: str
        choices: [sequential, random]
      state:
        description: Whether the pool must exist.
        type: str
        choices: [present, absent]
        default: present
      labels:
        description: Labels.
        type: dict
      annotations:
        description: Annotations.
        type: dict
extends_documentation_fragment:
  - metal3.baremetal.kubernetes
  - metal3.baremetal.attributes
  - metal3.baremetal.attributes.actiongroup_kubernetes
attributes:
  check_mode:
    support: full
    details:
      - The API server checks the changes by a dry run.
  diff_mode:
    support: full
  idempotent:
    support: full
seealso:
  - module: metal3.baremetal.ip_claim
  - module: metal3.baremetal.ip_address_info
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Make a pool for the machines' network
  metal3.baremetal.ip_pool:
    pools:
      - name: machines
        prefix: 24
        gateway: 198.51.100.1
        dns_servers: [198.51.100.2]
        pre_allocations:
          storage-head: 198.51.100.20
        ranges:
          - start: 198.51.100.20
            end: 198.51.100.99

- name: Delete it
  metal3.baremetal.ip_pool:
    pools:
      - name: machines
        state: absent
"""

RETURN = r"""
counts:
  description: >-
    How many entries there are and what became of them: C(total), C(created), C(updated), C(deleted), C(unchanged) and
    C(failed).
  returned: always
  type: dict
  sample: {total: 2, created: 1, updated: 0, deleted: 0, unchanged: 1, failed: 0}
pools:
  description: Each pool of the list, in its order.
  returned: when the list was accepted
  type: list
  elements: dict
  contains:
    name:
      description: Name of the pool.
      type: str
      returned: always
    action:
      description: V(created), V(updated), V(deleted) or V(unchanged).
      type: str
      returned: always
    error:
      description: What went wrong; empty when nothing did.
      type: str
      returned: always
    total:
      description: How many addresses the pool has.
      type: int
      returned: when the pool is there
    used:
      description: How many of them are in use or preallocated.
      type: int
      returned: when the pool is there
    free:
      description: How many of them are free.
      type: int
      returned: when the pool is there
  sample:
    - {name: machines, action: created, error: "", total: 80, used: 1, free: 79}
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
  sample: [{"object": "IPPool metal3/provisioning", "action": "updated"}]
"""

from ansible_collections.metal3.baremetal.plugins.module_utils._ipam.module import run_ip_pool


def main():
    """Run the module."""
    run_ip_pool()


if __name__ == "__main__":
    main()
