# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Servers of the lab that nobody knows, which boot from the network and report themselves to Ironic."""
from __future__ import annotations

import bmc_system
import sushy
from support import eventually


def boot_from_the_network(lab, room, server):
    """Switch a server on, whose firmware tries the network first."""
    bmc_system.system(lab, server).set_system_boot_options(
        target=sushy.BOOT_SOURCE_TARGET_PXE, enabled=sushy.BOOT_SOURCE_ENABLED_CONTINUOUS)
    room.power(server["name"], "power_off")
    room.power(server["name"], "power_on")


def discovered_node(lab, server, seconds=120):
    """Return the node that Ironic made of a server that booted, once it has kept the report."""
    def node():
        ports = [port for port in lab.ironic().ports(details=True) if port.address == server["boot_mac"]]
        found = lab.ironic().get_node(ports[0].node_id) if ports else None
        return found if found and lab.ironic().get_node_inventory(found) else None
    return eventually(node, seconds, f"a node of {server['name']}, which nobody knows", interval_seconds=1,
                      not_yet=(Exception,))


def delete_discovered(lab):
    """Delete the nodes that Ironic made of servers that nobody knows, and return their UUIDs."""
    made = [node.id for node in lab.ironic().nodes() if not node.name]
    for node in made:
        lab.ironic().delete_node(node)
    return made


def expressions(lab):
    """Return the playbook's variables by which the inventory it writes finds the credentials of the lab's BMCs."""
    server = (f"(lookup('ansible.builtin.file', '{lab.dir / 'servers.json'}') | from_json | selectattr('name', "
              "'equalto', inventory_hostname) | first)")
    return dict((f"discover_{name}_expression", f"lookup('ansible.builtin.file', {server}.bmc.{name}_file)")
                for name in ("username", "password"))


def local_inventory(folder):
    """Make an inventory of a folder that knows nothing but this machine, and return the folder."""
    (folder / "hosts.yml").write_text("all:\n  hosts:\n    localhost: {ansible_connection: local, "
                                      "ansible_python_interpreter: '{{ ansible_playbook_python }}'}\n")
    return folder


def how_to_discover(lab, server):
    """Return the playbook's variables that do not depend on what machines reported.

    :param server: one of the lab, whose credentials it tries
    """
    return {
        "metal3_ca_file": str(lab.dir / "pki" / "ca.crt"),
        "metal3_ironic": {"cloud": "metal3-lab", "clouds_file": str(lab.dir / "clouds.yaml")},
        "discover_source": "ironic",
        # Of all of these, what machines reported is asked.
        "discover_addresses": ["127.0.0.0/8"],
        "discover_username": bmc_system.credential(server, "username"),
        "discover_password": bmc_system.credential(server, "password"),
        "discover_schemes": ["redfish"],
    }
