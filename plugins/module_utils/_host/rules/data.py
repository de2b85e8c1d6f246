# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""User data, network data and metadata of a host; pure."""
from __future__ import annotations

from ..._common.documents.document_text import from_json
from ..._common.options import network_data
from ..._common.options.field_checks import DNS_NAME, show
from ..._common.problems.problem import Problem
from ..._common.redaction.redaction import HIDDEN
from ..description import fields as host_fields

PREPROVISIONING = "preprovisioning_network_data"
# What Ironic requires of the data for the agent (api/controllers/v1/network-data-schema.json); it refuses the host's
# registration without, and says only that an address does not match a pattern.
PARTS = ("links", "networks", "services")
REQUIRED_OF_NETWORK = ("id", "link", "network_id", "type")
REQUIRED_OF_LINK = {
    "bond": ("id", "type", "ethernet_mac_address", "bond_mode", "bond_links"),
    "vlan": ("id", "type", "vlan_mac_address", "vlan_link", "vlan_id"),
}
REQUIRED_OF_OTHER_LINKS = ("id", "type", "ethernet_mac_address")


def check(label, host):
    """Return the Problems of an entry's data, given inline or by the name of a Secret."""
    problems = []
    for option in host_fields.DATA_KEYS:
        data = host.get(option) or {}
        name, content = data.get("name"), data.get("content")
        if name and not DNS_NAME.match(name):
            problems.append(Problem("host-data", label, option + ".name", show(name), "a Secret's name",
                                    f"name the Secret without its namespace, or give {option}.content in its place"))
        if content is not None and not content.strip():
            problems.append(Problem("host-data", label, option + ".content", "an empty text", "content",
                                    f"give content, or an empty {option} to remove it"))
        elif content is not None and option != "user_data" and content.lstrip()[:1] == "{":
            try:
                data = from_json(content)
            except ValueError:
                problems.append(Problem("host-data", label, option + ".content", HIDDEN, "a JSON or YAML mapping",
                                        "pass a dictionary through the filter to_json"))
                continue
            if option == PREPROVISIONING and data:
                problems += _check_preprovisioning(label, data)
            if host_fields.DATA_KEYS[option] == "networkData":
                problems += network_data.problems("host-data", label, option, data)
        elif content is not None and option != "user_data" and content.lstrip()[:1] in ("[", "-", "#!") \
                and not content.lstrip().startswith("---"):
            problems.append(Problem("host-data", label, option + ".content", HIDDEN, "a mapping, not a list",
                                    "give a dictionary with links, networks and services" if "network" in option
                                    else "give a dictionary"))
    return problems


def _check_preprovisioning(label, data):
    missing = [part for part in PARTS if not isinstance(data.get(part), list)]
    if missing:
        return [Problem("host-data", label, PREPROVISIONING, f"no list {', '.join(missing)}",
                        f"the lists {', '.join(PARTS)}", "add them; an empty list is enough")]
    problems = []
    for part, required in (("links", _required_of_link), ("networks", lambda dummy: REQUIRED_OF_NETWORK)):
        for number, entry in enumerate(data[part]):
            field = f"{PREPROVISIONING}.{part}[{number}]"
            if not isinstance(entry, dict):
                problems.append(Problem("host-data", label, field, show(entry), "a mapping", "correct it"))
                continue
            lacking = [name for name in required(entry) if entry.get(name) in (None, "")]
            if lacking:
                problems.append(Problem("host-data", label, field, f"no {', '.join(lacking)}",
                                        f"{', '.join(required(entry))}, which Ironic requires", "add them"))
    return problems


def _required_of_link(link):
    return REQUIRED_OF_LINK.get(link.get("type"), REQUIRED_OF_OTHER_LINKS)
