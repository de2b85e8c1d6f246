# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rules for a group of a cluster's machines: the control plane, a pool of workers, a standalone machine; pure."""
from __future__ import annotations

import re

from ..._common.options.field_checks import (
    LABEL_KEY_RULE,
    LABEL_VALUE_RULE,
    is_label_key,
    is_label_value,
    show,
    shown,
    text_of,
)
from ..._common.problems.problem import Problem
from ..._common.texts.formats import moment_of
from ..._kube.objects import quantity
from ..description.model import CONTROL_PLANE, ClusterDescription, Group
from ..description.spec import METALSTACK, NAME_RULE
from ..workflow.snapshot import OWNER_LABELS
from . import user_data
from .image import image_problems
from .networks import one_of
from .node_labels import label_problems
from .replacement import machine_condition_problems, replacement_problems

# A Machine's name is <owner>-<hash>-<suffix>, and a node's name has at most 63 characters.
_LONGEST_OWNER_NAME = 63 - 17
_FEWEST_RENEWAL_DAYS = 7
_TAINT_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")


def group_problems(subject: str, description: ClusterDescription, group: Group) -> list[Problem]:
    """Return the mistakes in the options of one group of machines."""
    field = group.field
    found = [] if group.is_standalone else _replicas(subject, field, group)
    found += _timeouts(subject, field, group)
    owner = group.owner
    if not group.is_control_plane and (group.name == CONTROL_PLANE or not re.match(NAME_RULE, group.name)):
        found.append(Problem("cluster-name", subject, field, shown(group.name),
                             f"lower case letters, digits and dashes, and another name than {CONTROL_PLANE}"))
    if len(owner) > _LONGEST_OWNER_NAME:
        found.append(Problem("cluster-name", subject, field, f"{owner}, {len(owner)} characters",
                             f"at most {_LONGEST_OWNER_NAME} characters of cluster and pool name",
                             "nodes are named after it and have at most 63"))
    if group.is_standalone and group.name in {**description.workers, **dict.fromkeys(description.absent_workers)}:
        found.append(Problem("cluster-name", subject, field, f"{group.name}, the name of a pool of workers too",
                             "another name", "rename the machine"))
    for label in sorted(set(group.get("machine_labels") or {}) & set(OWNER_LABELS) if group.is_standalone else ()):
        found.append(Problem("reference", subject, description.option_path(group, "machine_labels"), shown(label),
                             "no label by which Cluster API finds the machines of an owner", "remove the label"))
    if group.get("image"):
        found += image_problems(subject, description.option_path(group, "image"), group.get("image"))
    elif not group.get("custom_deploy") and description.provider != METALSTACK and not description.cluster_class:
        found.append(Problem("cluster-image", subject, description.option_path(group, "image"), None,
                             "an image or custom_deploy", "set it for the cluster, or for the group"))
    for name in group.get("attached_networks") or []:
        if name not in description.networks:
            found.append(
                Problem("reference", subject, field + ".attached_networks", shown(name), one_of(description.networks))
            )
    domains = [domain["name"] for domain in description.failure_domains or []]
    if group.get("failure_domain") and group.is_control_plane:
        found.append(Problem("reference", subject, field + ".failure_domain", shown(group.get("failure_domain")),
                             "nothing",
                             "a KubeadmControlPlane has no such field and spreads its machines over all "
                             "failure_domains with control_plane true: describe only those that it may use"))
    elif group.get("failure_domain") and domains and group.get("failure_domain") not in domains:
        found.append(Problem("reference", subject, field + ".failure_domain", shown(group.get("failure_domain")),
                             f"one of {', '.join(domains)}"))
    found += _selector(subject, field, group) + user_data.metadata_problems(subject, field, group)
    found += user_data.file_problems(subject, field, description, group)
    found += user_data.command_problems(subject, field, group)
    for number, taint in enumerate(group.get("node_taints") or []):
        if not taint.get("key") or taint.get("effect") not in _TAINT_EFFECTS:
            found.append(Problem("user-data", subject, f"{field}.node_taints[{number}]", shown(taint),
                                 f"a key and an effect of {', '.join(_TAINT_EFFECTS)}"))
    found += label_problems(subject, field, group)
    found += user_data.user_problems(subject, field, group) + replacement_problems(subject, description, group)
    return found + _health_check(subject, field, group)


def _replicas(subject, field, group):
    found = []
    replicas, most, least = group.get("replicas"), group.get("max_surge"), group.get("max_unavailable")
    if replicas is not None and replicas < 0:
        found.append(Problem("replicas", subject, field + ".replicas", shown(replicas), "0 or more"))
    found += _autoscaler(subject, field, group) + _rollout_dates(subject, field, group)
    for key, value in (("max_surge", most), ("max_unavailable", least)):
        if value is not None and not re.match(r"^\d+%?$", str(value)):
            found.append(Problem("replicas", subject, f"{field}.{key}", shown(value), "a number or a percentage"))
    if found:
        return found
    if group.is_control_plane:
        external = ((group.get("cluster_configuration") or {}).get("etcd") or {}).get("external")
        if replicas is not None and (replicas < 1 or (replicas % 2 == 0 and not external)):
            found.append(
                Problem("replicas", subject, field + ".replicas", shown(replicas),
                        "an odd number (etcd keeps a quorum)", f"set replicas to {max(replicas, 0) + 1}")
            )
        if str(most) not in ("None", "0", "1"):
            found.append(
                Problem("replicas", subject, field + ".max_surge", shown(most), "0 or 1 (KubeadmControlPlane webhook)",
                        "leave it out for 1")
            )
        elif str(most) == "0" and replicas is not None and replicas < 3:
            found.append(Problem("replicas", subject, field + ".max_surge", 0, "1, or at least 3 replicas",
                                 "leave max_surge out for 1, with a host to spare"))
    elif _zero(most) and _zero(least) and most is not None:
        found.append(Problem("replicas", subject, field + ".max_unavailable", shown(least),
                             "more than 0 when max_surge is 0",
                             "set max_unavailable to 1, or max_surge to 1 with a host to spare"))
    if group.get("node_reuse") and not (most is not None and _zero(most)):
        found.append(Problem("replicas", subject, field + ".max_surge", shown(most), "0 with node_reuse",
                             "a host can only be reused when its machine goes before the new one comes"))
    return found


def _rollout_dates(subject, field, group):
    found, after, days = [], group.get("rollout_after"), group.get("certificate_renewal_days")
    if after is not None and moment_of(after) is None:
        found.append(Problem("replicas", subject, field + ".rollout_after", shown(after),
                             "a time in UTC such as 2026-11-23T20:00:00Z"))
    if days is not None and not group.is_control_plane:
        found.append(Problem("replicas", subject, field + ".certificate_renewal_days", shown(days),
                             "nothing, for kubelets of workers renew their certificates themselves", "remove it"))
    elif days is not None and days < _FEWEST_RENEWAL_DAYS:
        found.append(Problem("replicas", subject, field + ".certificate_renewal_days", shown(days),
                             f"{_FEWEST_RENEWAL_DAYS} or more (KubeadmControlPlane CRD)"))
    return found


def _autoscaler(subject, field, group):
    sizes = group.get("autoscaler")
    if not sizes:
        return []
    if group.is_control_plane:
        return [Problem("replicas", subject, field + ".autoscaler", "%(min_size)d to %(max_size)d" % sizes, "nothing",
                        "only pools of workers are scaled")]
    found = []
    if group.get("replicas") is not None:
        found.append(Problem("replicas", subject, field + ".replicas", shown(group.get("replicas")),
                             "nothing with autoscaler",
                             "each run would undo what the autoscaler did"))
    if sizes["min_size"] < 0:
        found.append(Problem("replicas", subject, field + ".autoscaler.min_size", shown(sizes["min_size"]),
                             "0 or more"))
    elif sizes["max_size"] < max(1, sizes["min_size"]):
        found.append(Problem("replicas", subject, field + ".autoscaler.max_size", shown(sizes["max_size"]),
                             f"{max(1, sizes['min_size'])} or more", "raise it, or lower min_size"))
    return found + _capacity(subject, f"{field}.autoscaler.capacity", sizes.get("capacity") or {})


def _capacity(subject, field, capacity):
    found = [Problem("replicas", subject, f"{field}.{name}", shown(capacity[name]), "a quantity such as 8 or 64Gi")
             for name in ("cpu", "memory", "ephemeral_disk")
             if capacity.get(name) is not None and not _is_more_than_nothing(capacity[name])]
    found += [Problem("replicas", subject, f"{field}.{name}", shown(capacity[name]), "1 or more")
              for name in ("max_pods", "gpu_count") if capacity.get(name) is not None and capacity[name] < 1]
    for name, other in (("gpu_type", "gpu_count"), ("gpu_count", "gpu_type")):
        if capacity.get(name) is not None and capacity.get(other) is None:
            found.append(Problem("replicas", subject, f"{field}.{other}", None, f"a value with {name}",
                                 f"set it, or remove {name}"))
    return found


def _is_more_than_nothing(given):
    try:
        return quantity.parse(given) > 0
    except ValueError:
        return False


def _timeouts(subject, field, group):
    name = "controlPlaneComponentHealthCheckSeconds"
    values = [((group.get(part) or {}).get("timeouts") or {}).get(name)
              for part in ("init_configuration", "join_configuration")]
    if not group.is_control_plane or values[0] == values[1]:
        return []
    return [Problem("user-data", subject, f"{field}.join_configuration.timeouts.{name}", shown(values[1]),
                    f"{values[0] or 'nothing'}, as in init_configuration (KubeadmControlPlane webhook)",
                    "give both the same value")]


def _zero(value):
    return str(value or 0).rstrip("%").strip("0") == ""


def _selector(subject, field, group):
    found = []
    for key, value in (group.get("host_selector") or {}).items():
        found += _label(subject, f"{field}.host_selector.{key}", key, value)
    keys = [entry["key"] for entry in group.get("host_selector_expressions") or []]
    for key in sorted(set(key for key in keys if keys.count(key) > 1)):
        found.append(Problem("host-selector", subject, field + ".host_selector_expressions", f"key {key} twice",
                             "one expression for each key (CAPM3's list is keyed by it)"))
    for number, entry in enumerate(group.get("host_selector_expressions") or []):
        wants = entry["operator"] in ("In", "NotIn")
        if wants != bool(entry.get("values")):
            found.append(Problem("host-selector", subject, f"{field}.host_selector_expressions[{number}].values",
                                 shown(entry.get("values") or None),
                                 f"{'values' if wants else 'none'} for {entry['operator']}"))
    return found


def _label(subject, where, key, value):
    """Return what keeps CAPM3 from comparing a label (``labels.NewRequirement``); it would try for ever."""
    if value is None or isinstance(value, (dict, list)):
        advice = "for several values use host_selector_expressions" if isinstance(value, list) else None
        if key in ("match_labels", "matchLabels") and isinstance(value, dict):
            labels = ", ".join("%s: %s" % item for item in value.items())
            advice = f"write the labels themselves: host_selector: {{{labels}}}"
        elif key in ("match_expressions", "matchExpressions"):
            advice = "write them in host_selector_expressions"
        return [Problem(
            "host-selector", subject, where, None if value is None else show(value), "the value of a label", advice)]
    found = []
    if not is_label_key(str(key)):
        found.append(Problem("host-selector", subject, where, f"the key {show(key)}", LABEL_KEY_RULE))
    if not is_label_value(text_of(value)):
        found.append(Problem("host-selector", subject, where, show(value), LABEL_VALUE_RULE))
    return found


def _health_check(subject, field, group):
    check = group.get("health_check")
    if not check:
        return []
    found = []
    if check.get("reboot_timeout_seconds") is not None and check["reboot_timeout_seconds"] < 100:
        found.append(Problem(
            "health-check", subject, field + ".health_check.reboot_timeout_seconds",
            shown(check["reboot_timeout_seconds"]),
            "100 or more (CAPM3 webhook)"))
    if check.get("reboot_retry_limit") is not None and check["reboot_retry_limit"] < 1:
        found.append(Problem(
            "health-check", subject, field + ".health_check.reboot_retry_limit", shown(check["reboot_retry_limit"]),
            "1 or more (CAPM3 webhook)"))
    if 0 < check["node_startup_timeout_seconds"] < 30:
        found.append(Problem("health-check", subject, field + ".health_check.node_startup_timeout_seconds",
                             shown(check["node_startup_timeout_seconds"]), "0, or 30 and more (Cluster API webhook)"))
    return found + machine_condition_problems(subject, field + ".health_check.unhealthy_machine_conditions",
                                              check.get("unhealthy_machine_conditions"))
