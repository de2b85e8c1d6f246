#!/usr/bin/python
# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Asks a Service until it has answered as expected."""
from __future__ import annotations

DOCUMENTATION = r"""
module: service_probe
short_description: Ask a Service of a cluster until it has answered as expected
version_added: "0.1.0"
description:
  - Asks a Service by HTTP through the API server's proxy, which takes any of its pods each time, until O(answers)
    different answers have come. So no route from here into the cluster's network is needed.
  - When each pod's answer is its own, for example its name, this shows that the API server reaches pods on all nodes.
options:
  name:
    description: Name of the Service.
    type: str
    required: true
  namespace:
    description: Its namespace.
    type: str
    default: default
  port:
    description: Number or name of its port.
    type: str
    required: true
  scheme:
    description: How its pods are asked.
    type: str
    choices: [http, https]
    default: http
  path:
    description: Path to ask for.
    type: str
    default: /
  answers:
    description: How many different answers to wait for.
    type: int
    default: 1
  wait_timeout_seconds:
    description: How long to wait in all.
    type: int
    default: 120
extends_documentation_fragment:
  - metal3.baremetal.kubernetes
  - metal3.baremetal.workload
  - metal3.baremetal.attributes
  - metal3.baremetal.attributes.info_module
  - metal3.baremetal.attributes.actiongroup_kubernetes
attributes:
  check_mode:
    support: full
    details:
      - Nothing is asked in check mode, because the Service may not exist yet.
seealso:
  - module: metal3.baremetal.manifests
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Both pods of a Service answer
  metal3.baremetal.service_probe:
    cluster_name: prod
    name: echo
    port: "80"
    path: hostname
    answers: 2
"""

RETURN = r"""
answers:
  description: The different answers.
  returned: success
  type: list
  elements: str
seconds:
  description: How long it took, in seconds.
  returned: success
  type: float
server:
  description: URL of the API server that the module worked on, which is the workload cluster's with O(cluster_name).
  returned: when the connection options led to one, also on failure
  type: str
  sample: https://192.0.2.10:6443
"""

from ansible_collections.metal3.baremetal.plugins.module_utils._manifests.module import run_service_probe


def main():
    """Run the module."""
    run_service_probe()


if __name__ == "__main__":
    main()
