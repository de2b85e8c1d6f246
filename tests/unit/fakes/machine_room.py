# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Helpers of the machine room's tests: an Ironic that answers agents as it is told to, hardware, images."""
from __future__ import annotations

import contextlib
import json
import subprocess
import threading
import time
from http.server import BaseHTTPRequestHandler

from machine_room.disk_boot import DiskBoot

from .http_server import HttpServer

NODE = "11111111-2222-3333-4444-555555555555"
TOKEN = "t" * 40


def eventually(ask, what, seconds=10):
    """Ask until the answer is true and return it."""
    deadline = time.monotonic() + seconds
    pause = threading.Event()
    while True:
        answer = ask()
        if answer:
            return answer
        assert time.monotonic() < deadline, f"not seen: {what}"
        pause.wait(0.02)


class Ironic:
    """An HTTP server with Ironic's side of the agent's calls, and files.

    :ivar inspecting: whether it waits for inspection data
    :ivar expecting: whether it expects an agent to look its node up
    :ivar requests: list of (path, body)
    :ivar files: mapping path → bytes
    """

    def __init__(self):
        self.inspecting, self.expecting = True, True
        self.requests, self.files = [], {}
        self.heartbeat_status = 202
        room = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_arguments):
                """Quiet."""

            def reply(self, status, body):
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                if self.command != "HEAD":
                    # A client may have gone: one of a machine whose power was cut.
                    with contextlib.suppress(ConnectionError):
                        self.wfile.write(body)

            def do_GET(self):
                path = self.path.split("?")[0]
                if path == "/v1/lookup":
                    room.requests.append((self.path, None))
                    found = {"node": {"uuid": NODE}, "config": {"heartbeat_timeout": 300, "agent_token": TOKEN}}
                    self.reply(*((200, json.dumps(found).encode()) if room.expecting else (404, b"{}")))
                else:
                    self.reply(*((200, room.files[path]) if path in room.files else (404, b"")))

            do_HEAD = do_GET

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                room.requests.append((self.path, body))
                if self.path == "/v1/continue_inspection":
                    self.reply(202 if room.inspecting else 404, b"{}")
                else:
                    self.reply(room.heartbeat_status, b"")

        self._server = HttpServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def calls(self, start):
        """Return the bodies of the requests whose path starts so."""
        return [body for path, body in list(self.requests) if path.startswith(start)]

    def close(self):
        """Stop serving."""
        self._server.shutdown()
        self._server.server_close()


def spec(number=1):
    """Return a server as ``servers.json`` has it."""
    return {
        "name": f"server-{number:02d}", "uuid": f"00000000-0000-0000-0000-{number:012d}", "vendor": "LAB",
        "model": "Simulated", "serial": f"S{number}", "cpus": 4, "cpu_mhz": 2400, "cpu_model": "CPU",
        "architecture": "x86_64", "memory_mib": 8192, "boot_mac": f"00:5c:52:00:00:{16 * number:02x}",
        "nics": [{"name": "eno1", "mac": f"00:5c:52:00:00:{16 * number:02x}", "vendor": "0x8086",
                  "product": "0x1572", "speed_mbps": 10000, "address": f"198.18.1.{number}"}],
        "disks": [
            {"name": "/dev/sda", "size_gib": 5, "rotational": False, "vendor": "LAB", "model": "SSD",
             "serial": f"A{number}", "wwn": "0x1", "hctl": "0:0:0:0"},
            {"name": "/dev/sdb", "size_gib": 8, "rotational": True, "vendor": "LAB", "model": "HDD",
             "serial": f"B{number}", "wwn": "0x2", "hctl": "0:0:1:0"},
        ],
    }


class RecordingDiskBoot(DiskBoot):
    """Remembers what it was asked."""

    def __init__(self):
        self.asked = []
        self.running = True

    def power_on(self, server):
        super().power_on(server)
        self.asked.append("power_on")

    def soft_off(self, server):
        self.asked.append("soft_off")
        super().soft_off(server)

    def hard_off(self, server):
        self.asked.append("hard_off")

    def fail_disk(self, server):
        self.asked.append("fail_disk")

    def is_running(self, server):
        return self.running


def make_image(path, size_mib=8):
    """Write a disk image with a GPT and one partition, and return its bytes."""
    path.write_bytes(b"")
    with path.open("r+b") as file:
        file.truncate(size_mib * 1024 * 1024)
        file.seek(1024 * 1024)
        file.write(b"operating system " * 4096)
    subprocess.run(["sfdisk", "--quiet", str(path)], input="label: gpt\nstart=2048, size=4096, type=linux\n", text=True,
                   check=True, timeout=30)
    return path.read_bytes()
