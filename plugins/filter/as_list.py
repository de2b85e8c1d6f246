# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Filter that reads a list of texts as modules and argument specs do."""
from __future__ import annotations

from ansible.errors import AnsibleFilterError

DOCUMENTATION = r"""
name: as_list
short_description: A list of texts as modules read it
version_added: "0.1.0"
description:
  - Variables of a command line, a survey or an INI inventory are texts. Options of modules and argument specs of roles
    take a text with commas for a list; templates take it for its letters.
options:
  _input:
    description: A list, or its elements as a text with commas between. Nothing and an empty text are an empty list.
    type: raw
    required: true
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Name the first address
  ansible.builtin.debug:
    msg: "{{ image_server_addresses | metal3.baremetal.as_list | first }}"
"""

RETURN = r"""
_value:
  description: The elements, those of a text without blanks around them.
  type: list
  elements: raw
"""


def as_list(value):
    """Return the elements; see DOCUMENTATION."""
    from ansible_collections.metal3.baremetal.plugins.module_utils._common.options.field_checks import show

    if value is None:
        return []
    if isinstance(value, (list, tuple)):
        return list(value)
    if isinstance(value, str) and not value.lstrip().startswith(("[", "{")):
        return [part.strip() for part in value.split(",") if part.strip()]
    raise AnsibleFilterError(
        f"as_list: found {show(value)}, expected a list, or a text with commas; give a list on the command line as "
        """JSON: -e '{"<variable>": ["<element>"]}'""")


class FilterModule:
    """The filter of this file."""

    def filters(self):
        """Return the filter by name."""
        return {"as_list": as_list}
