# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""When a host is detached for a change of its BMC, and when the change is refused."""
from __future__ import annotations

import json

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._host.enrolment import bmc_change as host_bmc_change

OLD, NEW = "redfish://192.0.2.1/redfish/v1/Systems/1", "redfish://192.0.2.1/redfish/v1/Systems/2"
THEIRS = {"baremetalhost.metal3.io/detached": "by hand"}
OURS = {"baremetalhost.metal3.io/detached": '{"metal3.baremetal/bmc-change":true}'}


def entry(address=NEW, **bmc):
    return {"name": "h1", "bmc": dict({"address": address}, **bmc)}


def stored(state="registering", annotations=None, status="OK", **bmc):
    return {"metadata": {"name": "h1", "annotations": annotations or {}},
            "spec": {"bmc": dict({"address": OLD, "credentialsName": "c"}, **bmc)},
            "status": {"operationalStatus": status, "provisioning": {"state": state}}}


@pytest.mark.parametrize("host, bmh, options", [
    (entry(), stored(), ["bmc.address"]),
    (entry(OLD), stored(), []),
    (entry(OLD, disable_certificate_verification=True), stored(), ["bmc.disable_certificate_verification"]),
    (entry(OLD, disable_certificate_verification=False), stored(), []),
    (entry(OLD), stored(disableCertificateVerification=True), ["bmc.disable_certificate_verification"]),
    ({"name": "h1", "bmc": None}, stored(), []),
    (entry(), stored(address=""), []),
    (entry(), None, []),
])
def test_what_changes(host, bmh, options):
    assert host_bmc_change.changes(host, bmh) == options


@pytest.mark.parametrize("bmh, arguments", [
    (stored(), {"force": True}),
    (stored("available"), {}),
    (stored("provisioned"), {}),
    (stored(""), None),
    (stored("unmanaged"), None),
    (stored("available", annotations=THEIRS, status="detached"), None),
])
def test_when_a_host_is_detached(bmh, arguments):
    value = host_bmc_change.detaching(entry(), bmh)
    if arguments is None:
        assert value is None
    else:
        assert json.loads(value) == dict(arguments, **{"deleteAction": "delay", "metal3.baremetal/bmc-change": True})
    assert host_bmc_change.detaching(entry(OLD), bmh) is None


def test_who_detached_a_host_is_distinguished():
    left = stored("available", annotations=OURS, status="detached")
    assert host_bmc_change.is_left_detached(left)
    assert host_bmc_change.detaching(entry(OLD), left) == OURS["baremetalhost.metal3.io/detached"]
    assert not host_bmc_change.is_left_detached(stored(annotations=THEIRS))
    assert not host_bmc_change.is_left_detached(None)


@pytest.mark.parametrize("bmh, allow_detach, hint", [
    (stored(), False, None),
    (stored("available"), True, None),
    (stored("available"), False, "set allow_detach"),
    (stored("provisioned"), False, "what runs on it goes on"),
    (stored("inspecting"), True, "wait until the host is available"),
    (stored("available", annotations=THEIRS), True, "wait until it is, then run again"),
    (stored("available", annotations=THEIRS, status="detached"), False, None),
    (stored("available", annotations={"baremetalhost.metal3.io/paused": ""}), True, "resume the host first"),
    (stored(annotations={"baremetalhost.metal3.io/paused": ""}), True, "resume the host first"),
    (stored("available", annotations=OURS), True, None),
    # The webhook has only registering and detached; before a state, and before BMO takes the address up, neither is so.
    (stored(""), True, "until BMO registers the host"),
    (stored("unmanaged"), True, "until BMO registers the host"),
    (stored("unmanaged", annotations={"baremetalhost.metal3.io/paused": ""}), True, "resume the host first"),
    (stored("unmanaged", status="detached"), False, None),
])
def test_when_a_change_is_refused(bmh, allow_detach, hint):
    problems = host_bmc_change.check(entry(), bmh, allow_detach)
    assert [problem.field for problem in problems] == (["bmc.address"] if hint else [])
    assert hint is None or hint in problems[0].hint


def used(bmh):
    bmh["spec"]["consumerRef"] = {"kind": "Metal3Machine", "namespace": "metal3", "name": "m"}
    return bmh


@pytest.mark.parametrize("bmh, forced, guarded", [
    (used(stored("provisioned")), (), True),
    (used(stored("registering")), ("h2",), True),
    (used(stored("provisioned")), ("h1",), False),
    (stored("provisioned"), (), False),
    # Nothing is detached: somebody did it already, or an earlier run, which this one is to finish; or there is no node.
    (used(stored("provisioned", annotations=THEIRS, status="detached")), (), False),
    (used(stored("provisioned", annotations=OURS, status="detached")), (), False),
    (used(stored("unmanaged")), (), False),
])
def test_a_host_in_use_is_detached_by_force_only(bmh, forced, guarded):
    problems = host_bmc_change.check_consumer(entry(), bmh, forced)
    assert [problem.field for problem in problems] == (["bmc.address"] if guarded else [])
    assert all("in use by Metal3Machine metal3/m" in problem.actual and "force_hosts" in problem.hint
               for problem in problems)
    assert host_bmc_change.check_consumer(entry(OLD), bmh, forced) == []


@pytest.mark.parametrize("state", ["", "unmanaged"])
def test_verification_may_change_before_the_host_is_registered(state):
    assert host_bmc_change.check(entry(OLD, disable_certificate_verification=True), stored(state), False) == []
