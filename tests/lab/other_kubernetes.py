# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A node image with the next minor version of Kubernetes, beside the lab's: built once, cached, served, mirrored."""
from __future__ import annotations

import base64
import json
import os
import subprocess
from pathlib import Path
from types import SimpleNamespace

from machine_room import partitions
from machine_room.node_boot.root_partition import root_partition
from support import REPOSITORY, module

SOURCE = REPOSITORY / "tests" / "lab" / "data" / "kubernetes-1.36"
LAB = REPOSITORY / "lab"
# Until the control plane has been replaced, nodes of both versions need these of the other one: kube-proxy's version
# is that of the control plane, and CoreDNS stays at the version that the cluster began with.
SHARED = ("kube-proxy", "coredns")

# A node image's own containerd, of which nothing is written to the image; all of it ends with its namespaces.
EXPORT = """
set -eu
cd "$1"; image=$2; offset=$3; shift 3
mkdir lower upper root
mount -o "ro,noload,loop,offset=$offset" "$image" lower
mount -t tmpfs tmpfs upper
mkdir upper/files upper/work
mount -t overlay overlay -o lowerdir=lower,upperdir=upper/files,workdir=upper/work root
mount -t proc proc root/proc
mount --rbind /dev root/dev
mount -t tmpfs tmpfs root/run
chroot root containerd > containerd.log 2>&1 &
for _try in $(seq 600); do if [ -S root/run/containerd/containerd.sock ]; then break; fi; sleep 0.1; done
number=0
for reference; do
  number=$((number + 1))
  chroot root ctr -n k8s.io images export - "$reference" > "$number.tar"
done
"""


def served(lab, folder):
    """Build the image, serve it by the lab's image server, and fill the lab's registry with what both versions need.

    :param folder: Path of an empty folder
    :returns: ``kubernetes_version`` and ``image``, as the playbook ``cluster`` takes them
    """
    cache = str(Path(lab.figures["cache_dir"]))
    engine = module("plane_programs", source_dir=str(SOURCE), cache_dir=cache, sets=["node", "control-plane"])
    made = module("lab_node_image", source_dir=str(LAB / "node_image"), engine_dir=engine["engine_dir"],
                  addons_source_dir=str(LAB / "engine" / "addons"), cache_dir=cache)
    images = lab.dir / "www" / "images"
    for suffix in ("", ".sha256"):
        target = images / f"next.qcow2{suffix}"
        target.unlink(missing_ok=True)
        if suffix:
            # The file names what it is of.
            target.write_text((Path(made["image_dir"]) / "node.qcow2.sha256").read_text().replace("node.", "next."))
        else:
            target.symlink_to(Path(made["image_dir"]) / "node.qcow2")
    before = Path(os.path.realpath(images / "node.qcow2")).parent
    for name, image_dir in (("before", before), ("after", Path(made["image_dir"]))):
        (folder / name).mkdir()
        _mirror(lab, folder / name, image_dir)
    url = f"https://{lab.figures['bridge']['address'].partition('/')[0]}:{lab.figures['ports']['image_server']}"
    return SimpleNamespace(kubernetes_version=made["kubernetes_version"], image={
        "url": f"{url}/images/next.qcow2", "checksum": f"{url}/images/next.qcow2.sha256", "checksum_type": "sha256",
        "format": "qcow2"})


def _mirror(lab, folder, image_dir):
    """Push images out of a node image into the lab's registry, below their registry's name."""
    references = json.loads((image_dir / "image.json").read_text())["container_images"]
    wanted = [references[name] for name in SHARED]
    raw = str(image_dir / "node.raw")
    start = root_partition(partitions.table(raw)["partitions"])["start"] * partitions.SECTOR_BYTES
    done = subprocess.run(
        ["unshare", "--mount", "--pid", "--fork", "--kill-child", "bash", "-c", EXPORT, "export", str(folder), raw,
         str(start), *wanted], capture_output=True, text=True, check=False, timeout=500)
    assert done.returncode == 0, done.stderr + (folder / "containerd.log").read_text()[-2000:]
    (folder / "trust").mkdir()
    (folder / "trust" / "ca.crt").write_bytes((lab.dir / "pki" / "ca.crt").read_bytes())
    host = f"127.0.0.1:{lab.figures['ports']['registry']}"
    login = ":".join((lab.dir / "secrets" / f"registry_{part}").read_text() for part in ("username", "password"))
    (folder / "login").write_text(json.dumps({"auths": {host: {"auth": base64.b64encode(login.encode()).decode()}}}))
    for number, reference in enumerate(wanted, 1):
        done = subprocess.run(
            ["skopeo", "--insecure-policy", "copy", "--quiet", "--dest-authfile", str(folder / "login"),
             "--dest-cert-dir", str(folder / "trust"), f"oci-archive:{folder / f'{number}.tar'}",
             f"docker://{host}/{reference}"],
            capture_output=True, text=True, check=False, timeout=300)
        assert done.returncode == 0, done.stderr
