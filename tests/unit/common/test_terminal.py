# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How wide tables may be."""
from __future__ import annotations

import io

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._common.texts import terminal


@pytest.mark.parametrize(("environment", "columns"), [
    ({"COLUMNS": "100"}, 100), ({"COLUMNS": "100", terminal.COLUMNS_VARIABLE: "80"}, 80), ({"COLUMNS": "0"}, None),
    ({"COLUMNS": "wide"}, None), ({}, None),
])
def test_the_environment_says_it(environment, columns):
    assert terminal.columns(environment=environment) == columns


def test_a_log_file_has_no_width():
    assert terminal.columns(io.StringIO(), {}) is None
