# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tasks on the machine that runs Ansible, which are done by the user who runs it, whatever the inventory says."""
from __future__ import annotations


def refusal(task, user, become_user):
    """Return why a task must not be run, empty when it may be: it is the user's own, and another would do it.

    Root would look for kubeconfigs in its own home and without the environment of the user, and leave files that the
    user cannot read. A task's variable counts more than an inventory, play or ``--become``, but not more than ``-e``.

    :param task: Ansible's task
    :param user: who runs Ansible
    :param become_user: who would do the task, empty without privilege escalation
    """
    if not become_user or become_user == user or task.get_vars().get("ansible_become") is not False:
        return ""
    return ("ansible_become: found true among variables that count more than a task's (-e, set_fact), expected it in "
            f"the inventory: this task is done on the machine that runs Ansible, where {become_user} has other files "
            f"and settings than {user}, who runs it; give ansible_become to the group or host that needs it")
