# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Groups of things that share something."""
from __future__ import annotations

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._common.matching.connected import connected


@pytest.mark.parametrize(("items", "groups"), [
    ([], []),
    (["a", "b"], [["a"], ["b"]]),
    (["ab", "c", "bd"], [["ab", "bd"], ["c"]]),
    # By way of the last one.
    (["a", "b", "c", "ab"], [["a", "b", "ab"], ["c"]]),
    (["", ""], [[""], [""]]),
])
def test_connected(items, groups):
    assert connected(items, list) == groups
