#!/usr/bin/python
# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Moves what a management plane manages to another one."""
from __future__ import annotations

DOCUMENTATION = r"""
module: plane_move
short_description: Move hosts and clusters to another management plane
version_added: "0.1.0"
description:
  - Moves the BareMetalHosts, clusters, machines, pools, claims and Secrets of a namespace to another management plane,
    by C(clusterctl move). Before anything is written, both planes are read and all that is in the way is reported at
    once.
  - In the way is a host or machine that something is being done with, or that is paused, detached or being deleted; a
    cluster that is paused or not up; an object that clusterctl would leave behind; a name that is taken over there; a
    kind or version that is not served there; a part of the plane that is missing, older or without an available pod
    there; a quota of the namespace there; a right that one of the two users lacks; a BMC that is not reached from
    there.
  - All objects are tried there by a dry run, which stores nothing. What a webhook, an admission policy or a definition
    there refuses is in the way, such as a ClusterClass while the feature gate C(ClusterTopology) of Cluster API is off.
    So is an object that would lose a field or get another value, unless O(accept) names it. What could not be asked so,
    as of a webhook without dry runs, is a warning. Values of Secrets are replaced by digests for it.
  - So is a Secret that a host names, of its BMC, its user, network or metadata or its image, and that clusterctl would
    leave behind because no moved object owns it and it has no label C(clusterctl.cluster.x-k8s.io/move). One that only
    configurations of nodes name (C(contentFrom), C(passwdFrom)) is a warning.
  - With O(rehearsal_programs) the move is rehearsed after these checks and before anything is written. The real
    clusterctl moves copies of all objects between two temporary API servers, one with the definitions of each plane,
    and what has arrived is compared object by object. What would be lost, changed or refused is refused
    here. Values of Secrets are replaced by digests for it. No webhook and no controller takes part in it.
  - With O(rehearsal_operator) the Bare Metal Operator takes part at the end of the rehearsal. A host that it would
    register, inspect, prepare, provision or deprovision again, or put into error, is refused here.
  - The hosts must be held, see M(metal3.baremetal.plane_move_hosts). The Ironic of this plane must be stopped, or have
    no node of the hosts any more (O(former_ironic_mode=external)). One that is not found has not stopped, so that this
    module looks for it. In check mode it must be one that can be stopped for good, else it must have stopped. In the
    way are a Deployment of Ironic here that runs and is not the one that is named; a name without a Deployment; one of
    the Ironic operator, which starts it again; a database that outlives the pods without O(former_ironic_url); an
    Ironic that the Bare Metal Operator here uses and that is another one, by its address and port; another Ironic of
    this machine (O(former_ironic_directory)); hosts that an earlier run has held for the end of another Ironic; and
    hosts of other namespaces, which would be left without an Ironic.
  - A record of the move, the ConfigMap C(metal3-baremetal-move) in the namespace of both planes, lets another run
    finish or undo what was interrupted. Objects are deleted by a record only if both planes have the same one and the
    uid fits.
  - Before the move has ended, what has arrived is compared with what was here, field by field without status. An object
    that has lost a field, or has another value in one, is reported by both names, and the hosts stay held, until it is
    corrected over there or accepted. What an earlier run has moved is known by digests in the record, which are of spec
    and data; their key is beside the journal, so that another machine says what it has not compared.
  - A journal, C(~/.local/state/metal3.baremetal/moves/*.jsonl) (or below E(XDG_STATE_HOME)) of the machine that the
    module runs on, says when a move began and ended, and what it moves; readable by its owner only, without secrets.
    It helps when neither plane answers; no run reads it. Without a place to write it no move begins.
  - Before such a move goes on, this plane is checked again as long as nothing has left it. What the record does not
    name is in the way, because C(clusterctl move) would take it along. So is an object that is being deleted over
    there, whose finalizers alone keep it.
options:
  namespace:
    description: Namespace, the same in both planes.
    type: str
    default: metal3
  state:
    description:
      - V(moved) moves, or finishes a move that was interrupted.
      - V(undone) takes back a move that was interrupted before it has deleted anything; hosts stay held. What is over
        there is deleted if it is the copy of what is here, and a host only if it is held; all else is refused.
      - Where no move is recorded, V(undone) says what goes back. It is refused while a Deployment of Ironic over there
        has the address or DHCP of the one here, runs, and was not started by a move from here
        (O(metal3.baremetal.plane_scale#module:started_for)).
    type: str
    choices: [moved, undone]
    default: moved
  clusterctl:
    description:
      - Path of C(clusterctl), of the Cluster API version of the planes. Required for O(state=moved). It reads the files
        of O(kubeconfig) and O(to_kubeconfig), too, in the contexts that were checked.
      - M(metal3.baremetal.plane_programs) builds it.
    type: path
  work_dir:
    description: Folder for a lock and clusterctl's configuration, by default one in the user's cache.
    type: path
  rehearsal_programs:
    description:
      - Folder with the programs C(etcd) and C(kube-apiserver), by which the move is rehearsed; without it, it is not.
        M(metal3.baremetal.plane_programs) builds them. The rehearsal needs O(clusterctl), too, and about 1 GiB of
        memory.
      - A move that was interrupted is not rehearsed again.
    type: path
  rehearsal_operator:
    description:
      - Whether the program C(baremetal-operator) of O(rehearsal_programs), too, works on the copies of the hosts that
        have arrived in the rehearsal, until it has decided what to do with each. It runs without Ironic, by its flag
        C(-test-mode), and reaches no server and no BMC; its webhook takes part. A few seconds and 60 MiB of memory.
      - What depends on Ironic, on a server or its power, or on firmware settings is not shown. Of the plane that takes
        over the definitions take part, not its operator; when that has another version, a warning says so.
    type: bool
    default: false
  to_may_be_stopped:
    description:
      - Whether check mode does without an answer of the plane that takes over, because a run without it starts that
        plane first. What is in the way here is checked, and a warning says what could not be.
    type: bool
    default: false
  former_ironic_mode:
    description:
      - How the Ironic that lets go runs. V(process), as processes of this machine; V(cluster), as
        O(former_ironic_deployment); V(external), one that goes on without the nodes of these hosts; V(none), the plane
        has none, or none any more.
      - By default V(cluster) with O(former_ironic_deployment), else V(process).
    type: str
    choices: [process, cluster, external, none]
  former_ironic_url:
    description:
      - URL of its API, by which whoever calls this module deletes the hosts' nodes before it is stopped; empty when
        nobody does. An Ironic with a database that outlives it has them still when it is started again.
      - With O(former_ironic_mode=cluster) and without it, the Bare Metal Operator must work with the address of
        O(former_ironic_deployment), or with that of a Service of its pods in O(former_ironic_namespace).
    type: str
    default: ""
  former_ironic_directory:
    description:
      - With O(former_ironic_mode=process), the folder of its plane on this machine. Its programs are looked for there,
        and among the processes of this machine. When none is found, the move is refused unless all hosts are held, as
        after a run that was killed; in a run that writes none may be left.
      - Another process of this machine that listens where O(former_ironic_url) leads is refused, for there are two
        Ironics. Without this option nobody looks.
    type: path
  former_ironic_namespace:
    description: Namespace of O(former_ironic_deployment).
    type: str
    default: baremetal-operator-system
  former_ironic_deployment:
    description:
      - Name of the Deployment of the Ironic that lets go, whose environment says which address it has and in which
        network it serves DHCP; empty for one that is a process of this machine.
    type: str
    default: ""
  machine_ironic:
    description:
      - What this machine has of the provisioning network, when one of the two Ironics is a process of it.
    type: dict
    suboptions:
      ip:
        description: IP address of Ironic's API.
        type: str
        default: ""
      keepalived_ip:
        description: Address that keepalived of the role provisioning_network holds here, which can move with Ironic.
        type: str
        default: ""
      let_go:
        description: What the role provisioning_network has let go here for another plane.
        type: list
        elements: str
        choices: [address, dhcp]
        default: []
      dhcp_networks:
        description: Networks in which this machine serves DHCP, as V(192.0.2.10/24).
        type: list
        elements: str
        default: []
  media_checks:
    description:
      - What M(metal3.baremetal.bmc_media_check) has returned as C(checks) of the hosts, for a medium of the image
        server over there. A BMC that did not take it is in the way.
    type: list
    elements: dict
    default: []
    suboptions:
      check:
        description: Name of the check.
        type: str
      status:
        description: V(problem) for a BMC that did not take the medium; all else is left out.
        type: str
      code:
        description: Name of the rule.
        type: str
      subject:
        description: Name of the host.
        type: str
      field:
        description: Path of the option.
        type: str
      actual:
        description: What was found.
        type: str
      expected:
        description: What is expected.
        type: str
      hint:
        description: What to do.
        type: str
      text:
        description: All of it as one line.
        type: str
  node_checks:
    description:
      - What M(metal3.baremetal.node_reach_check) has returned as C(checks). A host whose node does not reach the Ironic
        over there is in the way.
    type: list
    elements: dict
    default: []
    suboptions:
      check:
        description: Name of the check.
        type: str
      status:
        description: V(ok), V(problem), V(warning) or V(unknown).
        type: str
      code:
        description: Name of the rule.
        type: str
      subject:
        description: The host.
        type: str
      field:
        description: Path of the option.
        type: str
      actual:
        description: What was found.
        type: str
      expected:
        description: What is expected.
        type: str
      hint:
        description: What to do.
        type: str
      text:
        description: All of it as one line.
        type: str
  take_over:
    description:
      - Name of the machine on which a move was begun that was interrupted, when this is another one, or another
        O(work_dir). Its C(clusterctl) may outlive Ansible there, and two of them at a time would lose objects, so make
        sure first that neither runs any more.
      - Containers have a name of their own for each run.
    type: str
  accept:
    description:
      - Kind and name, as V(Secret rack1-01-bmc), of objects that may be over there other ones than they were here, and
        whose refusal by a dry run is a warning.
    type: list
    elements: str
    default: []
  confirm:
    description:
      - How many hosts are moved, or their names with commas between. Of a move that was interrupted all of its hosts,
        wherever they are by then.
    type: str
extends_documentation_fragment:
  - metal3.baremetal.two_planes
  - metal3.baremetal.two_planes.reach
  - metal3.baremetal.two_planes.identity
  - metal3.baremetal.kubernetes.identity
  - metal3.baremetal.attributes
attributes:
  check_mode:
    support: full
    details:
      - Both planes are read and checked; hosts need not be held.
  diff_mode:
    support: full
    details:
      - Lists the objects that are moved.
  idempotent:
    support: full
requirements:
  - kubernetes >= 31
  - cryptography >= 42, for a rehearsal
  - setpriv (util-linux), for a rehearsal
seealso:
  - module: metal3.baremetal.plane_move_hosts
  - module: metal3.baremetal.node_reach_check
  - module: metal3.baremetal.plane_scale
  - module: metal3.baremetal.plane_check
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Show what would be moved, and what is in the way
  metal3.baremetal.plane_move:
    kubeconfig: ~/.kube/bootstrap
    to_kubeconfig: ~/.kube/prod
    clusterctl: /usr/local/bin/clusterctl
    rehearsal_programs: /usr/local/bin
    rehearsal_operator: true
  check_mode: true
  diff: true

- name: Move 14 hosts and their clusters
  metal3.baremetal.plane_move:
    kubeconfig: ~/.kube/bootstrap
    to_kubeconfig: ~/.kube/prod
    clusterctl: /usr/local/bin/clusterctl
    confirm: "14"
"""

RETURN = r"""
to_server:
  description: URL of the API server that it is moved to.
  returned: success
  type: str
  sample: https://192.0.2.100:6443
due:
  description: Whether there is something to move; like RV(ignore:changed), which a C(changed_when) replaces.
  returned: success
  type: bool
begun:
  description: Whether an earlier run had begun this move.
  returned: success
  type: bool
confirmation:
  description: The confirmation that a run without check mode asks for; empty when it was given.
  returned: in check mode, when there is something to move or to take back; with O(state=undone) also where no move is
    recorded
  type: str
hosts:
  description: Names of the hosts that are moved.
  returned: success
  type: list
  elements: str
  sample: [rack1-01, rack1-02]
machines:
  description: Names of the Machines that are moved.
  returned: success
  type: list
  elements: str
  sample: [prod-x7k2p]
objects:
  description: Number of objects that are moved, by kind.
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
      description: Memory of its API servers, and of the operator, in MiB.
      type: int
    hosts:
      description: How many hosts the operator left as they were; V(null) without O(rehearsal_operator).
      type: int
    operator:
      description: The operator's version; V(null) without O(rehearsal_operator).
      type: str
  sample: {objects: 18, seconds: 26.1, resident_mib: 1104, hosts: 3, operator: v0.13.2}
fits:
  description: What was checked and fits, as texts; empty for a move that was begun before.
  returned: success
  type: list
  elements: str
  sample: ["room: all pods of the plane's 6 Deployments over there run already"]
from_uid:
  description:
    - The uid of the Namespace C(kube-system) of the plane that lets go, by which a later task knows that it writes to
      the same one (O(metal3.baremetal.plane_scale#module:cluster_uid)).
  returned: success
  type: str
  sample: 2c1e0c1e-5b0e-4a43-a1d5-3a9f0c1b7d55
to_uid:
  description: The same of the plane that takes over; empty when it was not asked (O(to_may_be_stopped)).
  returned: success
  type: str
  sample: 9d3b5a1e-77c4-4f3b-8f1b-0b6c3d2e1a90
handover:
  description: What goes from one Ironic to the other in a move that is due, or back when it is taken back.
  returned: success
  type: dict
  contains:
    starts:
      description: Whether the Deployment over there has no pod, and must be started when the former Ironic has stopped.
      type: bool
    address:
      description: Whether both have one address, which keepalived holds for one of them at a time.
      type: bool
    dhcp:
      description: Whether both serve DHCP in one network, one of them at a time.
      type: bool
  sample: {starts: true, address: true, dhcp: false}
ironic:
  description:
    - The Deployment of the Ironic over there as it was checked, for O(metal3.baremetal.plane_scale#module:checked);
      V(null) when it is a process, is not known, or no move is due or taken back.
  returned: success
  type: dict
  contains:
    uid:
      description: Its C(metadata.uid).
      type: str
    generation:
      description: Its C(metadata.generation).
      type: int
  sample: {uid: 7d0f6f0e-3b0c-4a43-8a5d-2c1e0f1b9d11, generation: 3}
nodes:
  description:
    - The hosts' nodes in the Ironic that lets go, for O(metal3.baremetal.ironic_node#module:nodes), by which it is
      known from another one.
  returned: success
  type: list
  elements: dict
  contains:
    name:
      description: Name of the node, as the Bare Metal Operator gives it.
      type: str
    uuid:
      description: Its UUID by the host's status; left out when that says none.
      type: str
    must_exist:
      description: Whether it must be there; not for a host that is held, whose node an earlier run may have deleted.
      type: bool
  sample: [{name: metal3~rack1-01, uuid: 1be26c0b-03f2-4d2e-ae87-c02d7f33c123, must_exist: true}]
former_ironic_place:
  description:
    - Which Ironic lets go, for O(metal3.baremetal.plane_move_hosts#module:former_ironic); empty when there is none or
      it is not known.
  returned: success
  type: str
  sample: process bastion:/var/lib/metal3/rack1
former_ironic:
  description:
    - The same of the Ironic that lets go (O(former_ironic_deployment)).
  returned: success
  type: dict
  contains:
    uid:
      description: Its C(metadata.uid).
      type: str
    generation:
      description: Its C(metadata.generation).
      type: int
  sample: {uid: 1f3c2b5e-90a1-4c57-bb0e-6d2f8e4a7c22, generation: 5}
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

from ansible_collections.metal3.baremetal.plugins.module_utils._move.module import run_plane_move


def main():
    """Run the module."""
    run_plane_move()


if __name__ == "__main__":
    main()
