#!/usr/bin/python
# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Keeps claims of hosts."""
from __future__ import annotations

DOCUMENTATION = r"""
module: host_claim
short_description: Claim bare metal hosts
version_added: "0.1.0"
description:
  - >-
    Keeps HostClaims: a wish for a host with some labels, and what to do with it. The answer is a
    BareMetalHost, perhaps of another namespace, see M(metal3.baremetal.host_deploy_policy).
options:
  claims:
    description: The claims.
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
      powered_on:
        description: Whether the host must be powered on; V(true) when it is not set.
        type: bool
      image:
        description: Image that is written to the host.
        type: dict
        suboptions:
          url:
            description: Where the host downloads it.
            type: str
          checksum:
            description: Checksum, or URL of a checksum file.
            type: str
          checksum_type:
            description: Kind of the checksum.
            type: str
            choices: [md5, sha256, sha512, auto]
          format:
            description: Format of the image.
            type: str
            choices: [raw, qcow2, vdi, vmdk, live-iso]
          oci_auth_secret_name:
            description: Name of the Secret with credentials for the registry of an C(oci://) image.
            type: str
      custom_deploy:
        description: Custom deploy method, in place of an image.
        type: dict
        suboptions:
          method:
            description: Name of the method.
            type: str
      user_data:
        description: Secret with user data.
        type: dict
        suboptions:
          name:
            description: Name of the Secret.
            type: str
            required: true
          namespace:
            description: Its namespace.
            type: str
      network_data:
        description:
          - Secret with network data. When the Secret is there, links that cannot stand on one another, VLANs, MTUs and
            second default routes in it are refused.
        type: dict
        suboptions:
          name:
            description: Name of the Secret.
            type: str
            required: true
          namespace:
            description: Its namespace.
            type: str
      meta_data:
        description: Secret with meta data.
        type: dict
        suboptions:
          name:
            description: Name of the Secret.
            type: str
            required: true
          namespace:
            description: Its namespace.
            type: str
      host_selector:
        description: Conditions for a host.
        type: dict
        suboptions:
          match_labels:
            description: Labels that it must have, with their values.
            type: dict
          match_expressions:
            description: More conditions for its labels.
            type: list
            elements: dict
            suboptions:
              key:
                description: Name of the label.
                type: str
                required: true
              operator:
                description: How the label is compared.
                type: str
                required: true
                choices: [in, notin, exists, '!', '=', '==', '!=', gt, lt]
              values:
                description: Values, for all operators but V(exists) and V(!).
                type: list
                elements: str
          in_namespace:
            description: Namespace that the host must be in; by default all whose HostDeployPolicy allows it.
            type: str
      consumer_ref:
        description: What uses the host.
        type: dict
        suboptions:
          api_version:
            description: Its API version.
            type: str
          kind:
            description: Its kind.
            type: str
          name:
            description: Its name.
            type: str
          namespace:
            description: Its namespace.
            type: str
          field_path:
            description: Part of it that is meant.
            type: str
          resource_version:
            description: Its resource version.
            type: str
          uid:
            description: Its UID.
            type: str
      failure_domain:
        description: Failure domain that is preferred.
        type: str
  wait_for:
    description:
      - >-
        V(associated) waits until the claim has a host, V(deleted) until the object is gone; both wait for the same
        by entries with O(claims[].state=absent).
    type: str
    choices: [associated, deleted]
extends_documentation_fragment:
  - metal3.baremetal.kubernetes
  - metal3.baremetal.attributes
  - metal3.baremetal.resources
  - metal3.baremetal.resources.wait
  - metal3.baremetal.attributes.actiongroup_kubernetes
notes:
  - >-
    The controller for HostClaims of BMO 0.13 does nothing yet, so this was checked up to the API server only, and
    no claim gets a host.
seealso:
  - module: metal3.baremetal.host_claim_info
  - module: metal3.baremetal.host_deploy_policy
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Claim a host of a rack
  metal3.baremetal.host_claim:
    claims:
      - name: build-01
        host_selector: {match_labels: {rack: r1}, in_namespace: metal3}
        image: {url: "https://images.example/node.qcow2", checksum: "https://images.example/node.qcow2.sha256"}
"""

RETURN = r"""
counts:
  description: >-
    How many entries there are and what became of them: C(total), C(created), C(updated), C(deleted), C(unchanged) and
    C(failed).
  returned: always
  type: dict
  sample: {total: 2, created: 1, updated: 0, deleted: 0, unchanged: 1, failed: 0}
claims:
  description: What became of each entry, in the order of O(claims).
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
    associated:
      description: Whether the claim has a host.
      type: bool
      returned: when the object is there
    host_name:
      description: Name of the BareMetalHost, empty when there is none.
      type: str
      returned: when the object is there
    host_namespace:
      description: Namespace of the BareMetalHost, empty when there is none.
      type: str
      returned: when the object is there
    powered_on:
      description: Whether the host is powered on.
      type: bool
      returned: when the object is there
    message:
      description: Message of the condition C(Associated).
      type: str
      returned: when the object is there
    reason:
      description: Reason of the condition C(Associated).
      type: str
      returned: when the object is there
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
  sample: [{"object": "HostClaim metal3/server-1", "action": "updated"}]
"""

from ansible_collections.metal3.baremetal.plugins.module_utils._resources.module import run_family


def main():
    """Run the module."""
    run_family("HostClaim")


if __name__ == "__main__":
    main()
