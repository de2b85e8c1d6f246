# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Hosts that count as available without the volumes that they were prepared with."""
from __future__ import annotations

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._ironic.audit import findings as audit
from ansible_collections.metal3.baremetal.plugins.module_utils._ironic.audit import raid_volumes


def node(*levels, **values):
    config = {"last_updated": "2026-11-28 10:00:00", "logical_disks": [{"raid_level": level} for level in levels]}
    return dict({"uuid": "u", "name": "metal3~a", "provision_state": "available", "reservation": None,
                 "driver_info": {}, "raid_config": config}, **values)


@pytest.mark.parametrize(("wanted", "found", "texts"), [
    (["1"], [], ["prepared with hardware volumes (RAID 1)", "without hardware volumes (RAID 1)"]),
    (["1", "1", "5"], ["1", "5"], ["without hardware volumes (RAID 1)"]),
    ([], ["5"], ["prepared with no hardware volume", "with hardware volumes (RAID 5)"]),
    (["1+0"], ["0"], ["without hardware volumes (RAID 1+0) and with hardware volumes (RAID 0)"]),
])
def test_volumes_that_are_not_those_of_the_host_are_named(wanted, found, texts):
    for state, provision_state in (("available", "available"), ("provisioned", "active")):
        text = raid_volumes.difference(node(*found, provision_state=provision_state), state, wanted)
        assert all(part in text for part in texts) and "failed" in text


@pytest.mark.parametrize(("wanted", "of_node", "state"), [
    (["1"], node("1"), "available"), ([], node(), "available"), (["5", "1"], node("1", "5"), "provisioned"),
    # The operator keeps volumes that the host says nothing of.
    (None, node("1"), "available"),
    # It is not done yet, or has begun again.
    (["1"], node(), "preparing"), (["1"], node(), "externally provisioned"),
    (["1"], node(provision_state="clean wait"), "available"), (["1"], node(reservation="conductor"), "available"),
    # Ironic has read nothing, as after the loss of its database.
    (["1"], node(raid_config={}), "available"), (["1"], node(raid_config=None), "available"),
    (["1"], node(raid_config={"last_updated": "now", "logical_disks": "x"}), "available"),
    (["1"], {}, "available"), ("1", node(), "available"),
])
def test_what_is_as_it_should_be_or_not_known_is_no_difference(wanted, of_node, state):
    assert raid_volumes.difference(of_node, state, wanted) == ""


@pytest.mark.parametrize(("raid", "levels"), [
    (None, None), ({}, None), ({"softwareRAIDVolumes": [{"level": "1"}]}, None), ({"hardwareRAIDVolumes": None}, None),
    ({"hardwareRAIDVolumes": []}, []), ({"hardwareRAIDVolumes": [{"level": "1"}, {"level": "5+0"}]}, ["1", "5+0"]),
    ({"hardwareRAIDVolumes": "x"}, None), ("x", None)])
def test_the_levels_of_a_host_are_those_that_the_operator_has_noted(raid, levels):
    assert raid_volumes.wanted_levels(raid) == levels


def test_an_audit_names_the_host_and_repairs_nothing():
    host = {"namespace": "metal3", "name": "a", "state": "available", "node_id": "u", "operational_status": "OK",
            "hardware_raid_levels": ["1"]}
    finding, = audit.findings([node()], [], [], [host])
    assert (finding.kind, finding.subject, finding.repair) == (
        audit.RAID_VOLUMES_DIFFER, "BareMetalHost metal3/a", None)
    assert "hardware_raid_volumes []" in finding.next_step
    assert audit.findings([node("1")], [], [], [host]) == []
    assert audit.findings([node()], [], [], [dict(host, hardware_raid_levels=None)]) == []
