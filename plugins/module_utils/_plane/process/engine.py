# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Builds the pinned upstream programs once and keeps them in the cache, with their providers' manifests."""
from __future__ import annotations

import glob
import hashlib
import os
import re
import shutil
import subprocess
import time
from collections import namedtuple
from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Any

from ..._common import timed_run
from ..._common.files import cache_entry, file_lock
from ..._common.problems.errors import ReportedError
from ..._common.texts.formats import duration
from ..._common.texts.plain_text import end_of
from ..parts import catalogue, manifests
from ..parts.catalogue import BMO, CAPM3, CERT_MANAGER, CLUSTER_API, IPAM
from . import toolchain, webhook_host
from .go_mod import ETCD, KUBERNETES, GoMod, linker_flags

# Raise it when programs or manifests are made in another way than before: it is part of the cache's key.
RECIPE = "2"
BUILD_FLAGS = ("-trimpath", "-mod=readonly", "-modcacherw")
GOCACHE_VARIABLE = "METAL3_ENGINE_GOCACHE"
GOMODCACHE_VARIABLE = "METAL3_ENGINE_GOMODCACHE"

HELM = "helm.sh/helm/v3"
ETCDUTL = "go.etcd.io/etcd/etcdutl/v3"

Program = namedtuple("Program", ["name", "package", "module"])

# The sets' order is the order of building: what takes longest first, so that the countdown is honest.
SETS = {
    "management": (
        Program("baremetal-operator", BMO, BMO),
        Program("kube-apiserver", KUBERNETES + "/cmd/kube-apiserver", KUBERNETES),
        Program("kube-controller-manager", KUBERNETES + "/cmd/kube-controller-manager", KUBERNETES),
        Program("etcd", ETCD, ETCD),
        Program("kubectl", KUBERNETES + "/cmd/kubectl", KUBERNETES),
        Program("cluster-api", CLUSTER_API, CLUSTER_API),
        Program("cluster-api-bootstrap-kubeadm", CLUSTER_API + "/bootstrap/kubeadm", CLUSTER_API),
        Program("cluster-api-control-plane-kubeadm", CLUSTER_API + "/controlplane/kubeadm", CLUSTER_API),
        Program("clusterctl", CLUSTER_API + "/cmd/clusterctl", CLUSTER_API),
        Program("cluster-api-provider-metal3", CAPM3, CAPM3),
        Program("ip-address-manager", IPAM, IPAM),
    ),
    "node": (
        Program("kubelet", KUBERNETES + "/cmd/kubelet", KUBERNETES),
        Program("kubeadm", KUBERNETES + "/cmd/kubeadm", KUBERNETES),
        Program("kube-proxy", KUBERNETES + "/cmd/kube-proxy", KUBERNETES),
        Program("kube-scheduler", KUBERNETES + "/cmd/kube-scheduler", KUBERNETES),
    ),
}
# Kubernetes without the providers: with the set node, all that a node image of another version needs.
SETS["control-plane"] = tuple(program for program in SETS["management"] if program.module in (KUBERNETES, ETCD))
# Of a go.mod of their own, because cert-manager needs older libraries.
SETS["cert-manager"] = (
    Program("cert-manager-controller", CERT_MANAGER + "/cmd/controller", CERT_MANAGER),
    Program("cert-manager-webhook", CERT_MANAGER + "/cmd/webhook", CERT_MANAGER),
    Program("cert-manager-cainjector", CERT_MANAGER + "/cmd/cainjector", CERT_MANAGER),
)
SETS["cert-manager-manifests"] = (Program("helm", HELM + "/cmd/helm", HELM),)
# Its versions are etcd's; only a restore of etcd needs it.
SETS["etcd-tools"] = (Program("etcdutl", ETCDUTL, ETCDUTL),)
MANIFEST_SET, CHART_SET = "management", "cert-manager-manifests"
# Where programs come from: built from their modules, or taken out of images.
BUILT, FROM_IMAGES = "build", "images"


class EngineError(ReportedError):
    """The engine could not be built; the message names the program and what to do."""


def key(go_mod: str, go_sum: str, go_version: str, flags: str) -> str:
    """Return the name of the cache folder for these inputs.

    :param go_mod: contents of go.mod
    :param go_sum: contents of go.sum
    :param go_version: for example ``go1.26.8``
    :param flags: the linker's flags
    """
    return cache_entry.key((RECIPE, go_version, " ".join(BUILD_FLAGS), flags, go_mod, go_sum))


def pins_key(go_mod: str, go_sum: str) -> str:
    """Return what distinguishes pins from others, whatever the programs are built with.

    :param go_mod: contents of go.mod
    :param go_sum: contents of go.sum
    """
    return hashlib.sha256(f"{RECIPE}\0{go_mod}\0{go_sum}".encode()).hexdigest()[:16]


class Engine:
    """The programs of one ``go.mod`` and where they are kept.

    :param source_dir: folder with ``go.mod`` and ``go.sum``
    :param cache_dir: folder for what is slow to make, see user_folders.cache_dir()
    :param programs: ``build`` or ``images``
    """

    def __init__(self, source_dir: str, cache_dir: str, programs: str = BUILT) -> None:
        self._source_dir = source_dir
        go_mod, go_sum = self._read("go.mod"), self._read("go.sum")
        self.pins = GoMod(go_mod)
        self._flags = linker_flags(self.pins)
        # What pins parts of the same engine lies in a folder of its own below it.
        own = os.path.join(source_dir, toolchain.LOCK_FILE)
        shared = os.path.join(os.path.dirname(os.path.abspath(source_dir)), toolchain.LOCK_FILE)
        self._toolchain = toolchain.choose(
            self.pins.go, cache_dir, own if os.path.exists(own) or not os.path.exists(shared) else shared)
        self.go_version = self._toolchain.version
        self._base = os.path.join(cache_dir, "engine")
        self.pins_key = pins_key(go_mod, go_sum)
        self.directory = os.path.join(
            self._base, f"{FROM_IMAGES}-{self.pins_key}" if programs == FROM_IMAGES
            else key(go_mod, go_sum, self.go_version, self._flags))
        self.bin_dir = os.path.join(self.directory, "bin")
        self.manifests_dir = os.path.join(self.directory, manifests.FOLDER)
        self.ironic_dir = os.path.join(self.directory, manifests.IRONIC_RENDERED)
        self.chart_dir = os.path.join(self.directory, "cert-manager-manifests")
        cache_entry.require_own(cache_dir, self._base, self.directory, self.bin_dir)

    def _read(self, name: str) -> str:
        path = os.path.join(self._source_dir, name)
        try:
            with open(path, encoding="utf-8") as stream:
                return stream.read()
        except OSError as exc:
            raise EngineError(f"{path}: {exc.strerror}, expected a file of the collection's lab/engine; correct "
                              "source_dir") from exc

    def missing(self, sets: list[str]) -> list[Program]:
        """Return the programs of these sets that are not built yet.

        :param sets: names out of SETS
        """
        # Two sets may share programs.
        return [program for program in dict.fromkeys(program for name in sets for program in SETS[name])
                if not os.access(os.path.join(self.bin_dir, program.name), os.X_OK)]

    def complete(self, sets: list[str]) -> bool:
        """Return whether all programs of these sets, and the manifests if they belong to them, are there."""
        wanted = [self.manifests_dir, self.ironic_dir] if MANIFEST_SET in sets else []
        wanted += [self.chart_dir] if CHART_SET in sets else []
        return not self.missing(sets) and all(os.path.isdir(directory) for directory in wanted)

    def manifests_of(self, part: catalogue.Part) -> str:
        """Return the path of a part's rendered manifests."""
        return os.path.join(self.chart_dir if part.folder is None else self.manifests_dir, part.name + ".yaml")

    def versions(self, sets: Any) -> Any:
        """Return program name → pinned version.

        :param sets: names out of SETS
        """
        return dict((program.name, self.pins.version(program.module)) for name in sets for program in SETS[name])

    def build(self, sets: list[str], progress: Any) -> list[str]:
        """Build what is missing; a folder name is only given to what is complete.

        :param sets: names out of SETS
        :param progress: a Progress
        :returns: names of the programs that were built
        :raises EngineError: when a program does not build; what was built stays, and so do Go's caches
        """
        if self.complete(sets):
            return []
        work = os.path.join(self._base, "work")
        os.makedirs(self._base, mode=0o755, exist_ok=True)
        with self._locked(progress):
            # Another run may have built it meanwhile.
            if self.complete(sets):
                return []
            os.makedirs(work, mode=0o755, exist_ok=True)
            missing = self.missing(sets)
            toolchain.ensure(self._toolchain, self.pins.go, progress)
            environ = self._environ(work)
            os.makedirs(self.bin_dir, exist_ok=True)
            for left in glob.glob(os.path.join(self.bin_dir, _partial("*"))):
                os.unlink(left)
            mod_file = self._mod_file(work, environ)
            for position, program in enumerate(missing):
                self._build_program(program, mod_file, environ, progress, f"{position + 1} of {len(missing)}, "
                                                                          f"{len(missing) - position - 1} left")
            if MANIFEST_SET in sets:
                self._render_missing(work, environ, progress)
            if CHART_SET in sets and not os.path.isdir(self.chart_dir):
                self._render_chart(work, environ)
                progress.wrote(self.chart_dir, "created")
            shutil.rmtree(work)
        return [program.name for program in missing]

    def render(self, progress: Any) -> None:
        """Render the manifests, of programs that were not built here; needs kubectl among them, and Go.

        :param progress: a Progress
        :raises EngineError: when a module can't be read or rendered
        """
        work = os.path.join(self._base, "work")
        with self._locked(progress):
            os.makedirs(work, mode=0o755, exist_ok=True)
            toolchain.ensure(self._toolchain, self.pins.go, progress)
            self._render_missing(work, self._environ(work), progress)
            shutil.rmtree(work)

    def _render_missing(self, work: str, environ: Mapping[str, str], progress: Any) -> None:
        if not os.path.isdir(self.manifests_dir):
            progress.event(f"Rendering the manifests of {len(catalogue.RENDERED)} parts")
            self._render(work, environ)
            progress.wrote(self.manifests_dir, "created")
        if not os.path.isdir(self.ironic_dir):
            self._render_ironic(work, environ)
            progress.wrote(self.ironic_dir, "created")

    def _environ(self, work: str) -> dict[str, str]:
        environ = dict(os.environ)
        environ.update(
            CGO_ENABLED="0", GOFLAGS="", GOTOOLCHAIN="local", GOWORK="off",
            GOCACHE=environ.get(GOCACHE_VARIABLE) or os.path.join(work, "gocache"),
            GOMODCACHE=environ.get(GOMODCACHE_VARIABLE) or os.path.join(work, "gomodcache"))
        for name in ("GOOS", "GOARCH"):
            environ.pop(name, None)
        return environ

    def _build_program(self, program: Program, mod_file: str, environ: Mapping[str, str], progress: Any,
                       position: str) -> None:
        progress.event(f"Building {program.name} {self.pins.version(program.module)} ({position})")
        started = time.monotonic()
        path = os.path.join(self.bin_dir, program.name)
        partial = os.path.join(self.bin_dir, _partial(program.name))
        self._go(["build"] + list(BUILD_FLAGS) + [
            "-modfile", mod_file, "-ldflags", self._flags, "-o", partial, program.package], environ, program.name)
        os.rename(partial, path)
        progress.wrote(path, "created")
        progress.event(f"Built {program.name} in {duration(time.monotonic() - started)}")

    def _go(self, arguments: list[str], environ: Mapping[str, str], subject: str) -> str:
        try:
            result = timed_run.run([self._toolchain.program] + arguments, timed_run.DOWNLOAD_LIMIT_SECONDS,
                                   cwd=self._source_dir, env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        except timed_run.LateError as exc:
            raise EngineError(f"{subject}: go {arguments[0]} {exc}; {timed_run.MODULE_PROXY}. What was built so "
                              "far is kept: run again") from exc
        if result.returncode:
            raise EngineError(f"{subject}: go {arguments[0]} failed (exit code {result.returncode}): "
                              f"{self._shortened(result.stderr)}. What was built so far is kept: run again")
        return result.stdout

    @staticmethod
    def _shortened(text: str) -> str:
        # Addresses of the module proxy or a company's mirror do not belong in a log.
        lines = [line for line in text.splitlines() if not line.startswith("go: downloading ")]
        return end_of(re.sub(r"https?://[^\s\"]+", "(address)", " ".join(" ".join(lines[-15:]).split())), 2000)

    def _render(self, work: Any, environ: Any) -> None:
        partial = self.manifests_dir + ".partial"
        shutil.rmtree(partial, ignore_errors=True)
        os.makedirs(partial)
        for provider in catalogue.RENDERED:
            module_dir = self._module_dir(provider.module, environ)
            extra = []
            if provider.name == catalogue.INVENTORY_OWNER:
                module, path = catalogue.INVENTORY_DEFINITION
                extra = manifests.inventory_definition(
                    os.path.join(self._module_dir(module, environ), path))
            try:
                manifests.render(
                    provider, self.pins.version(provider.module), module_dir, os.path.join(self.bin_dir, "kubectl"),
                    os.path.join(work, "src", provider.name), os.path.join(partial, provider.name + ".yaml"), extra)
            except manifests.ManifestError as exc:
                raise EngineError(str(exc)) from exc
        os.rename(partial, self.manifests_dir)

    def _render_ironic(self, work: str, environ: Mapping[str, str]) -> None:
        partial = self.ironic_dir + ".partial"
        shutil.rmtree(partial, ignore_errors=True)
        os.makedirs(partial)
        try:
            manifests.render_ironic(self._module_dir(BMO, environ), os.path.join(self.bin_dir, "kubectl"),
                                    os.path.join(work, "src", "ironic"), partial)
        except manifests.ManifestError as exc:
            raise EngineError(f"Ironic: {exc}") from exc
        os.rename(partial, self.ironic_dir)

    def _render_chart(self, work: str, environ: Mapping[str, str]) -> None:
        part, partial = catalogue.BY_NAME["cert_manager"], self.chart_dir + ".partial"
        shutil.rmtree(partial, ignore_errors=True)
        os.makedirs(partial)
        try:
            manifests.render_chart(self.pins.version(part.module), self._module_dir(part.module, environ),
                                   os.path.join(self.bin_dir, "helm"), os.path.join(work, "src", part.name),
                                   os.path.join(partial, part.name + ".yaml"))
        except (manifests.ManifestError, OSError) as exc:
            raise EngineError(f"{part.title}: {exc}") from exc
        os.rename(partial, self.chart_dir)

    def _mod_file(self, work: str, environ: Mapping[str, str]) -> str:
        """Return the path of the go.mod to build with."""
        # cert-manager's programs run as pods only.
        if not self.pins.has(webhook_host.MODULE) or self.pins.has(CERT_MANAGER):
            return os.path.join(self._source_dir, "go.mod")
        try:
            return webhook_host.write(
                self._module_dir(webhook_host.MODULE, environ), self._source_dir, os.path.join(work, "module"))
        except webhook_host.PatchError as exc:
            raise EngineError(str(exc)) from exc

    def _locked(self, progress: Any) -> AbstractContextManager[None]:
        return file_lock.held(os.path.join(self._base, "lock"),
                              lambda: progress.event("Another build is under way: waiting for it"))

    def _module_dir(self, module: str, environ: Mapping[str, str]) -> str:
        self._go(["mod", "download", "-modcacherw", module], environ, module)
        return self._go(["list", "-mod=readonly", "-m", "-f", "{{.Dir}}", module], environ, module).strip()


def _partial(name: str) -> str:
    """Return the name under which a program is linked; what a killed build left has it too."""
    return f".{name}.partial"
