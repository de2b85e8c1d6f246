# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What make bench-scale counts: processor time and memory by groups of programs, hosts by provisioning state."""
from __future__ import annotations

import program_usage
import pytest
import scale_run
from host_phases import Phases


def stat(pid, parent, *ticks):
    """Return the text of /proc/<pid>/stat; the name is one that a careless reader would stumble over."""
    before = " ".join(["0"] * 9)
    return f"{pid} (a ) b) S {parent} {before} {' '.join(map(str, ticks))} 0 0\n"


@pytest.fixture
def proc(tmp_path):
    """A /proc with a program, its worker and a process of somebody else."""
    for pid, parent, ticks, pss_kib in ((10, 1, (100, 50, 30, 20), 2048), (11, 10, (200, 0, 0, 0), 1024),
                                        (12, 1, (999, 0, 0, 0), 4096)):
        (tmp_path / str(pid)).mkdir()
        (tmp_path / str(pid) / "stat").write_text(stat(pid, parent, *ticks))
        (tmp_path / str(pid) / "smaps_rollup").write_text(
            f"0-f ---p\nRss: 9999 kB\nPss: {pss_kib} kB\nPss_Dirty: 1 kB\n")
    (tmp_path / "meminfo").write_text("")
    return tmp_path


def test_a_program_counts_with_its_workers_and_its_ended_children(proc):
    ticks = program_usage.CLOCK_TICKS
    assert program_usage.seconds_by_group({"ironic": 10}, proc) == {"Ironic": pytest.approx(400 / ticks)}
    assert program_usage.memory_by_group({"ironic": 10}, proc) == {"Ironic": pytest.approx(3.0)}


def test_a_program_that_has_ended_counts_nothing(proc):
    assert program_usage.seconds_by_group({"bmo": 99}, proc) == {"BMO": 0}


@pytest.mark.parametrize(("program", "group"), [
    ("ironic", "Ironic"), ("ironic-conductor-2", "Ironic"), ("mariadb", "MariaDB"), ("bmo", "BMO"),
    ("machine-room", "machine room (the lab's)"), ("capm3", "other programs")])
def test_groups(program, group):
    assert program_usage.group_of(program) == group


def test_used_counts_a_program_that_was_started_again_from_its_new_start():
    assert scale_run.used({"BMO": 10.0, "Ironic": 5.0}, {"BMO": 3.0, "Ironic": 25.0}) == [
        ("Ironic", 20.0), ("BMO", 3.0)]


def host(state, message=""):
    return {"status": {"provisioning": {"state": state}, "errorMessage": message}}


def test_phases_add_up_what_a_host_was_in_twice():
    phases = Phases()
    for seconds, one in ((0, {}), (1, host("registering")), (3, host("inspecting")), (4, host("inspecting")),
                         (9, host("registering", "no answer")), (10, host("available")), (99, host("provisioning"))):
        phases.note("a", one, seconds)
    assert phases.reached() == {"a": 10}
    assert phases.table() == [("not looked at yet", 1, 1, 1, 1), ("registering", 1, 3, 3, 3),
                              ("inspecting", 1, 6, 6, 6), ("available", 1, 89, 89, 89)]
    assert phases.errors == {"a": "no answer"}


def test_phases_of_several_hosts():
    phases = Phases()
    for number in range(11):
        phases.note(f"h{number}", host("inspecting"), 0)
        phases.note(f"h{number}", host("preparing"), number)
    assert phases.table() == [("inspecting", 11, 5, 9, 10)]
    assert phases.reached() == {}


@pytest.mark.parametrize(("servers", "seconds", "code"), [(100, 230, 0), (100, 250, 1), (4, 250, 0)])
def test_the_goal_is_for_many_servers(servers, seconds, code, capsys):
    assert scale_run.verdict([seconds] * servers) == code
    assert f"{60 * servers / seconds:.1f} hosts per minute" in capsys.readouterr().out
