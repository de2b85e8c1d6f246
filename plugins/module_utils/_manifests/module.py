# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Running the modules manifests and service_probe."""
from __future__ import annotations

import traceback

from ansible.module_utils.basic import missing_required_lib

from .._common.errors import RefusedError
from .._common.progress import Progress
from .._common.quiet_module import QuietModule
from .._kube.errors import KubeError
from .._kube.module import KubeModule
from .._kube.workload_client import client_for, workload_argument_spec
from .documents import HAS_YAML
from .rollout_wait import RolloutError
from .service import ManifestsService
from .service_probe import ProbeError, ServiceProbe


class ManifestsModule(QuietModule, KubeModule):
    """A module that writes objects, which may be Secrets, into a cluster."""


def manifests_argument_spec():
    """Return the argument spec of ``manifests``."""
    return dict(workload_argument_spec(), manifests={"type": "list", "elements": "raw", "required": True},
                namespace={"type": "str", "default": "default"}, wait={"type": "bool", "default": True},
                wait_timeout_seconds={"type": "int", "default": 300})


def probe_argument_spec():
    """Return the argument spec of ``service_probe``."""
    return dict(workload_argument_spec(), name={"type": "str", "required": True},
                namespace={"type": "str", "default": "default"}, port={"type": "str", "required": True},
                scheme={"type": "str", "choices": ["http", "https"], "default": "http"},
                path={"type": "str", "default": "/"}, answers={"type": "int", "default": 1},
                wait_timeout_seconds={"type": "int", "default": 120})


def run_manifests():
    """Run the module ``manifests``."""
    module = ManifestsModule(argument_spec=manifests_argument_spec(), supports_check_mode=True)
    params = module.params

    def work():
        client = client_for(module, required=not module.check_mode)
        service = ManifestsService(client, params["manifests"], params["namespace"], module.check_mode, Progress())
        return service.run(params["wait_timeout_seconds"] if params["wait"] else 0)

    result = _call(module, work)
    if not module._diff:
        del result["diff"]
    module.exit_json(**result)


def run_service_probe():
    """Run the module ``service_probe``."""
    module = KubeModule(argument_spec=probe_argument_spec(), supports_check_mode=True)
    params = module.params

    def work():
        client = client_for(module, required=not module.check_mode)
        if module.check_mode:
            return {"answers": [], "seconds": 0.0}
        return ServiceProbe(client, params, Progress()).run()

    module.exit_json(changed=False, **_call(module, work))


def _call(module, work):
    module.require_kubernetes()
    if not HAS_YAML:
        module.fail_json(msg=missing_required_lib("PyYAML"))
    try:
        return work()
    except RefusedError as exc:
        module.fail_json(msg=str(exc), problems=exc.results())
    except (RolloutError, ProbeError) as exc:
        module.fail_json(msg=str(exc))
    except KubeError as exc:
        module.fail_json(msg=exc.message, exception=traceback.format_exc())
