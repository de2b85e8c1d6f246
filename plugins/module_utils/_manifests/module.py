# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Running the modules manifests and service_probe."""
from __future__ import annotations

from typing import Any

from .._common.documents.document_text import HAS_YAML
from .._kube.api.workload_client import client_for, workload_argument_spec
from .._kube.connection.library import HAS_KUBERNETES
from .._kube.module import KubeModule
from .service import ManifestsService
from .service_probe import ServiceProbe


def manifests_argument_spec() -> dict[str, dict[str, Any]]:
    """Return the argument spec of ``manifests``."""
    return dict(workload_argument_spec(), manifests={"type": "list", "elements": "raw", "required": True},
                namespace={"type": "str", "default": "default"}, wait={"type": "bool", "default": True},
                wait_timeout_seconds={"type": "int", "default": 300})


def probe_argument_spec() -> dict[str, dict[str, Any]]:
    """Return the argument spec of ``service_probe``."""
    return dict(workload_argument_spec(), name={"type": "str", "required": True},
                namespace={"type": "str", "default": "default"}, port={"type": "str", "required": True},
                scheme={"type": "str", "choices": ["http", "https"], "default": "http"},
                path={"type": "str", "default": "/"}, answers={"type": "int", "default": 1},
                wait_timeout_seconds={"type": "int", "default": 120})


def run_manifests() -> None:
    """Run the module ``manifests``."""
    module = KubeModule(manifests_argument_spec())
    params = module.params
    with module.reporting():
        client = _client(module)
        service = ManifestsService(
            client, params["manifests"], params["namespace"], module.check_mode, module.progress)
        result = service.run(params["wait_timeout_seconds"] if params["wait"] else 0)
    module.finish(result)


def run_service_probe() -> None:
    """Run the module ``service_probe``."""
    module = KubeModule(probe_argument_spec())
    with module.reporting():
        client = _client(module)
        result = {"answers": [], "seconds": 0.0} if module.check_mode else ServiceProbe(
            client, module.params, module.progress).run()
    module.finish(dict(result, changed=False))


def _client(module: KubeModule) -> Any:
    module.require(kubernetes=HAS_KUBERNETES, PyYAML=HAS_YAML)
    return client_for(module, required=not module.check_mode)
