# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The module ``plane_certificate``: keeps an authority, certificates and keys."""
from __future__ import annotations

from ansible.module_utils.basic import AnsibleModule, missing_required_lib

from . import certificates

KUBECONFIG = {
    "type": "dict",
    "options": {
        "path": {"type": "path", "required": True},
        "server": {"type": "str", "required": True},
        "namespace": {"type": "str", "default": "default"},
    },
}
CERTIFICATE = {
    "name": {"type": "str", "required": True},
    "common_name": {"type": "str", "required": True},
    "organizations": {"type": "list", "elements": "str", "default": []},
    "sans": {"type": "list", "elements": "str", "default": []},
    "usages": {"type": "list", "elements": "str", "choices": ["server", "client"], "default": ["server"]},
    "kubeconfig": KUBECONFIG,
}


def run_plane_certificate() -> None:
    """Run the module ``plane_certificate``."""
    module = AnsibleModule(
        argument_spec={
            "directory": {"type": "path", "required": True},
            "authority": {"type": "str", "default": certificates.DEFAULT_NAME},
            "certificates": {"type": "list", "elements": "dict", "default": [], "options": CERTIFICATE},
            "key_pairs": {"type": "list", "elements": "str", "default": [], "no_log": False},
        },
        supports_check_mode=True,
    )
    if not certificates.HAS_CRYPTOGRAPHY:
        module.fail_json(msg=missing_required_lib("cryptography"))
    authority = certificates.Authority(module.params["directory"])
    try:
        made = certificates.ensure(
            authority, module.params["certificates"], module.params["key_pairs"], module.params["authority"],
            module.check_mode)
    except OSError as exc:
        module.fail_json(msg=f"{exc.filename}: {exc.strerror}")
    module.exit_json(changed=bool(made), made=made, ca_file=authority.certificate_file)
