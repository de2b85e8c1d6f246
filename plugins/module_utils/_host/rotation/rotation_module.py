# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Running the module host_bmc_credentials."""
from __future__ import annotations

from typing import Any

from ..._bmc.addresses.names import names_for
from ..._bmc.module import connection_argument_spec, settings
from ..._bmc.passwords.account_service import failure
from ..._common.options import confirmation, option_checks
from ..._common.options.field_checks import shown
from ..._common.problems.errors import RefusedError
from ..._common.problems.problem import FIELD_NAMES, Problem
from ..._kube.connection.connection import kube_argument_spec
from ..._kube.module import KubeModule
from .password_file import LONGEST, SHORTEST
from .rotation_service import RotationService


def host_bmc_credentials_argument_spec() -> dict[str, dict[str, Any]]:
    """Return the argument spec of ``host_bmc_credentials``."""
    bmc = {
        "address": {"type": "str", "required": True},
        "username": {"type": "str"},
        "password": {"type": "str", "no_log": True},
        "new_password": {"type": "str", "no_log": True},
        "credentials_name": {"type": "str"},
        "disable_certificate_verification": {"type": "bool"},
    }
    # The BMCs' authorities have a name of their own: ca_cert is the API server's.
    asked = dict(connection_argument_spec())
    asked["bmc_ca_cert"] = asked.pop("ca_cert")
    return dict(
        kube_argument_spec(),
        **asked,
        namespace={"type": "str", "default": "metal3"},
        hosts={"type": "list", "elements": "dict", "required": True, "options": {
            "name": {"type": "str", "required": True},
            "bmc": {"type": "dict", "required": True, "options": bmc},
            "ca_cert": {"type": "path"},
        }},
        password_file={"type": "path", "no_log": False},
        password_length={"type": "int", "default": 20, "no_log": False},
        batch_size={"type": "int", "default": 10},
        take_over={"type": "str"},
        confirm={"type": "str"},
        confirm_among={"type": "list", "elements": "str", "default": []},
        field_names=FIELD_NAMES,
        wait={"type": "bool", "default": True},
        wait_timeout_seconds={"type": "int", "default": 600},
        error_limit={"type": "int", "default": 3},
    )


def run_host_bmc_credentials() -> None:
    """Run the module ``host_bmc_credentials``."""
    spec = host_bmc_credentials_argument_spec()

    def check(given: dict[str, Any]) -> None:
        problems = option_checks.check_list(None, None, "hosts", given.get("hosts"), spec["hosts"]["options"])
        if problems:
            raise RefusedError(problems, names_for(given))

    module = KubeModule(spec, check=check)
    params = module.params
    with module.reporting():
        _refuse_numbers(params)
        asked = settings(module, "bmc_ca_cert")
        result = RotationService(
            module.connect(), asked, params, module.check_mode, module.progress, _names(params)).run()
    module.finish(result, failure(result["hosts"]))


def _names(params: dict[str, Any]) -> dict[str, str] | None:
    """Return ``{option: name}`` for messages, None for the options' own names."""
    names = names_for(params)
    return None if names is None else dict(
        names, confirm=confirmation.VARIABLE, password_file="bmc_credentials_password_file", hosts="--limit",
        take_over="bmc_credentials_take_over")


def _refuse_numbers(params: dict[str, Any]) -> None:
    problems = [Problem("value", "", option, shown(params[option]), f"{least} or more", "correct it")
                for option, least in (("batch_size", 1), ("wait_timeout_seconds", 1), ("error_limit", 1))
                if params[option] < least]
    if not SHORTEST <= params["password_length"] <= LONGEST:
        problems.append(Problem("value", "", "password_length", shown(params["password_length"]),
                                f"{SHORTEST} to {LONGEST}", "correct it"))
    if problems:
        raise RefusedError(problems)
