# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What somebody else does with either plane while a move is on its way, and after it: no server gets two Ironics."""
from __future__ import annotations

import copy

import pytest
from fakes.clusterctl import Clusterctl, Killed
from fakes.moves import move_params
from fakes.planes import NAMESPACE, STAY, at_once, host, managed
from fakes.refused_moves import ironic

from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.errors import (
    RefusedError,
    ReportedError,
)
from ansible_collections.metal3.baremetal.plugins.module_utils._common.waiting.progress import Progress
from ansible_collections.metal3.baremetal.plugins.module_utils._host.rotation import claim
from ansible_collections.metal3.baremetal.plugins.module_utils._host.state import handed_over
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.responses.errors import KubeError
from ansible_collections.metal3.baremetal.plugins.module_utils._move.objects import record
from ansible_collections.metal3.baremetal.plugins.module_utils._move.whole_plane import service
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.cluster.objects import STARTED_BY_MOVE

pytestmark = pytest.mark.usefixtures("complete_plane")

NOTES = "ConfigMap", handed_over.NAME


def move(here, there, run=None, check_mode=False, confirm="2", **options):
    return service.Move(here, there, move_params(confirm=confirm, **options), check_mode, Progress(None),
                        run or Clusterctl(here, there), sleep=lambda _seconds: None, alone=at_once, now=lambda: 0.0)


def interrupted(here, there, steps):
    with pytest.raises(Killed):
        move(here, there, Clusterctl(here, there, steps)).moved()


# Which cluster it is

def test_the_result_says_which_planes_were_checked(here, there):
    result = move(here, there, check_mode=True).moved()
    assert (result["from_uid"], result["to_uid"]) == ("a-kube-system", "b-kube-system")


@pytest.mark.parametrize("replaced", ["here", "there"])
def test_clusterctl_is_not_started_for_a_cluster_that_answers_in_the_place_of_the_one_that_was_checked(
        here, there, replaced):
    """The file is the same, and so is the address."""
    side, clusterctl = {"here": here, "there": there}[replaced], Clusterctl(here, there)
    run = move(here, there, clusterctl)
    side.objects["Namespace", "kube-system"]["metadata"]["uid"] = "another"
    with pytest.raises(ReportedError, match=r"clusterctl was not started: .*cluster_uid: found another, expected "):
        run.moved()
    assert clusterctl.runs == 0 and managed(there) == set()


# A BMC whose password is being replaced

@pytest.mark.parametrize("when", ["before", "meanwhile", "killed"])
def test_clusterctl_does_not_take_hosts_whose_passwords_are_being_replaced(here, there, monkeypatch, when):
    """The Secret over there would have the password of before; a rotation begins none that is held."""
    found = claim.claim("free-bmc", NAMESPACE, "new-password", "node:/locks")
    found["metadata"].update(uid="claim", resourceVersion="1")

    def begin(*_arguments):
        here.objects["Secret", "free-bmc-rotation"] = found

    clusterctl, resume = Clusterctl(here, there), service.Move._resume_clusters
    if when == "meanwhile":
        monkeypatch.setattr(service.Move, "_resume_clusters", begin)
    else:
        if when == "killed":
            interrupted(here, there, 0)
        begin()
    with pytest.raises(RefusedError if when == "before" else ReportedError, match="free-bmc-rotation: found a rot"):
        move(here, there, clusterctl).moved()
    assert clusterctl.runs == 0 and managed(there) == set()
    monkeypatch.setattr(service.Move, "_resume_clusters", resume)
    del here.objects["Secret", "free-bmc-rotation"]
    assert move(here, there).moved()["changed"]


# A server that has another host by then

def enrolled(there, namespace="rack2", **spec):
    other = host("another", **spec)
    other["metadata"].update(namespace=namespace, annotations={}, uid="uid-another")
    there.objects["BareMetalHost", "another"] = other
    return other


@pytest.mark.parametrize("steps", [0, 5, 13])
@pytest.mark.parametrize("check_mode", [True, False])
def test_a_move_does_not_go_on_when_somebody_has_enrolled_a_server_of_it_over_there(here, there, steps, check_mode):
    interrupted(here, there, steps)
    enrolled(there, bmc={"address": "ipmi://192.0.2.2"})
    before = copy.deepcopy((here.objects, there.objects))
    with pytest.raises(RefusedError, match=r"BareMetalHost free: spec.bmc.address: found ipmi://192.0.2.2, which the "
                                           r"host rack2/another over there has, too"):
        move(here, there, check_mode=check_mode).moved()
    assert (here.objects, there.objects) == before
    enrolled(there, bmc={"address": "ipmi://192.0.2.99"})
    assert move(here, there).moved()["changed"]


# What was taken over there is taken back

def forth_and_killed(here, there):
    """Have a move killed whose Ironic over there was started with the address of the one here."""
    interrupted(here, there, 5)
    for side, replicas in ((here, 0), (there, 1)):
        item = ironic(replicas=replicas, env=[{"name": "PROVISIONING_IP", "value": "192.0.2.20"}])
        item["metadata"]["annotations"] = {STARTED_BY_MOVE: "a-kube-system"} if side is there else {}
        side.objects["Deployment", "ironic"] = item
    return {"former_ironic_deployment": "ironic"}


@pytest.mark.parametrize("namespace, name", [("rack2", "rack2/another"), (NAMESPACE, f"{NAMESPACE}/another")])
def test_an_ironic_over_there_that_has_got_hosts_of_others_is_not_stopped(here, there, namespace, name):
    options = forth_and_killed(here, there)
    assert move(here, there, check_mode=True, **options).undone()["handover"]["address"]
    enrolled(there, namespace, bmc={"address": "ipmi://192.0.2.99"})
    before = copy.deepcopy((here.objects, there.objects))
    for check_mode in (True, False):
        with pytest.raises(RefusedError, match=rf"spec.replicas: found an Ironic with 1 hosts .* \({name}\), expected"):
            move(here, there, check_mode=check_mode, **options).undone()
    assert (here.objects, there.objects) == before


def test_where_nothing_is_stopped_over_there_hosts_of_others_keep_nothing_from_being_taken_back(here, there):
    interrupted(here, there, 5)
    enrolled(there, bmc={"address": "ipmi://192.0.2.99"})
    assert move(here, there).undone()["changed"]


@pytest.mark.parametrize("check_mode", [True, False])
def test_a_move_that_has_ended_is_not_taken_back(here, there, check_mode):
    """Whoever goes by the result would start the former Ironic beside the one over there."""
    move(here, there).moved()
    with pytest.raises(RefusedError, match="found undone, and a move that has ended, expected a move that has not"):
        move(here, there, check_mode=check_mode).undone()
    # Hosts that have come here since may be those of a run that was killed before its record.
    here.objects["BareMetalHost", "new"] = host("new", bmc={"address": "ipmi://192.0.2.3"})
    assert not move(here, there, check_mode=check_mode).undone()["changed"]


# Who manages the hosts by then

def test_a_plane_notes_the_hosts_that_have_left_it(here, there):
    move(here, there).moved()
    known = handed_over.read(here.objects[NOTES])
    assert known == {"free": handed_over.HandedOver("https://198.18.0.2:6443", "1970-01-01T00:00:00Z",
                                                    "ipmi://192.0.2.2"),
                     "used": handed_over.HandedOver("https://198.18.0.2:6443", "1970-01-01T00:00:00Z",
                                                    "ipmi://192.0.2.1")}
    assert NOTES not in there.objects
    (problem,) = handed_over.problems([{"name": "again", "bmc": {"address": "ipmi://192.0.2.2"}}], known, NAMESPACE)
    assert "given to the plane of https://198.18.0.2:6443" in problem.actual


def test_what_comes_back_has_left_no_more(here, there):
    before = copy.deepcopy(dict((key, here.objects[key]) for key in managed(here) - STAY))
    move(here, there).moved()
    # Registered over there, and held for the way back.
    there.objects.update(before)
    assert move(there, here).moved()["changed"] and managed(there) == set()
    assert handed_over.read(here.objects[NOTES]) == {} and set(handed_over.read(there.objects[NOTES])) == {
        "free", "used"}


@pytest.mark.parametrize("steps", [5, 13])
def test_a_run_that_finishes_another_one_notes_them_too(here, there, steps):
    interrupted(here, there, steps)
    assert NOTES not in here.objects
    move(here, there).moved()
    assert set(handed_over.read(here.objects[NOTES])) == {"free", "used"}


@pytest.mark.parametrize("steps", [None, 5, 13])
def test_who_has_left_before_is_not_enrolled_in_the_plane_that_takes_over(here, there, steps):
    here.objects[NOTES] = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {
        "name": handed_over.NAME, "namespace": NAMESPACE, "uid": "u", "resourceVersion": "1"}, "data": {
            "gone": handed_over.note(host("gone"), "https://192.0.2.9:6443", "2026-11-25T00:00:00Z")}}
    if steps:
        interrupted(here, there, steps)
    move(here, there).moved()
    assert handed_over.read(there.objects[NOTES]) == {"gone": handed_over.HandedOver(
        "https://192.0.2.9:6443", "2026-11-25T00:00:00Z", "ipmi://192.0.2.1")}
    assert set(handed_over.read(here.objects[NOTES])) == {"free", "used", "gone"}


def test_a_note_that_cannot_be_written_is_a_warning(here, there):
    def refused(*_arguments, **_options):
        raise KubeError("configmaps is forbidden", 403)

    here.create = refused
    (warning,) = move(here, there).moved()["warnings"]
    assert warning == ("which hosts have left https://198.18.0.1:6443 was not noted, so that enroll does not refuse "
                       "them there: configmaps is forbidden")
    assert record.read(here.objects["ConfigMap", record.NAME]).state == record.MOVED and managed(here) == STAY


def test_notes_that_cannot_be_changed_are_found_before_hosts_are_held(here, there):
    there.objects[NOTES] = {"apiVersion": "v1", "kind": "ConfigMap", "immutable": True, "data": {}, "metadata": {
        "name": handed_over.NAME, "namespace": NAMESPACE, "uid": "u"}}
    with pytest.raises(RefusedError, match=rf"ConfigMap {NAMESPACE}/{handed_over.NAME}: to_kubeconfig: found immut"):
        move(here, there, check_mode=True).moved()
