# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which RAID volumes BMO has yet to begin with."""
from __future__ import annotations

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._host.state import preparation

ONE, OTHER = {"level": "1", "sizeGibibytes": 5}, {"level": "0", "sizeGibibytes": 5}
HARD, SOFT = "hardwareRAIDVolumes", "softwareRAIDVolumes"


def outstanding(wanted, made):
    return preparation.outstanding({"spec": {"raid": wanted}, "status": {"provisioning": {"raid": made}}})


@pytest.mark.parametrize(("wanted", "made"), [
    (None, None), ({}, None), (None, {HARD: [ONE], SOFT: []}), ({}, {HARD: [ONE], SOFT: None}),
    ({HARD: [ONE]}, {HARD: [ONE], SOFT: None}), ({HARD: []}, {HARD: [], SOFT: None}),
    # As a user writes it, and as BMO does.
    ({HARD: [dict(ONE, name="", physicalDisks=[], rotational=False)]}, {HARD: [dict(ONE, rotational=False)]}),
    ({SOFT: [dict(ONE, physicalDisks=[{"minSizeGigabytes": 0, "wwn": "1"}])]},
     {HARD: None, SOFT: [dict(ONE, physicalDisks=[{"wwn": "1"}])]}),
])
def test_what_was_begun_is_not_waited_for(wanted, made):
    assert outstanding(wanted, made) == ""


@pytest.mark.parametrize(("wanted", "made"), [
    ({HARD: [ONE]}, None), ({HARD: [ONE]}, {HARD: [OTHER]}), ({HARD: []}, {HARD: [ONE]}), ({HARD: []}, None),
    ({HARD: [ONE, OTHER]}, {HARD: [OTHER, ONE]}), ({SOFT: [ONE]}, {HARD: [ONE]}), (None, {SOFT: [ONE]}),
    ({HARD: [dict(ONE, rotational=False)]}, {HARD: [ONE]}),
])
def test_what_was_not_begun_is_waited_for(wanted, made):
    assert "BMO has yet to" in outstanding(wanted, made)


def test_a_new_host_has_none():
    assert preparation.outstanding({}) == preparation.outstanding({"spec": {}, "status": {}}) == ""
