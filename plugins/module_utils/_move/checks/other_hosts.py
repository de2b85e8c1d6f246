# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether the server of a host that comes into a plane has another host there: their work would meet; pure."""
from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, NamedTuple

from ..._bmc.addresses.servers import Servers
from ..._common.problems.problem import Problem
from ..._common.texts.plain_text import plain
from .rules import obstacle

Object = dict[str, Any]


class Shared(NamedTuple):
    """What two hosts have both.

    :ivar field: of BareMetalHosts
    :ivar value: of the host that comes
    :ivar other: namespace and name of the one that is there
    """

    field: str
    value: str
    other: str


class OtherHosts:
    """Hosts of a plane.

    :param hosts: BareMetalHosts of all namespaces
    :param namespace: into which hosts come
    :param coming: names of those that are no others there
    """

    def __init__(self, hosts: Iterable[Object], namespace: str, coming: Collection[str]) -> None:
        self._servers = Servers()
        # What nobody here can read is one BMC all the same when it is written the same way.
        self._addresses: dict[str, str] = {}
        self._macs: dict[str, str] = {}
        for host in hosts:
            metadata, spec = host["metadata"], host.get("spec") or {}
            if metadata.get("namespace") == namespace and metadata["name"] in coming:
                continue
            name = f"{metadata.get('namespace')}/{metadata['name']}"
            self._servers.add(_address(spec), name)
            if _address(spec):
                self._addresses.setdefault(str(_address(spec)), name)
            if spec.get("bootMACAddress"):
                self._macs.setdefault(str(spec["bootMACAddress"]).lower(), name)

    def shared(self, host: Object) -> list[Shared]:
        """Return what a host that comes has with others, a record for each field."""
        spec = host.get("spec") or {}
        mac = str(spec.get("bootMACAddress") or "")
        address = _address(spec)
        found = [("spec.bmc.address", address, self._servers.find(address) or self._addresses.get(str(address))),
                 ("spec.bootMACAddress", mac, self._macs.get(mac.lower()))]
        return [Shared(field, plain(str(value)), plain(other)) for field, value, other in found if other is not None]

    def problems(self, hosts: Iterable[Object]) -> list[Problem]:
        """Return a problem for each field that hosts which move have with others over there."""
        return [obstacle(host, field, f"{value}, which the host {other} over there has, too",
                         "one server in one plane only", "find out which of the two has the server; detach the other, "
                         "wait until it is detached, then delete it")
                for host in hosts for field, value, other in self.shared(host)]


def _address(spec: Object) -> Any:
    bmc = spec.get("bmc")
    return bmc.get("address") if isinstance(bmc, dict) else None
