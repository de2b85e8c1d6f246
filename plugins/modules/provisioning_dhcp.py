#!/usr/bin/python
# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes dnsmasq's file for a provisioning network, when nobody else answers DHCP there."""
from __future__ import annotations

DOCUMENTATION = r"""
module: provisioning_dhcp
short_description: Write the file by which dnsmasq serves a provisioning network
version_added: "0.1.0"
description:
  - Renders addresses, known servers, boot loaders by firmware and TFTP for C(dnsmasq --conf-file). The role
    C(provisioning_network) starts dnsmasq with it.
  - Before it writes, it asks the wire for other DHCP servers, as the known servers and as this machine. One that
    answers is named with its address and its card, and nothing is written.
  - With a range of IPv6 it asks by DHCPv6, too, and for routers, because dnsmasq sends router advertisements then. A
    DHCPv6 server is named with its DUID, its link-local address and its card, a router with the latter two.
  - dnsmasq itself tries the file before it is written.
options:
  config_file:
    description: Absolute path of dnsmasq's configuration file, which is written.
    type: path
    required: true
  leases_file:
    description: Where dnsmasq keeps its leases, an absolute path. Its folder is made.
    type: path
    required: true
  log_file:
    description:
      - Where dnsmasq writes what it lends and which files it sends by TFTP, an absolute path in a folder that is there.
        Without it that goes to the system's log.
      - The option C(boot_logs) of M(metal3.baremetal.baremetal_host) reads such a file.
    type: path
  dnsmasq:
    description: Path or name of dnsmasq.
    type: path
    default: dnsmasq
  allowed_servers:
    description:
      - Addresses of other DHCP servers that are allowed on this network; of DHCPv6 servers their DUIDs or their
        link-local addresses, as the refusal names them.
    type: list
    elements: str
    default: []
  allowed_routers:
    description:
      - Link-local addresses of routers whose router advertisements are allowed on this network, such as that of the
        site's own router.
      - dnsmasq advertises no default route. Servers that must leave the network by IPv6 need such a router.
    type: list
    elements: str
    default: []
  probe_seconds:
    description:
      - How long others may take to answer. dnsmasq takes 3 seconds, because it first asks whether an address is free;
        routers may take 3 seconds, too.
      - V(0) asks nobody.
    type: int
    default: 5
extends_documentation_fragment:
  - metal3.baremetal.provisioning_network
  - metal3.baremetal.attributes
attributes:
  check_mode:
    support: full
    details:
      - Asks for other servers and routers, unless the interface is yet to be made.
  diff_mode:
    support: full
  idempotent:
    support: full
seealso:
  - module: metal3.baremetal.provisioning_network
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: DHCP and boot loaders for the servers of a rack
  metal3.baremetal.provisioning_dhcp:
    name: provisioning
    addresses: [172.22.0.1/24]
    dhcp:
      ranges:
        - {first: 172.22.0.10, last: 172.22.0.100}
      hosts:
        - {name: rack1-01, mac: "00:5c:52:31:3a:01"}
      tftp_root: /srv/tftp
      ipxe_script_url: http://172.22.0.1:6180/boot.ipxe
    config_file: /etc/metal3.baremetal/dnsmasq-provisioning.conf
    leases_file: /var/lib/metal3.baremetal/dnsmasq/provisioning.leases
    log_file: /var/log/dnsmasq-provisioning.log
"""

RETURN = r"""
config_file:
  description: The file.
  returned: success
  type: str
  sample: /etc/metal3.baremetal/dnsmasq-provisioning.conf
program:
  description: Path of dnsmasq.
  returned: success
  type: str
  sample: /usr/sbin/dnsmasq
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
"""

from ansible_collections.metal3.baremetal.plugins.module_utils._network.module import run_provisioning_dhcp


def main():
    """Run the module."""
    run_provisioning_dhcp()


if __name__ == "__main__":
    main()
