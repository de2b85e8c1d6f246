# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Filter that reads from an inventory into which cluster its management is to move."""
from __future__ import annotations

DOCUMENTATION = r"""
name: management_site
short_description: The cluster of an inventory that is to manage its site
version_added: "0.1.0"
description:
  - Returns what the playbook C(site) needs of an inventory in which one cluster has C(cluster_management), and an empty
    dictionary when none has.
  - Mistakes of the bootstrap plane, of the cluster and of what must be there when the bootstrap plane is not any more
    are returned as one text, by the rules C(management-*) of the lint.
options:
  _input:
    description: The variable C(hostvars).
    type: dict
    required: true
seealso:
  - plugin: metal3.baremetal.management_kubeconfig
    plugin_type: filter
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Show which cluster is to manage the site
  ansible.builtin.debug:
    msg: "{{ (hostvars | metal3.baremetal.management_site).cluster | default('none') }}"
"""

RETURN = r"""
_value:
  description:
    - C(host), the inventory host that stands for the cluster; C(cluster) and C(cluster_namespace); C(endpoint_host) and
      C(endpoint_port); C(name) and C(plane_dir) of the bootstrap plane; C(management_plane) of the plane in the
      cluster; C(warnings), a list of texts; C(manages), whether the cluster manages the site now, as was recorded. Only
      C(refused), a text, and C(host) as far as it is known, when there are mistakes. Empty when no cluster has
      C(cluster_management).
  type: dict
"""


def management_site(hostvars):
    """Return what the inventory says of a site with a cluster of its own; see DOCUMENTATION."""
    from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.errors import RefusedError
    from ansible_collections.metal3.baremetal.plugins.module_utils._move.manager import site_checks
    from ansible_collections.metal3.baremetal.plugins.plugin_utils import _managed_site as managed_site

    site = None
    try:
        site = managed_site.read(hostvars)
        if site is None:
            return {}
        found = managed_site.problems(site, hostvars)
        errors = [problem for problem in found if problem.code != site_checks.SIZE]
        if errors:
            raise RefusedError(errors)
        manages = managed_site.manages(site)
    except RefusedError as exc:
        return dict({"refused": str(exc)}, **({"host": site.host} if site else {}))
    plane, endpoint = site.managing["management_plane"], site.cluster.get("cluster_endpoint")
    return {"host": site.host, "manages": manages, "cluster": site.name, "cluster_namespace": site.namespace,
            "endpoint_host": str((endpoint or {}).get("host") or ""),
            "endpoint_port": str((endpoint or {}).get("port") or 6443),
            "name": plane["name"], "plane_dir": plane["dir"],
            "management_plane": site_checks.own_plane(site.cluster, site.folder().kubeconfig),
            "warnings": [str(problem) for problem in found]}


class FilterModule:
    """The filter of this file."""

    def filters(self):
        """Return the filter by name."""
        return {"management_site": management_site}
