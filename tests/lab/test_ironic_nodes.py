# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ironic without the operator: a server that only Ironic knows, from its registration to a deployed image."""
from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from bmc_system import credential
from machine_room import partitions
from support import HOST, NAMESPACE, Run, eventually

from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.errors import RefusedError
from ansible_collections.metal3.baremetal.plugins.module_utils._common.waiting.progress import Progress
from ansible_collections.metal3.baremetal.plugins.module_utils._ironic.actions import deployment
from ansible_collections.metal3.baremetal.plugins.module_utils._ironic.actions.service import ActionService
from ansible_collections.metal3.baremetal.plugins.module_utils._ironic.api import info_service
from ansible_collections.metal3.baremetal.plugins.module_utils._ironic.api.client import IronicClient
from ansible_collections.metal3.baremetal.plugins.module_utils._ironic.audit import findings as audit
from ansible_collections.metal3.baremetal.plugins.module_utils._ironic.module import (
    action_argument_spec,
    info_argument_spec,
    node_argument_spec,
)
from ansible_collections.metal3.baremetal.plugins.module_utils._ironic.nodes import inventory as node_inventory
from ansible_collections.metal3.baremetal.plugins.module_utils._ironic.nodes.service import NodeService

WRONG = "canary-wrong-password"
STATE = ("name", "provision_state")
PLAY = """
- hosts: localhost
  gather_facts: false
  module_defaults: {group/metal3.baremetal.ironic: {cloud: metal3-lab, clouds_file: "{{ clouds_file }}"}}
  tasks:
    - metal3.baremetal.ironic_node: {nodes: "{{ nodes }}"}
    - metal3.baremetal.ironic_node_action: {nodes: "{{ nodes | map(attribute='name') }}", action: manage}
"""


@pytest.fixture(scope="module")
def server(lab):
    """The description of a server that is not the operator's: one that is free, else the last one that is available."""
    free = sorted(set(lab.servers) - set(lab.hosts()))
    enrolled = sorted(name for name, host in lab.hosts().items()
                      if lab.state(name) == "available" and not host["spec"].get("consumerRef"))
    name = (free or enrolled)[-1]
    if not free:
        lab.remove_hosts(name)
    yield lab.servers[name]
    if not free:
        lab.playbook("enroll", "--limit", name).ok()
        assert lab.state(name) == "available"


@pytest.fixture(scope="module")
def client(lab):
    return IronicClient({"cloud": "metal3-lab", "clouds_file": str(lab.dir / "clouds.yaml")})


@pytest.fixture(scope="module")
def node(client, server):
    """The options of the node; what is left of it goes at the end."""
    address = server["bmc"]["address"].partition("//")[2]
    authority, slash, path = address.partition("/")
    options = {
        "name": "standalone-" + server["name"], "driver": "redfish",
        "driver_info": {"redfish_address": "https://" + authority, "redfish_system_id": slash + path,
                        "redfish_username": credential(server, "username"),
                        "redfish_password": credential(server, "password")},
        "properties": {"cpu_arch": server["architecture"], "capabilities": "boot_mode:uefi"},
        "interfaces": {"boot": "ipxe", "inspect": "agent"}, "traits": ["CUSTOM_LAB"],
        "ports": [{"address": server["boot_mac"], "pxe_enabled": True}],
    }
    yield options
    register(client, {"name": options["name"], "state": "absent"}, force=True)


def defaults(spec):
    return dict((name, value.get("default")) for name, value in spec.items())


def register(client, options, check=False, force=False):
    """Write a node and return its result."""
    spec = node_argument_spec()
    params = dict(defaults(spec), nodes=[dict(defaults(spec["nodes"]["options"]), **options)],
                  force_nodes=[options["name"]] if force else [])
    return NodeService(client, params, check, Progress()).run()["nodes"][0]


@pytest.fixture
def act(client, node):
    """Take an action and return the node's result."""
    def run(action, name=node["name"], check=False, **options):
        params = dict(defaults(action_argument_spec()), action=action, nodes=[name], wait_timeout_seconds=300,
                      poll_interval_seconds=0.5, confirm="1" if action in deployment.INTERRUPTING else None)
        return ActionService(client, dict(params, **options), check, Progress()).run()["nodes"][0]
    return run


@pytest.fixture
def image(lab):
    url = lab.figures["urls"]["image_server"] + "/images/lab.raw"
    return {"image": {"source": url, "checksum": url + ".sha256", "disk_format": "raw"},
            "instance_info": {"root_device": {"rotational": False}}}


def seen(client, name):
    """Return the node as the module ironic_node_info returns it."""
    params = dict(defaults(info_argument_spec()), names=[name], ports=True, inventory=True)
    return info_service.read(client, params)["nodes"][0]


def done(result, **wanted):
    assert result["error"] == ""
    assert dict((key, result[key]) for key in wanted) == wanted


def play(lab, folder, options, *arguments):
    """Run the two modules as a playbook."""
    (folder / "play.yml").write_text(PLAY)
    (folder / "vars.json").write_text(json.dumps({"nodes": [options], "clouds_file": str(lab.dir / "clouds.yaml")}))
    log = folder / "play.log"
    with log.open("w") as stream:
        process = subprocess.Popen(
            [str(Path(sys.executable).parent / "ansible-playbook"), str(folder / "play.yml"), "-e",
             f"@{folder / 'vars.json'}", *arguments],
            stdin=subprocess.DEVNULL, stdout=stream, stderr=subprocess.STDOUT, start_new_session=True,
            env=dict((key, value) for key, value in os.environ.items() if not key.startswith("OS_")))
    return Run(process, log).finish(300)


def module(lab, name, **options):
    """Run one of Ironic's modules by Ansible, as a user does, and return its result; what it failed with, too."""
    where = {"cloud": "metal3-lab", "clouds_file": str(lab.dir / "clouds.yaml")}
    output = subprocess.run(
        [str(Path(sys.executable).parent / "ansible"), "localhost", "-m", "metal3.baremetal." + name, "-a",
         json.dumps(dict(where, **options))], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, check=False,
        timeout=300).stdout
    result = re.search(r"^localhost \| [A-Z]+!? => (\{.*)", output, re.MULTILINE | re.DOTALL)
    assert result, output
    return json.loads(result.group(1))


@pytest.fixture
def two_nodes(client):
    """The names of two nodes without a server."""
    names = ["spare-a", "spare-b"]
    for name in names:
        register(client, {"name": name, "driver": "fake-hardware", "driver_info": {"fake_password": WRONG}})
    yield names
    for name in names:
        register(client, {"name": name, "state": "absent"}, force=True)


def asking(lab):
    """The variables of the playbook ``ironic_audit`` for the lab."""
    return {"ironic_nodes_cloud": "metal3-lab", "ironic_nodes_clouds_file": str(lab.dir / "clouds.yaml"),
            "ironic_audit_kubeconfig": str(lab.dir / "kubeconfig")}


def delete_ports(client, uuid):
    for item in client.list_ports():
        if item["node_uuid"] == uuid:
            client.request("DELETE", "/ports/" + item["uuid"])


@contextlib.contextmanager
def held(lab, name):
    """A host that the operator does not look at meanwhile."""
    def pause(value):
        lab.kube.patch(HOST, NAMESPACE, name, {"metadata": {"annotations": {"baremetalhost.metal3.io/paused": value}}})

    pause("test")
    try:
        yield
    finally:
        pause(None)


def test_a_wrong_password_ends_at_once_and_is_never_shown(lab, node, client, tmp_path):
    wrong = dict(node, driver_info=dict(node["driver_info"], redfish_password=WRONG))
    failing = play(lab, tmp_path, wrong, "-vvv", "--diff").failed(
        "it is enroll; last_error:", "correct driver_info", "manage: 1 of 1 nodes")
    assert WRONG not in failing.output
    # Ironic's own sign that the credentials are wrong: only now they are written although nothing else differs.
    mended = play(lab, tmp_path, node, "-vvv", "--diff").ok()
    assert mended.changed() == 2
    assert node["driver_info"]["redfish_password"] not in mended.output
    assert play(lab, tmp_path, node).ok().changed() == 0
    assert seen(client, node["name"])["provision_state"] == "manageable"


def test_inspection_finds_the_server(client, node, server, act):
    done(act("inspect", check=True), changed=True, provision_state="manageable")
    done(act("inspect"), changed=True, provision_state="manageable")
    found = seen(client, node["name"])
    assert sorted(port["address"] for port in found["ports"]) == sorted(nic["mac"] for nic in server["nics"])
    assert found["inventory"]["inventory"]["cpu"]["count"] == server["cpus"]
    assert found["driver_info"]["redfish_password"] == "(hidden)"
    # What inspection found stays.
    assert register(client, node)["changed"] is False


def test_settings_are_made_once(client, node, act):
    for action, options in (
            ("maintenance_on", {"maintenance_reason": "test"}), ("maintenance_off", {}),
            # The BMCs of simulated servers have no boot device for one boot only.
            ("boot_device", {"boot_device": "cdrom", "persistent": True}),
            ("boot_device", {"boot_device": "pxe", "persistent": True}),
            ("boot_mode", {"boot_mode": "bios"}), ("boot_mode", {"boot_mode": "uefi"}),
            ("secure_boot", {"secure_boot": True}), ("secure_boot", {"secure_boot": False}),
            ("traits", {"traits": ["CUSTOM_OTHER"], "traits_mode": "add"}),
            ("traits", {"traits": ["CUSTOM_OTHER"], "traits_mode": "remove"}),
            ("raid", {"raid": {"logical_disks": [{"size_gb": "MAX", "raid_level": "1"}]}}),
            ("raid", {"raid": {"logical_disks": []}})):
        done(act(action, check=True, **options), changed=True)
        done(act(action, **options), changed=True)
        done(act(action, **options), changed=False)
    found = seen(client, node["name"])
    assert (found["traits"], found["maintenance"], found["secure_boot"]) == (["CUSTOM_LAB"], False, False)
    assert "create_subscription" in act("vendor_passthru")["answer"]
    assert act("vendor_passthru", vendor_method="get_all_subscriptions")["answer"]["Members"] == []


def test_a_clean_step_runs_and_an_unknown_one_fails(act):
    done(act("clean", steps=[{"interface": "deploy", "step": "erase_devices_metadata"}]), changed=True,
         provision_state="manageable")
    failed = act("clean", steps=[{"interface": "deploy", "step": "no_such_step"}])
    assert "it is clean failed" in failed["error"]
    done(act("manage"), changed=True, provision_state="manageable")


def test_an_inspection_is_aborted(act, room, server, client, node):
    done(act("power_on"), power_state="power on")
    done(act("power_off"), changed=True, power_state="power off")
    done(act("power_off"), changed=False)
    room.set_knobs(server["name"], agent_never_calls_back=True)
    try:
        done(act("inspect", wait=False), changed=True)
        eventually(lambda: "inspect wait" in [item["provision_state"] for item in client.list_nodes(STATE)
                                              if item["name"] == node["name"]], 60, "inspect wait")
        slow = act("inspect", wait_timeout_seconds=2)
        assert "not manageable within 2 s: still inspect wait" in slow["error"]
        with pytest.raises(RefusedError, match="wait for the end of that, or abort it"):
            act("provide")
        done(act("abort"), changed=True, provision_state="inspect failed")
        done(act("abort"), changed=False)
    finally:
        room.clear_knobs(server["name"])
    done(act("manage"), changed=True, provision_state="manageable")


def test_an_image_is_deployed_rebuilt_and_removed(lab, room, act, image, server, client, node):
    with pytest.raises(RefusedError, match="provide it first"):
        act("deploy", **image)
    done(act("provide"), changed=True, provision_state="available")
    drive = {"config_drive": {"user_data": "#cloud-config\nhostname: first\n", "meta_data": {"local-hostname": "a"}}}
    done(act("deploy", check=True, **image, **drive), changed=True, provision_state="available")
    done(act("deploy", **image, **drive), changed=True, provision_state="active")
    check_disk(lab, room, server, b"hostname: first")
    done(act("deploy", **image, **drive), changed=False)
    with pytest.raises(RefusedError, match="use rebuild, or undeploy it first"):
        act("deploy", image=dict(image["image"], source="http://127.0.0.1/other.raw"))
    # With fast track, Ironic takes the agent for alive for minutes after its last word; not so when the power is off.
    done(act("power_off"), changed=True, power_state="power off")
    second = {"config_drive": {"user_data": "#cloud-config\nhostname: second\n"}}
    with pytest.raises(RefusedError, match=r"rebuild gives up the systems that may be deployed on .*\(it is active\)"):
        act("rebuild", **image, **second)
    done(act("rebuild", **image, **second, confirm="1"), changed=True, provision_state="active")
    check_disk(lab, room, server, b"hostname: second")
    change_firmware(act, client, node)
    with pytest.raises(RefusedError, match="undeploy it with ironic_node_action"):
        register(client, {"name": node["name"], "state": "absent"})
    done(act("undeploy", confirm=node["name"]), changed=True, provision_state="available")
    done(act("undeploy"), changed=False)


def change_firmware(act, client, node):
    """Change a BIOS setting of the deployed server by service steps, and change it back."""
    def value():
        settings = client.request("GET", f"/nodes/{node['name']}/bios")["bios"]
        return next(setting["value"] for setting in settings if setting["name"] == "ProcTurboMode")

    before = value()
    for wanted, options in (("Disabled", {}), (before, {"disable_ramdisk": True})):
        settings = {"settings": [{"name": "ProcTurboMode", "value": wanted}]}
        steps = [{"interface": "bios", "step": "apply_configuration", "args": settings}]
        done(act("service", steps=steps, **options), changed=True, provision_state="active")
        assert value() == wanted


def content(path, partition):
    with open(path, "rb") as stream:
        stream.seek(partition["start"] * partitions.SECTOR_BYTES)
        return stream.read(partition["size"] * partitions.SECTOR_BYTES)


def check_disk(lab, room, server, user_data):
    """The image's partitions are on the disk byte by byte, and the config drive after them."""
    source, disk = lab.dir / "www" / "images" / "lab.raw", room.disk(server["name"], "sda", length=0)["path"]
    wanted, written = partitions.table(source), partitions.table(disk)
    assert written["id"] == wanted["id"]
    assert len(written["partitions"]) == len(wanted["partitions"]) + 1
    for partition in wanted["partitions"]:
        # The server has booted: the kernel notes the mount in the superblock and the group descriptors.
        notes = 8 * partitions.SECTOR_BYTES
        assert content(disk, partition)[notes:] == content(source, partition)[notes:]
    assert user_data in content(disk, partitions.config_drive(disk))


def test_nodes_of_the_operator_are_refused(lab, client, act):
    owned = f"{NAMESPACE}~{sorted(lab.hosts())[0]}"
    for attempt in (lambda: act("power_off", owned), lambda: register(client, {"name": owned, "description": "x"})):
        with pytest.raises(RefusedError, match="it belongs to BareMetalHost"):
            attempt()


def test_an_abandoned_node_is_found_and_deleted(lab, client):
    lost = f"{NAMESPACE}~nobody"
    register(client, {"name": lost, "driver": "fake-hardware"}, force=True)
    where = {"ironic_nodes_cloud": "metal3-lab", "ironic_nodes_clouds_file": str(lab.dir / "clouds.yaml"),
             "ironic_audit_kubeconfig": str(lab.dir / "kubeconfig")}
    repair = dict(where, ironic_audit_repair=[audit.NODE_WITHOUT_HOST], metal3_confirm=1)
    found = {"all_namespaces": True, "repair": [audit.NODE_WITHOUT_HOST], "confirm": "1"}
    try:
        lab.playbook("ironic_audit", extra=where).failed(f"node {lost}: BareMetalHost {NAMESPACE}/nobody is not there")
        # As a kubeconfig of another cluster would have it.
        earlier = module(lab, "ironic_audit", hosts=[], all_namespaces=True)["findings"]
        refused = module(lab, "ironic_audit", hosts=[], earlier_findings=earlier, **found)
        assert "at least one node whose UUID a host has as its node_id" in refused["msg"]
        lab.playbook("ironic_audit", extra=dict(repair, metal3_confirm=2)).failed(
            f"confirm: found 2, expected 1 (how many they are) or {lost}")
        assert lost in [item["name"] for item in client.list_nodes()]
    finally:
        assert lab.playbook("ironic_audit", "--diff", extra=repair).ok().changed() == 1
    assert lost not in [item["name"] for item in client.list_nodes()]


def test_a_host_without_its_node_and_a_mac_address_of_two_nodes_are_found(lab, client, two_nodes):
    """In another namespace; the host is paused, else the operator would register it."""
    mac, owners, lost = "00:5c:52:fe:00:01", [client.request("GET", "/nodes/" + name)["uuid"] for name in two_nodes], (
        "default", "lost-its-node")
    host = {"apiVersion": "metal3.io/v1alpha1", "kind": HOST.kind, "metadata": {
        "name": lost[1], "annotations": {"baremetalhost.metal3.io/paused": "test"}}, "spec": {"online": False}}
    client.request("POST", "/ports", body={"node_uuid": owners[0], "address": mac})
    # Ironic refuses a second port with the address, and takes a group.
    client.request("POST", "/portgroups", body={"node_uuid": owners[1], "address": mac})
    try:
        lab.kube.apply(HOST, lost[0], host)
        lab.kube.patch(HOST, *lost, {"status": {
            "errorCount": 0, "errorMessage": "", "hardwareProfile": "", "operationalStatus": "OK", "poweredOn": False,
            "provisioning": {"ID": "c0ffee00-0000-4000-8000-000000000000", "state": "available",
                             "image": {"url": ""}}}}, subresource="status")
        lab.playbook("ironic_audit", extra={
            "ironic_nodes_cloud": "metal3-lab", "ironic_nodes_clouds_file": str(lab.dir / "clouds.yaml"),
            "ironic_audit_kubeconfig": str(lab.dir / "kubeconfig")}).failed(
                f"MAC {mac}: it is at node spare-a and node spare-b",
                "BareMetalHost %s/%s: its node c0ffee00-0000-4000-8000-000000000000 is not in Ironic" % lost)
    finally:
        lab.kube.delete(HOST, *lost)


def ports_of(client, uuid):
    return sorted(item["address"] for item in client.list_ports() if item["node_uuid"] == uuid)


def test_a_port_of_the_boot_mac_address_that_ironic_has_lost_is_created_again_by_the_operator(lab, client):
    """At its next look at the host, of which there is one a minute: the audit has nothing to repair."""
    name, host = next((name, host) for name, host in sorted(lab.hosts().items())
                      if host["status"]["provisioning"]["state"] == "available" and host["spec"].get("bootMACAddress"))
    uuid, boot = host["status"]["provisioning"]["ID"], host["spec"]["bootMACAddress"].lower()
    before = ports_of(client, uuid)
    assert boot in before
    # Held, so that the operator does not look before the audit does.
    with held(lab, name):
        delete_ports(client, uuid)
        lab.playbook("ironic_audit", extra=dict(asking(lab), ironic_audit_repair=[audit.HOST_WITHOUT_PORTS])).failed(
            f"BareMetalHost {NAMESPACE}/{name}: node {NAMESPACE}~{name} has no port",
            "it is paused, so that the operator does nothing with it")
        assert ports_of(client, uuid) == []
    eventually(lambda: ports_of(client, uuid) == [boot], 300, "the port again")
    # The others are for nobody to find the server by; what was there comes back with the next inspection.
    for mac in before:
        if mac != boot:
            client.request("POST", "/ports", body={"node_uuid": uuid, "address": mac, "pxe_enabled": False})


def test_ports_of_a_host_without_a_boot_mac_address_are_created_again_by_the_repair(lab, client, two_nodes):
    """In another namespace and paused, at a node without a server: the lab's own hosts all have such an address."""
    macs, mine = ["00:5c:52:fe:00:11", "00:5c:52:fe:00:12"], ("default", "lost-its-ports")
    uuid = client.request("GET", "/nodes/" + two_nodes[0])["uuid"]
    client.request("PUT", f"/nodes/{uuid}/states/provision", body={"target": "manage"})
    eventually(lambda: seen(client, two_nodes[0])["provision_state"] == "manageable", 120, "the node manageable")
    host = {"apiVersion": "metal3.io/v1alpha1", "kind": HOST.kind, "metadata": {
        "name": mine[1], "annotations": {"baremetalhost.metal3.io/paused": "test"}}, "spec": {"online": False}}
    repair = dict(asking(lab), ironic_audit_repair=[audit.HOST_WITHOUT_PORTS])
    try:
        lab.kube.apply(HOST, mine[0], host)
        lab.kube.patch(HOST, *mine, {"status": {
            "errorCount": 0, "errorMessage": "", "hardwareProfile": "", "operationalStatus": "OK", "poweredOn": False,
            "hardware": {"nics": [{"name": f"eno{number}", "mac": mac} for number, mac in enumerate(macs, 1)]},
            "provisioning": {"ID": uuid, "state": "available", "image": {"url": ""}}}}, subresource="status")
        lab.playbook("ironic_audit", extra=asking(lab)).failed("BareMetalHost %s/%s: " % mine, "has no port")
        checked = lab.playbook("ironic_audit", "--check", "--diff", extra=repair)
        assert checked.changed() == 1 and macs[0] in checked.output and ports_of(client, uuid) == []
        assert lab.playbook("ironic_audit", extra=repair).ok().changed() == 1
        assert ports_of(client, uuid) == macs
        assert lab.playbook("ironic_audit", extra=repair).ok().changed() == 0
    finally:
        lab.kube.delete(HOST, *mine)
        delete_ports(client, uuid)


def test_ports_are_made_moved_and_deleted(lab, two_nodes):
    mac = "00:5c:52:fe:00:02"

    def port(**values):
        return module(lab, "ironic_port", ports=[dict({"address": mac}, **values)])

    assert port(node="spare-a", pxe_enabled=False)["counts"]["created"] == 1
    assert port(node="spare-a", pxe_enabled=False)["changed"] is False
    assert "a port of node spare-a" in port(node="spare-b")["msg"]
    assert port(node="spare-b", move=True, pxe_enabled=True)["counts"]["updated"] == 1
    info = module(lab, "ironic_node_info", names=[*two_nodes, "nobody"], ports=True)
    assert [[(item["address"], item["pxe_enabled"]) for item in node["ports"]] for node in info["nodes"]] == [
        [], [(mac, True)]]
    assert (info["missing"], info["counts"], info["changed"]) == (["nobody"], {"enroll": 2}, False)
    assert info["nodes"][0]["driver_info"] == {"fake_password": "(hidden)"}
    assert port(state="absent")["counts"]["deleted"] == 1
    assert port(state="absent")["changed"] is False


def test_ports_of_the_operators_nodes_are_refused(lab):
    host = sorted(lab.hosts())[0]
    refused = module(lab, "ironic_port", ports=[{"address": lab.servers[host]["boot_mac"], "state": "absent"}])
    assert f"it belongs to BareMetalHost {NAMESPACE}/{host}" in refused["msg"]


def test_an_adopted_node_is_deleted_only_by_force(client, node, act):
    done(act("manage"), changed=True, provision_state="manageable")
    done(act("adopt"), changed=True, provision_state="active")
    done(act("adopt"), changed=False)
    gone = {"name": node["name"], "state": "absent"}
    with pytest.raises(RefusedError, match="or name it in force_nodes"):
        register(client, gone)
    assert register(client, gone, force=True)["action"] == "deleted"
    assert register(client, gone)["action"] == "unchanged"


@pytest.fixture
def variables(server):
    """Return the server's variables in an inventory, with ``ironic_node`` as given."""
    bmc = server["bmc"]

    def described(**of_node):
        return {"bmc_address": bmc["address"], "boot_mac": server["boot_mac"],
                "ironic_node": dict({"traits": ["CUSTOM_LAB"]}, **of_node),
                "bmc_username": credential(server, "username"),
                "bmc_password": credential(server, "password")}
    return described


@pytest.fixture
def inventory(lab, node, variables):
    """What the playbook ironic_nodes is run with: an inventory of the one server, as options of ``lab.playbook``."""
    def options(extra=None, **of_node):
        return {"inventory": lab.inventory({node["name"]: variables(**of_node)}), "extra": dict({
            "ironic_nodes_cloud": "metal3-lab", "ironic_nodes_clouds_file": str(lab.dir / "clouds.yaml")},
            **(extra or {}))}
    return options


def untouched(room, name):
    """Return what shows whether anybody has switched or booted a server, or written to its disk."""
    found = room.server(name)
    return (found["boots"], found["power"], room.disk(name, "sda", length=64 * 1024 * 1024)["digest"],
            [line for line in room.console(name, 1000) if "BMC:" in line])


def test_a_server_whose_adoption_failed_is_never_cleaned(lab, room, client, server, node, act, inventory, variables):
    # Ironic can't adopt what is to boot a ramdisk each time and names none.
    broken = {"interfaces": {"deploy": "ramdisk"}}
    register(client, node_inventory.entry(node["name"], variables(**broken)))
    done(act("manage"), changed=True, provision_state="manageable")
    # By Ironic, which brings a server back to the power state that it last set or found.
    done(act("power_off"), power_state="power off")
    before = untouched(room, server["name"])
    assert "correct the cause, then adopt it again" in act("adopt")["error"]
    for extra in ({}, {"ironic_nodes_provide": [node["name"]]},
                  {"ironic_nodes_provide": [node["name"]], "metal3_confirm": "1"}):
        run = lab.playbook("ironic_nodes", **inventory(extra, **broken)).failed("adopt")
        assert run.changed() == 0 and "adopt failed" in run.output
    for action in ("provide", "clean", "inspect", "manage"):
        with pytest.raises(RefusedError, match=r"adopt|gives up"):
            act(action, steps=[{"interface": "deploy", "step": "erase_devices_metadata"}])
    with pytest.raises(RefusedError, match="force_nodes"):
        register(client, {"name": node["name"], "state": "absent"})
    assert seen(client, node["name"])["provision_state"] == "adopt failed"
    # Ironic takes other interfaces in this state only in maintenance.
    done(act("maintenance_on"), changed=True)
    register(client, dict(node, interfaces={"deploy": "direct"}))
    done(act("maintenance_off"), changed=True)
    done(act("adopt"), changed=True, provision_state="active")
    assert untouched(room, server["name"]) == before
    register(client, {"name": node["name"], "state": "absent"}, force=True)


def test_a_playbook_takes_an_inventory_to_available(lab, room, client, server, node, inventory):
    room.power(server["name"], "power_on")
    before = untouched(room, server["name"])
    # It runs something, and nobody has said that this may be erased.
    lab.playbook("ironic_nodes", **inventory()).failed(
        "1 of 1 servers are neither available nor deployed", f"- {node['name']} (manageable): power on",
        f"\"ironic_nodes_provide\": [\"{node['name']}\"]")
    assert untouched(room, server["name"]) == before
    again = lab.playbook("ironic_nodes", **inventory()).failed("cleaning erases their disks")
    assert again.changed() == 0 and untouched(room, server["name"]) == before
    asked = lab.playbook("ironic_nodes", **inventory({"ironic_nodes_provide": [node["name"]]})).ok()
    assert asked.changed() == 1
    assert seen(client, node["name"])["provision_state"] == "available"
    register(client, {"name": node["name"], "state": "absent"})
    room.power(server["name"], "power_off")

    first = lab.playbook("ironic_nodes", "-vvv", "--diff", **inventory()).ok()
    assert first.changed() == 1
    assert credential(server, "password") not in first.output
    assert seen(client, node["name"])["provision_state"] == "available"
    assert lab.playbook("ironic_nodes", **inventory()).ok().changed() == 0


def test_playbooks_deploy_undeploy_and_delete_a_server(
        lab, room, client, server, node, act, image, inventory, variables):
    lab.playbook("ironic_nodes", **inventory()).ok()
    # By Ironic, as above.
    done(act("power_off"), power_state="power off")
    source = image["image"]["source"]

    def run(playbook, *arguments, url=source, **extra):
        described = dict(variables(), bmh_image={"url": url, "format": "raw", "checksum": url + ".sha256"},
                         bmh_user_data=f"#cloud-config\nhostname: {WRONG}\n", bmh_meta_data={"local-hostname": "a"})
        return lab.playbook(playbook, *arguments, inventory=lab.inventory({node["name"]: described}), extra=dict({
            "ironic_nodes_cloud": "metal3-lab", "ironic_nodes_clouds_file": str(lab.dir / "clouds.yaml")}, **extra))

    def state():
        return seen(client, node["name"])["provision_state"]

    before = untouched(room, server["name"])
    assert run("ironic_deploy", "--check", "--diff").ok().changed() == 1
    assert untouched(room, server["name"]) == before
    deployed = run("ironic_deploy", "-vvv", "--diff").ok()
    assert deployed.changed() == 1 and WRONG not in deployed.output and state() == "active"
    check_disk(lab, room, server, f"hostname: {WRONG}".encode())
    assert run("ironic_deploy").ok().changed() == 0

    # With fast track, Ironic takes the agent for alive for minutes after its last word; not so when the power is off.
    done(act("power_off"), changed=True, power_state="power off")
    before = untouched(room, server["name"])
    run("ironic_deploy", url=source + ".other").failed("confirm: not set, expected 1")
    run("ironic_undeploy").failed("confirm: not set, expected 1")
    run("ironic_undeploy", metal3_confirm=2).failed("confirm: found 2, expected 1")
    run("ironic_delete", metal3_confirm=1).failed("undeploy it")
    assert untouched(room, server["name"]) == before and state() == "active"

    assert run("ironic_undeploy", metal3_confirm=1).ok().changed() == 1
    assert state() == "available"
    with open(room.disk(server["name"], "sda", length=0)["path"], "rb") as disk:
        assert not any(disk.read(partitions.SECTOR_BYTES))
    assert run("ironic_undeploy").ok().changed() == 0

    run("ironic_delete").failed("This deletes 1 node")
    assert state() == "available"
    assert run("ironic_delete", metal3_confirm=1).ok().changed() == 1
    assert node["name"] not in [item["name"] for item in client.list_nodes()]
    assert run("ironic_delete").ok().changed() == 0


def test_servers_of_the_operator_are_left_to_it(lab, client):
    def everything():
        return sorted((item["uuid"], item["name"], item["provision_state"]) for item in client.list_nodes()), sorted(
            item["uuid"] for item in client.list_ports())

    before, host = everything(), sorted(lab.hosts())[0]
    title = f"BareMetalHost {NAMESPACE}/{host}"
    where = {"ironic_nodes_cloud": "metal3-lab", "ironic_nodes_clouds_file": str(lab.dir / "clouds.yaml")}
    refused = lab.playbook("ironic_nodes", "--limit", host, extra=where).failed(
        "the BMC of " + title, "a port of " + title, "take it out of this list or inventory group")
    assert "ironic_port" not in refused.output and "delete it" not in refused.output
    # Without its boot MAC address it is the same server.
    lab.playbook("ironic_nodes", "--limit", host, "-e", "boot_mac=", extra=where).failed("the BMC of " + title)
    assert everything() == before


def test_a_dictionary_is_no_name_of_a_node(lab, node):
    refused = module(lab, "ironic_node_action", action="power_off", nodes=[{"name": node["name"]}])
    assert f"nodes[0]: found a dictionary with the name {node['name']}, expected a text" in refused["msg"]
