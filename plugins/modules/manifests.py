#!/usr/bin/python
# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Applies manifests to a cluster."""
from __future__ import annotations

DOCUMENTATION = r"""
module: manifests
short_description: Apply manifests to a cluster and wait until they are rolled out
version_added: "0.1.0"
description:
  - Applies objects of any kind by server-side apply, for example a workload cluster's network add-on.
  - Current objects are read by one request for each kind and namespace; the API server and its webhooks check all
    changes by a dry run before the first one is written; only differences are written, side by side.
  - Namespaces and CustomResourceDefinitions come first, then what pods refer to, then workloads, then webhooks, and
    last objects of kinds that the manifests themselves define.
  - Objects that are being deleted are refused with what holds them, all at once and before anything is written. Those
    that only Kubernetes itself holds, for example after a removal of a moment ago, are waited for within
    O(wait_timeout_seconds) and created again; check mode does not wait.
  - Fields that an earlier run set and that the manifests do not hold any more are removed. Objects that are not listed
    any more stay.
options:
  manifests:
    description:
      - A text with a line break holds YAML documents, any other text is the path of a file with YAML documents, on the
        machine that the module runs on. A dictionary is one object.
      - For templates use P(ansible.builtin.template#lookup).
    type: list
    elements: raw
    required: true
  namespace:
    description: Namespace of objects that name none and need one.
    type: str
    default: default
  wait:
    description:
      - Whether to wait until Deployments, DaemonSets, StatefulSets, Jobs and CustomResourceDefinitions among the
        objects are rolled out. A pod that can't start ends the wait early, with the reason.
    type: bool
    default: true
  wait_timeout_seconds:
    description: How long to wait in all.
    type: int
    default: 300
extends_documentation_fragment:
  - metal3.baremetal.kubernetes
  - metal3.baremetal.workload
  - metal3.baremetal.attributes
  - metal3.baremetal.attributes.actiongroup_kubernetes
attributes:
  check_mode:
    support: full
    details:
      - The API server and its webhooks check the changes by a dry run, except for objects in a namespace or of a kind
        that does not exist yet. Nothing is waited for.
      - When the cluster of O(cluster_name) does not exist yet, all objects are reported as new.
  diff_mode:
    support: full
    details:
      - Values of Secrets are hidden, and so are passwords, tokens and contents of files in other objects. What changes
        among them is marked.
  idempotent:
    support: full
seealso:
  - module: metal3.baremetal.cluster
  - module: metal3.baremetal.service_probe
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: A network add-on for a workload cluster
  metal3.baremetal.manifests:
    cluster_name: prod
    manifests:
      - "{{ lookup('ansible.builtin.template', 'flannel.yml.j2') }}"
      - files/priority-classes.yml

- name: One object, in the cluster of a kubeconfig
  metal3.baremetal.manifests:
    kubeconfig: ~/.kube/prod
    manifests:
      - apiVersion: v1
        kind: Namespace
        metadata:
          name: shop
"""

RETURN = r"""
objects:
  description: Each object, in the manifests' order.
  returned: success
  type: list
  elements: dict
  contains:
    object:
      description: Kind, namespace and name.
      type: str
      returned: always
    action:
      description: V(created), V(updated) or V(unchanged).
      type: str
      returned: always
  sample:
    - {object: Namespace shop, action: created}
counts:
  description: >-
    How many objects there are: C(total), C(created), C(updated), C(deleted), C(unchanged) and C(failed).
  returned: success
  type: dict
  sample: {total: 2, created: 1, updated: 0, deleted: 0, unchanged: 1, failed: 0}
seconds:
  description: How long the wait took, in seconds.
  returned: when waited
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
  description: URL of the API server that the module worked on, which is the workload cluster's with O(cluster_name).
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
  sample: [{"object": "Namespace kube-flannel", "action": "updated"}]
"""

from ansible_collections.metal3.baremetal.plugins.module_utils._manifests.module import run_manifests


def main():
    """Run the module."""
    run_manifests()


if __name__ == "__main__":
    main()
