#!/usr/bin/python
# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Takes hosts out of their workload clusters for a while, and back."""
from __future__ import annotations

DOCUMENTATION = r"""
module: host_maintenance
short_description: Drain the nodes of hosts in use, and give them back
version_added: "0.1.0"
description:
  - V(planned) only reads. It says which pods V(drained) would evict, which disruption budgets let none of them go,
    which other machines of the clusters are not ready or are away, how long the last maintenance took, and which hosts
    may leave together. What V(drained) would refuse of a host is refused.
  - V(drained) marks hosts, keeps MachineHealthChecks from replacing their Machines, cordons their Nodes, keeps the
    cluster autoscaler from these and evicts the pods, as disruption budgets allow it, until none is left but those
    of DaemonSets and of the node's own files.
  - V(returned) waits until the kubelet of each Node gives a sign of life and the Node is Ready, lets pods come again,
    and takes the marks away. Those that are Ready do not wait for others that are late. What somebody else had
    cordoned, or kept from health checks or the autoscaler, stays so. Of a control plane it then waits until the node's
    etcd and API server are Ready and Cluster API finds the Machine healthy. The next one would be refused before.
  - What is lost with the pods, and what would cost a control plane its quorum, is refused before anything is written,
    for all hosts at once. Hosts that are in no cluster are marked only. A machine of the control plane counts as away
    as soon as its host is marked, or its server is to be rebooted, held or off. V(drained) looks once more when its own
    hosts are marked, and takes the marks back when another run has marked others meanwhile.
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
  state:
    description: Whether the hosts leave their clusters, or come back; V(planned) says what it would take to leave.
    type: str
    required: true
    choices: [planned, drained, returned]
  reason:
    description: A text that is kept as the mark's value, the annotation C(metal3.baremetal/maintenance). By default
      V(maintenance).
    type: str
  allow_bare_pods:
    description: Whether pods that no controller makes again are evicted.
    type: bool
    default: false
  allow_local_data:
    description: Whether pods with C(emptyDir) volumes are evicted, whose data is lost.
    type: bool
    default: false
  confirm:
    description:
      - For V(drained), the number of hosts whose pods are evicted or whose nodes are cordoned, or their names with
        commas between. Hosts of which neither is left to do do not count; a run that was interrupted may repeat the
        number or names of all O(hosts) that are nodes. A mark on a host makes up for nothing.
      - The text that asks for it says what V(planned) says.
    type: str
  max_unavailable_per_pool:
    description:
      - How many machines of a MachineDeployment may be unavailable at once, a number or a percentage of them (rounded
        down, at least one). Machines that are being maintained, deleted, or not ready already count.
      - V(drained) refuses more. V(planned) makes as many rounds as are needed. V(returned) waits until
        Cluster API finds the Machines healthy, for they count until then. Not set, it is not looked at. Of a
        control plane it is always one.
    type: str
  later:
    description: For V(planned), hosts whose turn is later. Those that an earlier run has left drained, of a pool that
      O(hosts) are of, get into the first rounds, because they count as unavailable.
    type: list
    elements: str
    default: []
  stays_out:
    description: For V(planned), whether hosts of a round are still away when the next one begins, so that all of them
      count together.
    type: bool
    default: false
  wait_timeout_seconds:
    description: How long to wait in all.
    type: int
    default: 900
extends_documentation_fragment:
  - metal3.baremetal.kubernetes
  - metal3.baremetal.confirmation
  - metal3.baremetal.checked_hosts
  - metal3.baremetal.attributes
  - metal3.baremetal.attributes.actiongroup_kubernetes
attributes:
  check_mode:
    support: full
    details:
      - The API servers check the changes by a dry run. No pod is evicted, and nothing is waited for.
  diff_mode:
    support: full
  idempotent:
    support: full
requirements:
  - kubernetes >= 31
  - PyYAML >= 6.0
notes:
  - Which pods are evicted is as with C(kubectl drain).
seealso:
  - module: metal3.baremetal.baremetal_host_action
  - module: metal3.baremetal.machine_action
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Drain the node of a server whose fan is replaced
  metal3.baremetal.host_maintenance:
    hosts: [rack1-03]
    state: drained
    reason: fan
    confirm: "1"

- name: Say what it takes to maintain a rack
  metal3.baremetal.host_maintenance:
    hosts: [rack1-01, rack1-02, rack1-03]
    state: planned
    max_unavailable_per_pool: 25%
  register: plan

- name: Give it back
  metal3.baremetal.host_maintenance:
    hosts: [rack1-03]
    state: returned
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
    node:
      description: Name of its Node, V(null) while it is none.
      type: str
      returned: always
  sample: [{name: rack1-03, cluster: prod, machine: prod-pool-a-7fkq2-x8j5d, node: prod-pool-a-7fkq2-x8j5d}]
checked:
  description:
    - The hosts as they were checked, for the options O(checked) and
      O(metal3.baremetal.baremetal_host_action#module:checked) of what interrupts them afterwards.
  returned: success
  type: list
  elements: dict
  contains:
    name:
      description: Name of the BareMetalHost.
      type: str
    uid:
      description: Its uid.
      type: str
    consumer:
      description: Kind, namespace and name of its consumer, empty for none.
      type: str
    maintained:
      description: Since when it is being maintained, as its mark says, empty for a mark that does not say it; V(null)
        unless O(state=drained), and in check mode.
      type: str
attention:
  description: What stands against it, disruption budgets for example. These lines are warnings, too.
  returned: with O(state=planned)
  type: list
  elements: str
  sample: []
outlook:
  description: What each host loses, how long the last maintenance took, and the rounds when there are several.
  returned: with O(state=planned)
  type: list
  elements: str
  sample: ["rack1-03 (node prod-pool-a-7fkq2-x8j5d of cluster prod): evicts 2 pods: default/web-0, default/web-1"]
rounds:
  description: Names of the hosts that may leave together, one round after another.
  returned: with O(state=planned)
  type: list
  elements: list
  sample: [[rack1-01, rack1-03], [rack1-02]]
late:
  description: Names of the hosts that were not drained, or not Ready, in time. The others are.
  returned: when it failed because of them
  type: list
  elements: str
  sample: [rack1-03]
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

from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.maintenance.module import run_host_maintenance


def main():
    """Run the module."""
    run_host_maintenance()


if __name__ == "__main__":
    main()
