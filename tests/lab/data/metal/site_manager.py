# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A site's hardware manager in the agent's ramdisk, with a way to deploy and a service step of its own."""
from __future__ import annotations

from ironic_python_agent import hardware

NOTE = "deployed by the site's own method: "
SERVICE_NOTE = "left by the site's own service step: "


class SiteManager(hardware.HardwareManager):
    """Writes a note to the disk that the hints choose, and to one that a service step names."""

    HARDWARE_MANAGER_NAME = "SiteManager"
    HARDWARE_MANAGER_VERSION = "1"

    def evaluate_hardware_support(self):
        return hardware.HardwareSupport.SERVICE_PROVIDER

    def get_deploy_steps(self, node, ports):
        return [{"step": "write_note", "priority": 0, "interface": "deploy", "reboot_requested": False}]

    def write_note(self, node, ports):
        """Write a text and the node's UUID to the beginning of the disk."""
        with open(hardware.dispatch_to_managers("get_os_install_device"), "r+b") as disk:
            disk.write((NOTE + node["uuid"]).encode())

    def get_service_steps(self, node, ports):
        return [{"step": "leave_note", "priority": 0, "interface": "deploy", "reboot_requested": False,
                 "argsinfo": {"serial": {"description": "serial number of the disk", "required": True}}}]

    def leave_note(self, node, ports, serial):
        """Write a text and the node's UUID to the beginning of a disk."""
        found, = [disk for disk in hardware.dispatch_to_managers("list_block_devices") if disk.serial == serial]
        with open(found.name, "r+b") as disk:
            disk.write((SERVICE_NOTE + node["uuid"]).encode())
