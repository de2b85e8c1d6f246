# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The inventory that simulated servers report."""
from __future__ import annotations

import types

import pytest
from machine_room import hardware

NIC = {"name": "eno1", "mac": "00:5c:52:00:00:01", "vendor": "v", "product": "p", "speed_mbps": 10000}


@pytest.mark.parametrize(("nic", "heard"), [
    ({}, []),
    ({"switch": "leaf-1", "switch_port": "1/4"}, [
        [1, "0402005c520001"], [2, "05" + b"1/4".hex()], [5, b"leaf-1".hex()]]),
    ({"switch_port": "7"}, [[1, "0402005c520001"], [2, "0537"]])])
def test_a_card_reports_what_it_has_heard_by_lldp(nic, heard):
    server = types.SimpleNamespace(knobs={}, spec={"nics": [dict(NIC, **nic)]})
    assert [card["lldp"] for card in hardware.interfaces(server)] == [heard]
