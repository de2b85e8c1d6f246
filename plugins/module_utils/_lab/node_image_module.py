# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The module ``lab_node_image``: builds the disk image of nodes."""
from __future__ import annotations

import traceback

from ansible.module_utils.basic import AnsibleModule

from .._common.progress import Progress
from .._plane.process import engine, toolchain
from . import addons, node_image


def run_lab_node_image() -> None:
    """Run the module ``lab_node_image``."""
    module = AnsibleModule(
        argument_spec={
            "source_dir": {"type": "path", "required": True},
            "addons_source_dir": {"type": "path", "required": True},
            "engine_dir": {"type": "path", "required": True},
            "cache_dir": {"type": "path", "required": True},
        },
        supports_check_mode=True,
    )
    try:
        programs = addons.Addons(module.params["addons_source_dir"], module.params["cache_dir"])
        image = node_image.NodeImage(
            module.params["source_dir"], module.params["cache_dir"], module.params["engine_dir"], programs)
        changed = not image.complete()
        if changed and not module.check_mode:
            image.build(Progress())
    except (addons.AddonsError, engine.EngineError, node_image.NodeImageError, toolchain.ToolchainError) as exc:
        module.fail_json(msg=str(exc), exception=traceback.format_exc())
    result = image.info() if image.complete() else {}
    module.exit_json(changed=changed, image_dir=image.directory, **result)
