#!/usr/bin/python
# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes, changes and deletes workload clusters."""
from __future__ import annotations

DOCUMENTATION = r"""
module: cluster
short_description: Make, change and delete workload clusters on bare metal hosts
version_added: "0.1.0"
description:
  - From a short description it creates all objects of Cluster API, CAPM3 and IPAM that a cluster of kubeadm nodes needs
    (Cluster, Metal3Cluster, KubeadmControlPlane, MachineDeployments, KubeadmConfigTemplates, Metal3MachineTemplates,
    Metal3DataTemplates, IPPools, MachineHealthChecks, Metal3RemediationTemplates), and waits until the cluster is
    there.
  - Before it writes, it checks the description, that enough hosts are free for each selector, their memory, disks and
    interfaces, pools, endpoint, image and versions. All mistakes are reported at once.
  - Templates are named after their content. A change creates a new template and moves the reference to it, so that the
    machines roll; templates that nothing refers to any more are deleted afterwards. In check mode it reports what would
    roll and which machines. A change of O(automated_cleaning_mode) or O(node_reuse) alone is made in the templates that
    there are, and replaces no machine.
  - While it waits it shows for each machine at which of the 15 steps of CAPM3's deployment workflow it is. It stops
    early when waiting can't help, with the cause.
  - When the wait ends before the machines of a rollout are ready, it pauses what is replacing machines, so that nothing
    more is replaced unattended; see O(rollout).
options:
  state:
    description:
      - Whether the cluster must exist.
      - V(absent) deletes it with its machines, templates and pools, and waits until its hosts are available again.
    type: str
    choices: [present, absent]
    default: present
  confirm:
    description:
      - For O(state=absent) the cluster's name once more, alone or as C(<namespace>/<name>), of which there may be
        several with commas between. It is required, for the machines' disks are wiped.
      - For O(state=present) the number of machines that the change deletes, when it takes any. Without it such a change
        is refused, with each machine and its host named, and with what stands in the way. These are the machines of a
        pool of workers that is deleted, those that go when the replicas become fewer, and all of a control plane or
        pool that rolls out. Of one that rolls out with surge, those that have never become a node do not count.
      - The number counts for this cluster only as C(<namespace>/<name>:<number>), of which there may be several with
        commas between.
      - Check mode does not ask for it. It warns, with what a run without it would ask for.
    type: str
  confirm_by_name:
    description:
      - Whether O(confirm) must name the cluster, as C(<namespace>/<name>:<number>) when O(state=present), and as
        C(<namespace>/<name>) when O(state=absent).
      - For runs over several clusters, where a number alone would count for each of them, and a name for each of that
        name.
    type: bool
    default: false
  adopt:
    description:
      - The cluster's name once more, to take over, or for O(state=absent) to delete, objects that this collection has
        not made. They are known by the label C(app.kubernetes.io/managed-by). Without it they stay unchanged, and the
        run is refused.
      - For O(state=absent) only a Cluster of others is refused. Templates and IPPools of others that refer to the
        cluster stay, with a warning that names them.
    type: str
  rollout:
    description:
      - What becomes of a rollout that a run has stopped because a new machine did not become ready.
      - V(described) lets it go on when the description of its machines is another one by now, and takes the pause away
        in the same write. With the same description the run is refused.
      - V(resume) lets it go on with the same description, for a cause that lay elsewhere and is gone.
      - V(rollback) writes the templates, the version and the control plane's kubeadm configuration of before into what
        is stopped, and nothing else, whatever the description says. Machines that have become nodes since are confirmed
        by their number, as in any rollout. The next run without it does what the description says, and so asks for the
        number of the same rollout unless the description was corrected. Without a stopped rollout it writes nothing.
      - A cluster with O(topology) goes back to the class of before, one with O(cluster_class) to the class, the
        variables and the classes of pools of before. There is no way back to a former Kubernetes version, which Cluster
        API refuses for both.
      - A pause of others is never taken away.
    type: str
    choices: [described, resume, rollback]
    default: described
    version_added: "0.1.0"
  check_hosts:
    description:
      - Whether the description is checked against hosts, pools, endpoints and versions in the management cluster.
      - Endpoints and versions are outside of O(namespace). When the API server does not let them be read, a warning
        says what was not checked.
    type: bool
    default: true
  dhcp:
    description:
      - What DHCP lends on the nodes' network, for O(check_hosts) of a new cluster. Where O(endpoint.host) is among it,
        it must be kept for the one host that the control plane selects, and O(endpoint.holder) be V(none). Ranges of
        O(networks) must have none of it, but for kept addresses that are preallocated there. Of a cluster that is there
        this is asked of addresses that its ranges do not have yet.
      - Its suboptions are those of O(metal3.baremetal.provisioning_network#module:dhcp) that are about addresses.
    type: dict
    version_added: "0.1.0"
    suboptions:
      ranges:
        description: Ranges of addresses to lend.
        type: list
        elements: dict
        default: []
        suboptions:
          first:
            description: First address.
            type: str
            required: true
          last:
            description: Last address.
            type: str
            required: true
          network:
            description: Network behind a DHCP relay.
            type: str
          router:
            description: Router of the range.
            type: str
      hosts:
        description: Servers that addresses are kept for.
        type: list
        elements: dict
        default: []
        suboptions:
          name:
            description: Host name that DHCP gives.
            type: str
          mac:
            description: MAC address of the card.
            type: str
            required: true
          addresses:
            description: Addresses that are kept for it.
            type: list
            elements: str
            default: []
  virtual_routers:
    description:
      - Virtual routers of others, such as those by which machines of a plane hold its address. With O(check_hosts) a
        new endpoint that keepalived holds is refused whose number one of them has on the same network.
        P(metal3.baremetal.virtual_routers#filter) makes them of an inventory.
    type: list
    elements: dict
    default: []
    suboptions:
      owner:
        description: Whose it is, for messages.
        type: str
        required: true
      address:
        description: The address, with the prefix of its network where that is known.
        type: str
        required: true
      number:
        description: See O(endpoint.virtual_router_id).
        type: int
        required: true
  neighbours:
    description:
      - Other clusters that are created at the same time, for O(check_hosts). Those of the same O(namespace) take hosts
        and addresses of pools too, so that there must be enough for all. What they are going to have counts as if they
        had it already. P(metal3.baremetal.cluster_needs#filter) makes
        them of an inventory.
    type: list
    elements: dict
    default: []
    suboptions:
      name:
        description: Name of the cluster.
        type: str
        required: true
      namespace:
        description: Its namespace.
        type: str
        required: true
      virtual_router:
        description: Of its endpoint, if keepalived holds that. Others on the same network need other numbers.
        type: dict
        suboptions:
          address:
            description: Address of the endpoint.
            type: str
            required: true
          number:
            description: See O(endpoint.virtual_router_id).
            type: int
            required: true
      endpoint:
        description: Its endpoint. Each cluster needs one of its own, which no pool gives away.
        type: dict
        suboptions:
          host:
            description: See O(endpoint.host).
            type: str
            required: true
          port:
            description: See O(endpoint.port).
            type: int
            required: true
      own_pools:
        description:
          - The pools of addresses that it makes for itself. Those of the same O(namespace) have no address in common.
        type: list
        elements: dict
        default: []
        suboptions:
          name:
            description: Name of the IPPool.
            type: str
            required: true
          ranges:
            description: The addresses that it gives away.
            type: list
            elements: dict
            required: true
            suboptions:
              start:
                description: First address.
                type: str
              end:
                description: Last address.
                type: str
              subnet:
                description: Subnet of the addresses.
                type: str
      groups:
        description: Its control plane, its pools of workers and its standalone machines.
        type: list
        elements: dict
        required: true
        suboptions:
          role:
            description: What they are.
            type: str
            required: true
            choices: [control-plane, worker, standalone]
          name:
            description: Name of the pool of workers or of the machine, C(control-plane) for the control plane.
            type: str
            required: true
          replicas:
            description: See O(control_plane.replicas).
            type: int
          autoscaler:
            description: See O(control_plane.autoscaler).
            type: dict
          host_selector:
            description: See O(host_selector).
            type: dict
          host_selector_expressions:
            description: See O(host_selector_expressions).
            type: list
            elements: dict
          pools:
            description: Names of the pools that each of these machines takes an address of.
            type: list
            elements: str
            default: []
  check_network:
    description:
      - Whether the image, its checksum file and the endpoint of a new cluster are looked at over the network, from
        where the module runs.
      - With O(ironic_pod) the servers of image and checksum file are asked from there, too, whether they answer for
        these URLs. Logins and queries of URLs are left out of that question, and certificates are not looked at.
    type: bool
    default: true
  image_ca_file:
    description: Path of a file with the image server's certificate authority; the system's by default.
    type: path
  wait_for:
    description:
      - What to wait for. For O(state=absent) anything but V(none) waits until all is gone.
      - V(initialized) requires that the API server answers, and the kubeconfig.
      - V(nodes) requires a node for each machine, ready or not; a cluster whose network add-on comes later gets
        this far.
      - V(available) requires that all machines and the Cluster are available.
    type: str
    choices: [none, initialized, nodes, available]
    default: available
  wait_timeout_seconds:
    description: How long to wait in all. An API server that does not answer is tried until then.
    type: int
    default: 3600
  node_startup_timeout_seconds:
    description: How long a deployed machine may take to become a node before its bootstrap counts as failed; V(0)
      for no limit.
    type: int
    default: 900
  prune:
    description:
      - Whether worker pools and health checks that are not described any more are deleted, and templates that nothing
        refers to any more. Pools with machines go only by O(confirm); without O(workers) all pools stay.
      - Pools of addresses that the collection created and that are not described any more go when no machine has an
        address of them; a warning names those that stay.
    type: bool
    default: true
  plan_only:
    description:
      - Whether to check and plan as check mode does, and to write nothing, but to fail when machines would go and
        O(confirm) does not have their number. So what costs time or writes elsewhere, such as a backup, is begun only
        when the change itself would be.
    type: bool
    default: false
  verify:
    description:
      - Whether, with O(wait_for=available), the cluster itself is asked at the end. Each node must be Ready and of its
        Machine's version, and each pod of C(kube-system) Ready; that is waited for until the time is up, at least two
        minutes.
      - Before machines are replaced, pods of C(kube-system) that are not Ready are warned of.
    type: bool
    default: false
  manifests:
    description:
      - Objects for the new cluster, a network add-on first of all. They are applied as soon as its control plane is
        initialized, as M(metal3.baremetal.manifests) does; see O(metal3.baremetal.manifests#module:manifests).
      - With O(wait_for=available) they are waited for too, after the machines.
      - With O(wait_for=none) they are applied only when the control plane is there already.
      - What is not listed any more stays in the cluster.
    type: list
    elements: raw
    default: []
  resource_set:
    description:
      - Who brings O(manifests), and the network add-on of this collection, into the cluster.
      - With V(none) this module applies them, as O(manifests) says.
      - >-
        With V(ApplyOnce) and V(Reconcile) Cluster API does, by a ClusterResourceSet of this strategy, with the objects
        in ConfigMaps of the management cluster, Secrets in Secrets. V(ApplyOnce) creates what is not there yet and
        never changes it. V(Reconcile) also applies an object again after its description has changed. What is then in
        the cluster does not depend on runs of this module, nor on a way from its machine to the cluster.
      - With O(wait_for=available) it is waited for until Cluster API has applied them, and until they run.
      - Objects without a namespace go to C(default). An object must not be longer than 800 KiB as JSON.
      - Set back to V(none), the ClusterResourceSet, the ConfigMaps and Secrets are deleted; what they have brought into
        the cluster stays there. Needs the rights of C(metal3-baremetal-resource-sets) in C(docs/rbac/roles.yml).
    type: str
    choices: [none, ApplyOnce, Reconcile]
    default: none
  workload_kubeconfig:
    description:
      - Path of a file for the cluster's administrator kubeconfig, on the machine that the module runs on. It has mode
        0600; its content is never shown.
      - A file that is there already and not empty must be the kubeconfig of this cluster, and of no other cluster.
        Anything else, a symbolic link included, is refused before anything is changed, so that no other file is lost.
      - Of the Secret that Cluster API keeps it in, only server, certificates, key and token are taken. A Secret with
        anything else, for example C(exec) or C(tokenFile), is refused.
      - With O(state=absent) the file is removed. When there is no such cluster and O(endpoint) is not given, nothing
        says whose the file is, so that it stays, with a warning.
    type: path
  show_tree:
    description: Whether to print the cluster as a tree at the end, when the module runs on the controller.
    type: bool
    default: false
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
  - metal3.baremetal.kubernetes
  - metal3.baremetal.boot
  - metal3.baremetal.ironic.suboptions
  - metal3.baremetal.ironic_pod
  - metal3.baremetal.cluster
  - metal3.baremetal.attributes
  - metal3.baremetal.attributes.actiongroup_kubernetes
attributes:
  check_mode:
    support: full
    details:
      - The API server and its webhooks check the changes by a dry run. Nothing is waited for.
  diff_mode:
    support: full
    details:
      - Contents of files, commands, passwords, tokens, environment variables, strings of the meta data and credentials
        in URLs are hidden. What changes among them is marked, in a new template by what the machines had before.
  idempotent:
    support: full
seealso:
  - module: metal3.baremetal.cluster_info
  - module: metal3.baremetal.cluster_template
  - module: metal3.baremetal.manifests
  - module: metal3.baremetal.baremetal_host
  - module: metal3.baremetal.ip_pool
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: A cluster of three control plane machines and ten workers
  metal3.baremetal.cluster:
    name: prod
    kubernetes_version: v1.35.4
    endpoint:
      host: 198.51.100.10
      holder: keepalived
    image:
      url: https://images.example.org/node.qcow2
      checksum: https://images.example.org/node.qcow2.sha256sum
      checksum_type: sha256
      format: qcow2
    networks:
      machines:
        interface: eno1
        ipv4:
          ranges:
            - start: 198.51.100.20
              end: 198.51.100.99
          prefix: 24
          gateway: 198.51.100.1
          dns_servers: [198.51.100.2]
    control_plane:
      replicas: 3
      host_selector:
        rack: r1
    workers:
      pool-a:
        replicas: 10
    manifests:
      - files/network-add-on.yml
    workload_kubeconfig: ~/.kube/prod

- name: Delete it
  metal3.baremetal.cluster:
    name: prod
    state: absent
    confirm: prod
"""

RETURN = r"""
changes:
  description: What happens to machines, or would in check mode.
  returned: when O(state=present)
  type: list
  elements: dict
  contains:
    owner:
      description: Name of the KubeadmControlPlane or MachineDeployment.
      type: str
      returned: always
    kind:
      description: Its kind.
      type: str
      returned: always
    replicas_before:
      description: How many machines it had.
      type: int
      returned: always
    replicas_after:
      description: How many machines it must have, by the API server's answer.
      type: int
      returned: always
    rolls:
      description: Whether its machines are replaced.
      type: bool
      returned: always
    reasons:
      description: Fields whose change replaces them.
      type: list
      elements: str
      returned: always
    machines:
      description: Names of the machines that are replaced.
      type: list
      elements: str
      returned: always
losses:
  description: Machines that the change deletes, for O(confirm).
  returned: when O(state=present)
  type: list
  elements: dict
  contains:
    owner:
      description: Name of the KubeadmControlPlane or MachineDeployment.
      type: str
      returned: always
    kind:
      description: Its kind.
      type: str
      returned: always
    cause:
      description: V(removed) with its owner, V(scaled) by fewer replicas, V(replaced) by a rollout without surge, or
        V(rolled) by one with surge.
      type: str
      returned: always
    count:
      description: How many machines go.
      type: int
      returned: always
    machines:
      description: The machines that it may be, with C(machine) and C(host).
      type: list
      elements: dict
      returned: always
objects:
  description: Objects that were written, with C(kind), C(name) and C(action); when it failed, those until then.
  returned: when O(state=present)
  type: list
  elements: dict
manifests:
  description: Objects of O(manifests), with C(object) and C(action).
  returned: when this module applied O(manifests)
  type: list
  elements: dict
removed:
  description: Objects that were deleted because they are not described any more.
  returned: when O(state=present)
  type: list
  elements: str
collected:
  description: Templates and pools of addresses that were deleted because nothing needs them any more.
  returned: when O(state=present)
  type: list
  elements: str
unused:
  description: Templates and pools of addresses that nothing needs and that were kept, with O(prune=false).
  returned: when O(state=present)
  type: list
  elements: str
machines:
  description: Where each machine is; also when the wait failed.
  returned: when O(state=present)
  type: list
  elements: dict
  contains:
    machine:
      description: Name of the Machine, null while there is none yet.
      type: str
      returned: always
    owner:
      description: Its KubeadmControlPlane or MachineDeployment.
      type: str
      returned: always
    role:
      description: V(control-plane) or V(worker).
      type: str
      returned: always
    host:
      description: Its BareMetalHost.
      type: str
      returned: always
    node:
      description: Its Node.
      type: str
      returned: always
    step:
      description: The step of CAPM3's deployment workflow that it is at, 1 to 15.
      type: int
      returned: always
    title:
      description: The step in words.
      type: str
      returned: always
    since:
      description: Since when, if the objects say so.
      type: str
      returned: always
    waits_for:
      description: What it waits for, null when it is complete.
      type: str
      returned: always
    error:
      description: What the operator says is wrong with its host, null when nothing is.
      type: str
      returned: always
    complete:
      description: Whether the machine is a ready node.
      type: bool
      returned: always
    deleting:
      description: Whether the machine is being deleted.
      type: bool
      returned: always
tree:
  description: The cluster as a tree, as lines of text.
  returned: when O(state=present)
  type: list
  elements: str
timeline:
  description: When each machine came to which step, in seconds since the wait began.
  returned: when waited
  type: list
  elements: dict
seconds:
  description: How long the wait took, in seconds.
  returned: when waited
  type: float
hosts:
  description: The hosts that the cluster had.
  returned: when O(state=absent)
  type: list
  elements: str
workload_kubeconfig:
  description: Path of the cluster's kubeconfig.
  returned: when it was written or is up to date
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
  sample: [{"object": "Metal3MachineTemplate metal3/prod-a", "action": "updated"}]
"""

from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.module import run_cluster


def main():
    """Run the module."""
    run_cluster()


if __name__ == "__main__":
    main()
