#!/usr/bin/python
# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reports on workload clusters: the tree of objects, and what each machine waits for."""
from __future__ import annotations

DOCUMENTATION = r"""
module: cluster_info
short_description: Report on workload clusters and on what each machine waits for
version_added: "0.1.0"
description:
  - Reads the clusters of a namespace, from the Cluster down to machines, hosts and nodes, with conditions.
  - For each machine it reports at which of the 15 steps of CAPM3's deployment workflow it is, since when, and what it
    waits for.
options:
  namespace:
    description: Namespace of the clusters.
    type: str
    default: metal3
  return_kubeconfig:
    description:
      - Whether each cluster has C(kubeconfig), its kubeconfig as a dictionary for the option O(kubeconfig) of other
        modules, so that no file is needed. The task must have C(no_log).
    type: bool
    default: false
  names:
    description: Names of the clusters, all by default.
    type: list
    elements: str
extends_documentation_fragment:
  - metal3.baremetal.kubernetes
  - metal3.baremetal.attributes
  - metal3.baremetal.attributes.info_module
  - metal3.baremetal.attributes.actiongroup_kubernetes
seealso:
  - module: metal3.baremetal.cluster
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Look at a cluster
  metal3.baremetal.cluster_info:
    names: [prod]
  register: info

- name: Show its tree
  ansible.builtin.debug:
    msg: "{{ info.clusters[0].lines }}"
"""

RETURN = r"""
clusters:
  description: The clusters.
  returned: success
  type: list
  elements: dict
  contains:
    name:
      description: Name of the cluster.
      type: str
      returned: always
    namespace:
      description: Its namespace.
      type: str
      returned: always
    phase:
      description: Its phase, for example V(Provisioned).
      type: str
      returned: always
    machines:
      description: Where each machine is, as M(metal3.baremetal.cluster) returns it.
      type: list
      elements: dict
      returned: always
    certificates:
      description:
        - When the certificates end that kubeadm has issued for each machine of the control plane, as Cluster API has
          noted it.
      type: list
      elements: dict
      returned: always
      contains:
        machine:
          description: Name of the Machine.
          type: str
        created:
          description: When the Machine was made.
          type: str
        joined:
          description: Whether it has a Node; before that it has no certificates whose end could be known.
          type: bool
        not_after:
          description: When its certificates end, V(null) while that is not known.
          type: str
        days_left:
          description: Whole days until then, V(null) while that is not known.
          type: int
      sample:
        - machine: prod-control-plane-x7k2p
          created: "2026-11-24T07:00:00Z"
          joined: true
          not_after: "2027-11-24T07:01:12Z"
          days_left: 364
    kubeconfig:
      description: Its kubeconfig, V(null) while there is none.
      type: dict
      returned: with O(return_kubeconfig)
    tree:
      description: Nested objects, each with C(kind), C(name), C(conditions), C(deleting) and C(children).
      type: dict
      returned: always
    lines:
      description: The tree as lines of text.
      type: list
      elements: str
      returned: always
      sample:
        - Cluster prod
        - "├─ Metal3Cluster prod: Ready True"
        - "└─ KubeadmControlPlane prod-control-plane: 1/1 ready"
        - "   └─ Machine prod-control-plane-x7k2p: complete"
missing:
  description: Those of O(names) that were not found.
  returned: success
  type: list
  elements: str
server:
  description: URL of the API server that the module worked on.
  returned: when the connection options led to one, also on failure
  type: str
  sample: https://192.0.2.10:6443
"""

from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.module import run_cluster_info


def main():
    """Run the module."""
    run_cluster_info()


if __name__ == "__main__":
    main()
