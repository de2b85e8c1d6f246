# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A BMC with an IPv6 address gets its virtual media from a URL of its own, the operator's IRONIC_EXTERNAL_URL_V6.

The lab's BMCs listen on 127.0.0.1 alone, so the test puts a forwarder on [::1] before them. The other URL is the lab's
image server by the name localhost, which its certificate has.
"""
from __future__ import annotations

import contextlib

import pytest
import role_settings
from bmc_system import media
from forwarder import Forwarder
from support import eventually, only

SECONDS = 300
SCHEME = "redfish-virtualmedia"
FIELD = "external_http_url"


def registered(lab, name, address):
    """Wait until a host is a node of Ironic with the address of its BMC, and return the node."""
    def found():
        node = lab.nodes().get(name)
        return node if node and node.driver_info["redfish_address"].startswith(address) else None

    return eventually(found, 60, f"{name} registered with {address}")


@pytest.fixture
def server(lab):
    """An available server that boots from virtual media; at the end its BMC has the address that it had before."""
    found, *_others = (server for name, server in sorted(lab.servers.items())
                       if server["bmc"]["address"].startswith(SCHEME) and lab.state(name) == "available")
    yield found
    assert lab.host(found["name"])["spec"]["bmc"]["address"] == found["bmc"]["address"]


@pytest.fixture
def ipv6(lab, server):
    """An inventory in which the server's BMC has the address [::1]."""
    port = lab.figures["ports"]["redfish"]
    with contextlib.closing(Forwarder("::1", (lab.figures["address"], port))) as forwarder:
        old = server["bmc"]["address"]
        new = old.replace(f"{lab.figures['address']}:{port}", f"[::1]:{forwarder.port}")
        assert new != old
        # The certificate of the lab's BMCs has no IPv6 address.
        yield lab.inventory({server["name"]: {"bmc_address": new, "bmc_disable_certificate_verification": True}})


@pytest.fixture
def external(lab):
    """The other URL, which the operator has for the time of the test."""
    port = lab.figures["ports"]["image_server"]
    url = f"https://localhost:{port}/ironic"
    with role_settings.changed("bmo", bmo_ironic_external_url_v6=url):
        yield url


@pytest.fixture
def changed(lab, external, server, ipv6):
    """The host with the IPv6 address; as it was before at the end, while the forwarder is still there."""
    name, given = server["name"], (*only(server["name"]), "-e", "hosts_allow_detach=true")
    before = lab.nodes()[name]
    assert FIELD not in before.driver_info
    try:
        lab.playbook("enroll", "-i", ipv6, *given).ok()
        yield before
    finally:
        lab.playbook("enroll", *given, "-e", "bmc_disable_certificate_verification=false").ok()
        # The field that nothing describes any more goes now, so that a later run of another test changes nothing.
        lab.playbook("enroll", *given).ok()
    assert FIELD not in registered(lab, name, before.driver_info["redfish_address"]).driver_info
    assert lab.state(name) == "available"


def test_its_media_come_from_the_other_url(lab, server, ipv6, external, changed):
    name = server["name"]
    node = registered(lab, name, "https://[::1]:")
    assert node.id != changed.id and node.driver_info[FIELD] == external
    # Other servers keep the URL that their Ironic has for all.
    assert [other for other, found in lab.nodes().items() if FIELD in found.driver_info] == [name]
    running = lab.start("inspect", "-i", ipv6, *only(name))
    eventually(lambda: any(url.startswith(external + "/") for url in media(lab, server)), SECONDS,
               f"a medium from {external} in the BMC of {name}", interval_seconds=0.5)
    running.finish(SECONDS).ok()
    assert lab.state(name) == "available"
