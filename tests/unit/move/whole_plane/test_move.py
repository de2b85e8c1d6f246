# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A move between two API servers in memory: what goes along, what is in the way, a clusterctl that dies at any step."""
from __future__ import annotations

import base64
import contextlib
import copy
import gzip
import secrets
import uuid

import pytest
from fakes.clusterctl import Clusterctl, Killed
from fakes.moves import move_params
from fakes.planes import NAMESPACE, STAY, at_once, host, managed, obj, server

from ansible_collections.metal3.baremetal.plugins.module_utils._common.files.holder import holder_of
from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.errors import (
    RefusedError,
    ReportedError,
)
from ansible_collections.metal3.baremetal.plugins.module_utils._common.waiting.progress import Progress
from ansible_collections.metal3.baremetal.plugins.module_utils._host.description import annotations as host_annotations
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.responses.errors import KubeError
from ansible_collections.metal3.baremetal.plugins.module_utils._move.checks import rules as checks
from ansible_collections.metal3.baremetal.plugins.module_utils._move.objects import record
from ansible_collections.metal3.baremetal.plugins.module_utils._move.objects.reading import Side
from ansible_collections.metal3.baremetal.plugins.module_utils._move.pauses import clusters as cluster_pauses
from ansible_collections.metal3.baremetal.plugins.module_utils._move.rehearsal import service as rehearsal
from ansible_collections.metal3.baremetal.plugins.module_utils._move.whole_plane import service
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.parts.catalogue import CLUSTERCTL_LABEL

pytestmark = pytest.mark.usefixtures("complete_plane")


def move(here, there, run=None, check_mode=False, confirm="2", rehearse=None, alone=at_once, journal=None, **options):
    return service.Move(here, there, move_params(confirm=confirm, **options), check_mode, Progress(None),
                        run or Clusterctl(here, there), rehearse or rehearsal.move,
                        sleep=lambda _seconds: None, alone=alone, journal=journal)


def test_what_belongs_to_hosts_and_clusters_goes_along(here, there):
    before = managed(here)
    result = move(here, there).moved()
    assert result["changed"] and result["hosts"] == ["free", "used"] and result["machines"] == ["m"]
    assert result["objects"] == {"BareMetalHost": 2, "Cluster": 1, "HardwareData": 1, "HostFirmwareSettings": 1,
                                 "IPPool": 1, "Machine": 1, "Secret": 3}
    assert managed(here) == STAY and managed(there) == before - STAY
    again = move(here, there, confirm=None)
    assert again.moved()["changed"] is False


def test_clusterctl_is_given_the_contexts_that_were_checked(here, there):
    """It reads the kubeconfigs itself: the environment, or somebody who switches the current context, may mean another
    plane."""
    here.context, there.context = "mine", "theirs"
    given, clusterctl = [], Clusterctl(here, there)

    def run(*arguments):
        given.extend(arguments[1:3])
        clusterctl(*arguments)

    assert move(here, there, run).moved()["changed"]
    assert given == [{"kubeconfig": "here", "context": "mine"}, {"kubeconfig": "there", "context": "theirs"}]


@pytest.mark.parametrize("leads_elsewhere", ["here", "there"])
def test_clusterctl_is_not_started_by_a_kubeconfig_that_leads_elsewhere_by_now(here, there, leads_elsewhere):
    def refused():
        raise KubeError("kubeconfig: found server b, expected a as at the beginning of this run")

    {"here": here, "there": there}[leads_elsewhere].require_same_server = refused
    clusterctl = Clusterctl(here, there)
    with pytest.raises(KubeError, match="as at the beginning of this run"):
        move(here, there, clusterctl).moved()
    assert clusterctl.runs == 0 and managed(there) == set()


@pytest.mark.parametrize("is_made_meanwhile", [False, True])
def test_the_namespace_over_there_is_created_by_the_right_that_was_checked(here, there, is_made_meanwhile):
    asked = there.get
    # Read before somebody else has made it.
    there.get = lambda resource, of, name: None if name == NAMESPACE else asked(resource, of, name)
    if not is_made_meanwhile:
        del there.objects["Namespace", NAMESPACE]
    assert move(here, there).moved()["changed"] and ("Namespace", NAMESPACE) in there.objects
    assert [request[0] for request in there.writes() if request[1] == "Namespace"] == ["CREATE"]


def test_check_mode_writes_nothing(here, there):
    before = copy.deepcopy((here.objects, there.objects))
    result = move(here, there, check_mode=True, confirm=None).moved()
    assert result["changed"] and "metal3_confirm=2" in result["confirmation"]
    assert {item["before_header"] for item in result["diff"]} >= {"BareMetalHost used", "Secret c-kubeconfig"}
    assert (here.objects, there.objects) == before


@pytest.mark.parametrize("steps", range(23))
def test_a_clusterctl_that_dies_at_any_step_is_followed_to_the_same_end(here, there, steps):
    before, clusterctl = managed(here), Clusterctl(here, there, steps)
    try:
        move(here, there, clusterctl).moved()
    except Killed:
        clusterctl.left = None
        result = move(here, there, clusterctl).moved()
        assert result["begun"] and result["changed"]
    assert managed(here) == STAY and managed(there) == before - STAY
    assert "paused" not in there.objects["Cluster", "c"]["spec"]


def interrupted(here, there, steps):
    with pytest.raises(Killed):
        move(here, there, Clusterctl(here, there, steps)).moved()
    return copy.deepcopy((here.objects, there.objects))


@pytest.mark.parametrize("steps", [0, 5, 13])
def test_an_interrupted_move_is_taken_up_with_the_number_of_its_hosts(here, there, steps):
    before = interrupted(here, there, steps)
    planned = move(here, there, check_mode=True, confirm=None).moved()
    assert planned["begun"] and "metal3_confirm=2" in planned["confirmation"]
    with pytest.raises(RefusedError, match=r"confirm: not set, .*metal3_confirm=2"):
        move(here, there, confirm=None).moved()
    assert (here.objects, there.objects) == before


@pytest.mark.parametrize("steps", [0, 5, 13])
def test_an_interrupted_move_does_not_go_on_beside_an_ironic_that_runs_again(here, there, steps):
    interrupted(here, there, steps)
    here.objects["Deployment", "ironic"] = obj("apps/v1", "Deployment", "ironic", spec={"replicas": 1, "template": {
        "spec": {"containers": [{"name": "ironic", "image": "ironic"}]}}})
    before = copy.deepcopy((here.objects, there.objects))
    for options in ({}, {"former_ironic_deployment": "ironic", "former_ironic_namespace": NAMESPACE}):
        with pytest.raises(RefusedError, match=rf"Deployment {NAMESPACE}/ironic: spec\.replicas: found"):
            move(here, there, **options).moved()
    assert (here.objects, there.objects) == before
    here.objects["Deployment", "ironic"]["spec"]["replicas"] = 0
    assert move(here, there).moved()["begun"]


def begun_elsewhere(here, there, steps=5):
    """Have a move interrupted that another machine has begun."""
    with pytest.raises(Killed):
        other = move(here, there, Clusterctl(here, there, steps))
        other._records.holder = holder_of("other-node", "/work")
        other.moved()


@pytest.mark.parametrize("state", ["moved", "undone"])
@pytest.mark.parametrize("take_over", [None, "", "this-node", "/work"])
def test_a_move_that_was_begun_on_another_machine_is_left_to_it(here, there, take_over, state):
    """Its clusterctl may run there: a second one beside it, and Clusters that are resumed, would lose objects."""
    begun_elsewhere(here, there)
    before = copy.deepcopy((here.objects, there.objects))
    assert here.objects["Cluster", "c"]["spec"]["paused"]
    run = move(here, there, take_over=take_over)
    with pytest.raises(RefusedError, match=r"begun on machine other-node .*pivot_take_over=other-node"):
        (run.moved if state == "moved" else run.undone)()
    planned = move(here, there, check_mode=True, take_over=take_over)
    assert "pivot_take_over=other-node" in (planned.moved if state == "moved" else planned.undone)()["confirmation"]
    assert (here.objects, there.objects) == before


def test_a_move_of_another_machine_is_taken_over_by_its_name(here, there):
    before = managed(here)
    begun_elsewhere(here, there)
    holders = []

    def run(*arguments):
        holders.extend(record.read(side.objects["ConfigMap", record.NAME]).holder for side in (here, there))
        return Clusterctl(here, there)(*arguments)

    assert move(here, there, run, take_over="other-node").moved()["begun"]
    assert managed(here) == STAY and managed(there) == before - STAY
    assert len(set(holders)) == 1 and "other-node" not in holders[0]


def test_a_take_over_that_was_killed_between_both_planes_goes_on(here, there):
    begun_elsewhere(here, there)
    there.failures["ConfigMap", record.NAME] = "no answer"
    with pytest.raises(KubeError):
        move(here, there, take_over="other-node").moved()
    there.failures.clear()
    assert move(here, there).moved()["begun"] and managed(here) == STAY


def half_begun(here, there):
    """Have a run killed between the two writes of its record."""
    there.failures["ConfigMap", record.NAME] = "no answer"
    with pytest.raises(KubeError):
        move(here, there).moved()
    there.failures.clear()
    assert record.read(here.objects["ConfigMap", record.NAME]).state == record.MOVING


def test_a_move_that_is_half_begun_is_taken_back_so_that_hosts_can_be_released(here, there):
    half_begun(here, there)
    before = copy.deepcopy((here.objects, there.objects))
    planned = move(here, there, check_mode=True).undone()
    assert planned["changed"] and planned["due"] and (here.objects, there.objects) == before
    assert move(here, there).undone()["changed"]
    assert ("ConfigMap", record.NAME) not in here.objects
    assert not move(here, there).undone()["changed"]
    assert move(here, there).moved()["changed"]


def test_a_record_that_is_deleted_on_one_side_only_is_deleted_by_the_next_run(here, there):
    interrupted(here, there, 3)
    here.failures["ConfigMap", record.NAME] = "no answer"
    with pytest.raises(KubeError):
        move(here, there).undone()
    here.failures.clear()
    assert ("ConfigMap", record.NAME) in here.objects and ("ConfigMap", record.NAME) not in there.objects
    assert move(here, there).undone()["changed"] and ("ConfigMap", record.NAME) not in here.objects


def copied_over(here, there):
    there.objects["IPPool", "p"] = copy.deepcopy(here.objects["IPPool", "p"])


def host_gone(here, _there):
    del here.objects["BareMetalHost", "free"]


@pytest.mark.parametrize("change, name", [(copied_over, "IPPool p"), (host_gone, "BareMetalHost free")])
def test_a_record_whose_counterpart_somebody_has_deleted_stays(here, there, change, name):
    half_begun(here, there)
    change(here, there)
    before = copy.deepcopy((here.objects, there.objects))
    for check_mode in (True, False):
        run = move(here, there, check_mode=check_mode, confirm="2" if change is copied_over else "1")
        for attempt in (run.undone, run.moved):
            with pytest.raises(RefusedError, match=rf"1 of its 10 objects over there, or gone here: {name}, expected"):
                attempt()
    assert (here.objects, there.objects) == before
    # Of others some come and go.
    there.objects.pop(("IPPool", "p"), None)
    here.objects["BareMetalHost", "free"] = host("free")
    del here.objects["IPPool", "p"]
    assert move(here, there).undone()["changed"]


def test_a_move_that_another_machine_has_half_begun_is_left_to_it(here, there):
    """It may be about to write the other record."""
    half_begun(here, there)
    config = here.objects["ConfigMap", record.NAME]
    config["data"]["holder"] = holder_of("other-node", "/work")
    before = copy.deepcopy((here.objects, there.objects))
    for run in (move(here, there).moved, move(here, there).undone):
        with pytest.raises(RefusedError, match=r"begun on machine other-node .*pivot_take_over=other-node"):
            run()
    assert (here.objects, there.objects) == before
    assert move(here, there, take_over="other-node").moved()["changed"]


def test_the_record_of_an_earlier_move_is_in_the_way_of_none_that_is_half_begun(here, there):
    """Hosts have moved back meanwhile, for example."""
    earlier = record.Record(record.MOVED, "b-kube-system", "a-kube-system", (), {}, {})
    for side in (here, there):
        config = record.config_map(earlier, NAMESPACE)
        config["metadata"].update(uid="u", resourceVersion="1")
        side.objects["ConfigMap", record.NAME] = config
    half_begun(here, there)
    assert move(here, there).undone()["changed"]
    assert record.read(there.objects["ConfigMap", record.NAME]) == earlier
    half_begun(here, there)
    assert move(here, there).moved()["changed"]


def test_of_two_moves_that_begin_at_once_one_is_refused(here, there):
    """Both have found no record; the one that writes second would copy the same hosts to another plane."""
    clusterctl = Clusterctl(here, there)
    second = move(here, there, clusterctl)
    begin = second._begin

    def begun_meanwhile(planned, moving):
        third = server("c", "https://198.18.0.3:6443")
        with pytest.raises(Killed):
            move(here, third, Clusterctl(here, third, 0)).moved()
        return begin(planned, moving)

    second._begin = begun_meanwhile
    with pytest.raises(RefusedError, match=r"a record at .* that another run has written since it was read"):
        second.moved()
    assert clusterctl.runs == 0 and managed(there) == set()


def test_what_a_record_says_of_hosts_is_what_it_moves(here, there):
    """Others can write it: a number of its own would be confirmed in place of what is deleted."""
    interrupted(here, there, 5)
    for side in (here, there):
        found = record.read(side.objects["ConfigMap", record.NAME])._replace(hosts={}, machines={})
        side.objects["ConfigMap", record.NAME]["binaryData"] = record.config_map(found, NAMESPACE)["binaryData"]
    assert move(here, there, check_mode=True).moved()["hosts"] == ["free", "used"]
    for run in (move(here, there, confirm="0").moved, move(here, there, confirm="0").undone):
        with pytest.raises(RefusedError, match="metal3_confirm=2"):
            run()


def scaled(here):
    here.objects["Machine", "m2"] = obj("cluster.x-k8s.io/v1beta2", "Machine", "m2", ("Cluster", "c"), spec={},
                                        status={"nodeRef": {"name": "m2"}})


def enrolled(here):
    here.objects["BareMetalHost", "fresh"] = host("fresh")


def resumed(here):
    here.objects["BareMetalHost", "used"]["metadata"]["annotations"].pop(host_annotations.PAUSED)


def deprovisioned(here):
    here.objects["BareMetalHost", "used"]["status"]["provisioning"]["state"] = "deprovisioning"


@pytest.mark.parametrize("check_mode", [True, False])
@pytest.mark.parametrize("change, text", [
    (scaled, "Machine m2: found an object that the record of the move does not name"),
    (enrolled, "BareMetalHost fresh: found an object that the record of the move does not name"),
    (resumed, r"BareMetalHost used: metadata.annotations.baremetalhost.metal3.io/paused: found not held"),
    (deprovisioned, "BareMetalHost used: status.provisioning.state: found deprovisioning")])
def test_what_has_changed_since_a_move_was_interrupted_is_not_moved(here, there, change, text, check_mode):
    interrupted(here, there, 3)
    change(here)
    before = copy.deepcopy((here.objects, there.objects))
    if change is resumed and check_mode:
        # They are held before it goes on.
        assert move(here, there, check_mode=True).moved()["due"]
        return
    with pytest.raises(RefusedError, match=text):
        move(here, there, check_mode=check_mode).moved()
    assert (here.objects, there.objects) == before


@pytest.mark.parametrize("steps", [None, 3])
@pytest.mark.parametrize("change, text", [
    (resumed, r"- BareMetalHost used: metadata\.annotations\.baremetalhost\.metal3\.io/paused: found not held"),
    (enrolled, r"- BareMetalHost fresh: found an object that the record of the move does not name"),
    (deprovisioned, r"- BareMetalHost used: status\.provisioning\.state: found deprovisioning")])
def test_what_changes_between_the_check_and_the_start_of_clusterctl_is_not_moved(here, there, change, text, steps):
    """Without its status a host that is not held would be installed again over there."""
    if steps:
        interrupted(here, there, steps)
    arrived, clusterctl = managed(there), Clusterctl(here, there)
    run = move(here, there, clusterctl)
    taken = run._records.taken

    def changed(begun):
        change(here)
        return taken(begun)

    run._records.taken = changed
    with pytest.raises(ReportedError, match=text):
        run.moved()
    assert clusterctl.runs == 0 and managed(there) == arrived


def test_a_clusterctl_that_dies_within_its_first_deletion_is_followed(here, there):
    before = managed(here)
    interrupted(here, there, 11)
    # It leaves what it deletes with its finalizers.
    metadata = here.objects["BareMetalHost", "used"]["metadata"]
    metadata["annotations"][CLUSTERCTL_LABEL + "/delete-for-move"] = ""
    metadata["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    with pytest.raises(RefusedError, match="run with state moved, which finishes it"):
        move(here, there).undone()
    second = Clusterctl(here, there)
    move(here, there, second).moved()
    assert second.runs == 0 and managed(here) == STAY and managed(there) == before - STAY


@pytest.mark.parametrize("count, kind, name", [(11, "BareMetalHost", "used"), (13, *("BareMetalHost", "free"))])
def test_a_clusterctl_that_dies_between_its_mark_and_its_deletion_is_followed(here, there, count, kind, name):
    """Its mark takes the place of all annotations, so that the operator works on the host until it is held again."""
    before = managed(here)
    interrupted(here, there, count)
    here.objects[kind, name]["metadata"]["annotations"] = {CLUSTERCTL_LABEL + "/delete-for-move": ""}
    with pytest.raises(RefusedError, match="run with state moved, which finishes it"):
        move(here, there).undone()
    held, meet = [], here._meet

    def met(verb, resource, its_name, given):
        if (verb, resource.kind, its_name) == ("DELETE", kind, name):
            held.append(here.objects[kind, name]["metadata"]["annotations"].get(host_annotations.PAUSED))
        meet(verb, resource, its_name, given)

    here._meet = met
    second = Clusterctl(here, there)
    move(here, there, second).moved()
    assert second.runs == 0 and managed(here) == STAY and managed(there) == before - STAY
    assert held == [host_annotations.FOR_MOVE]


def annotated(side, name, value):
    """Have somebody else write the annotation that holds a host; None to resume it."""
    side.change("BareMetalHost", name)
    annotations = side.objects["BareMetalHost", name]["metadata"]["annotations"]
    annotations.pop(host_annotations.PAUSED)
    if value:
        annotations[host_annotations.PAUSED] = value


HELD_HERE = ("BareMetalHost", "free")


def test_a_host_that_was_resumed_here_since_is_not_deleted_under_the_operator(here, there):
    """It would clean the server that has a copy over there."""
    interrupted(here, there, 13)
    assert HELD_HERE in here.objects
    annotated(here, "free", None)
    before = copy.deepcopy((here.objects, there.objects))
    with pytest.raises(RefusedError, match=r"BareMetalHost free: metadata.annotations.*: found not held here: the op"):
        move(here, there).moved()
    assert (here.objects, there.objects) == before
    assert move(here, there, check_mode=True).moved()["due"]


@pytest.mark.parametrize("verb", ["PATCH", "DELETE"])
def test_a_host_that_is_resumed_between_the_check_and_its_deletion_stays(here, there, verb):
    interrupted(here, there, 13)
    meet = here._meet

    def met(its_verb, resource, name, given):
        if (its_verb, resource.kind, name) == (verb, *HELD_HERE) and host_annotations.PAUSED in here.objects[HELD_HERE][
                "metadata"]["annotations"]:
            annotated(here, "free", None)
        meet(its_verb, resource, name, given)

    here._meet = met
    with pytest.raises(KubeError, match=r"somebody else during this run: BareMetalHost free: .* not held here"):
        move(here, there).moved()
    metadata = here.objects[HELD_HERE]["metadata"]
    assert metadata["finalizers"] and "deletionTimestamp" not in metadata


@pytest.mark.parametrize("verb", ["PATCH", "DELETE"])
def test_what_a_controller_writes_between_the_check_and_a_deletion_is_looked_at_again(here, there, verb):
    before = managed(here)
    interrupted(here, there, 13)
    meet, written = here._meet, []

    def met(its_verb, resource, name, given):
        if (its_verb, resource.kind, name) == (verb, *HELD_HERE) and not written:
            written.append(name)
            annotated(here, "free", checks.HELD)
        meet(its_verb, resource, name, given)

    here._meet = met
    move(here, there).moved()
    assert written and managed(here) == STAY and managed(there) == before - STAY


def test_another_object_of_the_name_of_one_that_was_checked_stays(here, there):
    interrupted(here, there, 13)

    def replaced():
        here.objects[HELD_HERE] = host("free")
        here.objects[HELD_HERE]["metadata"].update(uid="another", resourceVersion="99")

    here.meanwhile[HELD_HERE] = replaced
    with pytest.raises(KubeError, match="BareMetalHost metal3/free: found another object of this name"):
        move(here, there).moved()
    assert here.objects[HELD_HERE]["metadata"]["uid"] == "another"


def test_the_finalizers_of_what_somebody_else_deletes_meanwhile_stay(here, there):
    interrupted(here, there, 13)

    def deleted():
        here.objects[HELD_HERE]["metadata"].update(deletionTimestamp="2026-11-26T12:00:00Z", resourceVersion="99")

    here.meanwhile[HELD_HERE] = deleted
    with pytest.raises(KubeError, match="BareMetalHost free: somebody else deletes it"):
        move(here, there).moved()
    assert here.objects[HELD_HERE]["metadata"]["finalizers"]


def go(side, kind, name):
    """Have somebody delete an object, which its finalizers hold as long as nobody works with it."""
    side.objects[kind, name]["metadata"]["deletionTimestamp"] = "2026-11-26T12:00:00Z"


@pytest.mark.parametrize("steps, error", [(5, RefusedError), (13, ReportedError)])
def test_a_host_whose_copy_is_being_deleted_over_there_stays_here(here, there, steps, error):
    """Released, it would be deprovisioned there, and nowhere any more."""
    interrupted(here, there, steps)
    go(there, *HELD_HERE)
    left = managed(here)
    with pytest.raises(error, match=r"BareMetalHost free: metadata.deletionTimestamp: found an object that is b"):
        move(here, there).moved()
    assert managed(here) == left and HELD_HERE in left
    assert record.read(there.objects["ConfigMap", record.NAME]).state == record.MOVING


def test_a_move_does_not_end_with_a_copy_that_is_being_deleted(here, there):
    clusterctl = Clusterctl(here, there)

    def run(*arguments):
        clusterctl(*arguments)
        go(there, "Machine", "m")

    with pytest.raises(ReportedError, match=r"1 of 10 objects are not over there .*\n- Machine m: metadata.deletionT"):
        move(here, there, run).moved()
    assert record.read(there.objects["ConfigMap", record.NAME]).state == record.MOVING


def at_first_deletion(side, happens):
    """Have something happen while the first object of a plane is deleted; return what has been deleted so."""
    meet, first = side._meet, []

    def met(verb, resource, name, given):
        if verb == "DELETE" and not first:
            first.append(name)
            happens()
        meet(verb, resource, name, given)

    side._meet = met
    return first


@pytest.mark.parametrize("happens", [
    lambda there: there.objects.pop(HELD_HERE), lambda there: go(there, *HELD_HERE),
    lambda there: there.objects[HELD_HERE]["metadata"].update(uid="another")], ids=["gone", "going", "another"])
def test_a_host_whose_copy_goes_while_a_move_is_finished_stays_here(here, there, happens):
    interrupted(here, there, 13)
    first = at_first_deletion(here, lambda: happens(there))
    with pytest.raises(ReportedError, match=r"^BareMetalHost free: it stays at https://198\.18\.0\.1:6443, for its"):
        move(here, there).moved()
    assert first and "deletionTimestamp" not in here.objects[HELD_HERE]["metadata"]


def test_a_copy_stays_whose_original_goes_while_a_move_is_taken_back(here, there):
    interrupted(here, there, 10)
    first = at_first_deletion(there, lambda: here.objects.pop(HELD_HERE))
    with pytest.raises(ReportedError, match=r"^BareMetalHost free: it stays at https://198\.18\.0\.2:6443, for its"):
        move(here, there).undone()
    assert first and "deletionTimestamp" not in there.objects[HELD_HERE]["metadata"]


def test_what_the_run_itself_deletes_is_not_read_again(here, there):
    interrupted(here, there, 13)
    here.requests.clear()
    move(here, there).moved()
    assert HELD_HERE not in here.objects
    assert HELD_HERE not in {request[1:3] for request in here.requests if request[0] == "GET"}


@pytest.mark.parametrize("is_another", [False, True])
def test_what_changes_after_its_deletion_is_read_before_its_finalizers_go(here, there, is_another):
    interrupted(here, there, 13)
    patch, refused = here.patch, []

    def patched(resource, namespace, name, body, **more):
        if (resource.kind, name) == HELD_HERE and "finalizers" in body["metadata"] and not refused:
            refused.append(name)
            if is_another:
                here.objects[HELD_HERE] = host("free")
                here.objects[HELD_HERE]["metadata"].update(uid="another", resourceVersion="99")
            raise KubeError("the object has been modified", 409)
        return patch(resource, namespace, name, body, **more)

    here.patch = patched
    move(here, there).moved()
    assert refused and (HELD_HERE in here.objects) is is_another
    assert not is_another or here.objects[HELD_HERE]["metadata"]["finalizers"]


@pytest.mark.parametrize(("happens", "said"), [
    (lambda there: annotated(there, "free", None), r"another object over there than here: .*/paused \(lost\)"),
    (lambda there: there.change("BareMetalHost", "free", online=False), "another object over there than here: spec")])
def test_a_copy_that_changes_between_the_check_and_its_deletion_is_not_taken_back(here, there, happens, said):
    interrupted(here, there, 10)
    there.meanwhile[HELD_HERE] = lambda: happens(there)
    with pytest.raises(KubeError, match=f"during this run: BareMetalHost free: .*{said}"):
        move(here, there).undone()
    assert "deletionTimestamp" not in there.objects[HELD_HERE]["metadata"]


def test_the_steps_of_the_test_before_cover_the_whole_move(here, there):
    counter = Clusterctl(here, there, 1000)
    move(here, there, counter).moved()
    assert 1000 - counter.left == 22


@pytest.mark.parametrize("steps", range(12))
def test_what_has_deleted_nothing_yet_is_taken_back(here, there, steps):
    before, clusterctl = copy.deepcopy(here.objects), Clusterctl(here, there, steps)
    with pytest.raises(Killed):
        move(here, there, clusterctl).moved()
    assert move(here, there).undone()["changed"]
    assert managed(there) == set()
    assert managed(here) == {key for key, item in before.items() if item["metadata"].get("namespace")}
    assert not here.objects["Cluster", "c"]["spec"].get("paused")
    assert move(here, there).undone()["changed"] is False


def goes_on(here, there):
    """Return a lock that is free when the clusterctl of a run that was killed has ended."""
    @contextlib.contextmanager
    def alone(*_arguments):
        Clusterctl(here, there)()
        yield 0
    return alone


def test_a_clusterctl_that_goes_on_is_waited_for_before_its_move_is_taken_back(here, there):
    before = managed(here)
    with pytest.raises(Killed):
        move(here, there, Clusterctl(here, there, 0)).moved()
    with pytest.raises(RefusedError, match="run with state moved, which finishes it"):
        move(here, there, alone=goes_on(here, there)).undone()
    assert managed(there) == before - STAY


def test_a_clusterctl_that_goes_on_is_waited_for_before_another_one_is_started(here, there):
    before, second = managed(here), Clusterctl(here, there)
    with pytest.raises(Killed):
        move(here, there, Clusterctl(here, there, 0)).moved()
    move(here, there, second, alone=goes_on(here, there)).moved()
    assert second.runs == 0 and managed(there) == before - STAY
    assert record.read(there.objects["ConfigMap", record.NAME]).state == record.MOVED


def paused_cluster(name, **more):
    """Return a Cluster that somebody has paused on purpose, and that nothing else keeps from anything."""
    return obj("cluster.x-k8s.io/v1beta2", "Cluster", name, spec={"paused": True}, **more)


def test_a_cluster_over_there_that_somebody_has_paused_stays_paused(here, there):
    there.objects["Cluster", "prod"] = paused_cluster("prod")
    move(here, there).moved()
    assert there.objects["Cluster", "prod"]["spec"]["paused"] is True
    assert "paused" not in there.objects["Cluster", "c"]["spec"]


def test_a_cluster_here_that_is_none_of_the_move_stays_paused_when_it_is_taken_back(here, there):
    with pytest.raises(Killed):
        move(here, there, Clusterctl(here, there, 3)).moved()
    here.objects["Cluster", "prod"] = paused_cluster("prod")
    move(here, there).undone()
    assert here.objects["Cluster", "prod"]["spec"]["paused"] is True
    assert "paused" not in here.objects["Cluster", "c"]["spec"]


@pytest.mark.parametrize("meanwhile, is_paused", [
    # A controller has written; somebody has resumed it; it was deleted and made anew.
    (lambda server: server.change("Cluster", "c", other=1), False),
    (lambda server: (server.change("Cluster", "c"), server.objects["Cluster", "c"]["spec"].pop("paused")), False),
    (lambda server: server.objects["Cluster", "c"]["metadata"].update(uid="another", resourceVersion="77"), True)])
def test_a_cluster_is_resumed_as_it_is_by_then(here, meanwhile, is_paused):
    side, key = Side(here, NAMESPACE), ("cluster.x-k8s.io", "Cluster", "c")
    here.objects["Cluster", "c"]["spec"]["paused"] = True
    side.read()
    here.meanwhile["Cluster", "c"] = lambda: meanwhile(here)
    ending = pytest.raises(KubeError, match="found another object of this name") if is_paused \
        else contextlib.nullcontext()
    with ending:
        cluster_pauses.resume(side, {key}, Progress(None), lambda _seconds: None)
    assert here.objects["Cluster", "c"]["spec"].get("paused", False) is is_paused


def test_taking_back_wants_the_number_of_hosts(here, there):
    with pytest.raises(Killed):
        move(here, there, Clusterctl(here, there, 11)).moved()
    before = copy.deepcopy((here.objects, there.objects))
    with pytest.raises(RefusedError, match=r"so many hosts among it; repeat how many .*metal3_confirm=2"):
        move(here, there, confirm="1").undone()
    result = move(here, there, confirm=None, check_mode=True).undone()
    assert result["changed"] and "metal3_confirm=2" in result["confirmation"]
    assert (here.objects, there.objects) == before


def by_hand(here, there):
    secret = copy.deepcopy(here.objects["Secret", "free-bmc"])
    secret["metadata"].update(creationTimestamp="2026-11-24T00:00:02Z", managedFields=[
        {"manager": "kubectl", "time": "2026-11-24T00:00:02Z"}])
    there.objects["Secret", "free-bmc"] = dict(secret, data={"password": "eA=="})


def other_host(_here, there):
    there.objects["BareMetalHost", "free"] = host("free", bmc={"address": "ipmi://192.0.2.77"})


def other_pool(_here, there):
    there.objects["IPPool", "p"] = obj("ipam.metal3.io/v1alpha1", "IPPool", "p", spec={})


def released(here, there):
    for side in (here, there):
        del side.objects["BareMetalHost", "used"]["metadata"]["annotations"][host_annotations.PAUSED]


def refused_for(text, here, there, attempt):
    """Check that an attempt is refused for one reason, quotes no secret, and writes nothing on either side."""
    before = copy.deepcopy((here.objects, there.objects))
    with pytest.raises(RefusedError, match=text) as refused:
        attempt()
    assert len(refused.value.problems) == 1 and "eA==" not in str(refused.value)
    assert (here.objects, there.objects) == before


@pytest.mark.parametrize("check_mode", [True, False])
@pytest.mark.parametrize("steps, change, text", [
    (2, by_hand, "Secret free-bmc: found another object over there than here: data,"),
    (1, other_host, "BareMetalHost free: found another object over there than here: spec.bmc.address"),
    (2, other_pool, "IPPool p: found another object over there than here: metadata.ownerReferences"),
    (11, released, "BareMetalHost used: .*found not held over there")])
def test_what_is_no_copy_over_there_is_not_deleted_when_a_move_is_taken_back(
        here, there, steps, change, text, check_mode):
    interrupted(here, there, steps)
    change(here, there)
    refused_for(text, here, there, move(here, there, check_mode=check_mode).undone)


@pytest.mark.parametrize("check_mode", [True, False])
@pytest.mark.parametrize("steps, change, text", [
    (0, by_hand, "Secret free-bmc: found an object that was made over there since the move began, other .*: data"),
    (1, other_host, "BareMetalHost free: found an object that was made .* other than here: spec.bmc.address"),
    (2, other_pool, "IPPool p: found an object that was made .* other than here: metadata.ownerReferences")])
def test_what_was_made_over_there_meanwhile_is_not_overwritten(here, there, steps, change, text, check_mode):
    interrupted(here, there, steps)
    change(here, there)
    refused_for(text, here, there, move(here, there, check_mode=check_mode).moved)


@pytest.mark.parametrize("noted", [None, {"manager": "clusterctl", "time": "2026-11-24T00:00:02Z"}])
def test_a_copy_of_clusterctl_that_is_older_than_what_is_here_is_brought_up_to_date(here, there, noted):
    interrupted(here, there, 4)
    copied = [key for key in there.objects if key in here.objects and key[0] == "BareMetalHost"]
    assert copied
    for key in copied:
        if noted:
            # Killed between its two writes.
            there.objects[key]["metadata"]["managedFields"] = [noted]
        here.objects[key]["spec"]["description"] = "changed since"
    move(here, there).moved()
    assert all(there.objects[key]["spec"]["description"] == "changed since" for key in copied)


def test_what_was_made_over_there_as_it_is_here_is_in_nobodys_way(here, there):
    interrupted(here, there, 0)
    there.objects["Secret", "free-bmc"] = copy.deepcopy(here.objects["Secret", "free-bmc"])
    assert move(here, there).moved()["changed"]


def test_what_has_begun_to_delete_is_not_taken_back(here, there):
    with pytest.raises(Killed):
        move(here, there, Clusterctl(here, there, 13)).moved()
    with pytest.raises(RefusedError, match="run with state moved, which finishes it"):
        move(here, there).undone()


def test_nothing_is_deleted_by_a_record_that_only_one_plane_has(here, there):
    with pytest.raises(Killed):
        move(here, there, Clusterctl(here, there, 15)).moved()
    there.objects["ConfigMap", record.NAME]["data"]["target"] = "another"
    left = managed(here)
    with pytest.raises(RefusedError, match="a move between other planes"):
        move(here, there).moved()
    packed = record.config_map(record.Record(record.MOVING, "a-kube-system", "b-kube-system", (record.Entry(
        "", "Secret", "unrelated", "uid-Secret-unrelated"),), {}, {}), NAMESPACE)
    here.objects["ConfigMap", record.NAME] = dict(packed, metadata=dict(packed["metadata"], uid="u"))
    there.objects["ConfigMap", record.NAME]["data"]["target"] = "b-kube-system"
    with pytest.raises(RefusedError, match="another record than over there"):
        move(here, there).moved()
    assert managed(here) == left


def test_what_is_lost_over_there_is_not_deleted_here(here, there):
    with pytest.raises(Killed):
        move(here, there, Clusterctl(here, there, 13)).moved()
    del there.objects["Machine", "m"]
    left = managed(here)
    with pytest.raises(ReportedError, match=r"1 of 10 objects are not over there .*Machine m"):
        move(here, there).moved()
    assert managed(here) == left


def test_all_that_is_in_the_way_is_reported_at_once(here, there):
    here.objects["BareMetalHost", "used"]["status"]["provisioning"]["state"] = "inspecting"
    here.objects["BareMetalHost", "free"]["metadata"]["annotations"] = {host_annotations.PAUSED: "mine"}
    here.objects["Cluster", "c"]["status"] = {}
    here.objects["Machine", "m"]["status"] = {}
    here.objects["IPPool", "p"]["metadata"]["annotations"] = {checks.BLOCK: ""}
    here.objects["HardwareData", "used"]["metadata"]["deletionTimestamp"] = "now"
    settings = here.objects["CustomResourceDefinition", "hostfirmwaresettings.metal3.io"]
    del settings["metadata"]["labels"][CLUSTERCTL_LABEL]
    there.objects["Secret", "c-kubeconfig"] = obj("v1", "Secret", "c-kubeconfig")
    there.objects["CustomResourceDefinition", "machines.cluster.x-k8s.io"]["spec"]["versions"][0]["name"] = "v1beta1"
    with pytest.raises(RefusedError) as refused:
        move(here, there, confirm="3").moved()
    text = str(refused.value)
    for part in ("BareMetalHost used: status.provisioning.state: found inspecting",
                 'BareMetalHost free: metadata.annotations.baremetalhost.metal3.io/paused: found "mine"',
                 "infrastructureProvisioned", "status.nodeRef: found none",
                 "IPPool p: metadata.annotations.clusterctl.cluster.x-k8s.io/block-move",
                 "kind HostFirmwareSettings of metal3.io: found 1 objects that clusterctl does not look for",
                 "Secret c-kubeconfig: found an object of this name over there",
                 "kind Machine: versions: found v1beta1, expected v1beta2", "confirm: found 3, expected 2"):
        assert part in text, text
    assert ("ConfigMap", record.NAME) not in here.objects


def test_an_object_whose_owner_is_gone_would_stay(here, there):
    gone = {"kind": "Machine", "name": "old", "uid": "x"}
    here.objects["Secret", "used-bmc"]["metadata"]["ownerReferences"].append(gone)
    here.objects["HardwareData", "used"]["metadata"]["ownerReferences"] = [gone]
    with pytest.raises(RefusedError, match=r"HardwareData used: metadata\.ownerReferences: found Machine old"):
        move(here, there).moved()


def test_what_is_being_deleted_and_belongs_to_nothing_is_no_loss(here):
    """Somebody's finalizer keeps it."""
    def left_behind():
        return [item["metadata"]["name"] for item in Side(here, NAMESPACE).graph().left_behind
                if item["kind"] == "HardwareData"]

    metadata = here.objects["HardwareData", "used"]["metadata"]
    metadata["ownerReferences"] = [{"kind": "Machine", "name": "old", "uid": "x"}]
    assert left_behind() == ["used"]
    metadata["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    assert left_behind() == []


def test_hosts_must_be_held(here, there):
    here.objects["BareMetalHost", "free"]["metadata"]["annotations"] = {}
    with pytest.raises(RefusedError, match=r"BareMetalHost free: .* run plane_move_hosts with state held first"):
        move(here, there).moved()


def test_both_sides_must_differ(here):
    with pytest.raises(RefusedError, match="to_kubeconfig: found the cluster that kubeconfig leads to"):
        move(here, here).moved()


@pytest.mark.parametrize("config", [
    None, {}, {"data": None}, {"data": {"state": "moving", "source": "a", "target": "b"}},
    {"data": {"state": "moving", "source": "a", "target": "b"}, "binaryData": {"record.json.gz": "!"}},
    {"data": {"state": "moving", "source": "a", "target": "b"}, "binaryData": {"record.json.gz": "aGVsbG8="}},
    {"data": {"state": "moving", "source": "a", "target": "b"}, "binaryData": {"record.json.gz": 5}}, {"data": 5},
    {"data": {"state": "moving", "source": "a", "target": "b"}, "binaryData": {"record.json.gz": base64.b64encode(
        gzip.compress(b"{}")[:10] + b"\xff" * 20).decode()}},
    {"data": {"state": "moving", "source": "a", "target": "b"}, "binaryData": {"record.json.gz": base64.b64encode(
        gzip.compress(b"[" * 10 ** 6, mtime=0)).decode()}}])
def test_what_is_no_record_is_none(config):
    assert record.read(config) is None


def test_a_record_comes_back_as_it_was():
    one = record.Record("moving", "a", "b", (record.Entry("g", "K", "n", "u"),), {"h": {"state": "available"}}, {})
    assert record.read(record.config_map(one, NAMESPACE)) == one


def test_a_move_whose_record_has_no_room_is_refused_before_hosts_are_held(here, there, monkeypatch):
    monkeypatch.setattr(record, "_STORED_LIMIT_BYTES", 500)
    for check_mode in (True, False):
        with pytest.raises(RefusedError, match=r"found 10 objects, whose record needs about \d+ KiB, expected at most"):
            move(here, there, check_mode=check_mode).moved()
    assert ("ConfigMap", record.NAME) not in here.objects


def test_the_record_of_what_a_plane_may_have_has_room():
    """Digests are as long as they become."""
    entries = tuple(record.Entry("cluster.x-k8s.io", "Machine", f"m-{number}", str(uuid.uuid4()), " ".join(
        secrets.token_hex(8) for _digest in range(2))) for number in range(10000))
    of = record.Record(record.MOVING, "a", "b", entries, {}, {})
    bare = of._replace(entries=tuple(entry._replace(digests="") for entry in entries))
    assert record.too_large(bare, NAMESPACE) == []
    stored, assumed = (len(base64.b64decode(record.config_map(item, NAMESPACE)["binaryData"]["record.json.gz"])) + more
                       for item, more in ((of, 0), (bare, 10000 * record._DIGESTS_BYTES)))
    assert stored <= assumed < 1.2 * stored


def test_what_is_refused_or_done_waits_for_nobody(here, there):
    def alone(*_arguments):
        raise AssertionError("a lock was taken")
    with pytest.raises(RefusedError, match="confirm: found 7"):
        move(here, there, confirm="7", alone=alone).moved()
    assert move(here, there, alone=alone).undone()["changed"] is False
    move(here, there).moved()
    assert move(here, there, alone=alone).moved()["changed"] is False
