# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The module ``lab_disk_image``: writes a small disk image for tests."""
from __future__ import annotations

from ansible.module_utils.basic import AnsibleModule

from . import disk_image


def run_lab_disk_image() -> None:
    """Run the module ``lab_disk_image``."""
    module = AnsibleModule(
        argument_spec={
            "path": {"type": "path", "required": True},
            "size_mib": {"type": "int", "default": 32},
            "files": {"type": "dict", "default": {}},
        },
        supports_check_mode=True)
    path = module.params["path"]
    if disk_image.is_complete(path):
        module.exit_json(changed=False, path=path, sha256=disk_image.digest(path))
    if module.check_mode:
        module.exit_json(changed=True, path=path)
    try:
        sha256 = disk_image.build(path, module.params["size_mib"], module.params["files"])
    except (disk_image.DiskImageError, OSError) as exc:
        module.fail_json(msg=f"{path}: {exc}")
    module.exit_json(changed=True, path=path, sha256=sha256)
