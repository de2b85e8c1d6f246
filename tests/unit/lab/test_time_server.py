# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import struct

import time_server

# A client's packet of version 4 with its own time in the last field.
OWN_TIME = b"\x01\x02\x03\x04\x05\x06\x07\x08"
QUESTION = bytes([0x23]) + bytes(39) + OWN_TIME


def test_an_answer_has_the_client_s_time_and_this_machine_s():
    found = time_server.answer(QUESTION, 1.5, 2.25)
    assert (len(found), found[0], found[1]) == (48, 0x24, 1)
    assert found[24:32] == OWN_TIME
    assert struct.unpack("!II", found[32:40]) == (time_server.EPOCH_SECONDS + 1, 2 ** 31)
    assert struct.unpack("!II", found[40:48]) == (time_server.EPOCH_SECONDS + 2, 2 ** 30)


def test_what_is_no_question_gets_no_answer():
    assert time_server.answer(QUESTION[:47], 1, 1) is None
    # A server's.
    assert time_server.answer(bytes([0x24]) + QUESTION[1:], 1, 1) is None
