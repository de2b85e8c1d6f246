# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Running the module plane_certificates_info."""
from __future__ import annotations

from .._common.texts.terminal import columns
from .._kube.connection.connection import kube_argument_spec
from .._kube.module import KubeModule
from . import expiry, expiry_service


def run_plane_certificates_info() -> None:
    """Run the module ``plane_certificates_info``."""
    module = KubeModule(dict(
        kube_argument_spec(),
        pki_dir={"type": "path"},
        namespaces={"type": "list", "elements": "str", "default": ["metal3"]},
        warn_days={"type": "int", "default": 30},
        show_table={"type": "bool", "default": False},
    ))
    module.require(cryptography=expiry.HAS_CRYPTOGRAPHY)
    with module.reporting():
        result = expiry_service.report(module.params, module.connect(), columns())
        for namespace in module.params["namespaces"]:
            if not any(row["place"].startswith(f"Secret {namespace}/") for row in result["certificates"]):
                module.warn_without(namespace)
        module.finish(result)
