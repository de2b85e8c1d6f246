# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Network cards of a simulated BMC, by sushy and by Ironic's firmware interface; no lab is needed."""
from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
DONE = {"health": "OK", "messages": []}
FACTORY = {"nic:005C52000011": "9.00", "nic:005C52000012": "9.00", "nic:NIC.3": "9.00"}
FIRST = dict(FACTORY, **{"nic:005C52000011": "9.20", "nic:005C52000012": "9.20"})
BOTH = dict(FIRST, **{"nic:NIC.3": "8.10"})


@pytest.fixture(scope="module")
def contract(tmp_path_factory):
    """What the services' Python reports."""
    environment = dict(os.environ, PYTHONDONTWRITEBYTECODE="1", PYTHONPATH=str(HERE.parents[1] / "lab"))
    finished = subprocess.run(
        [os.environ["METAL3_SERVICES_PYTHON"], str(HERE / "network_card_contract.py"),
         str(tmp_path_factory.mktemp("bmc"))],
        env=environment, check=True, capture_output=True, text=True, timeout=120)
    return json.loads(finished.stdout)


def test_ironic_names_cards_by_serial_number_or_identity(contract):
    found = contract["components"]
    assert dict((name, card["current_version"]) for name, card in found.items()) == FACTORY
    assert (found["nic:NIC.3"]["vendor"], found["nic:NIC.3"]["model"]) == ("0x8086", "0x158b")


def test_what_was_written_counts_after_a_boot(contract):
    """For all cards of the product: Ironic's request names no card."""
    assert contract["written"] == [DONE, FACTORY] and contract["after a boot"] == FIRST


def test_a_bmc_that_has_not_begun_does_so_at_a_boot(contract):
    assert contract["not begun"] == [DONE, FIRST] and contract["begun by a boot"] == [DONE, BOTH]


def test_an_image_for_other_cards_fails_and_names_those_of_the_server(contract):
    task, versions = contract["others"]
    assert task["health"] == "Critical" and versions == BOTH
    assert "is firmware for network cards 0x1017, this server has 0x1572, 0x158b" in task["messages"][0]


def test_the_inventory_of_the_bmc_has_the_cards_too(contract):
    assert contract["inventory"] == {"BIOS": "1.0.0", "BMC": "1.00", "NIC.1": "9.20", "NIC.2": "9.20", "NIC.3": "8.10"}
