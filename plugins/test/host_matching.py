# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Test for hosts that a selector would match."""
from __future__ import annotations

from ansible.errors import AnsibleFilterError

DOCUMENTATION = r"""
name: host_matching
short_description: Whether a host selector matches a host
version_added: "0.1.0"
description:
  - True when the labels of the host satisfy the selector, by the rules of CAPM3.
positional: selector
options:
  _input:
    description:
      - >-
        A BareMetalHost, a host as M(metal3.baremetal.baremetal_host_info) returns it, an entry for
        M(metal3.baremetal.baremetal_host), or the variables of an inventory host.
    type: dict
    required: true
  selector:
    description:
      - Selector with C(match_labels), a dictionary, and C(match_expressions), a list of C(key), C(operator) and
        C(values). C(matchLabels) and C(matchExpressions) are understood too.
      - Operators are V(In), V(NotIn), V(Exists) and V(DoesNotExist). An empty selector is satisfied by all hosts.
    type: dict
    required: true
seealso:
  - plugin: metal3.baremetal.matching_hosts
    plugin_type: filter
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Name the hosts of a rack
  ansible.builtin.debug:
    msg: "{{ found.hosts | select('metal3.baremetal.host_matching', rack) | map(attribute='name') }}"
  vars:
    rack: {match_labels: {rack: r1}}
"""

RETURN = r"""
_value:
  description: Whether it is.
  type: bool
"""


def is_host_matching(host, selector):
    """Say whether it is; see DOCUMENTATION."""
    from ansible_collections.metal3.baremetal.plugins.module_utils._host.description import selector as host_selector

    try:
        return host_selector.matches(host_selector.labels_of(host), host_selector.read(selector))
    except ValueError as exc:
        raise AnsibleFilterError(f"host_matching: {exc}") from exc


class TestModule:
    """The test of this file."""

    def tests(self):
        """Return the test by name."""
        return {"host_matching": is_host_matching}
