# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Running the module plane_check."""
from __future__ import annotations

from .._kube.api import cluster_identity
from .._kube.connection.connection import kube_argument_spec
from .._kube.module import KubeModule
from .parts import catalogue, fit_service


def run_plane_check() -> None:
    """Run the module ``plane_check``."""
    module = KubeModule(dict(
        {**kube_argument_spec(), **cluster_identity.argument_spec()},
        parts={"type": "list", "elements": "str", "choices": list(catalogue.NAMES),
               "default": [part.name for part in catalogue.RENDERED]},
        show_table={"type": "bool", "default": False},
    ))
    with module.reporting():
        module.finish(fit_service.run(module.connect(names_cluster=True), module.params["parts"]))
