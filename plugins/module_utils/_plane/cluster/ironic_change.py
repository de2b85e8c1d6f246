# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ironic's pod as it is and as it is to be: whose it is, which version, what a change of it asks for; pure.

Its strategy is ``Recreate``: between two versions there is no Ironic, and what comes up migrates its database.
"""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from ..._common.options.field_checks import show
from ..._common.problems.problem import Problem
from ..._kube.objects.deployments import has_available_pod
from ..._kube.reconcile.diff import FIELD_MANAGER
from ..._metal3.ironic_place import IRONIC_CONTAINER, IRONIC_DEPLOYMENT
from ..parts import fit
from ..parts.catalogue import IRONIC
from ..upgrade import rollback
from ..upgrade import rules as upgrade
from . import ironic_database, objects

Object = dict[str, Any]


class Wanted(NamedTuple):
    """The Ironic that is to be.

    :ivar namespace: its namespace
    :ivar tag: of its image
    :ivar database: the database that outlives its pods, from :func:`ironic_database.words`; None without one
    """

    namespace: str
    tag: str
    database: str | None


def wanted(options: Object) -> Wanted:
    """Return the Ironic that options of the module ``plane_ironic`` describe."""
    host = (options.get("database") or {}).get("host")
    claim = options.get("mariadb_claim") if options.get("mariadb") else None
    return Wanted(options["namespace"], options["image_version"], ironic_database.words(host, claim))


def database_of(stored: Object | None) -> str | None:
    """Return in words the database of a Deployment that outlives its pods, None without one."""
    pod = stored["spec"]["template"]["spec"] if stored else {"containers": []}
    return ironic_database.words(ironic_database.outside(pod), ironic_database.claim_of(pod))


def deployed(deployments: Iterable[Object], namespace: str) -> Object | None:
    """Return Ironic's Deployment in a namespace, None when there is none.

    :param deployments: of all namespaces
    """
    return next((item for item in deployments if (item["metadata"]["namespace"], item["metadata"]["name"]) == (
        namespace, IRONIC_DEPLOYMENT)), None)


def problems(deployments: list[Object], new: Wanted, adopted: Iterable[str]) -> list[Problem]:
    """Return why an Ironic cannot take the place of what is there, whatever is done with the hosts.

    :param deployments: of all namespaces
    :param new: the Ironic that is to be
    :param adopted: names of the parts that are adopted
    """
    stored = deployed(deployments, new.namespace)
    return _of_others(stored, adopted) + _older(stored, new) + _elsewhere(deployments, new.namespace)


def _of_others(stored: Object | None, adopted: Iterable[str]) -> list[Problem]:
    """Return the problem of an Ironic that somebody else has installed, unless it is to be ours from now on."""
    if stored is None or objects.is_ours(stored) or IRONIC.name in adopted:
        return []
    label, owner = objects.OWNER_LABEL
    where = stored["metadata"]
    return [Problem("part-of-others", f"part {IRONIC.name}: Deployment {where['namespace']}/{where['name']}",
                    f"metadata.labels.{label}", (where.get("labels") or {}).get(label), owner,
                    f"leave it to what has installed it (ironic_mode external), or add {IRONIC.name} to adopt "
                    "(management_plane.adopt): it is applied, started again and removed by this collection from then "
                    "on, and knows its nodes only if its database stays the same")]


def taken_over(stored: Object) -> list[Object]:
    """Return the ``managedFields`` of an adopted Deployment in which its pod is this collection's alone.

    An apply leaves what others own: a DHCP server, a database or the download of the agent would stay in the pod with
    the image that they had, though nobody asks for them (``util/csaupgrade`` of client-go goes from kubectl's fields
    to applied ones in this way).

    :param stored: the Deployment, which is not changed
    """
    kept: list[Object] = []
    pod: Object = {}
    for entry in stored["metadata"].get("managedFields") or []:
        tree = entry.get("fieldsV1") or {}
        template = (tree.get("f:spec") or {}).get("f:template")
        if template is None or entry.get("subresource"):
            kept.append(entry)
            continue
        pod = rollback.united(pod, template)
        rest = dict((mark, below) for mark, below in tree["f:spec"].items() if mark != "f:template")
        kept.append(dict(entry, fieldsV1=dict(tree, **{"f:spec": rest})))
    mine = {"manager": FIELD_MANAGER, "operation": "Apply", "apiVersion": stored["apiVersion"],
            "fieldsType": "FieldsV1", "fieldsV1": {"f:spec": {"f:template": pod}}}
    return [*kept, mine]


def _elsewhere(deployments: Iterable[Object], namespace: str) -> list[Problem]:
    """Return the problem of an Ironic of this collection in another namespace: on its node both need the same ports."""
    return [Problem("part-installed-elsewhere", f"part {IRONIC.name}", "namespace", show(where["namespace"]), namespace,
                    f"set ironic_namespace={where['namespace']}, or remove that one first")
            for item in deployments for where in [item["metadata"]]
            if where["name"] == IRONIC_DEPLOYMENT and where["namespace"] != namespace and objects.is_ours(item)
            and fit.runs_part(IRONIC, item)]


def step(stored: Object | None, new: Wanted) -> upgrade.Step | None:
    """Return the change of Ironic's version, None when there is none: then the tag is the same, or no Ironic is there.

    :param stored: Ironic's Deployment, None when there is none
    :param new: the Ironic that is to be
    """
    tag = fit.tag_of_ironic(stored) if stored else None
    return None if tag is None or tag == new.tag else upgrade.Step(IRONIC, tag or "no tag", new.tag)


def _older(stored: Object | None, new: Wanted) -> list[Problem]:
    """Return the problem of a version that its database cannot go back to.

    Without one that outlives the pod nothing is left of the newer one.
    """
    change, database = step(stored, new), database_of(stored)
    if change is None or database is None or database != new.database:
        return []
    return upgrade.newer(
        IRONIC.name, fit.release_of_tag(change.found), fit.release_of_tag(change.planned),
        f"set ironic_image_version={change.found} or newer: the database, {database}, cannot go back")


def described(stored: Object | None, new: Wanted, hosts: list[Object]) -> list[Object]:
    """Return the change of version as modules return it; it interrupts an Ironic that manages something.

    Of a tag that says nothing, as ``latest``, nobody knows whether the other one is older: a database that it has
    changed counts like hosts.

    :param stored: as for :func:`step`
    :param new: as for :func:`step`
    :param hosts: BareMetalHosts of all namespaces
    """
    change = step(stored, new)
    if stored is None or change is None:
        return []
    unknown = fit.release_of_tag(change.found) is None and database_of(stored) is not None
    # What does not answer has nothing interrupted, and its repair must not wait.
    is_interrupted = has_available_pod(stored) and (hosts or unknown)
    return upgrade.described([change], [IRONIC.name] if is_interrupted else [])


def image_of(deployment: Object | None) -> str:
    """Return the name of the image of Ironic's container, empty when there is none."""
    items = deployment["spec"]["template"]["spec"]["containers"] if deployment else []
    return next((str(item.get("image") or "") for item in items if item["name"] == IRONIC_CONTAINER), "")
