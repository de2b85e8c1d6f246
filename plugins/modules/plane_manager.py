#!/usr/bin/python
# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Finds and records which plane manages a site."""
from __future__ import annotations

DOCUMENTATION = r"""
module: plane_manager
short_description: Find and record which plane manages a site
version_added: "0.1.0"
description:
  - For a site whose bootstrap plane makes a cluster and moves into it. Asks the bootstrap plane and the plane in that
    cluster for their hosts, and says which of them manages the site, or that hosts are on their way between them.
  - The plane that has the hosts is the right one, whatever was recorded. Hosts in both planes, none in either although
    there was a plane with hosts, and a move in another direction are refused; the message names both planes.
  - With O(state=recorded), the kubeconfig of the cluster is taken from the plane that manages and written to the site's
    folder, C(~/.local/state/metal3.baremetal/sites/<name>) (or below E(XDG_STATE_HOME)), with the record
    C(management.json), by which P(metal3.baremetal.management_kubeconfig#filter) finds the plane. Both files are their
    owner's only.
  - Once the cluster manages, a kubeconfig of another server or authority is refused, because whoever writes Secrets
    there must not decide where the BMCs' credentials are sent.
options:
  name:
    description: Name of the bootstrap plane, C(management_plane.name). It names the site's folder, too.
    type: str
    required: true
  plane_dir:
    description: Folder of the bootstrap plane, C(management_plane.dir).
    type: path
    required: true
  cluster:
    description: Name of the cluster that is to manage the site.
    type: str
    required: true
  cluster_namespace:
    description: Its namespace.
    type: str
    default: metal3
  endpoint_host:
    description: Host of its endpoint. When it is set, a kubeconfig of another one is refused.
    type: str
  endpoint_port:
    description: Port of its endpoint. With O(endpoint_host) a kubeconfig of another one is refused, too.
    type: int
    default: 6443
  namespace:
    description: Namespace of the hosts.
    type: str
    default: metal3
  state:
    description: V(found) only reports, V(recorded) writes the site's folder as well.
    type: str
    choices: [found, recorded]
    default: found
extends_documentation_fragment:
  - metal3.baremetal.attributes
attributes:
  check_mode:
    support: full
  diff_mode:
    support: full
  idempotent:
    support: full
requirements:
  - kubernetes >= 31
seealso:
  - module: metal3.baremetal.plane_move
  - module: metal3.baremetal.plane_site
  - plugin: metal3.baremetal.management_kubeconfig
    plugin_type: filter
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Find out which plane manages the site
  metal3.baremetal.plane_manager:
    name: rack1
    plane_dir: /var/lib/metal3/rack1
    cluster: prod
  register: site

- name: Record it
  metal3.baremetal.plane_manager:
    name: rack1
    plane_dir: /var/lib/metal3/rack1
    cluster: prod
    state: recorded
"""

RETURN = r"""
stage:
  description:
    - V(bootstrap) when the bootstrap plane manages or nothing is there yet, V(moving) when hosts are on their way
      into the cluster, V(cluster) when the plane in the cluster manages.
  returned: success
  type: str
  sample: cluster
starts:
  description: Whether the processes of the bootstrap plane must be started for what comes next.
  returned: success
  type: bool
hosts:
  description: Names of the hosts of the plane that manages.
  returned: success
  type: list
  elements: str
  sample: [rack1-01, rack1-02]
recorded:
  description: V(bootstrap) or V(cluster) as recorded, empty without a record.
  returned: success
  type: str
  sample: cluster
folder:
  description: The site's folder.
  returned: success
  type: str
  sample: /home/operator/.local/state/metal3.baremetal/sites/rack1
bootstrap_runs:
  description: Whether the bootstrap plane has answered.
  returned: success
  type: bool
bootstrap_kubeconfig:
  description: Path of its kubeconfig.
  returned: success
  type: str
  sample: /var/lib/metal3/rack1/kubeconfig
cluster_answers:
  description: Whether the cluster has answered.
  returned: success
  type: bool
cluster_kubeconfig:
  description: Path of its kubeconfig in the site's folder.
  returned: success
  type: str
  sample: /home/operator/.local/state/metal3.baremetal/sites/rack1/prod.kubeconfig
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

from ansible_collections.metal3.baremetal.plugins.module_utils._move.module import run_plane_manager


def main():
    """Run the module."""
    run_plane_manager()


if __name__ == "__main__":
    main()
