# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The agent: inspection, lookup, heartbeats, and the commands it is given."""
from __future__ import annotations

import base64
import dataclasses
import gzip
import hashlib
import threading

import pytest
from fakes.machine_room import NODE, TOKEN, eventually, make_image
from machine_room import agent as agent_module
from machine_room.agent import PoweredOff
from machine_room.agent_errors import AgentBusy, InvalidContent


def deploy(agent, info, node=None, **arguments):
    step = {"step": "write_image", "interface": "deploy", "args": dict({"image_info": info}, **arguments)}
    return agent.commands.execute("deploy.execute_deploy_step", {"step": step, "node": node or {}, "ports": []}, True)


@pytest.fixture
def info(ironic, tmp_path):
    data = make_image(tmp_path / "os.raw")
    ironic.files["/os.raw"] = data
    return {"id": "i", "urls": [ironic.url + "/os.raw"], "disk_format": "raw", "os_hash_algo": "sha256",
            "os_hash_value": hashlib.sha256(data).hexdigest()}


def test_inspection_comes_before_lookup(server, netboot, ironic):
    netboot(server, inspect=True)
    server.reset("On")
    eventually(lambda: ironic.calls("/v1/heartbeat"), "heartbeat")
    assert [path.split("?")[0] for path, _body in ironic.requests][:2] == ["/v1/continue_inspection", "/v1/lookup"]
    data = ironic.calls("/v1/continue_inspection")[0]
    assert data["inventory"]["interfaces"][0]["mac_address"] == "00:5c:52:00:00:10"
    assert data["root_disk"]["name"] == "/dev/sda"


def test_inspection_data_that_comes_too_early_is_sent_again(server, netboot, ironic):
    ironic.inspecting = False
    netboot(server, inspect=True)
    server.reset("On")
    eventually(lambda: ironic.calls("/v1/continue_inspection"), "inspection data")
    ironic.inspecting = True
    eventually(lambda: ironic.calls("/v1/heartbeat"), "heartbeat")
    assert len(ironic.calls("/v1/continue_inspection")) > 1


def test_lookup_is_repeated_until_the_agent_is_expected(server, netboot, ironic):
    ironic.expecting = False
    netboot(server)
    server.reset("On")
    eventually(lambda: ironic.calls("/v1/lookup"), "lookup")
    ironic.expecting = True
    body = eventually(lambda: ironic.calls("/v1/heartbeat/" + NODE), "heartbeat")[0]
    assert body["agent_token"] == TOKEN and body["callback_url"].endswith("/agents/server-01")


def test_heartbeat_is_repeated_while_the_node_is_locked(server, netboot, ironic):
    ironic.heartbeat_status = 409
    netboot(server)
    server.reset("On")
    eventually(lambda: len(ironic.calls("/v1/heartbeat")) > 1, "second heartbeat")


def test_an_agent_that_never_calls_back(server, netboot, ironic):
    server.knobs.set({"agent_never_calls_back": True})
    netboot(server)
    server.reset("On")
    eventually(lambda: "no route to Ironic" in "".join(server.console.tail(5)), "console")
    assert not ironic.requests


def test_inspection_without_nics(server, netboot, ironic):
    server.knobs.set({"inspection_without_nics": True})
    netboot(server, inspect=True)
    server.reset("On")
    assert eventually(lambda: ironic.calls("/v1/continue_inspection"), "data")[0]["inventory"]["interfaces"] == []


def test_inspection_without_disk(server, netboot, ironic):
    server.knobs.set({"disk_missing": True})
    netboot(server, inspect=True)
    server.reset("On")
    data = eventually(lambda: ironic.calls("/v1/continue_inspection"), "data")[0]
    assert data["inventory"]["disks"] == [] and "root_disk" not in data


def test_inspection_without_the_first_disk(server, netboot, ironic):
    assert len(server.disks) > 1
    server.knobs.set({"first_disk_missing": True})
    netboot(server, inspect=True)
    server.reset("On")
    data = eventually(lambda: ironic.calls("/v1/continue_inspection"), "data")[0]
    assert [disk["name"] for disk in data["inventory"]["disks"]] == [disk.name for disk in server.disks[1:]]


def test_write_image_with_config_drive(server, agent, info, ironic):
    drive = base64.b64encode(gzip.compress(b"an ISO")).decode()
    result = deploy(agent, info, configdrive=drive)
    assert result["command_status"] == "SUCCEEDED", result
    assert "written to device /dev/sda" in result["command_result"]["deploy_result"]
    assert result["command_result"]["deploy_step"]["step"] == "write_image"
    assert server.disks[0].digest("sha256", 6144 * 512, 1024 * 1024)
    assert server.disks[0].read(1024 * 1024, 16) == b"operating system"
    found = agent.commands.execute("standby.get_partition_uuids", {}, True)["command_result"]
    assert found == {"root uuid": server.disks[0].identifier()} == agent.dump()["partition_uuids"]
    assert len(ironic.calls("/v1/heartbeat")) >= 1


def test_a_slow_download_ends_with_the_power(server, agent, info):
    server.knobs.set({"slow_download": 1})
    cut = threading.Timer(0.2, server.power_off)
    cut.start()
    with pytest.raises(PoweredOff):
        agent.received(3600 * 1024 * 1024)
    cut.join()


@pytest.fixture
def _rare_heartbeats(server, monkeypatch):
    """Let heartbeats that nothing has caused come later than these tests wait for one."""
    monkeypatch.setattr(agent_module, "RETRY_SECONDS", 3600)
    monkeypatch.setattr(server, "settings", dataclasses.replace(server.settings, heartbeat_limit_seconds=3600))


def test_an_asynchronous_command_ends_with_a_heartbeat(_rare_heartbeats, agent, ironic):
    count = len(ironic.calls("/v1/heartbeat"))
    step = {"step": "erase_devices_metadata", "interface": "deploy"}
    result = agent.commands.execute("clean.execute_clean_step", {"step": step, "node": {}, "ports": []}, False)
    eventually(lambda: agent.commands.get(result["id"])["command_status"] == "SUCCEEDED", "end")
    eventually(lambda: len(ironic.calls("/v1/heartbeat")) > count, "heartbeat")


def test_write_protected_disks_are_passed_over_by_metadata_cleaning_alone(agent, server):
    disk = server.present_disks()[0]
    disk.ensure()
    server.knobs.set({"disks_read_only": True})

    def clean(step):
        return agent.commands.execute(
            "clean.execute_clean_step",
            {"step": {"step": step, "interface": "deploy"}, "node": {}, "ports": []}, wait=True)

    before = disk.digest("sha256", 1024)
    assert clean("erase_devices_metadata")["command_status"] == "SUCCEEDED"
    error = clean("erase_devices")["command_error"]
    assert error["type"] == "BlockDeviceEraseError" and "flagged read-only" in error["details"]
    assert disk.digest("sha256", 1024) == before


@pytest.mark.parametrize("changes, kind, text", [
    ({"os_hash_value": "0" * 64}, "ImageDownloadError", "failed to verify against checksum"),
    ({"urls": ["http://127.0.0.1:1/os.raw"]}, "ImageDownloadError", "refused"),
    ({"image_type": "partition"}, "InvalidCommandParamsError", "partition images are not simulated"),
])
def test_write_image_that_fails(agent, info, changes, kind, text):
    result = deploy(agent, dict(info, **changes))
    assert result["command_status"] == "FAILED"
    assert result["command_error"]["type"] == kind and text in result["command_error"]["details"]


def test_image_without_partition_table(agent, info, ironic):
    ironic.files["/os.raw"] = b"x" * 4096
    result = deploy(agent, dict(info, os_hash_value=hashlib.sha256(b"x" * 4096).hexdigest()))
    assert "No partitions found on the device /dev/sda" in result["command_error"]["details"]


@pytest.mark.parametrize("knob, kind, text", [
    ("disk_missing", "DeviceNotFound", "No suitable device was found"),
    ("disk_too_small", "DeviceNotFound", "smaller than"),
])
def test_knobs_of_the_disk(server, agent, info, knob, kind, text):
    server.knobs.set({knob: True})
    result = deploy(agent, info)
    assert result["command_error"]["type"] == kind and text in result["command_error"]["details"]


@pytest.mark.parametrize("knob, number, reason", [
    ("write_error", 5, "Input/output error"), ("disks_read_only", 30, "Read-only file system")])
@pytest.mark.parametrize("disk_format, kind, text", [
    ("raw", "ImageDownloadError",
     "Download of image i failed: Unable to write image to device /dev/sda. Error: [Errno {}] {}"),
    ("qcow2", "ImageWriteError", "Writing image to device /dev/sda failed with exit code 1."),
])
def test_disk_that_can_not_be_written(server, agent, info, disk_format, kind, text, knob, number, reason):
    server.knobs.set({knob: True})
    error = deploy(agent, dict(info, disk_format=disk_format))["command_error"]
    assert error["type"] == kind and text.format(number, reason) in error["details"]
    assert reason in error["details"]


def test_agent_that_dies_in_deploy(server, agent, info, ironic):
    server.knobs.set({"agent_dies_in_deploy": True})
    result = deploy(agent, info)
    assert result["command_status"] == "RUNNING"
    assert not agent.answers and server.power == "On"
    count = len(ironic.calls("/v1/heartbeat"))
    agent.call_soon()
    assert len(ironic.calls("/v1/heartbeat")) == count


def test_power_off_command(server, agent):
    agent.commands.execute("standby.power_off", {}, False)
    eventually(lambda: server.power == "Off", "power off")


def test_run_image_restarts(server, agent):
    agent.commands.execute("standby.run_image", {}, False)
    eventually(lambda: server.boots == 2, "restart")


def test_unknown_command(agent):
    with pytest.raises(InvalidContent, match="Unknown command"):
        agent.commands.execute("standby.dance", {}, True)


def test_one_command_at_a_time(agent):
    agent.commands._results.append({"id": "1", "command_name": "sync", "command_status": "RUNNING"})
    with pytest.raises(AgentBusy, match="executing command sync"):
        agent.commands.execute("standby.sync", {}, True)


def test_command_with_wrong_parameters_fails(agent):
    result = agent.commands.execute("standby.sync", {"hard": True}, True)
    assert result["command_status"] == "FAILED" and result["command_error"]["type"] == "TypeError"
