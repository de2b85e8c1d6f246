#!/usr/bin/python
# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Plans an upgrade of a management plane of processes."""
from __future__ import annotations

DOCUMENTATION = r"""
module: plane_upgrade_plan
short_description: Plan an upgrade of a management plane that runs as processes
version_added: "0.1.0"
description:
  - Compares the versions that a plane of processes has with those that it is to be brought to, before anything of it is
    written.
  - Which version is there says the API server - clusterctl's inventory, an annotation of the definitions of the Bare
    Metal Operator, and its own version - and of etcd, Ironic and a plane whose API server does not answer the plane's
    C(lab.json), which M(metal3.baremetal.plane_site) writes.
  - Fails with all that stands against the upgrade at once. These are hosts in transition, BMC addresses of a scheme
    that the new operator no longer has, provider IDs that the new CAPM3 no longer has, more minors at once than
    upstream supports, versions that do not work together, stored versions that the new definitions no longer have, and
    versions that are older than what is there.
  - An upgrade to another minor requires O(confirm). A patch, a first installation and equal versions do not.
  - Nothing is changed.
options:
  management_plane:
    description:
      - The figures that the plane is to have, as M(metal3.baremetal.plane_site) returns them in check mode.
    type: dict
    required: true
  parts:
    description: The parts that run as processes.
    type: list
    elements: str
    choices: [etcd, kubernetes, ironic, capi, cabpk, kcp, ipam, bmo, capm3]
    default: [etcd, kubernetes, ironic, capi, cabpk, kcp, ipam, bmo, capm3]
  confirm:
    description:
      - How many parts have an upgrade to another minor, or their names with commas between. Check mode only warns
        without it.
    type: str
  show_table:
    description: Whether the version matrix is printed.
    type: bool
    default: false
requirements:
  - kubernetes >= 31
  - PyYAML >= 6.0
extends_documentation_fragment:
  - metal3.baremetal.confirmation.planes
  - metal3.baremetal.attributes
attributes:
  check_mode:
    support: full
    details:
      - Returns what any other run would be refused with because O(confirm) is missing.
  diff_mode:
    support: full
    details:
      - Shows the versions of the parts that become newer, before and after.
  idempotent:
    support: full
seealso:
  - module: metal3.baremetal.plane_site
  - module: metal3.baremetal.plane_provider
  - module: metal3.baremetal.plane_components
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Compute the figures that the plane would get
  metal3.baremetal.plane_site:
    name: rack1
    dir: /srv/metal3/rack1
    address: 192.0.2.2
    source_dir: "{{ role_path }}/../../lab/engine"
    requirements_file: "{{ role_path }}/../../lab/requirements.txt"
    boot_images:
      iso: https://images.example.org/agent.iso
  check_mode: true
  register: site

- name: Plan its upgrade
  metal3.baremetal.plane_upgrade_plan:
    management_plane: "{{ site.management_plane }}"
    confirm: "{{ metal3_confirm | default(omit) }}"
    show_table: true
"""

RETURN = r"""
upgrades:
  description: The parts that become newer, in the order in which they are upgraded.
  returned: success
  type: list
  elements: dict
  contains:
    part:
      description: Name of the part.
      type: str
    found:
      description: Version that is there.
      type: str
    planned:
      description: Version that it is brought to.
      type: str
    interrupts:
      description: Whether a confirmation is required.
      type: bool
  sample:
    - {part: bmo, found: v0.13.1, planned: v0.14.0, interrupts: true}
confirmation:
  description: In check mode, what a run without it would be refused with because O(confirm) is missing; else empty.
  returned: success
  type: str
  sample: ""
matrix:
  description: >-
    The version matrix: Kubernetes, etcd and Ironic, then each part that is there. Also when versions do not fit.
  returned: always
  type: list
  elements: dict
  contains:
    name:
      description: V(kubernetes), or the part's name.
      type: str
    found:
      description: Version that the plane has; V(null) when it is not there, or nothing says which it is.
      type: str
    source:
      description: >-
        What says so - an entry of clusterctl's inventory, V(API server), V(definitions), or V(lab.json); V(null) when
        it is not there.
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
"""

from ansible_collections.metal3.baremetal.plugins.module_utils._plane.upgrade_plan_module import run_plane_upgrade_plan


def main():
    """Run the module."""
    run_plane_upgrade_plan()


if __name__ == "__main__":
    main()
