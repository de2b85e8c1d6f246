#!/usr/bin/python
# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Replaces the passwords by which BMCs are logged in to."""
from __future__ import annotations

DOCUMENTATION = r"""
module: bmc_account
short_description: Replace the passwords of BMCs' accounts
version_added: "0.1.0"
description:
  - Logs in to each BMC with the present password, finds the account of that user name, sets the new password by Redfish
    or IPMI, as the address says, and proves it by a login. When that login is refused, the old password is set again.
  - A BMC that has the new password already is left as it is. So a run that was interrupted is taken up by the next one.
  - Each password is tried once for each account, so that none is locked.
  - All BMCs are logged in to and all accounts found before the first password is replaced. What is in the way at one of
    them ends the run with nothing changed.
  - It knows nothing of Kubernetes. For servers that are enrolled use M(metal3.baremetal.host_bmc_credentials), which
    gives the new password to the Bare Metal Operator too.
options:
  hosts:
    description:
      - The servers. Those that are reached by one account of one BMC get one password.
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
        required: true
        suboptions:
          address:
            description: Address with a scheme, for example V(redfish://192.0.2.11/redfish/v1/Systems/1).
            type: str
            required: true
          username:
            description: User name of the account that logs in and whose password is replaced.
            type: str
            required: true
          password:
            description: The password that the account has, or had before a run that was interrupted.
            type: str
            required: true
          new_password:
            description:
              - The password that it is to have, 8 to 127 letters, digits and signs of ASCII without the user name. Many
                BMCs take no more than 20 characters. By IPMI 8 to 20 letters, digits and of the signs V(-), V(_) and
                V(.).
            type: str
            required: true
          disable_certificate_verification:
            description: Whether any certificate is taken, for all hosts that are reached by one account the same.
            type: bool
      ca_cert:
        description: File with the certificate authorities that vouch for the certificate of its BMC, in place of
          O(ca_cert); empty for those of the machine that the module runs on. Hosts that are reached by one account
          have the same.
        type: path
  confirm:
    description:
      - The number of hosts whose BMC gets another password, or their names with commas between. Hosts whose BMC has the
        new password already do not count.
    type: str
extends_documentation_fragment:
  - metal3.baremetal.bmc
  - metal3.baremetal.bmc.field_names
  - metal3.baremetal.confirmation
  - metal3.baremetal.attributes
attributes:
  check_mode:
    support: full
    details:
      - Logs in and finds the accounts; what the BMCs say of the length of passwords is checked.
  diff_mode:
    support: full
    details:
      - Says whose password is replaced, without passwords.
  idempotent:
    support: full
notes:
  - Accounts that BMCs take from a directory such as LDAP are refused.
  - By IPMI the program ipmitool does it, which gets passwords by its environment and a file, never as an argument.
seealso:
  - module: metal3.baremetal.bmc_preflight
  - module: metal3.baremetal.host_bmc_credentials
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Replace the password that a server was delivered with
  metal3.baremetal.bmc_account:
    hosts:
      - name: rack1-01
        bmc:
          address: redfish-virtualmedia://192.0.2.11/redfish/v1/Systems/1
          username: admin
          password: "{{ vault_delivered_password }}"
          new_password: "{{ vault_bmc_password }}"
    confirm: "1"

- name: The same for all servers of the inventory, which have the variable bmc_new_password
  metal3.baremetal.bmc_account:
    hosts: "{{ hostvars | metal3.baremetal.bmc_entries(groups['baremetal'], true, true) }}"
    field_names: variables
    confirm: "{{ metal3_confirm }}"
  delegate_to: localhost
  run_once: true
"""

RETURN = r"""
hosts:
  description: What became of each, in the order of O(hosts).
  returned: when all BMCs could be logged in to
  type: list
  elements: dict
  contains:
    name:
      description: Name of the host.
      type: str
      returned: always
    status:
      description:
        - V(changed), V(unchanged) when the new password counted already, V(refused) by the BMC, V(restored) when the
          new one let nobody in and the old one was set again, V(unproven) when the BMC did not answer to the proof,
          V(lost) when it accepts neither, V(failed) when nothing was tried, or the BMC said nothing of the new one and
          the old one counts.
      type: str
      returned: always
    changed:
      description: Whether its password was replaced, or would be.
      type: bool
      returned: always
    failed:
      description: Whether the new password does not count, or may not.
      type: bool
      returned: always
    error:
      description: What the BMC said and what to do, empty when the new password counts.
      type: str
      returned: always
  sample:
    - name: rack1-01
      status: changed
      changed: true
      failed: false
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
  description: What the run had stored before it failed.
  returned: when it failed after something was stored
  type: list
  elements: dict
  contains:
    object:
      description: The account, as messages name it.
      type: str
    action:
      description: What became of it.
      type: str
  sample: [{"object": "account admin of https://192.0.2.11:443", "action": "updated"}]
"""

from ansible_collections.metal3.baremetal.plugins.module_utils._bmc.account_module import run_bmc_account


def main():
    """Run the module."""
    run_bmc_account()


if __name__ == "__main__":
    main()
