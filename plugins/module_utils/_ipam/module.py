# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Running the modules ip_pool, ip_claim and ip_address_info."""
from __future__ import annotations

import traceback

from .._common import option_checks
from .._common.errors import RefusedError
from .._common.judged_module import JudgedModule
from .._common.progress import Progress
from .._kube.connection import kube_argument_spec
from .._kube.errors import KubeError
from .._kube.module import KubeModule
from .options import pool_options
from .service import ClaimService, PoolService, read_usage


class AddressModule(JudgedModule, KubeModule):
    """A module with a list of pools or claims, all mistakes in whose types are reported at once.

    :param kind: Kubernetes kind that messages name
    :param option: name of the list option
    """

    def __init__(self, kind, option, argument_spec):
        self._kind, self._option, self._entry = kind, option, argument_spec[option]["options"]
        super().__init__(argument_spec=argument_spec, supports_check_mode=True)

    def judge(self, given, msg, result):
        """Return all mistakes in the types of the list."""
        problems = option_checks.check_list(
            self._kind, given.get("namespace") or "metal3", self._option, given.get(self._option), self._entry)
        if not problems:
            return msg, result
        refused = RefusedError(problems)
        return str(refused), dict(result, problems=refused.results())


def pool_argument_spec():
    """Return the argument spec of ``ip_pool``."""
    pool = dict(pool_options(), name={"type": "str", "required": True}, name_prefix={"type": "str"},
                cluster_name={"type": "str"}, labels={"type": "dict"}, annotations={"type": "dict"})
    return dict(kube_argument_spec(), namespace={"type": "str", "default": "metal3"},
                pools={"type": "list", "elements": "dict", "required": True, "options": pool},
                state={"type": "str", "choices": ["present", "absent"], "default": "present"})


def claim_argument_spec():
    """Return the argument spec of ``ip_claim``."""
    claim = {
        "name": {"type": "str", "required": True}, "pool": {"type": "str"}, "address": {"type": "str"},
        "kind": {"type": "str", "choices": ["IPClaim", "IPAddressClaim"], "default": "IPClaim"},
        "cluster_name": {"type": "str"}, "labels": {"type": "dict"}, "annotations": {"type": "dict"},
    }
    return dict(kube_argument_spec(), namespace={"type": "str", "default": "metal3"},
                claims={"type": "list", "elements": "dict", "required": True, "options": claim},
                force_claims={"type": "list", "elements": "str", "default": []},
                state={"type": "str", "choices": ["present", "absent"], "default": "present"},
                renew_refused={"type": "bool", "default": False},
                wait_timeout_seconds={"type": "int", "default": 60})


def run_ip_pool():
    """Run the module ``ip_pool``."""
    module = AddressModule("IPPool", "pools", pool_argument_spec())
    _run(module, "pools", lambda client: PoolService(
        client, module.params, module.check_mode, Progress()).run())


def run_ip_claim():
    """Run the module ``ip_claim``."""
    module = AddressModule("IPClaim", "claims", claim_argument_spec())
    for claim in module.params["claims"]:
        if module.params["state"] == "present" and not claim["pool"]:
            module.fail_json(msg=f"claims: {claim['name']}: pool: seen nothing, expected the name of an IPPool")
    _run(module, "claims", lambda client: ClaimService(client, module.params, module.check_mode, Progress()).run())


def run_ip_address_info():
    """Run the module ``ip_address_info``."""
    module = KubeModule(
        argument_spec=dict(kube_argument_spec(), namespace={"type": "str", "default": "metal3"},
                           pools={"type": "list", "elements": "str"}, cluster_name={"type": "str"}),
        supports_check_mode=True)
    params = module.params
    result = _call(module, lambda client: read_usage(
        client, params["namespace"], params["pools"], params["cluster_name"]))
    if not result["pools"]:
        module.warn_without(params["namespace"])
    module.exit_json(changed=False, **result)


def _run(module, items, work):
    result = _call(module, work)
    if not module._diff:
        del result["diff"]
    errors = [item["error"] for item in result[items] if item["error"]]
    if errors:
        module.fail_json(msg="%d of %d %s failed:\n%s" % (
            len(errors), len(result[items]), items, "\n".join("- " + text for text in errors)), **result)
    module.exit_json(**result)


def _call(module, work):
    try:
        return work(module.connect())
    except RefusedError as exc:
        module.fail_json(msg=str(exc), problems=exc.results())
    except KubeError as exc:
        module.fail_json(msg=exc.message, exception=traceback.format_exc())
