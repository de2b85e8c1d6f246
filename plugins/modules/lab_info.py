#!/usr/bin/python
# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reports what a lab's parts are doing."""
from __future__ import annotations

DOCUMENTATION = r"""
module: lab_info
short_description: Report what a lab's parts are doing
version_added: "0.1.0"
description:
  - Lists the supervised programs and the simulated servers of a lab.
extends_documentation_fragment:
  - metal3.baremetal.attributes
  - metal3.baremetal.attributes.info_module
options:
  name:
    description: Name of the lab.
    type: str
    default: lab
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: See what the lab is doing
  metal3.baremetal.lab_info:
  register: result
"""

RETURN = r"""
programs:
  description: The supervised programs; empty when there is no such lab.
  returned: always
  type: list
  elements: dict
  sample:
    - program: etcd
      kind: real
      pid: 4711
      address: 127.0.0.1:21000
      health: ok
      since: "2026-11-21 15:21:33"
  contains:
    program:
      description: Its name.
      type: str
    kind:
      description: V(real) or V(simulated).
      type: str
    pid:
      description: Its process, none when it is not running.
      type: int
    address:
      description: Where it listens.
      type: str
    health:
      description: V(ok), or what is wrong.
      type: str
    since:
      description: When it was started.
      type: str
servers:
  description: The simulated servers, described as RV(programs).
  returned: always
  type: list
  elements: dict
table:
  description: Both as lines of a table.
  returned: always
  type: list
  elements: str
"""

from ansible_collections.metal3.baremetal.plugins.module_utils._lab.module import run_lab_info


def main():
    """Run the module."""
    run_lab_info()


if __name__ == "__main__":
    main()
