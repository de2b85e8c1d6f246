# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is claimed of provisioned servers: power, reboots, holds, another BMC address, a move, cleaning.

Three servers are provisioned once, the first with the node image, whose system really shuts down and boots; a fourth
one the lab has provisioned itself. What is done to them is done side by side, in two rounds, and then looked at by one
test for each claim. Each BMC says on its server's console how the server was reset.
"""
from __future__ import annotations

import hashlib
import json
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import pytest
from consoles import Bmc
from machine_room import partitions
from support import HOST, NAMESPACE, eventually, only

from ansible_collections.metal3.baremetal.plugins.module_utils._host.description import annotations as host_annotations
from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.kinds import KNOWN

pytestmark = [pytest.mark.nodes, pytest.mark.claims]

BOOTS, KEEPS, MOVES = SERVERS = "server-01", "server-02", "server-04"
# Provisioned by the lab itself.
DIRECT = "server-03"
ELSEWHERE = "moved-to"
PLAY = Path(__file__).parent / "data" / "move_host.yml"
# Left by a unit that systemd stops when it shuts down, and never when the power is cut.
WITNESS = "systemd-run --unit=witness -p RemainAfterExit=yes -p 'ExecStop=/bin/touch /root/orderly' true"
MIB = 1024 ** 2
SOFT, HARD, ON = "GracefulShutdown", "ForceOff", "On"


def watched(lab, room):
    """Return what shows later what was done to the servers."""
    return SimpleNamespace(
        bmcs=dict((name, Bmc(lab, name)) for name in lab.servers), nodes=lab.nodes(), hosts=lab.hosts(),
        boots=dict((server["name"], server["boots"]) for server in room.servers()))


def side_by_side(*works):
    """Do several things at a time, each to its end, and raise what one of them has raised."""
    with ThreadPoolExecutor(len(works)) as pool:
        for done in [pool.submit(work) for work in works]:
            done.result()


@pytest.fixture(scope="module")
def key(tmp_path_factory):
    """An SSH key's file."""
    path = tmp_path_factory.mktemp("ssh") / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(path)], check=True,
                   stdin=subprocess.DEVNULL)
    return path


@pytest.fixture(scope="module")
def address(lab):
    """An address of the lab's bridge that no agent and no cluster's node has."""
    return lab.figures["bridge"]["network"].rsplit(".", 1)[0] + ".70"


@pytest.fixture(scope="module")
def inside(key, address):
    """Run a command on the server that boots, by SSH; its output, None when it could not be run."""
    def run(command, user="root"):
        done = subprocess.run(
            ["ssh", "-i", str(key), "-o", "BatchMode=yes", "-o", "StrictHostKeyChecking=no", "-o", "LogLevel=ERROR",
             "-o", "UserKnownHostsFile=/dev/null", "-o", "ConnectTimeout=2", f"{user}@{address}", command],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=60)
        return done.stdout if done.returncode == 0 else None
    return run


@pytest.fixture(scope="module")
def descriptions(lab, key, address):
    """What the inventory says of the servers."""
    images = lab.dir / "www" / "images"
    small = {"url": f"{lab.figures['urls']['image_server']}/images/lab.raw", "format": "raw"}
    node = f"{lab.figures['urls']['image_server']}/images/node.qcow2"
    content, public = (images / "lab.raw").read_bytes(), key.with_suffix(".pub").read_text().strip()
    user = "- {name: %s, ssh_authorized_keys: ['%s']}\n"
    return {
        BOOTS: {
            "bmh_image": {"url": node, "checksum": node + ".sha256", "checksum_type": "auto", "format": "qcow2"},
            "bmh_user_data": "#cloud-config\ndisable_root: false\nusers:\n%s%s" % (
                user % ("root", public), user % ("visitor", public)),
            "bmh_network_data": {
                "links": [{"id": "eno1", "type": "phy", "ethernet_mac_address": lab.servers[BOOTS]["boot_mac"]}],
                "networks": [{"id": "net", "link": "eno1", "type": "ipv4", "ip_address": address,
                              "netmask": "255.255.0.0", "routes": []}],
                "services": []}},
        KEEPS: {
            "bmh_image": dict(small, checksum=hashlib.sha512(content).hexdigest(), checksum_type="sha512"),
            "bmh_automated_cleaning_mode": "disabled",
            "bmh_labels": {"rack": "r1"}, "bmh_annotations": {"example.org/owner": "claims"}},
        MOVES: {
            "bmh_image": dict(small, checksum=hashlib.md5(content).hexdigest(), checksum_type="md5")}}


@pytest.fixture(scope="module")
def provisioned(lab, room, descriptions, inside):
    """The servers with their images; when all tests have ended they are available again, as they were."""
    try:
        lab.playbook("provision", "-i", lab.inventory(descriptions), *only(*SERVERS)).ok()
        is_up(inside)
        yield
    finally:
        come_back(lab)
        if [lab.state(name) for name in SERVERS] != ["available"] * len(SERVERS):
            deprovision(lab)
        # The operator has not cleaned this one, and no later test is to find its content.
        with open(disk(room, KEEPS), "r+b") as stream:
            stream.write(bytes(MIB))
        side_by_side(lambda: lab.playbook("enroll", *only(KEEPS), extra={"bmh_automated_cleaning_mode": ""}).ok(),
                     lambda: lab.playbook("inspect", *only(MOVES)).ok())


def come_back(lab):
    """After a failure in the middle of a move, take away what would keep the server from being a host again."""
    if lab.kube.get(HOST, ELSEWHERE, MOVES) is not None:
        lab.kube.patch(HOST, ELSEWHERE, MOVES, {"metadata": {"annotations": {
            host_annotations.DETACHED: '{"deleteAction": "delete"}', host_annotations.PAUSED: None}}})
        lab.kube.delete(HOST, ELSEWHERE, MOVES)
        eventually(lambda: lab.kube.get(HOST, ELSEWHERE, MOVES) is None, 120, f"{MOVES} gone from {ELSEWHERE}")
    if lab.kube.get(KNOWN["Namespace"], None, ELSEWHERE) is not None:
        lab.kube.delete(KNOWN["Namespace"], None, ELSEWHERE)
        eventually(lambda: lab.kube.get(KNOWN["Namespace"], None, ELSEWHERE) is None, 60,
                   f"the namespace {ELSEWHERE} gone")


def deprovision(lab):
    lab.playbook("deprovision_hosts", *only(*SERVERS), "-e", f"metal3_confirm={len(SERVERS)}").ok()


def is_up(inside):
    """Wait until the system on the server's disk answers."""
    eventually(lambda: inside("true") is not None, 120, f"{BOOTS} answers by SSH")


def act(lab, name, *servers, **variables):
    """Run the playbook for an action, with what confirms it."""
    return lab.playbook("host_action", *only(*servers), extra=dict(
        variables, host_action=name, metal3_confirm=len(servers)))


def move(lab, inventory, origin, target):
    return lab.playbook(PLAY, "-i", inventory, *only(MOVES), extra={"move_from": origin, "move_to": target})


def is_on(room, name):
    return room.server(name)["power"] == "On"


def disk(room, name):
    # No digest: it would take a minute for the whole disk.
    return room.disk(name, "sda", length=0)["path"]


def other_address(lab):
    """Return another address of a server's BMC, by which its certificate is valid too."""
    old = lab.servers[DIRECT]["bmc"]["address"]
    new = old.replace("127.0.0.1", "localhost")
    assert new != old
    return new


def adopted(lab, name, namespace, node):
    """Wait until a provisioned server has another node in Ironic, which was not deployed but adopted; return it."""
    def found():
        seen = dict((item.name, item) for item in lab.ironic().nodes(details=True)).get(f"{namespace}~{name}")
        return seen if seen and seen.id != node and seen.provision_state == "active" else None

    result = eventually(found, 60, f"the node of {namespace}/{name} adopted")
    status = lab.kube.get(HOST, namespace, name)["status"]
    assert (status["provisioning"]["state"], status["operationalStatus"]) == ("provisioned", "OK")
    return result


@pytest.fixture(scope="module")
def first(lab, room, provisioned, descriptions, inside):
    """The first round: reboots, another address of a BMC, a host that moves away."""
    assert inside(WITNESS) is not None
    seen = watched(lab, room)
    seen.details = dict(seen.hosts[MOVES]["status"]["hardware"], ramMebibytes=1234)
    # Details that come with the host go before those of its status, where nothing is inspected.
    away = lab.inventory({MOVES: dict(descriptions[MOVES], bmh_inspection_mode="disabled", bmh_annotations={
        host_annotations.HARDWARE_DETAILS: json.dumps(seen.details)})})
    elsewhere = lab.inventory({DIRECT: {"bmc_address": other_address(lab)}})
    seen.runs = {}

    def run(name, *arguments, **options):
        seen.runs[name] = act(lab, *arguments, **options)

    def change_address():
        seen.runs["refused"] = lab.playbook("enroll", "-i", elsewhere, *only(DIRECT))
        seen.runs["address"] = lab.playbook("enroll", "-i", elsewhere, *only(DIRECT), "-e", "hosts_allow_detach=true")

    def move_away():
        seen.runs["move"] = move(lab, away, NAMESPACE, ELSEWHERE)

    side_by_side(lambda: run("soft", "reboot", BOOTS), lambda: run("hard", "reboot", KEEPS, hosts_action_mode="hard"),
                 change_address, move_away)
    seen.boots_after = watched(lab, room).boots
    return seen


def test_a_server_that_boots_lets_its_users_in(provisioned, inside):
    assert inside("id -un", "visitor") == "visitor\n" and inside("id -un") == "root\n"


def test_labels_annotations_and_checksums_of_each_kind_arrive(lab, room, provisioned, descriptions):
    metadata = lab.host(KEEPS)["metadata"]
    assert metadata["labels"]["rack"] == "r1" and metadata["annotations"]["example.org/owner"] == "claims"
    for name, kind in ((BOOTS, "auto"), (KEEPS, "sha512"), (MOVES, "md5")):
        assert lab.host(name)["spec"]["image"]["checksumType"] == kind
        assert lab.host(name)["status"]["provisioning"]["image"]["url"] == descriptions[name]["bmh_image"]["url"]
    for name in (KEEPS, MOVES):
        assert holds_the_image(lab, room, name)


def holds_the_image(lab, room, name):
    return partitions.table(disk(room, name))["id"] == partitions.table(lab.dir / "www" / "images" / "lab.raw")["id"]


def test_a_soft_reboot_asks_the_system_and_a_hard_one_cuts_the_power(first, inside):
    for name, server, resets in (("soft", BOOTS, [SOFT, ON]), ("hard", KEEPS, [HARD, ON])):
        assert first.runs[name].ok().changed() == 1
        assert first.bmcs[server].resets()[:2] == resets
        assert first.boots_after[server] == first.boots[server] + 1
    is_up(inside)
    assert inside("ls /root/orderly") == "/root/orderly\n"


def test_a_bmc_gets_another_address_while_its_server_runs(lab, room, first):
    first.runs["refused"].failed("bmc_address: found ", "set hosts_allow_detach: the host is detached for the change")
    first.runs["address"].ok()
    node = adopted(lab, DIRECT, NAMESPACE, first.nodes[DIRECT].id)
    assert node.driver_info["redfish_address"].startswith("https://localhost:")
    assert lab.host(DIRECT)["spec"]["bmc"]["address"] == other_address(lab)
    assert first.bmcs[DIRECT].lines() == [] and is_on(room, DIRECT)


def test_a_provisioned_server_moves_with_its_status(lab, room, first):
    first.runs["move"].ok()
    assert MOVES not in lab.hosts()
    adopted(lab, MOVES, ELSEWHERE, first.nodes[MOVES].id)
    status, before = lab.kube.get(HOST, ELSEWHERE, MOVES)["status"], first.hosts[MOVES]["status"]
    for operation in ("inspect", "provision"):
        assert status["operationHistory"][operation] == before["operationHistory"][operation]
    assert status["hardware"] == first.details
    assert first.bmcs[MOVES].lines() == [] and is_on(room, MOVES)


@pytest.fixture(scope="module")
def second(lab, room, first, descriptions, inside):
    """The second round: holds and power; the other servers go back to where they were."""
    is_up(inside)
    adopted(lab, MOVES, ELSEWHERE, first.nodes[MOVES].id)
    adopted(lab, DIRECT, NAMESPACE, first.nodes[DIRECT].id)
    seen = watched(lab, room)
    seen.runs = {}

    def hold():
        # What two other programs ask for at once: the operator reads both annotations at the same time.
        lab.kube.patch(HOST, NAMESPACE, KEEPS, {"metadata": {"annotations": {
            host_annotations.reboot_key("disks"): "", host_annotations.reboot_key("fans"): '{"mode": "hard"}'}}})
        act(lab, "reboot_hold", BOOTS, hosts_action_key="disks").ok()
        act(lab, "reboot_hold", BOOTS, KEEPS, hosts_action_key="fans").ok()
        seen.held = observed()
        act(lab, "reboot_release", BOOTS, KEEPS, hosts_action_key="disks").ok()
        seen.runs["refused"] = act(lab, "power_on", BOOTS, KEEPS)
        seen.held_by_one = observed()
        act(lab, "reboot_release", BOOTS, KEEPS, hosts_action_key="fans").ok()
        seen.released = observed()
        is_up(inside)
        act(lab, "power_off", BOOTS, KEEPS).ok()
        seen.off, seen.off_hosts = observed(), lab.hosts()
        act(lab, "power_on", BOOTS, KEEPS).ok()
        seen.on = observed()

    def observed():
        return dict((name, (is_on(room, name), list(seen.bmcs[name].resets()),
                            host_annotations.held_by(lab.host(name)))) for name in (BOOTS, KEEPS))

    def detach():
        act(lab, "detach", DIRECT).ok()
        seen.nodes_without, seen.detached = lab.nodes(), lab.host(DIRECT)["status"]["operationalStatus"]
        # A host that is detached may change its BMC.
        lab.playbook("enroll", *only(DIRECT), "-e", "hosts_wait_for=none").ok()
        act(lab, "attach", DIRECT).ok()

    def move_back():
        here = lab.inventory({MOVES: dict(descriptions[MOVES], bmh_inspection_mode="")})
        move(lab, here, ELSEWHERE, NAMESPACE).ok()

    seen.elsewhere = dict((item.name, item) for item in lab.ironic().nodes())[f"{ELSEWHERE}~{MOVES}"]
    side_by_side(hold, detach, move_back)
    return seen


def test_several_keys_hold_a_server_and_the_hardest_counts(room, second):
    # Asked for softly, then held by a second key as well; and for the other one softly and hard at once.
    assert second.held == {BOOTS: (False, [SOFT], ["disks", "fans"]), KEEPS: (False, [HARD], ["disks", "fans"])}
    assert second.held_by_one == {BOOTS: (False, [SOFT], ["fans"]), KEEPS: (False, [HARD], ["fans"])}
    second.runs["refused"].failed("nothing was changed")
    for name in (BOOTS, KEEPS):
        assert "a host held powered off by the annotation reboot.metal3.io/fans" in "\n".join(
            second.runs["refused"].output_of(name))
    assert second.released == {BOOTS: (True, [SOFT, ON], []), KEEPS: (True, [HARD, ON], [])}


def test_the_power_of_a_provisioned_server_follows_online(lab, room, second):
    for name in (BOOTS, KEEPS):
        before = second.released[name][1]
        assert second.off[name] == (False, [*before, SOFT], []) and second.on[name] == (True, [*before, SOFT, ON], [])
        off = second.off_hosts[name]
        assert (off["spec"]["online"], off["status"]["poweredOn"]) == (False, False)
        assert off["status"]["provisioning"]["state"] == lab.state(name) == "provisioned"
        assert room.server(name)["boots"] == second.boots[name] + 2


def test_a_detached_server_runs_on_and_is_adopted_again(lab, room, second):
    assert DIRECT not in second.nodes_without and second.detached == "detached"
    node = adopted(lab, DIRECT, NAMESPACE, second.nodes[DIRECT].id)
    assert "localhost" not in node.driver_info["redfish_address"]
    assert second.bmcs[DIRECT].lines() == [] and is_on(room, DIRECT)


def test_a_moved_server_comes_back(lab, room, second):
    adopted(lab, MOVES, NAMESPACE, second.elsewhere.id)
    assert lab.kube.get(HOST, ELSEWHERE, MOVES) is None
    assert second.bmcs[MOVES].lines() == [] and holds_the_image(lab, room, MOVES)


def test_the_cleaning_mode_decides_what_is_left_on_the_disk(lab, room, second):
    assert lab.nodes()[KEEPS].is_automated_clean_enabled is False
    seen, content = watched(lab, room), read(room, KEEPS)
    assert any(content)
    deprovision(lab)
    assert [lab.state(name) for name in SERVERS] == ["available"] * len(SERVERS)
    assert read(room, KEEPS) == content and holds_the_image(lab, room, KEEPS)
    for name in (BOOTS, MOVES):
        assert not any(read(room, name))
        assert lab.host(name)["spec"]["automatedCleaningMode"] == "metadata"
    cleaned = dict((name, any("execute_clean_step: SUCCEEDED" in line for line in seen.bmcs[name].lines()))
                   for name in SERVERS)
    assert cleaned == {BOOTS: True, KEEPS: False, MOVES: True}

    # Without the option the API server chooses; in Ironic it counts at once.
    lab.playbook("enroll", *only(KEEPS), extra={"bmh_automated_cleaning_mode": ""}).ok()
    assert lab.host(KEEPS)["spec"]["automatedCleaningMode"] == "metadata"
    eventually(lambda: lab.nodes()[KEEPS].is_automated_clean_enabled, 60, "cleaning enabled again")


def read(room, name):
    with open(disk(room, name), "rb") as stream:
        return stream.read(MIB)
