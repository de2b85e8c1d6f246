# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""User data, network data and metadata of a host; pure."""
from __future__ import annotations

from ..._common.documents.document_text import HAS_YAML, DocumentError, from_json, from_yaml
from ..._common.options import network_data
from ..._common.options.field_checks import DNS_NAME, show
from ..._common.problems.problem import Problem
from ..._common.redaction.redaction import HIDDEN
from ..._kube.objects import secret_data
from ..description import fields as host_fields

PREPROVISIONING = "preprovisioning_network_data"
NETWORK_KEY = host_fields.DATA_KEYS[PREPROVISIONING]
# What Ironic requires of the data for the agent (api/controllers/v1/network-data-schema.json); it refuses the host's
# registration without, and says only that an address does not match a pattern.
PARTS = ("links", "networks", "services")
REQUIRED_OF_NETWORK = ("id", "link", "network_id", "type")
REQUIRED_OF_LINK = {
    "bond": ("id", "type", "ethernet_mac_address", "bond_mode", "bond_links"),
    "vlan": ("id", "type", "vlan_mac_address", "vlan_link", "vlan_id"),
}
REQUIRED_OF_OTHER_LINKS = ("id", "type", "ethernet_mac_address")
# A server's network data has a few KiB. What others have stored must not take a run's time.
LONGEST_STORED_BYTES = 64 * 1024
MOST_PATHS = 8


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
        elif content is not None and option != "user_data":
            problems += _check_text(label, option, content)
    return problems


def check_secret(label, option, name, secret):
    """Return the Problem of network data in a Secret that an entry names, as a list; no value of it is quoted.

    BMO reads the text as YAML (``register.go``, ``getConfigDrive`` in ``ironic.go``).

    :param label: of the entry
    :param option: ``network_data`` or ``preprovisioning_network_data``; of others nothing is said
    :param name: of the Secret
    :param secret: the Secret as anybody has written it
    """
    if not _is_network(option):
        return []
    key = NETWORK_KEY if NETWORK_KEY in secret["data"] else "value"
    content = secret_data.value(secret, key) or b""
    if not HAS_YAML or len(content) > LONGEST_STORED_BYTES:
        return []
    try:
        data = _read(content)
    except DocumentError as exc:
        actual, expected = f"Secret {name}, whose {key} cannot be read ({exc})", "a JSON or YAML mapping"
    else:
        paths = list(dict.fromkeys(problem.field for problem in _check_network_data(label, option, key, data)))
        if not paths:
            return []
        actual = f"Secret {name} with problems at {', '.join(paths[:MOST_PATHS])}" + (
            " and more" if len(paths) > MOST_PATHS else "")
        expected = "links that can stand on one another, one default route for each family, and what Ironic requires"
    return [Problem("host-data", label, f"{option}.name", actual, expected,
                    f"correct the Secret; given as {option}.content, each problem is explained")]


def _read(content):
    try:
        data = from_json(content)
    except DocumentError:
        data = from_yaml(content)
    if data is not None and not isinstance(data, dict):
        raise DocumentError("no mapping")
    return data


def _check_text(label, option, content):
    start, field = content.lstrip(), option + ".content"
    if start[:1] == "{":
        try:
            data = from_json(content)
        except ValueError:
            return [_no_mapping(label, field, HIDDEN)]
        found = []
        if option == PREPROVISIONING and data:
            found += _check_preprovisioning(label, option, data)
        return found + (network_data.problems("host-data", label, option, data) if _is_network(option) else [])
    if start[:1] in ("[", "-", "#!") and not start.startswith("---"):
        return [Problem("host-data", label, field, HIDDEN, "a mapping, not a list",
                        "give a dictionary with links, networks and services" if "network" in option
                        else "give a dictionary")]
    if not _is_network(option) or not HAS_YAML:
        return []
    try:
        data = from_yaml(content)
    except DocumentError as exc:
        return [_no_mapping(label, field, f"a text that cannot be read ({exc})")]
    return _check_network_data(label, option, option, data)


def _is_network(option):
    return host_fields.DATA_KEYS[option] == NETWORK_KEY


def _no_mapping(label, field, actual):
    return Problem("host-data", label, field, actual, "a JSON or YAML mapping",
                   "pass a dictionary through the filter to_json")


def _check_network_data(label, option, path, data):
    """Return the Problems of network data of any shape that was read as YAML.

    :param path: of the document
    """
    # What has comments alone is no data to BMO.
    if data is None:
        return []
    if not isinstance(data, dict):
        return [_no_mapping(label, f"{option}.content", HIDDEN)]
    found = []
    # Who builds the agent's images by a controller may have a format of their own, which Ironic does not get.
    if option == PREPROVISIONING and any(part in data for part in PARTS):
        found = _check_preprovisioning(label, path, data)
    return found + network_data.problems("host-data", label, path, data)


def _check_preprovisioning(label, path, data):
    missing = [part for part in PARTS if not isinstance(data.get(part), list)]
    if missing:
        return [Problem("host-data", label, path, f"no list {', '.join(missing)}",
                        f"the lists {', '.join(PARTS)}", "add them; an empty list is enough")]
    problems = []
    for part, required in (("links", _required_of_link), ("networks", lambda dummy: REQUIRED_OF_NETWORK)):
        for number, entry in enumerate(data[part]):
            field = f"{path}.{part}[{number}]"
            if not isinstance(entry, dict):
                problems.append(Problem("host-data", label, field, HIDDEN, "a mapping", "correct it"))
                continue
            lacking = [name for name in required(entry) if entry.get(name) in (None, "")]
            if lacking:
                problems.append(Problem("host-data", label, field, f"no {', '.join(lacking)}",
                                        f"{', '.join(required(entry))}, which Ironic requires", "add them"))
    return problems


def _required_of_link(link):
    kind = link.get("type")
    return REQUIRED_OF_LINK.get(kind if isinstance(kind, str) else "", REQUIRED_OF_OTHER_LINKS)
