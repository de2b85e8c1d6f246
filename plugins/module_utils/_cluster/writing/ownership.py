# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether stored objects are this collection's, so that a forced apply overwrites nobody else's; pure."""
from __future__ import annotations

from ..._common.problems.problem import Problem
from ..._host.description.objects import MANAGED_BY_LABEL, MANAGER
from ..._kube.objects.titles import title_of
from ..workflow.snapshot import CLUSTER_LABEL
from ..workflow.topology import is_made_of_topology
from .prune import ours


def problems(subject, description, desired, objects, adopt):
    """Return a mistake for the stored objects of others that a description would overwrite.

    :param subject: the cluster, as problems name it
    :param desired: list of rendered objects
    :param objects: dict of kind to list of stored objects
    :param adopt: the option ``adopt``
    :returns: list with one mistake, or an empty one
    """
    if adopt == description.name:
        return []
    stored = dict(((kind, item["metadata"]["name"]), item) for kind, items in objects.items() for item in items)
    found = [stored.get((item["kind"], item["metadata"]["name"])) for item in desired]
    foreign = [_title(item, description.name) for item in found if _is_foreign(item, description.name)]
    return [_mistake(subject, ", ".join(foreign), description.name)] if foreign else []


def deletion_problem(subject, name, item, adopt):
    """Return the mistake when a stored object that is to be deleted is not the collection's, else None.

    :param name: the cluster's name
    :param item: the stored Cluster or another object of the cluster, or None
    :param adopt: the option ``adopt``
    """
    if adopt == name or not _is_foreign(item, name):
        return None
    return _mistake(subject, _title(item, name), name)


def _is_foreign(item, cluster):
    if item is None or is_made_of_topology(item):
        return False
    if item["kind"] == "IPPool":
        # IPAM writes the cluster's label, which one that was only just made may not have yet.
        return (item["metadata"].get("labels") or {}).get(MANAGED_BY_LABEL) != MANAGER \
            or _other_cluster(item, cluster) is not None
    return not ours(item, cluster)


def _other_cluster(item, cluster):
    """Return the name of the other cluster that an object is of by its label, None when there is none."""
    labelled = (item["metadata"].get("labels") or {}).get(CLUSTER_LABEL)
    return labelled if labelled not in (None, cluster) else None


def _title(item, cluster):
    # Names of two clusters with those of their networks may come to the same name of a pool.
    other = _other_cluster(item, cluster) if item["kind"] == "IPPool" else None
    return title_of(item) + (f" of cluster {other}" if other else "")


def _mistake(subject, names, cluster):
    own = f"objects of this collection (label {MANAGED_BY_LABEL}: {MANAGER})"
    return Problem(
        "owned-by-others", subject, "adopt", f"{names}, which others have made", own, "choose another name, or "
        f"to take them over repeat the cluster's name {cluster} (option adopt, variable cluster_adopt)")
