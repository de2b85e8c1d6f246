# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Fixtures: the lab that ``make test-lab`` has brought up."""
from __future__ import annotations

import os

import pytest
from support import Lab


@pytest.fixture(scope="session")
def lab(tmp_path_factory):
    """The running lab; without one these tests fail, they do not skip."""
    lab = Lab(tmp_path_factory.mktemp("runs"))
    os.environ["OS_CLIENT_CONFIG_FILE"] = str(lab.dir / "clouds.yaml")
    return lab
