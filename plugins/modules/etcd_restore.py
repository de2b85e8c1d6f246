#!/usr/bin/python
# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Restores a snapshot of etcd into a new control plane of a workload cluster."""
from __future__ import annotations

DOCUMENTATION = r"""
module: etcd_restore
short_description: Restore a snapshot of etcd into a new control plane
version_added: "0.1.0"
description:
  - Brings back what the API server of a workload cluster has stored, from a file of M(metal3.baremetal.etcd_snapshot),
    into a new machine of the cluster's control plane. For a cluster whose control plane is lost, or whose data is to be
    what it was. What was stored after the snapshot is lost.
  - Control plane machines that are left are deleted, their servers deprovisioned without a drain. Cluster API makes one
    machine from the cluster's description, with the authorities that the management cluster has kept, so that
    kubeconfigs, tokens and nodes of before go on. Then the number of machines is what it was, and Cluster API makes the
    others.
  - C(etcdutl) makes etcd's data of the snapshot here. The new machine waits with it before kubeadm runs, and takes it
    by one connection with TLS to the port of its API server; only data with the right digest is taken. No API server
    answers without the data, so that workers and their pods stay as they are.
  - What Cluster API says of the control plane, that it is initialized, is taken back for it, since no machine could
    join; the machine's KubeadmConfig has one more command until the data has arrived.
  - The machine's Node is named after its Machine, whatever the description names nodes after. A Node of the snapshot
    that has the name of its host would keep the former Machine's provider ID.
  - Nodes of control plane machines that are not there any more are deleted. Machines whose Nodes the snapshot does not
    know are named.
  - When the module runs on the controller, progress is printed while it waits.
options:
  kubeconfig:
    description: Path of the management cluster's kubeconfig, by default that of E(KUBECONFIG) or C(~/.kube/config).
    type: path
  context:
    description: Context in it, by default the current one.
    type: str
  namespace:
    description: Namespace of the cluster in the management cluster.
    type: str
    default: metal3
  cluster_name:
    description: Name of the cluster.
    type: str
    required: true
  path:
    description: Path of the snapshot file.
    type: path
    required: true
  sha256:
    description: SHA-256 checksum that the snapshot file must have, hexadecimal, with C(sha256:) before it or not.
    type: str
  identity_file:
    description: Path of a file with the secret key of one of the snapshot's recipients.
    type: path
    required: true
  etcdutl:
    description:
      - Path of C(etcdutl), of the minor version of etcd that the snapshot is of. M(metal3.baremetal.plane_programs)
        builds one.
    type: path
    required: true
  confirm:
    description: The cluster's name, repeated to confirm the restore.
    type: str
  delete_machines:
    description: The number of control plane machines that are left and are deleted; not needed when there is none.
    type: int
  take_over:
    description:
      - Name of the machine on which a restore of this cluster was begun that was interrupted, to begin again or go on
        with it from this one. Without it that is refused, since the other run may be at it still. On the machine itself
        it is not needed.
    type: str
  wait_timeout_seconds:
    description: How long to wait in all.
    type: int
    default: 3600
extends_documentation_fragment:
  - metal3.baremetal.attributes
attributes:
  check_mode:
    support: full
    details:
      - The file is read and all is checked; nothing is written.
  diff_mode:
    support: none
  idempotent:
    support: none
    details:
      - Each run restores. One that follows a run that was interrupted goes on when the restored API server answers;
        else it begins again with another machine.
requirements:
  - kubernetes >= 31
  - pyrage >= 1.2
  - cryptography >= 42
notes:
  - This machine must reach the new machine at the port of its API server (6443), as it reaches the cluster.
  - The new machine needs Python 3.6 or newer, which cloud-init brings along, and user data in the format of cloud-init.
  - The snapshot is for a moment in the folder for temporary files, which only this user can read; E(TMPDIR) chooses it.
  - A server whose BMC does not answer holds the restore up, because Cluster API waits until it is deprovisioned.
seealso:
  - module: metal3.baremetal.etcd_snapshot
  - module: metal3.baremetal.host_remediation
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Say what a restore would do
  metal3.baremetal.etcd_restore:
    kubeconfig: ~/.kube/management
    cluster_name: prod
    path: /var/backups/etcd/etcd.metal3.prod.5f1d8a03-2026-11-25T120000Z.age
    identity_file: ~/age/identity.txt
    etcdutl: /usr/local/bin/etcdutl
  check_mode: true

- name: Restore into a new control plane
  metal3.baremetal.etcd_restore:
    kubeconfig: ~/.kube/management
    cluster_name: prod
    path: /var/backups/etcd/etcd.metal3.prod.5f1d8a03-2026-11-25T120000Z.age
    identity_file: ~/age/identity.txt
    etcdutl: /usr/local/bin/etcdutl
    confirm: prod
    delete_machines: 3
"""

RETURN = r"""
cluster:
  description: Name of the cluster.
  returned: success
  type: str
  sample: prod
sha256:
  description: Checksum of the file.
  returned: success
  type: str
taken_at:
  description: When the snapshot was taken.
  returned: success
  type: str
  sample: "2026-11-25T12:00:00Z"
deleted_machines:
  description: Control plane machines that were, or would be, deleted.
  returned: success
  type: list
  elements: str
  sample: [prod-control-plane-x8j5d]
machine:
  description: The new machine; V(null) in check mode.
  returned: success
  type: str
  sample: prod-control-plane-7fkq2
node:
  description: Its Node; V(null) in check mode.
  returned: success
  type: str
  sample: prod-control-plane-7fkq2
removed_nodes:
  description: Nodes of control plane machines that are not there any more, which were deleted.
  returned: success
  type: list
  elements: str
  sample: [prod-control-plane-x8j5d]
missing_nodes:
  description: Machines that joined after the snapshot, whose Nodes it does not know. Restart their kubelets, for
    example by a reboot (M(metal3.baremetal.host_remediation)), or replace the machines. They are kept from health
    checks (annotation C(cluster.x-k8s.io/skip-remediation)), which would replace them at once, until that module has
    rebooted them or the action V(allow_remediation) of M(metal3.baremetal.machine_action) says otherwise.
  returned: success
  type: list
  elements: str
  sample: []
seconds:
  description: How long the module worked, in seconds; V(null) in check mode.
  returned: success
  type: float
  sample: 512.3
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

from ansible_collections.metal3.baremetal.plugins.module_utils._etcd.module import run_etcd_restore


def main():
    """Run the module."""
    run_etcd_restore()


if __name__ == "__main__":
    main()
