# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What all tests that run modules have."""
from __future__ import annotations

import pytest


@pytest.fixture(autouse=True, scope="module")
def state_of_its_own(tmp_path_factory):
    """Let modules keep state in a folder of these tests: a lock of the user's may be held by other tests meanwhile."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        yield
