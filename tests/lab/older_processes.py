# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The engine of a plane of processes of the release before, with Kubernetes of the minor before.

Of the other parts the module proxy serves no older minor that works with the CAPM3 that it has.
"""
from __future__ import annotations

import os
import shutil
from pathlib import Path

import older_plane
import other_kubernetes

from ansible_collections.metal3.baremetal.plugins.module_utils._common.files import user_folders
from ansible_collections.metal3.baremetal.plugins.module_utils._common.waiting.progress import Progress
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.process import engine, go_mod

KUBERNETES_SOURCE = other_kubernetes.DATA / f"kubernetes-{other_kubernetes.BEFORE}"
KUBERNETES = go_mod.GoMod((KUBERNETES_SOURCE / "go.mod").read_text()).version(go_mod.KUBERNETES)


def write_source(folder, engine_dir):
    """Write pins whose programs and manifests are in the cache; return their folder as text.

    Kubernetes is built from pins of its own: the libraries of the other parts are newer than it.

    :param folder: Path of an empty folder
    :param engine_dir: the lab's programs; those of the same version are taken from there
    """
    (folder / "parts").mkdir()
    parts = older_plane.build(older_plane.write_source(folder / "parts"), engine_dir)
    kubernetes = engine.Engine(str(KUBERNETES_SOURCE), user_folders.cache_dir())
    kubernetes.build(["control-plane"], Progress())
    both = folder / "both"
    shutil.copytree(folder / "parts", both)
    text = (both / "go.mod").read_text()
    (both / "go.mod").write_text(text.replace(
        f"\t{go_mod.KUBERNETES} {parts.pins.version(go_mod.KUBERNETES)} ", f"\t{go_mod.KUBERNETES} {KUBERNETES} "))
    made = engine.Engine(str(both), user_folders.cache_dir())
    assert made.pins.version(go_mod.KUBERNETES) == KUBERNETES
    os.makedirs(made.bin_dir, exist_ok=True)
    for program in made.missing([engine.MANIFEST_SET]):
        origin = kubernetes if program.module == go_mod.KUBERNETES else parts
        os.link(Path(origin.bin_dir) / program.name, Path(made.bin_dir) / program.name)
    for name in ("manifests_dir", "ironic_dir"):
        shutil.copytree(getattr(parts, name), getattr(made, name), dirs_exist_ok=True)
    assert made.complete([engine.MANIFEST_SET])
    return str(both)
