#!/usr/bin/python
# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Sets how many pods a Deployment of a management plane has."""
from __future__ import annotations

DOCUMENTATION = r"""
module: plane_scale
short_description: Set how many pods a Deployment of a management plane has
version_added: "0.1.0"
description:
  - Sets the number of pods of one Deployment and waits until they are ready, or, with V(0), until all are gone.
options:
  namespace:
    description: Namespace of the Deployment.
    type: str
    required: true
  name:
    description: Name of the Deployment.
    type: str
    required: true
  replicas:
    description: Number of pods. With V(0) a Deployment that does not exist is fine.
    type: int
    required: true
  started_for:
    description:
      - What C(from_uid) of M(metal3.baremetal.plane_move) is, when a move starts this Deployment. It is noted in the
        annotation C(metal3.baremetal/started-by-move) of a Deployment that had no pod, until it has none again.
      - By it M(metal3.baremetal.plane_move) knows what may be stopped when a move is taken back.
    type: str
  checked:
    description:
      - The Deployment as another module has checked it, such as RV(metal3.baremetal.plane_move#module:ironic). One that
        was replaced or changed since is refused, and nothing is written. With O(replicas=0) one that is gone is fine.
    type: dict
    suboptions:
      uid:
        description: Its C(metadata.uid).
        type: str
        required: true
      generation:
        description: Its C(metadata.generation), which counts changes of its spec and annotations.
        type: int
        required: true
  confirm:
    description:
      - V(1), or the Deployment's name. Required when pods become fewer, since what they work on is interrupted.
    type: str
  wait_timeout_seconds:
    description: How long to wait.
    type: int
    default: 300
extends_documentation_fragment:
  - metal3.baremetal.kubernetes
  - metal3.baremetal.kubernetes.identity
  - metal3.baremetal.attributes
  - metal3.baremetal.attributes.actiongroup_kubernetes
attributes:
  check_mode:
    support: full
  diff_mode:
    support: full
  idempotent:
    support: full
requirements:
  - kubernetes >= 31
seealso:
  - module: metal3.baremetal.plane_components
  - module: metal3.baremetal.plane_ironic
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Stop Ironic before its hosts are moved to another plane
  metal3.baremetal.plane_scale:
    kubeconfig: ~/.kube/management
    namespace: baremetal-operator-system
    name: ironic
    replicas: 0
    confirm: ironic
"""

RETURN = r"""
replicas:
  description: Number of pods before.
  returned: success
  type: int
  sample: 1
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

from ansible_collections.metal3.baremetal.plugins.module_utils._plane.scale_module import run_plane_scale


def main():
    """Run the module."""
    run_plane_scale()


if __name__ == "__main__":
    main()
