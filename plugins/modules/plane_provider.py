#!/usr/bin/python
# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Applies providers' manifests for managers that run as local processes."""
from __future__ import annotations

DOCUMENTATION = r"""
module: plane_provider
short_description: Run providers' managers as processes of a lab
version_added: "0.1.0"
description:
  - Applies the definitions, roles, webhooks and namespaces of Cluster API providers and of the Bare Metal Operator, and
    runs their managers as supervised processes on this machine instead of Deployments.
  - Deployments, Services and cert-manager's objects are left out; webhooks, of admission and of conversion, point to
    the local process, which serves a certificate of the lab's authority. All webhooks stay on, with upstream's failure
    policies.
  - Each manager has the identity of the service account it would have in a pod, so that it runs under the roles that
    upstream ships.
  - Versions of what is there and of what is installed must fit together, which is checked first. What stands against an
    upgrade is refused then, too, as M(metal3.baremetal.plane_upgrade_plan) describes it.
  - Providers that become newer are waited for, whatever O(wait) says. When one does not come up, the objects and
    programs of before are put back, except for definitions of which objects may be stored in a version that is new.
  - Reads what is there with one request for each kind and writes only what differs, by server-side apply.
extends_documentation_fragment:
  - metal3.baremetal.kubernetes
  - metal3.baremetal.confirmation.planes
  - metal3.baremetal.attributes
  - metal3.baremetal.attributes.actiongroup_kubernetes
options:
  management_plane:
    description: The lab's figures, what its C(lab.json) holds.
    type: dict
    required: true
  providers:
    description: The providers.
    type: list
    elements: dict
    required: true
    suboptions:
      name:
        description: Name of the provider, as M(metal3.baremetal.plane_components) names parts.
        type: str
        required: true
        choices: [capi, cabpk, kcp, capm3, ipam, bmo]
      arguments:
        description:
          - Arguments of its manager, beside those that follow from the lab's figures (kubeconfig, ports, certificates).
        type: list
        elements: str
        default: []
      environment:
        description: Environment variables of its manager.
        type: dict
        default: {}
      restart_on:
        description: Files that its manager reads only when it starts; a change of their contents restarts it.
        type: list
        elements: path
        default: []
  objects:
    description: Further objects to apply, for example namespaces.
    type: list
    elements: dict
    default: []
  confirm:
    description:
      - How many providers have an upgrade to another minor, or their names with commas between. Check mode only warns
        without it.
    type: str
  show_table:
    description: Whether the version matrix is printed.
    type: bool
    default: false
  wait:
    description: Whether to wait until the managers are ready.
    type: bool
    default: true
  timeout_seconds:
    description: How long to wait until new kinds are served.
    type: int
    default: 60
requirements:
  - cryptography >= 42
  - kubernetes >= 31
  - PyYAML >= 6.0
attributes:
  check_mode:
    support: full
    details:
      - Says which managers would be started again. Objects of manifests that are not rendered yet are not compared,
        with a warning.
  diff_mode:
    support: full
    details:
      - New objects are listed by name. Of managers it says what differs, not how.
  idempotent:
    support: full
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Run IPAM
  metal3.baremetal.plane_provider:
    kubeconfig: "{{ management_plane.dir }}/kubeconfig"
    management_plane: "{{ management_plane }}"
    providers:
      - name: ipam
"""

RETURN = r"""
created:
  description: Objects that were created, or would be in check mode.
  returned: always
  type: list
  elements: str
  sample: [CustomResourceDefinition ippools.ipam.metal3.io]
updated:
  description: Objects that were updated, or would be in check mode.
  returned: always
  type: list
  elements: str
unchanged:
  description: Number of objects that were as they should be.
  returned: always
  type: int
certificates:
  description: Certificates and kubeconfigs that were created, or would be in check mode, and why.
  returned: always
  type: list
  elements: dict
  sample: [{name: /home/me/labs/lab/kubeconfigs/ipam, reason: token missing}]
programs:
  description: What was done to each manager.
  returned: always
  type: dict
  sample: {ipam: started}
upgrades:
  description: The providers that become newer.
  returned: success
  type: list
  elements: dict
  contains:
    part:
      description: Name of the provider.
      type: str
    found:
      description: Version that was there.
      type: str
    planned:
      description: Version that it was brought to.
      type: str
    interrupts:
      description: Whether a confirmation is required.
      type: bool
  sample:
    - {part: bmo, found: v0.13.1, planned: v0.14.0, interrupts: true}
confirmation:
  description: In check mode, what a run without it would be refused with because O(confirm) is missing; else empty.
  returned: success
  type: str
  sample: ""
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
  sample: [{"object": "Namespace capi-system", "action": "updated"}]
"""

from ansible_collections.metal3.baremetal.plugins.module_utils._plane.provider_module import run_plane_provider


def main():
    """Run the module."""
    run_plane_provider()


if __name__ == "__main__":
    main()
