# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Paths relative to the folder in which Ansible was started."""
from __future__ import annotations

import os

from ansible.errors import AnsibleFilterError

_LOCAL = ("local", "ansible.builtin.local")


def absolute(name, path, connection):
    """Return a path, below the folder in which Ansible was started if it is relative and on this machine.

    :param name: the filter, for messages
    :param path: the path; may be empty
    :param connection: the connection of the machine that it is on
    :raises AnsibleFilterError: when it is no path
    """
    if not isinstance(path, (str, os.PathLike)):
        raise AnsibleFilterError(f"{name}: found {type(path).__name__}, expected a path, or an empty text for none")
    if not path or connection not in _LOCAL:
        return path
    return os.path.join(os.getcwd(), os.path.expanduser(path))
