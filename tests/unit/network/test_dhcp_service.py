# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""dnsmasq's file: written once, not at all when another server answers or dnsmasq refuses it."""
from __future__ import annotations

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.errors import RefusedError
from ansible_collections.metal3.baremetal.plugins.module_utils._network import dhcp_service
from ansible_collections.metal3.baremetal.plugins.module_utils._network.dhcp_message import Offer
from ansible_collections.metal3.baremetal.plugins.module_utils._network.dhcpv6_message import Advertisement
from ansible_collections.metal3.baremetal.plugins.module_utils._network.ipv6_probe import Found
from ansible_collections.metal3.baremetal.plugins.module_utils._network.neighbor_message import Router
from ansible_collections.metal3.baremetal.plugins.module_utils._network.systems import Result

NETWORK = {"name": "lo", "addresses": ["172.22.0.1/24"], "dhcp": {
    "ranges": [{"first": "172.22.0.10", "last": "172.22.0.20"}],
    "hosts": [{"name": "rack1-01", "mac": "00:5C:52:31:3A:01", "addresses": []}]}}
OFFER = Offer("172.22.0.99", "02:00:00:00:00:99", "172.22.0.50", "", "", ())
VALID = Result(0, "", "")
BOTH = dict(NETWORK, addresses=["172.22.0.1/24", "fd00:22::1/64"], dhcp=dict(
    NETWORK["dhcp"], ranges=[*NETWORK["dhcp"]["ranges"], {"first": "fd00:22::10", "last": "fd00:22::20"}]))
DUID = "00:03:00:01:02:00:00:00:00:99"
SERVER6 = Advertisement(DUID, "fe80::99", "02:00:00:00:00:99", "fd00:22::50", "http://evil/")
ROUTER = Router("fe80::98", "02:00:00:00:00:98", 1800, False, ("fd00:98::/64",))


class Quiet:
    """A Progress that nobody reads."""

    def event(self, text):
        """Take a line."""


@pytest.fixture
def ensure(tmp_path):
    def run(offers=(), answer=VALID, check_mode=False, network=None, found6=None, **options):
        asked = []

        def probe(interface, mac, seconds):
            asked.append((interface, mac, seconds))
            return offers

        def probe6(interface, macs, seconds):
            asked.append((interface, *macs, seconds))
            return found6 or Found([], [])
        settings = dict({"config_file": str(tmp_path / "etc" / "dnsmasq.conf"), "dnsmasq": "dnsmasq",
                         "leases_file": str(tmp_path / "var" / "leases"), "log_file": None, "allowed_servers": [],
                         "allowed_routers": [], "probe_seconds": 5},
                        **options)
        result = dhcp_service.ensure(network or NETWORK, settings, check_mode, Quiet(), lambda command: answer, probe,
                                     probe6)
        return result, asked
    run.file = tmp_path / "etc" / "dnsmasq.conf"
    return run


def test_the_file_is_written_once(ensure):
    predicted, _asked = ensure(check_mode=True)
    assert predicted["changed"] and not ensure.file.exists()
    written, asked = ensure()
    assert written["diff"] == predicted["diff"] and "dhcp-host=00:5c:52:31:3a:01,rack1-01" in ensure.file.read_text()
    # As a known server, and as this machine.
    assert sorted(asked) == [("lo", "00:00:00:00:00:00", 5), ("lo", "00:5c:52:31:3a:01", 5)]
    assert not ensure()[0]["changed"]
    assert ensure(probe_seconds=0)[1] == []


def test_another_server_is_named_once_and_nothing_is_written(ensure):
    with pytest.raises(RefusedError) as caught:
        ensure([OFFER])
    (problem,) = caught.value.problems
    assert problem.code == "dhcp-server" and problem.actual == (
        "a DHCP server 172.22.0.99 (card 02:00:00:00:00:99) that offers 172.22.0.50")
    assert not ensure.file.exists()
    assert ensure([OFFER], allowed_servers=["172.22.0.99"])[0]["changed"]


def test_another_server_and_router_of_ipv6_are_named_and_nothing_is_written(ensure):
    with pytest.raises(RefusedError) as caught:
        ensure(network=BOTH, found6=Found([SERVER6], [ROUTER]))
    server, router = caught.value.problems
    assert server.code == "dhcp-server" and server.actual == (
        f"a DHCPv6 server with the DUID {DUID} at fe80::99 (card 02:00:00:00:00:99) that offers fd00:22::50 and boots "
        "http://evil/")
    assert router.code == "router-advertisement" and router.actual == (
        "router advertisements of fe80::98 (card 02:00:00:00:00:98) with a default route for 1800 s and the networks "
        "fd00:98::/64 and no addresses by DHCPv6")
    assert not ensure.file.exists()


@pytest.mark.parametrize(("servers", "routers", "count"), [
    ([DUID.upper()], ["FE80:0::98"], 0), (["172.22.0.9", "fe80::99"], ["fe80::98"], 0),
    # Who may lend addresses need not route.
    (["fe80::98", "fe80::99"], [], 1), ([], ["fe80::98", "fe80::99"], 1), (["fe80::97"], ["fe80::97"], 2)],
    ids=["by DUID", "by address", "no router", "no server", "another one"])
def test_servers_and_routers_of_ipv6_are_allowed_by_name(ensure, servers, routers, count):
    def run():
        return ensure(network=BOTH, found6=Found([SERVER6], [ROUTER]), allowed_servers=servers, allowed_routers=routers)
    if count:
        with pytest.raises(RefusedError) as caught:
            run()
        assert len(caught.value.problems) == count
    else:
        assert run()[0]["changed"]


def test_this_machines_own_server_is_known_by_its_card(ensure):
    own = "00:00:00:00:00:00"
    found = Found([SERVER6._replace(server_mac=own)], [ROUTER._replace(mac=own)])
    assert ensure(network=BOTH, found6=found)[0]["changed"]


def test_ipv6_is_asked_only_where_it_is_served(ensure):
    asked = ensure(network=BOTH)[1]
    assert ("lo", "00:5c:52:31:3a:01", "00:00:00:00:00:00", 5) in asked and len(asked) == 3
    relayed = {"first": "fd00:9::10", "last": "fd00:9::20", "network": "fd00:9::/64"}
    behind = dict(BOTH, dhcp=dict(NETWORK["dhcp"], ranges=[*NETWORK["dhcp"]["ranges"], relayed]))
    assert len(ensure(network=behind)[1]) == 2
    assert len(ensure(network=NETWORK)[1]) == 2


def test_what_dnsmasq_refuses_is_not_written(ensure):
    with pytest.raises(dhcp_service.DhcpError, match="bad option at line 3"):
        ensure(answer=Result(1, "", "dnsmasq: bad option\nat line 3"))
    assert not ensure.file.exists()


def test_check_mode_says_what_it_could_not_try(ensure):
    result, asked = ensure(answer=Result(127, "", ""), check_mode=True, network=dict(NETWORK, name="not-made-yet"))
    assert len(result["warnings"]) == 2 and asked == []


@pytest.mark.parametrize(("network", "field"), [
    (dict(NETWORK, dhcp=None), "dhcp"), (dict(NETWORK, addresses=[]), "addresses")])
def test_mistakes_are_refused(ensure, network, field):
    with pytest.raises(RefusedError) as caught:
        ensure(network=network)
    assert field in [problem.field for problem in caught.value.problems] and not ensure.file.exists()


def test_folders_that_are_there_keep_their_permissions(ensure, tmp_path):
    for name, mode in (("etc", 0o700), ("var", 0o1777)):
        (tmp_path / name).mkdir()
        (tmp_path / name).chmod(mode)
    assert ensure()[0]["changed"]
    assert [(tmp_path / name).stat().st_mode & 0o7777 for name in ("etc", "var")] == [0o700, 0o1777]


def test_folders_that_are_made_can_be_read_by_dnsmasq(ensure, tmp_path):
    assert ensure()[0]["changed"]
    assert [(tmp_path / name).stat().st_mode & 0o777 for name in ("etc", "var")] == [0o755, 0o755]
