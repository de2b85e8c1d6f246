# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which labels kubelet takes for its own Node: with another one it does not start, and the machine never joins; pure.

Sources: kubelet's validation of ``--node-labels`` (cmd/kubelet/app/options) and its well-known labels
(k8s.io/kubelet, pkg/apis).
"""
from __future__ import annotations

from ..._common.options.field_checks import (
    LABEL_KEY_RULE,
    LABEL_VALUE_RULE,
    is_label_key,
    is_label_value,
    show,
    text_of,
)
from ..._common.problems.problem import Problem

_KUBERNETES_DOMAINS = ("kubernetes.io", "k8s.io")
_DOMAINS = ("kubelet.kubernetes.io", "node.kubernetes.io")
_LABELS = (
    "beta.kubernetes.io/arch", "beta.kubernetes.io/instance-type", "beta.kubernetes.io/os",
    "failure-domain.beta.kubernetes.io/region", "failure-domain.beta.kubernetes.io/zone", "kubernetes.io/arch",
    "kubernetes.io/hostname", "kubernetes.io/os", "topology.kubernetes.io/region", "topology.kubernetes.io/zone")
# Cluster API copies these from a Machine to its Node.
_OF_MACHINES = ("node-role.kubernetes.io", "node-restriction.kubernetes.io")
_RULE = f"labels outside of kubernetes.io and k8s.io, or in {' and '.join(_DOMAINS)}"
_ARGUMENT = "node-labels"


def label_problems(subject, field, group):
    """Return the labels of a group's nodes that kubelet refuses.

    :param subject: the cluster, as problems name it
    :param field: path of the group in the description
    :param group: as ``cluster_description.groups`` returns it
    """
    found = []
    for key, value in (group.get("node_labels") or {}).items():
        found += _problems(subject, f"{field}.node_labels.{key}", key, value)
    # As it is on kubelet's command line.
    given = (group.get("kubelet_extra_args") or {}).get(_ARGUMENT)
    for part in text_of(given).split(",") if given else ():
        key, sign, value = part.partition("=")
        where = f"{field}.kubelet_extra_args.{_ARGUMENT}"
        if not sign:
            found.append(Problem("user-data", subject, where, show(part), "labels as key=value, separated by commas"))
        else:
            found += _problems(subject, where, key.strip(), value)
    return found


def _problems(subject, where, key, value):
    if value is None or isinstance(value, (dict, list)):
        return [Problem("user-data", subject, where, None if value is None else show(value), "the value of a label")]
    text, found = text_of(value), []
    if not is_label_key(str(key)):
        found.append(Problem("user-data", subject, where, f"the key {show(key)}", LABEL_KEY_RULE))
    elif _is_refused(str(key)):
        found.append(Problem(
            "user-data", subject, where, f"the key {show(key)}, which kubelet refuses", _RULE, _advice(str(key))))
    # cloud-init fills in what is between braces.
    if "{{" not in text and not is_label_value(text):
        found.append(Problem("user-data", subject, where, show(value), LABEL_VALUE_RULE))
    return found


def _is_refused(key):
    domain = key.rpartition("/")[0]
    return _is_in(domain, _KUBERNETES_DOMAINS) and key not in _LABELS and not _is_in(domain, _DOMAINS)


def _is_in(domain, domains):
    return any(domain == parent or domain.endswith("." + parent) for parent in domains)


def _advice(key):
    if _is_in(key.rpartition("/")[0], _OF_MACHINES):
        return "give it in machine_labels: Cluster API copies it from the Machine to the Node"
    return "kubelet would not start: choose another prefix"
