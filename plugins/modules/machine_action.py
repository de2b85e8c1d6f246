#!/usr/bin/python
# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Marks and replaces Machines of a workload cluster."""
from __future__ import annotations

DOCUMENTATION = r"""
module: machine_action
short_description: Mark or replace machines of a workload cluster
version_added: "0.1.0"
description:
  - Asks Cluster API for something on named Machines of one cluster, all at once.
  - What it would ignore, or what would cost the control plane its quorum, is refused before anything is written, for
    all Machines at once.
  - When the module runs on the controller, progress is printed while it waits.
options:
  namespace:
    description: Namespace of the cluster.
    type: str
    default: metal3
  cluster_name:
    description: Name of the cluster.
    type: str
    required: true
  machines:
    description: Names of its Machines.
    type: list
    elements: str
    required: true
  action:
    description:
      - What to do.
      - >-
        V(mark_for_scale_in) sets the annotation C(cluster.x-k8s.io/delete-machine): these Machines go first when their
        owner is to have fewer replicas. V(unmark_for_scale_in) removes it.
      - >-
        V(skip_remediation) sets C(cluster.x-k8s.io/skip-remediation), with which a MachineHealthCheck leaves the
        Machine alone, for example while its server is maintained. V(allow_remediation) removes it.
      - >-
        V(replace) deletes the Machines. Their owner makes others, with what the cluster's description says now; the
        nodes are drained, and their hosts are deprovisioned. O(confirm) is required. Of a control plane one Machine at
        a time is replaced, and only while more than half of all its machines are healthy without it. A Machine that is
        being deleted already, as after a run that was killed, is only waited for.
    type: str
    required: true
    choices: [allow_remediation, mark_for_scale_in, skip_remediation, unmark_for_scale_in, replace]
  confirm:
    description:
      - For V(replace), the number of Machines that this run deletes, or their names with commas between.
      - The text that asks for it says how long the Machines took to become nodes, how many hosts that they could have
        are free, what becomes of the disks, which other machines are not ready, and which disruption budgets hold the
        drain. When it is given, these are lines of progress and warnings.
    type: str
  wait:
    description: For V(replace), whether to wait until the machines that take their place are available.
    type: bool
    default: true
  wait_timeout_seconds:
    description: How long to wait in all.
    type: int
    default: 3600
  node_startup_timeout_seconds:
    description: How long a deployed machine may take to become a node; 0 for no limit.
    type: int
    default: 900
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
    support: partial
    details:
      - V(replace) is done at each run for Machines that are there; those that took their place have other names.
requirements:
  - kubernetes >= 31
  - PyYAML >= 6.0
seealso:
  - module: metal3.baremetal.cluster
  - module: metal3.baremetal.cluster_info
  - module: metal3.baremetal.baremetal_host_action
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Let this machine go first when the pool becomes smaller
  metal3.baremetal.machine_action:
    cluster_name: prod
    machines: [prod-pool-a-7fkq2-x8j5d]
    action: mark_for_scale_in

- name: Replace a machine whose disk is broken
  metal3.baremetal.machine_action:
    cluster_name: prod
    machines: [prod-pool-a-7fkq2-x8j5d]
    action: replace
    confirm: "1"
"""

RETURN = r"""
machines:
  description: Each Machine, in the order of O(machines).
  returned: success
  type: list
  elements: dict
  contains:
    name:
      description: Name of the Machine.
      type: str
      returned: always
    action:
      description: What was asked for.
      type: str
      returned: always
    changed:
      description: Whether something was written.
      type: bool
      returned: always
    host:
      description: Name of the BareMetalHost that it had, V(null) without one.
      type: str
      returned: always
  sample: [{name: prod-pool-a-7fkq2-x8j5d, action: replace, changed: true, host: rack1-03}]
timeline:
  description: When each machine of the cluster came to which step of its deployment, as in M(metal3.baremetal.cluster).
  returned: when it was waited for
  type: list
  elements: dict
  sample: [{machine: prod-pool-a-7fkq2-b2c4d, step: 12, complete: false, seconds: 8.1}]
seconds:
  description: How long was waited, in seconds.
  returned: when it was waited for
  type: float
  sample: 312.4
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
  description: What the run had stored before it failed.
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
  sample: [{"object": "Machine metal3/prod-pool-a-7fkq2-x8j5d", "action": "deleted"}]
"""

from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.machines.module import run_machine_action


def main():
    """Run the module."""
    run_machine_action()


if __name__ == "__main__":
    main()
