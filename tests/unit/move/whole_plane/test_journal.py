# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The journal of moves on the operator's machine: its lines, who may read it, and what a full disk does."""
from __future__ import annotations

import json
import os
import stat

import pytest
from fakes.clusterctl import Clusterctl, Killed
from fakes.moves import move_params
from fakes.planes import NAMESPACE, at_once, managed

from ansible_collections.metal3.baremetal.plugins.module_utils._common.files import user_folders
from ansible_collections.metal3.baremetal.plugins.module_utils._common.waiting.progress import Progress
from ansible_collections.metal3.baremetal.plugins.module_utils._move.objects import record
from ansible_collections.metal3.baremetal.plugins.module_utils._move.whole_plane import service
from ansible_collections.metal3.baremetal.plugins.module_utils._move.whole_plane.journal import Journal

PASSWORD = "canary-journal-3"
pytestmark = pytest.mark.usefixtures("complete_plane")


def move(here, there, journal, run, check_mode=False):
    return service.Move(here, there, move_params(), check_mode, Progress(None), run,
                        sleep=lambda _seconds: None, alone=at_once, journal=journal)


@pytest.fixture
def lines():
    return []


@pytest.fixture
def journal(here, there, tmp_path, lines):
    return Journal(str(tmp_path / "moves"), (here.server, there.server), NAMESPACE, lines.append, lambda: 1_800_000_000)


def noted(journal, tmp_path):
    path, = (tmp_path / "moves").glob("*.jsonl")
    return path, [json.loads(line) for line in path.read_text().splitlines()]


def test_a_move_that_was_killed_and_finished_has_a_line_for_each_step_and_no_secret(
        here, there, journal, tmp_path, lines):
    here.objects["BareMetalHost", "used"]["status"]["provisioning"]["image"] = {
        "url": f"https://me:{PASSWORD}@images.example.org/a.img?signature={PASSWORD}"}
    clusterctl = Clusterctl(here, there, 12)
    with pytest.raises(Killed):
        move(here, there, journal, clusterctl).moved()
    clusterctl.left = None
    move(here, there, journal, clusterctl).moved()
    path, found = noted(journal, tmp_path)
    assert [line["step"] for line in found] == ["begins", "goes on", "goes on", "has ended"]
    first = found[0]
    assert (first["at"], first["namespace"]) == ("2027-01-15T08:00:00Z", NAMESPACE)
    assert (first["from"]["server"], first["to"]["server"]) == (here.server, there.server)
    assert ["metal3.io", "BareMetalHost", "used"] in [entry[:3] for entry in first["objects"]]
    assert first["hosts"]["used"]["state"] == "provisioned" and first["machines"]["m"]["node"] == "m"
    assert PASSWORD not in path.read_text() and lines == [f"journal of the move: {path}"]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600 and stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_a_move_that_is_taken_back_is_noted(here, there, journal, tmp_path):
    with pytest.raises(Killed):
        move(here, there, journal, Clusterctl(here, there, 3)).moved()
    move(here, there, journal, Clusterctl(here, there)).undone()
    assert [line["step"] for line in noted(journal, tmp_path)[1]] == ["begins", "goes on", "goes on", "is taken back"]


def test_check_mode_and_a_move_that_has_ended_note_nothing(here, there, journal, tmp_path):
    move(here, there, journal, Clusterctl(here, there), check_mode=True).moved()
    assert not (tmp_path / "moves").exists()
    move(here, there, journal, Clusterctl(here, there)).moved()
    count = len(noted(journal, tmp_path)[1])
    assert move(here, there, journal, Clusterctl(here, there)).moved()["changed"] is False
    assert len(noted(journal, tmp_path)[1]) == count


def test_where_it_can_not_be_written_no_move_begins(here, there, journal, tmp_path):
    (tmp_path / "moves").write_text("no folder")
    before = managed(here)
    with pytest.raises(OSError):
        move(here, there, journal, Clusterctl(here, there)).moved()
    assert managed(here) == before and managed(there) == set()
    assert ("ConfigMap", record.NAME) not in here.objects


def test_a_move_that_has_begun_ends_without_it(here, there, journal, tmp_path, lines):
    clusterctl = Clusterctl(here, there, 12)
    with pytest.raises(Killed):
        move(here, there, journal, clusterctl).moved()
    path, found = noted(journal, tmp_path)
    os.unlink(path)
    # A link that somebody else has put there is not followed.
    path.symlink_to(tmp_path / "elsewhere")
    clusterctl.left = None
    assert move(here, there, journal, clusterctl).moved()["changed"]
    assert len(found) == 2 and not (tmp_path / "elsewhere").exists()
    assert [line for line in lines if line.startswith(f"journal {path}: not written: ")]


def test_its_name_is_no_text_of_the_planes(journal, tmp_path):
    of = record.Record(record.MOVING, "../../etc", "/x", (), {}, {})
    assert os.path.dirname(journal.path(of)) == str(tmp_path / "moves") and "etc" not in os.path.basename(
        journal.path(of))


def test_the_users_folder_for_it_follows_the_environment():
    assert user_folders.state_dir({"XDG_STATE_HOME": "/state", "HOME": "/h"}) == "/state/metal3.baremetal"
    assert user_folders.state_dir({"XDG_STATE_HOME": "relative", "HOME": "/h"}) == "/h/.local/state/metal3.baremetal"
