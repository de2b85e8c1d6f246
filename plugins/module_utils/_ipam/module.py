# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Running the modules ip_pool, ip_claim and ip_address_info."""
from __future__ import annotations

from typing import Any

from .._common.options import option_checks
from .._common.options.field_checks import show
from .._common.problems.errors import RefusedError
from .._common.problems.problem import Problem
from .._kube.connection.connection import kube_argument_spec
from .._kube.module import KubeModule
from .claim_service import ClaimService
from .options import STATE, pool_options
from .pool_service import PoolService
from .reading import read_usage


def _module(kind: str, option: str, spec: dict[str, Any]) -> KubeModule:
    """Return a module with a list of pools or claims.

    :param kind: Kubernetes kind that messages name
    :param option: name of the list option
    :param spec: argument spec
    """
    def check(given: dict[str, Any]) -> None:
        problems = option_checks.check_list(
            kind, given.get("namespace") or "metal3", option, given.get(option), spec[option]["options"])
        if "state" in given:
            problems.append(Problem("unknown-variable", option, "state", show(given["state"]), "a state for each entry",
                                    f"set {option}[].state instead"))
        if problems:
            raise RefusedError(problems)

    return KubeModule(spec, check=check)


def pool_argument_spec() -> dict[str, dict[str, Any]]:
    """Return the argument spec of ``ip_pool``."""
    pool = dict(pool_options(), name={"type": "str", "required": True}, name_prefix={"type": "str"},
                cluster_name={"type": "str"}, labels={"type": "dict"}, annotations={"type": "dict"}, state=dict(STATE))
    return dict(kube_argument_spec(), namespace={"type": "str", "default": "metal3"},
                pools={"type": "list", "elements": "dict", "required": True, "options": pool})


def claim_argument_spec() -> dict[str, dict[str, Any]]:
    """Return the argument spec of ``ip_claim``."""
    claim = {
        "name": {"type": "str", "required": True}, "pool": {"type": "str"}, "address": {"type": "str"},
        "kind": {"type": "str", "choices": ["IPClaim", "IPAddressClaim"], "default": "IPClaim"},
        "cluster_name": {"type": "str"}, "labels": {"type": "dict"}, "annotations": {"type": "dict"},
        "state": dict(STATE),
    }
    return dict(kube_argument_spec(), namespace={"type": "str", "default": "metal3"},
                claims={"type": "list", "elements": "dict", "required": True, "options": claim},
                force_claims={"type": "list", "elements": "str", "default": []},
                renew_refused={"type": "bool", "default": False},
                wait_timeout_seconds={"type": "int", "default": 60})


def run_ip_pool() -> None:
    """Run the module ``ip_pool``."""
    module = _module("IPPool", "pools", pool_argument_spec())
    with module.reporting():
        result = PoolService(module.connect(), module.params, module.check_mode, module.progress).run()
    _finish(module, result, "pools")


def run_ip_claim() -> None:
    """Run the module ``ip_claim``."""
    module = _module("IPClaim", "claims", claim_argument_spec())
    with module.reporting():
        _require_pools(module.params)
        result = ClaimService(module.connect(), module.params, module.check_mode, module.progress).run()
    _finish(module, result, "claims")


def _require_pools(params: dict[str, Any]) -> None:
    lacking = [claim["name"] for claim in params["claims"] if claim["state"] == "present" and not claim["pool"]]
    if lacking:
        raise RefusedError(Problem("pool-required", f"claims: {name}", "pool", None, "the name of an IPPool", "set it")
                           for name in lacking)


def run_ip_address_info() -> None:
    """Run the module ``ip_address_info``."""
    module = KubeModule(dict(
        kube_argument_spec(), namespace={"type": "str", "default": "metal3"},
        pools={"type": "list", "elements": "str"}, cluster_name={"type": "str"}))
    params = module.params
    with module.reporting():
        result = read_usage(module.connect(), params["namespace"], params["pools"], params["cluster_name"])
    if not result["pools"]:
        module.warn_without(params["namespace"])
    module.finish(dict(result, changed=False))


def _finish(module: KubeModule, result: dict[str, Any], items: str) -> None:
    errors = [item["error"] for item in result[items] if item["error"]]
    module.finish(result, "\n".join([f"{len(errors)} of {len(result[items])} {items} failed:"] + [
        f"- {text}" for text in errors]) if errors else "")
