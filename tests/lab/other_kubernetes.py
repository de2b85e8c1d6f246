# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A node image with another minor version of Kubernetes beside the lab's: built once, cached, served, mirrored."""
from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import registry_store
import served_image
from machine_room import partitions
from machine_room.node_boot.root_partition import root_partition
from support import REPOSITORY, module

# Minor versions whose pins are in tests/lab/data.
BEFORE, AFTER = "1.34", "1.36"
DATA = REPOSITORY / "tests" / "lab" / "data"
LAB = REPOSITORY / "lab"
# Until the control plane has been replaced, nodes of both versions need these of the other one: kube-proxy's version
# is that of the control plane, and CoreDNS stays at the version that the cluster began with.
SHARED = ("kube-proxy", "coredns")
# Of eight programs of Kubernetes, on a machine of two processors that does more than this.
BUILD_SECONDS = 4000

# The image itself has its container images unpacked only.
ARCHIVES = """
import subprocess, sys
from ansible_collections.metal3.baremetal.plugins.module_utils._lab import addons, node_image
source, cache, engine, programs, raw, offset, work = sys.argv[1:]
subprocess.run(["mount", "-o", f"ro,noload,loop,offset={offset}", raw, work + "/root"], check=True)
node_image.NodeImage(source, cache, engine, addons.Addons(programs, cache)).write_container_images(
    work + "/root", work + "/images")
"""


def served(lab, folder, minor=AFTER):
    """Build the image, serve it by the lab's image server, and fill the lab's registry with what both versions need.

    :param folder: Path of an empty folder
    :param minor: the minor version, BEFORE or AFTER the lab's
    :returns: ``kubernetes_version`` and ``image``, as the playbook ``cluster`` takes them
    """
    cache = str(Path(lab.figures["cache_dir"]))
    name = f"kubernetes-{minor}"
    engine = module("plane_programs", within_seconds=BUILD_SECONDS, source_dir=str(DATA / name), cache_dir=cache,
                    sets=["node", "control-plane"])
    made = module("lab_node_image", source_dir=str(LAB / "node_image"), engine_dir=engine["engine_dir"],
                  addons_source_dir=str(LAB / "engine" / "addons"), cache_dir=cache)
    image = served_image.linked(lab, made["image_dir"], f"{name}.qcow2")
    before = Path(os.path.realpath(lab.dir / "www" / "images" / "node.qcow2")).parent
    for side, image_dir, engine_dir in (("lab", before, lab.figures["engine_dir"]),
                                        ("other", Path(made["image_dir"]), engine["engine_dir"])):
        (folder / side).mkdir()
        _mirror(lab, folder / side, image_dir, engine_dir, cache)
    return SimpleNamespace(kubernetes_version=made["kubernetes_version"], image=image)


def _mirror(lab, folder, image_dir, engine_dir, cache):
    """Push images of a node image into the lab's registry, below their registry's name."""
    references = json.loads((image_dir / "image.json").read_text())["container_images"]
    raw = str(image_dir / "node.raw")
    start = root_partition(partitions.table(raw)["partitions"])["start"] * partitions.SECTOR_BYTES
    for name in ("root", "images"):
        (folder / name).mkdir()
    # The mount ends with its namespace.
    done = subprocess.run(
        ["unshare", "--mount", sys.executable, "-c", ARCHIVES, str(LAB / "node_image"), cache, engine_dir,
         str(LAB / "engine" / "addons"), raw, str(start), str(folder)], capture_output=True, text=True, check=False,
        timeout=500, env=dict(os.environ, PYTHONPATH=str(REPOSITORY / ".build")))
    assert done.returncode == 0, done.stderr
    store = registry_store.access(lab, folder)
    for name in SHARED:
        registry_store.copied(store, f"docker-archive:{folder / 'images' / f'{name}.tar'}", references[name],
                              seconds=300)
