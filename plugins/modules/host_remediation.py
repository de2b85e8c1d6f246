#!/usr/bin/python
# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Brings hosts back of which something is wrong, with the least that helps."""
from __future__ import annotations

DOCUMENTATION = r"""
module: host_remediation
short_description: Bring named hosts back with the least that helps
version_added: "0.1.0"
description:
  - Says what is wrong with each host, whether the Bare Metal Operator (BMO) reports an error or the Node of its Machine
    is not Ready, and tries what may help, the least first, for all hosts side by side.
  - V(retry) makes BMO try again at once what failed. V(reboot) reboots the server of a Node that is not Ready; health
    checks are kept from its Machine meanwhile. V(replace) deletes the Machine, whose owner makes another, and marks the
    host C(capm3.metal3.io/unhealthy), so that it is not taken again before M(metal3.baremetal.baremetal_host_action)
    has marked it healthy.
  - Of a control plane, also whether etcd's member on the machine is lost, as Cluster API has noted it or, when the Node
    is not Ready, as its kubelet says, which is asked through the cluster's API server. A reboot does not help that, so
    that only V(replace) is tried, and nothing for what is wrong with all members.
  - A step that BMO would ignore in the host's present state is not tried, and the next one is. A host of which nothing
    is wrong stays as it is.
  - >-
    All hosts are looked at again before each step. It is left out for those of which nothing is wrong any more, and for
    those that are another server, have another Machine, need something else, or are worked on by somebody else by then,
    which fail with the reason. So does a host that is deleted or enrolled again, or whose Machine is deleted, while a
    step is waited for.
  - Hosts that are locked or being maintained, and Machines that are being deleted or that Cluster API remediates
    itself, are refused before anything is written, as is what would cost a control plane its quorum, for all hosts at
    once.
  - When the module runs on the controller, progress is printed while it waits.
options:
  namespace:
    description: Namespace of the hosts.
    type: str
    default: metal3
  hosts:
    description: Names of BareMetalHosts.
    type: list
    elements: str
    required: true
  up_to:
    description: The last step that is allowed.
    type: str
    choices: [retry, reboot, replace]
    default: reboot
  mode:
    description: How servers are rebooted, see O(metal3.baremetal.baremetal_host_action#module:mode).
    type: str
    choices: [soft, hard]
    default: hard
  confirm:
    description:
      - The number of hosts that may be rebooted or replaced, or their names with commas between.
      - For those that may be replaced, the text that asks for it says what that of
        O(metal3.baremetal.machine_action#module:confirm) says. Their own hosts do not come back.
    type: str
  step_timeout_seconds:
    description: How long V(retry) and V(reboot) may take each before the next step is tried.
    type: int
    default: 600
  wait:
    description: For V(replace), whether to wait until the machines that take their place are available.
    type: bool
    default: true
  wait_timeout_seconds:
    description: How long to wait for these in all.
    type: int
    default: 3600
  node_startup_timeout_seconds:
    description: How long a deployed machine may take to become a node; 0 for no limit.
    type: int
    default: 900
extends_documentation_fragment:
  - metal3.baremetal.kubernetes
  - metal3.baremetal.confirmation
  - metal3.baremetal.attributes
  - metal3.baremetal.attributes.actiongroup_kubernetes
attributes:
  check_mode:
    support: full
    details:
      - Says what is wrong and what would be tried; nothing is asked for or waited for.
  diff_mode:
    support: full
  idempotent:
    support: full
    details:
      - Hosts that are well are left as they are.
requirements:
  - kubernetes >= 31
  - PyYAML >= 6.0
notes:
  - Whether a Node is Ready is read from the Machine, as Cluster API has last found it. While the cluster's API server
    does not answer, nothing is known of its workers, and they are left as they are.
  - A server whose BMC does not answer is neither rebooted nor deprovisioned; Cluster API makes no other machine before
    the old one is gone.
seealso:
  - module: metal3.baremetal.baremetal_host_action
  - module: metal3.baremetal.host_maintenance
  - module: metal3.baremetal.machine_action
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Say what is wrong with two servers
  metal3.baremetal.host_remediation:
    hosts: [rack1-03, rack1-04]
  check_mode: true

- name: Bring them back, by a reboot if need be
  metal3.baremetal.host_remediation:
    hosts: [rack1-03, rack1-04]
    confirm: rack1-03,rack1-04

- name: Replace the machine when a reboot does not help
  metal3.baremetal.host_remediation:
    hosts: [rack1-03]
    up_to: replace
    confirm: "1"
"""

RETURN = r"""
hosts:
  description: Each host, in the order of O(hosts).
  returned: success
  type: list
  elements: dict
  contains:
    name:
      description: Name of the BareMetalHost.
      type: str
      returned: always
    cluster:
      description: Name of its cluster, V(null) when it is in none.
      type: str
      returned: always
    machine:
      description: Name of its Machine, V(null) when it is in none.
      type: str
      returned: always
    reason:
      description: What was wrong, empty when nothing was.
      type: str
      returned: always
    steps:
      description: What might help and is allowed, the least first.
      type: list
      elements: str
      returned: always
    tried:
      description: What was tried.
      type: list
      elements: str
      returned: always
    helped:
      description: The step that was tried last before the host was well again, V(null) when there was none, because
        nothing was wrong or the host recovered by itself.
      type: str
      returned: always
  sample:
    - name: rack1-03
      cluster: prod
      machine: prod-pool-a-7fkq2-x8j5d
      reason: "Node not Ready: Kubelet stopped posting node status."
      steps: [reboot]
      tried: [reboot]
      helped: reboot
seconds:
  description: How long the module worked, in seconds.
  returned: success
  type: float
  sample: 41.7
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
  sample: [{"object": "BareMetalHost metal3/rack1-03", "action": "updated"}]
"""

from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.remediation.module import run_host_remediation


def main():
    """Run the module."""
    run_host_remediation()


if __name__ == "__main__":
    main()
