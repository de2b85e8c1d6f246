# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Starting the providers: certificates, objects, programs; all that is written is planned first."""
from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

from ..._common.problems.errors import RefusedError
from ..._common.waiting.progress import Progress
from ..._kube.api.client import KubeClient
from ..._kube.reconcile.plan import CREATE, UPDATE, Entry
from ..._kube.reconcile.reconcile import Reconcile
from ..._kube.reconcile.report import difference
from ..._metal3.kinds import resource_for
from ..parts import fit, fit_service, manifests
from ..parts.catalogue import BY_NAME
from . import (
    controllers,
    process_group,
    provider,
    provider_options,
    provider_upgrade,
    supervisor,
    supervisor_files,
    upgrade_plan,
)


def start(params: dict[str, Any], connect: Callable[[], KubeClient], check_mode: bool, progress: Progress
          ) -> dict[str, Any]:
    """Issue certificates, apply objects, start programs, and return the module's result.

    :param params: the parameters of the module ``plane_provider``
    :param connect: called without arguments; returns a KubeClient
    :param check_mode: whether nothing is changed
    :param progress: a Progress
    :raises RefusedError: for options that cannot be used, and for an upgrade that something stands against
    :raises ReportedError: without the confirmation of an upgrade, and when a part fails
    """
    lab, wanted = params["management_plane"], params["providers"]
    problems = provider_options.problems(lab, [item["name"] for item in wanted], params["objects"])
    if problems:
        raise RefusedError(problems)
    shipped, warnings = _shipped(lab, wanted, check_mode)
    accounts = dict((name, manifests.service_account(objects)) for name, objects in shipped.items() if objects)
    versions = dict((name, _version(lab, name, objects)) for name, objects in shipped.items())
    client = connect()
    there, unread = fit_service.read(client)
    fits = upgrade_plan.gated(
        client, there, dict((name, fit.Planned(versions[name], objects)) for name, objects in shipped.items()),
        warnings + unread, params["confirm"], params["confirm_among"], check_mode)
    made = controllers.issue(lab, list(shipped), check_mode, progress.wrote)
    reconcile = Reconcile(client, check_mode, progress, time.sleep, resource_for)
    entries = reconcile.plan(params["objects"] + provider.desired(lab, shipped, versions))
    daemon = supervisor.Supervisor(supervisor_files.Layout(controllers.supervisor_dir(lab)))
    upgrade = provider_upgrade.ProviderUpgrade(client, reconcile, daemon, fits["upgrades"], entries, progress)
    # From here on what there was before can be put back.
    with upgrade.rolled_back_on_failure():
        if not check_mode:
            provider.write(reconcile, entries, params["timeout_seconds"])
        identities = provider.identify(client, lab, accounts, check_mode)
        programs = [
            controllers.program(lab, item["name"], _namespace(accounts, item["name"]), item["arguments"],
                                item["environment"], item["restart_on"])
            for item in wanted]
        pending = [item["name"] for item in identities] if check_mode else []
        reasons = process_group.differences(daemon.layout, programs, pending)
        actions = process_group.start(daemon, programs, check_mode, pending)
        if not check_mode:
            process_group.note(actions, progress.wrote)
        if (params["wait"] or fits["upgrades"]) and not check_mode:
            process_group.wait(daemon, list(shipped))
    made += identities
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
        "diff": _diff(entries) + process_group.diff(actions, reasons),
    }


def _shipped(lab: dict[str, Any], wanted: list[dict[str, Any]], check_mode: bool
             ) -> tuple[dict[str, list[dict[str, Any]]], list[str]]:
    """Return provider's name → its objects, and warnings of those that a run without check mode would render."""
    lacking = [item["name"] for item in wanted
               if check_mode and not os.path.exists(controllers.manifest(lab, item["name"]))]
    shipped = dict((item["name"], [] if item["name"] in lacking else provider.load(lab, item["name"]))
                   for item in wanted)
    return shipped, [f"part {name}: its objects are not compared, since its manifests are not rendered yet"
                     for name in lacking]


def _version(lab: dict[str, Any], name: str, objects: list[dict[str, Any]]) -> str | None:
    """Return what is to be installed; the Bare Metal Operator's manifests do not say which version they are."""
    pinned = (lab.get("versions") or {}).get(name)
    return next((item["version"] for item in objects if item["kind"] == "Provider"), pinned)


def _namespace(accounts: dict[str, tuple[str, str]], name: str) -> str:
    """Return the namespace that a manager would have in a pod."""
    return accounts[name][0] if name in accounts else BY_NAME[name].namespace


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
