#!/usr/bin/python
# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Flashes firmware of hosts."""
from __future__ import annotations

DOCUMENTATION = r"""
module: host_firmware_components
short_description: Flash firmware of bare metal hosts
version_added: "0.1.0"
description:
  - >-
    Writes C(spec.updates) of the HostFirmwareComponents that the Bare Metal Operator (BMO) keeps for each host, and
    waits until the images are flashed.
  - >-
    Components are compared with those that Ironic has found on the host. All mistakes in the whole list are reported
    before anything is written.
  - >-
    BMO changes firmware while it prepares a host: when the host is enrolled, or at once when the host is
    V(available). On a host that is provisioned it does so when the host is switched off and on again, and only when
    the host's HostUpdatePolicy says V(onReboot); see M(metal3.baremetal.host_update_policy).
  - >-
    With O(wait_for=applied), the annotation C(metal3.baremetal/retry) of the hosts is set to the present time, once
    when BMO pauses after an earlier failure and other images are asked for, and once when the images are flashed. BMO
    then looks at the host at once, and the next change of power begins without a pause.
options:
  hosts:
    description: The hosts and their images.
    type: list
    elements: dict
    required: true
    suboptions:
      name:
        description: Name of the host.
        type: str
        required: true
      updates:
        description:
          - Firmware images. They replace those that are there; an empty list takes back what BMO has not begun with.
          - An image is flashed once. To flash it again, give it by another URL.
        type: list
        elements: dict
        required: true
        suboptions:
          component:
            description:
              - V(bios), V(bmc), or V(nic:) with the serial number of a network card, or with its identity at the BMC
                where that reports no serial number, for example V(nic:005C52000010). These are the names in
                RV(hosts[].components).
            type: str
            required: true
          url:
            description: Where the BMC downloads the image.
            type: str
            required: true
  wait_for:
    description:
      - >-
        V(valid) waits until BMO has looked at the updates and found no fault.
      - >-
        V(rebootable) waits, beyond V(valid), until a host in use that is about to be switched on, or is served, is done
        with that: what is still pending then changes with another reboot. A host that has failed, or that its policy
        lets change nothing, is not waited for.
      - >-
        V(applied) waits until all of them are flashed and the host is ready again. It fails at once where they
        never would: on a provisioned host without the policy, on a paused, detached or missing host, or when
        flashing fails.
    type: str
    choices: [valid, rebootable, applied]
  show_table:
    description: Whether a table is printed when the module runs on the controller.
    type: bool
    default: false
extends_documentation_fragment:
  - metal3.baremetal.kubernetes
  - metal3.baremetal.attributes
  - metal3.baremetal.resources
  - metal3.baremetal.resources.wait
  - metal3.baremetal.attributes.actiongroup_kubernetes
notes:
  - >-
    Neither BMO nor Ironic compares the name of a network card with those of the host, and Ironic gives the BMC the
    image and no card. Which cards it is written to is decided by the image, as a rule all of the model that it is
    for; RV(hosts[].components) shows them all. The module refuses the name of a card that Ironic has not found, and
    warns when the version of the card that was named is as before.
  - >-
    Ironic 39 finds the network cards whose BMC reports a version (C(FirmwarePackageVersion) of Redfish's
    NetworkAdapters). It keeps one that was taken out of the server, with its last version.
  - >-
    For the image of a network card, Ironic 39 reboots the server once the BMC has written it, or when the BMC's task
    says for half a minute that it starts. A task that is pending until a reboot is waited for until
    C(firmware_update_overall_timeout) of Ironic's configuration, by default two hours, is over.
  - >-
    BMO reads versions from Ironic every five minutes, so RV(hosts[].components) may show the old version for a
    while.
  - >-
    Where BIOS settings are changed too, Ironic 39 now and then takes the image that comes next for flashed without
    flashing it, namely when the agent calls in the very moment in which the BMC reports the new settings.
    V(applied) is reached nevertheless. An image that RV(hosts[].components) doesn't show after five minutes is
    flashed when it is given by another URL.
  - >-
    Ironic 39 takes a BMC image that could not be flashed for one that changes nothing, so V(applied) is reached;
    compare RV(hosts[].components). It shows a BIOS image that could not be flashed.
  - >-
    BMO 0.13 tries an image that could not be flashed again only if it failed within the first minute or so. Otherwise
    it takes the image for flashed at its next attempt, the host becomes available, and a later run reaches V(applied).
    Give the image that replaces it another URL.
seealso:
  - module: metal3.baremetal.host_firmware_components_info
  - module: metal3.baremetal.host_update_policy
  - module: metal3.baremetal.host_firmware_settings
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Flash BIOS and BMC
  metal3.baremetal.host_firmware_components:
    hosts:
      - name: rack1-01
        updates:
          - {component: bios, url: "https://images.example/bios-1.1.0.bin"}
          - {component: bmc, url: "https://images.example/bmc-2.0.bin"}
    wait_for: applied
    wait_timeout_seconds: 3600

# The BMC writes it to all cards that the image is for.
- name: Flash a network card
  metal3.baremetal.host_firmware_components:
    hosts:
      - name: rack1-01
        updates:
          - {component: "nic:005C52000010", url: "https://images.example/x710-9.20.bin"}
    wait_for: applied
    wait_timeout_seconds: 3600
"""

RETURN = r"""
counts:
  description: >-
    How many entries there are and what became of them: C(total), C(created), C(updated), C(deleted), C(unchanged) and
    C(failed).
  returned: always
  type: dict
  sample: {total: 2, created: 1, updated: 0, deleted: 0, unchanged: 1, failed: 0}
hosts:
  description: What became of each entry, in the order of O(hosts).
  returned: success and failure
  type: list
  elements: dict
  contains:
    name:
      description: Name of the object.
      type: str
      returned: always
    namespace:
      description: Namespace of the object.
      type: str
      returned: always
    action:
      description: V(created), V(updated), V(deleted) or V(unchanged).
      type: str
      returned: always
    changed:
      description: Whether the object was changed, or would be.
      type: bool
      returned: always
    error:
      description: Why the object could not be written or did not get to the goal; empty when all is well.
      type: str
      returned: always
    seconds:
      description: How long the goal took, in seconds.
      type: float
      returned: always
    host_state:
      description: State of the BareMetalHost, empty when there is none.
      type: str
      returned: when the object is there
    host_power:
      description:
        - >-
          V(on), V(off), V(held) when the host must be on and a keyed reboot annotation keeps it off, V(starting) when
          it must be on and is not yet, or is served by Ironic, or its reboot was asked for; empty when there is no
          host.
      type: str
      returned: when the object is there
    components:
      description:
        - The firmware that Ironic has found, as the operator read it the last time. It reads it every few minutes, so
          that the versions after an update may come later than the word that it is done.
      type: list
      elements: dict
      sample:
        - component: bios
          initial_version: 1.0.0
          current_version: 1.1.0
          last_version_flashed: 1.1.0
          updated_at: "2026-11-21T18:27:59Z"
      returned: when the object is there
    wanted:
      description: The images to be flashed, with C(component) and C(url).
      type: list
      elements: dict
      returned: when the object is there
    pending:
      description: Those of RV(hosts[].wanted) that BMO has not begun with.
      type: list
      elements: dict
      returned: when the object is there
    unfinished:
      description:
        - Whether the host is being prepared or serviced, or its service has failed. Images that are not pending any
          more were begun with then, and need not be flashed.
      type: bool
      returned: when the object is there
    valid:
      description: Whether BMO takes the updates (condition C(Valid)).
      type: bool
      returned: when the object is there
    change_detected:
      description: Whether BMO has found that updates differ (condition C(ChangeDetected)).
      type: bool
      returned: when the object is there
    observed:
      description: Whether the conditions are about the newest updates.
      type: bool
      returned: when the object is there
    message:
      description: Message of the condition C(Valid).
      type: str
      returned: when the object is there
seconds:
  description: How long the whole run took, in seconds.
  returned: success and failure
  type: float
table:
  description: The results as lines of a table.
  returned: success and failure
  type: list
  elements: str
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
  sample: [{"object": "HostFirmwareComponents metal3/server-1", "action": "updated"}]
"""

from ansible_collections.metal3.baremetal.plugins.module_utils._resources.module import run_family


def main():
    """Run the module."""
    run_family("HostFirmwareComponents")


if __name__ == "__main__":
    main()
