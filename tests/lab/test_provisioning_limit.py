# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The operator works on as many servers at a time as ``bmo_provisioning_limit`` says; the next one is delayed.

Servers that boot by virtual media are not limited (BMO 0.13, ``HasCapacity``): these boot from the network.
"""
from __future__ import annotations

import pytest
import role_settings
from consoles import Console
from support import eventually, only

pytestmark = pytest.mark.plane

SECONDS = 600


@pytest.fixture
def servers(lab):
    """Names of two available servers that boot from the network; available again afterwards."""
    names = [name for name, host in sorted(lab.hosts().items()) if not host["spec"].get("consumerRef")
             and lab.state(name) == "available" and host["spec"]["bmc"]["address"].startswith("redfish+")][:2]
    assert len(names) == 2
    yield names
    lab.playbook("deprovision_hosts", *only(*names), "-e", "metal3_confirm=2", seconds=SECONDS).ok()


def test_while_one_server_is_worked_on_the_next_one_is_delayed(lab, room, servers):
    first, second = servers
    image = lab.figures["urls"]["image_server"] + "/images/lab.raw"
    variables = {"bmh_image": {
        "url": image, "checksum": image + ".sha256", "checksum_type": "sha256", "format": "raw"}}
    console = Console(lab.dir / "machines" / first / "console.log")
    with role_settings.changed("bmo", bmo_provisioning_limit=1):
        room.set_knobs(first, slow_download=1)
        try:
            running = lab.start("provision", *only(first), extra=variables)
            eventually(lambda: any("writing image" in line for line in console.lines()), 240, f"{first} is deployed")
            later = lab.start("provision", *only(second), extra=variables)
            lab.wait_for_host(second, lambda host: host["status"]["operationalStatus"] == "delayed", "delayed")
            assert lab.state(first) == "provisioning"
        finally:
            room.clear_knobs(first)
        running.finish(SECONDS).ok()
        assert "delayed: BMO works on as many hosts as PROVISIONING_LIMIT" in later.finish(SECONDS).ok().output
    assert {lab.state(name) for name in servers} == {"provisioned"}
