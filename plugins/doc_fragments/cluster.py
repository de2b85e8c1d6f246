# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Options that describe a cluster."""
from __future__ import annotations


class ModuleDocFragment:
    """The options of ``description_options`` in ``module_utils/_cluster/description/spec.py``."""

    DOCUMENTATION = r"""
options:
  name:
    description: Name of the cluster.
    type: str
    required: true
  namespace:
    description: Namespace of the cluster and of the hosts that it is made of.
    type: str
    default: metal3
  provider:
    description:
      - Who gives the cluster its machines. V(metal3) is CAPM3, which takes BareMetalHosts; V(metalstack) is
        cluster-api-provider-metal-stack 0.8, which allocates machines of metal-stack. A cluster keeps its provider.
      - With V(metalstack) the options that have no place in its resources are refused, among them O(image),
        O(networks) and O(host_selector). Machines get Ignition unless O(user_data_format) says otherwise, for which
        Cluster API needs its feature C(KubeadmBootstrapFormatIgnition), and the cluster needs metal-stack's cloud
        controller C(metal-ccm) among its manifests.
    type: str
    choices: [metal3, metalstack]
    default: metal3
  metalstack:
    description: What a cluster with O(provider=metalstack) is made of beside its machines.
    type: dict
    suboptions:
      project:
        description: UUID of the project that its machines are allocated for.
        type: str
        required: true
      partition:
        description: Partition in which they are allocated.
        type: str
        required: true
      node_network:
        description:
          - Id of the private network of the nodes; by default the provider allocates one.
          - The provider frees it when the cluster is deleted, also when it was named here.
        type: str
      firewall:
        description:
          - The cluster's firewall, between the node network and those outside. It is allocated once, by this
            description; what changes later has no effect on it, and a warning says how it is replaced.
        type: dict
        required: true
        suboptions:
          size:
            description: Id of its size.
            type: str
            required: true
          image:
            description: Id of an image with the feature firewall, or of a series of them.
            type: str
            required: true
          networks:
            description: Ids of the networks outside, among them that of O(endpoint); the node network is added.
            type: list
            elements: str
            required: true
          auto_update:
            description: Written into C(spec.autoUpdate.machineImage).
            type: bool
            default: false
          rules:
            description: What it lets through; without a rule it lets nothing through, so at least one is required.
            type: dict
            required: true
            suboptions:
              egress:
                description: Traffic from the nodes.
                type: list
                elements: dict
                suboptions:
                  comment:
                    description: A text for users.
                    type: str
                  protocol:
                    description: Protocol.
                    type: str
                    choices: [tcp, udp]
                    required: true
                  ports:
                    description: Ports.
                    type: list
                    elements: int
                    required: true
                  to:
                    description: Networks that it goes to, such as V(0.0.0.0/0).
                    type: list
                    elements: str
                    required: true
              ingress:
                description: Traffic to the nodes.
                type: list
                elements: dict
                suboptions:
                  comment:
                    description: A text for users.
                    type: str
                  protocol:
                    description: Protocol.
                    type: str
                    choices: [tcp, udp]
                    required: true
                  ports:
                    description: Ports.
                    type: list
                    elements: int
                    required: true
                  from:
                    description: Networks that it comes from, such as V(0.0.0.0/0).
                    type: list
                    elements: str
                    required: true
  api_version:
    description:
      - API version that objects of Cluster API and CAPM3 are written in. What a plane serves in V(v1beta1) only is
        written in that version, whatever is set.
      - A Metal3DataTemplate with bonds is always written in V(v1beta1), for the C(v1beta2) CRD of CAPM3 1.13 refuses
        bond parameters. A Metal3MachineTemplate whose selector has C(Exists) or C(DoesNotExist) is always written in
        V(v1beta2), for what CAPM3 1.13 converts from C(v1beta1) lacks the values that its CRD requires.
    type: str
    choices: [v1beta2, v1beta1]
    default: v1beta2
  topology:
    description:
      - Whether the cluster is made by a ClusterClass. The description becomes a class with its templates, which are the
        collection's, and a Cluster with C(spec.topology). Of these Cluster API makes the objects of a plain cluster
        under the same names. Pools wait for the control plane and for each other, with another O(kubernetes_version) by
        Cluster API, with another change by the module M(metal3.baremetal.cluster), which pauses them until it is their
        turn. A run that does not wait would not end that, so with it machines of all groups are replaced at once.
      - A cluster is made with a topology or without one, and stays so.
      - Cluster API's feature gate C(ClusterTopology) must be on, see C(capi_cluster_topology) of the role
        P(metal3.baremetal.capi#role).
      - O(automated_cleaning_mode) and O(node_reuse) do not change in place. O(machine_name_template) is for the control
        plane only. Not with O(provider=metalstack), O(api_version=v1beta1) and O(standalone_machines). All pools of
        O(workers) must be described.
    type: bool
  cluster_class:
    description:
      - A ClusterClass of your own that the cluster is made of. What the class says is refused here, among it O(image),
        O(networks) and options of kubeadm; its variables take their place. What a topology says by itself is taken from
        here, among it numbers, labels, health checks, and how machines go and are replaced.
      - The class is read and not changed, and stays when the cluster is deleted. Free hosts are not counted, because
        only the class selects them.
      - Whatever may replace machines by the class counts as if it did. With another version, class or variable of the
        cluster the number of all machines must be repeated.
    type: dict
    suboptions:
      name:
        description: Its name.
        type: str
        required: true
      namespace:
        description: Its namespace, by default that of the cluster.
        type: str
      variables:
        description: Values of the class's variables, by name. They are stored as they are, in the Cluster.
        type: dict
  kubernetes_version:
    description: Kubernetes version of the machines, for example V(v1.35.4). The image must hold it.
    type: str
  endpoint:
    description: Where the API server of the cluster is reached.
    type: dict
    suboptions:
      host:
        description: Address or name.
        type: str
        required: true
      port:
        description: Port.
        type: int
        default: 6443
      holder:
        description:
          - Who holds the address. Without a holder no machine joins, so that a warning is given when this is not said
            and no file or command of the control plane names the address.
          - With O(provider=metalstack) V(kube-vip) announces the address by BGP, from every control plane machine, and
            V(keepalived) is refused.
          - V(keepalived) runs keepalived on the control plane machines. The image must have C(keepalived) and C(curl).
            The machine whose API server answers holds the address; it moves when that machine fails.
          - V(kube-vip) runs kube-vip 1.0.0 as a static pod of the control plane machines, which announces the address
            by ARP or neighbour discovery. The machine that holds the address renews a lease of 15 seconds through its
            own API server, and loses the address when that fails. The image needs nothing for it.
          - V(none) is for anything outside of the description, such as a load balancer. Its address may be that of the
            router, or on another network than the nodes. It is for an address, too, that DHCP keeps for the server of
            the only control plane machine.
          - With another holder than before the control plane is rolled out; machines of both kinds hold the address
            until the last one is replaced.
        type: str
        choices: [none, keepalived, kube-vip]
      interface:
        description:
          - Network device that the address is on, for V(keepalived) and V(kube-vip). It must be that of a network of
            the control plane, when networks are described.
          - By default the only one, or that of O(node_ip_network), or that of the only network with a pool. On a
            network whose addresses come from DHCP there is no default, because only you know that its server never
            gives away the endpoint's address.
        type: str
      image:
        description:
          - Reference of kube-vip's image, for V(kube-vip), with a tag, a digest or both; by default
            V(ghcr.io/kube-vip/kube-vip:v1.0.0), from O(image_registry) when that is set.
        type: str
      virtual_router_id:
        description:
          - Number from 1 to 255 of the virtual router, for V(keepalived), by default the last number of the address.
            Each cluster on the same network segment needs its own, which its plane must not have either.
        type: int
  network_addon:
    description:
      - Where the pods' network comes from. V(flannel) applies flannel 0.28.0 to the new cluster, for the networks of
        O(pod_cidrs) and with the options of O(flannel).
      - V(manifests) expects it among the manifests that are applied to the new cluster; when the cluster must become
        available and no DaemonSet or Deployment there works in the nodes' own network, a warning says so. V(none) is
        for an image or a tool that brings it.
      - The pods' network that the ConfigMap of a flannel among the manifests names must be in O(pod_cidrs).
      - What V(flannel) applied stays in the cluster when the option changes.
    type: str
    choices: [flannel, manifests, none]
    default: manifests
  flannel:
    description: Options of flannel, for O(network_addon=flannel).
    type: dict
    suboptions:
      backend:
        description:
          - How packets get from node to node. V(host-gw) is for nodes on one network segment, V(wireguard) encrypts.
          - flannel must not be given another backend while the cluster has pods.
        type: str
        choices: [vxlan, host-gw, wireguard]
        default: vxlan
      nftables:
        description: Whether flannel masquerades by nftables instead of iptables.
        type: bool
        default: false
      interface:
        description: Name or address of the nodes' network device for it; by default that of the default route.
        type: str
      cni_configuration:
        description:
          - V(install) lets flannel's pods install its CNI plugin and its configuration on each node, V(node) leaves
            both to the nodes' image.
        type: str
        choices: [install, node]
        default: install
      image:
        description:
          - Reference of flannel's image, by default V(ghcr.io/flannel-io/flannel:v0.28.0), from O(image_registry)
            when that is set.
        type: str
      cni_plugin_image:
        description:
          - Reference of the image with its CNI plugin, by default
            V(ghcr.io/flannel-io/flannel-cni-plugin:v1.8.0-flannel1), from O(image_registry) when that is set.
        type: str
  image_registry:
    description:
      - Registry, with a path or without, that takes the place of the upstream registry in the default names of
        kube-vip's and flannel's images, for example V(registry.example.org:5000/mirror).
      - With O(registry_mirrors) names stay as they are, and nodes ask the mirror for them.
    type: str
  pod_cidrs:
    description:
      - Networks of the pods, one of each address family at most; V(192.168.0.0/18) when they are not said. They stay as
        the cluster was made with them.
      - Each must be as large as the part of it that Kubernetes keeps for a node, 24 bits of IPv4 and 64 of IPv6 by
        default, and for O(network_addon=flannel) have such a part for each machine.
    type: list
    elements: str
  service_cidrs:
    description:
      - Networks of the services, one of each address family at most; V(10.96.0.0/12) when they are not said. They stay
        as the cluster was made with them.
      - The largest of IPv4 has 12 bits, of IPv6 108. The first one is of the family of the control plane's addresses.
    type: list
    elements: str
  service_domain:
    description: DNS domain of the services. It stays as the cluster was made with it.
    type: str
    default: cluster.local
  cloud_provider_enabled:
    description:
      - Whether an external cloud provider sets the nodes' provider IDs. Without its controller in the cluster, Nodes
        are never linked to their Machines; a warning says so when no manifest has one.
    type: bool
    default: false
  provider_id_by_kubelet:
    description:
      - Whether the kubelet of each machine registers its Node with the provider ID that CAPM3 gives the machine,
        C(metal3://) with the names of namespace, BareMetalHost and Metal3Machine. Nodes are then linked to their
        Machines when they join, by no label and no cloud controller, and so are those that were deleted and join again;
        CAPM3 writes a provider ID only once.
      - A node's provider ID never changes. A value of C(provider-id) in O(kubelet_extra_args) counts in its place.
    type: bool
    default: false
  failure_domains:
    description:
      - Failure domains; a host is in one by its label C(infrastructure.cluster.x-k8s.io/failure-domain). CAPM3 takes
        hosts elsewhere when none of a domain is free; a domain with too few hosts is a warning.
      - A plain name is a domain with only the name.
    type: list
    elements: dict
    suboptions:
      name:
        description: Name.
        type: str
        required: true
      control_plane:
        description: Whether control plane machines are spread over it.
        type: bool
        default: true
      attributes:
        description: Texts for users and programs.
        type: dict
  label_sync_prefixes:
    description: Prefixes of the hosts' labels that CAPM3 copies to the nodes.
    type: list
    elements: str
  node_name:
    description: Whether a node is named after its Machine or after its host.
    type: str
    choices: [machine, host]
    default: machine
  node_ip_network:
    description: Network whose address is the node's own; by default the only one with addresses from a pool.
    type: str
  options:
    description:
      - More of these options by name, in place of those given directly, so that a role can hand on a whole description.
    type: dict
  workers:
    description:
      - Pools of workers by name. Each has the options of O(control_plane).
      - Without this option the pools that there are stay as they are. When it is given, those that it does not name are
        deleted (O(metal3.baremetal.cluster#module:prune)), with an empty dictionary all of them.
      - C(state=absent) deletes a pool by name. C(replicas=0) keeps a pool without machines.
      - Deleting a pool with machines, and fewer replicas, want the number of machines repeated, see
        O(metal3.baremetal.cluster#module:confirm).
    type: dict
  standalone_machines:
    description:
      - Machines that nothing owns, by name, beside the pools of O(workers). The Machine of C(db) in the cluster
        C(prod) is C(prod-db). Each has the options of O(control_plane) that are for machines; not C(replicas),
        C(autoscaler), C(certificate_renewal_days), C(max_surge), C(max_unavailable), C(rollout_after), C(node_reuse),
        C(machine_name_template), C(health_check), C(remediation), C(deletion_order) and C(min_ready_seconds), which are
        for what makes another machine in the place of one.
      - Nothing replaces such a machine. One that is there stays as it was made, also with another O(kubernetes_version)
        or O(image); a warning says so. To replace it, describe it with C(state=absent), run, and describe it again.
      - Without this option those that there are stay. When it is given, those that it does not name are deleted
        (O(metal3.baremetal.cluster#module:prune)), with an empty dictionary all of them; C(state=absent) deletes one by
        name. Their number must be repeated, see O(metal3.baremetal.cluster#module:confirm).
      - Not with O(provider=metalstack).
    type: dict
  networks:
    description:
      - Networks of the machines by name.
      - >-
        C(interface) (name of an inspected interface, by default the network's name), C(bond) (C(mode), C(interfaces),
        C(transmit_hash_policy), C(parameters)) or C(vlan) (C(id), C(network)) say what carries a network;
        C(mac_address) (as in CAPM3), C(link_type), C(link_name) and C(mtu) say more of the link.
      - >-
        C(mtu) is 1500 bytes by default; that of a VLAN can be no larger than that of what carries it. cloud-init names
        a bond without C(link_name) C(bond0), the next one C(bond1), by the order of the networks' names (in releases of
        before August 2026 also one with C(link_name)), and a VLAN after what carries it, for example C(bond0.100). The
        image must have netplan, NetworkManager or ifupdown for them: with systemd-networkd alone cloud-init of
        Debian 12 makes neither, and the machine has no network.
      - >-
        C(ipv4) and C(ipv6) say where addresses come from. C(mode) is V(pool) (default), V(dhcp), V(slaac) or V(none).
        With C(ranges), C(prefix), C(gateway), C(dns_servers), C(pre_allocations) and C(allocation_strategy), as in
        M(metal3.baremetal.ip_pool), a pool is made for the cluster; C(pool) names one that is there,
        C(pool_annotation) an annotation that does. A machine gets one address of each pool, so that two of its networks
        cannot share one. C(routes) are those of CAPM3; C(default_route) says whether there is one to the gateway.
      - >-
        Each key of C(pre_allocations) is the name of a claim. Of machines' claims it is C(<host>-<pool>) where CAPM3
        preallocates by the names of hosts (variable C(capm3_name_based_preallocation) of the role C(capm3)), and
        C(<Metal3DataTemplate>-<number>-<pool>) elsewhere, where the template's name changes with the networks and the
        meta data of the machines. The pool of a network is named C(<cluster>-<network>), with C(-v6) at its end for
        C(ipv6). An address under any other name is given to nobody.
      - >-
        With C(pool_annotation), CAPM3 1.13 does not give back the address of a deleted machine: its IPClaim stays until
        somebody takes the finalizer from it. A warning says so.
    type: dict
  supported_links:
    description:
      - What the site's cables and switches can carry, all by default. A description with other links is refused, which
        without this option would show only when the machines don't reach each other.
    type: list
    elements: str
    choices: [ethernet, bond, vlan]
  registry_mirrors:
    description:
      - Mirrors that the nodes ask for images in the place of registries, so that pods and kubeadm keep the names that
        images have elsewhere. Each becomes files of containerd in C(/etc/containerd/certs.d), written before kubeadm
        runs.
      - containerd reads them only where its configuration has C(config_path = "/etc/containerd/certs.d"), as in images
        of the Kubernetes image builder. Another container runtime ignores them.
      - A change replaces the machines. A changed password in the Secret counts for new machines only.
    type: list
    elements: dict
    suboptions:
      registry:
        description:
          - Host of the registry as names of images have it, for example V(quay.io), V(registry.k8s.io), V(docker.io) or
            V(registry.example.org:5000). V(_default) stands for all that have no entry.
        type: str
        required: true
      url:
        description:
          - Address of the mirror, with the path below which it has the registry's repositories. With
            V(https://mirror.example.org:5000/quay.io), the image C(quay.io/metal3-io/ironic) is read from
            C(mirror.example.org:5000/quay.io/metal3-io/ironic).
        type: str
        required: true
      ca_certificate:
        description: Certificates, in PEM format, of the authorities that the mirror's certificate is verified with,
          beside those that the nodes trust.
        type: str
      credentials_secret:
        description:
          - Name of a Secret in the cluster's namespace with the keys C(username) and C(password), as those of the type
            C(kubernetes.io/basic-auth) have. On the node only root can read the login.
          - The mirror must take the login itself (HTTP basic authentication). As cloud-init renders user data as a
            Jinja template, neither text can have C({{), C({%) or C({#) in it.
        type: str
      fallback:
        description: Whether the registry itself is asked for what the mirror does not have.
        type: bool
        default: false
  # What applies to machines: of the whole cluster, and below of a group of them.
  image: &image
    description: Image that is written to the machines' disks.
    type: dict
    suboptions:
      url:
        description: Where the servers download it.
        type: str
        required: true
      checksum:
        description: Checksum, or URL of a checksum file. Needed unless the image is a live ISO, also for C(oci://).
        type: str
      checksum_type:
        description: Kind of the checksum; by default its length decides.
        type: str
        choices: [md5, sha256, sha512]
      format:
        description:
          - Format of the image. It can be left out when the URL ends in V(.qcow2), V(.raw), V(.vdi) or V(.vmdk).
        type: str
        choices: [raw, qcow2, vdi, vmdk, live-iso]
  custom_deploy: &custom_deploy
    description: Name of a custom deploy method, in place of an image.
    type: str
  metalstack_size: &metalstack_size
    description: Id of the size of machines of metal-stack. Required with O(provider=metalstack).
    type: str
  metalstack_image: &metalstack_image
    description:
      - Id of the image of machines of metal-stack, or of a series such as V(ubuntu-24.04), whose newest is taken.
        Required with O(provider=metalstack).
    type: str
  host_selector: &host_selector
    description:
      - 'Labels that a BareMetalHost must have, with their values, for example V({"rack": "r1"}).'
    type: dict
  host_selector_expressions: &host_selector_expressions
    description: More conditions for a host's labels.
    type: list
    elements: dict
    suboptions:
      key:
        description: Name of the label.
        type: str
        required: true
      operator:
        description: How the label is compared.
        type: str
        required: true
        choices: [In, NotIn, Exists, DoesNotExist]
      values:
        description: Values, for V(In) and V(NotIn).
        type: list
        elements: str
  automated_cleaning_mode: &automated_cleaning_mode
    description:
      - Whether partition tables are wiped before and after use; V(metadata) when it is not said. CAPM3 writes this into
        the BareMetalHosts of the machines, where it stays.
      - V(host) leaves each BareMetalHost as it is, so that hosts of one group can differ. It counts for new machines.
      - A change replaces no machine. CAPM3 takes it up for the machines that there are. CAPM3 1.13 can't for those
        whose selector has C(Exists) or C(DoesNotExist); a warning says so.
    type: str
    choices: [metadata, disabled, host]
  attached_networks: &attached_networks
    description: Names of the networks that the machines are on, all by default.
    type: list
    elements: str
  network_data: &network_data
    description:
      - Network data as in CAPM3's C(v1beta2) Metal3DataTemplate (C(spec.networkData)), laid over what the networks
        give.
    type: dict
  metadata: &metadata
    description:
      - Meta data as in CAPM3's C(v1beta2) Metal3DataTemplate (C(spec.metaData)), added to what the collection needs
        itself.
      - >-
        Its keys are C(strings), C(objectNames), C(indexes), C(namespaces), C(ipAddressesFromPool), C(prefixesFromPool),
        C(gatewaysFromPool), C(fromHostInterfaces), C(fromLabels) and C(fromAnnotations), each a list.
        C(dnsServersFromPool) is refused, for CAPM3 1.13 takes an address of the pool for it and writes nothing.
    type: dict
  cluster_configuration: &cluster_configuration
    description: kubeadm's ClusterConfiguration as in Cluster API's C(v1beta2). Counts for the control plane only.
    type: dict
  init_configuration: &init_configuration
    description: kubeadm's InitConfiguration as in Cluster API's C(v1beta2). Counts for the control plane only.
    type: dict
  join_configuration: &join_configuration
    description: kubeadm's JoinConfiguration as in Cluster API's C(v1beta2).
    type: dict
  kubelet_configuration: &kubelet_configuration
    description:
      - Fields of a KubeletConfiguration, applied as a kubeadm patch on init and join.
    type: dict
  kube_proxy_configuration: &kube_proxy_configuration
    description:
      - Fields of a KubeProxyConfiguration, appended to kubeadm's configuration on init. Counts for the control plane
        only.
    type: dict
  kubelet_extra_args: &kubelet_extra_args
    description: Arguments of the kubelet, names without dashes in front.
    type: dict
  node_labels: &node_labels
    description: Labels of the nodes.
    type: dict
  node_taints: &node_taints
    description:
      - Taints of the nodes, with C(key), C(value) and C(effect).
      - An empty list removes a control plane's own taint.
    type: list
    elements: dict
  cri_socket: &cri_socket
    description: Socket of the container runtime.
    type: str
  ignore_preflight_errors: &ignore_preflight_errors
    description: Preflight checks of kubeadm that may fail.
    type: list
    elements: str
  skip_phases: &skip_phases
    description: Phases that kubeadm leaves out.
    type: list
    elements: str
  files: &files
    description: Files that cloud-init writes. Their text is rendered as a Jinja template over the config drive's meta
      data.
    type: list
    elements: dict
    suboptions:
      path:
        description: Absolute path.
        type: str
        required: true
      content:
        description: The text. It is readable in the management cluster and in the manifests of
          M(metal3.baremetal.cluster_template), and hidden elsewhere; for secrets there is C(content_secret).
        type: str
      content_secret:
        description: Secret in the cluster's namespace that holds the text.
        type: dict
        suboptions:
          name:
            description: Name of the Secret.
            type: str
            required: true
          key:
            description: Key in the Secret.
            type: str
            required: true
      owner:
        description: Owner and group; V(root:root) when it is not said.
        type: str
      permissions:
        description: Permissions in octal digits; V(0644) when they are not said.
        type: str
      encoding:
        description: How the text is encoded.
        type: str
        choices: [base64, gzip, gzip+base64]
      append:
        description: Whether the text is added to a file that is there.
        type: bool
  boot_commands: &boot_commands
    description: Shell commands early in each boot.
    type: list
    elements: str
  pre_commands: &pre_commands
    description: Shell commands before kubeadm.
    type: list
    elements: str
  post_commands: &post_commands
    description: Shell commands after kubeadm.
    type: list
    elements: str
  users: &users
    description:
      - Users, as in Cluster API's C(v1beta2) KubeadmConfig.
      - A plain name is a user with only the name.
    type: list
    elements: dict
  ssh_user: &ssh_user
    description: User that O(ssh_authorized_keys) is for; V(metal3) when it is not said.
    type: str
  ssh_authorized_keys: &ssh_authorized_keys
    description: Public keys of a user who may become root.
    type: list
    elements: str
  ntp_servers: &ntp_servers
    description: Time servers.
    type: list
    elements: str
  mounts: &mounts
    description: Mounts, each a list of the fields of a line of fstab.
    type: list
    elements: list
  disk_setup: &disk_setup
    description: Partitions and file systems, as in Cluster API's C(v1beta2) KubeadmConfig.
    type: dict
  user_data_format: &user_data_format
    description: Format of the user data; V(cloud-config) when it is not said, V(ignition) with O(provider=metalstack).
    type: str
    choices: [cloud-config, ignition]
  machine_labels: &machine_labels
    description: Labels of the Machines.
    type: dict
  machine_annotations: &machine_annotations
    description: Annotations of the Machines.
    type: dict
  machine_name_template: &machine_name_template
    description: Template of the Machines' names, as in Cluster API.
    type: str
  node_drain_timeout_seconds: &node_drain_timeout_seconds
    description: How long a node is drained before its machine goes; V(0) for no limit.
    type: int
  node_deletion_timeout_seconds: &node_deletion_timeout_seconds
    description: How long deletion of the Node is tried.
    type: int
  node_volume_detach_timeout_seconds: &node_volume_detach_timeout_seconds
    description: How long volumes are waited for before a machine goes.
    type: int
  max_surge: &max_surge
    description:
      - How many machines, or how many percent, there may be more than wanted during a rollout; V(1) when it is not
        said.
      - V(0) for sites without a spare host.
    type: raw
  max_unavailable: &max_unavailable
    description: How many machines, or how many percent, there may be less than wanted during a rollout. Of workers
      only.
    type: raw
  rollout_after: &rollout_after
    description:
      - A time in UTC, for example V(2026-11-23T20:00:00Z). Machines that are older are replaced, at once or when it has
        come, without any other change, for example after Secrets that files refer to have changed.
      - A description that keeps it replaces nothing more.
    type: str
  node_reuse: &node_reuse
    description:
      - Whether a rollout takes the same hosts again. Needs C(max_surge=0).
      - A change replaces no machine, and counts for the machines that there are, from the next rollout on.
    type: bool
  health_check: &health_check
    description: A MachineHealthCheck.
    type: dict
    suboptions:
      enabled:
        description: Whether there is one.
        type: bool
        default: true
      node_startup_timeout_seconds:
        description: How long a machine may take to become a node. Bare metal boots slowly; V(0) for no limit.
        type: int
        default: 1800
      unhealthy_conditions:
        description: Conditions of a node that make its machine unhealthy; by default C(Ready) not C(True) for 300 s.
        type: list
        elements: dict
        suboptions: &unhealthy_conditions
          type:
            description: Type of the condition.
            type: str
            required: true
          status:
            description: Its status.
            type: str
            required: true
          timeout_seconds:
            description: How long it must last.
            type: int
            required: true
      unhealthy_machine_conditions:
        description:
          - Conditions of a Machine that make it unhealthy, beside those of its node, for example C(NodeHealthy).
          - C(Ready), C(Available), C(HealthCheckSucceeded), C(OwnerRemediated) and C(ExternallyRemediated) are refused,
            as Cluster API refuses them.
        type: list
        elements: dict
        suboptions: *unhealthy_conditions
      max_unhealthy:
        description: Number or percentage of unhealthy machines above which nothing is done.
        type: raw
      reboot_retry_limit:
        description: How often CAPM3 reboots an unhealthy machine before it is replaced; not at all when it is not said.
        type: int
      reboot_timeout_seconds:
        description: How long each reboot may take; V(600) when it is not said, at least V(100).
        type: int
  remediation: &remediation
    description:
      - How machines that a health check has found to be unhealthy are replaced. A change replaces no machine.
      - Said for the whole cluster, each owner takes what it has a field for; a group says only what is for its owner.
    type: dict
    suboptions:
      max_retry:
        description:
          - How often the machine in the place of an unhealthy one of the control plane is replaced when it fails, too;
            without a limit when it is not said. With V(0) it stays.
        type: int
      retry_period_seconds:
        description: How long the control plane waits before it does so; V(0) when it is not said.
        type: int
      min_healthy_period_seconds:
        description: After how long a machine of the control plane that fails counts as another case, whose retries
          are counted from 0; V(3600) when it is not said.
        type: int
      max_in_flight:
        description:
          - How many machines, or how many percent, of a pool of workers are being replaced at once; all that are
            unhealthy when it is not said.
          - With O(topology) or O(cluster_class) it needs C(health_check).
        type: raw
  deletion_order: &deletion_order
    description: Which machines of a pool of workers go first when there are to be fewer; Cluster API takes any when it
      is not said. Of workers only. A change replaces no machine.
    type: str
    choices: [random, newest, oldest]
  min_ready_seconds: &min_ready_seconds
    description:
      - How long a new machine of a pool of workers must be ready before it counts as available, so that a rollout goes
        on to the next one. Of workers only.
      - A change replaces no machine.
    type: int
  minimum_memory_mebibytes: &minimum_memory_mebibytes
    description: Memory that a host must have; V(1700), which is kubeadm's limit, when it is not said.
    type: int
  minimum_root_disk_gigabytes: &minimum_root_disk_gigabytes
    description: Size that a host's root disk must have; V(10) when it is not said.
    type: int
  control_plane:
    description: The control plane. Its options are laid over those of the cluster; lists are joined.
    type: dict
    suboptions:
      replicas:
        description:
          - How many machines. An odd number for a control plane.
          - Left out, a new control plane or worker pool has one machine, and one that is there keeps the machines that
            it has, whoever set their number.
        type: int
      autoscaler:
        description:
          - Leaves a worker pool to Cluster API's cluster autoscaler, by the annotations that it looks for; without
            C(replicas).
          - A new pool begins with C(min_size) machines. The number of one that is there is brought into the range,
            which check mode reports.
          - With O(topology) Cluster API does that only when the pool is handed over; a warning names a pool that has
            more or fewer later on.
        type: dict
        suboptions:
          min_size:
            description: The fewest machines that it may have.
            type: int
            required: true
          max_size:
            description: The most machines that it may have. Pools of addresses must have one for each.
            type: int
            required: true
          capacity:
            description:
              - What a machine of the pool has, by the annotations C(capacity.cluster-autoscaler.kubernetes.io/*). A
                pool without machines is not enlarged by the autoscaler unless it knows that. C(node_labels) and
                C(node_taints) of the pool are added by themselves.
            type: dict
            suboptions:
              cpu:
                description: Processors, as a quantity of Kubernetes.
                type: str
                required: true
              memory:
                description: Memory, as a quantity such as V(64Gi).
                type: str
                required: true
              ephemeral_disk:
                description: Space for pods on the node's disk, as a quantity.
                type: str
              max_pods:
                description: How many pods a node takes. Without it the autoscaler assumes 110.
                type: int
              gpu_type:
                description: Name of the resource by which pods ask for a GPU, as V(nvidia.com/gpu); with C(gpu_count).
                type: str
              gpu_count:
                description: How many GPUs a machine has; with C(gpu_type).
                type: int
      machine_class:
        description:
          - Of a pool with O(cluster_class), the class of its machines there; by default that with the pool's name.
        type: str
      class_variables:
        description: With O(cluster_class), values of its variables for this group alone, by name.
        type: dict
      certificate_renewal_days:
        description:
          - Of a control plane, with how many days left of a machine's certificates it is replaced by one with new
            ones, 7 or more. Certificates of kubeadm are valid for a year.
          - Later replacements of that kind are Cluster API's and are not confirmed.
        type: int
      failure_domain:
        description:
          - Failure domain that a worker pool's hosts are preferred in.
          - Not of a control plane, which Cluster API spreads over O(failure_domains).
        type: str
      image: *image
      custom_deploy: *custom_deploy
      metalstack_size: *metalstack_size
      metalstack_image: *metalstack_image
      host_selector: *host_selector
      host_selector_expressions: *host_selector_expressions
      automated_cleaning_mode: *automated_cleaning_mode
      attached_networks: *attached_networks
      network_data: *network_data
      metadata: *metadata
      cluster_configuration: *cluster_configuration
      init_configuration: *init_configuration
      join_configuration: *join_configuration
      kubelet_configuration: *kubelet_configuration
      kube_proxy_configuration: *kube_proxy_configuration
      kubelet_extra_args: *kubelet_extra_args
      node_labels: *node_labels
      node_taints: *node_taints
      cri_socket: *cri_socket
      ignore_preflight_errors: *ignore_preflight_errors
      skip_phases: *skip_phases
      files: *files
      boot_commands: *boot_commands
      pre_commands: *pre_commands
      post_commands: *post_commands
      users: *users
      ssh_user: *ssh_user
      ssh_authorized_keys: *ssh_authorized_keys
      ntp_servers: *ntp_servers
      mounts: *mounts
      disk_setup: *disk_setup
      user_data_format: *user_data_format
      machine_labels: *machine_labels
      machine_annotations: *machine_annotations
      machine_name_template: *machine_name_template
      node_drain_timeout_seconds: *node_drain_timeout_seconds
      node_deletion_timeout_seconds: *node_deletion_timeout_seconds
      node_volume_detach_timeout_seconds: *node_volume_detach_timeout_seconds
      max_surge: *max_surge
      max_unavailable: *max_unavailable
      rollout_after: *rollout_after
      node_reuse: *node_reuse
      health_check: *health_check
      remediation: *remediation
      deletion_order: *deletion_order
      min_ready_seconds: *min_ready_seconds
      minimum_memory_mebibytes: *minimum_memory_mebibytes
      minimum_root_disk_gigabytes: *minimum_root_disk_gigabytes
"""
