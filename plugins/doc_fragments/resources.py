# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Options of the modules for the resources that belong to hosts."""
from __future__ import annotations


class ModuleDocFragment:
    """The options of ``family_argument_spec`` and ``info_argument_spec`` that are the same for all families."""

    DOCUMENTATION = r"""
options:
  namespace:
    description: Namespace of the objects.
    type: str
    default: metal3
attributes:
  check_mode:
    support: full
    details:
      - The API server checks what would be written, without storing it. Nothing is waited for.
  diff_mode:
    support: full
  idempotent:
    support: full
"""

    WAIT = r"""
options:
  wait_timeout_seconds:
    description: How long to wait for the goal. What was reached until then stays.
    type: int
    default: 1800
"""

    INFO = r"""
options:
  namespace:
    description: Namespace of the objects.
    type: str
    default: metal3
  all_namespaces:
    description: Whether to read all namespaces; O(namespace) is ignored then.
    type: bool
    default: false
  names:
    description: Names of the objects to return; all by default.
    type: list
    elements: str
  label_selector:
    description: Only objects that match this label selector, for example V(rack=r1).
    type: str
  full_objects:
    description: Whether to also return each object as the API server has it, but for queries of URLs, which are hidden.
    type: bool
    default: false
"""
