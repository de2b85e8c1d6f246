# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which logs of DHCP and web servers a site has that the collection's own roles have set up; pure."""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

# The variables that count, beside management_plane.
NAMES = ("ansible_connection", "provisioning_network_name", "provisioning_network_dhcp_log_file",
         "provisioning_network_dhcp_ranges", "provisioning_network_state")
_LOCAL = ("local", "ansible.builtin.local")


def site_logs(machines: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the paths of the logs on this machine, by what the inventory says of the machines of the plane.

    Those of a plane in a cluster are of its pods: there is no path to them.

    :param machines: variables of each host of the group ``management``
    """
    found: list[str] = []
    for variables in machines:
        # What runs elsewhere writes its logs there.
        if variables.get("ansible_connection") not in _LOCAL:
            continue
        plane = variables.get("management_plane")
        if isinstance(plane, Mapping) and plane.get("mode") == "process" and isinstance(plane.get("dir"), str):
            # Roles bootstrap_plane and ironic: boot files and boot images are read from it, and Ironic is called at it.
            found.append(f"{plane['dir']}/log/image-server.log")
        found += _dhcp_logs(variables)
    return list(dict.fromkeys(found))


def _dhcp_logs(variables: Mapping[str, Any]) -> list[str]:
    name, log = variables.get("provisioning_network_name"), variables.get("provisioning_network_dhcp_log_file")
    if (not name or not variables.get("provisioning_network_dhcp_ranges")
            or variables.get("provisioning_network_state", "present") != "present"):
        return []
    # As the role provisioning_network has it, which refuses other paths.
    return [f"/var/log/dnsmasq-{name}.log"] if log is None else [log] if str(log).startswith("/") else []
