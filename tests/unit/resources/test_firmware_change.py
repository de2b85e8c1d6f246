# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a host in use is on, and what has to happen to it before its firmware changes."""
from __future__ import annotations

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._common.waiting.wait_report import (
    FAILED,
    REACHED,
    WAITING,
)
from ansible_collections.metal3.baremetal.plugins.module_utils._resources.base import ObjectIndex
from ansible_collections.metal3.baremetal.plugins.module_utils._resources.registry import FAMILIES

META = {"name": "h1", "namespace": "metal3", "generation": 1}
CONDITIONS = [{"type": kind, "status": "True", "observedGeneration": 1} for kind in ("Valid", "ChangeDetected")]
HELD = {"reboot.metal3.io/somebody": ""}
OBJECTS = {"HostFirmwareSettings": {"metadata": META, "spec": {"settings": {"A": "1"}},
                                    "status": {"settings": {"A": "0"}, "conditions": CONDITIONS}},
           "HostFirmwareComponents": {"metadata": META, "spec": {"updates": [{"component": "bios", "url": "u"}]},
                                      "status": {"conditions": CONDITIONS}}}


def index(online=True, on=True, status="OK", policy="onReboot", state="provisioned", **annotations):
    policies = [{"metadata": META, "spec": {"firmwareSettings": policy, "firmwareUpdates": policy}}]
    return ObjectIndex({"HostUpdatePolicy": policies, "BareMetalHost": [{
        "metadata": dict(META, annotations=annotations), "spec": {"online": online},
        "status": {"provisioning": {"state": state}, "operationalStatus": status, "poweredOn": on,
                   "errorType": "servicing error" if status == "error" else ""}}]})


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


@pytest.mark.parametrize("kind", sorted(OBJECTS))
@pytest.mark.parametrize("others, outcome, cause", [
    (index(), REACHED, ""),
    # BMO may switch the server on without having read the change.
    (index(on=False), WAITING, "waits for the operator to switch it on"),
    (index(**{"reboot.metal3.io": ""}), WAITING,
     "waits for the reboot that its annotation reboot.metal3.io asks for"),
    (index(status="servicing"), WAITING, "waits for the end of its service by Ironic"),
    (index(online=False, on=False), REACHED, ""),
    (index(on=False, **HELD), REACHED, ""),
    # It is for the goal applied to say what has failed, and what to do.
    (index(on=False, status="error"), REACHED, ""),
    (index(on=False, **{"baremetalhost.metal3.io/paused": ""}), REACHED, ""),
    (ObjectIndex({}), FAILED, "there is no BareMetalHost of this name"),
    # No start changes anything.
    (index(on=False, policy="onPreparing"), REACHED, ""),
    (index(on=False, state="available"), REACHED, ""),
])
def test_a_start_in_progress_ends_before_a_host_is_rebooted(kind, others, outcome, cause):
    verdict = FAMILIES[kind].verdict(OBJECTS[kind], others, "rebootable", None)
    assert (verdict.outcome, verdict.cause) == (outcome, cause)


@pytest.mark.parametrize("kind", sorted(OBJECTS))
def test_a_start_is_not_waited_for_when_nothing_is_pending(kind):
    done = {"status": {"settings": {"A": "1"}, "updates": [{"component": "bios", "url": "u"}],
                       "conditions": CONDITIONS}}
    assert FAMILIES[kind].verdict(dict(OBJECTS[kind], **done), index(on=False), "rebootable", None).outcome == REACHED
