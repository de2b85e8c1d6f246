# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings against a FirmwareSchema: BMO leaves the present ones unchecked only while all of them are present."""
from __future__ import annotations

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._resources.base import ObjectIndex
from ansible_collections.metal3.baremetal.plugins.module_utils._resources.registry import FAMILIES

SCHEMA = {
    "Turbo": {"attribute_type": "Enumeration", "allowable_values": ["Enabled", "Disabled"]},
    "Cores": {"attribute_type": "Integer", "read_only": True},
    "Scrub": {"attribute_type": "Integer", "lower_bound": 0, "upper_bound": 24},
    "Quiet": {"attribute_type": "Boolean"},
    "Words": {"attribute_type": "Boolean"},
    "Serial": {"attribute_type": "String", "unique": True},
}
VALUES = {"Turbo": "Enabled", "Cores": "8", "Scrub": "99", "Quiet": "1", "Words": "true", "Serial": "S1",
          "NoRules": "a"}


def _texts(problems):
    return [str(problem) for problem in problems]


def refused(settings):
    """Return the lines by which settings are refused on a server that has VALUES."""
    stored = {"metadata": {"name": "h1", "namespace": "metal3"}, "status": {
        "settings": VALUES, "schema": {"name": "schema-1", "namespace": "metal3"}}}
    index = ObjectIndex({"FirmwareSchema": [
        {"metadata": {"name": "schema-1", "namespace": "metal3"}, "spec": {"schema": SCHEMA}}]})
    return _texts(FAMILIES["HostFirmwareSettings"].check_against(
        "h1", {"name": "h1", "settings": settings}, stored, index))


@pytest.mark.parametrize("name, value, expected", [
    ("Cores", 8, "read-only"),
    ("NoRules", "a", "a setting of the host's FirmwareSchema"),
    ("Scrub", 99, "0 to 24"),
    ("Quiet", "1", "true or false"),
])
def test_a_present_value_that_bmo_refuses_is_refused_beside_one_that_changes(name, value, expected):
    assert refused({name: value}) == []
    lines = refused({"Turbo": "Disabled", name: value})
    assert len(lines) == 1 and "settings." + name in str(lines[0]) and expected in str(lines[0]), lines
    assert "remove it" in str(lines[0]), lines


@pytest.mark.parametrize("name, value", [("Turbo", "Enabled"), ("Words", True), ("Serial", "S1")])
def test_a_present_value_that_bmo_takes_may_stand_beside_one_that_changes(name, value):
    assert refused({"Scrub": 12, name: value}) == []


def test_a_setting_that_the_server_lacks_makes_bmo_check_the_others_too():
    lines = refused({"Trubo": "Enabled", "Cores": 8})
    assert len(lines) == 2 and "perhaps Turbo is meant" in str(lines[0]) and "read-only" in str(lines[1]), lines
