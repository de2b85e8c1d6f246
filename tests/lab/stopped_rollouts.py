# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rollouts that a run has stopped: an image that does not come, and what is noted at who owns the machines."""
from __future__ import annotations

import contextlib

from support import NAMESPACE

from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.kinds import KNOWN

PAUSED, NOTE = "cluster.x-k8s.io/paused", "metal3.baremetal/rollout-stopped"


@contextlib.contextmanager
def wrong_image(lab, image):
    """Give an image whose checksum is not that of its file, and the Path of the file to correct it in.

    :param lab: a Lab
    :param image: the cluster's image, with its right checksum
    """
    path = lab.dir / "www" / "images" / "not-it.sha256"
    path.write_text(f"{0:064d}  node.qcow2\n")
    try:
        yield dict(image, checksum=lab.figures["urls"]["image_server"] + "/images/not-it.sha256"), path
    finally:
        path.unlink()


def correct(lab, path):
    """Let the checksum of a wrong image be right."""
    path.write_text((lab.dir / "www" / "images" / "node.qcow2.sha256").read_text())


def marks(lab, kind, name):
    """Return what the collection and others have noted of a pause."""
    found = lab.kube.get(KNOWN[kind], NAMESPACE, name)["metadata"].get("annotations") or {}
    return sorted(key for key in found if key in (PAUSED, NOTE))
