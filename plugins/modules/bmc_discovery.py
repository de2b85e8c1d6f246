#!/usr/bin/python
# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Looks for BMCs at addresses that the user gives."""
from __future__ import annotations

DOCUMENTATION = r"""
module: bmc_discovery
short_description: Look for BMCs at given addresses
version_added: "0.1.0"
description:
  - Asks addresses, ranges and networks for BMCs, many at once, logs in where a Redfish service answers, and returns the
    servers behind with the BMC address to write, NICs, model and serial number. Nothing is changed.
  - Only what O(targets) names is asked.
  - A host that refuses the credentials, or whose certificate no known authority signed, is not asked again with these
    credentials, on its other ports too.
options:
  targets:
    description:
      - Where to look, and with what credentials.
      - Targets may overlap. A host that several name with the same credentials is gone through once, in the order of
        the targets; a port that two of them name is asked as the first one says, so that what is special (for example
        O(targets[].disable_certificate_verification)) belongs before the network that it is part of. Other credentials
        are tried on their own.
    type: list
    elements: dict
    required: true
    suboptions:
      addresses:
        description:
          - Names, IP addresses, ranges (V(192.0.2.10-192.0.2.50) or V(192.0.2.10-50)) and networks (V(192.0.2.0/24)).
        type: list
        elements: str
        required: true
      ports:
        description: Ports to try one after the other, by default the standard one of each transport.
        type: list
        elements: int
        default: []
      transports:
        description: Transports to try one after the other. With V(http), credentials cross the network in clear.
        type: list
        elements: str
        choices: [https, http]
        default: [https]
      username:
        description: User name.
        type: str
      password:
        description: Password.
        type: str
      disable_certificate_verification:
        description: Whether any certificate is taken.
        type: bool
        default: false
      ipmi:
        description: Whether hosts without a Redfish service are asked by IPMI, which reports less of a server.
        type: bool
        default: false
      ipmi_port:
        description: UDP port for O(targets[].ipmi).
        type: int
        default: 623
  schemes:
    description:
      - Schemes that may be chosen for a server, best first. The first that fits is taken, the recommended one if none
        does.
      - Without them, the recommended one is always taken.
    type: list
    elements: str
    default: []
    choices:
      - redfish
      - ilo5-redfish
      - idrac-redfish
      - redfish-virtualmedia
      - ilo5-virtualmedia
      - idrac-virtualmedia
      - redfish-uefihttp
  address_limit:
    description: How many addresses there may be in all. A larger network is refused.
    type: int
    default: 1024
  allowed_addresses:
    description:
      - Names, addresses, ranges and networks, among which all of O(targets[].addresses) must be. Otherwise nothing is
        asked. An empty list allows none, and without this option all are allowed.
      - For tasks whose O(targets[].addresses) come from somebody who does not have the credentials, such as whoever
        answers the survey of a job. A server of theirs would get the password.
      - A name is allowed only as itself, since where it leads to may change.
    type: list
    elements: str
  machines:
    description:
      - What machines reported of themselves, as M(metal3.baremetal.ironic_discovery) returns it. Of the addresses that
        O(targets) name, only those are asked then that a machine reported as its BMC's, so that large networks may be
        named; and only servers are returned that are one of these machines.
      - A report may be false. An address that O(targets) do not name is not asked and gets no credentials. A server is
        one of these machines when its BMC names one of the machine's network cards, or, where it names none, its serial
        number.
      - The card that a machine booted from is the server's only boot MAC candidate, when its BMC names this card.
      - Where a BMC names no card, none is taken from the report. A server's BMC address and serial number can be
        learned on the provisioning network, and whoever reports them with a card of its own would be booted in the
        server's place. RV(lines) has what was reported; compare it with the server, and set its boot MAC address
        yourself.
    type: list
    elements: dict
  field_names:
    description: Whether messages name the options of this module, or the variables of the role C(discover).
    type: str
    choices: [options, variables]
    default: options
extends_documentation_fragment:
  - metal3.baremetal.bmc
  - metal3.baremetal.attributes
  - metal3.baremetal.attributes.info_module
seealso:
  - module: metal3.baremetal.ironic_discovery
  - module: metal3.baremetal.discovered_inventory
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Look for BMCs in the management network of a rack
  metal3.baremetal.bmc_discovery:
    targets:
      - addresses: [192.0.2.0/26]
        username: admin
        password: "{{ vault_bmc_password }}"
    ca_cert: /etc/ssl/certs/site-ca.pem
    connect_timeout_seconds: 3
  register: found
"""

RETURN = r"""
servers:
  description: The servers that were found, each once.
  returned: success
  type: list
  elements: dict
  contains:
    address:
      description: BMC address for the inventory.
      type: str
      returned: always
      sample: redfish-virtualmedia://192.0.2.11/redfish/v1/Systems/1
    scheme:
      description: Its scheme.
      type: str
      returned: always
    reasons:
      description: Why this scheme.
      type: list
      elements: str
      returned: always
    bmc:
      description: Host and port of the BMC.
      type: dict
      returned: always
    system_path:
      description: Path of the system, empty by IPMI.
      type: str
      returned: always
    manufacturer:
      description: Vendor.
      type: str
      returned: always
    model:
      description: Model.
      type: str
      returned: always
    serial_number:
      description: Serial number.
      type: str
      returned: always
    sku:
      description: Stock-keeping unit; Dell's service tag.
      type: str
      returned: always
    uuid:
      description: UUID of the system.
      type: str
      returned: always
    hostname:
      description: Host name that the BMC has of the system.
      type: str
      returned: always
    bmc_model:
      description: Model of the BMC.
      type: str
      returned: always
    nics:
      description: NICs with a MAC address.
      type: list
      elements: dict
      returned: always
      sample: [{name: NIC.1, mac: "00:5c:52:31:3a:01", link: LinkUp}]
    boot_mac_candidates:
      description: MAC addresses that the server may boot from, those with a link if there are any.
      type: list
      elements: str
      returned: always
nodes:
  description: UUIDs of the nodes of those O(machines) that the servers are.
  returned: success
  type: list
  elements: str
refusals:
  description: What answered, but could not be read.
  returned: success
  type: list
  elements: dict
  sample: [{host: 192.0.2.12, port: 443, stage: login, text: HTTP 401}]
lines:
  description: >-
    What was refused, what was silent, and for which servers only O(machines) name network cards, as lines of text.
  returned: success
  type: list
  elements: str
problems:
  description:
    - What is wrong with the outcome of a run. These are BMCs whose certificate could not be verified, that refused the
      login, or whose systems could not be read; and when no server was found and nothing else was wrong, that.
    - A host that answers without a Redfish service is in RV(refusals) only.
    - With O(machines), each machine that is none of the servers; that no machine was given is not wrong.
    - When the input was refused, what was refused; no BMC was asked then.
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
silent:
  description: How many addresses did not answer, each counted once.
  returned: success
  type: int
"""

from ansible_collections.metal3.baremetal.plugins.module_utils._bmc.discovery_module import run_bmc_discovery


def main():
    """Run the module."""
    run_bmc_discovery()


if __name__ == "__main__":
    main()
