# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A virtual server boots the agent from an ISO image that was built beforehand, which its BMC reads at its own URL.

``bmo_deploy_iso_url`` and ``ironic_boot_iso_source: http``. Ironic gives such an agent no parameters: where it is to
report itself, and that it is to, stands in the image.
"""
from __future__ import annotations

import bmc_system
import pytest
from consoles import Console
from support import REPOSITORY, eventually, module, only
from virtual_site import BOOT_SECONDS, MEDIA

from ansible_collections.metal3.baremetal.plugins.module_utils._common.files import user_folders

pytestmark = pytest.mark.metal


@pytest.fixture(scope="module")
def parameters(lab):
    """As the guide of the bootstrap plane has them."""
    address = lab.figures["bridge"]["address"].partition("/")[0]
    return [f"ipa-api-url=https://{address}:{lab.figures['ports']['ironic']}",
            "ipa-inspection-collectors=default,logs"]


@pytest.fixture(scope="module")
def iso(lab, parameters):
    """URL of the agent's ISO image at the lab's image server."""
    # With rescue as the lab's own, so that nothing is installed for it alone.
    module("agent_image", source_dir=str(REPOSITORY / "lab" / "agent_image"), cache_dir=user_folders.cache_dir(),
           directory=str(lab.dir / "www" / "images" / "by-iso"), consoles=["ttyS0"], rescue=True,
           ca_certificates=[(lab.dir / "pki" / "ca.crt").read_text()], kernel_parameters=parameters,
           within_seconds=1800)
    address, port = lab.figures["bridge"]["address"].partition("/")[0], lab.figures["ports"]["image_server"]
    return f"https://{address}:{port}/images/by-iso/agent.iso"


@pytest.fixture(scope="module")
def booted(lab, room, iso):
    """What is in the drive of the server's BMC while it is enrolled anew, and what its console prints."""
    lab.playbook("install", "--tags", "ironic,bmo", seconds=900, extra={
        "bmo_deploy_iso_url": iso, "ironic_boot_iso_source": "http"}).ok()
    lab.remove_hosts(MEDIA)
    # Ironic leaves a medium where it is when a server is given up.
    former = bmc_system.media(lab, lab.servers[MEDIA])
    console = Console(room.server(MEDIA)["serial_log"])
    run = lab.start("enroll", *only(MEDIA))
    inserted = eventually(lambda: [url for url in bmc_system.media(lab, lab.servers[MEDIA]) if url not in former], 900,
                          "another medium in the drive", 1)
    run.finish(BOOT_SECONDS).ok()
    yield inserted, "\n".join(console.lines())
    lab.playbook("install", "--tags", "ironic,bmo", seconds=900).ok()
    lab.remove_hosts(MEDIA)
    lab.playbook("enroll", *only(MEDIA), seconds=BOOT_SECONDS).ok()
    assert lab.state(MEDIA) == "available" and "deploy_iso" not in lab.nodes()[MEDIA].driver_info


def test_the_bmc_reads_the_image_at_its_own_url(lab, booted, iso):
    assert booted[0] == [iso]
    assert lab.nodes()[MEDIA].driver_info["deploy_iso"] == iso


def test_the_agent_in_it_reports_itself_and_the_server_becomes_available(lab, booted, parameters):
    assert lab.state(MEDIA) == "available"
    found = [disk for disk in lab.host(MEDIA)["status"]["hardware"]["storage"]
             if not disk["name"].startswith(("/dev/pmem", "/dev/md"))]
    assert sorted(disk["serialNumber"] for disk in found) == sorted(
        disk["serial"] for disk in lab.servers[MEDIA]["disks"])
    assert all(word in booted[1] for word in parameters), booted[1][-3000:]
    # What Ironic adds to the kernel's parameters where it makes the image.
    assert "ipa-inspection-callback-url=" not in booted[1]
