# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Filter that takes the hosts which a selector would match."""
from __future__ import annotations

from collections.abc import Mapping

from ansible.errors import AnsibleFilterError

DOCUMENTATION = r"""
name: matching_hosts
short_description: Hosts that a host selector matches
version_added: "0.1.0"
description:
  - Returns those hosts whose labels satisfy a host selector, by the rules of CAPM3. Whether they are free is another
    question.
positional: selector
options:
  _input:
    description:
      - >-
        BareMetalHosts, hosts as M(metal3.baremetal.baremetal_host_info) returns them, entries for
        M(metal3.baremetal.baremetal_host), or variables of inventory hosts.
      - Of a dictionary of hosts, as C(hostvars), the names are returned.
    type: raw
    required: true
  selector:
    description:
      - Selector with C(match_labels), a dictionary, and C(match_expressions), a list of C(key), C(operator) and
        C(values). C(matchLabels) and C(matchExpressions) are understood too.
      - Operators are V(In), V(NotIn), V(Exists) and V(DoesNotExist). An empty selector is satisfied by all hosts.
    type: dict
    required: true
seealso:
  - plugin: metal3.baremetal.host_matching
    plugin_type: test
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: See which servers of the inventory a pool could have
  ansible.builtin.debug:
    msg: >-
      {{ dict(groups['baremetal'] | zip(groups['baremetal'] | map('extract', hostvars)))
         | metal3.baremetal.matching_hosts({'match_labels': {'rack': 'r1'}}) }}

- name: Count the hosts that are not spare
  ansible.builtin.debug:
    msg: "{{ found.hosts | metal3.baremetal.matching_hosts(not_spare) | length }}"
  vars:
    not_spare:
      match_expressions:
        - {key: role, operator: NotIn, values: [spare]}
"""

RETURN = r"""
_value:
  description: Those hosts that match, as they were given; of a dictionary their names.
  type: list
  elements: raw
"""


def matching_hosts(hosts, selector):
    """Return the hosts that match; see DOCUMENTATION."""
    from ansible_collections.metal3.baremetal.plugins.module_utils._host.description import selector as host_selector

    try:
        asked = host_selector.read(selector)
        return _matching(hosts, lambda host: host_selector.matches(host_selector.labels_of(host), asked))
    except ValueError as exc:
        raise AnsibleFilterError(f"matching_hosts: {exc}") from exc


def _matching(hosts, matches):
    if isinstance(hosts, Mapping):
        return [name for name in hosts if matches(hosts[name])]
    return [host for host in hosts if matches(host)]


class FilterModule:
    """The filter of this file."""

    def filters(self):
        """Return the filter by name."""
        return {"matching_hosts": matching_hosts}
