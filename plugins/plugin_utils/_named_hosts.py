# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What filters that take ``hostvars`` and names of hosts have in common."""
from __future__ import annotations

from ansible.errors import AnsibleFilterError


def require(plugin, hostvars, names):
    """Refuse names that the inventory does not have, all at once.

    :param plugin: name of the filter, for the message
    :param hostvars: mapping of host names to variables
    :param names: list of host names
    :raises AnsibleFilterError: naming the missing ones
    """
    missing = [name for name in names if name not in hostvars]
    if missing:
        raise AnsibleFilterError(f"{plugin}: not in the inventory: {', '.join(missing)}")
