# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The rules that the lint of a site tells findings by: identifier, level, what it is about; pure.

``docs/lint-rules.md`` is made from this table.
"""
from __future__ import annotations

import re
from collections import namedtuple

from .._host.rules.combinations import COMBINATIONS

ERROR, WARNING = "error", "warning"

# rule: identifier; level; kind: host, cluster, pool or site, what the finding is about; fields and text: regular
# expressions by which a mistake of the validation functions is recognised (path of the option; what was seen and
# expected), None for findings that name their rule themselves; summary: one sentence; source: where it comes from.
Rule = namedtuple("Rule", ["rule", "level", "kind", "fields", "text", "summary", "source"])

_HOST_SOURCE = "BMO 0.13 webhook and CRD; module_utils/_host/validation.py"
_CLUSTER_SOURCE = "webhooks and CRDs of Cluster API 1.13 and CAPM3 1.13; module_utils/_cluster/checks/validation.py"
_POOL_SOURCE = "IPAM 1.13; module_utils/_ipam/validation.py"


def _host(rule, fields, summary, text=None, source=_HOST_SOURCE):
    return Rule(rule, ERROR, "host", fields, text, summary, source)


def _cluster(rule, fields, summary, text=None, source=_CLUSTER_SOURCE):
    return Rule(rule, ERROR, "cluster", fields, text, summary, source)


def _pool(rule, summary, text=None):
    return Rule(rule, ERROR, "pool", ".*", text, summary, _POOL_SOURCE)


def _site(rule, level, summary, source, kind="site"):
    return Rule(rule, level, kind, None, None, summary, source)


# The first that fits counts.
_RECOGNISED = (
    _host("host-duplicate", "name|boot_mac_address|bmc.address|.*name",
          "Names, boot MAC addresses, BMCs and Secrets are not shared by two hosts.",
          "^the same as|a Secret of its own"),
    _host("host-name", "name", "A host's name is one that Kubernetes and BMO take."),
    _host("bmc-address", "bmc.address", "A BMC address has a scheme that BMO supports and a host that can be one."),
    _host("bmc-credentials", "bmc.*",
          "Each BMC has complete credentials, or a Secret that holds them; TLS options only with TLS."),
    _host("boot-mac", "boot_mac_address",
          "A boot MAC address is a network card's, and there where the scheme or a host without inspection needs it."),
    _host("boot-mode", "boot_mode",
          "The scheme can do the boot mode: secure boot needs Redfish, UEFI HTTP has no legacy boot."),
    _host("root-device-hints", r"root_device_hints.*|raid.*physical_disks\[.*",
          "Hints name a disk in a way that BMO and Ironic understand."),
    _host("raid", "raid.*", "RAID volumes have a level, disks and a scheme that can make them."),
    _host("image", "(image|custom_deploy).*",
          "An image has a URL, a checksum of the right kind, and fits the way it is deployed."),
    _host("host-data", "(user_data|network_data|meta_data|preprovisioning_network_data).*",
          "User data, network data and metadata have content or the name of a Secret."),
    _host("metadata", "(labels|annotations|inspection_mode|taints).*",
          "Labels, taints, annotations and what they ask of BMO are valid."),
    _host("power", "(online|state|externally_provisioned|disable_power_off).*",
          "What a host is asked to be does not contradict itself."),
    _host("obsolete", "(firmware|hardware_profile).*",
          "Fields that no driver of BMO takes any more are not used."),
    _host("host", ".*", "Other rules for a host."),
    _cluster("network-overlap", "(pod_cidrs|service_cidrs|endpoint).*",
             "Networks of pods, services and nodes have no addresses in common.",
             "overlaps|which is in (pod|service)_cidrs"),
    _cluster("network", r"(pod_cidrs|service_cidrs|networks|.*\.network_data).*",
             "Networks are written in a way that nodes can have them."),
    _cluster("endpoint", "endpoint.*", "The endpoint is an address that nodes can reach and nobody else is given."),
    _cluster("version", "kubernetes_version|api_version|", "Kubernetes, Cluster API and CAPM3 fit each other.",
             source="Cluster API's book, supported versions matrix; module_utils/_cluster/checks/versions.py"),
    _cluster("host-capacity", ".*host_selector", "There are as many hosts that match as machines.",
             source="CAPM3 chooseHost; module_utils/_cluster/checks/hosts.py"),
    _cluster("host-selector", ".*host_selector.*",
             "A selector's labels have values, and its expressions are complete."),
    _cluster("reference", ".*(attached_networks|failure_domain|failure_domains|node_ip_network)",
             "Networks and failure domains that are named are described."),
    _cluster("cluster-image", ".*image.*", "A node image has a URL, a format and a checksum of the right kind.",
             source="CAPM3 and BMO webhooks; module_utils/_cluster/checks/image.py"),
    _cluster("replicas", r".*\.(replicas|autoscaler|max_surge|max_unavailable)\b.*",
             "Numbers of machines keep etcd's quorum and let a rollout go on."),
    _cluster("user-data", r".*\.(files|boot_commands|pre_commands|post_commands|users|node_taints|node_labels|"
             r"kubelet_extra_args|metadata|"
             r"join_configuration|init_configuration)\b.*", "What becomes user data and metadata can be read there."),
    _cluster("health-check", ".*health_check.*", "A health check's times are those that the webhooks take."),
    _cluster("cluster-name", "name|control_plane|workers.*",
             "Names of clusters and pools of machines fit into the names that are made of them."),
    _cluster("cluster", ".*", "Other rules for a cluster."),
    _pool("address-overlap", "No address is in two ranges.", "which is in ranges"),
    _pool("pool-capacity", "A pool has an address for each machine, and for those that a rollout adds.",
          "addresses, at least"),
    _pool("pool", "A pool's ranges, gateways and preallocations are right."),
)

_NAMED = (
    _site("template-error", ERROR, "Each variable of the site can be templated.", "Ansible"),
    _site("unknown-variable", ERROR, "No variable or option is mistyped.",
          "module_utils/_host/fields.py, cluster_spec.py; the roles' argument specs"),
    _site("value", ERROR, "Values are of the right type and within the limits of the CRDs.",
          "module_utils/_host/fields.py, cluster_spec.py"),
    _site("no-hosts", WARNING, "The site has servers.", "playbook metal3.baremetal.enroll"),
    _site("host-and-cluster", ERROR, "No inventory host is a server and a cluster at the same time.",
          "playbooks metal3.baremetal.enroll and cluster"),
    _site("cluster-without-host", ERROR, "Each group below the group of clusters has a host, which stands for it.",
          "Ansible runs plays for hosts; playbook metal3.baremetal.cluster"),
    _site("cluster-identity", ERROR, "One group directly below that of the clusters, or cluster_name, gives each "
          "cluster a name of its own.", "module_utils/_cluster/inventory.py", "cluster"),
    _site("cluster-group-nested", WARNING, "The group that gives a cluster its name has no groups below it, or "
          "cluster_name gives the name.", "module_utils/_cluster/inventory.py", "cluster"),
    _site("cluster-duplicate", ERROR, "Each cluster has an endpoint of its own.",
          "module_utils/_cluster/checks/preflight.py"),
    _site("address-taken", ERROR, "No pool gives away the address of a BMC or of another cluster's endpoint.",
          "module_utils/_cluster/checks/preflight.py"),
    _site("provisioning-overlap", ERROR, "The provisioning network has no address in common with pods and services.",
          "metal3.io book, provisioning network"),
    _site("provisioning-network", ERROR, "Schemes that need a provisioning network are used where there is one.",
          "BMO 0.13 pkg/provisioner/ironic/register.go", "host"),
    _site("unknown-pool", ERROR, "Pools that clusters take addresses from by name are described.",
          "module_utils/_cluster/checks/preflight.py", "cluster"),
    _site("unknown-secret", ERROR, "Secrets that are named are made by the site, or known to exist.",
          "module_utils/_host/validation.py", "host"),
    _site("endpoint-holder", WARNING, "Somebody holds the address of a cluster's endpoint.",
          "kubeadm, creating highly available clusters; module_utils/_cluster/endpoint.py", "cluster"),
    _site("network-add-on", WARNING, "A cluster that is to become available gets a network add-on.",
          "kubeadm, installing a pod network add-on; module_utils/_cluster/checks/addon.py", "cluster"),
    _site("cluster-size", WARNING, "A cluster says how many machines it has; what is not said stays as it is stored.",
          "module_utils/_cluster/losses.py, cluster_stored.py", "cluster"),
    _site("rollout-spare", WARNING, "A spare host is there for each group that rolls out by an extra machine.",
          "module_utils/_cluster/checks/preflight.py", "cluster"),
) + tuple(_site(item.rule, WARNING, item.summary, item.source, "host") for item in COMBINATIONS)

RULES = _NAMED + _RECOGNISED
BY_NAME = dict((rule.rule, rule) for rule in RULES)


def recognise(kind, field, seen, expected):
    """Return the Rule of a mistake that the validation functions told.

    :param kind: ``host``, ``cluster`` or ``pool``
    :param field: path of the option
    """
    text = f"{seen}, {expected}"
    for rule in _RECOGNISED:
        if rule.kind == kind and re.match(f"({rule.fields})$", field or "", re.DOTALL) and (
                rule.text is None or re.search(rule.text, text)):
            return rule
    raise AssertionError(f"no rule of kind {kind}")


def as_markdown():
    """Return the documentation of all rules."""
    lines = ["# Rules of the lint", "",
             "Playbook `metal3.baremetal.lint` and module `metal3.baremetal.site_lint`. This file is made from",
             "`plugins/module_utils/_lint/rules.py`; a unit test compares the two.", "",
             "| rule | level | what is right | source |", "|---|---|---|---|"]
    lines += [f"| `{rule.rule}` | {rule.level} | {rule.summary} | {rule.source} |" for rule in RULES]
    return "\n".join(lines) + "\n"
