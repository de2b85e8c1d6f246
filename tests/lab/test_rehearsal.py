# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rehearsals by the real clusterctl between real API servers with the real definitions of both planes.

The planes are API servers without controllers; the lab's own servers and plane take no part. At the end of some of them
the real Bare Metal Operator works on what has arrived.
"""
from __future__ import annotations

import copy
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from fakes import move_planes, moves
from processes import has_ended
from support import eventually

from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.errors import RefusedError
from ansible_collections.metal3.baremetal.plugins.module_utils._common.waiting.progress import Progress
from ansible_collections.metal3.baremetal.plugins.module_utils._host.description import annotations as host_annotations
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.api.client import KubeClient
from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.kinds import KNOWN
from ansible_collections.metal3.baremetal.plugins.module_utils._move.checks import rules as checks
from ansible_collections.metal3.baremetal.plugins.module_utils._move.objects import clusterctl
from ansible_collections.metal3.baremetal.plugins.module_utils._move.objects.reading import Side
from ansible_collections.metal3.baremetal.plugins.module_utils._move.rehearsal import operator as operator_rehearsal
from ansible_collections.metal3.baremetal.plugins.module_utils._move.rehearsal import service as rehearsal
from ansible_collections.metal3.baremetal.plugins.module_utils._move.whole_plane.service import Move
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.parts.catalogue import CLUSTERCTL_LABEL

pytestmark = pytest.mark.pivot

NAMESPACE = "rehearsed"
HOSTS = 3
# As the password of a BMC is stored, and as it is.
PASSWORD = (b"cGFzc3dvcmQtb2YtYS1ibWM=", b"password-of-a-bmc")


@pytest.fixture(scope="module")
def servers():
    with move_planes.planes() as found:
        yield found


@pytest.fixture(scope="module")
def plane(servers):
    """The plane that lets go: an API server with three hosts and a cluster, whose hosts are not held yet."""
    of = move_planes.client(servers, "here")
    return of, move_planes.populate(of, NAMESPACE, HOSTS, held=False)


@pytest.fixture
def side(plane):
    return Side(plane[0], NAMESPACE)


def versions(of):
    return dict((key, item["metadata"]["resourceVersion"]) for key, item in move_planes.objects(of, NAMESPACE).items())


def rehearse(side, there=None, run=clusterctl.move):
    return rehearsal.move(move_planes.programs(), move_planes.clusterctl(), NAMESPACE, side.objects, side.graph().moved,
                          side.contents(), there or side.contents(), Progress(None), run)


def definition(contents, name):
    """Return contents with a definition of their own, and that definition, to be changed."""
    copied = contents._replace(definitions=copy.deepcopy(contents.definitions))
    return copied, next(item for item in copied.definitions if item["metadata"]["name"] == name)


def host_schema(item):
    version = next(version for version in item["spec"]["versions"] if version["storage"])
    return version["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]


def test_all_objects_arrive_and_the_plane_is_not_touched(plane, side):
    of, total = plane
    before = versions(of)
    outcome = rehearse(side)
    assert (outcome.problems, outcome.warnings) == ([], []), [str(problem) for problem in outcome.problems]
    assert outcome.objects == total == len(side.graph().moved)
    assert versions(of) == before
    print(f"{outcome.objects} objects in {outcome.seconds:.1f} s, {outcome.resident_bytes // 1024 ** 2} MiB")


def test_no_value_of_a_secret_reaches_the_disk_or_the_throwaway_servers(side):
    found = []

    def run(*arguments):
        clusterctl.move(*arguments)
        folder = Path(arguments[1]["kubeconfig"]).parent
        assert folder.stat().st_mode & 0o777 == 0o700
        found.append([str(path) for path in folder.rglob("*") if path.is_file()
                      and any(word in path.read_bytes() for word in PASSWORD)])
        found.append(folder)

    assert rehearse(side, run=run).problems == []
    assert found[0] == [] and not found[1].exists()


def test_a_field_that_an_older_definition_does_not_know_is_named(side):
    there, item = definition(side.contents(), "baremetalhosts.metal3.io")
    del host_schema(item)["bootMACAddress"]
    problems = rehearse(side, there).problems
    assert sorted((problem.code, problem.subject, problem.field) for problem in problems) == [
        ("rehearsal-changed", f"BareMetalHost host-{number:03d}", "spec.bootMACAddress") for number in range(HOSTS)]


def test_an_object_that_a_stricter_definition_refuses_is_named(side):
    there, item = definition(side.contents(), "baremetalhosts.metal3.io")
    host_schema(item)["bootMACAddress"]["maxLength"] = 3
    problems = rehearse(side, there).problems
    assert [(problem.code, problem.subject) for problem in problems] == [
        ("rehearsal-refused", f"BareMetalHost host-{number:03d}") for number in range(HOSTS)]
    assert all("bootMACAddress" in problem.actual for problem in problems)


def test_a_kind_that_is_missing_over_there_is_named(side):
    there = side.contents()
    there = there._replace(definitions=[item for item in there.definitions
                                        if item["metadata"]["name"] != "hostfirmwaresettings.metal3.io"])
    problems = rehearse(side, there).problems
    words = "no kind HostFirmwareSettings over there"
    assert problems and all(problem.code == "rehearsal-refused" and problem.actual == words
                            for problem in problems)


def test_what_clusterctl_does_not_look_for_is_named(side):
    here, item = definition(side.contents(), "hardwaredata.metal3.io")
    del item["metadata"]["labels"][CLUSTERCTL_LABEL]
    outcome = rehearsal.move(move_planes.programs(), move_planes.clusterctl(), NAMESPACE, side.objects,
                             side.graph().moved, here, here, Progress(None))
    assert [(problem.code, problem.subject) for problem in outcome.problems] == [
        ("rehearsal-lost", f"HardwareData host-{number:03d}") for number in range(HOSTS)]


def test_a_restore_is_rehearsed(plane, side):
    outcome = rehearsal.restore(move_planes.programs(), move_planes.clusterctl(), NAMESPACE, side.graph().moved,
                                side.contents(), Progress(None))
    assert outcome.problems == [] and outcome.objects == plane[1]


# Hosts with which the operator does nothing.

IMAGE = {"url": "http://198.18.0.1/a.qcow2", "checksum": "http://198.18.0.1/a.sha256"}
OTHER = dict(IMAGE, url="http://198.18.0.1/b.qcow2")
CONDITIONS = [{"type": "Ready", "status": "True", "reason": "Provisioned", "message": "",
               "lastTransitionTime": "2026-11-24T00:00:00Z"}]


def found(entries, kind):
    return next(entry[1] for entry in entries if entry[1]["kind"] == kind)


def available(entries):
    bmh = found(entries, "BareMetalHost")
    bmh["spec"]["online"] = False
    # Such as a status is that an operator of this version has written.
    bmh["status"].update(hardwareProfile="unknown", hardware=found(entries, "HardwareData")["spec"]["hardware"],
                         conditions=CONDITIONS)
    bmh["status"]["provisioning"]["rootDeviceHints"] = {"deviceName": "/dev/sda"}
    return bmh


def provisioned(entries):
    bmh = available(entries)
    bmh["spec"].update(online=True, image=dict(IMAGE), consumerRef={
        "apiVersion": "infrastructure.cluster.x-k8s.io/v1beta2", "kind": "Metal3Machine", "name": "c-m"})
    bmh["status"]["provisioning"].update(state="provisioned", image=dict(IMAGE))
    return bmh


def external(entries):
    bmh = available(entries)
    bmh["spec"].update(externallyProvisioned=True, online=True)
    bmh["status"]["provisioning"]["state"] = "externally provisioned"


def unmanaged(entries):
    bmh = available(entries)
    del bmh["spec"]["bmc"]
    bmh["status"]["provisioning"].update(state="unmanaged", ID="")
    entries.remove(next(entry for entry in entries if entry[1]["kind"] == "Secret"))


# Hosts that it would do something to, or that its webhook refuses.

def another_image(entries):
    provisioned(entries)["spec"]["image"] = dict(OTHER)


def lost_status(entries):
    del provisioned(entries)["status"]


def inspected_again(entries):
    available(entries)["metadata"]["annotations"] = {"inspect.metal3.io": ""}


def another_raid(entries):
    # It is preparing for some milliseconds, then available again.
    available(entries)["spec"]["raid"] = {"softwareRAIDVolumes": [{"level": "1"}]}


def image_of_nobody(entries):
    available(entries)["spec"].update(online=True, image=dict(IMAGE))


def no_longer_external(entries):
    external(entries)
    del found(entries, "BareMetalHost")["spec"]["externallyProvisioned"]


def no_credentials(entries):
    provisioned(entries)
    found(entries, "Secret")["data"] = {"username": "", "password": ""}


def no_details(entries):
    provisioned(entries)
    entries.remove(next(entry for entry in entries if entry[1]["kind"] == "HardwareData"))


def refused(entries):
    available(entries)["spec"]["bmc"]["address"] = "carrier-pigeon://198.18.0.1"


STATE, ERROR = "status.provisioning.state", "status.errorMessage"
NAMED = {
    another_image: (STATE, "provisioned → deprovisioning over there"),
    lost_status: (STATE, "none → registering over there"),
    inspected_again: (STATE, "available → inspecting over there"),
    another_raid: (STATE, "available → preparing over there"),
    image_of_nobody: (STATE, "available → provisioning over there"),
    no_longer_external: (STATE, "externally provisioned → preparing over there: spec.externallyProvisioned is not"),
    no_credentials: (ERROR, "registration error over there: "),
    no_details: ("status.hardware", "none over there"),
    refused: ("", "admission webhook"),
}
UNCHANGED = [available, provisioned, external, unmanaged]


def operate(of, namespace, kinds, run=clusterctl.move):
    """Rehearse the move of such hosts with the operator."""
    def change(number, entries):
        kinds[number](entries)
        return entries

    move_planes.populate(of, namespace, len(kinds), clusters=(), held=False, change=change)
    side, began = Side(of, namespace), []

    def operated(*arguments):
        began.append(time.monotonic())
        result = operator_rehearsal.operated(*arguments)
        began.append(time.monotonic())
        assert_alone(arguments[0])
        return result

    outcome = rehearsal.move(move_planes.programs(), move_planes.clusterctl(), namespace, side.objects,
                             side.graph().moved, side.contents(), side.contents(), Progress(None), run,
                             operate=operated)
    print(f"{len(kinds)} hosts: {outcome.seconds:.1f} s, of it the operator {began[1] - began[0]:.1f} s; "
          f"{outcome.resident_bytes // 1024 ** 2} MiB; operator {outcome.operator}")
    return outcome


def assert_alone(servers):
    """Assert that the operator has no variable of the user's and talks to loopback only, on free ports."""
    process = servers._processes["bmo"]
    environment = Path(f"/proc/{process.pid}/environ").read_bytes().decode().split("\0")
    assert sorted(item.partition("=")[0] for item in environment if item) == ["METAL3_WEBHOOK_HOST", "PATH", "TMPDIR"]
    lines = subprocess.run(["ss", "-Htanp"], capture_output=True, text=True, check=True).stdout.splitlines()
    sockets = [line.split() for line in lines if f"pid={process.pid}," in line]
    listening = [item[3] for item in sockets if item[0] == "LISTEN"]
    assert len(listening) == 2 and all(address.startswith("127.0.0.1:") for address in listening)
    assert all(item[4].startswith("127.0.0.1:") for item in sockets if item[0] != "LISTEN")


def test_hosts_that_the_operator_leaves_alone_come_through_with_it(plane):
    outcome = operate(plane[0], "unchanged", UNCHANGED)
    assert (outcome.problems, outcome.warnings) == ([], []), [str(problem) for problem in outcome.problems]
    assert outcome.hosts == len(UNCHANGED) and outcome.operator.startswith("v0.")


def test_hosts_that_the_operator_would_do_something_to_are_named_and_no_others(plane):
    kinds = [*NAMED, *UNCHANGED]
    outcome = operate(plane[0], "changed", kinds)
    texts = [str(problem) for problem in outcome.problems]
    print(*texts, sep="\n")
    problems = dict((problem.subject, problem) for problem in outcome.problems)
    assert set(problems) == set(f"BareMetalHost host-{number:03d}" for number in range(len(NAMED))), texts
    for number, (field, words) in enumerate(NAMED.values()):
        problem = problems[f"BareMetalHost host-{number:03d}"]
        assert (problem.code, problem.field) == ("rehearsal-operator", field) and words in problem.actual, str(problem)
    assert outcome.hosts == len(UNCHANGED) and len(texts) == len(NAMED)


def test_a_host_whose_status_is_lost_on_the_way_is_named_by_the_operator_too(plane):
    def run(*arguments):
        clusterctl.move(*arguments)
        there = KubeClient({"kubeconfig": arguments[2]["kubeconfig"]})
        there.patch(KNOWN["BareMetalHost"], "lost", "host-000", {"metadata": {"annotations": {
            host_annotations.STATUS: None}}})

    outcome = operate(plane[0], "lost", [provisioned, available], run)
    assert [(problem.code, problem.subject) for problem in outcome.problems] == [
        ("rehearsal-changed", "BareMetalHost host-000"), ("rehearsal-operator", "BareMetalHost host-000")]
    assert outcome.problems[1].actual.startswith("provisioned → registering over there")


def test_a_move_is_refused_before_anything_is_written_when_the_operator_would_wipe_a_host(servers, plane, tmp_path):
    def change(number, entries):
        (another_image if number else provisioned)(entries)
        bmh = found(entries, "BareMetalHost")
        bmh["metadata"]["annotations"] = {host_annotations.PAUSED: checks.HELD,
                                          host_annotations.STATUS: host_annotations.saved_status(bmh)}
        return entries

    of, there = (move_planes.client(servers, name) for name in ("here", "there"))
    move_planes.populate(of, "wiped", 2, clusters=(), change=change)
    before = [item["metadata"]["resourceVersion"] for item in Side(of, "wiped").objects]
    params = moves.move_params(
        namespace="wiped", clusterctl=move_planes.clusterctl(), work_dir=str(tmp_path),
        kubeconfig=servers.kubeconfig("here"), to_kubeconfig=servers.kubeconfig("there"),
        rehearsal_programs=move_planes.programs(), rehearsal_operator=True, former_ironic_mode="external",
        ironic_namespace="", ironic_deployment="")
    with pytest.raises(RefusedError) as raised:
        Move(of, there, params, False, Progress(None)).moved()
    assert [(problem.code, problem.subject) for problem in raised.value.problems] == [
        ("rehearsal-operator", "BareMetalHost host-001")]
    assert [item["metadata"]["resourceVersion"] for item in Side(of, "wiped").objects] == before
    assert there.get(KNOWN["Namespace"], None, "wiped") is None


KILLED = """
import sys, time
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.api.client import KubeClient
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.process import throwaway_operator
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.process.throwaway import ThrowawayServers
sys.path.insert(0, sys.argv[2])
from fakes import move_planes
with ThrowawayServers(sys.argv[1], ["here"]) as servers:
    of = KubeClient({"kubeconfig": servers.kubeconfig("here")})
    move_planes.install(of)
    throwaway_operator.start(servers, "here", of, "default")
    print(*(process.pid for process in servers._processes.values()), flush=True)
    time.sleep(600)
"""


def test_its_api_servers_and_the_operator_end_with_who_has_started_them():
    unit = os.path.dirname(os.path.dirname(move_planes.__file__))
    with subprocess.Popen([sys.executable, "-c", KILLED, move_planes.programs(), unit], stdout=subprocess.PIPE,
                          text=True, env=dict(os.environ, PYTHONPATH=os.environ["ANSIBLE_COLLECTIONS_PATH"])) as parent:
        pids = [int(text) for text in parent.stdout.readline().split()]
        assert len(pids) == 3 and not any(has_ended(pid) for pid in pids)
        began = time.monotonic()
        parent.send_signal(signal.SIGKILL)
        parent.wait(10)
        eventually(lambda: all(has_ended(pid) for pid in pids), 10, "etcd, the API server and the operator have ended")
        print(f"ended after {time.monotonic() - began:.1f} s")
