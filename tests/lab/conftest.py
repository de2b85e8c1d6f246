# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Fixtures: the lab that ``make test-lab`` has brought up."""
from __future__ import annotations

import pytest
from machine_room.client import MachineRoomClient
from support import Lab


def pytest_configure(config):
    """Name the markers of these tests."""
    config.addinivalue_line("markers", "nodes: needs root; boots what is on the disks of simulated servers")
    config.addinivalue_line("markers", "ha: needs five servers and no other test beside it; make test-ha runs them")
    config.addinivalue_line("markers", "long: waits minutes for the lab's timeouts; make test-faults-long runs them")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item):
    """Add to a failure what the lab's parts say at that moment: afterwards the lab is taken down."""
    report = yield
    if report.failed and "lab" in item.funcargs:
        report.sections.append(("the lab when it failed", item.funcargs["lab"].describe()))
    return report


@pytest.fixture(scope="session")
def lab(tmp_path_factory):
    """The running lab; without one these tests fail, they do not skip."""
    return Lab(tmp_path_factory.mktemp("runs"))


@pytest.fixture(scope="session")
def room(lab):
    """The lab's machine room, whose knobs make servers fail."""
    return MachineRoomClient.of_lab(str(lab.dir))
