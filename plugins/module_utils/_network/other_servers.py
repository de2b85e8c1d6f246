# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which DHCP servers and routers of a wire are not wanted there; pure."""
from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from .._common.addresses import ip_texts
from .._common.problems.problem import Problem
from .dhcp_message import Offer
from .dhcpv6_message import Advertisement
from .neighbor_message import Router


class Answers(NamedTuple):
    """What a wire answered.

    :param offers: of DHCPv4 servers
    :param servers: what DHCPv6 servers offered
    :param routers: what routers advertised
    """

    offers: Sequence[Offer]
    servers: Sequence[Advertisement]
    routers: Sequence[Router]


def without_own(answers: Answers, own_mac: str) -> Answers:
    """Return the answers of other machines.

    :param own_mac: the interface's card: what it sends by IPv6 is this machine's own; its offers by IPv4 never come in
    """
    return answers._replace(servers=[offer for offer in answers.servers if offer.server_mac != own_mac],
                            routers=[router for router in answers.routers if router.mac != own_mac])


def problems(interface: str, answers: Answers, servers: Sequence[str], routers: Sequence[str]) -> list[Problem]:
    """Return a Problem for each DHCP server and router of a wire that is not allowed there.

    :param answers: of other machines
    :param servers: addresses of DHCP servers that are allowed; of DHCPv6 servers DUIDs and link-local addresses
    :param routers: link-local addresses of routers that are allowed
    """
    return [*server_problems(interface, answers.offers, servers),
            *ipv6_server_problems(interface, answers.servers, servers),
            *router_problems(interface, answers.routers, routers)]


def is_server(text: str, offer: Advertisement) -> bool:
    """Return whether a text names a DHCPv6 server: by its DUID, or by its link-local address in whatever form."""
    return text.lower() == offer.server or ip_texts.is_same_host(text, offer.server_address)


def server_problems(interface: str, found: Sequence[Offer], allowed: Sequence[str]) -> list[Problem]:
    """Return a Problem for each DHCP server of a wire that is not allowed there.

    :param found: what servers offered
    :param allowed: addresses of servers
    """
    servers = {(offer.server, offer.server_mac): offer for offer in found if offer.server not in allowed}
    return [_problem("dhcp-server", interface, f"a DHCP server {offer.server} (card {offer.server_mac}) that offers "
                     f"{offer.address}{_boot(offer.boot_file)}", allowed,
                     "switch it off there, or name it in allowed_servers")
            for _key, offer in sorted(servers.items())]


def ipv6_server_problems(interface: str, found: Sequence[Advertisement], allowed: Sequence[str]) -> list[Problem]:
    """Return a Problem for each DHCPv6 server of a wire that is not allowed there.

    :param found: what servers offered
    :param allowed: link-local addresses and DUIDs of servers, among addresses of others
    """
    servers = [offer for offer in found if not any(is_server(text, offer) for text in allowed)]
    return [_problem("dhcp-server", interface, f"a DHCPv6 server with the DUID {offer.server} at "
                     f"{offer.server_address} (card {offer.server_mac}) that offers {offer.address or 'no address'}"
                     f"{_boot(offer.boot_file)}", allowed,
                     "switch it off there, or name its DUID or this address in allowed_servers")
            for offer in servers]


def router_problems(interface: str, found: Sequence[Router], allowed: Sequence[str]) -> list[Problem]:
    """Return a Problem for each router of a wire that is not allowed there.

    :param found: what routers advertised
    :param allowed: link-local addresses of routers
    """
    return [_problem("router-advertisement", interface, f"router advertisements of {router.address} "
                     f"(card {router.mac}) with {_advertised(router)}", allowed,
                     "switch them off there, or name this address in allowed_routers")
            for router in found if not any(ip_texts.is_same_host(text, router.address) for text in allowed)]


def _advertised(router: Router) -> str:
    parts = [f"a default route for {router.lifetime_seconds} s" if router.lifetime_seconds else "no default route",
             f"the networks {', '.join(router.prefixes)}" if router.prefixes else "no network"]
    return " and ".join([*parts, *([] if router.managed else ["no addresses by DHCPv6"])])


def _boot(boot_file: str) -> str:
    return f" and boots {boot_file}" if boot_file else ""


def _problem(code: str, interface: str, actual: str, allowed: Sequence[str], hint: str) -> Problem:
    return Problem(code, f"interface {interface}", "", actual, f"none but {', '.join(allowed)}" if allowed else "none",
                   hint)
