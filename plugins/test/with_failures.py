# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Test for results of bulk tasks."""
from __future__ import annotations

from ansible.errors import AnsibleFilterError

DOCUMENTATION = r"""
name: with_failures
short_description: Whether bulk results have a server that failed
version_added: "0.1.0"
description:
  - For the steps that follow a bulk task whose failures of single servers are left to M(metal3.baremetal.host_result).
    Such a task does not fail by itself, so the next steps must ask.
options:
  _input:
    description:
      - Registered results of modules that work on all servers in one call, in a list. One that was skipped has no
        failure.
    type: list
    elements: dict
    required: true
seealso:
  - module: metal3.baremetal.host_result
  - plugin: metal3.baremetal.unreported
    plugin_type: test
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Delete the hosts that were detached
  metal3.baremetal.baremetal_host:
    hosts: "{{ hostvars | metal3.baremetal.host_entries(ansible_play_batch, 'absent') }}"
  register: hosts_result
  failed_when: hosts_result is metal3.baremetal.unreported('failed', ansible_play_batch)
  run_once: true
  when: "[hosts_detached] is not metal3.baremetal.with_failures"

- name: Report the result of each server
  metal3.baremetal.host_result:
    variables: [hosts_detached, hosts_result]
"""

RETURN = r"""
_value:
  description: Whether one has.
  type: bool
"""


def is_with_failures(results):
    """Say whether one has; see DOCUMENTATION."""
    from ansible_collections.metal3.baremetal.plugins.module_utils._host.state import outcome as host_outcome

    if not isinstance(results, (list, tuple)):
        raise AnsibleFilterError(
            f"with_failures: found {type(results).__name__}, expected a list of registered results")
    return host_outcome.with_failures(results)


class TestModule:
    """The test of this file."""

    def tests(self):
        """Return the test by name."""
        return {"with_failures": is_with_failures}
