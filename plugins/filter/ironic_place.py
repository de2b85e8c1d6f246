# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Filter that says how and where Ironic runs where no variable of the role ironic says it."""
from __future__ import annotations

DOCUMENTATION = r"""
name: ironic_place
short_description: How and where the Ironic of a management plane runs by default
version_added: "0.1.0"
description:
  - Returns the defaults of the variables C(ironic_mode) and C(ironic_namespace), for roles that work on the Ironic of a
    plane without the role C(ironic).
options:
  _input:
    description: The variable C(management_plane), empty for none.
    type: dict
    required: true
  operator_options:
    description: The variable C(bmo_options), whose C(namespace) Ironic shares.
    type: dict
    default: {}
positional: operator_options
seealso:
  - plugin: metal3.baremetal.ironic_pod
    plugin_type: filter
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Say how Ironic runs
  ansible.builtin.debug:
    msg: "{{ ironic_mode | default((management_plane | default({}) | metal3.baremetal.ironic_place).mode) }}"
"""

RETURN = r"""
_value:
  description: The defaults.
  type: dict
  contains:
    mode:
      description: V(process) beside a plane of processes, else V(external).
      type: str
    namespace:
      description: The operator's, by C(operator_options), else by C(management_plane.options), else upstream's.
      type: str
"""


def ironic_place(plane, operator_options=None):
    """Return the defaults; see DOCUMENTATION."""
    from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.ironic_place import by_default

    return by_default(plane, operator_options)


class FilterModule:
    """The filter of this file."""

    def filters(self):
        """Return the filter by name."""
        return {"ironic_place": ironic_place}
