# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Running the module plane_certificate."""
from __future__ import annotations

from .._common.module import Module
from .._common.problems.errors import os_errors_reported
from .process import certificates

_CERTIFICATE = {
    "name": {"type": "str", "required": True},
    "common_name": {"type": "str", "required": True},
    "organizations": {"type": "list", "elements": "str", "default": []},
    "sans": {"type": "list", "elements": "str", "default": []},
    "usages": {"type": "list", "elements": "str", "choices": ["server", "client"], "default": ["server"]},
    "kubeconfig": {"type": "dict", "options": {
        "path": {"type": "path", "required": True},
        "server": {"type": "str", "required": True},
        "namespace": {"type": "str", "default": "default"},
    }},
}


def run_plane_certificate() -> None:
    """Run the module ``plane_certificate``."""
    module = Module({
        "directory": {"type": "path", "required": True},
        "authority": {"type": "str", "default": certificates.DEFAULT_NAME},
        "authority_given": {"type": "bool", "default": False},
        "certificates": {"type": "list", "elements": "dict", "default": [], "options": _CERTIFICATE},
        "key_pairs": {"type": "list", "elements": "str", "default": [], "no_log": False},
    })
    module.require(cryptography=certificates.HAS_CRYPTOGRAPHY)
    params = module.params
    authority = certificates.Authority(params["directory"])
    with module.reporting(), os_errors_reported("certificates"):
        made = certificates.ensure(
            authority, params["certificates"], params["key_pairs"], params["authority"], module.check_mode,
            module.progress.wrote, params["authority_given"])
    ending = authority.ending(params["authority"], params["authority_given"])
    module.finish({"changed": bool(made), "made": made, "ca_file": authority.certificate_file,
                   "warnings": [ending] if ending else []})
