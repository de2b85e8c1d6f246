#!/usr/bin/python
# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Sets BIOS settings of hosts."""
from __future__ import annotations

DOCUMENTATION = r"""
module: host_firmware_settings
short_description: Set BIOS settings of bare metal hosts
version_added: "0.1.0"
description:
  - >-
    Writes C(spec.settings) of the HostFirmwareSettings that the Bare Metal Operator (BMO) keeps for each host, and
    waits until they count.
  - >-
    Each setting is checked against the host's FirmwareSchema before anything is written: name, type, range or
    choices, length, whether it is read-only or unique to the server. All mistakes in the whole list are reported at
    once. As soon as one of a host's settings differs from the present value, BMO checks all of them, so read-only
    ones may then not be named at all.
  - >-
    BMO changes firmware while it prepares a host: when the host is enrolled, or at once when the host is
    V(available). On a host that is provisioned it does so when the host is switched off and on again, and only when
    the host's HostUpdatePolicy says V(onReboot); see M(metal3.baremetal.host_update_policy).
  - >-
    Settings that an earlier run set and that are no longer given are not wanted any more; they keep the value that
    they have. Settings that somebody else wrote stay unchanged.
options:
  hosts:
    description: The hosts and their settings.
    type: list
    elements: dict
    required: true
    suboptions:
      name:
        description: Name of the host.
        type: str
        required: true
      settings:
        description:
          - Settings by name, as texts, whole numbers, or V(true) and V(false).
          - An empty dictionary takes back what was wanted.
        type: dict
        required: true
  wait_for:
    description:
      - >-
        V(valid) waits until BMO has looked at the settings and found no fault; they may wait for a reboot then.
      - >-
        V(rebootable) waits, beyond V(valid), until a host in use that is about to be switched on, or is served, is done
        with that: what is still pending then changes with another reboot. A host that has failed, or that its policy
        lets change nothing, is not waited for.
      - >-
        V(applied) waits until all of them count and the host is ready again. It fails at once where they never
        would: on a provisioned host without the policy, on a paused, detached or missing host, or when preparing or
        servicing the host fails.
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
    For a host that is not enrolled yet the object is created; its settings count from its first preparation on. They
    can't be checked against a schema then.
  - >-
    BMO 0.13 never notices that a setting of the type Boolean counts, when Ironic reports it as V(1) or V(0), and
    prepares the host without end. Such a setting is refused.
  - >-
    BMO 0.13 stops working with a host whose settings were changed to what the server has already, because it does
    not note that it has read them. This module removes the conditions with the change, so that BMO sets them
    again. For that it needs the right to patch C(hostfirmwaresettings/status).
  - >-
    BMO reads a changed setting from Ironic once a minute.
seealso:
  - module: metal3.baremetal.host_firmware_settings_info
  - module: metal3.baremetal.host_update_policy
  - module: metal3.baremetal.host_firmware_components
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Switch turbo mode off on two hosts
  metal3.baremetal.host_firmware_settings:
    hosts:
      - {name: rack1-01, settings: {ProcTurboMode: Disabled}}
      - {name: rack1-02, settings: {ProcTurboMode: Disabled, PatrolScrubHours: 12}}
    wait_for: applied

- name: Have them wait for the next reboot
  metal3.baremetal.host_firmware_settings:
    hosts:
      - {name: rack1-01, settings: {ProcTurboMode: Enabled}}
    wait_for: valid
  register: later

- name: See what is pending
  ansible.builtin.debug:
    msg: "{{ later.hosts | map(attribute='pending') | flatten }}"
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
    settings:
      description: All settings as the server has them, as texts.
      type: dict
      sample: {ProcTurboMode: Enabled}
      returned: when the object is there
    wanted:
      description: The settings that are wanted.
      type: dict
      sample: {ProcTurboMode: Disabled}
      returned: when the object is there
    pending:
      description: What is wanted and does not count yet.
      type: list
      elements: dict
      sample: [{name: ProcTurboMode, current: Enabled, wanted: Disabled}]
      returned: when the object is there
    valid:
      description: Whether BMO takes the settings (condition C(Valid)).
      type: bool
      returned: when the object is there
    change_detected:
      description: Whether BMO has found that settings differ (condition C(ChangeDetected)).
      type: bool
      returned: when the object is there
    observed:
      description: Whether the conditions are about the newest settings.
      type: bool
      returned: when the object is there
    message:
      description: Message of the condition C(Valid).
      type: str
      returned: when the object is there
    schema_name:
      description: Name of the FirmwareSchema.
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
  sample: [{"object": "HostFirmwareSettings metal3/server-1", "action": "updated"}]
"""

from ansible_collections.metal3.baremetal.plugins.module_utils._resources.module import run_family


def main():
    """Run the module."""
    run_family("HostFirmwareSettings")


if __name__ == "__main__":
    main()
