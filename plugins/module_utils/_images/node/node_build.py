# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Builds the disk image of a site's nodes: Debian with a kernel, cloud-init, containerd, kubeadm, the site's files."""
from __future__ import annotations

import hashlib
import json
import os
import shutil
import sys
import uuid
from collections.abc import Mapping
from typing import Any

from ..._common.files import cache_entry, file_digest, open_folder
from ..debian import debian_root, signatures
from ..debian.debian_root import CHROOT_ENVIRONMENT, CONTAINED, SUITE, ImageBuildError, run
from ..disks import node_disk
from ..sources import contents
from . import given_programs

# Raise it when the image is built in another way than before: it is part of the cache's key.
RECIPE = "3"
IMAGE = "node.qcow2"
PROGRAMS = ("kubeadm", "kubelet", "kubectl")
VERSION_ARGUMENTS = {"kubeadm": ("version", "-o", "short"), "kubelet": ("--version",),
                     "kubectl": ("version", "--client")}
PAUSE_MARK = "@PAUSE_IMAGE@"
AUTHORITIES_DIR = "usr/local/share/ca-certificates"
KEYRING = "etc/apt/keyrings/kubernetes.asc"
SERVICES = {
    "enable": ("kubelet", "containerd", "systemd-networkd", "systemd-resolved", "ssh"),
    "disable": ("keepalived",),
    # An image is replaced, not upgraded in place.
    "mask": ("apt-daily.timer", "apt-daily-upgrade.timer")}


class NodeBuild(cache_entry.CacheEntry):
    """One node image and where it is kept.

    :param params: the parameters of the module ``node_image``, without problems; ``files`` have ``content`` as bytes
    """

    def __init__(self, params: Mapping[str, Any]) -> None:
        self._params = params
        self._source_dir = params["source_dir"]
        self._digests = dict((name, file_digest.digest(path)) for name, path in self._programs().items())
        self._archives = [(path, file_digest.digest(path)) for path in params["image_archives"]]
        self.key = cache_entry.key(self._inputs())
        self.directory = os.path.join(params["cache_dir"], "node-images", self.key)
        cache_entry.require_own(params["cache_dir"], os.path.dirname(self.directory), self.directory)
        self.path = os.path.join(self.directory, IMAGE)

    def _inputs(self) -> list[str]:
        """Return what the image depends on, each as text."""
        params = self._params
        names = ("kubernetes_version", "kubernetes_repository", "packages", "debian_sources", "ca_certificates",
                 "kernel_parameters", "disk_size_gib", "revision")
        files = [[file["path"], file["mode"], hashlib.sha256(file["content"]).hexdigest()] for file in params["files"]]
        given = list(self._digests.values())
        archives = [digest for _path, digest in self._archives]
        return [RECIPE, os.uname().machine, debian_root.tree_digest(self._source_dir),
                json.dumps([params[name] for name in names]), json.dumps([files, given, archives])]

    def _programs(self) -> dict[str, str]:
        folder = self._params["kubernetes_dir"]
        return dict((name, given_programs.place_of(folder, name)) for name in PROGRAMS) if folder else {}

    def build(self, progress: Any) -> None:
        """Build the image unless it is there; an interrupted build leaves nothing.

        :param progress: a Progress
        :raises ImageBuildError: when this process is not root, a program is missing or a step fails
        """
        if self.complete():
            return
        debian_root.check_means("the node image", node_disk.NEEDED_COMMANDS)
        # Minutes before the same question to what is in the image.
        for name, path in self._programs().items():
            self._check_version([path], name)
        with cache_entry.making(self.directory, progress) as partial:
            if partial is None:
                return
            work = os.path.join(partial, "work")
            root = os.path.join(work, "root")
            os.mkdir(work)
            progress.event(f"Installing Debian {SUITE} for the node image")
            self._install(root, work)
            # Before the site's files, which may take the place of what it writes.
            debian_root.clean(root)
            progress.event("Adding Kubernetes and the site's files")
            self._add(root)
            if self._params["image_archives"]:
                progress.event(f"Importing {len(self._params['image_archives'])} archives of container images")
                self._import(root, work)
            progress.event("Writing the disk image")
            raw = os.path.join(work, "node.raw")
            node_disk.write(root, raw, self._params["disk_size_gib"], str(uuid.uuid5(uuid.NAMESPACE_OID, self.key)),
                            " ".join(self._params["kernel_parameters"]) or node_disk.CONSOLES)
            node_disk.compress(raw, os.path.join(partial, IMAGE))
            shutil.rmtree(work)

    def _install(self, root: str, work: str) -> None:
        with open(os.path.join(self._source_dir, "packages.txt"), encoding="utf-8") as stream:
            names = debian_root.packages(stream.read()) + self._params["packages"]
        repository, added = self._params["kubernetes_repository"], []
        if repository:
            # Any build of the version; apt takes the newest.
            version = self._params["kubernetes_version"].lstrip("v")
            names += [f"{program}={version}-*" for program in PROGRAMS]
            key = os.path.join(work, "kubernetes.asc")
            with open(key, "w", encoding="utf-8") as stream:
                stream.write(repository["key"].strip() + "\n")
            # apt reads it as another user.
            os.chmod(key, 0o644)
            added = [repository["source"].replace("deb ", f"deb [signed-by={key}] ", 1)]
        try:
            debian_root.install(root, names, work, sources=self._params["debian_sources"], added=added)
        except ImageBuildError as error:
            problem = signatures.key_problem(error.output, repository) if repository else None
            if problem:
                raise ImageBuildError(str(problem)) from error
            raise
        if repository:
            self._keep_key(root, key)

    @staticmethod
    def _keep_key(root: str, key: str) -> None:
        """Put the repository's key where the image's own apt finds it."""
        target = os.path.join(root, KEYRING)
        open_folder.make(os.path.dirname(target))
        shutil.copyfile(key, target)
        os.chmod(target, 0o644)
        debian_root.replace_in_sources(root, key, "/" + KEYRING)

    def _add(self, root: str) -> None:
        for name, path in self._programs().items():
            given_programs.copy(path, self._digests[name], os.path.join(root, "usr/bin", name))
        for name in VERSION_ARGUMENTS:
            self._check_version(["chroot", root, f"/usr/bin/{name}"], name)
        pause = self._pause_image(root)
        # The folder of kubelet's further configuration, which the service names.
        open_folder.make(os.path.join(root, "etc/kubernetes/kubelet.conf.d"))
        debian_root.add_files(os.path.join(self._source_dir, "root"), root, {PAUSE_MARK: pause})
        # Where every network add-on puts its plugins; packages of Kubernetes bring the folder.
        if not os.path.isdir(os.path.join(root, "opt/cni/bin")):
            open_folder.make(os.path.join(root, "opt/cni"))
            os.symlink("/usr/lib/cni", os.path.join(root, "opt/cni/bin"))
        self._add_authorities(root)
        self._add_files(root)
        for verb, names in SERVICES.items():
            run(["systemctl", "--root", root, verb, *names], "choosing the services")

    def _add_files(self, root: str) -> None:
        for file in self._params["files"]:
            target = debian_root.place(root, file["path"])
            with open(target, "wb") as stream:
                stream.write(file["content"])
            os.chmod(target, int(file["mode"], 8))

    def _check_version(self, command: list[str], name: str) -> None:
        wanted = self._params["kubernetes_version"]
        # kubectl has further lines, with versions of other things.
        lines = run([*command, *VERSION_ARGUMENTS[name]], f"asking the version of {name}",
                    env=CHROOT_ENVIRONMENT).splitlines()
        found = lines[0].split()[-1:] if lines else []
        if found != [wanted]:
            raise ImageBuildError(f"kubernetes_version: {name} is {' '.join(found)}, expected {wanted}; correct the "
                                  "version, or where the programs come from")

    def _pause_image(self, root: str) -> str:
        """Return the pause image that the image's kubeadm wants."""
        images = run(["chroot", root, "/usr/bin/kubeadm", "config", "images", "list", "--kubernetes-version",
                      self._params["kubernetes_version"]], "asking kubeadm for its images", env=CHROOT_ENVIRONMENT)
        found = next((image for image in images.split() if "/pause:" in image), None)
        if found is None:
            raise ImageBuildError("asking kubeadm for its images: found no image of pause, which containerd needs, in "
                                  f"{', '.join(images.split()[:10]) or 'nothing'}; take kubeadm from elsewhere")
        return found

    def _add_authorities(self, root: str) -> None:
        for number, text in enumerate(self._params["ca_certificates"]):
            path = os.path.join(root, AUTHORITIES_DIR, f"site-{number}.crt")
            open_folder.make(os.path.dirname(path))
            with open(path, "w", encoding="utf-8") as stream:
                stream.write(text.replace("\r\n", "\n").strip() + "\n")
            os.chmod(path, 0o644)
        if self._params["ca_certificates"]:
            run(["chroot", root, "update-ca-certificates"], "adding certificate authorities", env=CHROOT_ENVIRONMENT)

    def _import(self, root: str, work: str) -> None:
        folder = os.path.join(work, "images")
        os.mkdir(folder)
        for number, (path, digest) in enumerate(self._archives):
            contents.copy_unchanged(f"image_archives[{number}]", path, digest, os.path.join(folder, f"{number}.tar"))
        run([*CONTAINED, sys.executable, os.path.join(self._source_dir, "import_images.py"), root, folder],
            "importing the container images")
