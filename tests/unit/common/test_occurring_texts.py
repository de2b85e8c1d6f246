# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Secrets that occur in a result are found, each of them, by going through the result a few times only."""
from __future__ import annotations

from unittest import mock

from hypothesis import given, settings
from hypothesis import strategies as st

from ansible_collections.metal3.baremetal.plugins.module_utils._common.matching import occurring_texts
from ansible_collections.metal3.baremetal.plugins.module_utils._common.matching.occurring_texts import occurring

FEW = st.text(alphabet="ab\n", max_size=40)


class Counted(str):
    """A text that counts how often it was searched as a whole."""

    searches = 0

    def __contains__(self, part):
        Counted.searches += 1
        return super().__contains__(part)


@settings(max_examples=200, deadline=None, derandomize=True, database=None)
@given(st.sets(FEW, max_size=8), FEW, FEW)
def test_it_finds_what_is_there(texts, left, right):
    haystack = left + "".join(sorted(texts)[:2]) + right
    expected = set(text for text in texts if text in haystack)
    assert occurring(texts, haystack) == expected
    with mock.patch.object(occurring_texts, "_FEW", -1):
        assert occurring(texts, haystack) == expected


def test_many_secrets_do_not_search_the_whole_result_each():
    """As many searches as there were secrets took seconds for thousands of hosts."""
    secrets = [f"password-of-{number:05d}" for number in range(2000)] + ["#cloud-config\n" + "x" * 40 + "y"]
    haystack = Counted("\n".join(f"server-{number:05d} available" for number in range(2000)) + " password-of-00007")
    assert occurring(secrets, haystack) == {"password-of-00007"}
    assert Counted.searches == 0
