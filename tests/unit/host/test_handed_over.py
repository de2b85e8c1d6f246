# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The note of hosts that another plane manages by now: by what they are known, and what others could write into it."""
from __future__ import annotations

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._host.state import handed_over

HOST = {"metadata": {"name": "h1"}, "spec": {"bmc": {"address": "ipmi://192.0.2.1"}}}


def config(**data):
    return {"metadata": {"name": handed_over.NAME}, "data": data}


KNOWN = handed_over.read(config(h1=handed_over.note(HOST, "https://192.0.2.9:6443", "2026-11-24T18:00:00Z")))


def entry(name, address):
    return {"name": name, "state": "present", "bmc": {"address": address}}


@pytest.mark.parametrize("name, address, is_refused", [
    ("h1", "ipmi://192.0.2.1", True), ("h1", "ipmi://192.0.2.7", True), ("renamed", "ipmi://192.0.2.1:623", True),
    ("h2", "ipmi://192.0.2.2", False)])
def test_a_host_is_known_by_its_name_and_by_its_bmc(name, address, is_refused):
    found = handed_over.problems([entry(name, address)], KNOWN, "metal3")
    assert bool(found) == is_refused
    for problem in found:
        assert problem.actual == '"h1", given to the plane of https://192.0.2.9:6443 at 2026-11-24T18:00:00Z'
        assert "delete the key h1 of ConfigMap metal3/metal3-baremetal-handed-over" in problem.hint


@pytest.mark.parametrize("text", ["", "no JSON", "[]", "{}", '{"server": 1, "at": "", "bmc": ""}', "[" * 100000, None])
def test_what_is_no_note_is_left_out(text):
    assert handed_over.read(config(h1=text)) == {}


@pytest.mark.parametrize("found", [None, {}, {"data": None}, {"data": []}, {"data": "x"}])
def test_a_config_map_without_data_has_no_note(found):
    assert handed_over.read(found) == {}


def test_what_others_write_does_not_steer_a_terminal():
    note = handed_over.note(HOST, "https://x\x1b[2J", "now\n")
    found = handed_over.read(config(h1=note))["h1"]
    assert "\x1b" not in found.server and "\n" not in found.at
