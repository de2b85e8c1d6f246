# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Options of modules that allocate servers of metal-stack."""
from __future__ import annotations

_ALLOCATION = """
      name:
        description: Name of the allocation, by which it is found in its project.
        type: str
        required: true
      id:
        description:
          - UUID of the server that must be taken. metal-api then ignores partition and size.
          - Also names one of several allocations with the same name.
        type: str
      partition:
        description: Partition. Required to allocate, unless C(id) is set.
        type: str
      size:
        description: Size. Required to allocate, unless C(id) is set.
        type: str
      image:
        description:
          - Id of the image, or of a series such as V(ubuntu-24.04) or V(firewall-ubuntu-3.0), whose newest is taken.
          - Required to allocate.
        type: str
      hostname:
        description: Host name; by default the name.
        type: str
      networks:
        description:
          - Networks, exactly one of them a private one of the project. A plain id may stand for an entry.
          - Cannot be changed; one that an allocated machine lacks is refused.
        type: list
        elements: dict
        suboptions:
          name:
            description: Id of the network.
            type: str
            required: true
          autoacquire:
            description: Whether an address of this network is allocated for it.
            type: bool
            default: true
      ips:
        description: Addresses of the project that it gets, for example the endpoint of a control plane. As C(networks).
        type: list
        elements: str
      ssh_keys:
        description: Public SSH keys, for an allocation.
        type: list
        elements: str
      tags:
        description:
          - Tags as a whole. Tags that metal-api writes itself (C(machine.metal-stack.io/)) stay.
          - metal-api leaves the last ones. An empty list is refused for a machine that has some.
        type: list
        elements: str
      user_data:
        description: Ignition or cloud-init for the first boot, for an allocation. Never shown.
        type: str
      filesystem_layout:
        description: Id of the file system layout. Cannot be changed.
        type: str
      placement_tags:
        description: Machines with the same placement tags are spread over racks. For an allocation.
        type: list
        elements: str
      power:
        description:
          - V(on) and V(off) are compared with what the BMC reports. V(cycle) and V(reset) interrupt it in each run.
          - All but V(on) must be repeated in O(confirm).
          - What the same run allocates is not interrupted. V(off) is refused for it, for it is installed while it runs.
        type: str
        choices: ["on", "off", cycle, reset]
      project:
        description: UUID of the project that has it.
        type: str
        required: true
      description:
        description: A text for users.
        type: str
      state:
        description: Whether it must exist. With V(absent) it is freed, which O(confirm) must repeat.
        type: str
        choices: [present, absent]
        default: present
"""
# The same for each way.
_RULES = """\
            type: list
            elements: dict
            suboptions:
              comment:
                description: A text for users.
                type: str
              protocol:
                description: Protocol.
                type: str
                choices: [tcp, udp]
                required: true
              ports:
                description: Ports.
                type: list
                elements: int
                required: true
              to:
                description: Networks that they go to.
                type: list
                elements: str"""


class ModuleDocFragment:
    """What entries have of ``_allocation_options`` in ``module_utils/_metalstack/fields.py``.

    Fragments merge no suboptions, so that those of one module are here, too. With a type, yamllint's sanity test does
    not expect each of them to be one literal.
    """

    DOCUMENTATION = r"""
options:
  wait:
    description: Whether to wait until what is allocated has phoned home, and what is freed is free.
    type: bool
    default: true
  wait_timeout_seconds:
    description: How long to wait at most, in seconds.
    type: int
    default: 1800
  poll_interval_seconds:
    description: From one question to the next, in seconds, above 0.
    type: float
    default: 5.0
"""

    # Of metalstack_machine.
    MACHINES: str = r"""
options:
  machines:
    type: list
    elements: dict
    required: true
    suboptions:
      reinstall:
        description:
          - Whether a machine with another image is reinstalled with O(machines[].image), which O(confirm) must repeat;
            else another image is refused. Of a series, the newest image is taken.
        type: bool
        default: false""" + _ALLOCATION

    # Of metalstack_firewall.
    FIREWALLS: str = r"""
options:
  firewalls:
    type: list
    elements: dict
    required: true
    suboptions:
      rules:
        description: Firewall rules of the allocation. Cannot be changed.
        type: dict
        suboptions:
          egress:
            description: Rules for outgoing connections.
""" + _RULES + """
          ingress:
            description: Rules for incoming connections.
""" + _RULES + """
              from:
                description: Networks that they come from.
                type: list
                elements: str""" + _ALLOCATION
