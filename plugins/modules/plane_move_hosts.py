#!/usr/bin/python
# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Holds hosts for a move to another management plane, and releases them."""
from __future__ import annotations

DOCUMENTATION = r"""
module: plane_move_hosts
short_description: Hold hosts for a move to another management plane, and release them
version_added: "0.1.0"
description:
  - With O(state=held), the operator stops working on the hosts of a namespace, and the status of each is saved at it,
    which no move takes along.
  - With O(state=released), it works on them again, in the plane where they are by then. Without the saved status it
    would inspect and clean servers that are in use. The module waits until each host is registered and what it was, and
    each machine of the move is a Node again. A restored host that the operator wipes or installs again is waited for
    until it is registered.
  - While a move of the namespace has not ended, hosts are not released. Of each there may be a copy in the other plane.
  - A host that has moved and has neither a status nor a saved one, or a saved one of another state than it had, stays
    held, and is an error. The others are released.
  - The same holds for a host that somebody has changed or deleted while it was held, so that the operator would
    deprovision its server or switch it off at once. M(metal3.baremetal.baremetal_host_action) resumes it with its
    number repeated.
  - Neither switches, restarts or writes to a server.
options:
  namespace:
    description: Namespace of the hosts.
    type: str
    default: metal3
  state:
    description: Whether they are held.
    type: str
    choices: [held, released]
    required: true
  hosts:
    description: Names of the hosts, by default all of the namespace. Each must be there; an empty list is none.
    type: list
    elements: str
  former_ironic:
    description:
      - With O(state=held), for the end of which Ironic, as RV(metal3.baremetal.plane_move#module:former_ironic_place)
        says it. It is noted at each host that this run holds (annotation C(metal3.baremetal/former-ironic)), and goes
        with O(state=released).
      - By it M(metal3.baremetal.plane_move) knows that a run which was killed may not have stopped the Ironic that a
        later run does not find.
    type: str
  held_for:
    description:
      - What the hosts are held for that O(state=released) releases; others stay as they are.
      - V(move) for M(metal3.baremetal.plane_move), V(restore) for M(metal3.baremetal.plane_restore), which holds the
        hosts that it brings by itself.
    type: str
    choices: [move, restore]
    default: move
  wait_timeout_seconds:
    description: How long to wait after O(state=released).
    type: int
    default: 600
extends_documentation_fragment:
  - metal3.baremetal.kubernetes
  - metal3.baremetal.kubernetes.identity
  - metal3.baremetal.attributes
  - metal3.baremetal.attributes.actiongroup_kubernetes
attributes:
  check_mode:
    support: full
    details:
      - The API server and its webhooks check the changes by a dry run. Nothing is waited for.
  diff_mode:
    support: full
  idempotent:
    support: full
requirements:
  - kubernetes >= 31
seealso:
  - module: metal3.baremetal.plane_move
  - module: metal3.baremetal.plane_restore
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Hold all hosts
  metal3.baremetal.plane_move_hosts:
    kubeconfig: ~/.kube/bootstrap
    state: held

- name: Let the operator of the other plane work on them
  metal3.baremetal.plane_move_hosts:
    kubeconfig: ~/.kube/prod
    state: released
"""

RETURN = r"""
hosts:
  description: The hosts that O(hosts) names.
  returned: always, but for a refusal
  type: list
  elements: dict
  contains:
    name:
      description: Name of the host.
      type: str
    changed:
      description: Whether it was held or released by this run.
      type: bool
    state:
      description: Its provisioning state before; V(new) for a host that has come without a status.
      type: str
  sample:
    - {name: rack1-01, changed: true, state: provisioned}
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
      description: A path, or the object as messages name it.
      type: str
    action:
      description: V(created), V(updated) or V(deleted).
      type: str
server:
  description: URL of the API server that the module worked on.
  returned: when the connection options led to one, also on failure
  type: str
  sample: https://192.0.2.10:6443
"""

from ansible_collections.metal3.baremetal.plugins.module_utils._move.module import run_plane_move_hosts


def main():
    """Run the module."""
    run_plane_move_hosts()


if __name__ == "__main__":
    main()
