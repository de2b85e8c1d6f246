# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""cert-manager's programs and manifests, of its Go module, and their images in the lab's registry.

It is 1.11.5, because newer ones have no programs that the lab can build.
"""
from __future__ import annotations

from support import REPOSITORY, module

from ansible_collections.metal3.baremetal.plugins.module_utils._common.files import user_folders
from ansible_collections.metal3.baremetal.plugins.module_utils._common.waiting.progress import Progress
from ansible_collections.metal3.baremetal.plugins.module_utils._lab import registry
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.process import engine

SOURCE = str(REPOSITORY / "lab" / "engine" / "cert_manager")
_SETS = ["cert-manager", "cert-manager-manifests"]


def built():
    """Build them, and return the engine that has built them."""
    module("plane_programs", source_dir=SOURCE, sets=_SETS)
    return engine.Engine(SOURCE, user_folders.cache_dir())


def push(lab):
    """Build them, put the images into the registry, and return the engine that has built them."""
    found = built()
    images = registry.ControllerImages(found.directory, found.versions(_SETS), user_folders.cache_dir())
    images.build(Progress())
    secrets = lab.dir / "secrets"
    registry.push(registry.Registry(
        lab.figures["urls"]["registry"], str(lab.dir / "pki" / "ca.crt"), str(secrets / "registry_username"),
        str(secrets / "registry_password")), images.layouts())
    return found
