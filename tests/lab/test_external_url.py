# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A BMC with an IPv6 address gets its virtual media from a URL of its own, the operator's IRONIC_EXTERNAL_URL_V6."""
from __future__ import annotations

import external_url
import pytest
from bmc_system import media
from external_url import FIELD
from support import eventually, only

SECONDS = 300
SCHEME = "redfish-virtualmedia"


@pytest.fixture
def server(lab):
    """An available server that boots from virtual media."""
    found, *_others = (server for name, server in sorted(lab.servers.items())
                       if server["bmc"]["address"].startswith(SCHEME) and lab.state(name) == "available")
    return found


@pytest.fixture
def external(lab):
    """The other URL, which the operator has for the time of the test."""
    with external_url.of_ipv6(lab) as url:
        yield url


@pytest.fixture
def ipv6(lab, external, server):
    """An inventory in which the server's BMC has the address [::1]; its host is as it was before at the end."""
    with external_url.ipv6_bmc(lab, server) as inventory:
        yield inventory


@pytest.mark.long
def test_its_media_come_from_the_other_url(lab, server, ipv6, external):
    name = server["name"]
    before = lab.nodes()[name]
    assert FIELD not in before.driver_info
    lab.playbook("enroll", "-i", ipv6, *only(name), "-e", "hosts_allow_detach=true").ok()

    node = external_url.registered(lab, name, "https://[::1]:")
    assert node.id != before.id and node.driver_info[FIELD] == external
    # Other servers keep the URL that their Ironic has for all.
    assert [other for other, found in lab.nodes().items() if FIELD in found.driver_info] == [name]
    running = lab.start("inspect", "-i", ipv6, *only(name))
    eventually(lambda: any(url.startswith(external + "/") for url in media(lab, server)), SECONDS,
               f"a medium from {external} in the BMC of {name}", interval_seconds=0.5)
    running.finish(SECONDS).ok()
    assert lab.state(name) == "available"
