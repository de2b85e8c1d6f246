# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Builds the programs that run as pods in a lab's cluster and that Kubernetes' own module lacks."""
from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import time
from collections import namedtuple
from typing import Any

from .._common import timed_run
from .._common.files import cache_entry
from .._common.problems.errors import ReportedError
from .._common.texts.formats import duration
from .._plane.process import engine, go_mod, toolchain

# Raise it when the programs are built in another way than before: it is part of the cache's key.
RECIPE = "1"
FLANNEL = "github.com/flannel-io/flannel"
KUBE_VIP = "github.com/kube-vip/kube-vip"

# cgo: flannel's udp backend is C, and the build includes all backends.
Program = namedtuple("Program", ["name", "package", "cgo", "flags", "linker_flags"])


def programs(pins: Any) -> Any:
    """Return what to build.

    :param pins: the GoMod of ``lab/engine/addons``
    """
    return (
        Program("coredns", "./coredns", False, (), ""),
        Program("flanneld", FLANNEL, True, ("-tags", "netgo,osusergo"),
                f"-extldflags -static -X {FLANNEL}/pkg/version.Version={pins.version(FLANNEL)}"),
        Program("kube-vip", KUBE_VIP, False, (), f"-X main.Version={pins.version(KUBE_VIP)}"),
        Program("agnhost", go_mod.KUBERNETES + "/test/images/agnhost", False, (), ""),
    )


class AddonsError(ReportedError):
    """An add-on could not be built; the message names it and what to do."""


class Addons(cache_entry.CacheEntry):
    """The programs and where they are kept.

    :param source_dir: folder with ``go.mod``, ``go.sum`` and ``coredns/main.go``
    :param cache_dir: folder for what is slow to make, see user_folders.cache_dir()
    """

    def __init__(self, source_dir: Any, cache_dir: Any) -> None:
        self._source_dir = source_dir
        digest = hashlib.sha256(RECIPE.encode())
        texts = {}
        for name in ("go.mod", "go.sum", "coredns/main.go"):
            try:
                with open(os.path.join(source_dir, name), encoding="utf-8") as stream:
                    texts[name] = stream.read()
            except OSError as exc:
                raise AddonsError(f"{os.path.join(source_dir, name)}: {exc.strerror}") from exc
            digest.update(texts[name].encode() + b"\0")
        self.pins = go_mod.GoMod(texts["go.mod"])
        self._toolchain = toolchain.choose(
            self.pins.go, cache_dir, os.path.join(os.path.dirname(os.path.abspath(source_dir)), toolchain.LOCK_FILE))
        digest.update(self._toolchain.version.encode())
        self.directory = os.path.join(cache_dir, "addons", digest.hexdigest()[:16])
        self._work_dir = os.path.join(cache_dir, "addons", "work")

    def path(self, name: Any) -> Any:
        """Return where a program is."""
        return os.path.join(self.directory, name)

    def build(self, progress: Any) -> None:
        """Build the programs unless they are there.

        :param progress: a Progress
        :raises AddonsError: when one does not build
        """
        with cache_entry.making(self.directory, progress) as partial:
            if partial is None:
                return
            toolchain.ensure(self._toolchain, self.pins.go, progress)
            for program in programs(self.pins):
                progress.event(f"Building {program.name}")
                started = time.monotonic()
                self._build(program, os.path.join(partial, program.name))
                progress.event(f"Built {program.name} in {duration(time.monotonic() - started)}")
            shutil.rmtree(self._work_dir, ignore_errors=True)

    def _build(self, program: Any, path: Any) -> None:
        if program.cgo and not shutil.which("gcc"):
            raise AddonsError(f"{program.name}: a part of it is written in C: install gcc and libc6-dev")
        environ = dict(os.environ)
        work = self._work_dir
        environ.update(
            CGO_ENABLED="1" if program.cgo else "0", GOFLAGS="", GOTOOLCHAIN="local", GOWORK="off",
            GOCACHE=environ.get(engine.GOCACHE_VARIABLE) or os.path.join(work, "gocache"),
            GOMODCACHE=environ.get(engine.GOMODCACHE_VARIABLE) or os.path.join(work, "gomodcache"))
        try:
            result = timed_run.run(
                [self._toolchain.program, "build"] + list(engine.BUILD_FLAGS) + list(program.flags)
                + ["-ldflags", ("-s -w " + program.linker_flags).strip(), "-o", path, program.package],
                timed_run.DOWNLOAD_LIMIT_SECONDS, cwd=self._source_dir, env=environ, stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE)
        except timed_run.LateError as exc:
            raise AddonsError(f"{program.name}: go build {exc}; {timed_run.MODULE_PROXY}. Go keeps what it has "
                              "built so far: run again") from exc
        if result.returncode:
            lines = [line for line in result.stderr.splitlines() if not line.startswith("go: downloading ")]
            raise AddonsError("%s: go build failed (exit code %d): %s" % (
                program.name, result.returncode, re.sub(r"https?://\S+", "(address)", " ".join(lines[-15:]))))
