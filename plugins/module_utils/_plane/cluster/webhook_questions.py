# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Asks whether the webhooks of parts answer."""
from __future__ import annotations

from ..._common.waiting.wait_loop import until_nothing
from ..._kube.api.discovery import resolve
from ..._kube.responses.errors import KubeError
from ..._kube.responses.patience import Patience
from ..parts.catalogue import BY_NAME, Part
from .components import INTERVAL_SECONDS, ComponentsError, ComponentsRun


def ask(run: ComponentsRun, deadline: float, parts: list[Part]) -> float:
    """Create each part's probe by a dry run until its webhook answers; return the seconds that it took.

    :raises ComponentsError: naming each part whose webhook does not
    """
    began_at, patience = run.clock(), Patience(run.clock)
    waiting = dict((part.name, "not asked") for part in parts)
    resources = resolve(run.client, [part.probe for part in parts], run.writes.persist)

    def without_answer() -> dict[str, str]:
        for name in list(waiting):
            probe = BY_NAME[name].probe
            resource = resources[probe["apiVersion"], probe["kind"]]
            try:
                if resource is None:
                    raise KubeError(f"{probe['kind']} is not served", 404)
                run.client.create(resource, probe["metadata"]["namespace"], probe, dry_run=True)
                patience.answered()
                run.progress.event(f"{BY_NAME[name].title}: its webhook answers")
                del waiting[name]
            except KubeError as exc:
                if patience.is_final(exc):
                    raise
                waiting[name] = exc.cause
        return waiting

    if until_nothing(without_answer, deadline - began_at, INTERVAL_SECONDS, run.clock, run.sleep):
        lines = "\n".join(f"- {BY_NAME[name].title}: {text}" for name, text in waiting.items())
        raise ComponentsError(f"webhooks do not answer:\n{lines}\nLook at the pods of these parts and their logs, then "
                              "run install again.")
    return round(run.clock() - began_at, 1)
