# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An endpoint, and ranges of pools, among the addresses that DHCP lends; pure.

The endpoint may be kept for the control plane's one machine; all others are somebody's.
"""
from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from ..._common.addresses import ip_texts
from ..._common.addresses.mac_address import mac_error
from ..._common.options.field_checks import shown
from ..._common.problems.problem import Problem
from ..._ipam.pool import describe
from ..._ipam.range import Span, overlap, span_of
from ..description.model import ClusterDescription
from ..description.spec import HOLDERS_ON_MACHINES, NO_HOLDER
from .hardware import hardware_of
from .hosts import matches

Object = dict[str, Any]


class _Lent(NamedTuple):
    """What DHCP does with an address.

    :param mac: of the card that it is kept for, None of an address that any server may get
    :param words: what it is, for a message
    """

    mac: str | None
    words: str


def reservation_problems(description: ClusterDescription, hosts: Iterable[Object],
                         hardware: Mapping[str, Object] | None, dhcp: Mapping[str, Any] | None) -> list[Problem]:
    """Return what keeps the machine of a new control plane from getting the endpoint's address by DHCP, and it alone.

    :param description: a cluster of bare metal hosts with an endpoint
    :param hosts: BareMetalHosts of its namespace
    :param hardware: HardwareData by name; None when nobody says which other cards the hosts have
    :param dhcp: what DHCP lends, see :func:`dhcp_lent.lent_options`; None when nobody says
    """
    subject, endpoint = description.subject, description.endpoint or {}
    if not dhcp:
        return []
    wrong = lent_mistakes(subject, dhcp)
    if wrong:
        return wrong
    return _of_pools(subject, description, dhcp) + _of_endpoint(subject, description, endpoint, hosts, hardware, dhcp)


def added_range_problems(description: ClusterDescription, pools: Mapping[str, Object],
                         dhcp: Mapping[str, Any] | None) -> list[Problem]:
    """Return the ranges of a cluster's own pools that get addresses of other servers by this change.

    What a pool has already its machines may have, too.

    :param description: a cluster that is there
    :param pools: stored IPPools by name
    :param dhcp: what DHCP lends; None when nobody says
    """
    subject = description.subject
    if not dhcp or lent_mistakes(subject, dhcp):
        return []
    return _of_pools(subject, description, dhcp, dict((name, _spans(pool)) for name, pool in pools.items()))


def _spans(pool: Object) -> list[Span]:
    found = []
    for range_ in describe(pool)["ranges"]:
        with contextlib.suppress(ValueError):
            found.append(span_of(range_))
    return found


def _of_pools(subject: str, description: ClusterDescription, dhcp: Mapping[str, Any],
              known: Mapping[str, list[Span]] | None = None) -> list[Problem]:
    """Return the ranges of the cluster's own pools with addresses that DHCP gives to other servers.

    :param known: spans of pools, by their names, that are left out
    """
    ends = [[ip_texts.address(range_[end]) for end in ("first", "last")] for range_ in dhcp.get("ranges") or ()]
    lent = [(Span(*pair), "may lend to any server") for pair in ends if pair[0].version == pair[1].version]
    lent += [(Span(ip_texts.address(text), ip_texts.address(text)), f"keeps for {host['mac'].lower()}")
             for host in dhcp.get("hosts") or () for text in host.get("addresses") or ()]
    found = []
    for name, family, settings, pool in description.pool_uses:
        kept = {ip_texts.address(text) for text in (settings.get("pre_allocations") or {}).values()}
        for number, range_ in enumerate(settings.get("ranges") or ()):
            for span, words in lent:
                common = overlap(span_of(range_), span)
                if common is None or (common.first == common.last and common.first in kept):
                    continue
                if any(overlap(own, common) == common for own in (known or {}).get(pool, ())):
                    continue
                which = str(common.first) if common.first == common.last else f"{common.first} - {common.last}"
                found.append(Problem(
                    "network", subject, f"networks.{name}.{family}.ranges[{number}]",
                    f"{which}, which DHCP {words}",
                    "ranges without addresses of DHCP",
                    "two servers would have one address: choose other ranges, or others for "
                    "provisioning_network_dhcp_ranges"))
    return found


def _of_endpoint(subject: str, description: ClusterDescription, endpoint: Mapping[str, Any], hosts: Iterable[Object],
                 hardware: Mapping[str, Object] | None, dhcp: Mapping[str, Any]) -> list[Problem]:
    if not ip_texts.is_address(endpoint.get("host") or ""):
        return []
    address = ip_texts.address(endpoint["host"])
    lent = _lent(address, dhcp)
    if lent is None:
        return []
    if endpoint.get("holder") not in (NO_HOLDER, None):
        return [Problem("endpoint", subject, "endpoint.host", f"{address}, {lent.words}",
                        "an address that no server gets",
                        f"with holder: {endpoint['holder']} machines hold it beside their own; choose one outside of "
                        "what DHCP lends")]
    if lent.mac is None:
        return [Problem("endpoint", subject, "endpoint.host", f"{address}, {lent.words}",
                        "an address that DHCP keeps for one server, or lends to nobody",
                        "keep it for the control plane's server (provisioning_network_dhcp_hosts), or choose another")]
    return _of_kept(subject, description, address, lent, hosts, hardware)


def _of_kept(subject: str, description: ClusterDescription, address: Any, lent: _Lent, hosts: Iterable[Object],
             hardware: Mapping[str, Object] | None) -> list[Problem]:
    plane, virtual, found = description.groups[0], " or ".join(HOLDERS_ON_MACHINES), []
    having, others = [], []
    for host in hosts:
        has = lent.mac in _macs(host, hardware or {})
        if has or matches(host, plane):
            (having if has else others).append(host)
    name = having[0]["metadata"]["name"] if having else None
    if (name is None and hardware is not None) or (name is not None and not matches(having[0], plane)):
        where = f"BareMetalHost {name}, which the control plane does not select" if name else \
            "a card of no BareMetalHost here"
        found.append(Problem("endpoint", subject, "endpoint.host", f"{address}, {lent.words} ({where})",
                             "an address that DHCP keeps for a host that the control plane selects",
                             "keep it for that server, or select this one by control_plane.host_selector"))
    elif name is not None and others:
        names = ", ".join(sorted(host["metadata"]["name"] for host in others))
        found.append(Problem("endpoint", subject, plane.field + ".host_selector", f"{name} and also {names}",
                             f"{name} alone, for which DHCP keeps the endpoint's address {address}",
                             "give it a label of its own and select that: another machine would not have the address"))
    if plane.initial_replicas > 1:
        found.append(Problem("endpoint", subject, plane.field + ".replicas", shown(plane.initial_replicas),
                             f"1, because DHCP keeps the endpoint's address {address} for one server",
                             f"for more, choose an address that DHCP lends to nobody, with holder: {virtual}"))
    return found


def lent_mistakes(subject: str, dhcp: Mapping[str, Any]) -> list[Problem]:
    """Return the addresses and MAC addresses of what DHCP lends that are none.

    :param dhcp: see :func:`dhcp_lent.lent_options`
    """
    texts = [(f"dhcp.ranges[{at}].{end}", range_[end]) for at, range_ in enumerate(dhcp.get("ranges") or ())
             for end in ("first", "last")]
    texts += [(f"dhcp.hosts[{at}].addresses[{number}]", text) for at, host in enumerate(dhcp.get("hosts") or ())
              for number, text in enumerate(host.get("addresses") or ())]
    found = [Problem("endpoint", subject, field, shown(text), "an IPv4 or IPv6 address", None)
             for field, text in texts if not ip_texts.is_address(text)]
    for at, host in enumerate(dhcp.get("hosts") or ()):
        wrong = mac_error(host["mac"])
        if wrong:
            found.append(Problem("endpoint", subject, f"dhcp.hosts[{at}].mac", shown(host["mac"]), wrong, None))
    return found


def _lent(address: Any, dhcp: Mapping[str, Any]) -> _Lent | None:
    for host in dhcp.get("hosts") or ():
        if address in [ip_texts.address(text) for text in host.get("addresses") or ()]:
            return _Lent(host["mac"].lower(), f"which DHCP keeps for {host['mac'].lower()}")
    for range_ in dhcp.get("ranges") or ():
        first, last = (ip_texts.address(range_[end]) for end in ("first", "last"))
        if first.version == address.version == last.version and first <= address <= last:
            return _Lent(None, f"which DHCP may lend to any server (range {first} to {last})")
    return None


def _macs(host: Object, hardware: Mapping[str, Object]) -> set[str]:
    """Return the MAC addresses of a host's cards, in lower case."""
    found = [nic.get("mac") for nic in (hardware_of(host, hardware) or {}).get("nics") or ()]
    found.append((host.get("spec") or {}).get("bootMACAddress"))
    return {mac.lower() for mac in found if mac}
