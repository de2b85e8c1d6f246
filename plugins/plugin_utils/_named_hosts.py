# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What filters that take ``hostvars`` and names of hosts have in common."""
from __future__ import annotations

from ansible.errors import AnsibleFilterError

from ansible_collections.metal3.baremetal.plugins.module_utils._common.field_checks import show

# Ansible takes key=value of its command line for a text.
_AS_LIST = """give a list on the command line as JSON: -e '{"<variable>": ["<name>"]}'"""


def require_list(plugin, names):
    """Refuse a text, whose letters would be taken for names.

    :param plugin: name of the filter or test, for the message
    :param names: list of names
    :raises AnsibleFilterError: when it is a text
    """
    if isinstance(names, str):
        raise AnsibleFilterError(f"{plugin}: found the text {show(names)}, expected a list of names; {_AS_LIST}")


def require(plugin, hostvars, names):
    """Refuse names that the inventory does not have, all at once.

    :param plugin: name of the filter, for the message
    :param hostvars: mapping of host names to variables
    :param names: list of host names
    :raises AnsibleFilterError: naming the missing ones
    """
    require_list(plugin, names)
    missing = [name for name in names if name not in hostvars]
    if missing:
        raise AnsibleFilterError(f"{plugin}: not in the inventory: {', '.join(missing)}")
