# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Running the module manifest_conversion."""
from __future__ import annotations

from ..._common.module import Module
from .documents import HAS_YAML
from .service import run


def run_manifest_conversion() -> None:
    """Run the module ``manifest_conversion``."""
    module = Module({"src": {"type": "path", "required": True}, "dest": {"type": "path"}})
    module.require(PyYAML=HAS_YAML)
    with module.reporting():
        result = run(module.params["src"], module.params["dest"], module.check_mode)
    module.finish(result)
