#!/usr/bin/python
# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes what a management plane manages to an encrypted file."""
from __future__ import annotations

DOCUMENTATION = r"""
module: plane_backup
short_description: Back up what a management plane manages
version_added: "0.1.0"
description:
  - Writes the BareMetalHosts, clusters, machines, pools, claims and Secrets of a namespace, each with its status, to a
    file that is encrypted for the owners of O(recipients) in the format of C(age). What is written is what
    C(clusterctl move) would take along; what it would leave behind without a word is refused, but for Secrets.
  - Secrets that hosts (of BMCs, user data, network data, metadata, images) or configurations of nodes name are written
    whoever owns them. Those that C(clusterctl) would leave behind have in the file, and then in the plane that is
    restored, the label C(clusterctl.cluster.x-k8s.io/move), and no owner that is not in the file. One of a BMC that is
    not there is a warning; so are hosts of other namespaces, of which each needs a backup of its own.
  - The notes of hosts that have left the plane, by M(metal3.baremetal.host_move) or M(metal3.baremetal.plane_move), are
    written, too.
  - A rotation of a BMC's password that has not ended is a warning, since the BMC may have another password than the
    backup.
  - Nothing in the plane is changed or paused. Objects are read kind by kind, so that a backup is best taken while
    nothing is being deployed; M(metal3.baremetal.plane_restore) says what would become of each host.
  - While a move of the namespace by M(metal3.baremetal.plane_move) has not ended, no backup is made. One would have
    half of each plane, and take the place of a whole one.
  - Each run writes a file of its own, C(<namespace>.<digest>-<time>.age), readable by its owner only. The digest is
    that of the uid of the plane's cluster, so that planes whose namespaces have the same name may share a folder.
options:
  namespace:
    description: Namespace of hosts and clusters.
    type: str
    default: metal3
  rehearsal_programs:
    description:
      - Folder with the programs C(etcd) and C(kube-apiserver). With it the backup is restored by O(clusterctl) into a
        temporary API server, and compared object by object; what does not come back as it was is refused,
        and the file stays, as do those that O(keep) would delete. Values of Secrets are replaced by digests for it. No
        webhook and no controller takes part.
      - What is restored was read from the file with O(identity_file), without it is what was encrypted.
        M(metal3.baremetal.plane_programs) builds the programs.
    type: path
  clusterctl:
    description: Path of C(clusterctl), of the Cluster API version of the plane; required with O(rehearsal_programs).
    type: path
extends_documentation_fragment:
  - metal3.baremetal.kubernetes
  - metal3.baremetal.kubernetes.identity
  - metal3.baremetal.backup
  - metal3.baremetal.attributes
  - metal3.baremetal.attributes.actiongroup_kubernetes
attributes:
  check_mode:
    support: full
    details:
      - Everything is read and encrypted, and nothing is written.
  diff_mode:
    support: none
  idempotent:
    support: none
    details:
      - Each run takes a backup.
requirements:
  - cryptography >= 42, with O(rehearsal_programs)
  - setpriv (util-linux), with O(rehearsal_programs)
seealso:
  - module: metal3.baremetal.plane_restore
  - module: metal3.baremetal.plane_move
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Back up the plane
  metal3.baremetal.plane_backup:
    kubeconfig: ~/.kube/management
    directory: /var/backups/metal3
    recipients: "{{ backup_recipients }}"
    keep: 7
"""

RETURN = r"""
path:
  description: The file.
  returned: success
  type: str
  sample: /var/backups/metal3/metal3.5f1d8a03-2026-11-23T120000Z.age
taken_at:
  description: When it was taken.
  returned: success
  type: str
  sample: "2026-11-23T12:00:00Z"
sha256:
  description: Checksum of the file; V(null) in check mode.
  returned: success
  type: str
verified:
  description: Whether the written file was decrypted again and is what was read.
  returned: success
  type: bool
removed:
  description: Older backups that were, or would be, deleted.
  returned: success
  type: list
  elements: str
  sample: [/var/backups/metal3/metal3.5f1d8a03-2026-11-16T120000Z.age]
hosts:
  description: Names of the hosts.
  returned: success
  type: list
  elements: str
  sample: [rack1-01, rack1-02]
contents:
  description: Kind and name of each object.
  returned: success
  type: list
  elements: str
  sample: [BareMetalHost rack1-01, Secret rack1-01-bmc]
objects:
  description: Number of objects, by kind.
  returned: success
  type: dict
  sample: {BareMetalHost: 2, Cluster: 1, Machine: 1, Secret: 9}
rehearsal:
  description: What the rehearsal has shown; V(null) without one.
  returned: success
  type: dict
  contains:
    objects:
      description: How many objects arrived as they were.
      type: int
    seconds:
      description: How long it took, without starting its API servers.
      type: float
    resident_mib:
      description: Memory of its API servers, in MiB.
      type: int
  sample: {objects: 18, seconds: 21.4, resident_mib: 1047}
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

from ansible_collections.metal3.baremetal.plugins.module_utils._move.module import run_plane_backup


def main():
    """Run the module."""
    run_plane_backup()


if __name__ == "__main__":
    main()
