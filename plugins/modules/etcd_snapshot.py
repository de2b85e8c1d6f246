#!/usr/bin/python
# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes snapshots of workload clusters' etcd to encrypted files."""
from __future__ import annotations

DOCUMENTATION = r"""
module: etcd_snapshot
short_description: Take snapshots of the etcd of workload clusters
version_added: "0.1.0"
description:
  - Has etcd of each cluster send a consistent snapshot, and writes it to a file that is encrypted for the owners of
    O(recipients) in the format of C(age), all clusters side by side. A snapshot has all that a cluster's API server
    stores, its Secrets included.
  - etcd is reached through the cluster's API server (port-forward to its pod), with a certificate for an hour that the
    authority in the Secret C(<cluster>-etcd) of the management cluster issues. Nothing is started in the cluster, and
    nothing in it is changed.
  - A member of etcd is asked that has all that was written, or the cluster fails. The snapshot is compared with the
    digest that etcd sends along.
  - Each run writes a file of its own for each cluster, C(etcd.<namespace>.<cluster>.<digest>-<time>.age), readable by
    its owner only. The digest is that of the cluster's uid.
  - Decrypted it is a compressed tar archive with C(about.json) and C(snapshot.db), which C(etcdutl) takes.
  - M(metal3.baremetal.etcd_restore) restores it.
options:
  namespace:
    description: Namespace of the clusters in the management cluster.
    type: str
    default: metal3
  clusters:
    description: Names of the clusters.
    type: list
    elements: str
    required: true
extends_documentation_fragment:
  - metal3.baremetal.kubernetes
  - metal3.baremetal.backup
  - metal3.baremetal.attributes
  - metal3.baremetal.attributes.actiongroup_kubernetes
attributes:
  check_mode:
    support: full
    details:
      - etcd is asked whether it answers, and nothing is written.
  diff_mode:
    support: none
  idempotent:
    support: none
    details:
      - Each run takes snapshots.
requirements:
  - cryptography >= 42
notes:
  - Of clusters whose control plane Cluster API makes by kubeadm, with etcd on its machines.
  - The kubeconfig of the workload cluster needs to create C(pods/portforward) in C(kube-system); an administrator's
    does.
seealso:
  - module: metal3.baremetal.etcd_restore
  - module: metal3.baremetal.plane_backup
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Take a snapshot of two clusters
  metal3.baremetal.etcd_snapshot:
    kubeconfig: ~/.kube/management
    clusters: [prod, stage]
    directory: /var/backups/etcd
    recipients: "{{ etcd_recipients }}"
    keep: 14
"""

RETURN = r"""
clusters:
  description: Each cluster, in the order of O(clusters).
  returned: when the clusters were asked, also on failure
  type: list
  elements: dict
  contains:
    name:
      description: Name of the cluster.
      type: str
    changed:
      description: Whether a snapshot was, or would be, taken.
      type: bool
    path:
      description: The file; V(null) when there is none.
      type: str
    sha256:
      description: Checksum of the file; V(null) when there is none.
      type: str
    taken_at:
      description: When it was taken.
      type: str
    bytes:
      description: Size of the snapshot, before compression.
      type: int
    node:
      description: Node of the member of etcd that has sent it.
      type: str
    revision:
      description: Revision of etcd just before.
      type: int
    etcd_version:
      description: Version of etcd.
      type: str
    kubernetes_version:
      description: Version of the control plane.
      type: str
    verified:
      description: Whether the written file was decrypted again and is what etcd has sent.
      type: bool
    removed:
      description: Older snapshots of the cluster that were, or would be, deleted.
      type: list
      elements: str
    error:
      description: Why there is no snapshot, V(null) when there is one.
      type: str
  sample:
    - name: prod
      changed: true
      path: /var/backups/etcd/etcd.metal3.prod.5f1d8a03-2026-11-25T120000Z.age
      sha256: 7d865e959b2466918c9863afca942d0fb89d7c9ac0c99bafc3749504ded97730
      taken_at: "2026-11-25T12:00:00Z"
      bytes: 14684192
      node: prod-control-plane-x8j5d
      revision: 184223
      etcd_version: 3.6.16
      kubernetes_version: v1.35.4
      verified: true
      removed: []
      error: null
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

from ansible_collections.metal3.baremetal.plugins.module_utils._etcd.module import run_etcd_snapshot


def main():
    """Run the module."""
    run_etcd_snapshot()


if __name__ == "__main__":
    main()
