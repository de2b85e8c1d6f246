# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A machine that goes: what of its drain is left, and where its host is, as events and in the line of progress."""
from __future__ import annotations

import pytest
from fakes.clusters import Plane, run

from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.workflow import goals
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.workflow.departure import waits_for
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.workflow.snapshot import Snapshot
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.workflow.steps import machine_steps
from ansible_collections.metal3.baremetal.plugins.module_utils._common.texts.formats import moment

BEGAN = "2026-01-01T00:00:00Z"
# As Cluster API 1.13.5 writes it.
HEAD = f"Drain not completed yet (started at {BEGAN}):"
BUDGET = ("cannot evict pod as it would violate the pod's disruption budget. The disruption budget echo needs 2 "
          "healthy pods and has 2 currently")


def machine(reason, message):
    return {"metadata": {"name": "m", "deletionTimestamp": BEGAN}, "status": {"conditions": [
        {"type": "Deleting", "status": "True", "reason": reason, "message": message}]}}


def host(state, error=None, **spec):
    status = {"provisioning": {"state": state}}
    if error:
        status.update(operationalStatus="error", errorMessage=error, errorType="x")
    return {"kind": "BareMetalHost", "metadata": {"name": "h1"}, "spec": spec, "status": status}


@pytest.mark.parametrize("lines, text", [
    ([], "the drain of its node"),
    (["* Pod default/echo-1: " + BUDGET],
     f"the drain of its node: 1 pod left (default/echo-1); default/echo-1: {BUDGET}"),
    (["* Pods a/1, a/2, a/3, ... (4 more): deletionTimestamp set, but still not removed from the Node"],
     "the drain of its node: 7 pods left (a/1, a/2, a/3, and 4 more)"),
    (["* Pod a/1: deletionTimestamp set, but still not removed from the Node",
      "* Pods b/1, b/2: failed to evict Pod, no", "* 3 Pods with other issues",
      "After above Pods have been removed from the Node, the following Pods will be evicted: c/1",
      "After above Pods have been removed from the Node, waiting for the following Pods to complete without eviction: "
      "d/1"],
     "the drain of its node: 8 pods left (a/1, b/1, b/2, and 5 more); b/1: failed to evict Pod, no"),
    (["* Pods a/1, a/2, a/3: waiting for completion"],
     "the drain of its node: 3 pods left (a/1, a/2, a/3); a/1: waiting for completion"),
    # Whoever may write the condition.
    (["* Pods a/1, ... (999999 more): deletionTimestamp set"] * 1000 + ["* 999999 Pods with other issues"],
     "the drain of its node: 1000999999 pods left (a/1, a/1, a/1, and 1000999996 more)"),
    (["* Pods a/1, ... (" + "9" * 5000 + " more): deletionTimestamp set",
      "* " + "9" * 5000 + " Pods with other issues"],
     "the drain of its node: 2 pods left (a/1, ... (9999")])
def test_what_is_left_of_a_drain(lines, text):
    found = waits_for(machine("DrainingNode", "\n".join([HEAD, *lines])), host("provisioned"))
    assert found.startswith(text[:150]) and (found == text or found.endswith("...") or "9999" in found), found


@pytest.mark.parametrize("found, text", [
    (host("provisioned"), "host h1 to be deprovisioned, in state provisioned"),
    (host("deprovisioning"), "host h1, in state deprovisioning: Ironic removes the image and cleans the disks"),
    (host("deprovisioning", automatedCleaningMode="disabled"), "host h1, in state deprovisioning without cleaning"),
    (host("deprovisioning", "no\nBMC"),
     "host h1, in state deprovisioning: Ironic removes the image and cleans the disks: no BMC"),
    (host("available"), "CAPM3 to give host h1 back, in state available"),
    (None, "Waiting for Metal3Machine to be deleted")])
def test_what_becomes_of_the_host(found, text):
    assert waits_for(machine("WaitingForInfrastructureDeletion", "Waiting for Metal3Machine to be deleted"),
                     found) == text


def test_what_is_neither_is_said_as_cluster_api_says_it():
    assert waits_for(machine("WaitingForPreDrainHook", "Waiting for hooks"), host("provisioned")) == "Waiting for hooks"
    assert waits_for({"metadata": {}}, None) == "the machine to be deleted"


@pytest.fixture
def plane():
    """A cluster with a worker that is being deleted."""
    found = Plane()
    run(found)
    found.add_members("c1-one", 1)
    found.make_ready("c1-one-0")
    found.objects["Machine", "c1-one-0"]["metadata"]["deletionTimestamp"] = BEGAN
    return found


def test_each_change_is_an_event_and_the_line_has_what_is_waited_for(plane):
    steps, lines, states = None, [], []

    def look(reason, message, state="provisioned"):
        nonlocal steps
        plane.objects["Machine", "c1-one-0"]["status"]["conditions"] = machine(reason, message)["status"]["conditions"]
        plane.objects["BareMetalHost", "host-of-c1-one-0"]["status"] = {"provisioning": {"state": state}}
        objects = {}
        for (kind, _name), item in plane.objects.items():
            objects.setdefault(kind, []).append(item)
        snapshot = Snapshot(objects, "c1")
        after = machine_steps(snapshot)
        lines.extend(goals.changes(steps, after))
        states.append(goals.progress(snapshot, moment(BEGAN) + 60, lambda bmh, seconds: f"{seconds} s of cleaning"))
        steps = after

    gone = "Waiting for Metal3Machine to be deleted"
    for pods in ("a/1, a/2", "a/1, a/2", "a/2"):
        look("DrainingNode", f"{HEAD}\n* Pods {pods}: deletionTimestamp set, but still not removed from the Node")
    look("WaitingForInfrastructureDeletion", gone)
    look("WaitingForInfrastructureDeletion", gone, "deprovisioning")
    of = "c1-one-0 (host host-of-c1-one-0): being deleted; waits for "
    assert [line for line in lines if line.startswith("c1-one-0")] == [
        f"{of}the drain of its node: 2 pods left (a/1, a/2)", f"{of}the drain of its node: 1 pod left (a/2)",
        f"{of}host host-of-c1-one-0 to be deprovisioned, in state provisioned",
        f"{of}host host-of-c1-one-0, in state deprovisioning: Ironic removes the image and cleans the disks"]
    assert "1 being deleted (c1-one-0 waits for the drain of its node: 2 pods left (a/1, a/2))" in states[0][0]
    assert states[0][1] == "longest: c1-one-0, for 1 min, being deleted"
    assert states[-1][1] == "longest: c1-one-0, for 1 min, being deleted (60 s of cleaning)"


@pytest.mark.parametrize(("annotations", "operational", "text"), [
    ({"baremetalhost.metal3.io/paused": "x"}, "OK", "; it is paused, so that BMO does nothing with it"),
    ({"baremetalhost.metal3.io/detached": ""}, "detached", "; it is detached, so that BMO does nothing with it"),
    ({}, "OK", "")])
def test_a_host_that_bmo_leaves_alone_is_named(annotations, operational, text):
    found = host("provisioned")
    found["metadata"]["annotations"] = annotations
    found["status"]["operationalStatus"] = operational
    assert waits_for(machine("WaitingForInfrastructureDeletion", ""), found) == (
        "host h1 to be deprovisioned, in state provisioned" + text)
