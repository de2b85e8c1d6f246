# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rehearsals by the real clusterctl between real API servers with the real definitions of both planes.

The planes are API servers without controllers; the lab's own servers and plane take no part.
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
from fakes import move_planes
from processes import has_ended
from support import eventually

from ansible_collections.metal3.baremetal.plugins.module_utils._common.progress import Progress
from ansible_collections.metal3.baremetal.plugins.module_utils._move import clusterctl, rehearsal
from ansible_collections.metal3.baremetal.plugins.module_utils._move.reading import Side
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.catalogue import CLUSTERCTL_LABEL

pytestmark = pytest.mark.pivot

NAMESPACE = "rehearsed"
HOSTS = 3
# As the password of a BMC is stored, and as it is.
PASSWORD = (b"cGFzc3dvcmQtb2YtYS1ibWM=", b"password-of-a-bmc")


@pytest.fixture(scope="module")
def plane():
    """The plane that lets go: an API server with three hosts and a cluster, whose hosts are not held yet."""
    with move_planes.planes() as servers:
        of = move_planes.client(servers, "here")
        total = move_planes.populate(of, NAMESPACE, HOSTS, held=False)
        yield of, total


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


KILLED = """
import sys, time
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.process.throwaway import ThrowawayServers
with ThrowawayServers(sys.argv[1], ["here"]) as servers:
    print(*(process.pid for process in servers._processes.values()), flush=True)
    time.sleep(600)
"""


def test_its_api_servers_end_with_who_has_started_them():
    with subprocess.Popen([sys.executable, "-c", KILLED, move_planes.programs()], stdout=subprocess.PIPE,
                          text=True, env=dict(os.environ, PYTHONPATH=os.environ["ANSIBLE_COLLECTIONS_PATH"])) as parent:
        pids = [int(text) for text in parent.stdout.readline().split()]
        assert len(pids) == 2 and not any(has_ended(pid) for pid in pids)
        began = time.monotonic()
        parent.send_signal(signal.SIGKILL)
        parent.wait(10)
        eventually(lambda: all(has_ended(pid) for pid in pids), 10, "etcd and the API server have ended")
        print(f"ended after {time.monotonic() - began:.1f} s")
