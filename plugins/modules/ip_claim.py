#!/usr/bin/python
# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes and deletes claims for addresses of IP pools."""
from __future__ import annotations

DOCUMENTATION = r"""
module: ip_claim
short_description: Claim addresses of IP pools, a fixed one or any
version_added: "0.1.0"
description:
  - Takes a list of claims for addresses of Metal3's IP address manager, as IPClaim (C(ipam.metal3.io/v1alpha1)) or as
    Cluster API's IPAddressClaim (C(ipam.cluster.x-k8s.io/v1beta2)), and waits for the addresses.
  - Claims that could not be answered (unknown pool, pool that is being deleted, exhausted pool, address taken,
    preallocated or out of range) are refused before anything is written.
  - A claim that is being deleted is refused with its finalizers, and never returned with an address. The address
    manager gives that address to another claim as soon as this one is gone.
options:
  namespace:
    description: Namespace of claims and pools.
    type: str
    default: metal3
  claims:
    description: The claims.
    type: list
    elements: dict
    required: true
    suboptions:
      name:
        description: Name of the claim.
        type: str
        required: true
      pool:
        description: Name of the IPPool. Required unless O(claims[].state) is V(absent). It can't be changed.
        type: str
      address:
        description: The address to ask for. Without it the pool chooses.
        type: str
      kind:
        description: Kind of the claim.
        type: str
        choices: [IPClaim, IPAddressClaim]
        default: IPClaim
      cluster_name:
        description: Cluster that the claim belongs to.
        type: str
      state:
        description:
          - Whether the claim must exist. One that is being deleted does not count.
          - V(absent) gives the address back, for a later run. A claim that has an owner, for example a Metal3Data of a
            machine, is refused before anything is written, unless it is named in O(force_claims).
        type: str
        choices: [present, absent]
        default: present
      labels:
        description: Labels; those of an IPClaim are passed on to its IPAddress.
        type: dict
      annotations:
        description: Annotations.
        type: dict
  force_claims:
    description:
      - Names of claims that are deleted although they have an owner. Their addresses may then be given to another
        server while they are still used.
    type: list
    elements: str
    default: []
  renew_refused:
    description:
      - Whether claims that the address manager has refused are deleted and created again. It does not look at a refused
        claim again by itself.
      - A claim that is not gone within O(wait_timeout_seconds), or within 60 seconds when that is V(0), is an error of
        this claim and is not created again.
    type: bool
    default: false
  wait_timeout_seconds:
    description: How long to wait for all addresses, or for all claims to be gone; V(0) does not wait.
    type: int
    default: 60
extends_documentation_fragment:
  - metal3.baremetal.kubernetes
  - metal3.baremetal.attributes
  - metal3.baremetal.attributes.actiongroup_kubernetes
attributes:
  check_mode:
    support: full
    details:
      - The API server checks the changes by a dry run. Nothing is waited for.
  diff_mode:
    support: full
  idempotent:
    support: full
seealso:
  - module: metal3.baremetal.ip_pool
  - module: metal3.baremetal.ip_address_info
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Reserve an address for a load balancer
  metal3.baremetal.ip_claim:
    claims:
      - name: load-balancer
        pool: machines
        address: 198.51.100.50
  register: claimed

- name: Show it
  ansible.builtin.debug:
    msg: "{{ claimed.claims[0].address }}"
"""

RETURN = r"""
counts:
  description: >-
    How many entries there are and what became of them: C(total), C(created), C(updated), C(deleted), C(unchanged) and
    C(failed).
  returned: always
  type: dict
  sample: {total: 2, created: 1, updated: 0, deleted: 0, unchanged: 1, failed: 0}
claims:
  description: Each claim of the list, in its order.
  returned: when the list was accepted
  type: list
  elements: dict
  contains:
    kind:
      description: Kind of the claim.
      type: str
      returned: always
    name:
      description: Name of the claim.
      type: str
      returned: always
    action:
      description: >-
        V(created), V(updated), V(renewed), V(deleted) or V(unchanged). V(deleted) with RV(claims[].error) is a refused
        claim that was deleted and is not gone yet.
      type: str
      returned: always
    address:
      description: The address that the claim has got; V(null) without one, and while the claim is being deleted.
      type: str
      returned: always
    error:
      description: What went wrong; empty when nothing did.
      type: str
      returned: always
  sample:
    - {kind: IPClaim, name: load-balancer, action: created, address: 198.51.100.50, error: ""}
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
  sample: [{"object": "IPClaim metal3/server", "action": "updated"}]
"""

from ansible_collections.metal3.baremetal.plugins.module_utils._ipam.module import run_ip_claim


def main():
    """Run the module."""
    run_ip_claim()


if __name__ == "__main__":
    main()
