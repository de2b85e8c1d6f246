#!/usr/bin/python
# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks the parts of a management plane that somebody else runs."""
from __future__ import annotations

DOCUMENTATION = r"""
module: plane_check
short_description: Check that a management plane that somebody else runs fits
version_added: "0.1.0"
description:
  - Finds which parts of a management plane are in a cluster, and their versions, by clusterctl's inventory, by labels
    and image tags of Deployments, and by definitions.
  - Fails with all that does not fit at once. These are a part that is missing or has no available pod, kinds that are
    not served in the version that this collection reads and writes, versions of Kubernetes, Cluster API, its kubeadm
    providers, IPAM, CAPM3 and the Bare Metal Operator that upstream does not test together, and a version of Cluster
    API's contract that it does not know.
  - What the credentials cannot read is left out, with a warning.
  - Nothing is changed.
options:
  parts:
    description: The parts that must be there.
    type: list
    elements: str
    choices: [cert_manager, capi, cabpk, kcp, ipam, bmo, capm3]
    default: [capi, cabpk, kcp, ipam, bmo, capm3]
  show_table:
    description: Whether the version matrix is printed.
    type: bool
    default: false
requirements:
  - kubernetes >= 31
extends_documentation_fragment:
  - metal3.baremetal.kubernetes
  - metal3.baremetal.kubernetes.identity
  - metal3.baremetal.attributes
  - metal3.baremetal.attributes.actiongroup_kubernetes
  - metal3.baremetal.attributes.info_module
seealso:
  - module: metal3.baremetal.ironic_check
  - module: metal3.baremetal.plane_components
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Check the plane that another team runs
  metal3.baremetal.plane_check:
    kubeconfig: ~/.kube/management
    show_table: true

- name: Check that the Bare Metal Operator is there, without Cluster API
  metal3.baremetal.plane_check:
    kubeconfig: ~/.kube/management
    parts: [bmo]
"""

RETURN = r"""
versions:
  description: Version of V(kubernetes) and of each part of O(parts); V(null) when nothing says which it is.
  returned: success
  type: dict
  sample: {kubernetes: v1.35.4, capi: v1.13.5}
matrix:
  description: >-
    The version matrix: Kubernetes, then each part that is in the cluster. Also when versions do not fit.
  returned: always
  type: list
  elements: dict
  contains:
    name:
      description: V(kubernetes), or the part's name.
      type: str
    found:
      description: Version in the cluster; V(null) when it is not there, or nothing says which it is.
      type: str
    source:
      description: >-
        What says so - an entry of clusterctl's inventory, a Deployment, or V(definitions); V(null) when it is not
        there.
      type: str
    planned:
      description: Version to be installed, or V(null).
      type: str
    changes:
      description: Whether this run is about the part.
      type: bool
    contracts:
      description: Versions of Cluster API's contract that it implements.
      type: list
      elements: str
    stored:
      description: Versions that objects of its definitions may be stored in.
      type: list
      elements: str
    needs:
      description: What this version needs.
      type: list
      elements: str
  sample:
    - {name: ipam, found: null, source: null, planned: v1.13.2, changes: true, contracts: [v1beta2],
       stored: [], needs: [Cluster API v1.13]}
table:
  description: The matrix as lines of text.
  returned: always
  type: list
  elements: str
problems:
  description: What was refused, all of it at once; nothing was changed then.
  returned: when something does not fit
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
cluster_uid:
  description:
    - The C(metadata.uid) of the Namespace C(kube-system) of the cluster that the module worked on, by which a later
      task knows that it works on the same one, as O(cluster_uid). Empty when nobody may read it.
  returned: when the connection options led to an API server, also on failure
  type: str
server:
  description: URL of the API server that the module worked on.
  returned: when the connection options led to one, also on failure
  type: str
  sample: https://192.0.2.10:6443
"""

from ansible_collections.metal3.baremetal.plugins.module_utils._plane.check_module import run_plane_check


def main():
    """Run the module."""
    run_plane_check()


if __name__ == "__main__":
    main()
