# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The number of pods of a plane's Deployment: fewer only with a confirmation."""
from __future__ import annotations

import pytest
from fakes.plane_server import Server

from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.errors import (
    RefusedError,
    ReportedError,
)
from ansible_collections.metal3.baremetal.plugins.module_utils._common.waiting.progress import Progress
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.responses.errors import KubeError
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.cluster import scale_service


class Plane(Server):
    """Has pods as soon as a Deployment asks for them; or ``pods``, which do not become ready."""

    pods = ()

    def patch(self, resource, namespace, name, body):
        self.writes.append(body)
        found = self.objects[resource.kind, namespace, name]
        count = found["spec"]["replicas"] = body["spec"]["replicas"]
        found["status"] = dict.fromkeys(("updatedReplicas", "replicas", "availableReplicas"),
                                        count) if not self.pods else {"updatedReplicas": count, "replicas": count}
        found["metadata"].setdefault("annotations", {}).update(body["metadata"].get("annotations") or {})
        return found

    def list(self, resource, namespace=None, label_selector=None, field_selector=None):
        return super().list(resource, namespace) if resource.kind == "Deployment" else (list(self.pods), "1")


def run(plane, replicas, confirm=None, check_mode=False, started_for=None, checked=None, clock=lambda: 0.0):
    return scale_service.run(plane, {"namespace": "n", "name": "ironic", "replicas": replicas, "confirm": confirm,
                                     "started_for": started_for, "checked": checked, "wait_timeout_seconds": 300},
                             check_mode,
                             Progress(None), clock, lambda seconds: None)


@pytest.fixture
def plane():
    found = Plane()
    found.store("Deployment", "n", {"kind": "Deployment", "metadata": {"name": "ironic", "namespace": "n"}, "spec": {
        "replicas": 2, "selector": {"matchLabels": {"name": "ironic"}}}})
    return found


@pytest.mark.parametrize("confirm", [None, "", "2", "other"])
def test_pods_are_taken_away_only_with_a_confirmation(plane, confirm):
    with pytest.raises(ReportedError, match=r"This takes 2 of 2 pods away from 1 Deployment \(ironic\), .*=1"):
        run(plane, 0, confirm)
    assert plane.writes == []
    found = run(plane, 0, confirm, check_mode=True)
    assert found["changed"] and "takes 2 of 2 pods away" in found["warnings"][0] and plane.writes == []


@pytest.mark.parametrize("confirm", ["1", "ironic"])
def test_with_one_they_go_and_come_back_without(plane, confirm):
    assert run(plane, 1, confirm)["changed"] and run(plane, 0, confirm)["replicas"] == 1
    assert run(plane, 2)["changed"] and not run(plane, 2)["changed"] and len(plane.writes) == 3


@pytest.mark.parametrize("error", [
    KubeError("a balancer's page", reason="InvalidAnswer"), KubeError("unauthorized", 401), KubeError("gone", 410)])
def test_a_wait_for_pods_to_go_outlasts_what_any_wait_outlasts(plane, monkeypatch, error):
    errors, listed = [error], plane.list

    def once(*arguments, **options):
        if errors:
            raise errors.pop()
        return listed(*arguments, **options)

    monkeypatch.setattr(plane, "list", once)
    assert run(plane, 0, "ironic")["changed"] and errors == []


def test_an_image_that_does_not_come_ends_the_wait_and_is_named(plane):
    run(plane, 0, "ironic")
    plane.pods = [{"metadata": {"name": "ironic-1", "namespace": "n", "labels": {"name": "ironic"}}, "status": {
        "containerStatuses": [{"name": "ironic", "ready": False, "state": {"waiting": {
            "reason": "ImagePullBackOff", "message": "not found"}}}]}}]
    now = iter(range(0, 1000, 5))
    with pytest.raises(ReportedError, match=r"can't be rolled out:\n- Deployment n/ironic: 0 of 1 pods available; "
                                            "pod ironic-1: ImagePullBackOff: container ironic: not found"):
        run(plane, 1, clock=lambda: float(next(now)))
    assert next(now) < 300


@pytest.mark.parametrize("check_mode", [False, True])
@pytest.mark.parametrize(("checked", "text"), [
    ({"uid": "u-another", "generation": 4}, "metadata.uid: found u-ironic, expected u-another, as it was checked"),
    ({"uid": "u-ironic", "generation": 3}, "metadata.generation: found 4, expected 3, as it was checked")])
def test_another_deployment_than_the_one_that_was_checked_is_left_as_it_is(plane, checked, text, check_mode):
    plane.objects["Deployment", "n", "ironic"]["metadata"]["generation"] = 4
    with pytest.raises(RefusedError, match=f"Deployment n/ironic: {text}; somebody has replaced or changed it since"):
        run(plane, 0, "ironic", check_mode, checked=checked)
    assert plane.writes == []


def test_the_deployment_that_was_checked_is_stopped_whatever_its_pods_have_done_since(plane):
    metadata = plane.objects["Deployment", "n", "ironic"]["metadata"]
    metadata.update(generation=4, resourceVersion="77")
    assert run(plane, 0, "ironic", checked={"uid": "u-ironic", "generation": 4})["changed"]
    assert plane.writes[0]["metadata"] == {"uid": "u-ironic", "resourceVersion": "77"}
    del plane.objects["Deployment", "n", "ironic"]
    assert not run(plane, 0, checked={"uid": "u-ironic", "generation": 4})["changed"]


def mark_of(plane):
    return plane.objects["Deployment", "n", "ironic"]["metadata"].get("annotations", {}).get(
        "metal3.baremetal/started-by-move")


def test_what_a_move_starts_says_so_until_it_is_stopped(plane):
    run(plane, 1, "ironic", started_for="uid-a")
    assert mark_of(plane) is None, "it ran before"
    run(plane, 1, started_for="uid-a")
    assert mark_of(plane) is None
    run(plane, 0, "ironic")
    run(plane, 1, started_for="uid-a")
    assert mark_of(plane) == "uid-a"
    run(plane, 2)
    assert mark_of(plane) == "uid-a"
    run(plane, 0, "ironic")
    assert mark_of(plane) is None
    run(plane, 1)
    assert mark_of(plane) is None


def test_a_start_by_hand_takes_the_mark_of_a_move_away(plane):
    run(plane, 0, "ironic")
    metadata = plane.objects["Deployment", "n", "ironic"]["metadata"]
    metadata["annotations"] = {"metal3.baremetal/started-by-move": "uid-a"}
    run(plane, 1)
    assert mark_of(plane) is None


def test_where_no_move_has_part_nothing_is_noted(plane):
    run(plane, 0, "ironic")
    run(plane, 1)
    assert [sorted(body["metadata"]) for body in plane.writes] == [["resourceVersion", "uid"]] * 2
