# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Options by which a module knows that others get the same confirmation."""
from __future__ import annotations


class ModuleDocFragment:
    """The option ``confirm_among`` of modules for hosts, and of those for a plane."""

    DOCUMENTATION = r"""
options:
  confirm_among:
    description: Names of all hosts that O(confirm) may name, when the task is one of several that get it; only names
      count then.
    type: list
    elements: str
    default: []
"""

    PLANES = r"""
options:
  confirm_among:
    description:
      - Names of all planes of the play, C(ansible_play_hosts_all), because C(metal3_confirm) is the same for each.
      - With more than one, what requires O(confirm) is refused; parts have the same names in all planes.
    type: list
    elements: str
    default: []
"""
