# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which addresses a machine of a plane has, by variables of the roles; pure."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .._common.addresses import ip_texts
from .._common.options.field_checks import truth, type_error


def of_machine(variables: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return ``address``, ``variable`` and ``may_be_kept`` of each, see ``taken_options``.

    What is not right in itself is left out, for its own run refuses it.

    :param variables: mapping of a machine's variables, those that the inventory gives
    """
    found: list[tuple[str, Any, bool]] = []
    if variables.get("provisioning_network_state") != "absent":
        own = variables.get("provisioning_network_addresses")
        found += [("provisioning_network_addresses", text, False)
                  for text in (own if isinstance(own, (list, tuple)) else [own])]
        held = "provisioning_network_keepalived_address"
        found.append((held, variables.get(held), False))
    plane = variables.get("management_plane")
    if isinstance(plane, Mapping) and plane.get("mode") == "process":
        found.append(("management_plane.address", plane.get("address"), False))
    # Without keepalived it is that of a node, which may be a server of this network.
    keepalived = variables.get("ironic_keepalived")
    is_held = type_error("bool", keepalived) is None and truth(keepalived)
    found.append(("ironic_provisioning_ip", variables.get("ironic_provisioning_ip"), not is_held))
    return [{"variable": variable, "address": text, "may_be_kept": may_be_kept}
            for variable, text, may_be_kept in found
            if isinstance(text, str) and ip_texts.is_address(text.partition("/")[0])]
