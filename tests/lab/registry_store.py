# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What tests need of the lab's registry: skopeo, the login, and an image of one of the plane's controllers."""
from __future__ import annotations

import base64
import hashlib
import json
import os
import shutil
import subprocess
from types import SimpleNamespace

from machine_room import partitions
from machine_room.node_boot.root_partition import root_partition
from support import REPOSITORY

from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.description import (
    reader as cluster_description,
)
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.render import registries
from ansible_collections.metal3.baremetal.plugins.module_utils._common.waiting.progress import Progress
from ansible_collections.metal3.baremetal.plugins.module_utils._lab import oci_layout, registry
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.parts import catalogue
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.process import go_mod

PINS = go_mod.GoMod((REPOSITORY / "lab" / "engine" / "go.mod").read_text())
VERSION = PINS.version(catalogue.IPAM)
IMAGE = "quay.io/metal3-io/ip-address-manager:" + VERSION
# Of a copy that is to have the digest of its source.
SAME = "--preserve-digests"


# The node image's own root file system, read only below what is written here; all of it ends with its namespaces.
CONTAINERD = """
set -eu
cd "$1"; image=$2; offset=$3; shift 3
mkdir lower upper root
mount -o "ro,noload,loop,offset=$offset" "$image" lower
mount -t tmpfs tmpfs upper
mkdir upper/files upper/work
mount -t overlay overlay -o lowerdir=lower,upperdir=upper/files,workdir=upper/work root
mount -t proc proc root/proc
mount --rbind /dev root/dev
for folder in run tmp var/lib/containerd; do mount -t tmpfs tmpfs "root/$folder"; done
cp -a files/. root/
chroot root sh -e /commands.sh
stat -c '%a %U %n' root/etc/containerd/certs.d/*/*
chroot root containerd > containerd.log 2>&1 &
for _try in $(seq 300); do if [ -S root/run/containerd/containerd.sock ]; then break; fi; sleep 0.1; done
for reference; do
  echo "== $reference"
  chroot root timeout 100 ctr images pull --hosts-dir /etc/containerd/certs.d "$reference" 2>&1 || echo refused
  chroot root ctr images list "name==$reference"
done
"""


def skopeo(*arguments, seconds=120):
    return subprocess.run(["skopeo", "--insecure-policy", *arguments], capture_output=True, text=True, check=False,
                          timeout=seconds)


def access(lab, folder):
    """Return the registry, and files for skopeo: the lab's authority, and the login for pushing.

    :param folder: for the files
    """
    host = f"127.0.0.1:{lab.figures['ports']['registry']}"
    username, password = ((lab.dir / "secrets" / f"registry_{name}").read_text() for name in ("username", "password"))
    (folder / "trust").mkdir()
    (folder / "trust" / "ca.crt").write_bytes((lab.dir / "pki" / "ca.crt").read_bytes())
    (folder / "login").write_text(json.dumps({"auths": {host: {
        "auth": base64.b64encode(f"{username}:{password}".encode()).decode()}}}))
    (folder / "no-login").write_text("{}")
    return SimpleNamespace(host=host, folder=folder, trust=folder / "trust", login=folder / "login",
                           no_login=folder / "no-login", username=username, password=password)


def opened(lab, folder):
    """Return the registry and files for skopeo, see :func:`access`, and an image to push."""
    versions = {"ip-address-manager": VERSION}
    images = registry.ControllerImages(lab.figures["engine_dir"], versions, str(folder))
    images.build(Progress())
    layout = images.layouts()[IMAGE]
    return SimpleNamespace(**vars(access(lab, folder)), layout=layout, digest=oci_layout.manifest_digest(layout))


def relabelled(store, folder):
    """Return the same image with a label of one's own, which gives it another digest.

    :param folder: for its files, which is made
    """
    shutil.copytree(store.layout, folder)

    def rewritten(descriptor, change):
        content = json.loads((folder / "blobs" / "sha256" / descriptor["digest"].partition(":")[2]).read_bytes())
        change(content)
        data = json.dumps(content).encode()
        digest = hashlib.sha256(data).hexdigest()
        (folder / "blobs" / "sha256" / digest).write_bytes(data)
        descriptor.update(digest="sha256:" + digest, size=len(data))

    index = json.loads((folder / "index.json").read_text())
    manifest, = index["manifests"]
    rewritten(manifest, lambda content: rewritten(
        content["config"], lambda config: config["config"].update(Labels={"made-by": "site"})))
    (folder / "index.json").write_text(json.dumps(index))
    return SimpleNamespace(**dict(vars(store), layout=str(folder), digest=manifest["digest"]))


def push(store, name, login, trust=None):
    return _copy(store, f"oci:{store.layout}", name, SAME, login=login, trust=trust)


def copied(store, source, name, *options, seconds=120):
    """Copy an image into the registry.

    :param store: of :func:`access`
    :param source: as skopeo names it
    :param name: in the registry
    :param options: of skopeo, as ``SAME``
    """
    done = _copy(store, source, name, *options, seconds=seconds)
    assert done.returncode == 0, done.stderr


def _copy(store, source, name, *options, login=None, trust=None, seconds=120):
    trust = str(trust or store.trust)
    return skopeo("copy", "--authfile", str(login or store.login), "--src-cert-dir", trust, "--dest-cert-dir", trust,
                  *options, source, f"docker://{store.host}/{name}", seconds=seconds)


def digest(store, name, login):
    done = skopeo("inspect", "--authfile", str(login), "--cert-dir", str(store.trust), "--format", "{{.Digest}}",
                  f"docker://{store.host}/{name}")
    return done.stdout.strip() or done.stderr


def pulled(lab, folder, mirrors, references, secret=None):
    """Let the containerd of the lab's node image pull images, configured by the files of the cluster's option.

    :param mirrors: the option ``registry_mirrors``
    :param references: names of images
    :param secret: what the Secret of a mirror holds
    :returns: mode, owner and path of each file; reference → what was printed of it; all that was printed
    """
    description, mistakes = cluster_description.read({"name": "mirrored", "registry_mirrors": mirrors})
    assert mistakes == []
    files = folder / "files"
    for entry in registries.files(description):
        path = files / entry["path"].lstrip("/")
        path.parent.mkdir(parents=True, exist_ok=True)
        # As Cluster API's bootstrap provider puts the contents of Secrets in.
        path.write_text(entry["content"] if "content" in entry else secret[entry["contentFrom"]["secret"]["key"]])
        path.chmod(int(entry["permissions"], 8))
    (files / "commands.sh").write_text("\n".join(registries.commands(description)) + "\n")
    image = os.path.join(os.path.dirname(os.path.realpath(lab.dir / "www" / "images" / "node.raw")), "node.raw")
    start = root_partition(partitions.table(image)["partitions"])["start"] * partitions.SECTOR_BYTES
    done = subprocess.run(
        ["unshare", "--mount", "--pid", "--fork", "--kill-child", "bash", "-c", CONTAINERD, "containerd",
         str(folder), image, str(start), *references],
        capture_output=True, text=True, check=False, timeout=500)
    assert done.returncode == 0, done.stderr
    before, *parts = done.stdout.split("== ")
    answers = dict((part.partition("\n")[0], part) for part in parts)
    assert list(answers) == references
    return before.splitlines(), answers, done.stdout + done.stderr
