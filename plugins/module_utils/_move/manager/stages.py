# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which of a site's two planes manages its servers, and how far a site is on its way into its cluster; pure.

The plane that has the hosts is the right one; what was recorded only decides where one of them cannot be asked.
"""
from __future__ import annotations

from typing import NamedTuple

from ..._common.problems.problem import Problem
from ..._common.texts.plain_text import few
from ..objects.record import MOVED, MOVING, Record

# Planes of a site.
BOOTSTRAP, CLUSTER = "bootstrap", "cluster"
# A stage of its own beside these two: hosts are on their way, so that nothing else may be written.
UNDERWAY = "moving"
_NAMED = 5


class Plane(NamedTuple):
    """What is known of one of the two planes.

    :ivar title: how messages name it
    :ivar kubeconfig: path of its kubeconfig
    :ivar exists: whether there is a kubeconfig of it
    :ivar error: why it cannot be asked; empty when it has answered
    :ivar uid: uid of its Namespace kube-system, empty when it is not known
    :ivar hosts: names of its hosts
    :ivar held: whether a host of it is held for a move
    :ivar record: the record of the last move that it has
    """

    title: str
    kubeconfig: str
    exists: bool = False
    error: str = ""
    uid: str = ""
    hosts: tuple[str, ...] = ()
    held: bool = False
    record: Record | None = None

    @property
    def answers(self) -> bool:
        """Whether it has said what it has."""
        return self.exists and not self.error


class Stage(NamedTuple):
    """Where a site is.

    :ivar name: BOOTSTRAP or CLUSTER, the plane that manages, or UNDERWAY
    :ivar starts: whether the processes of the bootstrap plane must be started for what comes next
    """

    name: str
    starts: bool


def stage(bootstrap: Plane, cluster: Plane, recorded: str | None) -> tuple[Stage | None, list[Problem]]:
    """Return where a site is, or what keeps anybody from knowing it.

    :param bootstrap: the plane of processes
    :param cluster: the plane in the site's own cluster
    :param recorded: BOOTSTRAP or CLUSTER as the last run has recorded, None without a record
    """
    moving, problems = _move(bootstrap, cluster)
    if problems:
        return None, problems
    if moving:
        if cluster.answers:
            return Stage(UNDERWAY, not bootstrap.answers), []
        return None, [_silent(cluster, "an answer: hosts are on their way into it",
                              "bring it up again, then run this again")]
    if bootstrap.hosts and cluster.hosts:
        return None, [Problem(
            "manager-both", bootstrap.title, "BareMetalHost",
            f"{_named(bootstrap)}, and {_named(cluster)} in {cluster.title}", "hosts in one of the two planes",
            "find out which plane works on the servers; in the other one detach the hosts by the playbook "
            "metal3.baremetal.host_action, then delete them there")]
    if bootstrap.hosts:
        return Stage(BOOTSTRAP, False), []
    if cluster.hosts:
        return _of_cluster(bootstrap, cluster, recorded)
    return _of_none(bootstrap, cluster, recorded)


def _move(bootstrap: Plane, cluster: Plane) -> tuple[bool, list[Problem]]:
    """Return whether hosts are on their way into the cluster, and what is not a move into it."""
    for plane in (bootstrap, cluster):
        found = plane.record
        if found is None or found.state != MOVING:
            continue
        if _same(bootstrap.uid, found.source) and _same(cluster.uid, found.target):
            return True, []
        back = _same(cluster.uid, found.source) and _same(bootstrap.uid, found.target)
        return False, [Problem(
            "manager-move", plane.title, "", "a move back to the bootstrap plane that has not ended" if back
            else "a move from or to another plane that has not ended", "no such move",
            "run the playbook metal3.baremetal.repivot again" if back else
            "finish that move first, by the playbook metal3.baremetal.pivot with its two kubeconfigs")]
    if bootstrap.held:
        if _ended_in(bootstrap):
            return False, [Problem(
                "manager-move", bootstrap.title, "BareMetalHost", "hosts that are held after a move back",
                "released hosts",
                "run the playbook metal3.baremetal.repivot again, which releases them")]
        return True, []
    return cluster.held, []


def _of_cluster(bootstrap: Plane, cluster: Plane, recorded: str | None) -> tuple[Stage | None, list[Problem]]:
    if bootstrap.answers or not bootstrap.exists or recorded == CLUSTER or _ended_in(cluster):
        return Stage(CLUSTER, False), []
    return None, [_silent(
        bootstrap, f"an answer about its hosts: {cluster.title} has {_named(cluster)}, and nothing says that they came "
        "from here", "run the playbook metal3.baremetal.install, which starts it, then this one again")]


def _of_none(bootstrap: Plane, cluster: Plane, recorded: str | None) -> tuple[Stage | None, list[Problem]]:
    if recorded == CLUSTER:
        found = _silent(cluster, "the hosts of the site, which it was recorded to manage",
                        "bring it up again; if its servers are lost, restore a backup by the playbook "
                        "metal3.baremetal.restore") if not cluster.answers else Problem(
            "manager-none", cluster.title, "BareMetalHost",
            f"none, and {'none' if bootstrap.answers else 'no answer'} in {bootstrap.title}",
            "the hosts of the site, which it was recorded to manage",
            "restore a backup by the playbook metal3.baremetal.restore, or remove the record")
        return None, [found]
    gone = bootstrap.record
    if gone is not None and gone.state == MOVED and _same(bootstrap.uid, gone.source):
        # Servers that another plane manages would be given to a second one.
        return None, [Problem(
            "manager-none", bootstrap.title, "BareMetalHost",
            f"none, and the record of a move of {len(gone.hosts)} hosts to another plane; "
            + (f"none in {cluster.title}" if cluster.answers else f"{cluster.title} cannot be asked "
               f"({cluster.error or 'there is no kubeconfig of it'})"), "the hosts of the site in one of the two",
            f"give back the kubeconfig of that plane, {cluster.kubeconfig}, then run this again")]
    return Stage(BOOTSTRAP, not bootstrap.answers), []


def _ended_in(plane: Plane) -> bool:
    return plane.record is not None and plane.record.state == MOVED and _same(plane.uid, plane.record.target)


def _same(uid: str, recorded: str) -> bool:
    """Return whether a plane may be the one of a record; the uid of one that was not asked is not known."""
    return uid in ("", recorded)


def _named(plane: Plane) -> str:
    return f"{len(plane.hosts)} ({few(sorted(plane.hosts), _NAMED)})"


def _silent(plane: Plane, expected: str, hint: str) -> Problem:
    return Problem("manager-silent", plane.title, "API server", plane.error or "no kubeconfig of it", expected, hint)
