#!/usr/bin/python
# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Powers, reboots, inspects, pauses, detaches and marks BareMetalHosts."""
from __future__ import annotations

DOCUMENTATION = r"""
module: baremetal_host_action
short_description: Power, reboot, inspect, pause, detach and mark bare metal hosts
version_added: "0.1.0"
description:
  - Asks the Bare Metal Operator (BMO) for something on many hosts at once, by C(spec.online) or by an annotation, and
    waits until each host shows that it was done.
  - What BMO would ignore, misread or reject in the host's present state is refused before anything is written, for all
    hosts at once, with the reason and the next step.
  - Hosts are read by one request, patched side by side and followed on one watch. When the module runs on the
    controller, progress is printed while it waits.
  - >-
    A host in use (it has a C(consumerRef)) is protected from the actions V(power_on), V(power_off), V(reboot),
    V(reboot_hold), V(inspect) and V(detach), unless it is named in O(force_hosts).
  - What costs something on a host that runs a deployed system is refused unless O(confirm) repeats how many they are.
options:
  namespace:
    description: Namespace of the hosts.
    type: str
    default: metal3
  names:
    description: Names of hosts, for which the options of the task hold.
    type: list
    elements: str
  hosts:
    description: Hosts with options of their own, which go before those of the task.
    type: list
    elements: dict
    suboptions:
      name:
        description: Name of the host.
        type: str
        required: true
      action:
        description: As O(action).
        type: str
        choices:
          - attach
          - detach
          - inspect
          - lock
          - mark_healthy
          - mark_unhealthy
          - pause
          - power_off
          - power_on
          - reboot
          - reboot_hold
          - reboot_release
          - restore_status
          - resume
          - retry
          - save_status
          - set_hardware
          - unlock
      mode:
        description: As O(mode).
        type: str
        choices: [soft, hard]
      key:
        description: As O(key).
        type: str
      force:
        description: As O(force).
        type: bool
      once:
        description: As O(once).
        type: bool
      delete_action:
        description: As O(delete_action).
        type: str
        choices: [delay, delete]
      reason:
        description: As O(reason).
        type: str
      until:
        description: As O(until).
        type: str
      status:
        description:
          - For the action V(restore_status), the status that V(save_status) returned as RV(hosts[].annotations), or
            C(status) of the host elsewhere. A dictionary or JSON.
        type: json
      hardware:
        description:
          - >-
            For the action V(set_hardware), hardware details with the field names of C(status.hardware) in the CRD:
            C(cpu), C(firmware), C(hostname), C(nics), C(ramMebibytes), C(storage) and C(systemVendor).
        type: dict
  action:
    description:
      - What to do.
      - >-
        V(power_on) and V(power_off) set C(spec.online) of a host that is available, provisioned or externally
        provisioned. Powering on a host that has an image to be written is refused.
      - >-
        V(reboot) sets the annotation C(reboot.metal3.io), which BMO removes when it has found the server powered off.
        The host must be powered on; one that is not provisioned needs O(force).
      - >-
        V(reboot_hold) sets C(reboot.metal3.io/<key>): the server is powered off and stays off until V(reboot_release)
        removes it. Several keys may hold a host.
      - >-
        None of these is done while Ironic changes the firmware of a server in use (see
        M(metal3.baremetal.host_update_policy)), which switches it off and on meanwhile, nor after that has failed.
        V(reboot_hold) is not done before, either, when such a change is pending: BMO begins with it as soon as the
        server is off, switches it on for that, and then holds it off. Without the right to read HostUpdatePolicies,
        HostFirmwareSettings and HostFirmwareComponents that is not looked at, which a warning says.
      - >-
        V(inspect) inspects the hardware of an available host again (C(inspect.metal3.io)) and waits until it is
        available. BMO boots the server for it and ends all holds, so a host that is held by V(reboot_hold) is refused.
      - >-
        V(pause) and V(resume) set and remove C(baremetalhost.metal3.io/paused), with which BMO does nothing with the
        host. A host that Cluster API's provider paused with its Cluster is not resumed.
      - >-
        V(detach) sets C(baremetalhost.metal3.io/detached): BMO deletes the host's node in Ironic and leaves the server
        alone. V(attach) removes it and waits until BMO has registered the host again.
      - >-
        V(resume) and V(attach) are refused for a host whose image or custom deployment was changed or removed
        meanwhile, which is provisioned and was deleted, which runs a system of its own and has not
        C(spec.externallyProvisioned), or which has a consumer and neither a status nor a saved one, because BMO would
        deprovision the server or begin with it from the start, unless it is named in O(force_hosts).
      - >-
        V(resume), V(attach) and V(restore_status) are refused for a host whose system runs, and whose C(spec.online) is
        C(false), that has an annotation C(reboot.metal3.io), or that is externally provisioned and was deleted, because
        BMO would switch the server off at once, unless it is named in O(force_hosts).
      - >-
        Annotations by which M(metal3.baremetal.host_move) or M(metal3.baremetal.plane_move_hosts) keeps a host that is
        on its way to another plane are not removed or replaced, by V(attach), V(detach), V(resume), V(pause),
        V(restore_status), V(mark_healthy) and V(mark_unhealthy): two planes would have power over its server.
      - >-
        V(mark_unhealthy) sets C(capm3.metal3.io/unhealthy), so that Cluster API's provider takes the host for no
        machine; V(mark_healthy) removes it, and the older C(capi.metal3.io/unhealthy) too.
      - >-
        V(save_status) copies the status of a paused host to C(baremetalhost.metal3.io/status), as for a move to another
        cluster; V(restore_status) lets BMO rebuild the status of a new host from it, and resumes the host in the same
        write, so that the server is not registered and inspected again. A host that does not name the image or custom
        deployment of the status is refused, because BMO would deprovision the server.
      - >-
        V(set_hardware) gives hardware details by C(inspect.metal3.io/hardwaredetails) to a host whose inspection is
        disabled.
      - >-
        V(retry) makes BMO try again at once what failed, and not after its own delay (1 minute to 8 hours). BMO has
        no request for it; it looks at a host at once when any annotation changes, here C(metal3.baremetal/retry).
      - >-
        V(lock) marks a host that somebody works on with C(metal3.baremetal/lock), O(reason) and O(until), which it
        needs. Until then the modules and playbooks of this collection do not switch, reboot, inspect, drain, deploy,
        wipe, change the firmware of, detach or delete it, nor replace its Machine; all of the run is refused, with the
        reason. With the same reason the end of a lock is changed. V(unlock) removes it. BMO and Cluster API do not know
        the lock.
    type: str
    choices:
      - attach
      - detach
      - inspect
      - lock
      - mark_healthy
      - mark_unhealthy
      - pause
      - power_off
      - power_on
      - reboot
      - reboot_hold
      - reboot_release
      - restore_status
      - resume
      - retry
      - save_status
      - set_hardware
      - unlock
  mode:
    description:
      - For V(reboot) and V(reboot_hold), whether the operating system is asked to shut down, or the power is cut.
      - V(soft) when left out. BMO cuts the power when the BMC knows no soft way, or after an error.
    type: str
    choices: [soft, hard]
  key:
    description: For V(reboot_hold) and V(reboot_release), whose hold it is.
    type: str
  force:
    description:
      - For V(reboot) and V(reboot_hold), whether also a host that is not provisioned is rebooted. While the host is
        inspecting or provisioning, V(reboot) starts the deploy ramdisk again.
      - For V(detach), whether also a host in the middle of something is detached, which aborts it.
    type: bool
  once:
    description:
      - For V(reboot), whether a host whose reboot was begun by such a task before is only waited for, so that a run
        which was killed is continued and the server is not rebooted twice.
      - The annotation C(metal3.baremetal/reboot-begun) says so; it is written together with the request.
        M(metal3.baremetal.host_maintenance) removes it with O(metal3.baremetal.host_maintenance#module:state=returned).
    type: bool
  delete_action:
    description:
      - For V(detach), what BMO does when the detached host is deleted. V(delay) waits until it is attached, V(delete)
        removes it at once and leaves the server running. V(delete) when left out.
    type: str
    choices: [delay, delete]
  reason:
    description: For V(lock), V(pause) and V(mark_unhealthy), a text that is kept in the annotation's value.
    type: str
  until:
    description: >-
      For V(lock), when it ends by itself by the API server's clock, a time in UTC such as C(2026-11-25T18:00:00Z).
    type: str
  force_hosts:
    description:
      - >-
        Names of hosts on which actions are taken although they have a consumer or are on their way to another plane,
        for V(inspect) although they are held powered off, or for V(resume) and V(attach) although what is deployed is
        lost, or for these and V(restore_status) although what runs is interrupted.
    type: list
    elements: str
    default: []
  confirm:
    description:
      - On how many hosts the action costs something, or their names with commas between.
      - Required for V(power_off), V(reboot) and V(reboot_hold) of hosts that are provisioned or externally provisioned
        and not switched off, and for V(detach) of hosts that are provisioned or externally provisioned, or that are in
        the middle of something.
      - Required for V(attach), V(resume) and V(restore_status) of hosts that O(force_hosts) names, when what is
        deployed there is lost or what runs there is interrupted.
      - Where nothing is left to do, as for a host that is switched off already, none is asked for.
    type: str
  field_names:
    description:
      - How errors name options. V(options) by those of this module, V(variables) by the variables of the role
        P(metal3.baremetal.hosts#role).
    type: str
    choices: [options, variables]
    default: options
  wait:
    description: Whether to wait until each host shows that the action was done.
    type: bool
    default: true
  wait_timeout_seconds:
    description: How long to wait in all. An API server that does not answer is tried until then.
    type: int
    default: 900
  error_limit:
    description: How many errors in one run end the wait for a host; BMO tries again by itself after each.
    type: int
    default: 2
extends_documentation_fragment:
  - metal3.baremetal.kubernetes
  - metal3.baremetal.boot
  - metal3.baremetal.checked_hosts
  - metal3.baremetal.confirmation
  - metal3.baremetal.ironic.suboptions
  - metal3.baremetal.attributes
  - metal3.baremetal.attributes.actiongroup_kubernetes
attributes:
  check_mode:
    support: full
    details:
      - The API server checks the changes by a dry run. Nothing is waited for.
  diff_mode:
    support: full
  idempotent:
    support: partial
    details:
      - V(reboot) and V(inspect) are done at each run, V(retry) at each run while the host is in error.
notes:
  - Refusals follow the source of BMO 0.13.
seealso:
  - module: metal3.baremetal.baremetal_host
  - module: metal3.baremetal.baremetal_host_info
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Power two servers off on which a deployed system runs
  metal3.baremetal.baremetal_host_action:
    names: [rack1-01, rack1-02]
    action: power_off
    confirm: 2

- name: Reboot a server that Cluster API uses, at once
  metal3.baremetal.baremetal_host_action:
    names: [rack1-03]
    action: reboot
    mode: hard
    force_hosts: [rack1-03]
    confirm: 1

- name: Keep a server off while its disks are replaced
  metal3.baremetal.baremetal_host_action:
    names: [rack1-01]
    action: reboot_hold
    key: disks
    confirm: rack1-01

- name: Let it go
  metal3.baremetal.baremetal_host_action:
    names: [rack1-01]
    action: reboot_release
    key: disks

- name: Lock a server that is repaired, against the playbooks of the others
  metal3.baremetal.baremetal_host_action:
    names: [rack1-01]
    action: lock
    reason: RMA 4711, ask Kim
    until: "2026-11-27T18:00:00Z"

- name: Inspect all servers of a rack again
  metal3.baremetal.baremetal_host_action:
    names: "{{ groups['rack1'] }}"
    action: inspect

- name: Save the status of a host that moves to another cluster
  metal3.baremetal.baremetal_host_action:
    names: [rack1-01]
    action: save_status
  register: saved

- name: Restore it there, on a host that was created with the annotation baremetalhost.metal3.io/paused
  metal3.baremetal.baremetal_host_action:
    kubeconfig: target.kubeconfig
    hosts:
      - name: rack1-01
        action: restore_status
        status: "{{ saved.hosts[0].annotations['baremetalhost.metal3.io/status'] }}"

- name: Describe the hardware of a server that is not inspected
  metal3.baremetal.baremetal_host_action:
    hosts:
      - name: rack1-04
        action: set_hardware
        hardware:
          cpu: {arch: x86_64, count: 16}
          ramMebibytes: 65536
          nics: [{name: eno1, mac: "00:5c:52:31:3a:04"}]
          storage: [{name: /dev/sda, sizeBytes: 480103981056}]
"""

RETURN = r"""
hosts:
  description:
    - Each host, those of O(names) first, with the facts of M(metal3.baremetal.baremetal_host_info) as last read.
    - Only C(name), C(state), C(action), C(changed), C(failed) and C(error) when a host failed.
  returned: when the hosts were accepted
  type: list
  elements: dict
  contains:
    name:
      description: Name of the host.
      type: str
      returned: always
    action:
      description: What was asked for.
      type: str
      returned: always
    changed:
      description: Whether something was written.
      type: bool
      returned: always
    failed:
      description: Whether the host could not be written or did not show that the action was done.
      type: bool
      returned: always
    error:
      description: What went wrong, and the next step; empty when nothing did.
      type: str
      returned: always
    state:
      description: Provisioning state.
      type: str
      returned: always
    powered_on:
      description: Whether the server is powered on.
      type: bool
      returned: success
    annotations:
      description: Annotations of the host.
      type: dict
      returned: success
    seconds:
      description: How long the host took, in seconds.
      type: float
      returned: success
  sample:
    - {name: rack1-01, action: power_off, changed: true, failed: false, error: "", state: available, powered_on: false,
       seconds: 3.1}
counts:
  description: How many hosts there are, how many were written and how many failed.
  returned: when the hosts were accepted
  type: dict
  sample: {total: 2, changed: 2, failed: 0}
seconds:
  description: How long the module worked, in seconds.
  returned: when the hosts were accepted
  type: float
  sample: 3.4
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
  sample: [{"object": "BareMetalHost metal3/server-1", "action": "updated"}]
"""

from ansible_collections.metal3.baremetal.plugins.module_utils._host.action_module import run_baremetal_host_action


def main():
    """Run the module."""
    run_baremetal_host_action()


if __name__ == "__main__":
    main()
