#!/usr/bin/python
# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Finds what is out of step between BareMetalHosts and Ironic."""
from __future__ import annotations

DOCUMENTATION = r"""
module: ironic_audit
short_description: Find what is out of step between BareMetalHosts, nodes and ports
version_added: "0.1.0"
description:
  - Reads Ironic's nodes, ports and port groups by one request each and reports what does not fit, with cause and next
    step.
  - >-
    Without O(hosts): a MAC address or a BMC at two nodes, and ports without a node. With O(hosts) also nodes of the
    Bare Metal Operator whose BareMetalHost is gone, hosts whose node is gone, boot MAC addresses that another node has
    as a port, or a node that Ironic made by itself of an unknown machine, boot MAC addresses of two hosts, and hosts
    without the hardware RAID volumes that they were prepared with.
  - Hosts come from M(metal3.baremetal.baremetal_host_info), see the examples. What somebody creates or deletes in
    between may be reported although nothing is inconsistent; O(earlier_findings) leaves that out. It talks to Ironic
    only, but for O(hosts_from).
  - Nothing is changed unless O(repair) names what to repair and O(confirm) repeats how much that is. The playbook
    C(metal3.baremetal.ironic_audit) looks twice, and repairs at the second look.
  - Nothing is deleted when not one node is the node of one of O(hosts), as with the hosts of another cluster or with
    none at all, nor a node that Ironic works with.
  - Ironic takes no precondition with a deletion. Each node or port is read once more immediately before, and left as it
    is when it has changed since it was looked at, or when its host was enrolled since (O(hosts_from)); what changes in
    the milliseconds between the two is not noticed.
options:
  hosts:
    description:
      - C(hosts) as M(metal3.baremetal.baremetal_host_info) returns them, all those of their namespaces. Left out, only
        Ironic itself is looked at.
    type: list
    elements: dict
  namespaces:
    description:
      - Namespaces whose nodes must have a host in O(hosts). By default those of the hosts, so that nodes of namespaces
        that were not read do not count as abandoned. A namespace that has no host left must be named here, unless
        O(all_namespaces) is set.
    type: list
    elements: str
  all_namespaces:
    description:
      - Whether O(hosts) are those of all namespaces, so that each node of the Bare Metal Operator must have a host
        there, also when there is no host at all. O(namespaces) narrows it.
      - It must be the cluster whose operator uses this Ironic; nodes of another cluster's hosts count as
        abandoned.
    type: bool
    default: false
  hosts_from:
    description:
      - The cluster that O(hosts) were read from, which is asked once more for the host of each node, right before the
        node is deleted. A node whose host is there by now, enrolled since O(hosts) were read, is left, and so is one
        whose host cannot be asked for; both are errors of their findings. Without it nobody is asked.
      - Before a port is deleted for V(mac_of_other_node) in O(repair), it is asked whether the host still has this boot
        MAC address, and that of the port's node has not.
      - Needs C(list) of BareMetalHosts, as O(hosts) did.
    type: dict
    suboptions:
      kubeconfig:
        description:
          - Path of the kubeconfig of the cluster. By default the one that M(metal3.baremetal.baremetal_host_info)
            takes.
        type: path
      context:
        description: Context in it.
        type: str
  earlier_findings:
    description:
      - RV(findings) of a run that ended before O(hosts) were read. Only what they have too is reported and repaired, so
        that a host that comes while things are read does not lose its node or port.
    type: list
    elements: dict
  repair:
    description:
      - What to repair. Kinds that are not here have no repair that is right in each case; for C(host_without_node)
        there is nothing to do, as the operator registers the host again.
      - >-
        V(node_without_host) deletes the node, in any provision state that holds by itself; the server is left as it
        is. V(mac_of_other_node) deletes the port at the other node, unless that one's host has the same boot MAC
        address, and is refused while the node has an operation. Both need O(hosts) and O(earlier_findings).
        V(port_without_node) deletes the port. V(host_without_ports) creates a port at the host's node for each NIC that
        its inspection has found, unless the host has a boot MAC address, whose port the operator creates by itself; it
        deletes nothing and asks for no number, and needs O(hosts) and O(earlier_findings), too.
    type: list
    elements: str
    choices: [node_without_host, mac_of_other_node, port_without_node, host_without_ports]
    default: []
  confirm:
    description:
      - How many nodes and ports O(repair) deletes, or their names (of ports the MAC addresses) with commas between.
        Without it nothing is deleted, and the refusal says how many they are and which.
    type: str
extends_documentation_fragment:
  - metal3.baremetal.ironic
  - metal3.baremetal.attributes
attributes:
  check_mode:
    support: full
  diff_mode:
    support: full
  idempotent:
    support: full
seealso:
  - module: metal3.baremetal.baremetal_host_info
  - module: metal3.baremetal.ironic_node
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Read the hosts of all namespaces
  metal3.baremetal.baremetal_host_info:
    all_namespaces: true
  register: bmhs

- name: See what is out of step
  metal3.baremetal.ironic_audit:
    cloud: metal3
    hosts: "{{ bmhs.hosts }}"
    all_namespaces: true
  register: audit

- name: Read the hosts again
  metal3.baremetal.baremetal_host_info:
    all_namespaces: true
  register: bmhs_again

- name: Delete nodes that were left behind
  metal3.baremetal.ironic_audit:
    cloud: metal3
    hosts: "{{ bmhs_again.hosts }}"
    hosts_from: {}
    all_namespaces: true
    earlier_findings: "{{ audit.findings }}"
    repair: [node_without_host]
    confirm: 2

- name: Look at a standalone Ironic
  metal3.baremetal.ironic_audit:
    endpoint: https://192.0.2.1:6385
"""

RETURN = r"""
findings:
  description: What is out of step.
  returned: success
  type: list
  elements: dict
  contains:
    kind:
      description:
        - V(node_without_host), V(host_without_node), V(host_without_ports) (its node has none, as after the loss of
          Ironic's database, although NICs are known), V(raid_volumes_differ) (a RAID controller's task failed at a
          boot, so that Ironic has found other hardware volumes than the host was prepared with),
          V(host_of_former_node) (it names a node that is gone while
          another has its name), V(mac_of_other_node), V(mac_of_discovered_node), V(boot_mac_twice), V(mac_twice),
          V(bmc_twice) or V(port_without_node). Of all at once V(nodes_lost) (no host has its node any more, as after
          the loss of Ironic's database) or V(no_node_of_hosts) (nodes and hosts have nothing to do with each other).
      type: str
      returned: always
    subject:
      description: What it is about.
      type: str
      returned: always
    cause:
      description: What is out of step.
      type: str
      returned: always
    next_step:
      description: What to do.
      type: str
      returned: always
    object:
      description: UUID of the node or port that a repair deletes or completes, empty when there is no repair.
      type: str
      returned: always
    repaired:
      description: Whether it was (in check mode, would be) repaired.
      type: bool
      returned: always
    error:
      description: Why the repair failed; empty when it did not.
      type: str
      returned: always
  sample:
    - kind: node_without_host
      subject: node metal3~rack1-01
      cause: BareMetalHost metal3/rack1-01 is not there
      next_step: enrol the host again, or delete the node (repair node_without_host)
      object: 1be26c0b-03f2-4d2e-ae87-c02d7f33c123
      repaired: false
      error: ""
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
  sample: [{"object": "node server-1", "action": "updated"}]
"""

from ansible_collections.metal3.baremetal.plugins.module_utils._ironic.module import run_ironic_audit


def main():
    """Run the module."""
    run_ironic_audit()


if __name__ == "__main__":
    main()
