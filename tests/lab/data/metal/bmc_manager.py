# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A site's hardware manager in the agent's ramdisk that knows a machine's BMC where IPMI does not say it.

QEMU's machines have no interface to their BMC, as have servers with one that the agent has no driver for. The kernel's
parameter ``site-bmc=<serial number>@<address>`` stands for what the site's manager would ask.
"""
from __future__ import annotations

from ironic_python_agent import hardware

PARAMETER = "site-bmc="
NO_ADDRESS = "::/0"


def reported_address(parameters, serial):
    """Return the address of the machine's BMC, or None when no parameter is about the machine.

    :param parameters: the kernel's
    :param serial: the machine's serial number
    """
    for word in parameters.split():
        owner, _at, address = word[len(PARAMETER):].rpartition("@")
        if word.startswith(PARAMETER) and owner == serial:
            return address
    return None


def _read(path):
    with open(path, encoding="ascii", errors="replace") as stream:
        return stream.read().strip()


class BmcManager(hardware.GenericHardwareManager):
    """The agent's own manager, but for the BMC: that one calls these methods of itself, so no other one is asked."""

    HARDWARE_MANAGER_NAME = "BmcManager"
    HARDWARE_MANAGER_VERSION = "1"

    def evaluate_hardware_support(self):
        return hardware.HardwareSupport.SERVICE_PROVIDER if self.get_bmc_address() else hardware.HardwareSupport.NONE

    def get_bmc_address(self):
        return reported_address(_read("/proc/cmdline"), _read("/sys/class/dmi/id/product_serial"))

    def get_bmc_v6address(self):
        return NO_ADDRESS
