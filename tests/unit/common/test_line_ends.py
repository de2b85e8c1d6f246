# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Values that become names of files, or lines of configuration files, have no line's end; ``$`` lets one pass."""
from __future__ import annotations

import runpy
from pathlib import Path

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.description.version_number import VERSION_RULE
from ansible_collections.metal3.baremetal.plugins.module_utils._common.addresses import mac_address
from ansible_collections.metal3.baremetal.plugins.module_utils._host.actions import action_request
from ansible_collections.metal3.baremetal.plugins.module_utils._host.actions.actions import Request
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.process import site_figures

AGENT = Path(__file__).resolve().parents[3] / "lab/agent_image/root/usr/local/lib/agent_network/network_data.py"


def is_network_name(value):
    return runpy.run_path(str(AGENT))["NAME"].match(value)


@pytest.mark.parametrize("takes, value", [
    (lambda value: mac_address.mac_error(value) is None, "00:5c:52:31:3a:01"),
    (VERSION_RULE.match, "v1.35.4"), (is_network_name, "eth0"), (site_figures.NAME_RULE.match, "mysite"),
    (lambda value: not site_figures.boot_problems({"iso": value}), "http://192.0.2.1/agent.iso"),
    (lambda value: not action_request.check_requests([Request("h1", "reboot_hold", key=value)]), "disks")])
def test_a_line_s_end_is_no_part_of_a_value(takes, value):
    assert takes(value) and not takes(value + "\n")
