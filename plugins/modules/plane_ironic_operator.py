#!/usr/bin/python
# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Has the Ironic operator run Ironic in a cluster, and removes it."""
from __future__ import annotations

DOCUMENTATION = r"""
module: plane_ironic_operator
short_description: Have the Ironic operator run Ironic in a Kubernetes cluster
version_added: "0.1.0"
description:
  - Writes the resource C(Ironic) of the Ironic operator (ironic-standalone-operator), and waits until its condition
    C(Ready) is true. Another way to run Ironic than M(metal3.baremetal.plane_ironic), which needs no operator.
  - The operator must be in the cluster; M(metal3.baremetal.manifests) installs it from the manifests of its release.
  - What the API server would not refuse is checked first - options that exclude each other, addresses, and the
    Secrets and ConfigMaps that are named, which must be there and have the label
    C(environment.metal3.io/ironic-standalone-operator=true).
  - An option that is left out is left to the operator; a field that an earlier run of this module has set is removed.
  - The operator replaces Ironic's pods when the resource changes. While Ironic is ready, this is refused as long as
    hosts are in transition, which Ironic inspects, cleans or writes.
  - The options are those of the resource in version 0.9.0 of the operator's API. The operator itself is not run by
    any test of this collection - tests have an API server with its definition check the objects.
options:
  state:
    description:
      - V(present) creates or changes the resource.
      - V(absent) removes it, and with it Ironic. This is refused while there are hosts.
    type: str
    choices: [present, absent]
    default: present
  name:
    description: Name of the resource.
    type: str
    default: ironic
  namespace:
    description: Its namespace, which must be there.
    type: str
    default: baremetal-operator-system
  api_credentials_name:
    description: Secret with C(username) and C(password) of the API. By default the operator creates one.
    type: str
  database:
    description: >-
      MariaDB database. Without it Ironic has SQLite in its pod and forgets all nodes when the pod starts again.
    type: dict
    suboptions:
      credentials_name:
        description: Secret with C(username) and C(password) of the database.
        type: str
        required: true
      host:
        description: Address or name of the database server.
        type: str
        required: true
      name:
        description: Name of the database.
        type: str
        required: true
      tls_certificate_name:
        description: Secret with the authority of the server's certificate. Without it the connection is not encrypted.
        type: str
  deploy_ramdisk:
    description: The deploy agent's ramdisk.
    type: dict
    suboptions:
      disable_downloader:
        description: Whether nothing is downloaded into the pod; the Bare Metal Operator then has to name boot images.
        type: bool
      extra_kernel_params:
        description: Further kernel parameters of the agent; without effect on a given ISO image.
        type: str
      ssh_key:
        description: Public key that may log in to the agent.
        type: str
  extra_config:
    description: Options of Ironic's own configuration.
    type: list
    elements: dict
    suboptions:
      group:
        description: Section of the configuration file.
        type: str
        required: true
      name:
        description: Name of the option.
        type: str
        required: true
      value:
        description: Its value. It can be read in the resource, so it must be no secret.
        type: str
        required: true
  high_availability:
    description:
      - Whether Ironic runs on each control plane node. Needs O(database) and the operator's feature gate
        C(HighAvailability). Not together with O(networking.dhcp), O(networking.ip_address) and
        O(networking.ip_address_manager).
    type: bool
  images:
    description: Container images, with registry and tag.
    type: dict
    suboptions:
      ironic:
        description: Image of Ironic.
        type: str
      keepalived:
        description: Image of keepalived, for O(networking.ip_address_manager=keepalived).
        type: str
      deploy_ramdisk_downloader:
        description: Image that downloads the agent's ramdisk.
        type: str
      deploy_ramdisk_branch:
        description: Branch of the agent that is downloaded.
        type: str
  inspection:
    description: Inspection of servers.
    type: dict
    suboptions:
      collectors:
        description: Names of the agent's collectors.
        type: list
        elements: str
      vlan_interfaces:
        description: Interfaces whose VLANs are inspected, or pairs C(interface.vlan).
        type: list
        elements: str
  networking:
    description: Addresses and ports of the pod, which is in the network of its node.
    type: dict
    suboptions:
      ip_address:
        description: Address at which Ironic listens. By default the one of O(networking.interface).
        type: str
      interface:
        description: Interface at which it listens. By default the one with O(networking.ip_address).
        type: str
      mac_addresses:
        description: MAC addresses by which the interface is found, where nothing else is known of it.
        type: list
        elements: str
      bind_interface:
        description: Whether the API listens at this interface only.
        type: bool
      ip_address_manager:
        description: >-
          V(keepalived) puts O(networking.ip_address) onto O(networking.interface); by default it must be there.
        type: str
        choices: [keepalived]
      external_ip:
        description: Address at which BMCs reach the API and the image server, for virtual media.
        type: str
      api_port:
        description: Port of the API, by default 6385.
        type: int
      image_server_port:
        description: Port of the image server, by default 6180.
        type: int
      image_server_tls_port:
        description: Port of the image server with TLS, by default 6183.
        type: int
      prometheus_exporter_port:
        description: Port of the metrics, by default 9608.
        type: int
      rpc_port:
        description: Port between the parts of Ironic, by default 6189.
        type: int
      dhcp:
        description: DHCP server for network boot; without it none runs.
        type: dict
        suboptions:
          network_cidr:
            description: The provisioning network.
            type: str
            required: true
          range_begin:
            description: First address that is lent.
            type: str
            required: true
          range_end:
            description: Last address that is lent.
            type: str
            required: true
          gateway_address:
            description: Gateway that it names.
            type: str
          dns_address:
            description: DNS server that it names.
            type: str
          serve_dns:
            description: Whether it names itself as DNS server, in place of O(networking.dhcp.dns_address).
            type: bool
          hosts:
            description: Values of dnsmasq's C(dhcp-host).
            type: list
            elements: str
          ignore:
            description: Values of dnsmasq's C(dhcp-ignore).
            type: list
            elements: str
  node_selector:
    description: Labels of nodes that Ironic may run on.
    type: dict
  overrides:
    description: Changes of the pods. Needs the operator's feature gate C(Overrides).
    type: dict
    suboptions:
      annotations:
        description: Further annotations of the pods.
        type: dict
      labels:
        description: Further labels of the pods.
        type: dict
      agent_images:
        description: Images of the agent by architecture.
        type: list
        elements: dict
        suboptions:
          kernel:
            description: URL of the kernel.
            type: str
            required: true
          initramfs:
            description: URL of the ramdisk.
            type: str
            required: true
          architecture:
            description: CPU architecture; without it the images are for all that have none of their own.
            type: str
            choices: [x86_64, aarch64]
      containers:
        description: Containers of the pod, as Kubernetes has them; one of the same name is replaced.
        type: list
        elements: dict
      init_containers:
        description: The same of init containers.
        type: list
        elements: dict
      httpd_liveness_probe:
        description: Liveness probe of the web server, as Kubernetes has it.
        type: dict
      httpd_readiness_probe:
        description: Readiness probe of the web server, as Kubernetes has it.
        type: dict
  prometheus_exporter:
    description: Sensor data of servers as metrics.
    type: dict
    suboptions:
      enabled:
        description: Whether they are collected.
        type: bool
        required: true
      bind_address:
        description: Address at which the metrics are served, by default all.
        type: str
      disable_service_monitor:
        description: Whether no ServiceMonitor is created. Must be set with O(high_availability=true).
        type: bool
      sensor_collection_interval_seconds:
        description: How often BMCs are asked, in seconds, at least 60.
        type: int
  tls:
    description: Certificates.
    type: dict
    suboptions:
      certificate_name:
        description: >-
          Secret with the API's certificate, for example one that cert-manager keeps. Without it plain HTTP is served.
        type: str
      bmc_ca:
        description: Authorities that BMCs' certificates are verified with.
        type: dict
        suboptions:
          name:
            description: Name of the object.
            type: str
            required: true
          kind:
            description: Its kind.
            type: str
            required: true
            choices: [ConfigMap, Secret]
      trusted_ca:
        description: Authorities that certificates of image servers and other services are verified with.
        type: dict
        suboptions:
          name:
            description: Name of the object.
            type: str
            required: true
          kind:
            description: Its kind.
            type: str
            required: true
            choices: [ConfigMap, Secret]
          key:
            description: Key in it, by default the first.
            type: str
      disable_virtual_media_tls:
        description: Whether virtual media are served over plain HTTP, for BMCs that take nothing else.
        type: bool
      insecure_rpc:
        description: Whether certificates are not verified between the replicas; only with O(high_availability=true).
        type: bool
  version:
    description: Version of Ironic, V(latest) or for example V(35.0). By default that of the operator's release.
    type: str
  confirm:
    description:
      - The same as O(name). Required when O(state=absent), and when another O(database) than before leaves Ironic
        without what it knows of nodes.
      - A number counts for nothing here, since the playbooks C(install) and C(site) take one for other things.
    type: str
  wait:
    description: Whether to wait until Ironic is ready, or gone.
    type: bool
    default: true
  wait_timeout_seconds:
    description: >-
      How long to wait. The run ends earlier when the operator reports for a minute that the deployment failed.
    type: int
    default: 900
requirements:
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
      - The API server checks the resource by a dry run. Nothing is waited for.
  diff_mode:
    support: full
  idempotent:
    support: full
seealso:
  - module: metal3.baremetal.plane_ironic
  - module: metal3.baremetal.manifests
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Run Ironic with a database and a certificate of cert-manager
  metal3.baremetal.plane_ironic_operator:
    kubeconfig: ~/.kube/management
    database:
      host: mariadb.databases.svc
      name: ironic
      credentials_name: ironic-database
    networking:
      ip_address: 192.0.2.2
      interface: eno1
      ip_address_manager: keepalived
    tls:
      certificate_name: ironic-tls

- name: Remove it
  metal3.baremetal.plane_ironic_operator:
    kubeconfig: ~/.kube/management
    state: absent
    confirm: ironic
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
    - {object: Ironic baremetal-operator-system/ironic, action: created}
counts:
  description: >-
    How many objects there are: C(total), C(created), C(updated), C(deleted), C(unchanged) and C(failed).
  returned: success
  type: dict
  sample: {total: 1, created: 1, updated: 0, deleted: 0, unchanged: 0, failed: 0}
seconds:
  description: How long the wait took, in seconds.
  returned: when waited
  type: float
  sample: 34.1
installed_version:
  description: The version that the operator reports as installed.
  returned: when waited
  type: str
  sample: "35.0"
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
"""

from ansible_collections.metal3.baremetal.plugins.module_utils._plane.ironic_module import run_plane_ironic_operator


def main():
    """Run the module."""
    run_plane_ironic_operator()


if __name__ == "__main__":
    main()
