# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Builds the disk image of a Kubernetes node: Debian with a kernel, cloud-init, containerd, kubeadm, all images."""
from __future__ import annotations

import glob
import json
import os
import re
import shutil
import sys
import uuid
from typing import Any

from .._common.documents.document_text import from_json
from .._common.files import cache_entry, open_folder
from .._images.debian import debian_root
from .._images.debian.debian_root import CHROOT_ENVIRONMENT, CONTAINED, MIB, ImageBuildError, run
from .._images.disks import node_disk
from .._plane.process import go_mod
from . import addons, container_image

# Raise it when the image is made in another way than before: it is part of the cache's key.
RECIPE = "5"
DISK_GIB = 6
# Linux trusts the counter of an emulated processor only when it is asked to: it would read the time from the HPET, for
# which each program of a node goes through kernel and emulator.
KERNEL_PARAMETERS = f"{node_disk.CONSOLES} tsc=reliable"
PAUSE_USER = "65535:65535"
# Not in kubeadm's list. flannel's and kube-vip's images have upstream's programs without the rest; a registry of their
# own keeps them apart from upstream's.
OWN_REGISTRY = "lab.local"
TEST_IMAGE_NAME = "e2e-test-images/agnhost"
NETFILTER_PROGRAMS = ("usr/sbin/nft", "usr/sbin/conntrack", "usr/sbin/xtables-nft-multi")
NETFILTER_NAMES = (
    "iptables", "iptables-save", "iptables-restore", "ip6tables", "ip6tables-save", "ip6tables-restore")
NODE_PROGRAMS = ("kubelet", "kubeadm", "kubectl")
POD_PROGRAMS = ("kube-apiserver", "kube-controller-manager", "kube-scheduler", "kube-proxy", "etcd")


def library_paths(ldd_output: str) -> list[str]:
    """Return the absolute paths in what ldd prints about one or several programs, without duplicates, in order."""
    found = re.findall(r"(?:=> |^\s+)(/\S+) \(0x", ldd_output, re.MULTILINE)
    return list(dict.fromkeys(found))


class NodeImage(cache_entry.CacheEntry):
    """One node image and where it is kept.

    :param source_dir: the collection's ``lab/node_image``
    :param cache_dir: folder for what is slow to make, see user_folders.cache_dir()
    :param engine_dir: what the module engine returned, with the set node and management or control-plane
    :param programs: an Addons
    """

    def __init__(self, source_dir: str, cache_dir: str, engine_dir: str, programs: Any) -> None:
        self._source_dir = source_dir
        self._bin_dir = os.path.join(engine_dir, "bin")
        self._addons = programs
        self._architecture = os.uname().machine
        key = cache_entry.key((RECIPE, self._architecture, os.path.basename(engine_dir), programs.directory,
                               debian_root.tree_digest(source_dir)))
        self.directory = os.path.join(cache_dir, "node-image", key)

    def info(self) -> Any:
        """Return what is known of a complete image, the contents of its ``image.json``."""
        with open(os.path.join(self.directory, "image.json"), "rb") as stream:
            return from_json(stream.read())

    def build(self, progress: Any) -> None:
        """Build the image unless it is there; an interrupted build leaves nothing.

        :param progress: a Progress
        :raises ImageBuildError: when this process is not root, a program is missing or a step fails
        """
        if self.complete():
            return
        self._check_means()
        self._addons.build(progress)
        with cache_entry.making(self.directory, progress) as partial:
            if partial is None:
                return
            work = os.path.join(partial, "work")
            root = os.path.join(work, "root")
            os.makedirs(os.path.join(work, "images"))
            progress.event(f"Installing Debian {debian_root.SUITE}")
            self._install_debian(root)
            progress.event("Making the container images")
            references = self.write_container_images(root, os.path.join(work, "images"))
            self._add_files(root, references)
            progress.event(f"Importing {len(references)} container images")
            self._import(root, os.path.join(work, "images"))
            debian_root.clean(root)
            progress.event("Writing the disk image")
            self._write_disk(root, partial)
            shutil.rmtree(work)
            self._write_info(partial, references)

    def _check_means(self) -> None:
        debian_root.check_means("the node image", node_disk.NEEDED_COMMANDS)
        for name in NODE_PROGRAMS + POD_PROGRAMS:
            if not os.access(os.path.join(self._bin_dir, name), os.X_OK):
                raise ImageBuildError(f"{os.path.join(self._bin_dir, name)} is missing: build the engine's sets "
                                      "node and management first")

    def _install_debian(self, root: Any) -> None:
        with open(os.path.join(self._source_dir, "packages.txt"), encoding="utf-8") as stream:
            names = debian_root.packages(stream.read())
        debian_root.install(root, names, os.path.dirname(root))

    def _libraries(self, root: Any, paths: Any) -> Any:
        return library_paths(run(
            ["chroot", root, "ldd"] + ["/" + path for path in paths], "listing libraries", env=CHROOT_ENVIRONMENT))

    def _netfilter(self, root: Any) -> Any:
        """Return nft, iptables, conntrack and every library that one of them, or of iptables' modules, needs."""
        modules = [os.path.relpath(path, root) for path in glob.glob(os.path.join(root, "usr/lib/*/xtables/*.so"))]
        regular = [path for path in modules if not os.path.islink(os.path.join(root, path))]
        contents: list[container_image.File | container_image.Link] = [
            container_image.File("/" + path, os.path.join(root, path))
            for path in list(NETFILTER_PROGRAMS) + modules + ["etc/protocols"]]
        for path in self._libraries(root, list(NETFILTER_PROGRAMS) + regular):
            # Debian's /lib is a link to /usr/lib, and ldd prints the path through it.
            contents.append(container_image.File(path, os.path.join(root, "usr", path.lstrip("/"))
                                                 if not path.startswith("/usr/") else os.path.join(root, path[1:])))
        contents += [container_image.Link("/usr/sbin/" + name, "xtables-nft-multi") for name in NETFILTER_NAMES]
        return contents

    def write_container_images(self, root: Any, directory: Any) -> Any:
        """Write one archive for each image and return image name → reference.

        :param root: folder with the image's root file system
        :param directory: folder for the archives, ``<image name>.tar``
        """
        kubeadm = os.path.join(self._bin_dir, "kubeadm")
        version = run([kubeadm, "version", "-o", "short"], "asking kubeadm's version").strip()
        listed = run([kubeadm, "config", "images", "list", "--kubernetes-version", version],
                     "asking kubeadm for its images").split()
        wanted = dict((reference.rpartition("/")[2].rpartition(":")[0], reference) for reference in listed)
        registry = listed[0].partition("/")[0]
        netfilter = self._netfilter(root)
        pause = container_image.File("/pause", os.path.join(root, "usr/bin/catatonit"))
        made = {}

        def add(name: Any, reference: Any, contents: Any, entrypoint: Any, command: Any = (), user: str = "") -> None:
            container_image.write_archive(
                os.path.join(directory, name + ".tar"), reference, contents, entrypoint, self._architecture,
                command, user)
            made[name] = reference

        for name in wanted:
            if name == "pause":
                add(name, wanted[name], [pause], ["/pause", "-P"], user=PAUSE_USER)
            elif name == "coredns":
                add(name, wanted[name], [container_image.File("/coredns", self._addons.path("coredns"))], ["/coredns"])
            elif name in POD_PROGRAMS:
                path = "/usr/local/bin/" + name
                contents = [container_image.File(path, os.path.join(self._bin_dir, name))]
                add(name, wanted[name], contents + (netfilter if name == "kube-proxy" else []), [path])
            else:
                raise ImageBuildError(f"kubeadm {version} wants the image {wanted[name]}, which this module cannot "
                                      "build")
        flanneld = "/opt/bin/flanneld"
        add("flannel", f"{OWN_REGISTRY}/flannel-io/flannel:{self._addons.pins.version(addons.FLANNEL)}",
            [container_image.File(flanneld, self._addons.path("flanneld"))] + netfilter, [flanneld])
        add("kube-vip", f"{OWN_REGISTRY}/kube-vip/kube-vip:{self._addons.pins.version(addons.KUBE_VIP)}",
            [container_image.File("/kube-vip", self._addons.path("kube-vip"))], ["/kube-vip"])
        # By the version that it is made of, so that images of two versions have it under one name.
        made_of = self._addons.pins.version(go_mod.KUBERNETES).lstrip("v")
        add("agnhost", f"{registry}/{TEST_IMAGE_NAME}:{made_of}",
            [container_image.File("/agnhost", self._addons.path("agnhost"))], ["/agnhost"], ["pause"])
        return made

    def _add_files(self, root: Any, references: Any) -> None:
        debian_root.add_files(os.path.join(self._source_dir, "root"), root, {"@PAUSE_IMAGE@": references["pause"]})
        for name in NODE_PROGRAMS:
            shutil.copyfile(os.path.join(self._bin_dir, name), os.path.join(root, "usr/bin", name))
            os.chmod(os.path.join(root, "usr/bin", name), 0o755)
        # Where every CNI's installer puts its plugins, and where containerd looks.
        open_folder.make(os.path.join(root, "opt/cni"))
        os.symlink("/usr/lib/cni", os.path.join(root, "opt/cni/bin"))
        open_folder.make(os.path.join(root, "etc/cni/net.d"))
        units = {
            "enable": ["kubelet", "containerd", "systemd-networkd", "systemd-resolved", "ssh"],
            "disable": ["keepalived"],
            "mask": ["console-getty.service", "apt-daily.timer", "apt-daily-upgrade.timer", "e2scrub_all.timer",
                     "dpkg-db-backup.timer",
                     # In a lab the kernel is everybody's.
                     "sys-kernel-debug.mount", "sys-kernel-tracing.mount"],
        }
        for verb, names in units.items():
            run(["systemctl", "--root", root, verb] + names, "choosing the services")

    def _import(self, root: Any, images: Any) -> None:
        run([*CONTAINED, sys.executable, os.path.join(self._source_dir, "import_images.py"), root, images],
            "importing the container images")

    def _write_disk(self, root: Any, directory: Any) -> None:
        raw = os.path.join(directory, "node.raw")
        qcow2 = os.path.join(directory, "node.qcow2")
        node_disk.write(root, raw, DISK_GIB, str(uuid.uuid5(uuid.NAMESPACE_OID, self.directory)), KERNEL_PARAMETERS)
        node_disk.compress(raw, qcow2)
        for path in (raw, qcow2):
            debian_root.write_checksum(path)

    def _write_info(self, directory: Any, references: Any) -> None:
        with open(os.path.join(directory, "image.json"), "w", encoding="utf-8") as stream:
            json.dump({
                "kubernetes_version": references["kube-apiserver"].rpartition(":")[2],
                "container_images": references,
                "disk_bytes": DISK_GIB * 1024 * MIB,
            }, stream, indent=1, sort_keys=True)
