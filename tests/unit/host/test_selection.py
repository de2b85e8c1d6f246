# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which servers a step is for, and where their status is saved."""
from __future__ import annotations

from ansible_collections.metal3.baremetal.plugins.module_utils._host.description import selection
from ansible_collections.metal3.baremetal.plugins.module_utils._host.state import saved_status

ENTRIES = [{"name": "h1", "image": {"url": "u"}, "online": True}, {"name": "h2"},
           {"name": "h3", "custom_deploy": {"method": "m"}},
           {"name": "h4", "image": {}, "custom_deploy": {"method": None}}]


def names(which):
    return [entry["name"] for entry in selection.SELECTIONS[which](ENTRIES)]


def test_servers_with_an_image_or_another_deployment_are_deployed_and_the_others_are_named():
    assert (names("all"), names("deployable"), names("without_image")) == (
        ["h1", "h2", "h3", "h4"], ["h1", "h3"], ["h2", "h4"])


def test_what_is_taken_away_is_all_that_deploys_and_nothing_else():
    first = selection.SELECTIONS["undeployed"](ENTRIES)[0]
    assert first == {"name": "h1", "online": True, "image": {}, "custom_deploy": {}, "user_data": {},
                     "network_data": {}, "meta_data": {}}
    assert ENTRIES[0]["image"] == {"url": "u"}


def test_a_name_is_data():
    name = 'a", "state": "present'
    assert selection.absent([name]) == [{"name": name, "state": "absent"}]
    assert saved_status.path("saved", "../../etc/h1") == "saved/h1.json"
