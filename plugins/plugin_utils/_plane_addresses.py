# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The addresses of the machines of a plane of an inventory."""
from __future__ import annotations

from ansible_collections.metal3.baremetal.plugins.module_utils._network import plane_addresses
from ansible_collections.metal3.baremetal.plugins.plugin_utils import _managed_site as managed_site
from ansible_collections.metal3.baremetal.plugins.plugin_utils import _named_hosts as named_hosts


def beside(hostvars, machines, machine):
    """Return those of all machines that may be of the plane of a machine, its own among them.

    What cannot be templated for one machine is no reason for the run of another to fail.

    :param hostvars: mapping of host names to variables
    :param machines: names of the planes' machines
    :param machine: its name
    """
    names = managed_site.MachinePlanes(hostvars, [machine, *machines]).beside(machine)
    return [{"owner": f"{name} ({found['variable']})", "address": found["address"],
             "may_be_kept": found["may_be_kept"]}
            for name in names for found in plane_addresses.of_machine(named_hosts.Noting(hostvars[name]))]
