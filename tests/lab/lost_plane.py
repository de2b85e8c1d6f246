# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A plane that has lost its hosts, or all of it, and Ironic with them, while the servers run on; and its backups."""
from __future__ import annotations

import re
import subprocess

from support import HOST, NAMESPACE

from ansible_collections.metal3.baremetal.plugins.module_utils._common.waiting.progress import Progress
from ansible_collections.metal3.baremetal.plugins.module_utils._host.description.annotations import PAUSED
from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.kinds import KNOWN
from ansible_collections.metal3.baremetal.plugins.module_utils._move.objects.reading import Side
from ansible_collections.metal3.baremetal.plugins.module_utils._move.whole_plane import leftovers

SECONDS = 600


def new_identity(folder):
    """Make a pair of keys of age; return the path of the secret one."""
    path = folder / "identity.txt"
    subprocess.run(["age-keygen", "-o", str(path)], check=True, capture_output=True)
    return path


def backup_variables(folder, identity):
    """Return the variables of the playbook ``backup``.

    :param folder: where it is written
    :param identity: path of the secret key
    """
    recipient = next(line.rpartition(" ")[2] for line in identity.read_text().splitlines() if "public key" in line)
    return {"backup_directory": str(folder), "backup_recipients": [recipient], "backup_identity_file": str(identity)}


def back_up(lab, folder, identity):
    """Back up the lab's plane, rehearsed and read again, and return the path of the file.

    :param folder: an empty folder
    :param identity: path of the secret key
    """
    versions = lab.versions()
    run = lab.playbook("backup", extra=backup_variables(folder, identity), seconds=SECONDS).ok()
    assert "read again: True" in run.output and lab.versions() == versions
    assert re.search(r"restored into an API server that lived for it: [1-9]", " ".join(run.output.split())), run.output
    path, = folder.glob("*.age")
    return path


def lose(lab, *names):
    """Take hosts out of the plane and of Ironic, as when the plane was lost; the operator does nothing about it."""
    _hold(lab, names)
    side = Side(lab.kube, NAMESPACE)
    graph = side.graph()
    gone = set(host["metadata"]["uid"] for host in graph.of("BareMetalHost") if host["metadata"]["name"] in names)
    due = [obj for obj in graph.moved if obj["metadata"]["uid"] in gone or obj["metadata"]["name"] in names or any(
        owner["uid"] in gone for owner in obj["metadata"].get("ownerReferences") or [])]
    leftovers.remove(side, reversed(due), Progress(None))
    _forget(lab, names)


def lose_all(lab):
    """Take all that a backup has out of the plane, and the hosts' nodes out of Ironic; no controller acts on it."""
    names = sorted(lab.hosts())
    _hold(lab, names)
    side = Side(lab.kube, NAMESPACE)
    for cluster in side.clusters():
        pause(lab, cluster["metadata"]["name"], True)
    side.read()
    leftovers.remove(side, reversed(side.graph().moved), Progress(None))
    _forget(lab, names)


def pause(lab, cluster, paused):
    """Have Cluster API leave a cluster alone, or no longer."""
    lab.kube.patch(KNOWN["Cluster"], NAMESPACE, cluster, {"spec": {"paused": paused or None}})


def _hold(lab, names):
    for name in names:
        lab.kube.patch(HOST, NAMESPACE, name, {"metadata": {"annotations": {PAUSED: "lost"}}})


def _forget(lab, names):
    for name, node in lab.nodes().items():
        if name in names:
            lab.ironic().set_node_maintenance(node.id, reason="lost")
            lab.ironic().delete_node(node.id)
