# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Brings providers whose new version does not come up back to the objects and programs of before."""
from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Sequence
from typing import Any

from ..._common.files.whole_file import write_private
from ..._common.problems.errors import ReportedError
from ..._common.waiting.progress import Progress
from ..._kube.api.client import KubeClient
from ..._kube.reconcile.plan import Entry
from ..._kube.reconcile.reconcile import Reconcile
from ..parts.catalogue import BY_NAME
from ..upgrade import service as upgrade_service
from . import process_group, readiness, supervisor_files
from .supervisor import Supervisor


class ProviderUpgrade:
    """One run over providers, of which some may become newer.

    :param client: a KubeClient
    :param reconcile: the run's writes
    :param daemon: a Supervisor
    :param upgrades: from ``upgrade.described``; without any a failure is left as it is
    :param entries: the plan of the run's objects
    :param progress: a Progress
    """

    def __init__(self, client: KubeClient, reconcile: Reconcile, daemon: Supervisor, upgrades: list[dict[str, Any]],
                 entries: Sequence[Entry], progress: Progress) -> None:
        self._client, self._reconcile, self._daemon = client, reconcile, daemon
        self._upgrades, self._entries, self._progress = upgrades, entries, progress
        files = [daemon.layout.program_file(item["part"]) for item in upgrades]
        self._former = dict((path, supervisor_files.read(path)) for path in files)

    @contextlib.contextmanager
    def rolled_back_on_failure(self) -> Iterator[None]:
        """Put back what was there when the block fails.

        :raises ReportedError: with the cause and what has become of it
        """
        try:
            yield
        except ReportedError as exc:
            if not self._upgrades or self._reconcile.check_mode:
                raise
            titles = " and ".join(BY_NAME[item["part"]].title for item in self._upgrades)
            found, planned = (" and ".join(dict.fromkeys(item[key] for item in self._upgrades))
                              for key in ("found", "planned"))
            self._progress.event(f"rolling {titles} back to {found}")
            outcome: Any
            try:
                outcome = self._roll_back()
            except ReportedError as again:
                outcome = again
            raise ReportedError(upgrade_service.failure(titles, found, planned, exc, outcome, ())) from exc

    def _roll_back(self) -> upgrade_service.RolledBack:
        """Write the objects and the programs' configuration of before, and wait until the programs are ready.

        :raises ReportedError: when that does not succeed
        """
        outcome = upgrade_service.roll_back(self._client, self._reconcile, self._entries, self._progress,
                                            readiness.DEFAULT_TIMEOUT_SECONDS, time.sleep)
        names = [item["part"] for item in self._upgrades]
        for path, text in self._former.items():
            if text is not None:
                write_private(path, text.encode())
        process_group.note(self._daemon.reload(names), self._progress.wrote)
        process_group.wait(self._daemon, names)
        return outcome
