# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Filter that asks for a confirmation."""
from __future__ import annotations

from ansible.errors import AnsibleFilterError

DOCUMENTATION = r"""
name: confirmation_request
short_description: Message that asks for a confirmation
version_added: "0.1.0"
description:
  - Returns what the playbooks of this collection print when the variable C(metal3_confirm) is not set, or is not the
    number of what they would change.
positional: effect
options:
  _input:
    description: Names of the servers that the operation concerns.
    type: list
    elements: str
    required: true
  effect:
    description: What the operation does, as a verb phrase with C(%s) in place of the servers.
    type: str
    required: true
  given:
    description: Value of C(metal3_confirm) as the user gave it.
    type: raw
  thing:
    description: What the servers are called, in the singular, for example V(host).
    type: str
    default: server
  among:
    description:
      - Names of all servers of the play when it runs in several batches (C(serial)). A number would count for each
        batch, so that names are asked for.
    type: list
    elements: str
    default: []
  playbook:
    description: Name of the playbook of this collection that takes the confirmation, when it is not the one that runs.
    type: str
    default: ""
seealso:
  - plugin: metal3.baremetal.confirming
    plugin_type: test
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Ask for confirmation
  ansible.builtin.assert:
    that: metal3_confirm | default('') is metal3.baremetal.confirming(names)
    fail_msg: "{{ names | metal3.baremetal.confirmation_request('wipes the disks of %s') }}"
"""

RETURN = r"""
_value:
  description: The message, which ends with C(To continue, set metal3_confirm=1.)
  type: str
"""


def confirmation_request(names, effect, given=None, thing="server", among=(), playbook=""):
    """Return the message; see DOCUMENTATION."""
    from ansible_collections.metal3.baremetal.plugins.module_utils._common.options import confirmation
    from ansible_collections.metal3.baremetal.plugins.module_utils._common.options.field_checks import type_name

    if isinstance(names, str) or not isinstance(effect, str):
        raise AnsibleFilterError(f"confirmation_request: found {type_name(names)} and {type_name(effect)}, "
                                 "expected a list of names and the text of the effect")
    return confirmation.request(effect, [str(name) for name in names], given, thing, [str(name) for name in among],
                                playbook)


class FilterModule:
    """The filter of this file."""

    def filters(self):
        """Return the filter by name."""
        return {"confirmation_request": confirmation_request}
