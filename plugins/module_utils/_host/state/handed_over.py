# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The note of hosts that another plane manages by now: who enrolled one here again would interrupt its server; pure.

Only this collection writes and reads it. Whoever else writes it can keep hosts from being enrolled, no more.
"""
from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from ..._bmc.addresses.servers import Servers
from ..._common.documents.document_text import from_json
from ..._common.options.field_checks import is_name, show
from ..._common.problems.problem import Problem
from ..._common.texts.plain_text import shortened

Object = Mapping[str, Any]

# Name of the ConfigMap in the namespace that they have left.
NAME = "metal3-baremetal-handed-over"


class HandedOver(NamedTuple):
    """A host that has left.

    :ivar server: URL of the API server of the plane that manages it, as it was then
    :ivar at: when, RFC 3339 in UTC
    :ivar bmc: address of its BMC
    """

    server: str
    at: str
    bmc: str


def note(host: Object, server: str, at: str) -> str:
    """Return the text that is kept of a host.

    :param host: the BareMetalHost
    :param server: URL of the API server of the plane that takes over
    :param at: RFC 3339 in UTC
    """
    bmc = ((host.get("spec") or {}).get("bmc") or {}).get("address") or ""
    return json.dumps({"server": server, "at": at, "bmc": bmc}, sort_keys=True)


def read(config: Object | None) -> dict[str, HandedOver]:
    """Return what a ConfigMap notes, by the hosts' names; what is none of ours is left out.

    :param config: the ConfigMap, or None
    """
    data = (config or {}).get("data")
    found = {}
    for name, text in (data if isinstance(data, dict) else {}).items():
        try:
            kept = from_json(text)
            parts = [kept[key] for key in HandedOver._fields]
        except (KeyError, TypeError, ValueError):
            continue
        if all(isinstance(part, str) for part in parts):
            server, at, bmc = parts
            found[name] = HandedOver(shortened(server), shortened(at), bmc)
    return found


def texts(config: Object | None) -> dict[str, str]:
    """Return the notes of a ConfigMap as it has them, by the hosts' names, for another one.

    :param config: the ConfigMap, or None
    """
    return dict((name, (config or {})["data"][name]) for name in read(config) if is_name(name))


def problems(hosts: Iterable[Object], known: Mapping[str, HandedOver], namespace: str) -> list[Problem]:
    """Return a problem for each host of a list that another plane manages, by its name or its BMC.

    :param hosts: entries of the module ``baremetal_host`` that would be created
    :param known: what :func:`read` returns
    :param namespace: of the hosts
    """
    by_bmc = Servers()
    for name, item in known.items():
        by_bmc.add(item.bmc, name)
    found = []
    for host in hosts:
        name = str(host.get("name"))
        noted = name if name in known else by_bmc.find((host.get("bmc") or {}).get("address"))
        if noted is not None:
            found.append(Problem(
                "host-handed-over", name, "name", f"{show(noted)}, given to the plane of {known[noted].server} at "
                f"{known[noted].at}", "a host that no other plane manages",
                "take it out of the inventory, or move it back by the playbook move_hosts of that plane; if no plane "
                f"has it any more, delete the key {noted} of ConfigMap {namespace}/{NAME}"))
    return found
