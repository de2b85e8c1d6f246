# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Starting the providers: certificates, objects, programs; all that is written is planned first."""
from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from ..._common.errors import RefusedError
from ..._common.progress import Progress
from ..._kube.client import KubeClient
from ..._kube.plan import CREATE, UPDATE, Entry
from ..._kube.reconcile import Reconcile
from ..._kube.report import difference
from ..._metal3.kinds import resource_for
from .. import fit, fit_service, manifests
from . import controllers, process_group, provider, provider_options, supervisor, supervisor_files


def start(params: dict[str, Any], connect: Callable[[], KubeClient], check_mode: bool, progress: Progress
          ) -> dict[str, Any]:
    """Issue certificates, apply objects, start programs, and return the module's result.

    :param params: the parameters of the module ``plane_provider``
    :param connect: called without arguments; returns a KubeClient
    :param check_mode: whether nothing is changed
    :param progress: a Progress
    :raises RefusedError: for options that cannot be used
    :raises ReportedError: when a part fails
    """
    lab, wanted = params["management_plane"], params["providers"]
    problems = provider_options.problems(lab, [item["name"] for item in wanted], params["objects"])
    if problems:
        raise RefusedError(problems)
    shipped = dict((item["name"], provider.load(lab, item["name"])) for item in wanted)
    accounts = dict((name, manifests.service_account(objects)) for name, objects in shipped.items())
    client = connect()
    there, warnings = fit_service.read(client)
    fits = fit_service.verified(there, dict((name, _planned(objects)) for name, objects in shipped.items()),
                                list(shipped), warnings)
    made = controllers.issue(lab, list(shipped), check_mode, progress.wrote)
    reconcile = Reconcile(client, check_mode, progress, time.sleep, resource_for)
    entries = reconcile.plan(params["objects"] + provider.desired(lab, shipped))
    if not check_mode:
        provider.write(reconcile, entries, params["timeout_seconds"])
    made += provider.identify(client, lab, accounts, check_mode)
    programs = [
        controllers.program(lab, item["name"], accounts[item["name"]][0], item["arguments"], item["environment"],
                            item["restart_on"])
        for item in wanted]
    daemon = supervisor.Supervisor(supervisor_files.Layout(controllers.supervisor_dir(lab)))
    actions = process_group.start(daemon, programs, check_mode)
    if not check_mode:
        process_group.note(actions, progress.wrote)
    if params["wait"] and not check_mode:
        process_group.wait(daemon, list(shipped))
    created = [entry.title for entry in entries if entry.action == CREATE]
    updated = [entry.title for entry in entries if entry.action == UPDATE]
    return {
        **fits,
        "changed": bool(made or created or updated or process_group.changed(actions)),
        "certificates": made,
        "created": created,
        "updated": updated,
        "unchanged": len(entries) - len(created) - len(updated),
        "programs": actions,
        "diff": _diff(entries),
    }


def _planned(objects: list[dict[str, Any]]) -> fit.Planned:
    """Return what is to be installed; the Bare Metal Operator's manifests do not say which version they are."""
    return fit.Planned(next((item["version"] for item in objects if item["kind"] == "Provider"), None), objects)


def _diff(entries: list[Entry]) -> list[dict[str, Any]]:
    """Return Ansible's diff: new objects by name, since definitions are long; of others the fields, secrets hidden."""
    diff = []
    for entry in entries:
        header = entry.title
        if entry.action == CREATE:
            diff.append({"before_header": header, "after_header": header, "before": "", "after": "(new object)\n"})
        elif entry.action == UPDATE:
            diff.append(difference(entry))
    return diff
