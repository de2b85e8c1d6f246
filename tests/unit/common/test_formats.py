# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Durations, times and sizes as they are printed."""
from __future__ import annotations

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._common.texts import formats


@pytest.mark.parametrize(("seconds", "text"), [
    (0, "0 s"), (-3, "0 s"), (47.9, "47 s"), (60, "1 min"), (200, "3 min 20 s"), (3600, "1 h"), (3905, "1 h 5 min"),
    (90000, "25 h"),
])
def test_duration(seconds, text):
    assert formats.duration(seconds) == text


def test_times_are_rfc_3339_in_utc():
    assert formats.timestamp(1795368000.9) == "2026-11-22T17:20:00Z"
    assert formats.moment_of("2026-11-22T17:20:00Z") == 1795368000


@pytest.mark.parametrize("text", [
    "tomorrow", "2026-01-01", "2026-01-01T00:00:00+01:00", "2026-13-01T00:00:00Z", "2026-01-01T00:00:00Z\n", "", 1,
    None, {}])
def test_what_is_no_time_in_utc_is_none(text):
    assert formats.moment_of(text) is None


@pytest.mark.parametrize(("mebibytes", "text"), [
    (0, "-"), (512, "512 MiB"), (1024, "1 GiB"), (1500, "1500 MiB"), (16384, "16 GiB"), (16000, "16 GiB"),
])
def test_memory(mebibytes, text):
    assert formats.memory(mebibytes) == text


def test_disks_are_in_the_unit_of_their_makers():
    assert formats.disk(480103981056) == "480 GB"
