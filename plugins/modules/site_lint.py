#!/usr/bin/python
# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks a site's inventory with no cluster at hand; the action plugin of the same name does it."""
from __future__ import annotations

DOCUMENTATION = r"""
module: site_lint
short_description: Check a site's inventory with no cluster at hand
version_added: "0.1.0"
description:
  - Checks all variables of the servers and clusters in the inventory by the rules of
    M(metal3.baremetal.baremetal_host), M(metal3.baremetal.host_firmware_settings),
    M(metal3.baremetal.host_firmware_components), M(metal3.baremetal.host_update_policy),
    M(metal3.baremetal.host_compliance), M(metal3.baremetal.ip_pool) and M(metal3.baremetal.cluster), and against each
    other. It looks for mistyped variables and options, values out of their limits, references to what is not
    described, too few servers or addresses, networks that overlap, combinations that can't work, and versions that
    don't fit.
  - Of the machines in the group C(management) names of variables are checked, and the keys of C(management_plane).
  - All findings are reported at once, with the variable, what was found, what is allowed, and what to do next. With
    ansible-core 2.19 or newer they have the file and the line.
  - Nothing is asked of a cluster, a BMC or a server, and secret values are not shown.
  - The rules are listed in C(docs/lint-rules.md) of the collection.
options:
  hosts_group:
    description: The inventory group of the servers.
    type: str
    default: baremetal
  clusters_group:
    description: The inventory group of the hosts that stand for clusters.
    type: str
    default: clusters
  pools:
    description:
      - The pools that the site creates with M(metal3.baremetal.ip_pool), as its option
        O(metal3.baremetal.ip_pool#module:pools) takes them.
      - When this is given, an empty list too, clusters that name a pool that is not described are an error.
    type: list
    elements: dict
  known_secrets:
    description:
      - Names of Secrets that exist in the namespace of the hosts. When this is given, an empty list too, Secrets that
        are named by variables, and neither made from variables nor listed here, are an error.
    type: list
    elements: str
  versions:
    description:
      - Versions of the installed providers, for example C(cluster-api) and C(infrastructure-metal3), that the clusters'
        Kubernetes versions are compared with. By default the newest that the collection knows.
    type: dict
  provisioning_cidr:
    description: The provisioning network, for example V(172.22.0.0/24), that pods and services must not overlap.
    type: str
  provisioning_network:
    description: Whether there is a provisioning network. Without one, schemes that boot servers from it are an error.
    type: bool
    default: true
  skip_rules:
    description: Rules that are not reported.
    type: list
    elements: str
    default: []
  strict:
    description: Whether warnings make the task fail too.
    type: bool
    default: false
  sarif_file:
    description: Path of a file on the controller for the findings as SARIF 2.1.0, for code scanners.
    type: path
  junit_file:
    description: Path of a file on the controller for the rules as JUnit XML, a test case each.
    type: path
  base_dir:
    description:
      - Paths below this folder are given relative to it; by default the folder in which Ansible was started, which is
        the checkout in most pipelines.
    type: path
extends_documentation_fragment:
  - metal3.baremetal.attributes
attributes:
  action:
    description: Runs on the controller.
    support: full
  check_mode:
    support: full
    details:
      - O(sarif_file) and O(junit_file) are not written.
  diff_mode:
    support: none
  idempotent:
    support: full
seealso:
  - module: metal3.baremetal.baremetal_host
  - module: metal3.baremetal.cluster
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Check the inventory
  metal3.baremetal.site_lint:

- name: Check it in a pipeline
  metal3.baremetal.site_lint:
    strict: true
    provisioning_network: false
    versions:
      cluster-api: v1.13.2
      infrastructure-metal3: v1.13.2
    sarif_file: lint.sarif
    junit_file: lint.xml
"""

RETURN = r"""
findings:
  description: What is wrong or doubtful.
  returned: always
  type: list
  elements: dict
  contains:
    code:
      description: The rule.
      type: str
    level:
      description: V(error) or V(warning).
      type: str
    kind:
      description: What it is about, V(host), V(cluster), V(pool) or V(site).
      type: str
    subject:
      description: The inventory host, or the pool; for a line that several hosts share, the first and how many more.
      type: str
    names:
      description: All hosts that it is about.
      type: list
      elements: str
    field:
      description: The inventory variable, with the path in it.
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
    path:
      description: The file, V(null) when it is not known.
      type: str
    line:
      description: The line in the file, from 1, V(null) when it is not known.
      type: int
    column:
      description: The column, from 1, V(null) when it is not known.
      type: int
  sample:
    - code: boot-mac-invalid
      level: error
      kind: host
      subject: rack1-07
      names: [rack1-07]
      field: boot_mac
      actual: '"00:5c:52"'
      expected: six pairs of hexadecimal digits separated by colons
      hint: correct it
      text: >-
        rack1-07: boot_mac: found "00:5c:52", expected six pairs of hexadecimal digits separated by colons; correct it
      path: inventory/prod/hosts.yml
      line: 31
      column: 7
counts:
  description: How many errors and warnings there are.
  returned: always
  type: dict
  sample: {error: 1, warning: 0}
msg:
  description: The numbers, and a line for each finding.
  returned: always
  type: str
  sample: |-
    40 servers, 2 clusters: 1 error, 0 warnings
    inventory/prod/hosts.yml:31: error boot-mac-invalid: rack1-07: boot_mac: found "00:5c:52", expected six pairs of …
hosts:
  description: How many servers were looked at.
  returned: always
  type: int
  sample: 40
clusters:
  description: How many clusters were looked at.
  returned: always
  type: int
  sample: 2
"""
