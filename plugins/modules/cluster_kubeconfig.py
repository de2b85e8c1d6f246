#!/usr/bin/python
# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes the kubeconfig of a workload cluster to a file."""
from __future__ import annotations

DOCUMENTATION = r"""
module: cluster_kubeconfig
short_description: Write the kubeconfig of a workload cluster to a file
version_added: "0.1.0"
description:
  - Brings a file to the administrator's kubeconfig that Cluster API keeps of a cluster, and changes nothing else.
  - Cluster API renews the certificate in it when half of its year is over, in its Secret; a file that was written
    before keeps the former one, which ends.
  - Machines and the description of the cluster are not looked at; M(metal3.baremetal.cluster) writes the file as well.
options:
  namespace:
    description: Namespace of the cluster.
    type: str
    default: metal3
  name:
    description: Name of the cluster.
    type: str
    required: true
  path:
    description:
      - Path of the file, on the machine that the module runs on. It has mode 0600; its content is never shown.
      - A file that is there already and not empty must be a kubeconfig of this cluster, and of no other cluster.
        Anything else, a symbolic link included, is refused.
    type: path
    required: true
extends_documentation_fragment:
  - metal3.baremetal.kubernetes
  - metal3.baremetal.attributes
  - metal3.baremetal.attributes.actiongroup_kubernetes
attributes:
  check_mode:
    support: full
  diff_mode:
    support: none
    details:
      - The file is a secret.
  idempotent:
    support: full
requirements:
  - kubernetes >= 31
  - PyYAML >= 6.0
seealso:
  - module: metal3.baremetal.cluster
  - module: metal3.baremetal.cluster_info
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Write the kubeconfig of a cluster
  metal3.baremetal.cluster_kubeconfig:
    name: prod
    path: ~/.kube/prod
"""

RETURN = r"""
path:
  description: The file.
  returned: success
  type: str
  sample: /home/admin/.kube/prod
problems:
  description: What was refused, all of it at once; nothing was changed then.
  returned: when the input was refused
  type: list
  elements: dict
  contains:
    code:
      description: Name of the rule that was broken.
      type: str
    subject:
      description: The object that it is about.
      type: str
    field:
      description: Path of the option; empty when the whole object is meant.
      type: str
    actual:
      description: What was found, V(null) when it is not set; never a secret value.
      type: str
    expected:
      description: What is allowed.
      type: str
    hint:
      description: What to do, or V(null).
      type: str
    text:
      description: All of it as one line.
      type: str
server:
  description: URL of the API server that the module worked on.
  returned: when the connection options led to one, also on failure
  type: str
  sample: https://192.0.2.10:6443
"""

from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.module import run_cluster_kubeconfig


def main():
    """Run the module."""
    run_cluster_kubeconfig()


if __name__ == "__main__":
    main()
