# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A plane of the release before: its programs and manifests, and their images in the lab's registry.

The versions are the newest before the pinned ones that the module proxy serves; of CAPM3 it serves none.
"""
from __future__ import annotations

import os
from pathlib import Path

from support import REPOSITORY

from ansible_collections.metal3.baremetal.plugins.module_utils._common.files import user_folders
from ansible_collections.metal3.baremetal.plugins.module_utils._common.waiting.progress import Progress
from ansible_collections.metal3.baremetal.plugins.module_utils._lab import registry
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.parts.catalogue import BMO, CLUSTER_API, IPAM
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.process import engine, go_mod

PINS = {BMO: "v0.13.1", BMO + "/apis": "v0.13.1", IPAM: "v1.13.1", CLUSTER_API: "v1.13.4"}
SOURCE = REPOSITORY / "lab" / "engine"
SUMS = Path(__file__).with_name("data") / "older.sum"


def write_source(folder):
    """Write the lab's pins with older versions of the plane's parts; return the folder as text."""
    text = (SOURCE / "go.mod").read_text()
    current = go_mod.GoMod(text)
    for module, version in PINS.items():
        text = text.replace(f"\t{module} {current.version(module)} ", f"\t{module} {version} ")
    (folder / "go.mod").write_text(text)
    (folder / "go.sum").write_text((SOURCE / "go.sum").read_text() + SUMS.read_text())
    (folder / "toolchain.txt").write_text((SOURCE / "toolchain.txt").read_text())
    found = go_mod.GoMod(text)
    assert [found.version(module) for module in PINS] == list(PINS.values())
    return str(folder)


def build(source_dir, engine_dir):
    """Build what is not there yet of the older programs and manifests.

    :param source_dir: see :func:`write_source`
    :param engine_dir: the lab's programs; those of the same version are taken from there
    :returns: the Engine
    """
    older = engine.Engine(source_dir, user_folders.cache_dir())
    current = go_mod.GoMod((SOURCE / "go.mod").read_text())
    os.makedirs(older.bin_dir, exist_ok=True)
    for program in older.missing([engine.MANIFEST_SET]):
        if current.version(program.module) == older.pins.version(program.module):
            os.link(os.path.join(engine_dir, "bin", program.name), os.path.join(older.bin_dir, program.name))
    older.build([engine.MANIFEST_SET], Progress())
    return older


def variables(source_dir):
    """Return the variables with which ``install`` installs the older plane.

    :param source_dir: see :func:`write_source`
    """
    return dict((name + "_source_dir", source_dir) for name in ("install", "capi", "ipam", "bmo", "capm3", "ironic"))


def push(lab, older):
    """Put the images of older programs into the lab's registry, under upstream's names."""
    made = registry.ControllerImages(older.directory, older.versions([engine.MANIFEST_SET]), user_folders.cache_dir())
    made.build(Progress())
    secrets = lab.dir / "secrets"
    registry.push(registry.Registry(
        lab.figures["urls"]["registry"], str(lab.dir / "pki" / "ca.crt"), str(secrets / "registry_username"),
        str(secrets / "registry_password")), made.layouts())
