# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Running the module plane_scale."""
from __future__ import annotations

from .._common.problems.errors import RefusedError
from .._common.problems.problem import Problem
from .._kube.api import cluster_identity
from .._kube.connection.connection import kube_argument_spec
from .._kube.module import KubeModule
from .cluster import scale_service


def run_plane_scale() -> None:
    """Run the module ``plane_scale``."""
    module = KubeModule(dict(
        {**kube_argument_spec(), **cluster_identity.argument_spec()},
        namespace={"type": "str", "required": True},
        name={"type": "str", "required": True},
        replicas={"type": "int", "required": True},
        started_for={"type": "str"},
        checked={"type": "dict", "options": {
            "uid": {"type": "str", "required": True}, "generation": {"type": "int", "required": True}}},
        confirm={"type": "str"},
        wait_timeout_seconds={"type": "int", "default": 300},
    ))
    with module.reporting():
        if module.params["replicas"] < 0:
            raise RefusedError([Problem("scale-replicas", "", "replicas", module.params["replicas"], "0 or more")])
        module.finish(scale_service.run(module.connect(), module.params, module.check_mode, module.progress))
