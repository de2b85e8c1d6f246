# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is over there is compared with what was here, by the run that moves and by one that takes it up."""
from __future__ import annotations

import base64
import copy
import gzip
import os

import pytest
from fakes.clusterctl import Clusterctl, Killed
from fakes.moves import move_params
from fakes.planes import NAMESPACE, STAY, at_once, managed

from ansible_collections.metal3.baremetal.plugins.module_utils._common.problems.errors import ReportedError
from ansible_collections.metal3.baremetal.plugins.module_utils._common.waiting.progress import Progress
from ansible_collections.metal3.baremetal.plugins.module_utils._move.objects import copies, record
from ansible_collections.metal3.baremetal.plugins.module_utils._move.whole_plane import service
from ansible_collections.metal3.baremetal.plugins.module_utils._move.whole_plane.journal import Journal

SECRET, PASSWORD = b"k" * 32, "cGFzc3dvcmQ="
pytestmark = pytest.mark.usefixtures("complete_plane")


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "moves"


def move(here, there, folder, run=None, accept=()):
    journal = Journal(str(folder), ("here", "there"), NAMESPACE, lambda _text: None)
    return service.Move(here, there, move_params(accept=list(accept)), False, Progress(None),
                        run or Clusterctl(here, there), sleep=lambda _seconds: None, alone=at_once,
                        journal=journal).moved()


class Mutating(Clusterctl):
    """A clusterctl whose copies something over there changes."""

    def __init__(self, here, there, change, steps=None):
        super().__init__(here, there, steps)
        self.change = change

    def __call__(self, *arguments):
        stored, change = self.there.objects, self.change

        class Changed(dict):
            def __setitem__(self, key, value):
                super().__setitem__(key, value)
                change(key, value)

        self.there.objects = Changed(stored)
        super().__call__(*arguments)


def lose_password(key, value):
    if key == ("Secret", "free-bmc"):
        value["data"] = {"username": PASSWORD}


def lose_label(key, value):
    if key == ("BareMetalHost", "free"):
        value["metadata"].pop("labels")


def with_contents(here):
    here.objects["Secret", "free-bmc"]["data"] = {"username": PASSWORD, "password": PASSWORD}
    here.objects["BareMetalHost", "free"]["metadata"]["labels"] = {"rack": "r1"}


@pytest.mark.parametrize("change, text", [
    (lose_password, "Secret free-bmc: found data.password (lost), over there, expected what it was here; compare"),
    (lose_label, "BareMetalHost free: found metadata.labels (lost), over there")])
def test_what_arrives_as_another_one_is_named_before_the_hosts_are_released(here, there, folder, change, text):
    with_contents(here)
    with pytest.raises(ReportedError) as reported:
        move(here, there, folder, Mutating(here, there, change))
    assert text in str(reported.value) and "1 of 10 objects" in str(reported.value)
    assert PASSWORD not in str(reported.value)
    # Nothing releases hosts while the record says so.
    for side in (here, there):
        assert record.read(side.objects["ConfigMap", record.NAME]).state == record.MOVING


def test_what_was_reported_is_found_again_until_it_is_corrected_or_accepted(here, there, folder):
    with_contents(here)
    with pytest.raises(ReportedError):
        move(here, there, folder, Mutating(here, there, lose_password))
    for _again in range(2):
        with pytest.raises(ReportedError, match="Secret free-bmc: found another content than it had here, over there"):
            move(here, there, folder)
    with pytest.raises(ReportedError):
        move(here, there, folder, accept=["Secret used-bmc"])
    corrected = copy.deepcopy(there.objects)
    assert move(here, there, folder, accept=["Secret free-bmc"])["changed"]
    there.objects = corrected
    there.objects["Secret", "free-bmc"]["data"] = {"username": PASSWORD, "password": PASSWORD}
    here.objects["ConfigMap", record.NAME] = copy.deepcopy(there.objects["ConfigMap", record.NAME])
    # The key of a move that has ended is gone.
    assert "were not compared" in move(here, there, folder)["warnings"][0]


def test_what_was_corrected_over_there_is_what_it_was(here, there, folder):
    with_contents(here)
    with pytest.raises(ReportedError):
        move(here, there, folder, Mutating(here, there, lose_password))
    there.objects["Secret", "free-bmc"]["data"] = {"username": PASSWORD, "password": PASSWORD, "none": ""}
    result = move(here, there, folder)
    assert result["changed"] and result["warnings"] == []
    assert record.read(there.objects["ConfigMap", record.NAME]).state == record.MOVED
    assert [name for name in os.listdir(folder) if name.endswith(".key")] == []


# Ten copies and a pause come before the first deletion.
@pytest.mark.parametrize("steps", [13, 16, 20])
def test_a_run_that_takes_a_move_up_compares_what_is_left_and_by_digests_what_is_gone(here, there, folder, steps):
    with_contents(here)
    with pytest.raises(Killed):
        move(here, there, folder, Mutating(here, there, lose_password, steps))
    left = managed(here)
    with pytest.raises(ReportedError, match="Secret free-bmc: found "):
        move(here, there, folder)
    # Nothing more has been deleted here.
    assert managed(here) == left != STAY
    move(here, there, folder, accept=["Secret free-bmc"])
    assert managed(here) == STAY


def test_another_machine_has_no_key_and_says_what_it_has_not_compared(here, there, folder, tmp_path):
    with_contents(here)
    with pytest.raises(Killed):
        move(here, there, folder, Clusterctl(here, there, 13))
    result = move(here, there, tmp_path / "other")
    assert "2 of 10 objects were not compared with what they were" in result["warnings"][0]


def test_the_key_of_the_digests_is_in_no_plane(here, there, folder):
    with_contents(here)
    with pytest.raises(Killed):
        move(here, there, folder, Clusterctl(here, there, 5))
    key, = (name for name in os.listdir(folder) if name.endswith(".key"))
    assert os.stat(folder / key).st_mode & 0o777 == 0o600
    text = (folder / key).read_text()
    for side in (here, there):
        stored = side.objects["ConfigMap", record.NAME]["binaryData"]["record.json.gz"]
        assert text not in gzip.decompress(base64.b64decode(stored)).decode()
        digests = [entry.digests for entry in record.read(side.objects["ConfigMap", record.NAME]).entries]
        assert len(digests) == 10 and all(digests)


def test_a_key_that_somebody_has_spoilt_is_none(here, there, folder):
    with pytest.raises(Killed):
        move(here, there, folder, Clusterctl(here, there, 13))
    key, = (folder / name for name in os.listdir(folder) if name.endswith(".key"))
    key.write_text("none")
    assert "were not compared" in move(here, there, folder)["warnings"][0]


def secret(**more):
    return dict({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "data": {"a": "YQ=="}}, **more)


def test_a_digest_is_of_content_alone():
    known = copies.digest(secret(), SECRET)
    labelled = {"name": "s", "uid": "u", "labels": {"x": "y"}}
    assert known == copies.digest(secret(metadata=labelled, status={"a": 1}), SECRET)
    assert known == copies.digest(secret(data={"a": "YQ==", "b": ""}, stringData=None), SECRET)
    assert known != copies.digest(secret(data={"a": "Yg=="}), SECRET)
    assert known != copies.digest(secret(), b"another")


def test_a_record_of_a_former_version_has_no_digests():
    entry = record.Entry("", "Secret", "s", "u")
    found = record.Record(record.MOVING, "a", "b", (entry,), {}, {})
    stored = record.config_map(found, NAMESPACE)
    packed = gzip.decompress(base64.b64decode(stored["binaryData"]["record.json.gz"])).replace(b', ""]]', b"]]")
    stored["binaryData"]["record.json.gz"] = base64.b64encode(gzip.compress(packed)).decode()
    assert record.read(stored) == found
