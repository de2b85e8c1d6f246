#!/usr/bin/python
# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Gives single hosts to another management plane, with their status."""
from __future__ import annotations

DOCUMENTATION = r"""
module: host_move
short_description: Give single hosts to another management plane, with their status
version_added: "0.1.0"
description:
  - Detaches hosts, which takes them out of the Ironic of their plane; makes them in another plane with their status,
    their Secrets and what else belongs to them; waits until each is registered there and what it was; then deletes them
    where they came from.
  - No server is switched, restarted or written to. At no moment has more than one Ironic power over a server.
  - A run that was interrupted, at any point, is taken up by the next one with the same options.
  - Hosts with a consumer, such as machines of a cluster, are refused; M(metal3.baremetal.plane_move) moves them with
    their cluster.
  - Secrets that a host names are copied, and stay where they came from, unless the operator made the host their owner.
options:
  namespace:
    description: Namespace of the hosts in both planes; made over there when it is not there.
    type: str
    default: metal3
  hosts:
    description: Names of the hosts.
    type: list
    elements: str
    required: true
  confirm:
    description:
      - How many hosts are moved, or their names with commas between. Hosts that an interrupted run has begun to move
        count, those that are there for good do not.
    type: str
  wait_timeout_seconds:
    description: How long each of the waits, for detached, registered and deleted hosts, may take.
    type: int
    default: 600
extends_documentation_fragment:
  - metal3.baremetal.two_planes
  - metal3.baremetal.two_planes.reach
  - metal3.baremetal.confirmation
  - metal3.baremetal.attributes
attributes:
  check_mode:
    support: full
    details:
      - All that is checked before the first write is checked, and nothing is written.
  diff_mode:
    support: full
  idempotent:
    support: full
requirements:
  - kubernetes >= 31
seealso:
  - module: metal3.baremetal.plane_move
  - module: metal3.baremetal.baremetal_host_action
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Give two servers to the plane of another site
  metal3.baremetal.host_move:
    kubeconfig: ~/.kube/rack1
    to_kubeconfig: ~/.kube/rack2
    hosts: [rack1-01, rack1-02]
    confirm: "2"
"""

RETURN = r"""
due:
  description: Whether there was something to move, or in check mode is.
  returned: always, but for a refusal
  type: bool
confirmation:
  description: In check mode, what a run without it would be refused for; empty for nothing.
  returned: always, but for a refusal
  type: str
to_server:
  description: URL of the API server of the plane that takes over.
  returned: always, but for a refusal
  type: str
  sample: https://192.0.2.20:6443
hosts:
  description: The hosts that were asked for, by name.
  returned: always, but for a refusal
  type: list
  elements: dict
  contains:
    name:
      description: Name of the host.
      type: str
    changed:
      description: Whether this run has moved it, or finished its move.
      type: bool
    state:
      description: Its provisioning state before.
      type: str
    was:
      description: >-
        How far it had come before; V(here), V(detaching) and V(both) for what an interrupted run had begun, V(there).
      type: str
  sample:
    - {name: rack1-01, changed: true, state: provisioned, was: here}
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
  description: URL of the API server of the plane that lets go.
  returned: when the connection options led to one, also on failure
  type: str
  sample: https://192.0.2.10:6443
"""

from ansible_collections.metal3.baremetal.plugins.module_utils._move.module import run_host_move


def main():
    """Run the module."""
    run_host_move()


if __name__ == "__main__":
    main()
