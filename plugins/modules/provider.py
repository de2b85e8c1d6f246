#!/usr/bin/python
# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Applies providers' manifests for managers that run as local processes."""
from __future__ import annotations

DOCUMENTATION = r"""
module: provider
short_description: Apply providers' manifests for managers that run as processes
version_added: "0.1.0"
description:
  - Applies the definitions, roles, webhooks and namespaces of Cluster API providers and of the Bare Metal Operator whose
    managers run as processes on this machine instead of Deployments.
  - Deployments, Services and cert-manager's objects are left out; webhooks, of admission and of conversion, point to the
    local process. All webhooks stay on, with upstream's failure policies.
  - Reads what is there with one request for each kind and writes only what differs, by server-side apply.
extends_documentation_fragment:
  - metal3.baremetal.kubernetes
options:
  providers:
    description: The providers.
    type: list
    elements: dict
    default: []
    suboptions:
      manifest:
        description: File with the provider's objects, as M(metal3.baremetal.engine) renders it.
        type: path
        required: true
      webhook_url:
        description: Where the manager serves its webhooks.
        type: str
        required: true
      ca_file:
        description: Certificate authority that signed the manager's serving certificate.
        type: path
        required: true
  objects:
    description: Further objects to apply, for example namespaces.
    type: list
    elements: dict
    default: []
  timeout_seconds:
    description: How long to wait until new kinds are served.
    type: int
    default: 60
requirements:
  - kubernetes
  - PyYAML
attributes:
  check_mode:
    description: Can run in check mode and tell what would be written.
    support: full
  diff_mode:
    description: Returns details on what has changed when in diff mode.
    support: full
  idempotent:
    description: Does nothing when run again with the same options.
    support: full
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Apply what IPAM brings along
  metal3.baremetal.provider:
    kubeconfig: "{{ management_plane.dir }}/kubeconfig"
    providers:
      - manifest: "{{ management_plane.engine_dir }}/manifests/ipam.yaml"
        webhook_url: "https://127.0.0.1:{{ management_plane.ports.ipam_webhook }}"
        ca_file: "{{ management_plane.dir }}/pki/ca.crt"
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
"""

import json
import traceback

from ansible.module_utils.basic import AnsibleModule, missing_required_lib

from ansible_collections.metal3.baremetal.plugins.module_utils.kube import apply
from ansible_collections.metal3.baremetal.plugins.module_utils.kube.client import (
    HAS_KUBERNETES,
    KubeClient,
    kube_argument_spec,
)
from ansible_collections.metal3.baremetal.plugins.module_utils.kube.errors import KubeError
from ansible_collections.metal3.baremetal.plugins.module_utils.lab import manifests, provider

PROVIDER = {
    "manifest": {"type": "path", "required": True},
    "webhook_url": {"type": "str", "required": True},
    "ca_file": {"type": "path", "required": True},
}


def _diff(entries):
    """Return Ansible's diff: new objects by name, since definitions are long; of others the fields at stake."""
    diff = []
    for entry in entries:
        header = provider.label(entry)
        if entry.action == "create":
            diff.append({"before_header": header, "after_header": header, "before": "", "after": "(new object)\n"})
        elif entry.action == "update":
            before, after = (json.dumps(part, indent=1, sort_keys=True) + "\n" for part in (entry.before, entry.after))
            diff.append({"before_header": header, "after_header": header, "before": before, "after": after})
    return diff


def run(module):
    """Apply and return the module's result."""
    params = module.params
    client = KubeClient(params)
    entries = apply.plan(client, provider.desired(params["providers"], params["objects"]))
    if not module.check_mode:
        provider.write(client, entries, params["timeout_seconds"])
    created = [provider.label(entry) for entry in entries if entry.action == "create"]
    updated = [provider.label(entry) for entry in entries if entry.action == "update"]
    result = {"changed": bool(created or updated), "created": created, "updated": updated,
              "unchanged": len(entries) - len(created) - len(updated)}
    if module._diff:
        result["diff"] = _diff(entries)
    return result


def main():
    """Run the module."""
    module = AnsibleModule(
        argument_spec=dict(
            kube_argument_spec(),
            providers={"type": "list", "elements": "dict", "default": [], "options": PROVIDER},
            objects={"type": "list", "elements": "dict", "default": []},
            timeout_seconds={"type": "int", "default": 60},
        ),
        supports_check_mode=True,
    )
    if not HAS_KUBERNETES:
        module.fail_json(msg=missing_required_lib("kubernetes"))
    if not manifests.HAS_YAML:
        module.fail_json(msg=missing_required_lib("PyYAML"))
    try:
        result = run(module)
    except (KubeError, provider.ProviderError) as exc:
        module.fail_json(msg=str(exc), exception=traceback.format_exc())
    module.exit_json(**result)


if __name__ == "__main__":
    main()
