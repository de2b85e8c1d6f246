# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Running the module plane_logs."""
from __future__ import annotations

from .._common.redaction import redaction
from .._kube.connection.connection import kube_argument_spec
from .._kube.module import KubeModule
from . import service
from .collected import HAS_YAML


def run_plane_logs() -> None:
    """Run the module ``plane_logs``."""
    module = KubeModule(dict(
        kube_argument_spec(),
        dest={"type": "path", "required": True},
        namespaces={"type": "list", "elements": "str", "default": ["metal3"]},
        since_seconds={"type": "int", "default": 86400},
        limit_mebibytes={"type": "int", "default": 20},
        process_dir={"type": "path"},
        release={"type": "str"},
    ))
    module.require(PyYAML=HAS_YAML)
    with module.reporting():
        secrets = redaction.secret_texts(module.params, module.argument_spec, named_only=True)
        module.finish(service.collect(module.connect(), module.params, secrets, module.check_mode, module.progress))
