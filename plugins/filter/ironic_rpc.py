# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Filter that says where the conductors of an Ironic in several processes listen."""
from __future__ import annotations

from ansible.errors import AnsibleFilterError

DOCUMENTATION = r"""
name: ironic_rpc
short_description: Where the conductors of an Ironic in several processes listen
version_added: "0.1.0"
description:
  - Returns the port and the loopback addresses at which conductors of a plane of processes are asked by each other and
    by Ironic's API, for the role C(ironic).
options:
  _input:
    description: Port of the plane's etcd, by which the addresses differ from those of other planes of the machine.
    type: int
    required: true
seealso:
  - module: metal3.baremetal.plane_site
author:
  - metal3.baremetal contributors (@metal3-community)
"""

EXAMPLES = r"""
- name: Say where the first conductor listens
  ansible.builtin.debug:
    msg: "{{ conductors.addresses[0] }}:{{ conductors.port }}"
  vars:
    conductors: "{{ management_plane.ports.etcd_client | metal3.baremetal.ironic_rpc }}"
"""

RETURN = r"""
_value:
  description: Port and addresses.
  type: dict
  contains:
    port:
      description: The same for all conductors.
      type: int
    addresses:
      description: One for each conductor, for as many as there can be.
      type: list
      elements: str
  sample: {port: 8089, addresses: [127.78.32.1, 127.78.32.2, 127.78.32.3, 127.78.32.4]}
"""


def ironic_rpc(etcd_port):
    """Return port and addresses; see DOCUMENTATION."""
    from ansible_collections.metal3.baremetal.plugins.module_utils._metal3 import ironic_rpc as places

    try:
        port = int(etcd_port)
    except (TypeError, ValueError) as exc:
        raise AnsibleFilterError(
            f"ironic_rpc: found {type(etcd_port).__name__}, expected the port of etcd; give "
            "management_plane.ports.etcd_client") from exc
    return {"port": places.PORT, "addresses": places.conductor_addresses(port)}


class FilterModule:
    """The filter of this file."""

    def filters(self):
        """Return the filter by name."""
        return {"ironic_rpc": ironic_rpc}
