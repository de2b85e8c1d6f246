# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The rules of the lint: the code of their Problems, level, what they are about; pure.

``docs/lint-rules.md`` is made from this table.
"""
from __future__ import annotations

from collections import namedtuple

from .._host.rules.combinations import COMBINATIONS

ERROR, WARNING = "error", "warning"

# rule: the code of its Problems; level; kind: host, cluster, pool or site, what a finding is about; summary: one
# sentence; source: where it comes from.
Rule = namedtuple("Rule", ["rule", "level", "kind", "summary", "source"])

_HOST_SOURCE = "BMO 0.13 webhook and CRD; module_utils/_host/rules/"
_CLUSTER_SOURCE = "webhooks and CRDs of Cluster API 1.13 and CAPM3 1.13; module_utils/_cluster/checks/"
_POOL_SOURCE = "IPAM 1.13; module_utils/_ipam/validation.py"


def _host(rule: str, summary: str, file: str) -> Rule:
    return Rule(rule, ERROR, "host", summary, f"{_HOST_SOURCE}{file}.py")


def _cluster(rule: str, summary: str, file: str = "validation", source: str = _CLUSTER_SOURCE) -> Rule:
    return Rule(rule, ERROR, "cluster", summary, f"{source}{file}.py")


def _pool(rule: str, summary: str) -> Rule:
    return Rule(rule, ERROR, "pool", summary, _POOL_SOURCE)


def _site(rule: str, level: str, summary: str, source: str, kind: str = "site") -> Rule:
    return Rule(rule, level, kind, summary, source)


_OF_MODULES = (
    _host("host-duplicate", "Names, boot MAC addresses, BMCs and Secrets are not shared by two hosts.", "identity"),
    _host("host-name", "A host's name is valid for Kubernetes and BMO.", "identity"),
    _host("bmc-address", "A BMC address has a scheme that BMO supports and a valid host.", "bmc"),
    _host("bmc-credentials",
          "Each BMC has complete credentials, or a Secret that holds them; TLS options only with TLS.", "bmc"),
    _host("boot-mac-invalid", "A boot MAC address is six pairs of hexadecimal digits of one network card.", "boot"),
    _host("boot-mac-missing", "A boot MAC address is set where the scheme or a host without inspection requires it.",
          "boot"),
    _host("boot-mode", "The scheme supports the boot mode: secure boot requires Redfish, UEFI HTTP has no legacy boot.",
          "boot"),
    _host("root-device-hints", "Hints name a disk in a way that BMO and Ironic understand.", "hint"),
    _host("raid", "RAID volumes have a level, disks and a scheme that supports them.", "raid"),
    _host("image", "An image has a URL, a checksum of the right kind, and fits the way it is deployed.", "image"),
    _host("host-data", "User data, network data and metadata have content or the name of a Secret.", "data"),
    _host("metadata", "Labels, taints, annotations and what they ask of BMO are valid.", "metadata"),
    _host("power", "Power state, goal and what is deployed do not contradict each other.", "goal"),
    _host("obsolete", "Fields that no driver of BMO supports any more are not used.", "obsolete"),
    _cluster("network-overlap", "Networks of pods, services and nodes have no addresses in common.", "address"),
    _cluster("network", "Networks, links, routes and preallocations are valid.", "networks"),
    _cluster("endpoint", "The endpoint is an address that nodes can reach and nobody else is given.", "address"),
    _cluster("version", "Kubernetes, Cluster API and CAPM3 are compatible.", "versions",
             "Cluster API's book, supported versions matrix; module_utils/_cluster/checks/"),
    _cluster("host-capacity", "There are as many matching hosts as machines.", "hosts",
             "CAPM3 chooseHost; module_utils/_cluster/checks/"),
    _cluster("host-selector", "A selector's labels have values, and its expressions are complete.", "groups"),
    _cluster("reference", "Networks and failure domains that are named are described.", "groups"),
    _cluster("cluster-image", "A node image has a URL, a format and a checksum of the right kind.", "image",
             "CAPM3 and BMO webhooks; module_utils/_cluster/checks/"),
    _cluster("replicas", "Numbers of machines keep etcd's quorum and let a rollout continue.", "groups"),
    _cluster("user-data", "What becomes user data and metadata is valid there.", "user_data"),
    _cluster("topology", "Options of clusters by ClusterClass, and those that such clusters have not, go together.",
             "topology"),
    _cluster("registry-mirror", "Mirrors of registries are valid: one for each registry, logins only with https.",
             "registries", "containerd, docs/hosts.md; module_utils/_cluster/render/"),
    _cluster("health-check", "A health check's times are within the limits of the webhooks.", "groups"),
    _cluster("cluster-name", "Names of clusters and pools of machines fit into the names that are derived from them."),
    _pool("address-overlap", "No address is in two ranges."),
    _pool("pool-capacity", "A pool has an address for each machine, and for those that a rollout adds."),
    _pool("pool", "A pool's ranges, gateways and preallocations are valid."),
)

# Rules that only a whole site shows.
_OF_THE_LINT = (
    _site("template-error", ERROR, "Each variable of the site can be templated.", "Ansible"),
    _site("inventory-file", ERROR, "Each file of the inventory can be read.", "Ansible goes on without such a file"),
    _site("variables-of-nobody", WARNING, "Each file of group_vars and host_vars is for a group or host that there is.",
          "Ansible does not read it"),
    _site("unknown-group", ERROR, "The groups of servers, clusters and the plane's machines are not mistyped.",
          "playbooks, which leave out what an inventory has no hosts for"),
    _site("unknown-variable", ERROR, "No variable or option is mistyped.",
          "module_utils/_host/description/fields.py, _cluster/description/spec.py; the roles' argument specs"),
    _site("value", ERROR, "Values are of the right type and within the limits of the CRDs.",
          "module_utils/_host/description/fields.py, _cluster/description/spec.py"),
    _site("no-hosts", WARNING, "The site has servers.", "playbook metal3.baremetal.enroll"),
    _site("host-and-cluster", ERROR, "No inventory host is a server and a cluster at the same time.",
          "playbooks metal3.baremetal.enroll and cluster"),
    _site("cluster-without-host", ERROR, "Each group below the group of clusters has a host, which stands for it.",
          "Ansible runs plays for hosts; playbook metal3.baremetal.cluster"),
    _site("cluster-identity", ERROR, "One group directly below that of the clusters, or cluster_name, gives each "
          "cluster a name of its own.", "module_utils/_cluster/description/inventory.py", "cluster"),
    _site("cluster-group-nested", WARNING, "The group that gives a cluster its name has no groups below it, or "
          "cluster_name gives the name.", "module_utils/_cluster/description/inventory.py", "cluster"),
    _site("management-cluster", ERROR,
          "One cluster at most is to manage the site, and there is a bootstrap plane that makes it.",
          "module_utils/_move/manager/site_checks.py; playbook metal3.baremetal.site", "cluster"),
    _site("management-version", ERROR, "Cluster API runs in the Kubernetes of the cluster that is to manage the site.",
          "module_utils/_plane/parts/matrix.py", "cluster"),
    _site("management-address", ERROR,
          "What a plane in a cluster uses is reached from there, without the bootstrap plane.",
          "module_utils/_move/manager/site_checks.py", "cluster"),
    _site("management-images", ERROR, "The Ironic in the cluster that is to manage the site has an agent to boot.",
          "module_utils/_move/manager/site_checks.py", "cluster"),
    _site("management-size", WARNING,
          "The cluster that is to manage the site outlives the loss of a server, and has nodes for the plane's pods.",
          "module_utils/_move/manager/site_checks.py", "cluster"),
    _site("cluster-duplicate", ERROR,
          "Each cluster has an endpoint, and a number of its virtual router, that no other one and no plane has.",
          "module_utils/_cluster/checks/preflight.py"),
    _site("plane-duplicate", ERROR,
          "Each plane has a number of its virtual router that no other one, and no cluster of another plane, has on "
          "its network.",
          "RFC 9568; module_utils/_network/plane_routers.py"),
    _site("address-overlap-elsewhere", WARNING, "Pools of two namespaces, or of two planes, have no address in common "
          "where gateway, prefix and VLAN may be those of one network.", "docs/decisions/0901", "cluster"),
    _site("address-taken", ERROR, "No pool gives away the address of a BMC or of another cluster's endpoint.",
          "module_utils/_cluster/checks/preflight.py"),
    _site("provisioning-overlap", ERROR, "The provisioning network has no address in common with pods and services.",
          "metal3.io book, provisioning network"),
    _site("provisioning-network", ERROR, "Schemes that need a provisioning network are used where there is one.",
          "BMO 0.13 pkg/provisioner/ironic/register.go", "host"),
    _site("unknown-pool", ERROR, "Pools that clusters take addresses from by name are described.",
          "module_utils/_cluster/checks/preflight.py", "cluster"),
    _site("unknown-secret", ERROR, "Secrets that are named are made by the site, or known to exist.",
          "module_utils/_host/enrolment/validation.py", "host"),
    _site("firmware-settings", ERROR, "BIOS settings are texts, whole numbers or truth values, and no passwords.",
          "BMO 0.13 FirmwareSchema; module_utils/_resources/firmware_settings.py", "host"),
    _site("firmware-components", ERROR, "Firmware is named as Ironic names it, once, by a URL without credentials.",
          "Ironic's redfish firmware interface; module_utils/_resources/firmware_components.py", "host"),
    _site("policy", ERROR, "A policy says when something may be changed.",
          "module_utils/_resources/policies.py", "host"),
    _site("compliance-profile", ERROR, "What is expected of a server can be compared.",
          "module_utils/_compliance/described.py; playbook metal3.baremetal.compliance", "host"),
    _site("endpoint-holder", WARNING, "Somebody holds the address of a cluster's endpoint.",
          "kubeadm, creating highly available clusters; module_utils/_cluster/render/endpoint.py", "cluster"),
    _site("network-add-on", WARNING, "A cluster that is to become available gets a network add-on.",
          "kubeadm, installing a pod network add-on; module_utils/_cluster/checks/addon.py", "cluster"),
    _site("cluster-size", WARNING, "A cluster says how many machines it has; what is not said stays as it is stored.",
          "module_utils/_cluster/rollout/losses.py, _cluster/writing/stored.py", "cluster"),
    _site("rollout-spare", WARNING, "A spare host is there for each group that rolls out by an extra machine.",
          "module_utils/_cluster/checks/preflight.py", "cluster"),
) + tuple(_site(item.rule, WARNING, item.summary, item.source, "host") for item in COMBINATIONS)

RULES = _OF_THE_LINT + _OF_MODULES
BY_NAME = dict((rule.rule, rule) for rule in RULES)


def as_markdown() -> str:
    """Return the documentation of all rules."""
    lines = ["# Rules of the lint", "",
             "Playbook `metal3.baremetal.lint` and module `metal3.baremetal.site_lint`. This file is made from",
             "`plugins/module_utils/_lint/rules.py`; a unit test compares the two.", "",
             "| rule | level | what is right | source |", "|---|---|---|---|"]
    lines += [f"| `{rule.rule}` | {rule.level} | {rule.summary} | {rule.source} |" for rule in RULES]
    return "\n".join(lines) + "\n"
