# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which files of an inventory Ansible could not read: it warns of them and goes on with the others."""
from __future__ import annotations

import os

from ansible.inventory.manager import IGNORED
from ansible.utils.path import unfrackpath


def unread(inventory):
    """Return the paths of the files that are part of an inventory and that no inventory plugin could read.

    :param inventory: Ansible's InventoryManager; with None, when Ansible does not say, there are none
    """
    if inventory is None:
        return []
    # A source with a comma is a list of hosts.
    sources = [unfrackpath(source, follow=False) for source in inventory._sources if source and "," not in source]
    read = set(str(source) for source in inventory._inventory.processed_sources)
    return [path for source in sources for path in _files(source) if path not in read]


def _files(source):
    """Return the files that Ansible reads of a source, in its order."""
    if not os.path.isdir(source):
        return [source]
    return [path for name in sorted(os.listdir(source)) if not IGNORED.search(os.fsencode(name))
            for path in _files(os.path.join(source, name))]
