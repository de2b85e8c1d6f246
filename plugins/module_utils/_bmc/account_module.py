# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Running the module bmc_account."""
from __future__ import annotations

from typing import Any

from .._common.module import Module
from .._common.options import option_checks
from .._common.problems.errors import RefusedError
from .addresses.names import names_for
from .module import connection_argument_spec, settings
from .passwords.account_service import AccountRun, failure


def bmc_account_argument_spec() -> dict[str, dict[str, Any]]:
    """Return the argument spec of ``bmc_account``."""
    bmc = {
        "address": {"type": "str", "required": True},
        "username": {"type": "str", "required": True},
        "password": {"type": "str", "required": True, "no_log": True},
        "new_password": {"type": "str", "required": True, "no_log": True},
        "disable_certificate_verification": {"type": "bool"},
    }
    return dict(
        connection_argument_spec(),
        hosts={"type": "list", "elements": "dict", "required": True, "options": {
            "name": {"type": "str", "required": True},
            "bmc": {"type": "dict", "required": True, "options": bmc},
            "ca_cert": {"type": "path"},
        }},
        confirm={"type": "str"},
        confirm_among={"type": "list", "elements": "str", "default": []},
        field_names={"type": "str", "choices": ["options", "variables"], "default": "options"},
    )


def run_bmc_account() -> None:
    """Run the module ``bmc_account``."""
    spec = bmc_account_argument_spec()

    def check(given: dict[str, Any]) -> None:
        problems = option_checks.check_list(None, None, "hosts", given.get("hosts"), spec["hosts"]["options"])
        if problems:
            raise RefusedError(problems, names_for(given))

    module = Module(spec, check=check)
    with module.reporting():
        params = module.params
        run = AccountRun(settings(module), module.check_mode, module.progress, names_for(params), params["confirm"],
                         params["confirm_among"])
        result = run.run(module.params["hosts"])
    module.finish(result, failure(result["hosts"]))
