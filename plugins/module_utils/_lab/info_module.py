# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The module ``lab_info``: reports the state of a lab's parts."""
from __future__ import annotations

import traceback

from ansible.module_utils.basic import AnsibleModule

from .._common.terminal import columns
from .._plane.process import figures
from . import status
from .layout import lab_dir


def run_lab_info() -> None:
    """Run the module ``lab_info``."""
    module = AnsibleModule(argument_spec={"name": {"type": "str", "default": "lab"}}, supports_check_mode=True)
    programs, servers = [], []
    try:
        lab = figures.read(lab_dir(module.params["name"]))
        if lab:
            programs, servers = status.parts(lab)
    except (figures.FiguresError, OSError, ValueError) as exc:
        module.fail_json(msg=str(exc), exception=traceback.format_exc())
    module.exit_json(changed=False, programs=programs, servers=servers,
                     table=status.table(programs + servers, columns()))
