# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Fixtures: servers in a temporary folder, and an Ironic for their agents."""
from __future__ import annotations

import pytest
from fakes.machine_room import Ironic, RecordingDiskBoot, eventually, spec
from machine_room.server import Server
from machine_room.settings import Settings
from machine_room.web import Web


@pytest.fixture
def ironic():
    """An Ironic that waits for inspection data and expects agents."""
    room = Ironic()
    yield room
    room.close()


@pytest.fixture
def disk_boot():
    return RecordingDiskBoot()


@pytest.fixture
def make_server(tmp_path, ironic, disk_boot):
    """A function that makes a server, or makes it again as after a restart of the machine room."""
    made = []

    def make(number=1, kind=Server):
        settings = Settings(
            servers_file="", machines_dir=str(tmp_path / "machines"), redfish_dir="", addresses=["127.0.0.1"],
            redfish_port=0, port=0, url="https://127.0.0.1:1", certificate_file="", key_file="", ca_file="",
            token_file="", ironic_url=ironic.url, boot_url=ironic.url + "/boot", agent_tls=False)
        server = kind(spec(number), settings, Web(None), disk_boot)
        made.append(server)
        return server

    yield make
    for server in made:
        server.knobs.clear()
        server.power_off()


@pytest.fixture
def server(make_server):
    return make_server()


@pytest.fixture
def netboot(ironic):
    """A function that publishes an iPXE configuration for a server, as Ironic does."""
    def publish(server, inspect=False):
        parameters = f"ipa-api-url={ironic.url}"
        if inspect:
            parameters += f" ipa-inspection-callback-url={ironic.url}/v1/continue_inspection"
        ironic.files["/boot/vmlinuz"] = b"kernel"
        ironic.files["/boot/pxelinux.cfg/" + server.spec["boot_mac"].replace(":", "-")] = (
            f"#!ipxe\nkernel --timeout 20 {ironic.url}/boot/vmlinuz selinux=0 {parameters} BOOTIF=${{mac}} || goto "
            "retry\n").encode()
        server.configure(boot_device="Pxe")
    return publish


@pytest.fixture
def agent(server, netboot, ironic):
    """The agent of a booted server, after its first heartbeat."""
    netboot(server)
    server.reset("On")
    eventually(lambda: ironic.calls("/v1/heartbeat"), "heartbeat")
    return server.agent
