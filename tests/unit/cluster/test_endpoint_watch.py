# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A cluster whose endpoint nobody holds: the wait names the endpoint, while it goes on and when it ends."""
from __future__ import annotations

import calendar

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.waiting import service as cluster_wait
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.waiting.endpoint_watch import (
    REPORT_AFTER_SECONDS,
    EndpointWatch,
)
from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.waiting.service import (
    ClusterWait,
    WaitFailedError,
)
from ansible_collections.metal3.baremetal.plugins.module_utils._common.texts.formats import duration
from ansible_collections.metal3.baremetal.plugins.module_utils._common.waiting.wait_loop import Step

# 130 seconds after the machine was created.
WALL_SECONDS = calendar.timegm((2026, 1, 1, 12, 9, 10))
LABEL = "cluster.x-k8s.io/cluster-name"
SILENT = ("nobody answers on endpoint 192.0.2.100:6443, asked from here for %s, although machine cp-0 (host h1) is "
          "deployed")


def objects(initialized=False, state="provisioned"):
    """Return the listed objects of a cluster whose first machine is deployed and no Node yet."""
    def obj(kind, name, spec=None, status=None, **metadata):
        return {"kind": kind, "metadata": dict({"name": name, "creationTimestamp": "2026-01-01T12:07:00Z", "labels": {
            LABEL: "c1"}}, **metadata), "spec": spec or {}, "status": status or {}}

    owner = [{"kind": "Cluster", "name": "c1"}]
    return {
        "Cluster": [obj("Cluster", "c1", {"infrastructureRef": {"name": "c1"}, "controlPlaneRef": {"name": "cp"}}, {
            "initialization": {"infrastructureProvisioned": True}})],
        "Metal3Cluster": [obj("Metal3Cluster", "c1", {"controlPlaneEndpoint": {"host": "192.0.2.100", "port": 6443}}, {
            "initialization": {"provisioned": True}}, ownerReferences=owner)],
        "KubeadmControlPlane": [obj("KubeadmControlPlane", "cp", {"replicas": 1}, {"conditions": [
            {"type": "Initialized", "status": "True"}] if initialized else []}, ownerReferences=owner)],
        "Machine": [obj("Machine", "cp-0", {
            "bootstrap": {"dataSecretName": "s", "configRef": {"name": "cp-0"}},
            "infrastructureRef": {"name": "cp-0"}}, labels={LABEL: "c1", "cluster.x-k8s.io/control-plane": ""})],
        "KubeadmConfig": [obj("KubeadmConfig", "cp-0")],
        "Metal3Machine": [obj("Metal3Machine", "cp-0", annotations={"metal3.io/BareMetalHost": "metal3/h1"})],
        "BareMetalHost": [obj("BareMetalHost", "h1", {"consumerRef": {"kind": "Metal3Machine", "name": "cp-0"},
                                                      "image": {"url": "a"}}, {
            "provisioning": {"state": state}, "operationHistory": {"provision": {
                "start": "2026-01-01T11:20:00Z", "end": "2026-01-01T11:25:00Z"}}})]}


class Progress:
    def __init__(self):
        self.events, self.states = [], []

    def event(self, text):
        self.events.append(text)

    def status(self, state, detail=""):
        self.states.append(f"{state}; {detail}")


class Client:
    server = "https://198.18.0.1:6443"


@pytest.fixture
def wait(monkeypatch):
    """Return a callable that waits through looks, each (seconds, objects), and returns the error and the progress."""
    now, progress, asked = [0], Progress(), []

    def answers(host, port):
        asked.append((host, port))
        return bool(run.answers)

    def run(*looks):
        watch = EndpointWatch(lambda: now[0], answers)

        def steps(*dummy, **dummy2):
            for now[0], listed in looks:
                yield Step(dict((kind, dict((item["metadata"]["name"], item) for item in items))
                                for kind, items in listed.items()), set(), None, None, True)
                if watch._question is not None:
                    watch._question.join()

        monkeypatch.setattr(cluster_wait, "follow_kinds", steps)
        with pytest.raises(WaitFailedError) as failed:
            ClusterWait(Client(), "metal3", "c1", 1000, progress, clock=lambda: now[0], wall_clock=lambda: WALL_SECONDS,
                        endpoint_watch=watch).until("available", 900)
        return str(failed.value), progress, asked

    run.answers = False
    return run


def test_an_endpoint_that_nobody_holds_is_named_while_the_wait_goes_on_and_when_it_ends(wait):
    failed, progress, asked = wait(*((seconds, objects()) for seconds in range(0, 131, 5)))
    reported = [line for line in progress.events if "nobody answers" in line]
    assert [str(line).partition(", although")[0].rpartition(" for ")[2] for line in reported] == [
        duration(REPORT_AFTER_SECONDS), duration(2 * REPORT_AFTER_SECONDS)]
    assert SILENT % duration(REPORT_AFTER_SECONDS) in str(reported[0]) and "endpoint.holder" in str(reported[0])
    assert SILENT % "2 min 10 s" in failed
    assert set(asked) == {("192.0.2.100", 6443)} and len(asked) > 10


def test_an_endpoint_that_answers_is_not_named(wait):
    wait.answers = True
    failed, progress, asked = wait(*((seconds, objects()) for seconds in range(0, 131, 5)))
    assert asked and "nobody answers" not in failed + repr(progress.events)


@pytest.mark.parametrize("listed", [objects(initialized=True), objects(state="provisioning")])
def test_nobody_is_asked_before_a_machine_is_deployed_and_after_the_control_plane_is_there(wait, listed):
    failed, progress, asked = wait(*((seconds, listed) for seconds in range(0, 131, 5)))
    assert asked == [] and "nobody answers" not in failed + repr(progress.events)


def test_nothing_has_lasted_longer_than_its_machine(wait):
    """What the host's history says is of an earlier deployment."""
    failed, progress, dummy = wait((0, objects()))
    assert "longest: cp-0, for 2 min 10 s, waits for" in progress.states[0]
    assert ("\n- cp-0: step 13 of 15, the machine boots and joins, and CAPM3 finds its Node, for 2 min 10 s; "
            "waits for ") in failed
