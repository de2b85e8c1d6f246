# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Sizes of a play's batches, as users give them."""
from __future__ import annotations

import pytest
from ansible.errors import AnsibleFilterError

from ansible_collections.metal3.baremetal.plugins.filter.batch_sizes import batch_sizes


@pytest.mark.parametrize("given, sizes", [
    (1, [1]), ("3", [3]), ("25%", ["25%"]), ([1, "25%"], [1, "25%"]), ("1,3", [1, 3]), ("[1, '50%']", [1, "50%"]),
    (["1", 3], [1, 3])])
def test_numbers_percentages_and_lists_of_them(given, sizes):
    assert batch_sizes(given, "maintain_serial") == sizes


@pytest.mark.parametrize("given", [0, -1, "0", "x", "", [], [1, 0], "1,,3", "0%", "101%", "1.5", True, None, {"a": 1}])
def test_what_ansible_would_take_for_all_hosts_is_refused(given):
    with pytest.raises(AnsibleFilterError, match=r"maintain_serial: found .*; correct maintain_serial"):
        batch_sizes(given, "maintain_serial")
