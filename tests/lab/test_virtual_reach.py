# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""``agent_image_reach``: a virtual server's agent says what it reaches, and ``network_check`` reads its answers.

It needs the server that boots by virtual media, available; it boots an agent with questions, which is inspected twice,
and is available with the lab's own agent afterwards.
"""
from __future__ import annotations

import json
import socket

import pytest
from support import NAMESPACE, REPOSITORY, only
from virtual_site import BOOT_SECONDS, MEDIA

from ansible_collections.metal3.baremetal.plugins.module_utils._common.files import user_folders

pytestmark = pytest.mark.metal

FOLDER = "by-reach"
PLAY = [{"hosts": "management", "gather_facts": False, "roles": ["metal3.baremetal.agent_image"]}]
FILES = REPOSITORY / "roles" / "lab" / "files"


@pytest.fixture(scope="module")
def address(lab):
    """The address of the lab on its bridge, where servers reach it."""
    return lab.figures["bridge"]["address"].partition("/")[0]


@pytest.fixture(scope="module")
def listener(address):
    """A port that nobody else gets, and that refuses connections until somebody listens at it."""
    with socket.socket() as bound:
        bound.bind((address, 0))
        yield bound


@pytest.fixture(scope="module")
def port(listener):
    """Its number."""
    return listener.getsockname()[1]


@pytest.fixture(scope="module")
def ramdisk(lab, address, port, tmp_path_factory):
    """URLs of kernel and ramdisk with questions, which the role has built: the lab's own else."""
    folder = tmp_path_factory.mktemp("reach")
    (folder / "play.json").write_text(json.dumps(PLAY))
    lab.playbook(folder / "play.json", seconds=1800, extra={
        "agent_image_directory": str(lab.dir / "www" / "images" / FOLDER),
        "agent_image_cache_dir": user_folders.cache_dir(), "agent_image_iso": False, "agent_image_rescue": True,
        "agent_image_files": [
            {"path": "/etc/ironic-python-agent/ironic-python-agent.conf",
             "source": str(FILES / "ironic-python-agent.conf")},
            {"path": "/etc/ironic-python-agent/ca.crt", "source": str(lab.dir / "pki" / "ca.crt")}],
        "agent_image_reach": {
            "tcp": [{"name": "Ironic", "host": address, "port": lab.figures["ports"]["ironic"]},
                    {"name": "service", "host": address, "port": port}],
            "tftp": [{"name": "loader", "host": address, "path": "snponly.efi"}]}}).ok()
    url = f"{lab.figures['urls']['image_server']}/images/{FOLDER}"
    return {"bmo_deploy_kernel_url": f"{url}/vmlinuz", "bmo_deploy_ramdisk_url": f"{url}/initrd"}


def check(lab):
    """Run the playbook for what the server's agent has said."""
    return lab.playbook("network_check", *only(MEDIA), extra={"network_check_agents": True})


def answers(lab):
    """Return what Ironic has of the last inspection: for each name, what was found and whether it is right."""
    inventory = lab.ironic().get_node_inventory(lab.nodes()[MEDIA])["inventory"]
    return dict((answer["name"], (answer["found"], answer["ok"])) for answer in inventory["metal3_reach"])


@pytest.fixture(scope="module")
def asking(lab, ramdisk):
    """The lab, whose operator boots that agent; the server was inspected by it."""
    lab.playbook("install", "--tags", "bmo", seconds=900, extra=ramdisk).ok()
    enroll_anew(lab)
    yield lab
    lab.playbook("install", "--tags", "bmo", seconds=900).ok()
    enroll_anew(lab)
    assert "metal3_reach" not in lab.ironic().get_node_inventory(lab.nodes()[MEDIA])["inventory"]


def enroll_anew(lab):
    """Let the server's agent boot and inspect it: one that runs has the ramdisk of its own boot."""
    lab.remove_hosts(MEDIA)
    lab.playbook("enroll", *only(MEDIA), seconds=BOOT_SECONDS).ok()
    assert lab.state(MEDIA) == "available"


def is_available(host):
    """Say whether a host is available."""
    return host["status"]["provisioning"]["state"] == "available"


def test_an_agent_without_questions_is_refused(lab):
    check(lab).failed(f"{MEDIA}: the last inspection has no answers of an agent; build its ramdisk with "
                      "agent_image_reach, and inspect the server again")


def test_a_port_that_the_agent_did_not_reach_is_named(asking, address, port):
    assert asking.nodes()[MEDIA].name == f"{NAMESPACE}~{MEDIA}"
    assert answers(asking)["Ironic"] == ("a connection", True)
    assert answers(asking)["service"] == ("connection refused", False)
    found, is_right = answers(asking)["loader"]
    assert is_right and found.endswith(" bytes")
    run = check(asking).failed(f"{MEDIA}: the agent found {address}:{port}: connection refused at its last inspection; "
                               "look at those services and at the firewalls on the way, then inspect the server again")
    assert f"Ironic {address}:{asking.figures['ports']['ironic']}: a connection" in " ".join(run.output.split())


def test_when_it_reaches_all_at_the_next_inspection_the_check_is_passed(asking, listener, address, port):
    listener.listen()
    # The answers are as old as the inspection.
    check(asking).failed(f"{address}:{port}: connection refused")
    asking.playbook("inspect", *only(MEDIA), seconds=BOOT_SECONDS).ok()
    asking.wait_for_host(MEDIA, is_available, "available again", BOOT_SECONDS)
    run = check(asking).ok()
    assert f"service {address}:{port}: a connection" in " ".join(run.output.split())
    assert run.changed() == 0 and [right for _found, right in answers(asking).values()] == [True] * 3
