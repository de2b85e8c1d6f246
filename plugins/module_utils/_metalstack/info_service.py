# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading what a metal-stack has."""
from __future__ import annotations

from typing import Any

from .._common.waiting import parallel
from .client import WORKERS, MetalClient
from .errors import MetalError
from .kinds import FIREWALL, IP, MACHINE, NETWORK

_KINDS = {"networks": NETWORK, "ips": IP, "machines": MACHINE}
_PLAIN = {"images": ("list_images", ("features", "classification")),
          "sizes": ("list_sizes", ()), "partitions": ("list_partitions", ())}
GATHERED = ("networks", "ips", "machines", "firewalls", "images", "sizes", "partitions", "projects")


def read(client: MetalClient, params: dict[str, Any]) -> dict[str, Any]:
    """Return what is asked for, by one request for each kind.

    :param params: ``gather``, ``project``, ``partition``, ``names``
    :raises MetalError: when metal-api cannot be asked
    """
    wanted = params["gather"] or list(GATHERED)
    sources = sorted(set("machines" if name == "firewalls" else name for name in wanted))
    outcomes = parallel.run([_reader(client, name) for name in sources], WORKERS, MetalError)
    found = dict(zip(sources, parallel.values(outcomes)))
    result = {}
    for name in wanted:
        objects = _facts(name, found["machines" if name == "firewalls" else name])
        result[name] = [item for item in objects if _fits(item, params)]
    return result


def _reader(client: MetalClient, name: str) -> Any:
    if name in _KINDS:
        return lambda: client.stored(_KINDS[name])
    if name == "projects":
        return client.projects
    return lambda: client.items(_PLAIN[name][0], subject=f"list of {name}")


def _facts(name: str, items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    if name == "firewalls":
        return [FIREWALL.facts(item) for item in items if _role(item) == "firewall"]
    if name == "machines":
        return [MACHINE.facts(item) for item in items if _role(item) != "firewall"]
    if name in _KINDS:
        return [_KINDS[name].facts(item) for item in items]
    if name == "projects":
        return [{"id": item["id"], "name": item.get("name") or "", "tenant": item.get("tenant_id") or ""}
                for item in items]
    return [dict({"id": item["id"], "name": item.get("name") or "", "description": item.get("description") or ""},
                 **dict((field, item.get(field)) for field in _PLAIN[name][1])) for item in items]


def _role(item: dict[str, Any]) -> str:
    allocation = item.get("allocation")
    return str(allocation.get("role") or "") if isinstance(allocation, dict) else ""


def _fits(item: dict[str, Any], params: dict[str, Any]) -> bool:
    if params.get("names") and item.get("name") not in params["names"]:
        return False
    return all(params.get(field) is None or field not in item or item[field] == params[field]
               for field in ("project", "partition"))
