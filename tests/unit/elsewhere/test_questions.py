# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a name that no DNS can have costs: its own answer, and not those of all the others."""
from __future__ import annotations

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._elsewhere import questions

NAME = "a" * 64 + ".example"


@pytest.mark.parametrize("ask", [
    lambda: questions.tcp(NAME, 443, 1), lambda: questions.ipmi(NAME, 623, 1),
    lambda: questions.tftp(NAME, 69, "boot", 1), lambda: questions.web(f"https://{NAME}/a", "", 10, 1),
    lambda: questions.status(NAME, 6385, "/", True, "", True, 1),
    lambda: questions.image(f"https://{NAME}/a", True, 1)],
    ids=["tcp", "ipmi", "tftp", "web", "status", "image"])
def test_a_name_that_no_dns_can_have_is_not_reached(ask):
    assert ask() == {"reached": False, "words": "no address for that name"}
