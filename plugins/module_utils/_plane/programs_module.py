# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Running the module plane_programs."""
from __future__ import annotations

from .._common.files import user_folders
from .._common.module import Module
from .._common.problems.errors import os_errors_reported
from .parts import manifests
from .process import engine, rendered_manifests


def run_plane_programs() -> None:
    """Run the module ``plane_programs``."""
    module = Module({
        "source_dir": {"type": "path", "required": True},
        "cache_dir": {"type": "path"},
        "sets": {"type": "list", "elements": "str", "choices": list(engine.SETS),
                 "default": ["management"]},
        "manifests_dir": {"type": "path"},
    })
    module.require(PyYAML=manifests.HAS_YAML)
    sets = module.params["sets"]
    with module.reporting(), os_errors_reported("programs"):
        made = engine.Engine(module.params["source_dir"], module.params["cache_dir"] or user_folders.cache_dir())
        given = bool(module.params["manifests_dir"]) and not rendered_manifests.complete(made)
        if given and not module.check_mode:
            # Before the build, which would render what is missing.
            rendered_manifests.place(module.params["manifests_dir"], made)
        changed = given or not made.complete(sets)
        built = [program.name for program in made.missing(sets)] if module.check_mode else made.build(
            sets, module.progress)
        module.finish({"changed": changed, "built": built, "engine_dir": made.directory,
                       "go_version": made.go_version, "versions": made.versions(sets)})
