# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The description of a provisioning network."""
from __future__ import annotations


class ModuleDocFragment:
    """The options of ``description_options`` in ``module_utils/_network/module.py``."""

    DOCUMENTATION = r"""
options:
  name:
    description: Name of the interface, at most 15 characters.
    type: str
    required: true
  kind:
    description: What the interface is. Any kind but V(ethernet) is made.
    type: str
    choices: [ethernet, bridge, vlan, bond]
    default: ethernet
  ports:
    description: Interfaces that belong to a bridge or bond, or the one that carries a VLAN.
    type: list
    elements: str
    default: []
  vlan:
    description: Number of the VLAN, 1 to 4094. Required for O(kind=vlan).
    type: int
  bond_mode:
    description: How a bond uses its ports, by default V(active-backup).
    type: str
    choices: [active-backup, 802.3ad, balance-xor, balance-alb, balance-tlb, balance-rr, broadcast]
  mtu:
    description: Largest packet in bytes, 1280 to 9216. Without it the system's own stays.
    type: int
  addresses:
    description:
      - Addresses of this machine with the length of their networks, for example V(172.22.0.1/24). At least one.
      - None for O(kind=vlan) and O(kind=bond) that are ports of a bridge or carry VLANs, without O(gateway) and
        O(dhcp). A warning says that nothing uses such an interface yet.
    type: list
    elements: str
    default: []
  gateway:
    description:
      - Router of the network, inside one of O(addresses). The machine's default route goes there.
      - DHCP names it to servers as the router of ranges that have none of their own.
    type: str
  dhcp:
    description: What DHCP serves on this network, by dnsmasq. Without it there is no DHCP.
    type: dict
    suboptions:
      ranges:
        description: Ranges of addresses to lend. At least one.
        type: list
        elements: dict
        default: []
        suboptions:
          first:
            description: First address.
            type: str
            required: true
          last:
            description: Last address.
            type: str
            required: true
          network:
            description: Network behind a DHCP relay, for example V(10.1.0.0/24); by default the one of O(addresses).
            type: str
          router:
            description: IPv4 router of the range.
            type: str
      hosts:
        description: Servers that are known by the MAC address of the card that boots.
        type: list
        elements: dict
        default: []
        suboptions:
          name:
            description:
              - Host name that DHCP gives.
              - Not given is one that dnsmasq takes for something else, V(ignore), V(infinite), or a number, maybe with
                a letter of a unit of time behind it, as V(101) or V(3d).
            type: str
          mac:
            description: MAC address.
            type: str
            required: true
          addresses:
            description:
              - Addresses that are kept for it.
              - Firmware that boots by IPv6 takes one of a range for what it boots, and a kept one for its own network.
                The agent and the system have other identities by DHCPv6, and need a second and a third kept address
                until the leases of before have ended.
            type: list
            elements: str
            default: []
      unknown_hosts:
        description: Whether other machines are answered, too.
        type: bool
        default: false
      lease_seconds:
        description: How long an address is lent, at least 120.
        type: int
        default: 3600
      dns_servers:
        description: Addresses of name servers.
        type: list
        elements: str
        default: []
      ntp_servers:
        description: Addresses of time servers.
        type: list
        elements: str
        default: []
      tftp_root:
        description: Folder with boot loaders, which TFTP then serves.
        type: str
      loaders:
        description:
          - Files below O(dhcp.tftp_root) by the firmware that asks.
        type: dict
        suboptions:
          bios:
            description: Of BIOS; by default V(undionly.kpxe).
            type: str
          x86_64:
            description: Of UEFI on x86-64; by default V(snponly.efi).
            type: str
          arm64:
            description: Of UEFI on ARM; by default V(snponly-arm64.efi).
            type: str
      ipxe_script_url:
        description: What iPXE reads, for example Ironic's V(http://172.22.0.1:6180/boot.ipxe).
        type: str
      http_boot_url:
        description:
          - URL of the boot loader for firmware that boots by HTTP.
          - It is given by DHCPv6 too, where the network has an address of IPv6, unless its host is an address of IPv4.
        type: str
requirements:
  - root
  - Linux with iproute2
"""
