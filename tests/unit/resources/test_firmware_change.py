# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a host in use is on, and what has to happen to it before its firmware changes."""
from __future__ import annotations

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._common.waiting.wait_report import WAITING
from ansible_collections.metal3.baremetal.plugins.module_utils._resources.base import ObjectIndex
from ansible_collections.metal3.baremetal.plugins.module_utils._resources.registry import FAMILIES

META = {"name": "h1", "namespace": "metal3", "generation": 1}
CONDITIONS = [{"type": kind, "status": "True", "observedGeneration": 1} for kind in ("Valid", "ChangeDetected")]
HELD = {"reboot.metal3.io/somebody": ""}
OBJECTS = {"HostFirmwareSettings": {"metadata": META, "spec": {"settings": {"A": "1"}},
                                    "status": {"settings": {"A": "0"}, "conditions": CONDITIONS}},
           "HostFirmwareComponents": {"metadata": META, "spec": {"updates": [{"component": "bios", "url": "u"}]},
                                      "status": {"conditions": CONDITIONS}}}


def index(online=True, on=True, status="OK", **annotations):
    policy = {"metadata": META, "spec": {"firmwareSettings": "onReboot", "firmwareUpdates": "onReboot"}}
    return ObjectIndex({"HostUpdatePolicy": [policy], "BareMetalHost": [{
        "metadata": dict(META, annotations=annotations), "spec": {"online": online},
        "status": {"provisioning": {"state": "provisioned"}, "operationalStatus": status, "poweredOn": on}}]})


@pytest.mark.parametrize("kind", sorted(OBJECTS))
@pytest.mark.parametrize("others, power", [
    (index(), "on"),
    (index(on=False), "starting"),
    # Asked for, or begun, by a run that was killed.
    (index(**{"reboot.metal3.io": ""}), "starting"),
    (index(status="servicing"), "starting"),
    (index(online=False), "off"),
    (index(**HELD), "held"),
    (index(on=False, **HELD), "held"),
    # BMO only starts a host that is to be on.
    (index(online=False, on=False, **HELD), "off"),
    (ObjectIndex({}), ""),
])
def test_the_power_of_hosts(kind, others, power):
    assert FAMILIES[kind].facts(OBJECTS[kind], others)["host_power"] == power


@pytest.mark.parametrize("kind", sorted(OBJECTS))
@pytest.mark.parametrize("others, next_step", [
    (index(), "reboot the host"),
    (index(on=False), "look at the log of BMO"),
    (index(online=False, on=False), "power the host on"),
])
def test_what_brings_a_change_on(kind, others, next_step):
    verdict = FAMILIES[kind].verdict(OBJECTS[kind], others, "applied", None)
    assert (verdict.outcome, verdict.next_step) == (WAITING, next_step)
