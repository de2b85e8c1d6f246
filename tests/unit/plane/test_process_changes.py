# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Check mode says which programs would be started again, and why."""
from __future__ import annotations

import pytest

from ansible_collections.metal3.baremetal.plugins.module_utils._plane.process import process_group
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.process.supervisor_files import (
    Layout,
    write_program,
)


class Daemon:
    """A supervisord with one program that runs, or with none."""

    def __init__(self, layout, state, due=None):
        self.layout, self.state, self.due = layout, state, due or {}

    def write_config(self, _check_mode):
        return False

    def processes(self):
        return {"ironic": {"statename": self.state}} if self.state else {}

    def pending(self):
        return self.due


@pytest.fixture
def layout(tmp_path):
    for folder in ("conf.d", "ready"):
        (tmp_path / "supervisor" / folder).mkdir(parents=True)
    (tmp_path / "ironic.conf").write_text("[DEFAULT]\n")
    return Layout(str(tmp_path / "supervisor"))


def program(layout, **changes):
    return dict({"name": "ironic", "command": ["/old/ironic"], "environment": {"TOKEN": "a-word"},
                 "restart_on": [layout.lab_dir + "/ironic.conf"]}, **changes)


def said(layout, given, state="RUNNING", pending=()):
    reasons = process_group.differences(layout, [given], pending)
    actions = process_group.start(Daemon(layout, state), [given], True, pending)
    return process_group.diff(actions, reasons)


def entry(before, after):
    return [{"before_header": "program ironic", "after_header": "program ironic", "before": before, "after": after}]


@pytest.mark.parametrize(("changes", "reason"), [
    ({"command": ["/new/ironic"]}, "another command"),
    ({"environment": {"TOKEN": "other-word"}}, "another environment"),
    ({"directory": "/elsewhere"}, "other settings"),
    ({"command": ["/new/ironic"], "environment": {}}, "another command, another environment")])
def test_what_differs_is_said_and_never_how(layout, changes, reason):
    write_program(layout, program(layout))
    found = said(layout, program(layout, **changes))
    assert found == entry("running\n", f"restarted: {reason}\n") and "word" not in str(found)


def test_a_file_that_has_changed_and_one_that_would_be_are_the_same(layout, tmp_path):
    write_program(layout, program(layout))
    assert said(layout, program(layout)) == []
    expected = entry("running\n", "restarted: other contents of files that it reads\n")
    assert said(layout, program(layout), pending=[str(tmp_path / "ironic.conf")]) == expected
    assert said(layout, program(layout), pending=[str(tmp_path / "other.conf")]) == []
    (tmp_path / "ironic.conf").write_text("[DEFAULT]\ndebug = true\n")
    assert said(layout, program(layout)) == expected


def test_a_program_that_is_not_there_yet_and_one_that_has_ended(layout):
    assert said(layout, program(layout), state=None) == entry("not running\n", "started\n")
    write_program(layout, program(layout))
    assert said(layout, program(layout), state="FATAL") == entry("not running\n", "started\n")
    assert said(layout, program(layout), state="BACKOFF") == entry("not running\n", "started\n")


def test_what_is_stopped_was_running():
    assert process_group.diff({"ironic": "stopped", "etcd": "absent", "bmo": "running"}, {}) == entry(
        "running\n", "stopped\n")


def test_what_a_killed_run_has_configured_or_removed_is_reported_in_check_mode(layout):
    removed = Daemon(layout, "RUNNING", {"ironic": "stopped"})
    assert process_group.stop(removed, ["ironic", "etcd"], True) == {"ironic": "stopped", "etcd": "absent"}
    write_program(layout, program(layout))
    changed = Daemon(layout, "RUNNING", {"ironic": "restarted", "etcd": "restarted"})
    assert process_group.start(changed, [program(layout)], True) == {"ironic": "restarted"}


def test_a_program_is_stopped_before_its_files_go(layout):
    """A run that is killed in between is repeated, since roles look for the files."""
    write_program(layout, program(layout))

    class Killed(Daemon):
        def stop_programs(self, names):
            assert list(names) == ["ironic"]
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        process_group.stop(Killed(layout, "RUNNING"), ["ironic"])
    assert "ironic" in process_group.configured(layout)
