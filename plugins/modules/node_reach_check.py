#!/usr/bin/python
# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Asks on the nodes that hosts are whether they reach the Ironic of another management plane."""
from __future__ import annotations

DOCUMENTATION = r"""
module: node_reach_check
short_description: Ask on the nodes that hosts are whether they reach the Ironic of another management plane
version_added: "0.1.0"
description:
  - Starts a short-lived pod on each node that a host of a management plane has become, in the node's own network,
    which connects to the API and to the image server of the Ironic that is to take the hosts over. The pods are removed
    again.
  - The clusters are reached by the kubeconfigs that Cluster API keeps of them. No login is given to the pods, and they
    have no token of the cluster.
  - Nothing is known of hosts that are no node of a cluster, and of all when the Deployment over there does not say
    which address its Ironic has.
  - A node on which a pod does not run, or a cluster that does not answer, proves nothing. It is a warning in
    RV(checks).
options:
  namespace:
    description: Namespace of the hosts and clusters.
    type: str
    default: metal3
  image:
    description: Image of the pods, one with C(python3), by default that of O(ironic_deployment).
    type: str
  pod_namespace:
    description: Namespace of the pods in each cluster, which admits pods in the node's network.
    type: str
    default: kube-system
  to_may_be_stopped:
    description: Whether check mode does without an answer of the plane that takes over.
    type: bool
    default: false
  timeout_seconds:
    description: How long the pods of a cluster may take together, pulling their image included.
    type: int
    default: 120
extends_documentation_fragment:
  - metal3.baremetal.two_planes
  - metal3.baremetal.attributes
attributes:
  check_mode:
    support: full
    details:
      - Says from which nodes it would be asked. No pod is made.
  diff_mode:
    support: none
    details:
      - What was made is removed again.
  idempotent:
    support: full
requirements:
  - kubernetes >= 31
seealso:
  - module: metal3.baremetal.plane_move
  - module: metal3.baremetal.bmc_media_check
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Ask on all nodes whether they reach the Ironic over there
  metal3.baremetal.node_reach_check:
    kubeconfig: ~/.kube/bootstrap
    to_kubeconfig: ~/.kube/prod
  register: asked

- name: Show what would be moved, and what is in the way
  metal3.baremetal.plane_move:
    kubeconfig: ~/.kube/bootstrap
    to_kubeconfig: ~/.kube/prod
    clusterctl: /usr/local/bin/clusterctl
    node_checks: "{{ asked.checks }}"
  check_mode: true
"""

RETURN = r"""
from_uid:
  description:
    - The uid of the Namespace C(kube-system) of the plane that has the hosts, for
      O(metal3.baremetal.plane_move#module:cluster_uid); empty when nobody may read it.
  returned: success
  type: str
  sample: 2c1e0c1e-5b0e-4a43-a1d5-3a9f0c1b7d55
to_uid:
  description: The same of the plane that takes over; empty also when it did not have to answer (O(to_may_be_stopped)).
  returned: success
  type: str
  sample: 9d3b5a1e-77c4-4f3b-8f1b-0b6c3d2e1a90
targets:
  description: What the nodes were asked for, address and port of Ironic's API and of its image server.
  returned: success
  type: list
  elements: str
  sample: ["192.0.2.121:6385", "192.0.2.121:6180"]
checks:
  description: What was found, one item for a host, or one for each address and port that its node does not reach.
  returned: success
  type: list
  elements: dict
  contains:
    check:
      description: Name of the check.
      type: str
    status:
      description: V(ok); V(problem); V(warning) when its node could not be asked; V(unknown) when there is none to ask.
      type: str
    code:
      description: Name of the rule.
      type: str
    subject:
      description: The host.
      type: str
    field:
      description: Always empty, for no option is wrong.
      type: str
    actual:
      description: What was found.
      type: str
    expected:
      description: What is expected.
      type: str
    hint:
      description: What to do, or V(null).
      type: str
    text:
      description: All of it as one line.
      type: str
  sample:
    - check: node_reach
      status: problem
      code: move-node-reach
      subject: BareMetalHost rack1-03
      field: ""
      actual: "no answer within 5 s at 192.0.2.121:6180, asked from Node rack1-03 of cluster prod"
      expected: a server that reaches the Ironic over there
      hint: look at the routes and firewalls between the two
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
"""

from ansible_collections.metal3.baremetal.plugins.module_utils._move.module import run_node_reach_check


def main():
    """Run the module."""
    run_node_reach_check()


if __name__ == "__main__":
    main()
