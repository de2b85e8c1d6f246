#!/usr/bin/python
# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Asks from a machine what it must reach."""
from __future__ import annotations

DOCUMENTATION = r"""
module: network_check
short_description: Ask from a machine what it must reach by TCP, HTTP, TFTP and DHCP
version_added: "0.1.0"
description:
  - Run it where the question matters, for example on a machine of the provisioning network, or on a node. It asks all
    at once and changes nothing.
  - A file by TFTP is read up to its first block. DHCP servers are asked without a lease being taken, and by IPv6 with
    them the routers of the wire.
  - With O(from_pods) it is asked from short-lived pods of a cluster, for example from where the Bare Metal Operator
    runs.
options:
  tcp:
    description: Ports to connect to.
    type: list
    elements: dict
    default: []
    suboptions:
      name:
        description: What the port is for, which messages name.
        type: str
      host:
        description: Address or name.
        type: str
        required: true
      port:
        description: Number of the port.
        type: int
        required: true
      reachable:
        description: Whether a connection must come about. V(false) checks that a firewall or the service refuses it.
        type: bool
        default: true
  tftp:
    description: Files to read by TFTP.
    type: list
    elements: dict
    default: []
    suboptions:
      name:
        description: What the file is for, which messages name.
        type: str
      host:
        description: Address or name.
        type: str
        required: true
      path:
        description: Path of the file below the server's folder.
        type: str
        required: true
      port:
        description: The server's port.
        type: int
        default: 69
  http:
    description: Files to read by HTTP or HTTPS. A port that answers may be a proxy's, a portal's or another machine's.
    type: list
    elements: dict
    default: []
    suboptions:
      name:
        description: What the file is for, which messages name.
        type: str
      url:
        description: URL of the file. A login and a query in it are shown nowhere.
        type: str
        required: true
      sha256:
        description: SHA-256 of the file, which is read as a whole then, up to 64 MiB. Without it any answer will do.
        type: str
      ca_file:
        description: File on the machine that asks, with the authority of the server's certificate; the system's by
          default.
        type: path
  dhcp:
    description: Interfaces of this machine on which DHCP servers and routers are asked. Needs root.
    type: list
    elements: dict
    default: []
    suboptions:
      name:
        description: What is asked for, which messages name.
        type: str
      interface:
        description: Name of the interface.
        type: str
        required: true
      mac:
        description: MAC address of the client for whom is asked; by default one that nobody knows.
        type: str
      ipv6:
        description:
          - Whether DHCPv6 servers and routers are asked, too. By default they are when the interface has an address of
            IPv6 besides the link-local one, or when a server or router of IPv6 is named.
        type: bool
      expected_servers:
        description:
          - Addresses of servers that must answer; of DHCPv6 servers their DUIDs or their link-local addresses, as the
            failure names them. This machine's own server is never among the answers.
        type: list
        elements: str
        default: []
      allowed_servers:
        description: Servers that may answer, named as in O(dhcp[].expected_servers).
        type: list
        elements: str
        default: []
      allowed_routers:
        description:
          - Link-local addresses of routers whose router advertisements are allowed, such as that of the site's own
            router, and of the machine whose dnsmasq serves the network.
        type: list
        elements: str
        default: []
      seconds:
        description: How long servers and routers may take to answer.
        type: int
        default: 5
  from_pods:
    description:
      - Asks from short-lived pods of a cluster and not from this machine, by O(tcp), O(tftp) and O(http). They have no
        right in the cluster and are removed again.
      - URLs with a login or a query are refused, because who may read pods would read them. O(http[].ca_file) is a file
        on this machine.
      - NetworkPolicies that choose other pods by their labels do not count. In check mode no pod is created, and
        nothing is asked.
  timeout_seconds:
    description: How long one connection or file may take.
    type: int
    default: 5
  fail:
    description: Whether the module fails when a check does. Else RV(problems) says it.
    type: bool
    default: true
extends_documentation_fragment:
  - metal3.baremetal.short_pod.from_pods
  - metal3.baremetal.attributes
  - metal3.baremetal.attributes.info_module
seealso:
  - module: metal3.baremetal.provisioning_network
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: What a server of the provisioning network must reach
  metal3.baremetal.network_check:
    tcp:
      - {name: Ironic, host: 172.22.0.1, port: 6385}
      - {name: images, host: 172.22.0.1, port: 6180}
    tftp:
      - {host: 172.22.0.1, path: snponly.efi}
    http:
      - url: http://172.22.0.1:6180/boot.ipxe
        sha256: "{{ lookup('ansible.builtin.file', '/srv/http/boot.ipxe', rstrip=false) | hash('sha256') }}"
    dhcp:
      - {interface: eno2, mac: "00:5c:52:31:3a:01", expected_servers: [172.22.0.1]}

- name: What the operator's pods must reach, from each of two nodes
  metal3.baremetal.network_check:
    tcp:
      - {name: Ironic, host: ironic.example.org, port: 6385}
    from_pods:
      kubeconfig: ~/.kube/management
      namespace: baremetal-operator-system
      image: quay.io/metal3-io/ironic:v35.0.0
      nodes: [node-1, node-2]
"""

RETURN = r"""
checks:
  description: Each question in order, first those by TCP, then TFTP, HTTP and DHCP.
  returned: when the input was accepted
  type: list
  elements: dict
  contains:
    kind:
      description: V(tcp), V(tftp), V(http) or V(dhcp).
      type: str
    target:
      description: What was asked.
      type: str
    name:
      description: As in the entry, or empty.
      type: str
    ok:
      description: Whether the answer is the wanted one.
      type: bool
    found:
      description: What came back.
      type: str
    asked_from:
      description: The pod and its node, with O(from_pods).
      type: str
  sample: [{kind: tcp, target: "172.22.0.1:6385", name: Ironic, ok: true, found: a connection}]
problems:
  description: What failed; or what was refused before anything was asked.
  returned: always
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

from ansible_collections.metal3.baremetal.plugins.module_utils._network.module import run_network_check


def main():
    """Run the module."""
    run_network_check()


if __name__ == "__main__":
    main()
