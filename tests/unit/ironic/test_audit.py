# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is out of step between hosts, nodes and ports, and what a repair deletes."""
from __future__ import annotations

import pytest
from fake_ironic import FakeIronic

from ansible_collections.metal3.baremetal.plugins.module_utils.ironic import audit, audit_service
from ansible_collections.metal3.baremetal.plugins.module_utils.ironic.errors import RefusedError

MAC = "00:5c:52:00:00:01"


def node(name, **values):
    return dict({"uuid": "uuid-" + name, "name": name, "provision_state": "manageable", "driver_info": {}}, **values)


def port(owner, address=MAC):
    return {"uuid": "port-" + address, "address": address, "node_uuid": "uuid-" + owner}


def host(name, **values):
    return dict({"namespace": "metal3", "name": name, "state": "available", "node_id": "uuid-metal3~" + name,
                 "boot_mac_address": "", "operational_status": "OK"}, **values)


@pytest.mark.parametrize(("nodes", "ports", "hosts", "kinds"), [
    ([node("metal3~a")], [port("metal3~a")], [host("a", boot_mac_address=MAC)], []),
    ([node("metal3~a"), node("metal3~b")], [], [host("a")], [audit.NODE_WITHOUT_HOST]),
    ([node("metal3~a"), node("other~b"), node("standalone")], [], [host("a")], []),
    ([], [], [host("a")], [audit.HOST_WITHOUT_NODE]),
    ([], [], [host("a", state="registering"), host("b", operational_status="detached")], []),
    ([node("metal3~a", uuid="new")], [], [host("a")], []),
    ([node("metal3~a"), node("old")], [port("old")], [host("a", boot_mac_address=MAC.upper())],
     [audit.MAC_OF_OTHER_NODE]),
    ([node("a"), node("")], [port("")], [host("a", state="registering", boot_mac_address=MAC)], []),
    ([node("metal3~a"), node("metal3~b")], [], [host("a", boot_mac_address=MAC), host("b", boot_mac_address=MAC)],
     [audit.BOOT_MAC_TWICE]),
    ([node("x"), node("y")], [port("x"), port("y", MAC.upper())], None, [audit.MAC_TWICE]),
    ([node("x")], [port("gone")], None, [audit.PORT_WITHOUT_NODE]),
    ([node("x", driver_info={"redfish_address": "https://A/", "redfish_system_id": "/1"}),
      node("y", driver_info={"redfish_address": "https://a", "redfish_system_id": "/1"}),
      node("z", driver_info={"redfish_address": "https://a", "redfish_system_id": "/2"})], [], None, [audit.BMC_TWICE]),
    ([node("x", driver_info={"ipmi_address": "a"}), node("y", driver_info={"ipmi_address": "a", "ipmi_port": 623})],
     [], None, [audit.BMC_TWICE]),
    ([node("metal3~b")], [], None, []),
    ([node("metal3~b")], [], [], []),
])
def test_findings(nodes, ports, hosts, kinds):
    assert [found.kind for found in audit.findings(nodes, ports, [], hosts)] == kinds


def test_a_namespace_without_hosts_is_judged_when_it_is_named():
    assert [found.kind for found in audit.findings([node("metal3~b")], [], [], [], ["metal3"])] == [
        audit.NODE_WITHOUT_HOST]


def test_a_port_group_counts_as_a_port():
    found = audit.findings([node("x"), node("y")], [port("x")], [dict(port("y"), uuid="g")])
    assert [item.kind for item in found] == [audit.MAC_TWICE]


def broken():
    client = FakeIronic()
    client.add("metal3~a", "manageable")
    client.add("metal3~gone", "active")
    client.add("stale")
    client.ports["port-" + MAC] = port("stale")
    return client, [host("a", boot_mac_address=MAC)]


def run(client, check=False, **params):
    return audit_service.run(client, dict({"hosts": None, "namespaces": None, "repair": []}, **params), check)


def test_nothing_is_repaired_unless_asked():
    client, hosts = broken()
    result = run(client, hosts=hosts)
    assert sorted(found["kind"] for found in result["findings"]) == [audit.MAC_OF_OTHER_NODE, audit.NODE_WITHOUT_HOST]
    assert (result["changed"], client.requests()) == (False, [])


def test_only_what_is_named_is_repaired_and_then_it_is_gone():
    client, hosts = broken()
    trial = run(client, True, hosts=hosts, repair=[audit.NODE_WITHOUT_HOST])
    assert (trial["changed"], client.requests()) == (True, [])
    run(client, hosts=hosts, repair=[audit.NODE_WITHOUT_HOST])
    assert sorted(client.nodes) == ["uuid-metal3~a", "uuid-stale"]
    run(client, hosts=hosts, repair=[audit.MAC_OF_OTHER_NODE])
    assert client.ports == {}
    again = run(client, hosts=hosts, repair=list(audit_service.REPAIRS))
    assert (again["changed"], again["findings"]) == (False, [])


def test_a_repair_that_needs_hosts_is_refused_without_them():
    client, dummy = broken()
    with pytest.raises(RefusedError, match="without hosts"):
        run(client, repair=[audit.NODE_WITHOUT_HOST])
