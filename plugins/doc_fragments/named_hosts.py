# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Options of the filters that take ``hostvars`` and names of inventory hosts."""
from __future__ import annotations


class ModuleDocFragment:
    """The fragment."""

    DOCUMENTATION = r"""
options:
  _input:
    description: The variable C(hostvars).
    type: dict
    required: true
  names:
    description: Names of the servers.
    type: list
    elements: str
    required: true
"""
