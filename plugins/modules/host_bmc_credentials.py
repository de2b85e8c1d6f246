#!/usr/bin/python
# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Replaces the passwords of hosts' BMCs, on the BMCs and in Kubernetes."""
from __future__ import annotations

DOCUMENTATION = r"""
module: host_bmc_credentials
short_description: Replace the passwords of hosts' BMCs, on the BMC and in Kubernetes
version_added: "0.1.0"
description:
  - For each host the new password is set on the BMC by Redfish or IPMI, proven by a login, written to the credentials
    Secret of the BareMetalHost, and taken by the Bare Metal Operator (BMO), which hands it to Ironic. One host goes
    first, the others follow in batches; a batch with a failure is the last one. Servers go on running.
  - Before anything is changed all BMCs are logged in to, all accounts found, and all writes of Secrets tried. What is
    in the way at one host ends the run with nothing changed.
  - A run that was interrupted anywhere is taken up by the next one with the same new passwords. It finds out which
    password a BMC accepts, by one attempt with each of two, so that no account is locked.
  - Of two runs at once, one replaces the password of a BMC, and the other one is refused. Until its Secret has the new
    password, a Secret C(<its name>-rotation) says from which machine that is done, and keeps that password.
  - Hosts that share an account of a BMC, or a Secret, get one password and are changed together. A run that has only
    some of them is refused.
  - Hosts that are locked, paused, detached, being deployed, inspected or switched on or off are refused.
  - When the module runs on the controller, progress is printed while it waits.
options:
  namespace:
    description: Namespace of the hosts.
    type: str
    default: metal3
  hosts:
    description:
      - The hosts. The filter P(metal3.baremetal.bmc_entries#filter) makes the entries from an inventory.
    type: list
    elements: dict
    required: true
    suboptions:
      name:
        description: Name of the BareMetalHost.
        type: str
        required: true
      bmc:
        description: Its BMC.
        type: dict
        required: true
        suboptions:
          address:
            description: Address with a scheme. It must be that of the BareMetalHost, so that whoever can write that
              object can not have passwords sent elsewhere.
            type: str
            required: true
          username:
            description: User name; when it is given it must be that of the Secret.
            type: str
          password:
            description: A password that the account may have, beside that of the Secret.
            type: str
          new_password:
            description:
              - The password that the account is to have, 8 to 127 letters, digits and signs of ASCII without the user
                name. Many BMCs take no more than 20 characters. By IPMI 8 to 20 letters, digits and of the signs V(-),
                V(_) and V(.).
              - Without it O(password_file) is needed.
            type: str
          credentials_name:
            description: Name of a Secret. It has no effect, the BareMetalHost names it.
            type: str
          disable_certificate_verification:
            description: Whether any certificate is taken, for all hosts that are reached by one account the same.
            type: bool
      ca_cert:
        description: File with the certificate authorities that vouch for the certificate of its BMC, in place of
          O(bmc_ca_cert); empty for those of the machine that the module runs on. Hosts that are reached by one account
          have the same.
        type: path
  password_file:
    description:
      - Path of a file for the passwords of hosts without O(hosts[].bmc.new_password). Those that it has are used,
        others are generated and added to it before the first BMC is changed. It has mode 0600. When a BMC has the
        password of a rotation already that was interrupted elsewhere, that one is added to it instead.
      - A JSON document with the variable C(bmc_new_passwords), passwords by host, which C(ansible-playbook -e @FILE)
        reads. For another rotation name another file.
    type: path
  password_length:
    description: Number of characters of generated passwords, 12 to 64. IPMI takes 20.
    type: int
    default: 20
  batch_size:
    description: How many accounts, or groups of hosts that share one, are changed side by side after the first.
    type: int
    default: 10
  take_over:
    description:
      - Name of the machine on which a rotation of these hosts was begun that was interrupted, to go on with it from
        this one. Without it that is refused, since the other run may be at it still. On the machine itself it is not
        needed. Containers have a name of their own for each run.
    type: str
  confirm:
    description: The number of hosts whose BMC gets another password, or their names with commas between.
    type: str
  bmc_ca_cert:
    description:
      - Path of a file with the certificate authorities that vouch for the BMCs' certificates, by default those of the
        machine that the module runs on.
    type: path
  connect_timeout_seconds:
    description: How long a connection to a BMC may take.
    type: int
    default: 10
  read_timeout_seconds:
    description: How long an answer of a BMC may take.
    type: int
    default: 60
  concurrency:
    description: How many BMCs are logged in to at once before anything is changed.
    type: int
    default: 64
  wait:
    description: Whether to wait until BMO has taken the new password of each host before the next batch.
    type: bool
    default: true
  wait_timeout_seconds:
    description: How long to wait for that, for each batch.
    type: int
    default: 600
  error_limit:
    description: How many errors of a host end the wait, where BMO's next attempt may succeed.
    type: int
    default: 3
extends_documentation_fragment:
  - metal3.baremetal.bmc.field_names
  - metal3.baremetal.kubernetes
  - metal3.baremetal.confirmation
  - metal3.baremetal.attributes
  - metal3.baremetal.attributes.actiongroup_kubernetes
attributes:
  check_mode:
    support: full
    details:
      - Logs in at the BMCs, finds the accounts and lets the API server try the writes; nothing is changed and no
        password is generated for keeps.
  diff_mode:
    support: full
    details:
      - Says which accounts and Secrets get another password, without passwords.
  idempotent:
    support: full
requirements:
  - kubernetes >= 31
  - PyYAML >= 6.0
  - sushy >= 5.0
  - cryptography >= 42 (to read certificates)
  - ipmitool, a program (for addresses that speak IPMI)
notes:
  - BMO calls credentials good when Ironic has taken them. Ironic uses them at its next request to the BMC, with the
    same user name and password that the module has logged in with.
  - From the moment when the BMC has the new password until Ironic has it, Ironic's own requests are refused, which is a
    matter of seconds. Each counts as a wrong password at BMCs that lock accounts; after how many they do
    M(metal3.baremetal.bmc_preflight) says.
  - Sessions that others have at a BMC may end with a change of the password.
seealso:
  - module: metal3.baremetal.bmc_account
  - module: metal3.baremetal.bmc_preflight
  - module: metal3.baremetal.baremetal_host
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Give all BMCs the passwords that a vault has as bmc_new_password
  metal3.baremetal.host_bmc_credentials:
    hosts: "{{ hostvars | metal3.baremetal.bmc_entries(groups['baremetal'], true, true) }}"
    field_names: variables
    confirm: "{{ metal3_confirm }}"
  delegate_to: localhost
  run_once: true

- name: Give two BMCs random passwords
  metal3.baremetal.host_bmc_credentials:
    hosts:
      - name: rack1-01
        bmc: {address: "redfish://192.0.2.11/redfish/v1/Systems/1"}
      - name: rack1-02
        bmc: {address: "redfish://192.0.2.12/redfish/v1/Systems/1"}
    password_file: ~/bmc-passwords-2026-11.json
    confirm: "2"
"""

RETURN = r"""
hosts:
  description: What became of each, in the order of O(hosts).
  returned: when nothing was refused
  type: list
  elements: dict
  contains:
    name:
      description: Name of the BareMetalHost.
      type: str
      returned: always
    secret:
      description: Name of its credentials Secret.
      type: str
      returned: always
    changed:
      description: Whether its BMC or its Secret got another password, or would get one.
      type: bool
      returned: always
    failed:
      description: Whether something is left to do.
      type: bool
      returned: always
    error:
      description: How far it came and what to do, empty when the BMC, the Secret and BMO have the new password.
      type: str
      returned: always
  sample:
    - name: rack1-01
      secret: rack1-01-bmc-secret
      changed: true
      failed: false
      error: ""
seconds:
  description: How long the module worked, in seconds.
  returned: when nothing was refused
  type: float
  sample: 12.4
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
      description: The account or the object, as messages name it.
      type: str
    action:
      description: What became of it, for example V(updated).
      type: str
  sample: [{"object": "Secret metal3/rack1-01-bmc-secret", "action": "updated"}]
"""

from ansible_collections.metal3.baremetal.plugins.module_utils._host.rotation.rotation_module import (
    run_host_bmc_credentials,
)


def main():
    """Run the module."""
    run_host_bmc_credentials()


if __name__ == "__main__":
    main()
