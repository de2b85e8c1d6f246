# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tasks for all servers at once: run_once has no effect in plays whose strategy lets each host go on by itself."""
from __future__ import annotations

# Strategies of ansible-core that only warn of run_once.
_EACH_HOST_BY_ITSELF = ("free", "host_pinned")


def refusal(task, batch):
    """Return why a task must not be run in its play, empty when it may be.

    A confirmation would count for each host, and a server be rebooted or wiped again that the first call has finished.

    :param task: Ansible's task
    :param batch: names of the hosts of this batch of the play
    """
    strategy = str(task.get_play().strategy).rpartition(".")[2]
    if not task.run_once or strategy not in _EACH_HOST_BY_ITSELF or len(batch) < 2:
        return ""
    return (f"strategy: found {strategy}, expected linear: this task is for all servers at once (run_once), and "
            f"{strategy} runs it for each of the {len(batch)} hosts of this batch; set strategy: linear in the play, "
            "or ANSIBLE_STRATEGY=linear")
