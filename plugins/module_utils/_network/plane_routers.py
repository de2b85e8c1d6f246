# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""By which virtual routers the machines of a plane hold its addresses, by variables of the roles; pure."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .._common.addresses import virtual_router
from .._common.options.field_checks import truth, type_error

_PREFIX = "provisioning_network_keepalived_"
_BY_IRONIC = "ironic_keepalived"
# Of Metal³'s image of keepalived, which ironic_keepalived starts: nobody can set it.
_OF_IRONIC = 1


def of_machine(variables: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return ``address`` and ``number`` of each, and the ``variable`` that decides the number.

    What is not right in itself is left out, for its own run refuses it.

    :param variables: mapping of a machine's variables, those that the inventory gives
    """
    found = []
    number = variables.get(_PREFIX + "router_id")
    number = virtual_router.DEFAULT_NUMBER if number is None else number
    # With peers it goes to them alone, and they hear nothing else.
    if variables.get("provisioning_network_state") != "absent" and not variables.get(_PREFIX + "peers") \
            and type_error("int", number) is None:
        found.append((_PREFIX + "router_id", variables.get(_PREFIX + "address"), int(number)))
    keepalived = variables.get(_BY_IRONIC)
    if type_error("bool", keepalived) is None and truth(keepalived):
        found.append((_BY_IRONIC, variables.get("ironic_provisioning_ip"), _OF_IRONIC))
    return [{"address": address, "number": number, "variable": variable} for variable, address, number in found
            if isinstance(address, str) and virtual_router.of_text(address, number) is not None]
