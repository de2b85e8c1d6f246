# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Filter that turns servers' inventory variables into entries for baremetal_host."""
from __future__ import annotations

from ansible.errors import AnsibleFilterError

DOCUMENTATION = r"""
name: host_entries
short_description: Entries for baremetal_host from inventory variables
version_added: "0.1.0"
description:
  - Returns the value for O(metal3.baremetal.baremetal_host#module:hosts) of servers in the inventory.
  - C(bmc_address), C(bmc_username), C(bmc_password), C(bmc_credentials_name) and
    C(bmc_disable_certificate_verification) are the BMC's, C(boot_mac) is the boot MAC address. C(bmh_labels),
    C(bmh_annotations) and C(bmh_<option>) are the options of that name.
  - Servers of several planes or namespaces (C(metal3_kubeconfig), C(metal3_namespace)) are refused, because the
    entries are for one.
  - A value of an entry that has an undefined variable in it, or cannot be templated, is an error with the names of all
    such servers and variables.
  - C(bmh_user_data) is text; C(bmh_network_data), C(bmh_meta_data) and C(bmh_preprovisioning_network_data) are text or
    dictionaries. A dictionary with only C(name) names a Secret.
positional: names, only
options:
  only:
    description:
      - Which entries, and what of them.
      - V(all) is an entry for each server; V(deployable) are those that name an image or another way of deployment,
        which an empty C(bmh_image) does not, and V(without_image) the others; V(undeployed) has all servers without
        everything that deploys something; V(absent) has the name and C(state=absent) only, also of servers that the
        inventory does not have.
    type: str
    choices: [all, deployable, without_image, undeployed, absent]
    default: all
extends_documentation_fragment:
  - metal3.baremetal.named_hosts
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Enrol all servers of the inventory
  metal3.baremetal.baremetal_host:
    hosts: "{{ hostvars | metal3.baremetal.host_entries(groups['baremetal']) }}"
  run_once: true
  delegate_to: localhost
"""

RETURN = r"""
_value:
  description: The entries, in the order of O(names).
  type: list
  elements: dict
"""


def host_entries(hostvars, names, only="all"):
    """Return the entries of the named servers; see DOCUMENTATION."""
    from ansible_collections.metal3.baremetal.plugins.module_utils._host.description import inventory as host_inventory
    from ansible_collections.metal3.baremetal.plugins.module_utils._host.description import selection as host_selection
    from ansible_collections.metal3.baremetal.plugins.plugin_utils import _named_hosts as named_hosts

    if only == "absent":
        if not isinstance(names, str):
            named_hosts.require_one_plane("host_entries", named_hosts.planes_of(hostvars, names))
        return host_selection.absent(names)
    if only not in host_selection.SELECTIONS:
        raise AnsibleFilterError(
            f"host_entries: only: found {only!r}, expected absent or one of {', '.join(host_selection.SELECTIONS)}")
    named_hosts.require("host_entries", hostvars, names)
    planes, entries, unknown = {}, [], {}
    for name in names:
        # Of ten thousand servers not all at a time.
        stored = hostvars[name]
        variables = named_hosts.Noting(stored)
        planes.setdefault(named_hosts.plane_of(stored), name)
        entries.append(host_inventory.entry(name, variables))
        unknown[name] = variables.unknown
    named_hosts.require_one_plane("host_entries", planes)
    selected = host_selection.SELECTIONS[only](entries)
    chosen = set(entry["name"] for entry in selected)
    named_hosts.require_known("host_entries", dict((name, dict(
        (variable, why) for variable, why in variables.items()
        if host_selection.counts(only, variable.removeprefix(host_inventory.PREFIX), name in chosen)))
        for name, variables in unknown.items()))
    return selected


class FilterModule:
    """The filter of this file."""

    def filters(self):
        """Return the filter by name."""
        return {"host_entries": host_entries}
