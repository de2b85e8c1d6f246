# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Asks the BMCs of hosts whose agent has fallen silent for power, with the credentials that the operator has."""
from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .._bmc.addresses import address as bmc_address
from .._bmc.protocols import endpoint, power
from .._bmc.protocols.gather import Settings, Target
from .._bmc.protocols.redfish import HAS_SUSHY
from .._kube.api.client import KubeClient
from .._kube.connection.library import HAS_KUBERNETES
from .._kube.kinds.resources import KNOWN
from .._kube.objects import secret_data
from .._kube.responses.errors import KubeError

_SETTINGS = Settings(None, connect_timeout_seconds=10, read_timeout_seconds=30, concurrency=16)
# What a wait says of each answer, and what to check.
TEXTS = {
    power.OFF: ("its BMC reported it as off", "check its power supply, and who has switched it off"),
    power.ON: ("its BMC reported it as on", "check its cable, the port's VLAN and its console"),
    power.SILENT: ("its BMC did not answer either", "check the power of its chassis and the BMC's network"),
}


class PowerQuestion:
    """Reads credentials and asks BMCs; what keeps it from that is no failure, and leaves the power unknown.

    :param params: the module's parameters: connection options of Kubernetes, ``boot_ca_file``, ``boot_bmc_ca_files``
    :param connect: callable that takes them and returns a KubeClient
    """

    def __init__(self, params: Mapping[str, Any], connect: Callable[[Any], Any] = KubeClient) -> None:
        self._params = params
        self._connect = connect

    def ask(self, hosts: Sequence[dict[str, Any]]) -> list[str]:
        """Return for each host ``on``, ``off`` or ``silent``, as its BMC is; empty when that is not known.

        :param hosts: BareMetalHosts
        """
        targets = self._targets(hosts)
        asked = [target for target in targets if target is not None]
        answers = iter(power.states(asked, _SETTINGS))
        return ["" if target is None else next(answers) for target in targets]

    def _targets(self, hosts: Sequence[dict[str, Any]]) -> list[Target | None]:
        if not HAS_KUBERNETES and self._connect is KubeClient:
            return [None] * len(hosts)
        try:
            client = self._connect(self._params)
        except KubeError:
            return [None] * len(hosts)
        return [_target(client, bmh, self._authorities(bmh["metadata"]["name"])) for bmh in hosts]

    def _authorities(self, name: str) -> str | None:
        """Return the file by which a host's BMC is verified, empty for those of the system, None when none is known."""
        files = self._params.get("boot_bmc_ca_files")
        if files is None:
            return self._params.get("boot_ca_file") or ""
        found = (files.get("hosts") or {}).get(name, files.get("others"))
        return None if found is None else os.path.expanduser(os.path.expandvars(str(found)))


def _target(client: Any, bmh: dict[str, Any], authorities: str | None) -> Target | None:
    """Return the BMC of a host with its account, None when it can't be asked from here.

    :param authorities: file by which its certificate is verified, empty for those of the system; None for no way to
        verify it: somebody else's file could vouch for a BMC to which this host's password must not be sent
    """
    bmc = (bmh.get("spec") or {}).get("bmc") or {}
    address, name = bmc_address.readable(bmc.get("address")), bmc.get("credentialsName")
    if address is None or not name or (address.driver.protocol != "ipmi" and not HAS_SUSHY):
        return None
    is_unverified = bool(bmc.get("disableCertificateVerification"))
    if is_unverified or not address.uses_tls:
        authorities = ""
    elif authorities is None or endpoint.unreadable(authorities):
        return None
    try:
        secret = client.get(KNOWN["Secret"], bmh["metadata"].get("namespace"), name)
    except KubeError:
        return None
    username, password = (secret_data.text(secret, key) for key in ("username", "password"))
    if not username or not password:
        return None
    return Target(bmh["metadata"]["name"], address, username, password, is_unverified, authorities)
