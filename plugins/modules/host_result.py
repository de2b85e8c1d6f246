#!/usr/bin/python
# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reports what a bulk run did to one server; the action plugin of the same name does it."""
from __future__ import annotations

DOCUMENTATION = r"""
module: host_result
short_description: Report what a bulk run did to the server of this inventory host
version_added: "0.1.0"
description:
  - Modules such as M(metal3.baremetal.baremetal_host), M(metal3.baremetal.host_firmware_settings),
    M(metal3.baremetal.ironic_node_action) and M(metal3.baremetal.bmc_preflight) work on all servers in one call, in a
    task with C(run_once). This module reports each server's part under its own inventory host, so that recap, callbacks
    and job events show which servers changed and which failed.
  - Nothing is asked of the cluster or of the server.
options:
  variables:
    description:
      - Names of the variables that the bulk tasks have registered, in the order of the tasks. The role
        P(metal3.baremetal.hosts#role) registers C(hosts_result), and its entry points with several steps one
        variable for each.
      - A server changed if one of the tasks changed it, and failed if one of them failed for it.
    type: list
    elements: str
    default: [hosts_result]
extends_documentation_fragment:
  - metal3.baremetal.attributes
attributes:
  action:
    description: Runs on the controller.
    support: full
  check_mode:
    support: full
  diff_mode:
    support: full
    details:
      - Shows the differences that the bulk task found at the server's objects.
  idempotent:
    support: full
notes:
  - Without the variables, and for a server that the bulk tasks did not work on, the task is skipped.
seealso:
  - module: metal3.baremetal.baremetal_host
  - module: metal3.baremetal.baremetal_host_action
  - plugin: metal3.baremetal.unreported
    plugin_type: test
  - plugin: metal3.baremetal.with_failures
    plugin_type: test
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Write the image to the servers
  ansible.builtin.include_role:
    name: metal3.baremetal.hosts
    tasks_from: provision
  vars:
    hosts_report_each: true
  run_once: true

- name: Report the result of each server
  metal3.baremetal.host_result:
"""

RETURN = r"""
diff:
  description: What the tasks changed at the server's objects, before and after.
  returned: in diff mode
  type: list
  elements: dict
  sample: []
host:
  description: The server's entries of the bulk tasks' results as one, without what inspection found and long lists.
  returned: when a bulk task worked on the server
  type: dict
  sample: {name: rack1-01, action: created, changed: true, failed: false, error: "", state: available, seconds: 61.2}
msg:
  description: The server's state, and on failure the errors with the next step.
  returned: always
  type: str
  sample: available
"""
