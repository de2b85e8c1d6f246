# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The options of a cluster description, as argument specs; documented in the fragment ``cluster``."""
from __future__ import annotations

from ..._ipam.options import pool_options

NAME_RULE = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?\Z"
# CAPM3 api/v1beta2: Image and its enums.
CHECKSUM_TYPES = ("md5", "sha256", "sha512")
IMAGE_FORMATS = ("raw", "qcow2", "vdi", "vmdk", "live-iso")
LINK_TYPES = ("phy", "bridge", "dvs", "hw_veb", "hyperv", "ovs", "tap", "vhostuser", "vif")
# Who gives a cluster its machines: CAPM3, or cluster-api-provider-metal-stack.
METAL3, METALSTACK = PROVIDERS = ("metal3", "metalstack")
# What can carry a network; CAPM3's networkData has a list for each.
LINK_KINDS = ("ethernet", "bond", "vlan")
BOND_MODES = ("balance-rr", "active-backup", "balance-xor", "broadcast", "balance-tlb", "balance-alb", "802.3ad")
# Something outside of the description, or a program on the control plane machines.
ENDPOINT_HOLDERS = NO_HOLDER, KEEPALIVED, KUBE_VIP = ("none", "keepalived", "kube-vip")
HOLDERS_ON_MACHINES = (KEEPALIVED, KUBE_VIP)
# Where the network add-on comes from: this collection, the module's manifests, or elsewhere.
NETWORK_ADDONS = ("flannel", "manifests", "none")
# flannel's documentation, backends.md: those that need no other program on the nodes and no cloud.
FLANNEL_BACKENDS = ("vxlan", "host-gw", "wireguard")
# The CNI plugins' configuration: installed by flannel's pods, or in the nodes' image already.
FLANNEL_CNI_CONFIGURATIONS = ("install", "node")
# "host" leaves the field out, so that each BareMetalHost keeps its own.
CLEANING_MODES = ("metadata", "disabled", "host")
# kubeadm's preflight check "Mem" of a control plane: 1700 MB.
DEFAULT_MINIMUM_MEMORY_MEBIBYTES = 1700
DEFAULT_MINIMUM_ROOT_DISK_GIGABYTES = 10
# Options of machines that are for who owns them: nothing rolls, names or replaces a standalone one.
OF_OWNERS = ("max_surge", "max_unavailable", "rollout_after", "node_reuse", "machine_name_template", "health_check",
             "remediation", "deletion_order", "min_ready_seconds")
# Suboptions of remediation: a KubeadmControlPlane counts retries, a MachineDeployment has a limit of them at once.
REMEDIATION_OF_CONTROL_PLANE = ("max_retry", "retry_period_seconds", "min_healthy_period_seconds")
REMEDIATION_OF_WORKERS = ("max_in_flight",)
# Option → field of MachineDeployments.
DELETION_ORDERS = {"random": "Random", "newest": "Newest", "oldest": "Oldest"}


def _family_options(modes):
    options = {
        "mode": {"type": "str", "choices": modes, "default": "pool"},
        "pool": {"type": "str"},
        "pool_annotation": {"type": "dict"},
        "default_route": {"type": "bool"},
        "routes": {"type": "list", "elements": "dict"},
    }
    options.update(pool_options())
    return options


def network_options():
    """Return the options of one network of a description."""
    return {
        "interface": {"type": "str"},
        "mac_address": {"type": "dict"},
        "link_type": {"type": "str", "choices": list(LINK_TYPES), "default": "phy"},
        "link_name": {"type": "str"},
        "mtu": {"type": "int", "default": 1500},
        "bond": {"type": "dict", "options": {
            "mode": {"type": "str", "choices": list(BOND_MODES), "required": True},
            "interfaces": {"type": "list", "elements": "str", "required": True},
            "transmit_hash_policy": {"type": "str", "choices": ["layer2", "layer3+4", "layer2+3"]},
            "parameters": {"type": "dict"},
        }},
        "vlan": {"type": "dict", "options": {
            "id": {"type": "int", "required": True},
            "network": {"type": "str", "required": True},
        }},
        "ipv4": {"type": "dict", "options": _family_options(["pool", "dhcp", "none"])},
        "ipv6": {"type": "dict", "options": _family_options(["pool", "dhcp", "slaac", "none"])},
    }


def image_options():
    """Return the options of a node image."""
    return {
        "url": {"type": "str", "required": True},
        "checksum": {"type": "str"},
        "checksum_type": {"type": "str", "choices": list(CHECKSUM_TYPES)},
        "format": {"type": "str", "choices": list(IMAGE_FORMATS)},
    }


def metalstack_options():
    """Return the options of a cluster on metal-stack."""
    rule = {"comment": {"type": "str"}, "protocol": {"type": "str", "choices": ["tcp", "udp"], "required": True},
            "ports": {"type": "list", "elements": "int", "required": True}}
    networks = {"type": "list", "elements": "str", "required": True}
    return {
        "project": {"type": "str", "required": True},
        "partition": {"type": "str", "required": True},
        "node_network": {"type": "str"},
        "firewall": {"type": "dict", "required": True, "options": {
            "size": {"type": "str", "required": True}, "image": {"type": "str", "required": True},
            "networks": networks, "auto_update": {"type": "bool", "default": False},
            "rules": {"type": "dict", "required": True, "options": {
                "egress": {"type": "list", "elements": "dict", "options": dict(rule, to=networks)},
                "ingress": {"type": "list", "elements": "dict", "options": {**rule, "from": networks}}}},
        }},
    }


def machine_options():
    """Return the options that apply to machines: of the whole cluster, of its control plane, of a worker pool."""
    strings = {"type": "list", "elements": "str"}
    dicts = {"type": "list", "elements": "dict"}
    conditions = dict(dicts, options={
        "type": {"type": "str", "required": True}, "status": {"type": "str", "required": True},
        "timeout_seconds": {"type": "int", "required": True}})
    return {
        "image": {"type": "dict", "options": image_options()},
        "custom_deploy": {"type": "str"},
        "metalstack_size": {"type": "str"},
        "metalstack_image": {"type": "str"},
        "host_selector": {"type": "dict"},
        "host_selector_expressions": dict(dicts, options={
            "key": {"type": "str", "required": True, "no_log": False},
            "operator": {"type": "str", "required": True, "choices": ["In", "NotIn", "Exists", "DoesNotExist"]},
            "values": strings,
        }),
        "automated_cleaning_mode": {"type": "str", "choices": list(CLEANING_MODES)},
        "attached_networks": strings,
        "network_data": {"type": "dict"},
        "metadata": {"type": "dict"},
        "cluster_configuration": {"type": "dict"},
        "init_configuration": {"type": "dict"},
        "join_configuration": {"type": "dict"},
        "kubelet_configuration": {"type": "dict"},
        "kube_proxy_configuration": {"type": "dict"},
        "kubelet_extra_args": {"type": "dict"},
        "node_labels": {"type": "dict"},
        "node_taints": dict(dicts),
        "cri_socket": {"type": "str"},
        "ignore_preflight_errors": strings,
        "skip_phases": strings,
        "files": dict(dicts, options={
            "path": {"type": "str", "required": True}, "content": {"type": "str"},
            "content_secret": {"type": "dict", "no_log": False, "options": {
                "name": {"type": "str", "required": True},
                "key": {"type": "str", "required": True, "no_log": False},
            }},
            "owner": {"type": "str"}, "permissions": {"type": "str"},
            "encoding": {"type": "str", "choices": ["base64", "gzip", "gzip+base64"]},
            "append": {"type": "bool"},
        }),
        "boot_commands": strings,
        "pre_commands": strings,
        "post_commands": strings,
        "users": dict(dicts),
        "ssh_user": {"type": "str"},
        "ssh_authorized_keys": {"type": "list", "elements": "str", "no_log": False},
        "ntp_servers": strings,
        "mounts": {"type": "list", "elements": "list"},
        "disk_setup": {"type": "dict"},
        "user_data_format": {"type": "str", "choices": ["cloud-config", "ignition"]},
        "machine_labels": {"type": "dict"},
        "machine_annotations": {"type": "dict"},
        "machine_name_template": {"type": "str"},
        "node_drain_timeout_seconds": {"type": "int"},
        "node_deletion_timeout_seconds": {"type": "int"},
        "node_volume_detach_timeout_seconds": {"type": "int"},
        "max_surge": {"type": "raw"},
        "max_unavailable": {"type": "raw"},
        "rollout_after": {"type": "str"},
        "node_reuse": {"type": "bool"},
        "health_check": {"type": "dict", "options": {
            "enabled": {"type": "bool", "default": True},
            "node_startup_timeout_seconds": {"type": "int", "default": 1800},
            "unhealthy_conditions": conditions,
            "unhealthy_machine_conditions": conditions,
            "max_unhealthy": {"type": "raw"},
            "reboot_retry_limit": {"type": "int"},
            "reboot_timeout_seconds": {"type": "int"},
        }},
        "remediation": {"type": "dict", "options": {
            **dict((name, {"type": "int"}) for name in REMEDIATION_OF_CONTROL_PLANE), "max_in_flight": {"type": "raw"},
        }},
        "deletion_order": {"type": "str", "choices": list(DELETION_ORDERS)},
        "min_ready_seconds": {"type": "int"},
        "minimum_memory_mebibytes": {"type": "int"},
        "minimum_root_disk_gigabytes": {"type": "int"},
    }


def group_options():
    """Return the options of one group of machines: the control plane or a worker pool."""
    options = machine_options()
    options.update({
        "replicas": {"type": "int"}, "failure_domain": {"type": "str"},
        "machine_class": {"type": "str"}, "class_variables": {"type": "dict"},
        "certificate_renewal_days": {"type": "int"},
        "autoscaler": {"type": "dict", "options": {
            "min_size": {"type": "int", "required": True}, "max_size": {"type": "int", "required": True},
            "capacity": {"type": "dict", "options": {
                "cpu": {"type": "str", "required": True}, "memory": {"type": "str", "required": True},
                "ephemeral_disk": {"type": "str"}, "max_pods": {"type": "int"},
                "gpu_type": {"type": "str"}, "gpu_count": {"type": "int"},
            }},
        }},
    })
    return options


def pool_of_workers_options():
    """Return the options of a pool of workers."""
    return dict(group_options(), state={"type": "str", "choices": ["present", "absent"], "default": "present"})


def standalone_machine_options():
    """Return the options of a machine without an owner that makes another in its place."""
    options = dict((name, option) for name, option in machine_options().items() if name not in OF_OWNERS)
    options.update({"failure_domain": {"type": "str"},
                    "state": {"type": "str", "choices": ["present", "absent"], "default": "present"}})
    return options


def description_options():
    """Return the options of a whole cluster description.

    ``workers``, ``standalone_machines`` and ``networks`` are dicts by name, with the options of
    :func:`pool_of_workers_options`, :func:`standalone_machine_options` and :func:`network_options`.
    """
    options = machine_options()
    options.update({
        "name": {"type": "str", "required": True},
        "namespace": {"type": "str", "default": "metal3"},
        "provider": {"type": "str", "choices": list(PROVIDERS), "default": METAL3},
        "metalstack": {"type": "dict", "options": metalstack_options()},
        "api_version": {"type": "str", "choices": ["v1beta2", "v1beta1"], "default": "v1beta2"},
        "topology": {"type": "bool"},
        "cluster_class": {"type": "dict", "options": {
            "name": {"type": "str", "required": True}, "namespace": {"type": "str"}, "variables": {"type": "dict"},
        }},
        "kubernetes_version": {"type": "str"},
        "endpoint": {"type": "dict", "options": {
            "host": {"type": "str", "required": True}, "port": {"type": "int", "default": 6443},
            "holder": {"type": "str", "choices": list(ENDPOINT_HOLDERS)},
            "interface": {"type": "str"}, "virtual_router_id": {"type": "int"}, "image": {"type": "str"},
        }},
        "network_addon": {"type": "str", "choices": list(NETWORK_ADDONS), "default": "manifests"},
        "flannel": {"type": "dict", "options": {
            "backend": {"type": "str", "choices": list(FLANNEL_BACKENDS), "default": "vxlan"},
            "nftables": {"type": "bool", "default": False},
            "interface": {"type": "str"},
            "cni_configuration": {"type": "str", "choices": list(FLANNEL_CNI_CONFIGURATIONS), "default": "install"},
            "image": {"type": "str"}, "cni_plugin_image": {"type": "str"},
        }},
        "image_registry": {"type": "str"},
        "pod_cidrs": {"type": "list", "elements": "str"},
        "service_cidrs": {"type": "list", "elements": "str"},
        "service_domain": {"type": "str", "default": "cluster.local"},
        "cloud_provider_enabled": {"type": "bool", "default": False},
        "provider_id_by_kubelet": {"type": "bool", "default": False},
        "failure_domains": {"type": "list", "elements": "dict", "options": {
            "name": {"type": "str", "required": True}, "control_plane": {"type": "bool", "default": True},
            "attributes": {"type": "dict"},
        }},
        "label_sync_prefixes": {"type": "list", "elements": "str"},
        "node_name": {"type": "str", "choices": ["machine", "host"], "default": "machine"},
        "node_ip_network": {"type": "str"},
        "control_plane": {"type": "dict", "options": group_options()},
        "workers": {"type": "dict"},
        "standalone_machines": {"type": "dict"},
        "networks": {"type": "dict"},
        "supported_links": {"type": "list", "elements": "str", "choices": list(LINK_KINDS)},
        "registry_mirrors": {"type": "list", "elements": "dict", "options": {
            "registry": {"type": "str", "required": True},
            "url": {"type": "str", "required": True},
            "ca_certificate": {"type": "str"},
            "credentials_secret": {"type": "str", "no_log": False},
            "fallback": {"type": "bool", "default": False},
        }},
    })
    return options
