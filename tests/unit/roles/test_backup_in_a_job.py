# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A backup in the container of a job builds no programs for its rehearsal, and says so before anything is done."""
from __future__ import annotations

import json

import pytest
from fakes import playbook

WORDS = "backup_rehearsal: found true in the container of a job"


def back_up(folder, connection="local", **variables):
    """Run the playbook ``backup`` without a plane, with nothing in the cache, and return what it printed."""
    inventory = json.dumps({"management": {"hosts": {"m1": {
        "ansible_connection": connection, "ansible_python_interpreter": "{{ ansible_playbook_python }}"}}}})
    given = dict({"backup_directory": str(folder), "backup_recipients": ["age1x"], "metal3_kubeconfig": "/nowhere"},
                 **variables)
    code, output = playbook.play(folder, inventory, "", "metal3.baremetal.backup", "-e", json.dumps(given),
                                 XDG_CACHE_HOME=str(folder / "cache"))
    assert code != 0
    return " ".join(output.split())


@pytest.mark.parametrize("job", ["awx_job_id", "tower_job_id"])
def test_what_a_job_would_build_is_named_and_what_to_set(tmp_path, job):
    output = back_up(tmp_path, **{job: "1"})
    assert WORDS in output and "kube-apiserver" in output and "set backup_rehearsal=false in the inventory" in output
    assert not (tmp_path / "cache").exists()


@pytest.mark.parametrize("given", [
    {"backup_rehearsal": False}, {"backup_rehearsal_programs": "/nowhere", "backup_clusterctl": "/nowhere/clusterctl"}])
def test_a_job_without_anything_to_build_goes_on(tmp_path, given):
    output = back_up(tmp_path, awx_job_id="1", **given)
    assert WORDS not in output and "found no file /nowhere" in output


def test_a_machine_that_a_job_reaches_builds_them(tmp_path):
    """There they are kept."""
    assert WORDS not in back_up(tmp_path, connection="none-such", awx_job_id="1")
