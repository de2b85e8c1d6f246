# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reports as JSON what Ironic's firmware interface, and sushy below it, make of a simulated BMC's network cards.

Run by the Python of the services with a folder for the servers: ``network_card_contract.py FOLDER``.
"""
from __future__ import annotations

import json
import sys
import threading
import time
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace

from contract_server import PATH, UUID, connected, spec, started
from ironic.drivers.modules.redfish import firmware as ironic_firmware
from machine_room.web import Web

# What Ironic's node has that its firmware interface asks for.
NODE = SimpleNamespace(uuid=UUID, driver_info={"redfish_system_id": PATH}, driver_internal_info={})
LIMIT_SECONDS = 20
IMAGES = {
    "first": {"component": "nic", "product": "0x1572", "version": "9.20"},
    "second": {"component": "nic", "product": "0x158b", "version": "8.10"},
    "others": {"component": "nic", "product": "0x1017", "version": "16.35"},
}


class Files(SimpleHTTPRequestHandler):
    """Serves a folder and writes no line for a request."""

    def log_message(self, *_arguments):
        """Quiet."""


def nics():
    """Return two NICs of one product and one of another without a serial number."""
    return [{"name": f"eno{number}", "mac": f"00:5c:52:00:00:1{number}", "vendor": "0x8086", "product": product,
             "has_serial_number": number != 3, "speed_mbps": 10000}
            for number, product in enumerate(("0x1572", "0x1572", "0x158b"), start=1)]


class Story:
    """What is asked of the BMC, one thing after the other."""

    def __init__(self, folder):
        images = Path(folder, "images")
        images.mkdir()
        for name, content in IMAGES.items():
            (images / name).write_text(json.dumps(content))
        web = ThreadingHTTPServer(("127.0.0.1", 0), partial(Files, directory=str(images)))
        threading.Thread(target=web.serve_forever, daemon=True).start()
        self._images = f"http://127.0.0.1:{web.server_port}"
        self.server, url = started(folder, spec(nics=nics()), Web(None))
        self._client = connected(url)

    def components(self):
        """Return the cards as Ironic's firmware interface lists them."""
        found = ironic_firmware.RedfishFirmware().retrieve_nic_components(
            SimpleNamespace(node=NODE), self._client.get_system(PATH))
        return dict((item.pop("component"), item) for item in found)

    def versions(self):
        """Return the versions by component."""
        return dict((name, item["current_version"]) for name, item in self.components().items())

    def update(self, image):
        """Ask for an update as Ironic does for a node of a BMC with several systems; return its task's monitor."""
        return self._client.get_update_service().simple_update(f"{self._images}/{image}", targets=[PATH])

    def task(self, monitor, state):
        """Return a task when it has a state."""
        def found():
            task = self._client.get_task_monitor(monitor.task_monitor_uri).get_task()
            return task if task.task_state.value == state else None
        task = until(found)
        return {"health": task.task_status.value, "messages": [message.message for message in task.messages]}

    def inventory(self):
        """Return the versions of the BMC's inventory of firmware."""
        return dict((item.identity, item.version)
                    for item in self._client.get_update_service().firmware_inventory.get_members())


def until(ask):
    """Return an answer when there is one."""
    deadline = time.monotonic() + LIMIT_SECONDS
    pause = threading.Event()
    while True:
        answer = ask()
        if answer:
            return answer
        assert time.monotonic() < deadline, "no answer"
        pause.wait(0.05)


def tell(folder):
    """Return all that is reported."""
    story, told = Story(folder), {}
    told["components"] = story.components()
    told["written"] = [story.task(story.update("first"), "Completed"), story.versions()]
    story.server.restart()
    told["after a boot"] = story.versions()
    story.server.set_knobs({"cards_flashed_at_boot": True})
    monitor = story.update("second")
    # Its task is starting while the image is downloaded, too.
    until(lambda: story.server.firmware_staged)
    told["not begun"] = [story.task(monitor, "Starting"), story.versions()]
    story.server.restart()
    told["begun by a boot"] = [story.task(monitor, "Completed"), story.versions()]
    told["others"] = [story.task(story.update("others"), "Exception"), story.versions()]
    told["inventory"] = story.inventory()
    return told


if __name__ == "__main__":
    print(json.dumps(tell(sys.argv[1])))
