# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is out of step between hosts, nodes and ports, and what a repair deletes."""
from __future__ import annotations

import pytest
from fakes.ironic import FakeIronic
from fakes.kubernetes import Server

from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.errors import RefusedError
from ansible_collections.metal3.baremetal.plugins.module_utils._ironic.api.errors import IronicError
from ansible_collections.metal3.baremetal.plugins.module_utils._ironic.audit import findings as audit
from ansible_collections.metal3.baremetal.plugins.module_utils._ironic.audit import service as audit_service
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.responses.errors import KubeError

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
    ([node("metal3~a")], [], [host("a"), host("b")], [audit.HOST_WITHOUT_NODE]),
    ([], [], [host("a"), host("b", state="registering")], [audit.NODES_LOST, audit.HOST_WITHOUT_NODE]),
    # Registered again, and the operator has not noted it yet; or another cluster's hosts of the same names.
    ([node("metal3~a", uuid="new")], [], [host("a")], [audit.NODES_LOST]),
    # Hosts of another cluster.
    ([node("metal3~a"), node("metal3~b")], [], [host("c", state="new", node_id=None)],
     [audit.NO_NODE_OF_HOSTS, audit.NODE_WITHOUT_HOST, audit.NODE_WITHOUT_HOST]),
    ([], [], [host("a", state="registering"), host("b", operational_status="detached")], []),
    # A node that the operator has found by its name, and not noted.
    ([node("metal3~a"), node("metal3~b", uuid="new")], [], [host("a"), host("b")], [audit.HOST_OF_FORMER_NODE]),
    ([node("metal3~a"), node("metal3~b", uuid="new")], [], [host("a"), host("b", node_id=None)], []),
    ([node("metal3~a"), node("metal3~b", uuid="new")], [], [host("a"), host("b", state="deleting")], []),
    ([node("metal3~a"), node("old")], [port("old")], [host("a", boot_mac_address=MAC.upper())],
     [audit.MAC_OF_OTHER_NODE]),
    ([node("a"), node("")], [port("")], [host("a", state="registering", boot_mac_address=MAC)], []),
    # Ironic made it of a machine that booted; somebody else made it.
    ([node("a"), node("", provision_state="enroll", driver="ipmi")], [port("")],
     [host("b", state="registering", boot_mac_address=MAC)], [audit.MAC_OF_DISCOVERED_NODE]),
    ([node("a"), node("", provision_state="enroll", driver_info={"ipmi_address": "x"})], [port("")],
     [host("b", state="registering", boot_mac_address=MAC)], []),
    ([node("metal3~a"), node("metal3~b")], [], [host("a", boot_mac_address=MAC), host("b", boot_mac_address=MAC)],
     [audit.BOOT_MAC_TWICE]),
    ([node("x"), node("y")], [port("x"), port("y", MAC.upper())], None, [audit.MAC_TWICE]),
    ([node("x")], [port("gone")], None, [audit.PORT_WITHOUT_NODE]),
    ([node("x", driver_info={"redfish_address": "https://A/", "redfish_system_id": "/1"}),
      node("y", driver_info={"redfish_address": "https://a", "redfish_system_id": "/1"}),
      node("z", driver_info={"redfish_address": "https://a", "redfish_system_id": "/2"})], [], None, [audit.BMC_TWICE]),
    ([node("x", driver_info={"ipmi_address": "a"}), node("y", driver_info={"ipmi_address": "a", "ipmi_port": 623})],
     [], None, [audit.BMC_TWICE]),
    # One server, by two protocols.
    ([node("x", driver_info={"redfish_address": "https://192.0.2.1", "redfish_system_id": "/1"}),
      node("y", driver_info={"ipmi_address": "192.0.2.1"})], [], None, [audit.BMC_TWICE]),
    ([node("metal3~b")], [], None, []),
    ([node("metal3~b")], [], [], []),
])
def test_findings(nodes, ports, hosts, kinds):
    assert [found.kind for found in audit.findings(nodes, ports, [], hosts)] == kinds


def test_what_others_have_written_steers_no_terminal():
    """The playbook prints findings in a message of its own, which Ansible prints as it is."""
    found = audit.findings([node("x\x1b[2J"), node("metal3~a")], [port("x\x1b[2J"), port("gone\x9b", "\x1b]0;a")], [], [
        host("a", boot_mac_address=MAC), host("b", node_id="\x1b[2J")])
    assert len(found) == 3
    assert not [text for item in found for text in item[:4] if "\x1b" in text or "\x9b" in text]


def test_hosts_whose_names_other_nodes_have_get_a_next_step_of_their_own():
    """Of another database that the operator has been given, with nodes of the same names."""
    step = "change an annotation of its BMC Secret"
    found, = audit.findings([node("metal3~a", uuid="former")], [], [], [host("a")])
    assert found.kind == audit.NODES_LOST and step in found.next_step
    assert all(step not in found.next_step for found in audit.findings([], [], [], [host("a")]))


def test_a_discovered_node_is_named_with_what_to_do():
    found, = audit.findings([node("", provision_state="enroll", driver="ipmi")], [port("")], [],
                            [host("b", state="registering", boot_mac_address=MAC)])
    assert "the operator takes over, with the driver ipmi" in found.cause
    assert "state absent and nodes uuid-" in found.next_step and found.repair is None


def test_a_namespace_without_hosts_is_checked_when_it_is_named():
    assert [found.kind for found in audit.findings([node("metal3~b")], [], [], [], ["metal3"])] == [
        audit.NO_NODE_OF_HOSTS, audit.NODE_WITHOUT_HOST]


@pytest.mark.parametrize(("hosts", "namespaces", "abandoned"), [
    # The last host of a namespace is gone, or the last one of all.
    ([host("a", namespace="other")], None, ["metal3~b"]),
    ([], None, ["metal3~b", "other~a"]),
    # Named namespaces narrow it.
    ([], ["other"], ["other~a"]),
])
def test_all_namespaces_are_checked_when_all_hosts_were_read(hosts, namespaces, abandoned):
    nodes = [node("metal3~b"), node("other~a"), node("standalone")]
    found = audit.findings(nodes, [], [], hosts, namespaces, all_namespaces=True)
    assert [item.subject for item in found] == ["Ironic"] + ["node " + name for name in abandoned]
    # Nobody is advised to delete them all.
    assert not [item for item in found if "delete" in item.next_step]


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


def run(client, check=False, kube=None, **params):
    return audit_service.run(client, dict({"hosts": None, "namespaces": None, "all_namespaces": False, "repair": [],
                                           "earlier_findings": None, "confirm": None}, **params), check, kube=kube)


def repair(client, hosts, *kinds, check=False, confirm="1", **params):
    """Look, and repair what is found again."""
    earlier = run(client, hosts=hosts, **params)["findings"]
    return run(client, check, hosts=hosts, repair=list(kinds), earlier_findings=earlier, confirm=confirm, **params)


def of_other_node(result):
    return next(found for found in result["findings"] if found["kind"] == audit.MAC_OF_OTHER_NODE)


def test_nothing_is_repaired_unless_asked():
    client, hosts = broken()
    result = run(client, hosts=hosts)
    assert sorted(found["kind"] for found in result["findings"]) == [audit.MAC_OF_OTHER_NODE, audit.NODE_WITHOUT_HOST]
    assert (result["changed"], client.requests()) == (False, [])


def test_only_what_is_named_is_repaired_and_then_it_is_gone():
    client, hosts = broken()
    trial = repair(client, hosts, audit.NODE_WITHOUT_HOST, check=True)
    assert (trial["changed"], client.requests()) == (True, [])
    repair(client, hosts, audit.NODE_WITHOUT_HOST)
    assert sorted(client.nodes) == ["uuid-metal3~a", "uuid-stale"]
    repair(client, hosts, audit.MAC_OF_OTHER_NODE)
    assert client.ports == {}
    again = repair(client, hosts, *audit_service.REPAIRS)
    assert (again["changed"], again["findings"]) == (False, [])


@pytest.mark.parametrize("hosts", [
    [], [host("x", node_id="of-another-ironic")],
    # Another cluster that calls its hosts the same.
    [host("a", node_id="of-another-ironic", boot_mac_address=MAC)],
])
def test_nothing_is_deleted_when_no_node_at_all_matches_a_host(hosts):
    client, dummy = broken()
    for confirm in ("1", "2", "3", "metal3~a,metal3~gone"):
        with pytest.raises(RefusedError) as refusal:
            repair(client, hosts, *audit_service.REPAIRS, all_namespaces=True, confirm=confirm)
        for text in ("at least one node whose UUID a host has", "check the kubeconfig", "ironic_audit_kubeconfig"):
            assert text in str(refusal.value)
    assert (len(client.nodes), len(client.ports), client.requests()) == (3, 1, [])


@pytest.mark.parametrize("confirm", [None, "", "1", "3", "metal3~gone", "all"])
def test_what_is_deleted_wants_its_number_repeated(confirm):
    client, hosts = broken()
    client.add("metal3~gone-too", "available")
    with pytest.raises(RefusedError) as refusal:
        repair(client, hosts, audit.NODE_WITHOUT_HOST, confirm=confirm)
    warnings = repair(client, hosts, audit.NODE_WITHOUT_HOST, check=True, confirm=confirm)["warnings"]
    given = f"found {confirm}" if confirm else "not set"
    for text in (
        f"confirm: {given}",
        "2 (how many they are) or metal3~gone,metal3~gone-too",
        "2 of the operator's 3",
        "metal3_confirm=2",
    ):
        assert text in str(refusal.value) and [text in line for line in warnings] == [True]
    assert client.requests() == []
    assert repair(client, hosts, audit.NODE_WITHOUT_HOST, confirm="2")["changed"]


@pytest.mark.parametrize("values", [{"provision_state": "deploying"}, {"reservation": "conductor-1"}])
def test_a_node_that_somebody_works_with_is_not_deleted(values):
    client, hosts = broken()
    client.nodes["uuid-metal3~gone"].update(values)
    with pytest.raises(RefusedError, match="a node without an operation"):
        repair(client, hosts, audit.NODE_WITHOUT_HOST)
    assert client.requests() == []


@pytest.mark.parametrize(("values", "text"), [
    ({"provision_state": "available"}, "provision_state was active, is available"),
    ({"name": "another"}, "name was metal3~gone, is another"),
    ({"instance_uuid": "i"}, "instance_uuid was not set, is i"),
    ({"reservation": "conductor-1"}, "reservation was not set, is conductor-1"),
])
def test_a_node_that_changed_since_it_was_looked_at_is_not_deleted(values, text):
    client, hosts = broken()
    earlier = run(client, hosts=hosts)["findings"]
    real = client.list_nodes

    def list_nodes(*arguments, **options):
        found = real(*arguments, **options)
        client.nodes["uuid-metal3~gone"].update(values)
        return found
    client.list_nodes = list_nodes
    result = run(client, hosts=hosts, repair=[audit.NODE_WITHOUT_HOST], confirm="1", earlier_findings=earlier)
    finding = next(found for found in result["findings"] if found["kind"] == audit.NODE_WITHOUT_HOST)
    assert text in finding["error"] and "run again" in finding["error"] and not finding["repaired"]
    assert client.requests() == []


@pytest.mark.parametrize("change", [
    {"node_uuid": "uuid-metal3~a"}, {"address": "00:5c:52:00:00:09"}])
def test_a_port_that_changed_since_it_was_looked_at_is_not_deleted(change):
    client, hosts = broken()
    earlier = run(client, hosts=hosts)["findings"]
    real = client.list_nodes

    def list_nodes(*arguments, **options):
        client.ports["port-" + MAC].update(change)
        return real(*arguments, **options)
    client.list_nodes = list_nodes
    result = run(client, hosts=hosts, repair=[audit.MAC_OF_OTHER_NODE], confirm="1", earlier_findings=earlier)
    assert "it has changed since it was looked at" in of_other_node(result)["error"]
    assert len(client.ports) == 1 and client.requests() == []


def test_a_port_of_the_boot_mac_address_of_its_own_nodes_host_is_not_deleted():
    """One of two hosts has a wrong address: nobody but who looks at the servers knows which."""
    client, hosts = broken()
    client.add("metal3~b", "active")
    client.ports["port-" + MAC] = port("metal3~b")
    hosts.append(host("b", boot_mac_address=MAC.upper()))
    found = [item for item in run(client, hosts=hosts)["findings"] if item["kind"] == audit.MAC_OF_OTHER_NODE]
    assert [(item["object"], item["next_step"]) for item in found] == [
        ("", "correct that of the host whose card it is not; the port stays, for BareMetalHost metal3/b has this boot "
             "MAC address, too")]
    assert not repair(client, hosts, audit.MAC_OF_OTHER_NODE)["changed"]
    assert len(client.ports) == 1 and client.requests() == []


@pytest.mark.parametrize(("objects", "text"), [
    ({"a": MAC.upper()}, ""), ({}, "BareMetalHost metal3/a is not there any more"),
    ({"a": "00:5c:52:00:00:09"}, "BareMetalHost metal3/a has another boot MAC address by now"),
    ({"a": None}, "BareMetalHost metal3/a has another boot MAC address by now"),
    ({"a": MAC, "b": MAC}, "BareMetalHost metal3/b, whose node has the port, has this boot MAC address by now, too"),
    ({"a": MAC, "b": "00:5c:52:00:00:09"}, "")])
def test_a_port_is_left_when_a_host_has_changed_since_the_second_look(objects, text):
    """The address was corrected, or the port's own host was enrolled: the port is right where it is."""
    client, hosts = broken()
    client.add("metal3~b", "available")
    client.ports["port-" + MAC] = port("metal3~b")
    kube = with_hosts(**objects)
    finding = of_other_node(repair(client, hosts, audit.MAC_OF_OTHER_NODE, kube=kube))
    assert text in finding["error"] and finding["repaired"] is not bool(text)
    assert len(client.ports) == (1 if text else 0)
    assert not text or finding["error"].endswith("so the port was left; run again")


@pytest.mark.parametrize("values", [{"provision_state": "cleaning"}, {"reservation": "conductor"}])
@pytest.mark.parametrize("is_late", [False, True])
def test_a_port_of_a_node_that_somebody_works_with_is_not_deleted(values, is_late):
    """A server that boots for a cleaning has lost its way without the port that it boots from."""
    client, hosts = broken()
    earlier = run(client, hosts=hosts)["findings"]
    real = client.list_nodes

    def list_nodes(*arguments, **options):
        found = real(*arguments, **options)
        client.nodes["uuid-stale"].update(values)
        return found
    if is_late:
        client.list_nodes = list_nodes
        result = run(client, hosts=hosts, repair=[audit.MAC_OF_OTHER_NODE], confirm="1", earlier_findings=earlier)
        assert "it has changed since it was looked at" in of_other_node(result)["error"]
    else:
        client.nodes["uuid-stale"].update(values)
        with pytest.raises(RefusedError, match="expected a node without an operation"):
            run(client, hosts=hosts, repair=[audit.MAC_OF_OTHER_NODE], confirm="1", earlier_findings=earlier)
    assert len(client.ports) == 1 and client.requests() == []


def with_hosts(*names, **boot_macs):
    kube = Server()
    for name in (*names, *boot_macs):
        kube.objects["BareMetalHost", name] = {
            "apiVersion": "metal3.io/v1alpha1", "kind": "BareMetalHost", "metadata": {
                "name": name, "namespace": "metal3", "uid": name, "resourceVersion": "1"},
            "spec": {"bootMACAddress": boot_macs[name]} if boot_macs.get(name) else {}}
    return kube


def test_a_node_whose_host_was_enrolled_since_the_second_look_is_left():
    """Of several to be deleted the others go; the host is looked for right before its node would."""
    client, hosts = broken()
    client.add("metal3~gone-too", "available")
    earlier = run(client, hosts=hosts)["findings"]
    kube = with_hosts("a", "gone")
    result = run(client, kube=kube, hosts=hosts, repair=[audit.NODE_WITHOUT_HOST], earlier_findings=earlier,
                 confirm="2")
    errors = dict((found["subject"], found["error"]) for found in result["findings"]
                  if found["kind"] == audit.NODE_WITHOUT_HOST)
    assert errors == {
        "node metal3~gone": "node metal3~gone: BareMetalHost metal3/gone is there by now, enrolled since the hosts "
                            "were read, so the node was left; run again", "node metal3~gone-too": ""}
    # Not even put into maintenance.
    assert [path for _method, path, _body in client.requests()] == ["/nodes/uuid-metal3~gone-too"]
    assert len([request for request in kube.requests if request[0] == "LIST"]) == 2


@pytest.mark.parametrize(("reason", "status"), [("Unreachable", None), (None, 403)])
def test_a_node_is_left_when_nobody_says_whether_its_host_is_there(reason, status, monkeypatch):
    client, hosts = broken()
    earlier = run(client, hosts=hosts)["findings"]
    kube = with_hosts()

    def refuse(*_arguments, **_options):
        raise KubeError("no answer", status, reason)
    monkeypatch.setattr(kube, "list", refuse)
    result = audit_service.run(client, {
        "hosts": hosts, "namespaces": None, "all_namespaces": False, "repair": [audit.NODE_WITHOUT_HOST],
        "earlier_findings": earlier, "confirm": "1"}, False, sleep=lambda _seconds: None, kube=kube)
    finding = next(found for found in result["findings"] if found["kind"] == audit.NODE_WITHOUT_HOST)
    assert "could not be read (no answer), so the node was left; run again" in finding["error"]
    assert client.requests() == [] and not result["changed"]


def test_hosts_are_not_asked_for_when_nothing_is_deleted():
    client, hosts = broken()
    kube = with_hosts()
    repair(client, hosts, audit.MAC_OF_OTHER_NODE, check=True, kube=kube)
    repair(client, hosts, audit.NODE_WITHOUT_HOST, check=True, kube=kube)
    assert kube.requests == []
    repair(client, hosts, audit.NODE_WITHOUT_HOST, kube=kube)
    assert "uuid-metal3~gone" not in client.nodes


def test_a_node_that_can_not_be_deleted_does_not_stay_in_maintenance():
    client, hosts = broken()
    client.refusals["DELETE", "/nodes/uuid-metal3~gone"] = [IronicError("node: no", 400)]
    repair(client, hosts, audit.NODE_WITHOUT_HOST)
    assert [(method, path) for method, path, dummy in client.requests()] == [
        ("PUT", "/nodes/uuid-metal3~gone/maintenance"), ("DELETE", "/nodes/uuid-metal3~gone"),
        ("DELETE", "/nodes/uuid-metal3~gone/maintenance")]
    assert client.nodes["uuid-metal3~gone"]["maintenance"] is False


@pytest.mark.parametrize("params", [
    {"hosts": [{"name": "a"}]}, {"hosts": [{"namespace": "a", "name": 1, "state": ""}]},
    {"hosts": [dict(host("a"), node_id=[])]}, {"hosts": [], "earlier_findings": [{"kind": {}}]},
    {"earlier_findings": [{}]},
])
def test_hosts_and_findings_of_another_form_are_refused(params):
    client, dummy = broken()
    with pytest.raises(RefusedError, match="no text, expected what"):
        run(client, **params)
    assert client.lists == 0


def test_a_host_that_comes_while_hosts_are_read_keeps_its_node_and_its_port():
    """Its node is there and it is not in the list of hosts; nor was it found before that list was read."""
    client, hosts = broken()
    earlier = run(client, hosts=hosts)["findings"]
    client.add("metal3~new", "enroll")
    client.ports["port-new"] = dict(port("metal3~new", "00:5c:52:00:00:02"), uuid="port-new")
    # The MAC address of a host that was replaced by the new one.
    hosts.append(host("replaced", state="deleting", boot_mac_address="00:5c:52:00:00:02"))
    result = run(client, hosts=hosts, repair=list(audit_service.REPAIRS), earlier_findings=earlier, confirm="2")
    assert sorted(found["subject"] for found in result["findings"]) == ["BareMetalHost metal3/a", "node metal3~gone"]
    assert sorted(client.nodes) == ["uuid-metal3~a", "uuid-metal3~new", "uuid-stale"]
    assert sorted(client.ports) == ["port-new"]


def test_a_node_created_again_is_not_the_one_that_was_found():
    client, hosts = broken()
    earlier = run(client, hosts=hosts)["findings"]
    client.nodes["another"] = dict(client.nodes.pop("uuid-metal3~gone"), uuid="another")
    run(client, hosts=hosts, repair=[audit.NODE_WITHOUT_HOST], earlier_findings=earlier, confirm="1")
    assert "another" in client.nodes


def test_a_node_that_comes_while_ironic_is_read_keeps_its_port():
    client = FakeIronic()
    reads = []

    def came(real):
        def read(*arguments, **options):
            found = real(*arguments, **options)
            if not reads:
                client.add("new")
                client.ports["port-" + MAC] = port("new")
            reads.append(real)
            return found
        return read
    client.list_nodes, client.list_ports = came(client.list_nodes), came(client.list_ports)
    result = run(client, repair=[audit.PORT_WITHOUT_NODE])
    assert (result["findings"], len(client.ports)) == ([], 1)


def test_a_port_that_goes_by_itself_is_no_failed_repair():
    client = FakeIronic()
    client.ports["port-" + MAC] = port("gone")
    client.refusals["DELETE", "/ports/port-" + MAC] = [IronicError("port: not found", 404)]
    result, = run(client, repair=[audit.PORT_WITHOUT_NODE], confirm=MAC)["findings"]
    assert (result["repaired"], result["error"]) == (True, "")


@pytest.mark.parametrize(("params", "text"), [
    ({"repair": [audit.NODE_WITHOUT_HOST]}, "repair: found node_without_host without hosts"),
    ({"repair": [audit.MAC_OF_OTHER_NODE], "hosts": []}, "repair: found mac_of_other_node without earlier_findings"),
    ({"all_namespaces": True}, "all_namespaces: found true without hosts"),
    ({"namespaces": ["metal3"]}, "namespaces: found metal3 without hosts"),
])
def test_what_needs_hosts_is_refused_without_them(params, text):
    client, dummy = broken()
    with pytest.raises(RefusedError, match=text):
        run(client, **params)
    assert client.lists == 0


NICS = {"nics": [{"name": "eth0", "mac": MAC.upper()}, {"name": "eth0", "mac": MAC}, {"mac": "00:5c:52:00:00:02"},
                 {"mac": "no address"}, {}]}
OTHER = "00:5c:52:00:00:02"


def ports_of(ironic, owner):
    return sorted((item["address"], item["pxe_enabled"]) for item in ironic.ports.values()
                  if item["node_uuid"] == "uuid-" + owner)


@pytest.mark.parametrize("change, of_node, ports, found", [
    ({}, {}, [], 2), ({"hardware": {}}, {}, [], None), ({"hardware": "x"}, {}, [], None),
    ({}, {"provision_state": "enroll"}, [], None), ({}, {"provision_state": "inspecting"}, [], None),
    ({}, {"reservation": "conductor"}, [], None), ({}, {}, [port("metal3~a", "00:5c:52:00:00:09")], None),
    ({}, {}, [port("metal3~b", OTHER)], 1), ({}, {}, [port("metal3~b", OTHER), port("metal3~b")], 0)],
    ids=["lost", "not inspected", "no hardware", "enrolled", "busy", "locked", "has one", "one taken", "all taken"])
def test_a_host_whose_node_has_no_port_is_named(change, of_node, ports, found):
    nodes = [node("metal3~a", **of_node), node("metal3~b")]
    hosts = [host("a", **{"hardware": NICS, **change}), host("b")]
    named = [item for item in audit.findings(nodes, ports, [], hosts) if item.kind == audit.HOST_WITHOUT_PORTS]
    assert [item.subject for item in named] == ([] if found is None else ["BareMetalHost metal3/a"])
    assert not named or (named[0].repair is None) == (found == 0)
    assert not found or [item["address"] for item in named[0].repair[1]["ports"]] == [MAC, OTHER][:found]


def test_a_mac_address_of_two_hosts_is_given_to_none():
    hosts = [host(name, hardware=NICS) for name in ("a", "b")]
    found = audit.findings([node("metal3~a"), node("metal3~b")], [], [], hosts)
    assert [(item.kind, item.repair) for item in found] == [(audit.HOST_WITHOUT_PORTS, None)] * 2


def test_lost_ports_are_created_from_the_hosts_nics_without_a_number():
    client = FakeIronic()
    client.add("metal3~a", "active")
    hosts = [host("a", hardware=NICS)]
    checked = repair(client, hosts, audit.HOST_WITHOUT_PORTS, check=True, confirm=None)
    assert checked["changed"] and client.ports == {} and checked["diff"][0]["before"] == {"ports": []}
    assert sorted(item["address"] for item in checked["diff"][0]["after"]["ports"]) == [MAC, OTHER]
    result = repair(client, hosts, audit.HOST_WITHOUT_PORTS, confirm=None)
    assert result["changed"] and [item["repaired"] for item in result["findings"]] == [True]
    assert ports_of(client, "metal3~a") == sorted((mac, True) for mac in (MAC, OTHER))
    again = repair(client, hosts, audit.HOST_WITHOUT_PORTS, confirm=None)
    assert not again["changed"] and again["findings"] == []


def test_the_port_that_the_operator_creates_by_itself_is_waited_for():
    client = FakeIronic()
    client.add("metal3~a", "active")
    hosts = [host("a", hardware=NICS, boot_mac_address=OTHER.upper())]
    result = repair(client, hosts, audit.HOST_WITHOUT_PORTS, confirm=None)
    finding, = result["findings"]
    assert not result["changed"] and not finding["repaired"] and client.ports == {}
    assert f"wait a minute: the operator creates that of its boot MAC address {OTHER} again" in str(finding)


def test_a_node_that_has_got_a_port_or_another_state_meanwhile_is_left():
    for field in ("port", "state"):
        client = FakeIronic()
        client.add("metal3~a", "active")
        read = client.node

        def late(uuid, fields, client=client, field=field, read=read):
            if field == "port":
                client.ports["mine"] = dict(port("metal3~a"), uuid="mine")
            else:
                client.nodes[uuid]["provision_state"] = "deleting"
            return read(uuid, fields)
        client.node = late
        result, = repair(client, [host("a", hardware=NICS)], audit.HOST_WITHOUT_PORTS, confirm=None)["findings"]
        assert not result["repaired"] and result["error"], result
        assert sorted(client.ports) == (["mine"] if field == "port" else [])


def test_ports_are_created_for_no_hosts_of_another_cluster():
    client = FakeIronic()
    client.add("metal3~a", "active")
    with pytest.raises(RefusedError, match="not one that is the node of one of the 1 hosts"):
        repair(client, [host("a", hardware=NICS, node_id="other")], audit.HOST_WITHOUT_PORTS, confirm=None)


@pytest.mark.parametrize(("nodes", "hosts", "kind", "text"), [
    ([node("metal3~a")], [host("a"), host("b")], audit.HOST_WITHOUT_NODE, "resume it"),
    ([node("metal3~a"), node("metal3~b", uuid="new")], [host("a"), host("b")], audit.HOST_OF_FORMER_NODE, "resume it"),
    ([node("metal3~a"), node("metal3~b")],
     [host("a"), host("b", boot_mac_address=MAC, hardware={"nics": [{"mac": MAC}]})], audit.HOST_WITHOUT_PORTS,
     "resume it"),
    ([], [host("a"), host("b")], audit.NODES_LOST, "1 of these hosts is paused"),
])
@pytest.mark.parametrize("paused", [True, False])
def test_nobody_waits_for_the_operator_at_a_paused_host(nodes, hosts, kind, text, paused):
    """It does nothing with it, whatever has become of its node."""
    hosts = [dict(item, paused=paused and item["name"] == "b") for item in hosts]
    found = next(item for item in audit.findings(nodes, [], [], hosts) if item.kind == kind)
    assert (text in found.next_step) is paused
