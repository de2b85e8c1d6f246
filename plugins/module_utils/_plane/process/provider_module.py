# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The module ``plane_provider``: runs providers' managers as processes."""
from __future__ import annotations

import json
import time
import traceback
from typing import Any

from ansible.module_utils.basic import missing_required_lib

from ..._common.progress import Progress
from ..._kube.connection import kube_argument_spec
from ..._kube.errors import KubeError
from ..._kube.module import KubeModule
from ..._kube.plan import CREATE, UPDATE
from ..._kube.reconcile import Reconcile
from . import (
    certificates,
    controllers,
    figures,
    manifests,
    orphans,
    process_group,
    provider,
    supervisor,
)

PROVIDER = {
    "name": {"type": "str", "required": True, "choices": ["capi", "cabpk", "kcp", "capm3", "ipam", "bmo"]},
    "arguments": {"type": "list", "elements": "str", "default": []},
    "environment": {"type": "dict", "default": {}},
    "restart_on": {"type": "list", "elements": "path", "default": []},
}


def _diff(entries: Any) -> Any:
    """Return Ansible's diff: new objects by name, since definitions are long; of others the fields at stake."""
    diff = []
    for entry in entries:
        header = entry.title
        if entry.action == CREATE:
            diff.append({"before_header": header, "after_header": header, "before": "", "after": "(new object)\n"})
        elif entry.action == UPDATE:
            before, after = (json.dumps(part, indent=1, sort_keys=True) + "\n" for part in (entry.before, entry.after))
            diff.append({"before_header": header, "after_header": header, "before": before, "after": after})
    return diff


def run(module: Any) -> Any:
    """Issue, apply, start, and return the module's result."""
    params = module.params
    lab, wanted = params["management_plane"], params["providers"]
    shipped = dict((item["name"], provider.load(lab, item["name"])) for item in wanted)
    accounts = dict((name, manifests.service_account(objects)) for name, objects in shipped.items())
    made = controllers.issue(lab, list(shipped), module.check_mode)
    client = module.connect()
    reconcile = Reconcile(client, module.check_mode, Progress(), time.sleep)
    entries = reconcile.plan(params["objects"] + provider.desired(lab, shipped))
    if not module.check_mode:
        provider.write(reconcile, entries, params["timeout_seconds"])
    made += provider.identify(client, lab, accounts, module.check_mode)
    programs = [
        controllers.program(lab, item["name"], accounts[item["name"]][0], item["arguments"], item["environment"],
                            item["restart_on"])
        for item in wanted]
    daemon = supervisor.Supervisor(supervisor.Layout(controllers.supervisor_dir(lab)))
    actions = process_group.start(daemon, programs, module.check_mode)
    if params["wait"] and not module.check_mode:
        process_group.wait(daemon, list(shipped))
    created = [entry.title for entry in entries if entry.action == CREATE]
    updated = [entry.title for entry in entries if entry.action == UPDATE]
    result = {
        "changed": bool(made or created or updated or process_group.changed(actions)),
        "certificates": made,
        "created": created,
        "updated": updated,
        "unchanged": len(entries) - len(created) - len(updated),
        "programs": actions,
    }
    if module._diff:
        result["diff"] = _diff(entries)
    return result


def run_plane_provider() -> None:
    """Run the module ``plane_provider``."""
    module = KubeModule(
        argument_spec=dict(
            kube_argument_spec(),
            management_plane={"type": "dict", "required": True},
            providers={"type": "list", "elements": "dict", "required": True, "options": PROVIDER},
            objects={"type": "list", "elements": "dict", "default": []},
            wait={"type": "bool", "default": True},
            timeout_seconds={"type": "int", "default": 60},
        ),
        supports_check_mode=True,
    )
    module.require_kubernetes()
    for available, library in ((manifests.HAS_YAML, "PyYAML"),
                               (certificates.HAS_CRYPTOGRAPHY, "cryptography")):
        if not available:
            module.fail_json(msg=missing_required_lib(library))
    try:
        result = run(module)
    except (KubeError, provider.ProviderError, manifests.ManifestError, supervisor.SupervisorError,
            orphans.CleanupError, figures.FiguresError) as exc:
        module.fail_json(msg=str(exc), exception=traceback.format_exc())
    module.exit_json(**result)
