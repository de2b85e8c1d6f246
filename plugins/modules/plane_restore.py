#!/usr/bin/python
# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Brings a backup into a management plane, its hosts held."""
from __future__ import annotations

DOCUMENTATION = r"""
module: plane_restore
short_description: Restore a backup into a management plane
version_added: "0.1.0"
description:
  - Creates the objects of a backup that are not there, by C(clusterctl move --from-directory). Objects that are there
    stay as they are.
  - Hosts arrive held, with their status from the backup; the operator does nothing with them until
    M(metal3.baremetal.plane_move_hosts) releases them, with its option C(held_for=restore).
  - A host that somebody had paused when the backup was taken keeps that pause, and is not released. The operator takes
    it up when it is resumed, by the action C(resume) of M(metal3.baremetal.baremetal_host_action).
  - Updates of firmware (HostFirmwareComponents) are left out, with a warning. No status comes along, so that the
    operator would flash them once more, and servers may have newer firmware by now. So are remediations
    (Metal3Remediation), which would begin again, with a reboot.
  - Clusters arrive paused, and become what they were in the backup when all is there. Cluster API would make other
    machines for those that are still missing. A run that was killed leaves them paused, and the next one resumes them.
    A Cluster that is there and paused stays so.
  - A backup with objects of other kinds than those that M(metal3.baremetal.plane_backup) takes, or for one of
    Kubernetes' own namespaces, is refused.
  - Before anything is written, the result says for each host what would become of its server once released. A host
    whose server would be wiped, reinstalled or switched must be named in O(accept).
  - All of this is said again, as it is by then, of hosts that are held since an earlier run. Their backup must be the
    same one. Of other hosts that are there nothing is said, since nothing happens to them.
  - The same holds for a host that was a machine of a cluster and may be none any more. The clusters of the backup are
    asked, by their kubeconfigs in it, for their Nodes. One that does not answer may have been deleted since. A Node
    that is gone, or that has joined after the backup was taken, shows that the server is not what the backup says. One
    whose kubeconfig leads elsewhere than C(spec.controlPlaneEndpoint) of its Cluster is not asked, with a warning.
  - And for a host that was free and may be a node since, as after a cluster was scaled out. The next machine would be
    installed over it. A Node says on which host it runs, by its C(providerID) or the label C(metal3.io/uuid). While one
    that has joined after the backup was taken does not say so, or names a host that the backup does not have, or a
    cluster does not answer, no host that was free is released unless it is named.
  - And for a host behind whose BMC address another server is, by serial number and MAC addresses, which are compared
    with those that the inspection had found.
  - And for a host that this plane has handed over to another one since, by M(metal3.baremetal.plane_move) or
    M(metal3.baremetal.host_move). Two planes would manage its server.
  - And for a host whose BMC or boot MAC address another host of the plane has, as after it was renamed.
  - Hosts that had left the plane when the backup was taken are noted in the plane, so that
    M(metal3.baremetal.baremetal_host) does not enrol them.
  - A Cluster that is there and is another one than that of the backup, by its authority (Secret C(<cluster>-ca)) or its
    endpoint, gets no machines of the backup. Cluster API would delete machines of either, since there are too many.
  - While an object is being deleted nothing is restored under it, because machines would go with their Cluster, and
    their servers would be wiped.
  - The Secret of a BMC that is there with another content is a warning, because the operator logs in with it.
  - What a webhook or an admission policy of the plane refuses is found by a dry run of each object, which stores
    nothing and has no values of Secrets.
  - While a move of the namespace to another plane has not ended, nothing is restored. What a move to this plane has
    lost on its way is restored held for that move, which releases it when it has ended.
options:
  kubeconfig:
    description: Path of the kubeconfig of the plane; clusterctl reads the file, too.
    type: path
    required: true
  context:
    description: Context in O(kubeconfig); its current one by default.
    type: str
  namespace:
    description:
      - Namespace that the backup must be of. A backup of another one is refused, because whoever has the public key can
        make one that writes Secrets, clusters and machines into any namespace.
    type: str
    default: metal3
  path:
    description: Path of the backup file.
    type: path
    required: true
  sha256:
    description:
      - SHA-256 that the file must have, hexadecimal in small or capital letters, as RV(sha256) of a run in check mode
        or of M(metal3.baremetal.plane_backup) says it, with C(sha256:) before it or not. Another file is refused before
        it is decrypted, in check mode, too. Anybody can encrypt for a public key, so that a file that can be read may
        still be somebody else's.
    type: str
  identity_file:
    description: Path of a file with the secret key of one of the backup's recipients.
    type: path
    required: true
  clusterctl:
    description:
      - Path of C(clusterctl), of the Cluster API version of the plane. M(metal3.baremetal.plane_programs) builds it.
    type: path
    required: true
  work_dir:
    description: Folder for a lock and clusterctl's configuration, by default one in the user's cache.
    type: path
  servers:
    description:
      - What the servers' BMCs say now, as RV(metal3.baremetal.bmc_info#module:hosts) has it.
      - Of it C(system) (C(power_state), C(serial_number), C(sku)), C(nics) and C(ipmi) are used.
    type: list
    elements: dict
    default: []
  accept:
    description:
      - Names of hosts whose servers may be wiped, reinstalled, switched, taken for what they were or for another one,
        free for other machines although they may be nodes since, or managed by two planes or two hosts, once they are
        released.
      - Kind and name, as V(Secret rack1-01-bmc), of objects whose refusal by a dry run is a warning.
      - Kind and name, as V(Cluster prod), of Clusters that are those of the backup although their authority is another
        one.
      - Also those of hosts that are in the plane and that restored machines would take, although they are
        no longer theirs.
    type: list
    elements: str
    default: []
extends_documentation_fragment:
  - metal3.baremetal.kubernetes.identity
  - metal3.baremetal.attributes
attributes:
  check_mode:
    support: full
    details:
      - What would be refused is a warning.
  diff_mode:
    support: none
  idempotent:
    support: full
requirements:
  - kubernetes >= 31
  - pyrage >= 1.2
seealso:
  - module: metal3.baremetal.plane_backup
  - module: metal3.baremetal.plane_move_hosts
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: See what would become of the servers
  metal3.baremetal.plane_restore:
    kubeconfig: ~/.kube/management
    path: /var/backups/metal3/metal3.5f1d8a03-2026-11-23T120000Z.age
    identity_file: /media/key/identity.txt
    clusterctl: /usr/local/bin/clusterctl
  check_mode: true
"""

RETURN = r"""
due:
  description: Whether there is something to restore; like RV(ignore:changed), which a C(changed_when) replaces.
  returned: success
  type: bool
namespace:
  description: Namespace of the backup's objects.
  returned: success
  type: str
cluster_uid:
  description:
    - The uid of the Namespace C(kube-system) of the plane, by which a later task knows that it writes to the same one,
      as O(cluster_uid) of this module and of M(metal3.baremetal.plane_move_hosts).
  returned: success
  type: str
sha256:
  description: SHA-256 of the file, hexadecimal.
  returned: success
  type: str
taken_at:
  description: When the backup was taken.
  returned: success
  type: str
from_server:
  description: URL of the API server that it was taken of.
  returned: success
  type: str
verdicts:
  description: What would become of each host of the backup once it is released.
  returned: success
  type: list
  elements: dict
  contains:
    name:
      description: Name of the host.
      type: str
    effect:
      description: >-
        V(nothing), V(adopted), V(wiped), V(reinstalled), V(powered off or on), V(taken for what it was),
        V(taken for another one), V(free for other machines), V(managed by two planes) or V(managed by two hosts).
      type: str
    cause:
      description: Why.
      type: str
    not_asked:
      description: What would say more about the server, and nobody was asked; empty for a host that stays as it is.
      type: list
      elements: str
    is_there:
      description: Whether a host of this name is in the plane, which stays as it is.
      type: bool
    is_held:
      description: Whether that one is held since an earlier restore, so that it would be released.
      type: bool
    stays_paused:
      description: >-
        Whether somebody had paused the host, which is not there, so that it is restored paused and not released.
      type: bool
  sample:
    - {name: rack1-01, effect: adopted, cause: what is deployed is what is wanted, not_asked: [], is_there: false,
       is_held: false, stays_paused: false}
to_release:
  description:
    - Names of the hosts that are held when all is restored, for the option C(hosts) of
      M(metal3.baremetal.plane_move_hosts).
    - Empty while a move to this plane has not ended, which releases them.
  returned: success
  type: list
  elements: str
  sample: [rack1-01]
objects:
  description: Number of objects that are not there and were, or would be, created, by kind.
  returned: success
  type: dict
  sample: {BareMetalHost: 2}
created:
  description: Kind and name of each of these objects.
  returned: success
  type: list
  elements: str
  sample: [BareMetalHost rack1-01, Secret rack1-01-bmc-secret]
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

from ansible_collections.metal3.baremetal.plugins.module_utils._move.module import run_plane_restore


def main():
    """Run the module."""
    run_plane_restore()


if __name__ == "__main__":
    main()
