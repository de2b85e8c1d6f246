# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A simulated server whose BMC is asked by sushy and Ironic without a lab, in the Python of the services."""
from __future__ import annotations

import threading
from wsgiref.simple_server import WSGIRequestHandler, make_server

import sushy
from machine_room import bmc
from machine_room.access_log import FILE, AccessLog
from machine_room.account import Account
from machine_room.bmc_access import BmcAccess
from machine_room.disk_boot import DiskBoot
from machine_room.server import Server
from machine_room.settings import Settings

UUID = "00000000-0000-0000-0000-000000000001"
PATH = f"/redfish/v1/Systems/{UUID}"


class Quiet(WSGIRequestHandler):
    """Writes no line for a request."""

    def log_message(self, *_arguments):
        """Quiet."""


def spec(**different):
    """Return a server without disks and with one NIC.

    :param different: what of it is to be different
    """
    return {"name": "server-01", "uuid": UUID, "vendor": "LAB", "model": "Simulated", "serial": "S1", "cpus": 4,
            "cpu_mhz": 2400, "cpu_model": "CPU", "architecture": "x86_64", "memory_mib": 8192,
            "boot_mac": "00:5c:52:00:00:10", "disks": [],
            "nics": [{"name": "eno1", "mac": "00:5c:52:00:00:10", "vendor": "0x8086", "product": "0x1572",
                      "speed_mbps": 10000, "address": "198.18.1.1"}], **different}


def started(folder, described, web=None):
    """Return a Server of a folder and the URL of its BMC.

    :param described: its entry in ``servers.json``
    :param web: a Web, for a BMC that downloads
    """
    settings = Settings(
        servers_file="", machines_dir=f"{folder}/machines", redfish_dir=folder, addresses=[], redfish_port=0, port=0,
        url="", certificate_file="", key_file="", ca_file="", token_file="", ironic_url="", boot_url="")
    server = Server(described, settings, web, DiskBoot())
    server.bmc_account = Account(server, "admin", "password")
    others = AccessLog(f"{folder}/{FILE}")
    served = make_server("127.0.0.1", 0, BmcAccess(bmc.application([server], settings), [server], others),
                         handler_class=Quiet)
    threading.Thread(target=served.serve_forever, daemon=True).start()
    return server, f"http://127.0.0.1:{served.server_port}"


def connected(url):
    """Return sushy's client of a BMC."""
    return sushy.Sushy(url, auth=sushy.auth.BasicAuth("admin", "password"))
