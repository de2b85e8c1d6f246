# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Filter that reads a boolean as modules and argument specs do."""
from __future__ import annotations

from ansible.errors import AnsibleFilterError
from ansible.module_utils.parsing.convert_bool import boolean

DOCUMENTATION = r"""
name: boolean
short_description: A boolean as modules read it, or an error
version_added: "0.1.0"
description:
  - Variables of a command line, a survey or an INI inventory are texts. Options of modules and argument specs of roles
    read V(y), V(t) and texts with blanks around them as well, which P(ansible.builtin.bool#filter) takes for false,
    as it does with an empty text and whatever is mistyped.
options:
  _input:
    description: >-
      A boolean, or V(true), V(yes), V(on), V(1), V(y), V(t), V(false), V(no), V(off), V(0), V(n) or V(f) in any case.
    type: raw
    required: true
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Say that a backup is made
  ansible.builtin.debug:
    msg: a backup is made first
  when: upgrade_backup | default(true) | metal3.baremetal.boolean
"""

RETURN = r"""
_value:
  description: What it means.
  type: bool
"""


def read_boolean(value):
    """Return what it means; see DOCUMENTATION."""
    from ansible_collections.metal3.baremetal.plugins.module_utils._common.options.field_checks import show

    try:
        return boolean(value)
    except TypeError:
        found = "nothing" if value is None else show(value)
        raise AnsibleFilterError(
            f"boolean: found {found}, expected true or false (yes, no, on, off, 1, 0); correct the variable that the "
            "expression names") from None


class FilterModule:
    """The filter of this file."""

    def filters(self):
        """Return the filter by name."""
        return {"boolean": read_boolean}
