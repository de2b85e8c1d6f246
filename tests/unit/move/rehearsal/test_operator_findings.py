# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the operator does with copies of hosts, decided by the writes of a host as its watch shows them.

With the real operator: ``tests/lab/test_rehearsal.py``.
"""
from __future__ import annotations

import copy
import json

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._host.description import annotations as host_annotations
from ansible_collections.metal3.baremetal.plugins.module_utils._move.rehearsal.operator_findings import (
    CODE,
    Copy,
    last_error,
)

CONDITIONS = [{"type": "Ready", "status": "True"}]
HARDWARE = {"hostname": "rack1-01", "ramMebibytes": 65536}


def host(state="provisioned", version="1", annotations=(), spec=(), provisioning=(), **status):
    """Return a host as the operator has written it; without ``lastUpdated`` as it arrives."""
    return {"metadata": {"name": "rack1-01", "resourceVersion": version, "annotations": dict(annotations)},
            "spec": dict({"online": True, "image": {"url": "http://192.0.2.1/a"}, "consumerRef": {"name": "m"}}, **dict(
                spec)),
            "status": dict({"lastUpdated": "2026-11-26T00:00:00Z", "operationalStatus": "OK", "poweredOn": True,
                            "hardware": HARDWARE, "conditions": CONDITIONS, "provisioning": dict(
                                {"state": state, "ID": "node", "image": {"url": "http://192.0.2.1/a"}},
                                **dict(provisioning))}, **status)}


class Watch:
    """The writes of a copy, given to it as whoever waits does."""

    def __init__(self, before):
        self.copy = Copy(before)
        self.questions = 0

    def write(self, *hosts):
        for item in hosts:
            if self.copy.take(item):
                self.questions += 1
                self.stored = copy.deepcopy(item)
                del self.stored["status"]["conditions"]
                self.stored["metadata"]["resourceVersion"] += "-asked"
                self.copy.asked(copy.deepcopy(self.stored))
        return self

    def question_arrives(self):
        return self.write(self.stored)

    @property
    def problem(self):
        assert self.copy.is_decided
        return self.copy.problem


def settled(before, after):
    """Return the watch of a copy that the operator leaves like this."""
    watch = Watch(before).write(after).question_arrives()
    again = copy.deepcopy(after)
    again["metadata"]["resourceVersion"] = "99"
    return watch.write(again)


def test_a_host_counts_as_left_alone_only_after_a_round_that_has_changed_nothing_but_its_conditions():
    watch = Watch(host())
    held = {host_annotations.PAUSED: "metal3.baremetal/move", host_annotations.STATUS: "{}"}
    arrived = host(annotations=held)
    del arrived["status"]
    # As clusterctl has created it, released, its status taken over, its registration begun.
    watch.write(arrived, host(annotations={host_annotations.STATUS: "{}"}, lastUpdated=None),
                host(annotations={host_annotations.STATUS: "{}"}), host(conditions=[]))
    assert (watch.questions, watch.copy.is_decided) == (0, False)
    watch.write(host(version="5"))
    assert watch.questions == 1
    # Written before the question, and read after it.
    watch.write(host(version="6"))
    assert (watch.questions, watch.copy.is_decided) == (1, False)
    # The registration has ended: the state's handler may not have been asked yet.
    watch.question_arrives().write(host(version="7", goodCredentials={"credentialsVersion": "8"}))
    assert (watch.questions, watch.copy.is_decided) == (2, False)
    watch.question_arrives()
    assert not watch.copy.is_decided
    watch.write(host(version="9", goodCredentials={"credentialsVersion": "8"}))
    assert watch.problem is None and watch.copy.warnings == []
    # Whatever comes then.
    assert watch.write(host("deprovisioning")).problem is None


def test_what_the_provisioner_in_ironics_place_answers_otherwise_than_a_server_is_no_finding():
    before = host(provisioning={"ID": "00000000-0000"})
    watch = Watch(before).write(host(provisioning={"ID": "temporary-fake-id"}, poweredOn=False))
    watch.question_arrives().write(host(provisioning={"ID": "temporary-fake-id"}, poweredOn=True, version="9"))
    assert watch.problem is None and watch.questions == 1


@pytest.mark.parametrize("before, now, text", [
    (host(), host("deprovisioning"),
     "BareMetalHost rack1-01: status.provisioning.state: found provisioned → deprovisioning over there: another image "
     "is wanted than is deployed, or none, expected provisioned, and the same over there; set spec.image"),
    (host("available"), host("preparing"), "found available → preparing over there: RAID, firmware or the root device"),
    (host("available"), host("inspecting"), "found available → inspecting over there: an inspection of it is due"),
    (host("available"), host("provisioning"), "found available → provisioning over there: an image is wanted"),
    (host("externally provisioned", spec={"externallyProvisioned": True}), host(
        "externally provisioned", spec={"externallyProvisioned": True}, provisioning={"state": "registering"}),
     "found externally provisioned → registering over there: the operator finds no status"),
    (host("externally provisioned"), host("preparing"),
     "found externally provisioned → preparing over there: spec.externallyProvisioned is not set any more"),
    ({"metadata": {"name": "rack1-01"}, "spec": {}}, host("registering"),
     "found none → registering over there: the operator finds no status of it and begins from the start"),
    (host(), host("deleting"), "found provisioned → deleting over there: the operator decides so"),
])
def test_a_host_that_the_operator_would_do_something_to_is_named_with_the_step_and_what_to_do(before, now, text):
    problem = Watch(before).write(now).problem
    assert (problem.code, problem.field) == (CODE, "status.provisioning.state")
    assert text in str(problem) and problem.hint


def test_a_state_that_a_host_has_for_a_moment_counts():
    watch = Watch(host("available")).write(host("available"))
    watch.write(host("preparing", version="3")).question_arrives().write(host("available", version="4"))
    assert "available → preparing" in str(watch.problem)


def test_a_status_that_has_details_of_the_hardware_only_says_nothing_yet():
    watch = Watch(host()).write(host("", conditions=None))
    assert not watch.copy.is_decided
    assert "provisioned → registering over there" in str(watch.write(host("registering")).problem)


def test_a_host_that_is_put_into_error_is_named_with_its_cause():
    failed = host(operationalStatus="error", errorType="registration error", errorMessage="The BMC secret is missing")
    assert "status.errorMessage: found registration error over there: The BMC secret is missing, expected no error" \
        in str(Watch(host()).write(failed).problem)
    # It is none of the operator's over there.
    assert not Watch(failed).write(failed).copy.is_decided


def test_a_host_that_is_gone_is_named():
    assert "a host that is deleted over there" in str(Watch(host()).write(None).problem)


@pytest.mark.parametrize("after, field", [
    (host(provisioning={"image": {"url": "http://192.0.2.1/b"}}), "status.provisioning.image"),
    (host(provisioning={"image": {"url": ""}}), "status.provisioning.image"),
    (host(provisioning={"customDeploy": {"method": "x"}}), "status.provisioning.customDeploy"),
    (host(spec={"consumerRef": None}), "spec.consumerRef"),
    (host(hardware=None), "status.hardware")])
def test_what_is_other_than_here_although_the_operator_leaves_the_host_alone_is_named(after, field):
    problem = settled(host(), after).problem
    assert (problem.code, problem.field) == (CODE, field) and problem.hint


def test_what_is_empty_is_what_is_not_there():
    before = host(provisioning={"image": {"url": ""}, "customDeploy": {"method": ""}}, hardware={"nics": None})
    after = host(provisioning={"image": {}, "customDeploy": None}, hardware=None)
    assert settled(before, after).problem is None


def test_other_details_of_the_hardware_are_a_warning_and_new_ones_nothing():
    watch = settled(host(), host(hardware=dict(HARDWARE, hostname="other")))
    assert watch.problem is None
    assert watch.copy.warnings == ["BareMetalHost rack1-01: status.hardware would be what its HardwareData has, which "
                                   "is other than its status here"]
    watch = settled(host(hardware=None), host())
    assert watch.problem is None and watch.copy.warnings == []


def test_a_host_with_which_the_operator_does_not_come_to_an_end_is_named_with_its_last_error():
    log = "\n".join([
        "not JSON", "[1]",
        json.dumps({"level": "error", "msg": "Reconciler error", "baremetalhost": {"name": "rack1-01"}, "error": "a"}),
        json.dumps({"level": "error", "msg": "Reconciler error", "baremetalhost": {"name": "rack1-01"},
                    "error": "action \"available\"\nfailed"}),
        json.dumps({"level": "error", "msg": "Reconciler error", "baremetalhost": {"name": "rack1-02"}, "error": "o"}),
        json.dumps({"level": "info", "msg": "done", "baremetalhost": {"name": "rack1-01"}})])
    words = last_error(log, "rack1-01")
    assert words == 'action "available" failed' and last_error(log, "rack1-03") == ""
    problem = Copy(host()).late("2 min 3 s", words)
    assert str(problem).startswith("BareMetalHost rack1-01: found no end of the operator's work on it after 2 min 3 s; "
                                   "its last error: action \"available\" failed, expected a host that it leaves")
    assert "last error" not in str(Copy(host()).late("2 min 3 s", ""))
