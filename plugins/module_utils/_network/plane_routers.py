# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""By which virtual routers the machines of a plane hold its addresses, by variables of the roles; pure."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .._common.addresses import ip_texts, virtual_router
from .._common.options.field_checks import truth, type_error

_PREFIX = "provisioning_network_keepalived_"
_BY_IRONIC = "ironic_keepalived"


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
        held, own = (variables.get(name) for name in ("ironic_provisioning_ip", "provisioning_network_addresses"))
        found.append((_BY_IRONIC, _with_network(held, own), virtual_router.IRONIC_NUMBER))
    return [{"address": address, "number": number, "variable": variable} for variable, address, number in found
            if isinstance(address, str) and virtual_router.of_text(address, number) is not None]


def _with_network(address: Any, own: Any) -> Any:
    """Return an address with the prefix of the machine's network that it is in, as it is where none is described."""
    if not isinstance(address, str) or not ip_texts.is_address(address):
        return address
    held = ip_texts.address(address)
    networks = [router.network for text in (own if isinstance(own, (list, tuple)) else [own]) if isinstance(text, str)
                for router in [virtual_router.of_text(text, virtual_router.IRONIC_NUMBER)] if router is not None]
    return next((f"{held}/{network.prefixlen}" for network in networks
                 if network is not None and network.version == held.version and held in network), address)
