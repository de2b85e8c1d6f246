# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Two nodes of one server: reported before the second one is made, whoever has the first."""
from __future__ import annotations

import pytest
from fakes.ironic import FakeIronic
from fakes.ironic_nodes import MAC, option, port, redfish, run

from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.errors import RefusedError
from ansible_collections.metal3.baremetal.plugins.module_utils._ironic.nodes import bmc as node_bmc


def info(address, system=None):
    return dict({"redfish_address": address}, **({"redfish_system_id": system} if system else {}))


@pytest.mark.parametrize(("one", "other", "same"), [
    (info("https://A.example"), info("a.example:443/"), True),
    (info("https://192.0.2.1", "/redfish/v1/Systems/1"), info("https://192.0.2.1:443", "redfish/v1/Systems/1/"), True),
    (info("https://192.0.2.1", "/redfish/v1/Systems/1"), info("https://192.0.2.1"), True),
    (info("https://192.0.2.1", "/redfish/v1/Systems/1"), info("https://192.0.2.1", "/redfish/v1/Systems/2"), False),
    (info("https://192.0.2.1"), info("https://192.0.2.1:8443"), False),
    (info("https://[2001:DB8::1]"), info("https://[2001:db8::1]:443"), True),
    (info("https://192.0.2.1:bad"), info("https://192.0.2.1:bad"), True),
    ({"ipmi_address": "a"}, {"ipmi_address": "A", "ipmi_port": "623"}, True),
    ({"ipmi_address": "a"}, {"ipmi_address": "a", "ipmi_port": 6230}, False),
    # Whatever the way in.
    (info("http://192.0.2.1"), info("https://192.0.2.1", "/redfish/v1/Systems/1"), True),
    ({"ipmi_address": "192.0.2.1"}, info("https://192.0.2.1", "/redfish/v1/Systems/1"), True),
    ({"ipmi_address": "192.0.2.1", "ipmi_port": 6230}, info("https://192.0.2.1"), False),
    (info("https://[2001:db8:0::1]"), {"ipmi_address": "2001:DB8::1"}, True),
    ({}, {}, False), (None, info("https://192.0.2.1"), False),
])
def test_whether_two_nodes_have_one_bmc(one, other, same):
    assert node_bmc.same(node_bmc.of(one), node_bmc.of(other)) is same
    assert node_bmc.same(node_bmc.of(other), node_bmc.of(one)) is same


@pytest.mark.parametrize("owner", ["metal3~x", "other"])
def test_a_second_node_of_a_server_is_refused(owner):
    client = FakeIronic()
    client.add(owner, "active", driver_info=info("https://192.0.2.1:443", "/redfish/v1/Systems/1"))
    client.ports["p"] = {"uuid": "p", "address": MAC, "node_uuid": "uuid-" + owner}
    for wanted in (redfish(), redfish(ports=[port()])):
        with pytest.raises(RefusedError) as refusal:
            run(client, wanted, force=["a"])
        text = str(refusal.value)
        if owner == "other":
            assert "the BMC of node other" in text
        else:
            # No message says to delete the operator's ports, or to delete its node.
            assert "BMC of BareMetalHost metal3/x" in text and "take it out of this list or inventory group" in text
            assert "delete" not in text and "ironic_port" not in text and "move" not in text
    assert client.sent == []


def test_two_new_nodes_of_one_server_are_refused():
    with pytest.raises(RefusedError, match="another one than that of node a of the list"):
        run(FakeIronic(), redfish("a"), redfish("b"))


def test_a_node_keeps_its_bmc_and_may_hand_it_on():
    client = FakeIronic()
    client.add("old", driver_info=redfish()["driver_info"])
    assert run(client, option("old", description="x"), check=True)["changed"]
    assert run(client, redfish("old"), check=True)["counts"]["failed"] == 0
    # Deleted by the same run.
    assert run(client, option("old", state="absent"), redfish("new"))["counts"] == {
        "total": 2, "created": 1, "updated": 0, "deleted": 1, "failed": 0}


def test_a_node_is_described_once_by_whichever_name():
    client = FakeIronic()
    uuid = "1be26c0b-03f2-4d2e-ae87-c02d7f33c123"
    client.nodes[uuid] = dict(client.nodes.pop(client.add("a")), uuid=uuid)
    with pytest.raises(RefusedError, match="a and b, which are one node"):
        run(client, option("a", description="x"), option("b", uuid=uuid.upper(), description="y"))
    assert client.sent == []
