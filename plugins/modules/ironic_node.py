#!/usr/bin/python
# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Registers, changes and deletes Ironic's nodes."""
from __future__ import annotations

DOCUMENTATION = r"""
module: ironic_node
short_description: Register, change and delete nodes of Ironic
version_added: "0.1.0"
description:
  - Takes a list of nodes and creates or changes them, their ports and their traits in Ironic. It needs no Kubernetes.
  - The whole list is checked before anything is written, by itself and against what is there; all problems are reported
    at once. Current nodes, ports and drivers are read by one request each, only differences are written, side by side.
  - Options that are left out leave their field as it is; an empty text resets it. Of O(nodes[].driver_info),
    O(nodes[].properties), O(nodes[].extra) and O(nodes[].instance_info) only the given keys are written, so that what
    inspection found stays; a key with V(null) is removed.
  - A node that is named C(<namespace>~<host>) belongs to a BareMetalHost, and is refused unless O(force_nodes) names
    it. So is a node with the BMC or a MAC address of another node, as both would switch and erase one server.
  - To move nodes between provision states see M(metal3.baremetal.ironic_node_action).
options:
  nodes:
    description: The nodes, with the fields of Ironic's API.
    type: list
    elements: dict
    required: true
    suboptions:
      name:
        description: Name of the node.
        type: str
        required: true
      uuid:
        description:
          - UUID of the node. A node that has it under another name is renamed; a new node gets it.
          - With O(nodes[].state=absent) only the node that has it is deleted, whatever its name. Another one of the
            name is refused, since this may be another Ironic than the one that is meant.
        type: str
      must_exist:
        description: Whether a node that is not there is refused, since this may be another Ironic.
        type: bool
        default: false
      state:
        description:
          - Whether the node must exist.
          - Only a node that is C(enroll), C(manageable) or C(available) and has no instance is deleted. One that is in
            maintenance or named in O(force_nodes) is deleted in any state; its server is left as it is.
        type: str
        choices: [present, absent]
        default: present
      driver:
        description:
          - Hardware type, one of those that Ironic has enabled. Needed for a new node.
          - When it changes, interfaces that are not given get the new driver's defaults.
        type: str
      driver_info:
        description:
          - What the driver needs, for example C(redfish_address), C(redfish_username), C(redfish_password).
          - Values whose key is one that Ironic masks (C(password), C(secret), C(token) and the like are in it) are
            never shown. See O(update_secrets) for when they are written.
        type: dict
      properties:
        description: Properties, for example C(cpu_arch) and C(capabilities).
        type: dict
      extra:
        description: Anything to be kept at the node.
        type: dict
      instance_info:
        description: What to deploy; M(metal3.baremetal.ironic_node_action) sets it for a deployment.
        type: dict
      interfaces:
        description: Hardware interfaces; the driver's defaults when never set.
        type: dict
        suboptions:
          bios:
            description: BIOS interface.
            type: str
          boot:
            description: Boot interface.
            type: str
          console:
            description: Console interface.
            type: str
          deploy:
            description: Deploy interface.
            type: str
          firmware:
            description: Firmware interface.
            type: str
          inspect:
            description: Inspect interface.
            type: str
          management:
            description: Management interface.
            type: str
          network:
            description: Network interface.
            type: str
          power:
            description: Power interface.
            type: str
          raid:
            description: RAID interface.
            type: str
          rescue:
            description: Rescue interface.
            type: str
          storage:
            description: Storage interface.
            type: str
          vendor:
            description: Vendor interface.
            type: str
      resource_class:
        description: Resource class.
        type: str
      description:
        description: A text as text for messages.
        type: str
      owner:
        description: Owner.
        type: str
      lessee:
        description: Lessee.
        type: str
      conductor_group:
        description: Conductor group.
        type: str
      shard:
        description: Shard.
        type: str
      chassis_uuid:
        description: UUID of the chassis.
        type: str
      parent_node:
        description: UUID of the parent node.
        type: str
      instance_uuid:
        description: UUID of the instance.
        type: str
      automated_clean:
        description: Whether the node is cleaned before it becomes available.
        type: bool
      protected:
        description: Whether the node is protected from being undeployed, rebuilt and deleted.
        type: bool
      protected_reason:
        description: Why it is protected.
        type: str
      retired:
        description: Whether the node is retired.
        type: bool
      retired_reason:
        description: Why it is retired.
        type: str
      disable_power_off:
        description: Never power the server off, only reboot it. Needs API version 1.95.
        type: bool
      network_data:
        description:
          - Network data (OpenStack's format) for the agent; written as a whole.
          - What Ironic requires of it is checked before anything is written, and whether its links can stand on one
            another.
        type: dict
      traits:
        description: All traits of the node; those that are not listed are removed.
        type: list
        elements: str
      ports:
        description:
          - Ports that the node must have. Others stay, because inspection creates ports too; to delete one see
            M(metal3.baremetal.ironic_port).
        type: list
        elements: dict
        suboptions:
          address:
            description: MAC address.
            type: str
            required: true
          pxe_enabled:
            description: Whether the server boots from this port.
            type: bool
          physical_network:
            description: Physical network.
            type: str
          local_link_connection:
            description: Switch and port at the other end; written as a whole.
            type: dict
          is_smartnic:
            description: Whether it is a Smart NIC.
            type: bool
          portgroup_uuid:
            description: UUID of the port group.
            type: str
          name:
            description: Name of the port.
            type: str
          description:
            description: A text as text for messages. Needs API version 1.97.
            type: str
          vendor:
            description: Vendor of the card. Needs API version 1.100.
            type: str
          category:
            description: Category. Needs API version 1.101.
            type: str
          extra:
            description: Anything to be kept at the port; only the given keys are written.
            type: dict
  update_secrets:
    description:
      - When the secrets in C(driver_info) and C(instance_info) of a node that is there are written.
      - >-
        Ironic shows V(******) in their place, so that nobody can see whether one differs. A digest kept at the node
        would show it, but it would also let everyone who may read nodes try passwords against it, which Ironic's
        mask is there to prevent, and would be wrong once another client had written the password.
      - >-
        V(when_needed) writes them when another key of the same dictionary changes (a new address or user name), when
        the node has none, and as long as Ironic itself says that it can't use the BMC: the node is C(enroll) with a
        C(last_error), or has the fault C(power failure). A password that was changed in time is written with V(always).
      - V(always) writes them in each run and says so (C(changed)); V(on_create) only when the key is not there.
    type: str
    choices: [when_needed, always, on_create]
    default: when_needed
  force_nodes:
    description: Names of nodes that are changed although the Bare Metal Operator owns them, and deleted in any state.
    type: list
    elements: str
    default: []
extends_documentation_fragment:
  - metal3.baremetal.ironic
  - metal3.baremetal.attributes
attributes:
  check_mode:
    support: full
  diff_mode:
    support: full
    details:
      - Secrets are shown as C((hidden)).
  idempotent:
    support: partial
    details:
      - Not with O(update_secrets=always), and as long as Ironic can't use the node's BMC.
seealso:
  - module: metal3.baremetal.ironic_node_action
  - module: metal3.baremetal.ironic_node_info
  - module: metal3.baremetal.ironic_port
  - module: metal3.baremetal.baremetal_host
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Register two servers
  metal3.baremetal.ironic_node:
    cloud: metal3
    nodes:
      - name: rack1-01
        driver: redfish
        driver_info:
          redfish_address: https://192.0.2.11
          redfish_system_id: /redfish/v1/Systems/1
          redfish_username: admin
          redfish_password: "{{ vault_bmc_password }}"
        interfaces: {boot: redfish-virtual-media, inspect: agent}
        properties: {cpu_arch: x86_64, capabilities: "boot_mode:uefi"}
        traits: [CUSTOM_RACK1]
        ports:
          - {address: "00:5c:52:31:3a:01", pxe_enabled: true}
      - name: rack1-02
        driver: ipmi
        driver_info: {ipmi_address: 192.0.2.12, ipmi_username: admin, ipmi_password: "{{ vault_bmc_password }}"}

- name: Change a password, without clouds.yaml
  metal3.baremetal.ironic_node:
    endpoint: https://192.0.2.1:6385
    username: ironic
    password: "{{ vault_ironic_password }}"
    ca_cert: /etc/ironic/ca.crt
    update_secrets: always
    nodes:
      - {name: rack1-01, driver_info: {redfish_password: "{{ vault_new_bmc_password }}"}}

- name: Delete a node
  metal3.baremetal.ironic_node:
    cloud: metal3
    nodes:
      - {name: rack1-02, state: absent}
"""

RETURN = r"""
nodes:
  description: Each node of the list, in its order.
  returned: when the list was accepted
  type: list
  elements: dict
  contains:
    name:
      description: Name of the node.
      type: str
      returned: always
    uuid:
      description: UUID of the node, empty when there is none.
      type: str
      returned: always
    action:
      description: V(created), V(updated), V(deleted) or V(unchanged).
      type: str
      returned: always
    changed:
      description: Whether something of the node, its traits or its ports changed.
      type: bool
      returned: always
    failed:
      description: Whether Ironic refused something.
      type: bool
      returned: always
    error:
      description: What Ironic refused; empty when it did not.
      type: str
      returned: always
    provision_state:
      description: Provision state, V(absent) when there is no node.
      type: str
      returned: always
    power_state:
      description: Power state as Ironic last saw it.
      type: str
      returned: always
    last_error:
      description: The node's last error.
      type: str
      returned: always
  sample:
    - {name: rack1-01, uuid: 1be26c0b-03f2-4d2e-ae87-c02d7f33c123, action: created, changed: true, failed: false,
       error: "", provision_state: enroll, power_state: "", last_error: ""}
counts:
  description: How many nodes were created, updated, deleted, and how many failed.
  returned: when the list was accepted
  type: dict
  sample: {total: 2, created: 2, updated: 0, deleted: 0, failed: 0}
seconds:
  description: How long the module worked, in seconds.
  returned: when the list was accepted
  type: float
  sample: 0.8
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

from ansible_collections.metal3.baremetal.plugins.module_utils._ironic.module import run_ironic_node


def main():
    """Run the module."""
    run_ironic_node()


if __name__ == "__main__":
    main()
