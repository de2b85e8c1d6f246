# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is refused before a restore; pure."""
from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from .._cluster.workflow.snapshot import is_paused, is_paused_alone
from .._common.documents.tolerant import dict_in
from .._common.options.field_checks import digest_digits
from .._common.problems.problem import Problem
from .._common.texts.plain_text import plain
from .._kube.objects.finalizers import is_going
from .._metal3.kinds import KNOWN
from . import control_plane as planes
from .receiver import data_dir
from .snapshot import About

Object = dict[str, Any]

_TEMPLATE = "Template"
# An archive may hold any text.
_VERSION = re.compile(r"v?([0-9]{1,6})\.([0-9]{1,6})\b")


def problems(about: About, sha256: str, expected: str | None, site: Any, etcdutl_version: str,
             subject: str) -> list[Problem]:
    """Return why a snapshot is not restored into a cluster.

    :param about: what the snapshot is of
    :param sha256: of the file
    :param expected: the digest that the user wants, None for any
    :param site: a Site
    :param etcdutl_version: as etcdutl says it
    :param subject: the cluster, for messages
    """
    found = []

    def add(code: str, field: str, actual: str, wanted: str, hint: str) -> None:
        found.append(Problem(code, subject, field, actual, wanted, hint))

    if expected and sha256 != digest_digits(expected):
        add("etcd-other-file", "sha256", sha256, expected, "find out who has changed the file")
    if (about.namespace, about.cluster) != (site.namespace, site.name):
        add("etcd-other-cluster", "path", f"a snapshot of cluster {about.namespace}/{about.cluster}",
            "one of this cluster", "take another file")
    elif about.authority != site.authority:
        add("etcd-other-authority", "path", "a snapshot of a cluster with another authority of certificates",
            f"that of Secret {site.namespace}/{site.name}-ca, or its tokens and kubeconfigs would not count",
            "restore the cluster's Secrets from a backup of the plane first (playbook restore)")
    return found + _of_versions(about, site, etcdutl_version, subject) + _of_control_plane(site, subject)


def _of_versions(about: About, site: Any, etcdutl_version: str, subject: str) -> list[Problem]:
    found = []
    version = site.control_plane["spec"].get("version") or ""
    before, now = _minor(about.kubernetes_version), _minor(version)
    # An API server reads what the minor version before it has stored.
    if before is None or now is None or now[0] != before[0] or now[1] - before[1] not in (0, 1):
        found.append(Problem("etcd-kubernetes-version", subject, "path",
                             f"a snapshot of Kubernetes {about.kubernetes_version}, a control plane of {version}",
                             "the same minor version, or the next one", "take another file, or correct the cluster's "
                             "kubernetes_version first"))
    if _minor(etcdutl_version) != _minor(about.etcd_version):
        found.append(Problem("etcd-program-version", subject, "etcdutl", f"etcdutl {etcdutl_version}",
                             f"one of etcd {about.etcd_version}, of the same minor version", "give that program"))
    return found


def _minor(text: str) -> tuple[int, int] | None:
    match = _VERSION.match(text)
    return (int(match[1]), int(match[2])) if match else None


def _of_control_plane(site: Any, subject: str) -> list[Problem]:
    plane, kubeadm = site.control_plane, site.control_plane["spec"].get("kubeadmConfigSpec") or {}
    found = []

    def add(code: str, actual: str, wanted: str, hint: str) -> None:
        found.append(Problem(code, subject, "", actual, wanted, hint))

    if any(is_going(obj) for obj in (site.cluster, plane)):
        add("etcd-deleted", "a cluster that is being deleted", "one that stays", "make it again first")
    if kubeadm.get("format") == "ignition":
        add("etcd-format", "machines with user data in the format of Ignition", "that of cloud-init, whose Python "
            "takes the data", "restore it by hand (docs/docsite/rst/lifecycle.rst)")
    if ((kubeadm.get("clusterConfiguration") or {}).get("etcd") or {}).get("external"):
        add("etcd-external", "an etcd outside the cluster", "one on the machines of the control plane",
            "restore it by its own means")
    elif data_dir(kubeadm) is None:
        add("etcd-data-dir", "a dataDir of etcd that is no plain path", "an absolute path of letters, digits, ., _, -",
            "correct cluster_configuration")
    machines = str(dict_in(dict_in(dict_in(plane["spec"], "machineTemplate"), "spec"), "infrastructureRef").get(
        "kind") or "")
    if machines and (machines not in KNOWN or machines[:-len(_TEMPLATE)] not in KNOWN):
        # After the machines of before had gone, the new one could not be released.
        add("etcd-infrastructure", f"machines of a {plain(machines)}",
            "those of a Metal3MachineTemplate or MetalStackMachineTemplate", "restore it by hand "
            "(docs/docsite/rst/lifecycle.rst)")
    is_mine = planes.note_of(plane) is not None
    if is_paused(site.cluster) or (is_paused_alone(plane) and not is_mine):
        add("etcd-paused", "a cluster that is paused", "one that Cluster API works on",
            "find out who has paused it, and release it")
    return found


def unconfirmed(confirm: str | None, machines: int | None, names: Sequence[str], hosts: Iterable[str | None],
                subject: str, cluster: str) -> list[Problem]:
    """Return what a user has not confirmed.

    :param confirm: what the user gave as the cluster's name
    :param machines: what the user gave as the number of Machines that are deleted
    :param names: names of these
    :param hosts: names of their hosts, None for one without
    """
    found = []
    if confirm != cluster:
        found.append(Problem("confirmation-missing", subject, "confirm", confirm or None,
                             f"{cluster}, the name of the cluster whose data this replaces by what it was",
                             "set metal3_confirm to it to continue"))
    if names and machines != len(names):
        listed = ", ".join(f"{name} on host {host or '(none)'}" for name, host in zip(names, hosts))
        found.append(Problem(
            "confirmation-missing", subject, "delete_machines", None if machines is None else str(machines),
            f"{len(names)}, the number of control plane machines that this deletes with what is on their disks "
            f"({listed})", "set etcd_delete_machines to it to continue"))
    return found
