#!/usr/bin/python
# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Installs parts of the management plane into a cluster, and removes them."""
from __future__ import annotations

DOCUMENTATION = r"""
module: plane_components
short_description: Install parts of the management plane into a Kubernetes cluster
version_added: "0.1.0"
description:
  - Installs cert-manager, Cluster API with its kubeadm providers, IPAM, the Bare Metal Operator and CAPM3 as pods, from
    manifests that are rendered from the pinned upstream modules, or from those of a release.
  - Objects have the labels and the inventory of C(clusterctl init), so that C(clusterctl) works on the result.
  - The versions of all parts, of those that are there, of Kubernetes and of what is stored must fit together, which is
    checked first. What does not fit is refused, all of it at once.
  - All objects are planned first and checked by the API server in a dry run; only differences are written, in this
    order, each step after the one before was accepted - namespaces and definitions; issuers, certificates, roles and
    services; Deployments; webhooks; clusterctl's inventory. A run that was interrupted is continued by the next one.
  - Parts that are there in an older version are upgraded, one after the other in the order of Cluster API, each of
    which is waited for. Refused before anything is written are a step over more minors than upstream supports, an
    older version, hosts in transition, BMC addresses with a scheme that the new operator no longer has, versions of
    objects that the new definitions no longer have, and provider IDs that the new CAPM3 no longer knows.
  - A part that does not come up in its new version is rolled back - the objects that were there before are applied
    again and waited for, and what was created since is deleted, but for namespaces and definitions. A definition whose
    objects may be stored in a version that only the new one has stays, too. The message says what was rolled back.
  - Waits until Deployments are rolled out, definitions are established and the webhook of each part has accepted an
    object in a dry run. cert-manager must also issue a certificate, which is removed again.
  - A manager is started again when the contents of a Secret of O(parts[].secret_mounts) have changed, because managers
    read them once.
options:
  state:
    description:
      - V(present) installs O(parts), or changes them to what is described.
      - V(absent) removes them in the reverse order. This is refused while there are hosts, clusters, machines or
        address pools that they manage, and when an object was not applied by this collection, which gives each the
        label C(app.kubernetes.io/managed-by=metal3.baremetal).
      - It is also refused while one of the parts' namespaces has objects of somebody else, of whatever kind the API
        server has, which would go with it. Those that Kubernetes makes, or that say what may be done in a namespace,
        such as roles and quotas, do not count.
    type: str
    choices: [present, absent]
    default: present
  parts:
    description: The parts.
    type: list
    elements: dict
    required: true
    suboptions:
      name:
        description:
          - Which one. V(capi) is Cluster API's core, V(cabpk) its kubeadm bootstrap provider and V(kcp) its kubeadm
            control plane provider.
          - V(cert_manager) is installed by a run of its own, because the others need its webhook; in check mode they
            may be planned together.
        type: str
        required: true
        choices: [cert_manager, capi, cabpk, kcp, ipam, bmo, capm3]
      manifests:
        description:
          - Path, on the machine that the module runs on, or URL of the manifests of a release, for example
            C(infrastructure-components.yaml). Requires O(parts[].version); a URL also requires O(parts[].checksum).
          - A folder, or a URL that ends with C(/), is a repository of C(clusterctl) - C(<version>/metadata.yaml) beside
            the manifests in C(<version>/), which are called C(core-components.yaml), C(bootstrap-components.yaml),
            C(control-plane-components.yaml), C(ipam-components.yaml), C(infrastructure-components.yaml),
            C(cert-manager.yaml) or, whatever the part is, C(components.yaml). A URL requires O(parts[].checksums).
          - C(oci://<registry>/<path>@sha256:…), with or without a tag before the C(@), is an artifact of a registry
            with files of these names, as the Cluster API operator takes it and C(oras push) writes it. It is asked for
            by its digest; the tag is ignored. C(skopeo) must be on the machine.
          - C(metadata.yaml) of a repository or artifact must name one contract of Cluster API for the version, which
            must be known; V(bmo) and V(cert_manager) need none.
          - By default those that M(metal3.baremetal.plane_programs) has rendered from O(source_dir), those of
            V(cert_manager) from O(parts[].source_dir).
        type: str
      source_dir:
        description: Folder with the C(go.mod) that pins this part, in place of O(source_dir).
        type: path
      checksum:
        description: C(sha256:) and the checksum of O(parts[].manifests) when it is one file.
        type: str
      checksums:
        description:
          - Of the files of a repository of C(clusterctl), name and C(sha256:) with its checksum. With a URL those of
            the manifests and of C(metadata.yaml) are required, and say how the manifests are called.
        type: dict
      manifests_ca_file:
        description: Certificates of the authorities of a URL or registry in O(parts[].manifests); else the system's.
        type: path
      manifests_username_file:
        description: File with the user name for the registry of O(parts[].manifests).
        type: path
      manifests_password_file:
        description: File with that user's password.
        type: path
      variables:
        description: Values of the variables C(${NAME}) in O(parts[].manifests), as C(clusterctl) takes them.
        type: dict
      version:
        description: Version of O(parts[].manifests), and tag of the images; by default the pinned one.
        type: str
      namespace:
        description: Namespace for the part in place of upstream's.
        type: str
      replicas:
        description: Number of pods of each Deployment. More than one turns O(parts[].leader_election) on.
        type: int
      leader_election:
        description: Whether managers elect a leader; by default what upstream's manifests say.
        type: bool
      resources:
        description: Requests and limits of the container, C(requests) and C(limits) as in a pod.
        type: dict
      node_selector:
        description: Labels of nodes that pods may run on.
        type: dict
      tolerations:
        description: Tolerations in place of upstream's.
        type: list
        elements: dict
      affinity:
        description: Affinity of the pods.
        type: dict
      priority_class:
        description: Name of the PriorityClass of the pods.
        type: str
      feature_gates:
        description: Names of feature gates and whether they are on; others keep upstream's values.
        type: dict
      arguments:
        description: Further arguments of the manager, C(--name=value); one that upstream sets is replaced.
        type: list
        elements: str
      environment:
        description: Environment variables of the manager.
        type: dict
      proxy:
        description:
          - Proxy of the containers. Managers ask the API server by it, too, unless C(no_proxy) has the first address of
            the cluster's Services.
        type: dict
        suboptions:
          http:
            description: URL of the proxy for HTTP.
            type: str
          https:
            description: URL of the proxy for HTTPS.
            type: str
          no_proxy:
            description: Addresses and domains without a proxy, with commas between.
            type: str
      log_level:
        description: Verbosity of the manager's log, from 0; the Bare Metal Operator has no such flag.
        type: int
      image:
        description:
          - Image of the manager in place of upstream's, of a part that has one, with its tag or digest, for example
            V(registry.example.org/team/baremetal-operator:v0.13.2-fix1). It is pulled as it is named, whatever
            O(parts[].image_registry_mirror) says.
          - The last part of its name must be that of upstream's image, by which the manager is found. Which version it
            is, O(parts[].version) says, not its tag. M(metal3.baremetal.mirror_gather) takes it by its name only.
        type: str
      image_registry_mirror:
        description:
          - Registry and path that image names are put behind, with upstream's host, for example
            V(registry.example.org/mirror) for C(registry.example.org/mirror/quay.io/metal3-io/…).
        type: str
      image_pull_policy:
        description: When images are pulled; V(IfNotPresent) by default.
        type: str
        choices: [Always, IfNotPresent, Never]
      digest:
        description: Digest of the image, C(sha256:…), of a part that has one.
        type: str
      pull_secrets:
        description: Names of Secrets, in the part's namespace, with credentials for the registry.
        type: list
        elements: str
      secret_mounts:
        description: Secrets that are mounted into the manager.
        type: list
        elements: dict
        suboptions:
          secret:
            description: Name of a Secret in the part's namespace.
            type: str
            required: true
          path:
            description: Folder in the container.
            type: str
            required: true
      pod_security:
        description:
          - Pod security standard that the part's namespace enforces. Another one than V(privileged) is refused for
            V(bmo) while Ironic is in its namespace, whose pod is in the network of its node.
        type: str
        choices: [privileged, baseline, restricted]
      monitor:
        description:
          - Whether a ServiceMonitor has a Prometheus of the Prometheus operator scrape the manager's metrics. Refused
            when the cluster does not serve C(monitoring.coreos.com/v1).
          - With it come a Service for the metrics, where upstream's manifests have none, and a certificate with the
            name of that Service, by which Prometheus verifies the manager; O(certificates) says who issues it. The
            manager is started again. Prometheus logs in with its own token, and needs the right to get C(/metrics).
          - cert-manager serves its metrics by HTTP, to anybody.
          - What was written for it is deleted when it is no longer set.
        type: bool
      monitor_labels:
        description: Labels of the ServiceMonitor, by which a Prometheus chooses it; only with O(parts[].monitor).
        type: dict
      network_policy:
        description:
          - Whether each Deployment of the part has a NetworkPolicy, which lets connections in only to what its
            Services lead to - webhooks, from everywhere, because an API server's address is none of a pod, and metrics
            with O(parts[].monitor). Kubelet's probes need no rule.
          - The network add-on must enforce NetworkPolicies; flannel alone does not.
          - It is deleted when it is no longer set.
        type: bool
      network_policy_egress:
        description:
          - Rules C(egress) of these NetworkPolicies. Only what they allow goes out then, so that they must have name
            servers and the API server, for the Bare Metal Operator Ironic, for Cluster API the API servers of its
            clusters, and for cert-manager what its issuers ask. Without a rule everything goes out.
          - Only with O(parts[].network_policy).
        type: list
        elements: dict
  certificates:
    description:
      - Who issues the serving certificates of webhooks.
      - V(cert_manager), as upstream's manifests ask for. It must be in the cluster.
      - V(collection) issues self-signed certificates, valid for a year, and renews them when a run finds less than 30
        days left. For clusters without cert-manager; something must run this module in time.
    type: str
    choices: [cert_manager, collection]
    default: cert_manager
  source_dir:
    description: Folder with the C(go.mod) that M(metal3.baremetal.plane_programs) has rendered manifests of.
    type: path
  cache_dir:
    description: As for M(metal3.baremetal.plane_programs).
    type: path
  objects:
    description:
      - Further objects to apply, for example a Secret for O(parts[].secret_mounts) or the namespace of hosts.
      - They are kept when O(state=absent), unless they are in a part's namespace. What is there by anything else,
        such as M(metal3.baremetal.manifests), keeps the namespace from being removed, and so do workloads and volumes.
    type: list
    elements: dict
    default: []
  definitions:
    description:
      - What becomes of CustomResourceDefinitions when O(state=absent).
      - V(remove) is refused while any object of theirs is left.
    type: str
    choices: [keep, remove]
    default: keep
  adopt:
    description:
      - Names of parts that somebody else has installed, for example C(clusterctl init) or C(kubectl apply), and that
        this collection applies, upgrades and removes from now on. Without it they are refused.
      - V(ironic) counts for O(planned_ironic).
    type: list
    elements: str
    choices: [cert_manager, capi, cabpk, kcp, ipam, bmo, capm3, ironic]
    default: []
  with_ironic:
    description:
      - Whether O(state=absent) also removes what M(metal3.baremetal.plane_ironic) has installed into
        O(ironic_namespace); it counts as one part, C(ironic).
    type: bool
    default: false
  ironic_namespace:
    description: Namespace of the Ironic of O(with_ironic); by default that of the part C(bmo).
    type: str
  planned_ironic:
    description:
      - An Ironic that M(metal3.baremetal.plane_ironic) will write into the same cluster. It is planned with the parts -
        its version stands in RV(matrix), it is among RV(upgrades), and what it would be refused for is refused here.
    type: dict
    suboptions:
      namespace:
        description: See O(metal3.baremetal.plane_ironic#module:namespace).
        type: str
        default: baremetal-operator-system
      image_version:
        description: See O(metal3.baremetal.plane_ironic#module:image_version).
        type: str
        required: true
      mariadb:
        description: See O(metal3.baremetal.plane_ironic#module:mariadb).
        type: bool
        default: false
      mariadb_claim:
        description: See O(metal3.baremetal.plane_ironic#module:mariadb_claim).
        type: str
      database:
        description: See O(metal3.baremetal.plane_ironic#module:database).
        type: dict
  confirm:
    description:
      - How many parts are removed, or their names with commas between. Required when O(state=absent).
      - When O(state=present), how many parts have an upgrade that interrupts, or their names - to another minor, or
        with a Deployment that is stopped before the new one starts. Then it is required, too; check mode only warns.
    type: str
  show_table:
    description: Whether the version matrix is printed.
    type: bool
    default: false
  wait:
    description: Whether to wait until the parts work.
    type: bool
    default: true
  wait_timeout_seconds:
    description: How long to wait.
    type: int
    default: 300
requirements:
  - cryptography >= 42
  - kubernetes >= 31
  - PyYAML >= 6.0
  - skopeo, for O(parts[].manifests) of a registry
extends_documentation_fragment:
  - metal3.baremetal.kubernetes
  - metal3.baremetal.kubernetes.identity
  - metal3.baremetal.confirmation.planes
  - metal3.baremetal.attributes
  - metal3.baremetal.attributes.actiongroup_kubernetes
attributes:
  check_mode:
    support: full
    details:
      - The API server and its webhooks check the changes by a dry run, except for objects in a namespace or of a kind
        that is yet to be created. Nothing is waited for.
  diff_mode:
    support: full
    details:
      - New definitions are listed by name. Values of Secrets are hidden.
  idempotent:
    support: full
seealso:
  - module: metal3.baremetal.plane_programs
  - module: metal3.baremetal.plane_provider
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Install IPAM from the pinned module, with two replicas
  metal3.baremetal.plane_components:
    kubeconfig: ~/.kube/management
    source_dir: "{{ role_path }}/../../lab/engine"
    parts:
      - name: ipam
        replicas: 2
        image_registry_mirror: registry.example.org/mirror

- name: Install CAPM3 from a release
  metal3.baremetal.plane_components:
    kubeconfig: ~/.kube/management
    parts:
      - name: capm3
        version: v1.13.2
        manifests: /srv/releases/infrastructure-components.yaml
        checksum: sha256:8f1c2b9d0a7e4f35b6c8d1e2f3a4b5c6d7e8f90112233445566778899aabbccd

- name: Install CAPM3 from an artifact of a registry
  metal3.baremetal.plane_components:
    kubeconfig: ~/.kube/management
    parts:
      - name: capm3
        version: v1.13.2
        manifests: >-
          oci://registry.example.org/capm3@sha256:8f1c2b9d0a7e4f35b6c8d1e2f3a4b5c6d7e8f90112233445566778899aabbccd
        manifests_ca_file: /etc/pki/registry-ca.crt

- name: Install Cluster API's core from a repository of clusterctl
  metal3.baremetal.plane_components:
    kubeconfig: ~/.kube/management
    parts:
      - name: capi
        version: v1.13.5
        manifests: /srv/clusterctl/cluster-api

- name: Remove IPAM
  metal3.baremetal.plane_components:
    kubeconfig: ~/.kube/management
    source_dir: "{{ role_path }}/../../lab/engine"
    state: absent
    parts:
      - name: ipam
    confirm: "1"
"""

RETURN = r"""
objects:
  description: Each object and what became of it, or would in check mode.
  returned: success
  type: list
  elements: dict
  contains:
    object:
      description: Kind, namespace and name.
      type: str
      returned: always
    action:
      description: V(created), V(updated), V(deleted) or V(unchanged).
      type: str
      returned: always
  sample:
    - {object: Namespace metal3-ipam-system, action: created}
counts:
  description: >-
    How many objects there are: C(total), C(created), C(updated), C(deleted), C(unchanged) and C(failed).
  returned: success
  type: dict
  sample: {total: 16, created: 16, updated: 0, deleted: 0, unchanged: 0, failed: 0}
versions:
  description: Version of each part.
  returned: when O(state=present)
  type: dict
  sample: {ipam: v1.13.2}
matrix:
  description: >-
    The version matrix: Kubernetes, Ironic, then each part that is in the cluster or in this run. Also when versions do
    not fit.
  returned: when O(state=present)
  type: list
  elements: dict
  contains:
    name:
      description: V(kubernetes), V(ironic) or the part's name.
      type: str
    found:
      description: Version in the cluster; V(null) when it is not there, or nothing says which it is.
      type: str
    source:
      description: >-
        What says so - an entry of clusterctl's inventory, a Deployment, or V(definitions); V(null) when it is not
        there.
      type: str
    planned:
      description: Version to be installed, or V(null).
      type: str
    changes:
      description: Whether this run is about the part.
      type: bool
    contracts:
      description: Versions of Cluster API's contract that it implements.
      type: list
      elements: str
    stored:
      description: Versions that objects of its definitions may be stored in.
      type: list
      elements: str
    needs:
      description: What this version needs.
      type: list
      elements: str
  sample:
    - {name: ipam, found: null, source: null, planned: v1.13.2, changes: true, contracts: [v1beta2],
       stored: [], needs: [Cluster API v1.13]}
upgrades:
  description: The parts that become newer, in the order of their upgrade.
  returned: when O(state=present)
  type: list
  elements: dict
  contains:
    part:
      description: The part's name.
      type: str
    found:
      description: Version that was there.
      type: str
    planned:
      description: Version to be installed.
      type: str
    interrupts:
      description: Whether a confirmation is required.
      type: bool
  sample:
    - {part: bmo, found: v0.13.1, planned: v0.13.2, interrupts: false}
confirmation:
  description: In check mode, what a run without it would be refused with because O(confirm) is missing; else empty.
  returned: when O(state=present)
  type: str
  sample: ""
table:
  description: The matrix as lines of text.
  returned: when O(state=present)
  type: list
  elements: str
seconds:
  description: How long the wait took, in seconds.
  returned: when waited
  type: float
  sample: 14.2
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
cluster_uid:
  description:
    - The C(metadata.uid) of the Namespace C(kube-system) of the cluster that the module worked on, by which a later
      task knows that it works on the same one, as O(cluster_uid). Empty when nobody may read it.
  returned: when the connection options led to an API server, also on failure
  type: str
server:
  description: URL of the API server that the module worked on.
  returned: when the connection options led to one, also on failure
  type: str
  sample: https://192.0.2.10:6443
"""

from ansible_collections.metal3.baremetal.plugins.module_utils._plane.components_module import run_plane_components


def main():
    """Run the module."""
    run_plane_components()


if __name__ == "__main__":
    main()
