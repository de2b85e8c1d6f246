# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Attributes of modules: what they support."""
from __future__ import annotations


class ModuleDocFragment:
    """Attributes that every module declares; those with ``support`` here are the same for all that use the fragment."""

    DOCUMENTATION = r"""
options: {}
attributes:
  check_mode:
    description: Can run in check mode and report what would change, without changing it.
  diff_mode:
    description: Returns details on what has changed (or would change) in diff mode.
  idempotent:
    description: Does nothing when run again with the same options and an unchanged cluster.
"""

    WITHOUT_DIFF = r"""
options: {}
attributes:
  check_mode:
    description: Can run in check mode and report what would change, without changing it.
    support: full
  diff_mode:
    description: Returns details on what has changed (or would change) in diff mode.
    support: none
  idempotent:
    description: Does nothing when run again with the same options.
    support: full
"""

    INFO_MODULE = r"""
options: {}
attributes:
  check_mode:
    support: full
    details:
      - This module only reads.
  diff_mode:
    support: none
    details:
      - This module only reads.
  idempotent:
    support: full
    details:
      - This module only reads.
"""

    ACTIONGROUP_KUBERNETES = r"""
options: {}
attributes:
  action_group:
    description: Use C(group/metal3.baremetal.kubernetes) in C(module_defaults) to set defaults for this module.
    support: full
    membership:
      - metal3.baremetal.kubernetes
"""
