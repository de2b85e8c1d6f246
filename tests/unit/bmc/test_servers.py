# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which addresses of BMCs lead to one server."""
from __future__ import annotations

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._bmc.addresses.servers import Servers

ONE = "redfish://192.0.2.1/redfish/v1/Systems/1"


@pytest.mark.parametrize("known, given, is_found", [
    (ONE, "idrac-virtualmedia+https://192.0.2.1:443/redfish/v1/Systems/1/", True),
    (ONE, "redfish+http://192.0.2.1/redfish/v1/Systems/1", True),
    (ONE, "redfish://192.0.2.1", True), ("redfish://192.0.2.1/redfish/v1", ONE, True),
    (ONE, "ipmi://192.0.2.1", True), ("192.0.2.1", ONE, True), ("192.0.2.1:623", "ipmi://192.0.2.1", True),
    ("redfish://[2001:db8::1]/redfish/v1/Systems/1", "redfish://[2001:DB8:0::0:1]/redfish/v1/Systems/1", True),
    (ONE, "redfish://[::ffff:192.0.2.1]/redfish/v1/Systems/1", True), ("ipmi://[::ffff:c000:201]", ONE, True),
    ("redfish://BMC1.example/redfish/v1/Systems/1", "redfish://bmc1.example/redfish/v1/Systems/1", True),
    (ONE, "redfish://192.0.2.1/redfish/v1/Systems/2", False),
    # Several BMCs behind one address.
    (ONE, "redfish://192.0.2.1:8001/redfish/v1/Systems/1", False), ("ipmi://192.0.2.1:6230", "192.0.2.1:6231", False),
    (ONE, "redfish://192.0.2.2/redfish/v1/Systems/1", False), (ONE, "no address at all", False), (ONE, None, False),
    (None, ONE, False)])
def test_a_server_is_found_by_all_ways_in(known, given, is_found):
    servers = Servers()
    servers.add(known, "h1")
    assert servers.find(given) == ("h1" if is_found else None)


def test_systems_of_one_bmc_are_different_servers():
    servers = Servers()
    servers.add(ONE, "h1")
    servers.add("redfish://192.0.2.1/redfish/v1/Systems/2", "h2")
    servers.add(ONE, "again")
    assert servers.find("redfish://192.0.2.1/redfish/v1/Systems/2") == "h2"
    assert servers.find(ONE) == "h1" and servers.find("ipmi://192.0.2.1") == "h1"
