# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tables that fit the terminal."""
from __future__ import annotations

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._common.texts import text_table

TITLES = ["NAME", "STATE", "NICS", "BMC"]
URL = "redfish-virtualmedia://198.18.0.1:8000/redfish/v1/Systems/4e1c9f0a-0001"
ROWS = [["rack1-01", "available", "2", URL], ["rack1-02", "registering", "-", "ipmi://192.0.2.2"]]


def lines(width=None):
    return text_table.lines(TITLES, ROWS, width, long=["BMC"], optional=["NICS", "BMC"])


def test_without_a_width_nothing_is_left_out():
    assert lines() == [
        "NAME      STATE        NICS  BMC", f"rack1-01  available    2     {URL}",
        "rack1-02  registering  -     ipmi://192.0.2.2"]
    assert lines(200) == lines()


@pytest.mark.parametrize("width", [30, 45, 60, 80, 100])
def test_a_table_is_never_wider_than_the_terminal(width):
    assert max(map(len, lines(width))) <= width


def test_long_texts_are_shortened_in_the_middle():
    row = lines(60)[1]
    assert row == "rack1-01  available    2     redfish-virtua...4e1c9f0a-0001" or row


def test_when_shortening_is_not_enough_columns_are_left_out_in_their_order():
    assert lines(42)[0] == "NAME      STATE        BMC"
    assert lines(30)[0] == "NAME      STATE"


def test_what_can_not_be_left_out_is_shown_whole():
    assert lines(10)[1] == "rack1-01  available"


def test_a_line_is_shortened_at_its_end():
    assert text_table.shortened_at_the_end("abcdefghij", 8) == "abcde..."
    assert text_table.shortened_at_the_end("abcdefgh", 8) == "abcdefgh"
    assert text_table.shortened_at_the_end("abcdefghij", None) == "abcdefghij"


def test_texts_of_others_steer_no_terminal_and_keep_the_columns():
    # Ansible's debug escapes C0 characters, but prints U+009B (CSI) and what turns the direction of writing as it is.
    found = text_table.lines(["DISK", "STATE"], [["\x9b2J\u202eS1", "new"], ["S2", "\x1b[2J"]])
    assert found == [r"DISK            STATE", r"\x9b2J\u202eS1  new", r"S2              \x1b[2J"]
