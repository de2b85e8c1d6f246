# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which kinds of links a description has that a site's cables and switches can't carry; pure."""
from __future__ import annotations

from ..._common.options.field_checks import shown
from ..._common.problems.problem import Problem
from ..description.spec import LINK_KINDS


def link_problems(subject, description):
    """Return a mistake for each described link of a kind that ``supported_links`` does not have."""
    supported = description.supported_links
    if supported is None:
        return []
    used = []
    for name in sorted(description.networks):
        network = description.networks[name]
        kind = "bond" if network.get("bond") else "vlan" if network.get("vlan") else "ethernet"
        used.append((kind, f"networks.{name}.{'interface' if kind == 'ethernet' else kind}"))
    for group in description.groups:
        field = group.field
        links = (group.get("network_data") or {}).get("links") or {}
        used += [(kind, f"{field}.network_data.links.{kind}s") for kind in LINK_KINDS if links.get(kind + "s")]
    return [Problem("network", subject, field, shown(kind),
                    f"a link of supported_links, which are {', '.join(supported)}",
                    "describe the network without it, or add it to supported_links where the site has it")
            for kind, field in used if kind not in supported]
