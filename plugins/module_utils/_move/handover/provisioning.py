# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether the address and the DHCP of the provisioning network are free for the Ironic that takes over; pure."""
from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, Union

from ..._common.problems.problem import Problem
from ..._kube.objects.deployments import wants_pods
from ..._plane.cluster.ironic import DHCP_CONTAINER, KEEPALIVED_CONTAINER, VARIABLES
from ..._plane.cluster.objects import STARTED_BY_MOVE

Object = dict[str, Any]
Network = Union[ipaddress.IPv4Network, ipaddress.IPv6Network]

# What may go from one Ironic to another, as the role provisioning_network calls it, too.
ADDRESS, DHCP = "address", "dhcp"
# Of ironic-image (scripts/ironic-common.sh): the port of its URL, and that on which it listens, by default the same.
API_PORT, API_PORT_VARIABLES = "6385", ("IRONIC_ACCESS_PORT", "IRONIC_LISTEN_PORT")
_PORT = re.compile(r"[1-9][0-9]{0,4}")
_ADDRESS, _RANGE = VARIABLES["provisioning_ip"], VARIABLES["dhcp_range"]


class Checked(NamedTuple):
    """A Deployment as it was checked, for the module that writes to it.

    :ivar uid: of the object
    :ivar generation: of its spec and annotations: Kubernetes counts a change of either (strategy.go of Deployments)
    """

    uid: str
    generation: int


class Ironic(NamedTuple):
    """What an Ironic has of the provisioning network.

    :ivar name: as messages name it
    :ivar address: the address that it holds, or an empty text
    :ivar networks: those in which it serves DHCP while it runs
    :ivar option: what says so, before the names of variables
    :ivar stop: how its DHCP is stopped
    :ivar on_host: whether the address is one of the machine that it runs on
    :ivar runs: whether it has pods; a process has
    :ivar holds: whether keepalived holds the address, so that it comes and goes with Ironic
    :ivar left: what of it, ADDRESS and DHCP, it has let go already
    :ivar started_by: uid of the plane from which a move has started its Deployment, empty when none has; None of a
        process
    :ivar checked: its Deployment as it was read; None of a process
    """

    name: str
    address: str
    networks: tuple[Network, ...]
    option: str
    stop: str
    on_host: bool
    runs: bool = True
    holds: bool = False
    left: frozenset[str] = frozenset()
    started_by: str | None = None
    checked: Checked | None = None


class Handover(NamedTuple):
    """What goes from one Ironic to the other when the former has stopped.

    :ivar starts: whether the one that takes over has no pod, and is started then
    :ivar address: whether it has the same address
    :ivar dhcp: whether it serves DHCP in the same network
    """

    starts: bool = False
    address: bool = False
    dhcp: bool = False

    def words(self, address: str) -> str:
        """Return in words what moves with Ironic, empty when it runs already.

        :param address: of the Ironic that takes over
        """
        moving = [text for text, moves in ((f"address {address}", self.address), ("DHCP", self.dhcp)) if moves]
        return "Ironic over there: it is started when the former one has stopped" \
            + (f"; {' and '.join(moving)} move{'s' if len(moving) == 1 else ''} with it" if moving else "") \
            if self.starts else ""


def config_maps_of(deployment: Object) -> list[str]:
    """Return the names of the ConfigMaps that the containers of a Deployment have their environment from."""
    names = [(source.get("configMapRef") or {}).get("name")
             for container in deployment["spec"]["template"]["spec"]["containers"]
             for source in container.get("envFrom") or []]
    return list(dict.fromkeys(name for name in names if name))


def ports(deployment: Object, config_maps: Mapping[str, Object]) -> frozenset[int] | None:
    """Return the ports at which the API of an Ironic may answer; None when they are not known.

    Those of its settings, and all that its pods declare: a proxy among its containers may answer for it.

    :param deployment, config_maps: as for :func:`environment`
    """
    values, containers = environment(deployment, config_maps), deployment["spec"]["template"]["spec"]["containers"]
    if any(item.get("secretRef") for container in containers for item in container.get("envFrom") or []) or any(
            item.get("name") in API_PORT_VARIABLES and item.get("valueFrom")
            for container in containers for item in container.get("env") or []):
        return None
    access, listen = API_PORT_VARIABLES
    given = [str(values.get(access) or API_PORT), str(values.get(listen) or values.get(access) or API_PORT)]
    if not all(map(_PORT.fullmatch, given)):
        return None
    declared = [item.get("containerPort") for container in containers for item in container.get("ports") or []]
    return frozenset([*map(int, given), *(number for number in declared if isinstance(number, int))])


def environment(deployment: Object, config_maps: Mapping[str, Object]) -> dict[str, str]:
    """Return the environment of an Ironic's containers, variable → text.

    :param deployment: its Deployment
    :param config_maps: name → ConfigMap, of :func:`config_maps_of`; those that are not there are left out
    """
    values: dict[str, str] = {}
    for name in config_maps_of(deployment):
        values.update((config_maps.get(name) or {}).get("data") or {})
    for container in deployment["spec"]["template"]["spec"]["containers"]:
        values.update((item["name"], item["value"]) for item in container.get("env") or [] if item.get("value"))
    return values


def of_deployment(deployment: Object, config_maps: Mapping[str, Object]) -> Ironic:
    """Return what the Deployment of an Ironic says.

    :param deployment, config_maps: as for :func:`environment`
    """
    pod, metadata = deployment["spec"]["template"]["spec"], deployment["metadata"]
    values = environment(deployment, config_maps)
    containers = set(item["name"] for item in pod["containers"])
    network = _of_range(values.get(_RANGE, "")) if DHCP_CONTAINER in containers else None
    where = f"{metadata['namespace']}/{metadata['name']}"
    runs = wants_pods(deployment)
    return Ironic(f"Deployment {where}", values.get(_ADDRESS, ""), (network,) if network else (),
                  "spec.template.spec.containers.env.",
                  f"scale Deployment {where} to 0, or install it without ironic_dhcp_range",
                  bool(pod.get("hostNetwork")), runs, KEEPALIVED_CONTAINER in containers,
                  frozenset() if runs else frozenset((ADDRESS, DHCP)),
                  str((metadata.get("annotations") or {}).get(STARTED_BY_MOVE) or ""),
                  Checked(str(metadata.get("uid") or ""), int(metadata.get("generation") or 0)))


def of_machine(machine: Mapping[str, Any]) -> Ironic:
    """Return what is said of an Ironic that is a process.

    :param machine: ``ip`` of its API, ``dhcp_networks``, as 192.0.2.10/24, that DHCP is served in,
        ``keepalived_ip``, which keepalived of the role ``provisioning_network`` holds, or an empty text, and
        ``let_go``: what of it, ADDRESS and DHCP, that role has let go for another plane
    """
    held = (machine.get("keepalived_ip") or "").partition("/")[0]
    networks = [_network(text) for text in machine.get("dhcp_networks") or ()]
    return Ironic("this machine", machine.get("ip") or "", tuple(item for item in networks if item), "",
                  "stop its dnsmasq: run playbook provisioning_network with provisioning_network_dhcp_ranges: [] and "
                  "metal3_confirm=<name of the interface>", True, True, _same(held, machine.get("ip") or ""),
                  frozenset(machine.get("let_go") or ()))


def problems(former: Ironic, next_one: Ironic) -> list[Problem]:
    """Return what two planes would have twice on a wire.

    :param former: the Ironic that lets go
    :param next_one: the one that takes over
    """
    found = []
    between = handover(former, next_one)
    if between.address and ADDRESS not in former.left and not (between.starts and former.holds and next_one.holds):
        found.append(Problem(
            "move-address", next_one.name, next_one.option + _ADDRESS, f"{next_one.address}, which {former.name} has",
            "an address of its own in the provisioning network",
            "install it with another ironic_provisioning_ip: servers learn the address from their Ironic, none "
            f"keeps the former one; or let it move: {_movable(former, next_one)}"))
    if between.dhcp and DHCP not in former.left and next_one.runs:
        found.append(Problem(
            "move-dhcp", next_one.name, next_one.option + _RANGE,
            f"DHCP in {next_one.networks[0]}, in which {former.name} serves it, too",
            "one DHCP server on a wire", "install this one with ironic_standby, so that the move starts it when the "
            f"former one has stopped; or, before this one is started, {former.stop}"))
    return found


def handover(former: Ironic, next_one: Ironic) -> Handover:
    """Return what would go from one Ironic to the other.

    :param former, next_one: as for :func:`problems`
    """
    return Handover(not next_one.runs, bool(next_one.address) and _same(former.address, next_one.address),
                    _share(former.networks, next_one.networks))


def at_work(next_one: Ironic, source: str) -> list[Problem]:
    """Return the problem of an Ironic that no move has started, and that must not be stopped to take one back.

    Hosts are not all that it may have: nodes of servers that report themselves, and of other users, have none.

    :param next_one: the one over there
    :param source: uid of the plane from which the move would have gone
    """
    if next_one.started_by is None or not next_one.runs or next_one.started_by == source:
        return []
    return [Problem(
        "move-ironic", next_one.name, "spec.replicas", "an Ironic that runs and that no move from here has started",
        "one that a move has started, or none that runs",
        "no move is recorded, and its nodes may be somebody else's servers: list them by ironic_node_info; when nobody "
        "needs it, stop it by plane_scale (replicas: 0, confirm: its name), then run again")]


def _movable(former: Ironic, next_one: Ironic) -> str:
    """Return in words what is missing for an address to move with Ironic."""
    steps = []
    if not former.holds:
        steps.append(f"have keepalived hold it for {former.name}, for it must be let go (of this machine "
                     "provisioning_network_keepalived_address, with no other machine that holds it in turn; of a "
                     "cluster ironic_keepalived)")
    if not next_one.holds:
        steps.append("install this one with ironic_keepalived")
    if next_one.runs:
        steps.append("install this one with ironic_standby, or scale it to 0")
    return ", ".join(steps)


def held_elsewhere(of: Ironic) -> Problem:
    """Return the problem of an address that an Ironic is to hold, and at which another machine answers.

    :param of: the Ironic that takes over
    """
    return Problem("move-address", of.name, of.option + _ADDRESS,
                   f"{of.address}, where another machine answers, asked from its pod",
                   "an address that its machine has, and nobody else",
                   "find out who has it, or install it with another one")


def _same(one: str, other: str) -> bool:
    try:
        return ipaddress.ip_address(one.strip("[]")) == ipaddress.ip_address(other.strip("[]"))
    except ValueError:
        return False


def _share(some: Iterable[Network], others: Iterable[Network]) -> bool:
    others = list(others)
    return any(one.version == other.version and one.overlaps(other) for one in some for other in others)


def _network(text: str) -> Network | None:
    try:
        return ipaddress.ip_network(text, strict=False)
    except ValueError:
        return None


def _of_range(text: str) -> Network | None:
    """Return the network of a range of dnsmasq: first and last address, and its mask or prefix length."""
    first, _comma, rest = text.partition(",")
    try:
        version = ipaddress.ip_address(first).version
    except ValueError:
        return None
    # Without a mask dnsmasq takes that of the interface; these are the usual ones.
    mask = next((part for part in rest.split(",")[1:] if _network(f"{first}/{part}")), "24" if version == 4 else "64")
    return _network(f"{first}/{mask}")
