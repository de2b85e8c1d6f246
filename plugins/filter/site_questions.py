# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Filter that says what servers and nodes of a site must reach."""
from __future__ import annotations

from collections.abc import Mapping

from ansible.errors import AnsibleFilterError

DOCUMENTATION = r"""
name: site_questions
short_description: What servers and nodes of a site must reach
version_added: "0.1.0"
description:
  - Returns ports and files by TFTP, as M(metal3.baremetal.network_check) takes them, from what a site says of its
    plane, its image server and its provisioning network. The playbook C(network_check) asks for them.
options:
  _input:
    description: Variables of the machine that manages the site, for example C(hostvars[groups.management.0]).
    type: dict
    required: true
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Ask from here what servers must reach
  metal3.baremetal.network_check:
    tcp: "{{ questions.tcp }}"
    tftp: "{{ questions.tftp }}"
  vars:
    questions: "{{ hostvars[groups.management.0] | metal3.baremetal.site_questions }}"
"""

RETURN = r"""
_value:
  description: C(tcp), entries with C(name), C(host) and C(port), and C(tftp), with C(name), C(host) and C(path).
  type: dict
  sample: {tcp: [{name: Ironic, host: 192.0.2.10, port: 6385}], tftp: []}
"""


def site_questions(variables):
    """Return the questions; see DOCUMENTATION."""
    from ansible_collections.metal3.baremetal.plugins.module_utils._network import site_questions as questions

    if not isinstance(variables, Mapping):
        raise AnsibleFilterError("site_questions: expected the variables of a host")
    return questions.of_site(variables)


class FilterModule:
    """The filter."""

    def filters(self):
        """Return the filter by name."""
        return {"site_questions": site_questions}
