# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a backup meets in a plane under names of its own that is something else than what it has; pure.

Objects that are there stay as they are, and ``clusterctl`` makes them the owners of what comes.
"""
from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from ..._cluster.workflow.snapshot import CLUSTER_LABEL
from ..._common.documents.tolerant import dict_in, dicts_in
from ..._common.problems.problem import Problem
from ..._common.texts.plain_text import plain
from ..._host.description.named_secrets import BMC_FIELD, named_secrets
from ..._kube.objects import secret_data
from ..._kube.objects.finalizers import is_going
from ..objects.graph import CLUSTER, HOST, key, title

Object = dict[str, Any]
Keys = tuple[str, str, str]


def problems(objects: Iterable[Object], there: Mapping[Keys, Object], accepted: Collection[str]) -> list[Problem]:
    """Return a problem for each object of the plane under which nothing of the backup must come.

    What is being deleted takes it along, and with machines what is on their disks. The control plane of another cluster
    would have the machines of both, and Cluster API deletes those that are too many.

    :param objects: of the backup
    :param there: objects of the plane, by their key
    :param accepted: kind and name of Clusters that are the same all the same
    """
    backup = dict((key(obj), obj) for obj in objects)
    coming = [obj for of, obj in backup.items() if of not in there]
    clusters = set(map(_cluster, coming))
    found = [Problem(
        "restore-going", title(of), "metadata.deletionTimestamp", "an object that is being deleted, with all that is "
        "under it", "one that stays", "wait until it is gone, then run again")
        for of in sorted(clusters.union(*map(_owners, coming))) if is_going(there.get(of))]
    for of in sorted(of for of in backup if of in there and of in clusters):
        other = _difference(of[2], backup, there)
        if other and title(of) not in accepted:
            found.append(Problem(
                "restore-other-cluster", title(of), "accept", None, f"{title(of)} in it",
                f"the plane has another cluster of this name, with {other} than the backup has, and machines of both "
                "would be its machines; restore into a plane without it, or name it when it is the same one all the "
                "same, as after its authority was replaced"))
    return found


def _cluster(obj: Object) -> Keys:
    return (*CLUSTER, str(dict_in(obj["metadata"], "labels").get(CLUSTER_LABEL) or ""))


def _owners(obj: Object) -> set[Keys]:
    return set((str(owner.get("apiVersion") or "").rpartition("/")[0], str(owner.get("kind")), str(owner.get("name")))
               for owner in dicts_in(obj["metadata"], "ownerReferences"))


def _difference(name: str, backup: Mapping[Keys, Object], there: Mapping[Keys, Object]) -> str:
    """Return by what a cluster is another one than in a backup, in words; empty for the same one, or for nothing known.

    :param name: of the Cluster
    """
    authorities = [secret_data.value(side.get(("", "Secret", f"{name}-ca")), "tls.crt") for side in (backup, there)]
    if all(authorities):
        return "another authority" if authorities[0] != authorities[1] else ""
    endpoints = [str(dict_in(dict_in(side[(*CLUSTER, name)], "spec"), "controlPlaneEndpoint").get("host") or "")
                 for side in (backup, there)]
    return "another endpoint" if all(endpoints) and endpoints[0] != endpoints[1] else ""


def warnings(objects: Iterable[Object], there: Mapping[Keys, Object]) -> list[str]:
    """Return a warning for each host that comes and whose BMC's Secret in the plane has another content.

    The operator logs in with what is there, and a BMC may lock an account for a password of before.

    :param objects: of the backup
    :param there: objects of the plane, by their key
    """
    backup = dict((key(obj), obj) for obj in objects)
    found = []
    for of, host in sorted(backup.items()):
        if of[:2] != HOST or of in there:
            continue
        for field, name in named_secrets(host):
            mine, other = (side.get(("", "Secret", name)) for side in (backup, there))
            if field == BMC_FIELD and mine is not None and other is not None \
                    and dict_in(mine, "data") != dict_in(other, "data"):
                found.append(
                    f"Secret {plain(name)}: it is there with another content than in the backup, and stays; the "
                    f"operator logs in with it to the BMC of BareMetalHost {of[2]}: correct it before the host is "
                    "released, unless it is newer")
    return found
