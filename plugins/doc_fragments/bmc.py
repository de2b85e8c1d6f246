# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Options of modules that ask BMCs."""
from __future__ import annotations


class ModuleDocFragment:
    """The options of ``connection_argument_spec`` and ``bmc_argument_spec`` in ``module_utils/_bmc/module.py``."""

    DOCUMENTATION = r"""
options:
  ca_cert:
    description:
      - Path of a file with the certificate authorities that vouch for the BMCs' certificates, by default those of the
        machine that the module runs on.
      - Nothing is sent to a BMC whose certificate they don't vouch for, except where the host's
        C(disable_certificate_verification) says otherwise.
    type: path
  connect_timeout_seconds:
    description: How long a connection may take.
    type: int
    default: 10
  read_timeout_seconds:
    description: How long an answer may take. BMCs are slow, some need half a minute for a list of accounts.
    type: int
    default: 60
  concurrency:
    description: How many BMCs are asked at once.
    type: int
    default: 64
requirements:
  - sushy >= 5.0
  - cryptography >= 42 (to read certificates)
  - ipmitool, a program (for addresses that speak IPMI)
notes:
  - Each account is tried once. A BMC that refuses it is not asked again, so that no account is locked.
  - Servers with the same BMC, credentials and verification share one login.
"""

    HOSTS = r"""
options:
  hosts:
    description:
      - The servers. The entries are those of M(metal3.baremetal.baremetal_host), with only the options named here; the
        filter P(metal3.baremetal.bmc_entries#filter) makes them from an inventory.
    type: list
    elements: dict
    required: true
    suboptions:
      name:
        description: Name of the host.
        type: str
        required: true
      bmc:
        description: Its BMC.
        type: dict
        suboptions:
          address:
            description: Address with a scheme, for example V(redfish-virtualmedia://192.0.2.11/redfish/v1/Systems/1).
            type: str
          username:
            description: User name.
            type: str
          password:
            description: Password.
            type: str
          credentials_name:
            description: Name of a Secret with the credentials. It is not read; without O(hosts[].bmc.username) and
              O(hosts[].bmc.password) only what needs no login is found out.
            type: str
          disable_certificate_verification:
            description: Whether any certificate is taken.
            type: bool
      boot_mac_address:
        description: MAC address of the NIC that it boots from.
        type: str
      boot_mode:
        description: How it boots; UEFI when it is not said.
        type: str
        choices: [UEFI, UEFISecureBoot, legacy]
      ca_cert:
        description: File with the certificate authorities that vouch for the certificate of its BMC, in place of
          that for all; empty for those of the machine that the module runs on.
        type: path
"""

    FIELD_NAMES = r"""
options:
  field_names:
    description:
      - Whether messages name the options of O(hosts), or the inventory variables that
        P(metal3.baremetal.bmc_entries#filter) reads them from.
    type: str
    choices: [options, variables]
    default: options
"""
