#!/usr/bin/python
# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Gives the manifests of a workload cluster without applying them."""
from __future__ import annotations

DOCUMENTATION = r"""
module: cluster_template
short_description: Give the manifests of a workload cluster without applying them
version_added: "0.1.0"
description:
  - Takes the description that M(metal3.baremetal.cluster) takes and gives the objects, for GitOps. It needs no
    management cluster, and checks what can be checked without one.
  - It does not know what there is. Where M(metal3.baremetal.cluster) keeps the machines of a worker pool whose
    C(replicas) are left out later, Cluster API leaves one of them when such manifests are applied, unless the pool has
    C(autoscaler). And the templates of machines that are there, in which a changed cleaning mode or host reuse counts,
    are not among the objects.
  - The manifests hold what the description holds, contents of files and hashes of passwords too. They are in the result
    and in the file; with C(no_log=true) they are in the file only. What names Secrets, as C(content_secret) and
    C(passwdFrom) do, can be shown to everybody.
options:
  dest:
    description:
      - Path of a file for the manifests, as YAML documents, or with O(layout=kustomize) of a folder.
      - Only its owner may read a new file. One of this user that is there keeps its permissions.
    type: path
  layout:
    description:
      - V(file) writes one file.
      - V(kustomize) writes a file for each object and a C(kustomization.yaml) that names them, for Argo CD, Flux or
        C(kubectl apply -k), and returns no objects. A C(kustomization.yaml) that something else has written is refused,
        because patches of a site belong in a folder that names this one. What is for the new cluster itself
        (O(network_addon=flannel)) is in the folder C(workload) in it, unless O(resource_set) brings it.
      - No file is deleted. Templates that are described no more stay in C(kustomization.yaml) as long as their files
        are there, because machines may still be made of them. Other files of an earlier run are left out of it. Both
        are a warning.
    type: str
    choices: [file, kustomize]
    default: file
  manifests:
    description:
      - Objects for the new cluster that O(resource_set) brings, as O(metal3.baremetal.cluster#module:manifests) takes
        them. With O(resource_set=none) they are ignored.
    type: list
    elements: raw
    default: []
  resource_set:
    description:
      - Who brings O(manifests), and the network add-on of this collection, into the cluster, see
        O(metal3.baremetal.cluster#module:resource_set).
      - With V(ApplyOnce) and V(Reconcile) the ClusterResourceSet and its ConfigMaps are among the objects, after those
        of the cluster. Not with O(api_version=v1beta1).
      - The Secret that objects of kind Secret are in is named by the ClusterResourceSet, and neither written nor
        returned, because such manifests go into repositories. A warning says which Secret it is and what to put into
        it; Cluster API brings it when it is there, and the rest before.
    type: str
    choices: [none, ApplyOnce, Reconcile]
    default: none
  field_names:
    description:
      - How errors name fields. V(options) by the options of this module, V(variables) by the inventory variables that
        the role P(metal3.baremetal.cluster#role) reads.
      - With V(variables) the variables of the inventory host by their names from before they began with C(cluster_)
        are refused.
    type: str
    choices: [options, variables]
    default: options
extends_documentation_fragment:
  - metal3.baremetal.cluster
  - metal3.baremetal.attributes
attributes:
  check_mode:
    support: full
  diff_mode:
    support: full
    details:
      - Of what is written to O(dest). Contents of files, commands, passwords, tokens, environment variables, strings of
        the meta data and credentials in URLs are hidden. What changes among them is marked, in a new template by what
        the machines had before.
  idempotent:
    support: full
    details:
      - The same description gives the same manifests.
seealso:
  - module: metal3.baremetal.cluster
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Write the manifests of a cluster into a repository
  metal3.baremetal.cluster_template:
    name: prod
    kubernetes_version: v1.35.4
    endpoint:
      host: 198.51.100.10
      holder: none
    image:
      url: https://images.example.org/node.qcow2
      checksum: https://images.example.org/node.qcow2.sha256sum
      checksum_type: sha256
      format: qcow2
    control_plane:
      replicas: 3
    workers:
      pool-a:
        replicas: 10
    dest: clusters/prod.yaml

- name: Write those of a small one as a folder for Argo CD or Flux
  metal3.baremetal.cluster_template:
    name: test
    kubernetes_version: v1.35.4
    endpoint:
      host: 198.51.100.11
      holder: none
    image:
      url: https://images.example.org/node.qcow2
      checksum: https://images.example.org/node.qcow2.sha256sum
      format: qcow2
    network_addon: flannel
    resource_set: Reconcile
    manifests: [monitoring.yml]
    dest: clusters/test
    layout: kustomize
"""

RETURN = r"""
objects:
  description: The objects, in the order in which they are best written, with the secrets of the description.
  returned: success, with O(layout=file)
  type: list
  elements: dict
manifest:
  description: The objects as YAML documents, with the secrets of the description.
  returned: success, with O(layout=file)
  type: str
network_addon_manifest:
  description:
    - The objects of O(network_addon=flannel) for the new cluster itself, as YAML documents; else, and where
      O(resource_set) brings them, empty.
  returned: success, with O(layout=file)
  type: str
dest:
  description: Path of the file or folder that was written.
  returned: when O(dest) is given
  type: str
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
"""

from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.module import run_cluster_template


def main():
    """Run the module."""
    run_cluster_template()


if __name__ == "__main__":
    main()
