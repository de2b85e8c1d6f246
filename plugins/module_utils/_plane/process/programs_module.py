# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The module ``plane_programs``: builds the pinned upstream programs."""
from __future__ import annotations

import traceback

from ansible.module_utils.basic import AnsibleModule, missing_required_lib

from ..._common.progress import Progress
from . import (
    engine,
    manifests,
    toolchain,
    user_folders,
)


def run_plane_programs() -> None:
    """Run the module ``plane_programs``."""
    module = AnsibleModule(
        argument_spec={
            "source_dir": {"type": "path", "required": True},
            "cache_dir": {"type": "path"},
            "sets": {"type": "list", "elements": "str", "choices": ["management", "node"], "default": ["management"]},
        },
        supports_check_mode=True,
    )
    if not manifests.HAS_YAML:
        module.fail_json(msg=missing_required_lib("PyYAML"))
    sets = module.params["sets"]
    try:
        made = engine.Engine(module.params["source_dir"], module.params["cache_dir"] or user_folders.cache_dir())
        if module.check_mode:
            built, changed = [program.name for program in made.missing(sets)], not made.complete(sets)
        else:
            changed = not made.complete(sets)
            built = made.build(sets, Progress())
    except (engine.EngineError, toolchain.ToolchainError) as exc:
        module.fail_json(msg=str(exc), exception=traceback.format_exc())
    module.exit_json(changed=changed, built=built, engine_dir=made.directory, go_version=made.go_version,
                     versions=made.versions(sets))
