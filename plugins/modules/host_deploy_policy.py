#!/usr/bin/python
# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Says who may claim hosts."""
from __future__ import annotations

DOCUMENTATION = r"""
module: host_deploy_policy
short_description: Say which namespaces may claim the bare metal hosts of a namespace
version_added: "0.1.0"
description:
  - >-
    Keeps HostDeployPolicies: which namespaces' HostClaims may have the BareMetalHosts of the policy's own
    namespace.
options:
  policies:
    description: The policies.
    type: list
    elements: dict
    required: true
    suboptions:
      name:
        description: Name of the object.
        type: str
        required: true
      state:
        description: Whether the object is there. V(present) is refused while the stored one is being deleted.
        type: str
        choices: [present, absent]
        default: present
      labels:
        description: Labels of the object.
        type: dict
      annotations:
        description: Annotations of the object.
        type: dict
      host_claim_namespaces:
        description: The namespaces that may; nothing said allows none.
        type: dict
        suboptions:
          names:
            description: Their names.
            type: list
            elements: str
          name_matches:
            description: Regular expression that their names match.
            type: str
          has_labels:
            description: Labels that they all have.
            type: list
            elements: dict
            suboptions:
              name:
                description: Name of the label.
                type: str
                required: true
              value:
                description: Its value; any value when it is not said.
                type: str
extends_documentation_fragment:
  - metal3.baremetal.kubernetes
  - metal3.baremetal.attributes
  - metal3.baremetal.resources
  - metal3.baremetal.attributes.actiongroup_kubernetes
notes:
  - >-
    BMO 0.13 has the resource, but nothing that works with it, so this was checked up to the API server only.
seealso:
  - module: metal3.baremetal.host_claim
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Let the tenants' namespaces claim hosts
  metal3.baremetal.host_deploy_policy:
    namespace: metal3
    policies:
      - {name: tenants, host_claim_namespaces: {name_matches: "^tenant-", has_labels: [{name: hosts, value: allowed}]}}
"""

RETURN = r"""
counts:
  description: >-
    How many entries there are and what became of them: C(total), C(created), C(updated), C(deleted), C(unchanged) and
    C(failed).
  returned: always
  type: dict
  sample: {total: 2, created: 1, updated: 0, deleted: 0, unchanged: 1, failed: 0}
policies:
  description: What became of each entry, in the order of O(policies).
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
seconds:
  description: How long the whole run took, in seconds.
  returned: success and failure
  type: float
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
  sample: [{"object": "HostDeployPolicy metal3/server-1", "action": "updated"}]
"""

from ansible_collections.metal3.baremetal.plugins.module_utils._resources.module import run_family


def main():
    """Run the module."""
    run_family("HostDeployPolicy")


if __name__ == "__main__":
    main()
