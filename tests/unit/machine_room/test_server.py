# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A server: power, boot order, one agent at a time, and what survives a restart of the machine room."""
from __future__ import annotations

import time

import pytest
from fakes.machine_room import NODE, TOKEN, eventually, make_image
from machine_room.agent import STARTED_AFTER_HEARTBEAT_SECONDS, STARTED_WITHOUT_HEARTBEAT_SECONDS
from machine_room.server import AGENT, ALWAYS, NEVER, NOTHING, ONCE, SYSTEM, Server


def install(server, tmp_path):
    """Put an operating system on the first disk."""
    disk = server.disks[0]
    disk.ensure()
    disk.write([make_image(tmp_path / "os.raw")])


def test_power_on_boots_the_agent_once(server, netboot, ironic):
    netboot(server)
    server.reset("On")
    first = server.agent
    server.reset("On")
    server.reset("ForceOn")
    assert server.agent is first and server.boots == 1 and server.runs == AGENT
    eventually(lambda: ironic.calls("/v1/heartbeat"), "heartbeat")
    assert len(ironic.calls("/v1/lookup")) == 1


def test_power_off_ends_the_agent(server, agent, ironic):
    server.reset("ForceOff")
    assert server.power == "Off" and server.agent is None and not agent.answers
    count = len(ironic.calls("/v1/heartbeat"))
    agent.call_soon()
    assert len(ironic.calls("/v1/heartbeat")) == count


def test_restart_makes_a_new_agent(server, agent):
    server.reset("ForceRestart")
    assert server.agent is not agent and not agent.answers and server.boots == 2


def test_an_agent_that_has_ended_no_longer_rules_its_machine(server, agent):
    server.reset("ForceRestart")
    server.agent_asks(agent, "power_off")
    assert server.power == "On"


def test_disk_boot(server, disk_boot, tmp_path):
    install(server, tmp_path)
    server.reset("On")
    assert server.runs == SYSTEM and disk_boot.asked == ["power_on"]
    server.reset("ForceOff")
    assert server.runs == NOTHING and disk_boot.asked == ["power_on", "hard_off"]


def test_a_disk_that_dies_under_a_system_does_so_once_and_boots_nothing(server, disk_boot, tmp_path):
    install(server, tmp_path)
    server.set_knobs({"first_disk_failed": True})
    assert disk_boot.asked == [], "nothing runs on it"
    server.set_knobs({"first_disk_failed": False})
    server.reset("On")
    server.set_knobs({"first_disk_failed": True})
    server.set_knobs({"first_disk_failed": True, "slow_power": 0})
    assert disk_boot.asked == ["power_on", "fail_disk"] and server.runs == SYSTEM
    assert server.boot_disk() is None and server.present_disks() == server.disks[1:]
    server.set_knobs({"first_disk_failed": False})
    assert server.boot_disk() is server.disks[0]


def test_the_bmc_reports_an_installed_system_as_started_at_once(server, disk_boot, tmp_path):
    assert server.boot_progress == "None"
    install(server, tmp_path)
    server.reset("On")
    assert server.boot_progress == "OSBootStarted"


def test_the_bmc_reports_the_agents_system_as_started_after_its_heartbeats(server, agent, monkeypatch):
    """Ironic 39 waits for OSBootStarted for ever where its step runs without the agent."""
    # Not the clock's: the agent may take the answer to its heartbeat at any moment.
    monkeypatch.setattr("machine_room.agent.STARTED_AFTER_HEARTBEAT_SECONDS", 3600)
    assert server.boot_progress == "SystemHardwareInitializationComplete"
    monkeypatch.setattr("machine_room.agent.STARTED_AFTER_HEARTBEAT_SECONDS", 0)
    eventually(lambda: server.boot_progress == "OSBootStarted", "the system's start")


def test_the_bmc_reports_an_agent_that_never_calls_as_started(server, netboot, monkeypatch):
    server.knobs.set({"agent_never_calls_back": True})
    netboot(server)
    server.reset("On")
    now = time.monotonic()
    monkeypatch.setattr("machine_room.agent.time.monotonic", lambda: now + STARTED_AFTER_HEARTBEAT_SECONDS + 1)
    assert server.boot_progress == "SystemHardwareInitializationComplete"
    monkeypatch.setattr("machine_room.agent.time.monotonic", lambda: now + STARTED_WITHOUT_HEARTBEAT_SECONDS + 1)
    assert server.boot_progress == "OSBootStarted"


class OnceServer(Server):
    """A server whose BMC knows a boot device for one boot only, as a virtual one's does."""

    boots_once = True


def test_a_boot_device_for_one_boot_counts_for_that_alone(make_server, netboot, tmp_path):
    server = make_server(kind=OnceServer)
    install(server, tmp_path)
    netboot(server)
    server.set_boot_device("Pxe", ONCE)
    server.reset("On")
    assert server.runs == AGENT and (server.boot_device, server.boot_override) == ("None", NEVER)
    server.reset("ForceRestart")
    assert server.runs == SYSTEM
    server.set_boot_device("Pxe", ALWAYS)
    # A request without BootSourceOverrideEnabled keeps it.
    server.set_boot_device("Pxe")
    for _boot in range(2):
        server.reset("ForceRestart")
        assert server.runs == AGENT and server.boot_override == ALWAYS


def test_a_boot_device_for_one_boot_survives_a_restart_of_the_machine_room_and_is_used_up_once(make_server):
    make_server(kind=OnceServer).set_boot_device("Pxe", ONCE)
    server = make_server(kind=OnceServer)
    assert (server.boot_device, server.boot_override) == ("Pxe", ONCE)
    server.reset("On")
    again = make_server(kind=OnceServer)
    assert (again.boot_device, again.boot_override) == ("None", NEVER)


def test_a_boot_device_that_is_switched_off_is_not_booted(make_server, netboot, tmp_path):
    server = make_server(kind=OnceServer)
    install(server, tmp_path)
    netboot(server)
    server.set_boot_device("Pxe", NEVER)
    server.reset("On")
    assert server.runs == SYSTEM


def test_a_simulated_servers_bmc_takes_each_boot_device_for_all_boots(server):
    server.set_boot_device("Pxe", ONCE)
    assert (server.boot_device, server.boot_override) == ("Pxe", ALWAYS)


def test_soft_off_asks_the_system(server, disk_boot, tmp_path):
    install(server, tmp_path)
    server.reset("On")
    server.reset("GracefulShutdown")
    assert server.power == "Off" and disk_boot.asked == ["power_on", "soft_off", "hard_off"]


def test_reboot_from_inside_boots_again(server, disk_boot, tmp_path):
    install(server, tmp_path)
    server.reset("On")
    server.system_ended(True)
    assert server.power == "On" and server.runs == SYSTEM and server.boots == 2


def test_empty_disk_boots_nothing(server):
    server.reset("On")
    assert server.power == "On" and server.runs == NOTHING
    assert "boot failed: no disk has a partition table" in server.console.tail(1)[0]


def test_network_without_configuration_goes_on_to_the_disk(server, tmp_path):
    install(server, tmp_path)
    server.configure(boot_device="Pxe")
    server.reset("On")
    assert server.runs == SYSTEM
    assert "no configuration found for 00:5c:52:00:00:10; trying the disk" in "".join(server.console.tail(5))


BOOT_IPXE = (b"#!ipxe\n:loop\nchain pxelinux.cfg/${mac:hexhyp} || goto old_rom\n\n:loop_done\n"
             b"chain inspector.ipxe | goto boot_failed\n")


def unknown_machines(ironic, script="inspector.ipxe"):
    ironic.files["/boot/vmlinuz"] = b"kernel"
    ironic.files["/boot/boot.ipxe"] = BOOT_IPXE
    ironic.files["/boot/" + script] = (
        f"#!ipxe\n:retry\nkernel --timeout 60000 {ironic.url}/boot/vmlinuz nofb "
        f"ipa-inspection-callback-url={ironic.url}/v1/continue_inspection BOOTIF=${{mac}} initrd=initrd || goto "
        "retry\n").encode()


def test_an_unknown_machine_boots_the_agent_that_reports_it(server, ironic):
    unknown_machines(ironic)
    server.configure(boot_device="Pxe")
    server.spec["bmc"] = {"address": "redfish+https://198.18.0.1:8000/redfish/v1/Systems/1"}
    server.reset("On")
    data = eventually(lambda: ironic.calls("/v1/continue_inspection"), "inspection data")[0]
    assert data["inventory"]["bmc_address"] == "198.18.0.1"
    assert data["inventory"]["boot"]["pxe_interface"] == server.spec["boot_mac"]
    assert f"BOOTIF={server.spec['boot_mac']} " in "".join(server.console.tail(10))


def test_a_known_machine_boots_what_ironic_has_for_it(server, ironic, netboot):
    unknown_machines(ironic)
    netboot(server)
    server.reset("On")
    eventually(lambda: ironic.calls("/v1/heartbeat"), "heartbeat")
    assert not ironic.calls("/v1/continue_inspection")


@pytest.mark.parametrize("script", ["other.ipxe", None])
def test_without_a_script_for_unknown_machines_they_boot_the_disk(server, ironic, script):
    """Ironic's boot.ipxe without [pxe]ipxe_fallback_script has no chain there; or its script is gone."""
    unknown_machines(ironic, script or "inspector.ipxe")
    if script is None:
        ironic.files["/boot/boot.ipxe"] = b"#!ipxe\n:loop_done\necho PXE boot failed!\n:old_rom\nchain inspector.ipxe\n"
    server.configure(boot_device="Pxe")
    server.reset("On")
    assert "no configuration found for 00:5c:52:00:00:10; trying the disk" in "".join(server.console.tail(5))


def test_a_network_configuration_without_a_kernel_boots_the_disk(server, ironic):
    """Ironic writes such a one for a node that it has adopted."""
    ironic.files["/boot/pxelinux.cfg/" + server.spec["boot_mac"].replace(":", "-")] = (
        b"#!ipxe\nkernel  selinux=0 troubleshoot=0 BOOTIF=${mac} || goto retry\n")
    server.configure(boot_device="Pxe")
    server.reset("On")
    assert "names no kernel; trying the disk" in "".join(server.console.tail(5))


def test_empty_cd_goes_on_to_the_disk(server):
    server.configure(boot_device="Cd")
    server.reset("On")
    assert server.runs == NOTHING
    assert "virtual CD: no medium inserted" in "".join(server.console.tail(5))


def test_slow_power(server, netboot):
    netboot(server)
    server.knobs.set({"slow_power": 1})
    server.reset("On")
    assert server.power == "Off"
    eventually(lambda: server.power == "On", "power")


def test_a_later_power_request_replaces_a_slow_one(server, netboot):
    netboot(server)
    server.knobs.set({"slow_power": 3600})
    server.reset("On")
    server.knobs.clear()
    server.reset("ForceOff")
    assert server._pending is None
    assert server.power == "Off" and server.boots == 0


def test_unknown_reset_type(server):
    with pytest.raises(KeyError):
        server.reset("Nmi")


def test_the_agent_goes_on_after_a_restart_of_the_machine_room(make_server, netboot, ironic):
    server = make_server()
    netboot(server)
    server.reset("On")
    eventually(lambda: ironic.calls("/v1/heartbeat"), "heartbeat")
    server.agent.stop()
    ironic.requests.clear()
    again = make_server()
    assert again.power == "On" and again.agent.node_uuid == NODE and again.boots == 1
    body = eventually(lambda: ironic.calls("/v1/heartbeat/" + NODE), "heartbeat")[0]
    assert body["agent_token"] == TOKEN
    assert not ironic.calls("/v1/lookup")


def test_a_command_that_a_restart_cut_off_has_failed(make_server, netboot, ironic):
    server = make_server()
    netboot(server)
    server.reset("On")
    eventually(lambda: ironic.calls("/v1/heartbeat"), "heartbeat")
    server.agent.commands._results.append({"id": "1", "command_name": "execute_deploy_step", "command_error": None,
                                           "command_result": None, "command_status": "RUNNING"})
    server.save()
    server.agent.stop()
    result = make_server().agent.commands.list()[0]
    assert result["command_status"] == "FAILED" and "restarted" in result["command_error"]["details"]


def test_a_system_that_ended_meanwhile_leaves_the_power_off(make_server, disk_boot, tmp_path):
    server = make_server()
    install(server, tmp_path)
    server.reset("On")
    assert make_server().power == "On"
    disk_boot.running = False
    assert make_server().power == "Off"


def test_knobs_and_boot_settings_survive(make_server):
    server = make_server()
    server.knobs.set({"slow_power": 3})
    server.configure(boot_device="Pxe", boot_mode="Legacy", secure_boot=True)
    again = make_server()
    assert (again.boot_device, again.boot_mode, again.secure_boot) == ("Pxe", "Legacy", True)
    assert again.knobs.dump() == {"slow_power": 3}
