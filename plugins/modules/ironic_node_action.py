#!/usr/bin/python
# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Takes Ironic's nodes through their provision states, and switches power, boot and maintenance."""
from __future__ import annotations

DOCUMENTATION = r"""
module: ironic_node_action
short_description: Manage, inspect, clean, deploy, service, rescue and power nodes of Ironic
version_added: "0.1.0"
description:
  - Does one thing with many nodes of Ironic, side by side, and waits for all of them by one request at an interval. It
    needs no Kubernetes.
  - All nodes are read and planned first. When one of them is unknown or in a state in which Ironic would not take the
    action, nothing is sent, and all reasons are reported at once with the action that leads on.
  - A node that is already where the action leads is left unchanged; for one on its way there the module only waits.
  - A wait ends at once for a node that fails, with its C(last_error); at a timeout each node's last state, step and
    error is reported. When the module runs on the controller, progress is printed while it waits.
  - A node that is named C(<namespace>~<host>) belongs to a BareMetalHost, and is refused unless O(force_nodes) names
    it.
  - What erases disks that may carry a deployed system, or interrupts one that may run, is refused unless O(confirm)
    repeats how many nodes it concerns.
  - When the answer to a request is lost, the node is read, and the request is sent again only where Ironic would refuse
    it a second time. A reboot, an inspection, a cleaning, a service or a rebuild is never sent twice.
options:
  nodes:
    description: Names or UUIDs of the nodes, each node once.
    type: list
    elements: str
    required: true
  action:
    description:
      - What to do. V(inspect), V(provide), V(clean) and V(adopt) manage a node first that is C(enroll), C(available),
        C(inspect failed) or C(clean failed). One that is C(adopt failed) is only taken by V(adopt), and by V(manage)
        with O(confirm).
      - V(manage) takes a node out of C(enroll) (Ironic logs in at the BMC), out of C(available) or out of a failure.
      - V(inspect) reads the hardware by the node's inspect interface; V(provide) cleans the node and makes it
        C(available); V(clean) runs O(steps) and leaves it C(manageable); V(service) runs O(steps) on a deployed node.
      - >-
        V(deploy) writes O(image) and O(config_drive) to an C(available) node. One that is deployed with the same image
        is left unchanged (config drives can't be compared), with another one it is refused, unless O(redeploy) is set.
      - >-
        V(rebuild) writes the image again to a deployed node; V(undeploy) removes it and cleans the node. With fast
        track Ironic takes the agent for alive for minutes after its last word, although another system runs by then:
        use V(power_off) before V(rebuild) when the node was deployed a moment ago.
      - V(rescue) boots the rescue ramdisk, in which the user C(rescue) logs in with O(rescue_password); V(unrescue)
        boots the deployed system again. The disks stay as they are. The node needs C(interfaces.rescue=agent)
        (M(metal3.baremetal.ironic_node)), and Ironic a ramdisk that is made for it
        (O(metal3.baremetal.agent_image#module:rescue)).
      - V(adopt) makes a managed node C(active) without a deployment.
      - >-
        V(hold) stops a deployed node in a service step and any other in a clean step; V(unhold) lets it go on. Ironic
        39.0 drops such a step before it runs any (C(_validate_user_steps) in C(ironic/conductor/steps.py)), which is
        reported as a failure. Steps may also have a C(hold) of their own
        (C({interface: deploy, step: hold})): the goal is the hold then.
      - V(abort) ends what waits for the agent; it is the failure that is waited for.
      - V(maintenance_on) and V(maintenance_off) set and clear maintenance.
      - V(power_on), V(power_off) and V(reboot) switch power, with O(soft) through the operating system.
      - V(boot_device), V(boot_mode) and V(secure_boot) set the option of the same name.
      - V(traits) sets, adds or removes O(traits); V(raid) sets the RAID configuration that the clean steps
        C(raid.create_configuration) and C(raid.delete_configuration) use.
      - V(vendor_passthru) reads by O(vendor_method); without it, it lists the vendor's methods.
    type: str
    required: true
    choices:
      - manage
      - inspect
      - provide
      - clean
      - deploy
      - rebuild
      - undeploy
      - rescue
      - unrescue
      - adopt
      - service
      - hold
      - unhold
      - abort
      - power_on
      - power_off
      - reboot
      - maintenance_on
      - maintenance_off
      - boot_device
      - boot_mode
      - secure_boot
      - traits
      - raid
      - vendor_passthru
  steps:
    description:
      - Steps of V(clean), V(service), and optionally of V(deploy) and V(rebuild), in order. What a node has is in
        Ironic's documentation of its drivers.
    type: list
    elements: dict
    suboptions:
      interface:
        description: Interface that has the step, for example V(deploy), V(raid) or V(bios).
        type: str
        required: true
      step:
        description: Name of the step.
        type: str
        required: true
      args:
        description: Arguments of the step.
        type: dict
      priority:
        description: Priority, for V(deploy) and V(rebuild).
        type: int
      order:
        description: Order, where Ironic takes one.
        type: int
  runbook:
    description: Name or UUID of a runbook, in place of O(steps). Needs API version 1.92.
    type: str
  disable_ramdisk:
    description:
      - Do not boot the ramdisk, for steps of V(clean) and V(service) that need none. With V(service) it needs API
        version 1.108.
    type: bool
  only_disks:
    description:
      - Serial number of the one disk that V(clean) erases, by the name or UUID of the node; each node of O(nodes) needs
        one. The steps of O(steps) are C(erase_devices), C(erase_devices_express) and C(erase_devices_metadata) then.
      - The disk is one that the last inspection found. C(properties.skip_block_devices) has the agent skip all
        others; what was there before is there again afterwards, also when the cleaning failed. After a run that was
        killed, or whose time was up, it is put back by the same task.
      - The agent does not tell Ironic what it has erased. A disk that was pulled since the last inspection is not
        missed.
      - O(confirm) is always required.
    type: dict
  image:
    description:
      - Image of V(deploy) and V(rebuild), written to the node's C(instance_info). What an earlier image had there and
        this one has not is removed.
    type: dict
    suboptions:
      source:
        description: URL of the image (C(image_source)).
        type: str
      checksum:
        description: Checksum, or URL of a checksum file (C(image_checksum)).
        type: str
      checksum_algorithm:
        description: Algorithm of O(image.checksum_value), for example V(sha256) (C(image_os_hash_algo)).
        type: str
      checksum_value:
        description: Checksum (C(image_os_hash_value)).
        type: str
      disk_format:
        description: Format, for example V(raw) or V(qcow2) (C(image_disk_format)).
        type: str
      kernel:
        description: URL of the kernel of a partition image.
        type: str
      ramdisk:
        description: URL of the ramdisk of a partition image.
        type: str
      boot_iso:
        description: URL of an ISO to boot, for the ramdisk deploy interface.
        type: str
  images:
    description:
      - Images of single nodes, by the name or UUID of the node, with the keys of O(image); a key that is no node of
        O(nodes) is refused.
      - What a node has here wins over O(image) as a whole.
    type: dict
  redeploy:
    description:
      - Whether V(deploy) undeploys a node that is deployed with another image, and deploys it after that. What is on
        its disks is lost, so that O(confirm) is required.
    type: bool
    default: false
  instance_info:
    description: More keys for C(instance_info) with V(deploy) and V(rebuild), for example C(root_device); V(null)
      removes.
    type: dict
  config_drive:
    description:
      - Config drive for V(deploy) and V(rebuild), the same for all nodes. Never shown, nor is any text of six or more
        characters in it, except names of nodes, UUIDs and states. What refuses network data has shorter names and the
        numbers of its links.
    type: dict
    suboptions:
      meta_data:
        description: Meta data; Ironic fills in C(uuid) and C(name) when it is left out.
        type: dict
      user_data:
        description: User data, a text, a dictionary or a list.
        type: raw
      network_data:
        description:
          - Network data in OpenStack's format. Links that cannot stand on one another, VLANs, MTUs and second default
            routes are refused.
        type: dict
      vendor_data:
        description: Vendor data.
        type: dict
      iso:
        description: A ready config drive (gzip, base64) or its URL. It can't be combined with the others.
        type: str
  config_drives:
    description:
      - Config drives of single nodes, by the name or UUID of the node, with the keys of O(config_drive); a key that is
        no node of O(nodes) is refused. Never shown.
      - What a node has here wins over O(config_drive), part by part. Where one of the two is an C(iso), this one counts
        alone.
    type: dict
  rescue_password:
    description: Password of the user C(rescue) in the rescue system. Ironic gives the agent its hash. Never shown.
    type: str
  maintenance_reason:
    description: Reason for V(maintenance_on).
    type: str
  soft:
    description: Whether V(power_off) and V(reboot) go through the operating system.
    type: bool
    default: false
  power_timeout_seconds:
    description: How long Ironic waits for a change of power, in seconds; Ironic's own setting by default.
    type: int
  boot_device:
    description: Device for V(boot_device).
    type: str
    choices: [pxe, disk, cdrom, bios, safe, wanboot, uefihttp, floppy, usb]
  persistent:
    description:
      - Whether O(boot_device) holds for more than the next boot. Not every BMC knows one for the next boot only.
    type: bool
    default: false
  boot_mode:
    description: Mode for V(boot_mode).
    type: str
    choices: [uefi, bios]
  secure_boot:
    description: Whether V(secure_boot) must be on.
    type: bool
  traits:
    description: Traits for V(traits); one's own begin with C(CUSTOM_).
    type: list
    elements: str
  traits_mode:
    description: Whether O(traits) are all traits that the node must have, or are added or removed.
    type: str
    choices: [set, add, remove]
    default: set
  raid:
    description: Configuration for V(raid).
    type: dict
    suboptions:
      logical_disks:
        description: Logical disks as in Ironic's RAID schema, for example C(size_gb) and C(raid_level); empty for none.
        type: list
        elements: dict
        required: true
  vendor_method:
    description: Method that V(vendor_passthru) calls by GET.
    type: str
  vendor_arguments:
    description: Arguments of O(vendor_method).
    type: dict
  confirm:
    description:
      - How many nodes may lose a deployed system by the action, or have it interrupted, or their names as in O(nodes),
        with commas between.
      - Required for V(rebuild), V(undeploy), V(clean), V(provide), and V(deploy) with O(redeploy), of nodes that are
        deployed, adopted, in rescue or in service, have an instance or name an image in their C(instance_info), and for
        V(manage) of nodes that are C(adopt failed), as nothing says any more after it that there is a system on their
        disks. A deployment that failed or is on its way has given up what was there before, and needs no confirmation.
      - Required for V(clean) with O(only_disks), whatever the node's state.
      - Required for V(inspect), V(power_off), V(reboot), V(rescue), V(service), and V(hold) in a service step, too, of
        such nodes that are not switched off. An inspection boots the server from its ramdisk.
    type: str
  wait:
    description: Whether to wait for the goal.
    type: bool
    default: true
  wait_timeout_seconds:
    description: How long to wait, in seconds.
    type: int
    default: 1800
  poll_interval_seconds:
    description: Time between two requests of the wait, in seconds. Each is one request for all nodes.
    type: float
    default: 2.0
  force_nodes:
    description: Names of nodes that are changed although the Bare Metal Operator owns them.
    type: list
    elements: str
    default: []
extends_documentation_fragment:
  - metal3.baremetal.ironic
  - metal3.baremetal.confirmation
  - metal3.baremetal.attributes
attributes:
  check_mode:
    support: full
  diff_mode:
    support: full
  idempotent:
    support: partial
    details:
      - V(inspect), V(clean), V(service), V(rebuild) and V(reboot) act each time; the others do nothing at a node that
        is where they lead.
seealso:
  - module: metal3.baremetal.ironic_node
  - module: metal3.baremetal.ironic_node_info
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Take new nodes to available
  metal3.baremetal.ironic_node_action:
    cloud: metal3
    nodes: [rack1-01, rack1-02]
    action: "{{ item }}"
  loop: [manage, inspect, provide]

- name: Deploy an image
  metal3.baremetal.ironic_node_action:
    cloud: metal3
    nodes: [rack1-01]
    action: deploy
    image:
      source: https://192.0.2.1/images/debian.qcow2
      checksum: https://192.0.2.1/images/debian.qcow2.sha256sum
    config_drive:
      user_data: "{{ lookup('ansible.builtin.template', 'user-data.yml.j2') }}"

- name: Erase the disks of a node
  metal3.baremetal.ironic_node_action:
    cloud: metal3
    nodes: [rack1-02]
    action: clean
    steps:
      - {interface: deploy, step: erase_devices}
    wait_timeout_seconds: 14400

- name: Erase one disk of a node
  metal3.baremetal.ironic_node_action:
    cloud: metal3
    nodes: [rack1-02]
    action: clean
    steps:
      - {interface: deploy, step: erase_devices}
    only_disks:
      rack1-02: S3Z8NB0K
    confirm: 1
    wait_timeout_seconds: 14400

- name: Give up what is deployed on two nodes
  metal3.baremetal.ironic_node_action:
    cloud: metal3
    nodes: [rack1-01, rack1-02]
    action: undeploy
    confirm: 2

- name: Boot the rescue system of a server whose own does not boot
  metal3.baremetal.ironic_node_action:
    cloud: metal3
    nodes: [rack1-01]
    action: rescue
    rescue_password: "{{ vault_rescue_password }}"
    confirm: 1

- name: Reboot through the operating system
  metal3.baremetal.ironic_node_action:
    cloud: metal3
    nodes: [rack1-01]
    action: reboot
    soft: true
    confirm: 1
"""

RETURN = r"""
nodes:
  description: Each node of the list, in its order.
  returned: when the action was accepted
  type: list
  elements: dict
  contains:
    name:
      description: The node as it was named in O(nodes).
      type: str
      returned: always
    uuid:
      description: UUID of the node.
      type: str
      returned: always
    changed:
      description: Whether something was (in check mode, would be) sent for this node.
      type: bool
      returned: always
    failed:
      description: Whether Ironic refused it or the node did not get to the goal.
      type: bool
      returned: always
    error:
      description: What went wrong, and the next step; empty when nothing did.
      type: str
      returned: always
    provision_state:
      description: Provision state at the end, or when Ironic was last read.
      type: str
      returned: always
    power_state:
      description: Power state at the end, or when Ironic was last read.
      type: str
      returned: always
    last_error:
      description: The node's last error.
      type: str
      returned: always
    seconds:
      description: How long the node took to get to the goal, in seconds.
      type: float
      returned: always
    answer:
      description: What the vendor's method answered.
      type: raw
      returned: always
    at_risk:
      description: Why the action may cost the node its system or interrupt it, so that O(confirm) is required; empty
        when it does not.
      type: str
      returned: always
  sample:
    - {name: rack1-01, uuid: 1be26c0b-03f2-4d2e-ae87-c02d7f33c123, changed: true, failed: false, error: "",
       provision_state: active, power_state: power on, last_error: "", seconds: 241.3, answer: null, at_risk: ""}
seconds:
  description: How long the module worked, in seconds.
  returned: when the action was accepted
  type: float
  sample: 243.1
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

from ansible_collections.metal3.baremetal.plugins.module_utils._ironic.module import run_ironic_node_action


def main():
    """Run the module."""
    run_ironic_node_action()


if __name__ == "__main__":
    main()
