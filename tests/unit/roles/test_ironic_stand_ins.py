# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Role ironic: only a lab has files in place of the agent's ramdisk, and a site is not warned of their folder."""
from __future__ import annotations

import json

import pytest
from fakes import playbook
from fakes.ironic_role import GIVEN, INVENTORY, ROLE
from tooling import ansible_yaml

TASK = "Put stand-ins where the agent's boot files would be"


@pytest.fixture(name="play")
def play_of_the_task(tmp_path):
    """Return a function that plays the role's task for a plane, and returns how often it changed something."""
    task, = (task for task in ansible_yaml.read(ROLE / "tasks" / "process.yml") if task["name"] == TASK)
    text = json.dumps([{"hosts": "management", "gather_facts": False, "tasks": [task],
                        "vars_files": [str(ROLE / "defaults" / "main.yml"), str(ROLE / "vars" / "main.yml")]}])

    def run(**figures):
        plane = dict(GIVEN["management_plane"], dir=str(tmp_path / "plane"), **figures)
        code, output = playbook.play(tmp_path, INVENTORY, text, "play.yml", "-e", json.dumps(
            dict(GIVEN, management_plane=plane)))
        assert code == 0 and "WARNING" not in output, output
        return playbook.recap(output)["m1"][0]
    return run


def test_a_site_has_none(play, tmp_path):
    assert play() == 0 and not (tmp_path / "plane").exists()


def test_a_lab_gets_those_that_are_missing(play, tmp_path):
    agent = tmp_path / "plane" / "www" / "agent"
    agent.mkdir(parents=True)
    (agent / "vmlinuz").write_text("of the lab")
    assert play(index=1) == 1 and play(index=1) == 0
    assert (agent / "vmlinuz").read_text() == "of the lab"
    assert sorted(path.name for path in agent.iterdir()) == ["esp.img", "initrd", "vmlinuz"]
