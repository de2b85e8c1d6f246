#!/usr/bin/python
# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Installs Ironic into a cluster, and removes it."""
from __future__ import annotations

DOCUMENTATION = r"""
module: plane_ironic
short_description: Install Ironic into a Kubernetes cluster
version_added: "0.1.0"
description:
  - Installs Ironic as a pod in the network of its node, from the kustomization C(ironic-deployment) of the pinned Bare
    Metal Operator with its components C(basic-auth) and C(tls), which M(metal3.baremetal.plane_programs) has rendered.
  - User name and password are created once and kept in the Secret C(ironic-credentials), which the Bare Metal Operator
    mounts, and as a bcrypt digest in C(ironic-htpasswd). No result has them.
  - The pod starts again when its configuration, its password file or given certificates change. While it runs, this is
    refused as long as hosts are in transition, which Ironic inspects, cleans or writes.
  - Waits until all containers are ready.
options:
  state:
    description:
      - V(present) installs Ironic, or changes it to what is described.
      - V(absent) removes it with its Secrets. This is refused while there are BareMetalHosts, and when an object was
        not applied by this collection. The namespace is kept.
    type: str
    choices: [present, absent]
    default: present
  source_dir:
    description: Folder with the C(go.mod) that M(metal3.baremetal.plane_programs) has rendered manifests of.
    type: path
    required: true
  cache_dir:
    description: As for M(metal3.baremetal.plane_programs).
    type: path
  namespace:
    description: Namespace of all objects. The Bare Metal Operator can only mount Secrets of its own.
    type: str
    default: baremetal-operator-system
  authentication:
    description: V(none) says that everybody who reaches the API may use it.
    type: str
    choices: [http_basic, none]
    default: http_basic
  credentials_dir:
    description: Folder on the machine that the module runs on, into which the files C(username) and C(password) are
      written, with mode 0600, for programs that use Ironic directly; with O(tls=cert_manager) C(ca.crt), too, the
      authority of Ironic's certificate.
    type: path
  rotation:
    description:
      - How far the credentials are replaced. The playbook C(rotate_credentials) goes through both steps and restarts
        the operator between them.
      - V(begin) chooses new ones and has Ironic take old and new ones. After a run that was killed, it continues. The
        password of O(mariadb) and that of several pods among each other (O(replicas)) are replaced, too; no pod is left
        then that has the old ones.
      - V(end) has Ironic take the new ones only.
      - V(none) leaves it as it is.
    type: str
    choices: [none, begin, end]
    default: none
  tls:
    description:
      - V(cert_manager) lets cert-manager issue the API's certificate for O(provisioning_ip), as upstream's manifests
        say.
      - V(files) takes O(tls_certificate), O(tls_key) and O(tls_authority). It is refused, before anything is written,
        when they do not belong together, when the certificate has expired or when it is not for O(provisioning_ip).
      - A change from V(cert_manager) to V(files) requires O(confirm). This collection's Certificates and Issuers for
        Ironic are deleted, then each Secret is replaced by one with what is given, then Ironic's pod starts again,
        which keeps the former certificate until then. What others have created there is refused.
      - V(none) serves plain HTTP.
    type: str
    choices: [cert_manager, files, none]
    default: cert_manager
  tls_certificate:
    description: Certificate of the API, in PEM, for V(tls=files).
    type: str
  tls_key:
    description: Its key, in PEM.
    type: str
  tls_authority:
    description: Certificates of the authorities that issued it, in PEM; also for O(tls_issuer).
    type: str
  tls_issuer:
    description:
      - Issuer of cert-manager that issues the API's certificate for O(provisioning_ip), and MariaDB's, in place of an
        authority of their own that cert-manager makes. Requires O(tls=cert_manager) and O(tls_authority).
      - It is refused before anything is written when it is not there or not ready, and before the pod starts when
        O(tls_authority) does not verify what it has issued.
    type: dict
    suboptions:
      name:
        description: Its name.
        type: str
        required: true
      kind:
        description: V(Issuer) in O(namespace), V(ClusterIssuer), or the kind of an issuer of another
          O(tls_issuer.group).
        type: str
        default: Issuer
      group:
        description: API group of its kind.
        type: str
        default: cert-manager.io
  tls_names:
    description:
      - Further host names and addresses by which Ironic is called, for the certificate that cert-manager issues, for
        example the name that the operator's C(IRONIC_ENDPOINT) has. Requires O(tls=cert_manager).
      - Other ones have the certificate issued again and the pod started with it.
    type: list
    elements: str
    default: []
  renew_certificate:
    description: Whether cert-manager issues Ironic's certificate again now, before its time; with O(tls=cert_manager).
      The pod is started again, because it reads the certificate once.
    type: bool
    default: false
  with_cert_manager:
    description: Whether cert-manager is installed by the same play before; check mode does not require it then.
    type: bool
    default: false
  provisioning_ip:
    description: Address of the node at which BMCs, agents and the operator reach Ironic (C(PROVISIONING_IP)).
    type: str
  provisioning_interface:
    description: Interface that has it, in place of the address (C(PROVISIONING_INTERFACE)).
    type: str
  keepalived:
    description:
      - Whether a container with keepalived gives O(provisioning_interface) the address O(provisioning_ip), which no
        machine has otherwise (upstream's component C(keepalived)). The address goes where the pod goes, to another
        node or, at a pivot, into another cluster.
      - The number of its virtual router in upstream's image is 1; no other virtual router of that network may have it,
        neither that of a cluster's endpoint.
    type: bool
    default: false
  virtual_routers:
    description:
      - Virtual routers of other planes. With O(keepalived) one with the number 1 on the network of O(provisioning_ip)
        is refused. The plane's own may be among them, and says which network that is.
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
        description: Number of the virtual router.
        type: int
        required: true
  standby:
    description:
      - Whether Ironic is only prepared, without a pod, until a pivot starts it when the one that lets go has stopped.
        So it may have that one's address and its range of DHCP. A pod that runs by then stays.
    type: bool
    default: false
  mariadb:
    description:
      - Whether Ironic's database is MariaDB in a container of the same pod (upstream's component C(mariadb)) in place
        of SQLite. Requires TLS. Its password is created once and kept in the Secret C(mariadb-password); it listens on
        loopback.
      - Upstream has deprecated its image C(quay.io/metal3-io/mariadb); O(database) takes one outside of the pod.
    type: bool
    default: false
  mariadb_claim:
    description:
      - PersistentVolumeClaim, in O(namespace), for the data of MariaDB, writable for the pod's group (994). With it
        Ironic knows its nodes after a restart of the pod.
      - Without it the data goes with the container, as SQLite's does, and the Bare Metal Operator registers all hosts
        again. It stays when Ironic is removed; its namespace is not removed while it is there.
    type: str
  mariadb_certificate:
    description: Certificate of MariaDB for 127.0.0.1, by O(tls_authority), in PEM, for V(tls=files).
    type: str
  mariadb_key:
    description: Its key, in PEM.
    type: str
  database:
    description:
      - MariaDB outside of the pod, in place of O(mariadb). Ironic makes its tables there and keeps its nodes over
        restarts of its pods. The pods start again when the Secrets that it names change.
      - Both Secrets must be in O(namespace) before Ironic, and stay when it is removed.
    type: dict
    suboptions:
      host:
        description: Host name or address, with an optional port (C(MARIADB_HOST)). The pods are in the network of
          their nodes and ask its name servers, not those of the cluster.
        type: str
        required: true
      name:
        description: Name of the database (C(MARIADB_DATABASE)).
        type: str
        default: ironic
      credentials_name:
        description: Name of the Secret with C(username) and C(password) of a user that may create and change tables.
        type: str
        required: true
      tls_certificate_name:
        description: Name of the Secret with the certificate of the authority, C(tls.crt), by which Ironic verifies it.
        type: str
        required: true
  replicas:
    description:
      - How many pods there are, each with an API and a conductor, on nodes of their own. They talk JSON-RPC on port
        8089, with TLS and with a password of their own in the Secret C(ironic-rpc-credentials), which is created once.
      - More than V(1) requires O(database), TLS, O(provisioning_interface), whose address each pod has for itself, and
        O(provisioning_ip), at which all are reached. With O(keepalived) the node of one pod holds that address, and
        of another one when that pod ends; without it a load balancer of the site has it. There is no DHCP server then.
      - What a server boots is on the node of its conductor, so that servers must boot by virtual media or UEFI
        HTTP, for which their BMC gets a URL. DHCP would lead all of them to one node.
      - All pods end before the first new one starts when what they are made of changes; a smaller number ends some.
        Both are refused as long as hosts are in transition.
      - More than there are nodes that can hold a pod are refused before anything is written. Such a node has what
        O(node_selector) and O(affinity) ask for, no taint beside those of O(tolerations), and no other pod with the
        ports that Ironic has on its node (6385, O(http_port), with several pods 8089). One that is not ready, or is
        cordoned, counts. It takes C(list) of nodes and pods; without it a warning says that nobody looked.
    type: int
    default: 1
  replica_addresses:
    description: Addresses of O(provisioning_interface) on all nodes on which a pod may run, for the certificate, with
      O(replicas) greater than V(1).
    type: list
    elements: str
    default: []
  dhcp_range:
    description: Range of addresses, C(first,last), that the pod's DHCP server lends (C(DHCP_RANGE)), without those of
      O(provisioning_ip), O(gateway_ip) and O(dns_ip). Without it there is no container with a DHCP server.
    type: str
  gateway_ip:
    description: Gateway that the DHCP server names (C(GATEWAY_IP)).
    type: str
  dns_ip:
    description: DNS server that the DHCP server names, or V(provisioning) (C(DNS_IP)).
    type: str
  http_port:
    description: Port of boot files (C(HTTP_PORT)).
    type: int
    default: 6180
  deploy_kernel_url:
    description: URL of the agent's kernel (C(DEPLOY_KERNEL_URL)).
    type: str
  deploy_ramdisk_url:
    description: URL of the agent's ramdisk (C(DEPLOY_RAMDISK_URL)).
    type: str
  deploy_iso_url:
    description: URL of the agent's ISO image, which the Bare Metal Operator names to Ironic for each host that boots
      by virtual media. It is enough where all do; other hosts need O(deploy_kernel_url) or O(cache_url) beside it.
    type: str
  cache_url:
    description: URL of a folder from which the agent's kernel and ramdisk are downloaded into the pod (C(CACHEURL)),
      in place of O(deploy_kernel_url). Without it no container downloads the agent.
    type: str
  kernel_params:
    description: Further kernel parameters of the agent (C(IRONIC_KERNEL_PARAMS)).
    type: str
  fast_track:
    description: Whether a node keeps its agent between inspection, cleaning and deployment (C(IRONIC_FAST_TRACK)).
    type: bool
    default: true
  vlan_interfaces:
    description: VLAN interfaces that the agent creates for its inspection (C(IRONIC_ENABLE_VLAN_INTERFACES)).
    type: str
  boot_iso_source:
    description: Whether BMCs get boot ISO images from where they are, or from the pod (C(IRONIC_BOOT_ISO_SOURCE)).
    type: str
    choices: [http, local]
  image_authority_file:
    description: Path in the container of the authorities of image servers (C(WEBSERVER_CACERT_FILE)), for example
      V(/certs/ca/ironic/tls.crt) for O(tls_authority).
    type: path
  image_authority:
    description: Certificates of the authorities by which Ironic verifies image servers, in PEM, in place of
      O(image_authority_file). Without both, those count that the image trusts. The pod is started again when they
      change.
    type: str
  bmc_authority:
    description: Certificates of the authorities by which Ironic verifies BMCs, in PEM. Without it those count that the
      image trusts. The pod is started again when they change.
    type: str
  environment:
    description: Further variables of the containers; C(OS_<section>__<option>) sets any of Ironic's options.
    type: dict
  image_version:
    description:
      - Tag of the image C(quay.io/metal3-io/ironic), of a release (V(v35.0.0)) or a branch (V(release-35.0)). By
        default the release that upstream tests with the pinned Bare Metal Operator.
      - Another one replaces the pod. While there are hosts that asks for O(confirm_upgrade). It is refused while a host
        is worked on, and where an older one would have a database that outlives the pod. An Ironic that does not come
        up with another image is rolled back.
    type: str
    default: v35.0.0
  image_registry_mirror:
    description: Registry and path that image names are put behind, with upstream's host.
    type: str
  image_pull_policy:
    description: When images are pulled; V(IfNotPresent) by default.
    type: str
    choices: [Always, IfNotPresent, Never]
  digest:
    description: Digest of the image, C(sha256:…).
    type: str
  images:
    description: The images beside Ironic's own, where the pod has their containers.
    type: dict
    suboptions:
      ipa_downloader:
        description: C(quay.io/metal3-io/ironic-ipa-downloader), with O(cache_url).
        type: dict
        suboptions:
          version:
            description: Tag; V(latest) by default, which upstream tests with.
            type: str
          digest:
            description: Digest, C(sha256:…).
            type: str
      keepalived:
        description: C(quay.io/metal3-io/keepalived), with O(keepalived).
        type: dict
        suboptions:
          version:
            description: Tag; V(latest) by default, which upstream tests with.
            type: str
          digest:
            description: Digest, C(sha256:…).
            type: str
      mariadb:
        description: C(quay.io/metal3-io/mariadb), with O(mariadb).
        type: dict
        suboptions:
          version:
            description: Tag; V(latest) by default, which upstream tests with.
            type: str
          digest:
            description: Digest, C(sha256:…).
            type: str
  resources:
    description: Requests and limits by the name of a container of the pod, for example C(ironic) or C(mariadb).
    type: dict
  affinity:
    description: Affinity of the pod, beside what keeps several pods (O(replicas)) on nodes of their own.
    type: dict
  proxy:
    description:
      - Proxy by which Ironic and the download of the agent ask servers elsewhere.
      - Ironic would also ask BMCs and the site's image servers through it; O(proxy.no_proxy) names those networks.
        Ironic's own addresses, its database and its machine are added.
    type: dict
    suboptions:
      http:
        description: URL for C(http).
        type: str
      https:
        description: URL for C(https).
        type: str
      no_proxy:
        description: Names, addresses and networks, with commas between, that are asked directly.
        type: str
  pull_secrets:
    description: Names of Secrets, in O(namespace), with credentials for the registry.
    type: list
    elements: str
  node_selector:
    description: Labels of the node that Ironic runs on, for example the one with O(provisioning_ip).
    type: dict
  tolerations:
    description: Tolerations of the pod.
    type: list
    elements: dict
  priority_class:
    description: Name of the pod's PriorityClass.
    type: str
  adopt:
    description:
      - With V(ironic) in it, an Ironic that somebody else has installed into O(namespace) is applied, started again and
        removed by this collection from now on. Without it that is refused. Other names count for nothing here.
    type: list
    elements: str
    choices: [cert_manager, capi, cabpk, kcp, ipam, bmo, capm3, ironic]
    default: []
  confirm_upgrade:
    description:
      - V(1) or V(ironic). Required when another O(image_version) starts an Ironic again while there are hosts, or,
        where nobody knows the version that runs (C(latest)), with a database that outlives the pod.
    type: str
  confirm:
    description:
      - V(ironic). Required when O(state=absent), when another O(mariadb_claim) or host of O(database) than before
        leaves Ironic without what it knows of nodes, and when given certificates take the place of those of
        cert-manager.
      - A number counts for nothing here, since the playbooks C(install) and C(site) take one for other things.
    type: str
  wait:
    description: Whether to wait until Ironic is ready.
    type: bool
    default: true
  wait_timeout_seconds:
    description: How long to wait.
    type: int
    default: 300
requirements:
  - bcrypt >= 4.0
  - cryptography >= 42
  - kubernetes >= 31
  - PyYAML >= 6.0
extends_documentation_fragment:
  - metal3.baremetal.taken_addresses
  - metal3.baremetal.kubernetes
  - metal3.baremetal.kubernetes.identity
  - metal3.baremetal.confirmation.planes
  - metal3.baremetal.attributes
  - metal3.baremetal.attributes.actiongroup_kubernetes
attributes:
  check_mode:
    support: full
    details:
      - The API server checks the changes by a dry run, except for objects in a namespace that is yet to be created.
        Nothing is waited for.
  diff_mode:
    support: full
    details:
      - Values of Secrets are hidden.
  idempotent:
    support: full
seealso:
  - module: metal3.baremetal.plane_components
  - module: metal3.baremetal.ironic_check
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Install Ironic with a certificate of cert-manager
  metal3.baremetal.plane_ironic:
    kubeconfig: ~/.kube/management
    source_dir: "{{ role_path }}/../../lab/engine"
    provisioning_ip: 192.0.2.2
    node_selector:
      kubernetes.io/hostname: node-1
    cache_url: https://images.example.org/agent

- name: Install two of them, which share a database and an address
  metal3.baremetal.plane_ironic:
    kubeconfig: ~/.kube/management
    source_dir: "{{ role_path }}/../../lab/engine"
    replicas: 2
    database:
      host: mariadb.example.org
      credentials_name: ironic-database
      tls_certificate_name: ironic-database-authority
    keepalived: true
    provisioning_ip: 192.0.2.2
    provisioning_interface: eno1
    replica_addresses: [192.0.2.11, 192.0.2.12, 192.0.2.13]
    cache_url: https://images.example.org/agent

- name: Remove it
  metal3.baremetal.plane_ironic:
    kubeconfig: ~/.kube/management
    source_dir: "{{ role_path }}/../../lab/engine"
    state: absent
    confirm: ironic
"""

RETURN = r"""
standby:
  description: Whether it has no pod until a pivot starts it.
  returned: success, with O(state=present)
  type: bool
  sample: false
upgrades:
  description: The change of Ironic's version, nothing when it stays.
  returned: success, with O(state=present)
  type: list
  elements: dict
  contains:
    part:
      description: V(ironic).
      type: str
    found:
      description: Tag of the image that runs.
      type: str
    planned:
      description: Tag of the image that is to run.
      type: str
    interrupts:
      description: Whether O(confirm_upgrade) is required.
      type: bool
  sample: [{part: ironic, found: v34.0.0, planned: v35.0.0, interrupts: true}]
confirmation:
  description: Message that asks for the confirmation, empty when none is missing.
  returned: success, with O(state=present)
  type: str
  sample: ""
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
    - {object: Deployment baremetal-operator-system/ironic, action: created}
counts:
  description: >-
    How many objects there are: C(total), C(created), C(updated), C(deleted), C(unchanged) and C(failed).
  returned: success
  type: dict
  sample: {total: 6, created: 6, updated: 0, deleted: 0, unchanged: 0, failed: 0}
seconds:
  description: How long the wait took, in seconds.
  returned: when waited
  type: float
  sample: 34.1
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

from ansible_collections.metal3.baremetal.plugins.module_utils._plane.ironic_module import run_plane_ironic


def main():
    """Run the module."""
    run_plane_ironic()


if __name__ == "__main__":
    main()
