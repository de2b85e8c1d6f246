# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Filter that finds the kubeconfig of the plane that manages a site."""
from __future__ import annotations

from ansible.errors import AnsibleFilterError

DOCUMENTATION = r"""
name: management_kubeconfig
short_description: Kubeconfig of the plane that manages a site
version_added: "0.1.0"
description:
  - Returns the path that was given, C(metal3_kubeconfig). Without it, and with one cluster of the inventory that has
    C(cluster_management), the path of the kubeconfig of the plane that manages the site now. That is the bootstrap
    plane of C(management_plane), or the plane in that cluster once the playbook C(site) has moved the management there
    and recorded it; see M(metal3.baremetal.plane_manager).
  - Without such a cluster, and without an environment variable that names a kubeconfig or an API server (E(KUBECONFIG),
    E(K8S_AUTH_KUBECONFIG), E(K8S_AUTH_HOST)), the path is that of the one plane that the group C(management) describes,
    unless its C(management_plane) has a C(context). So servers do not go to the cluster of C(~/.kube/config).
  - Otherwise it returns an empty text.
  - It fails when the record or the cluster's kubeconfig in the site's folder could have been written by others, or when
    the kubeconfig leads elsewhere than the record says.
positional: given
options:
  _input:
    description: The variable C(hostvars).
    type: dict
    required: true
  given:
    description: The path that the inventory gives, empty for none.
    type: raw
    default: ""
seealso:
  - plugin: metal3.baremetal.management_site
    plugin_type: filter
  - module: metal3.baremetal.plane_manager
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: List the hosts of the plane that manages
  metal3.baremetal.baremetal_host_info:
    kubeconfig: "{{ hostvars | metal3.baremetal.management_kubeconfig }}"
"""

RETURN = r"""
_value:
  description: The path, or an empty text.
  type: str
"""


def management_kubeconfig(hostvars, given=""):
    """Return the path of a kubeconfig; see DOCUMENTATION."""
    from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.errors import ReportedError
    from ansible_collections.metal3.baremetal.plugins.plugin_utils import _managed_site as managed_site

    if given:
        return given
    try:
        return managed_site.kubeconfig(hostvars)
    except ReportedError as exc:
        raise AnsibleFilterError(str(exc)) from None


class FilterModule:
    """The filter of this file."""

    def filters(self):
        """Return the filter by name."""
        return {"management_kubeconfig": management_kubeconfig}
