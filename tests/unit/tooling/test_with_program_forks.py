# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A command whose runs of ansible-playbook are forks gets what they write and how they end, by their own settings."""
from __future__ import annotations

import os
import subprocess

import program_forks
import pytest
import with_program_forks

COMMAND = ["bash", "-c", """
ansible-playbook --syntax-check a.yml; echo "ended with $?"
ANSIBLE_FORKS=7 ansible-playbook b.yml; echo "ended with $?"
cd / && OTHER=1 ansible-playbook c.yml; echo "ended with $?"
exit 3"""]


class Programs:
    """Forks of processes of no program: each run writes what it was asked, and ends with the number of its settings."""

    made = []

    def __init__(self, folder, variables):
        assert os.path.isdir(folder)
        self.made.append(variables)
        self._code = 40 + len(self.made)

    def __enter__(self):
        return self

    def __exit__(self, *dummy):
        self.made.append("closed")

    def start(self, arguments, descriptors, folder, environment):
        os.write(descriptors[1], f"{arguments} {folder} {environment.get('ANSIBLE_FORKS')}\n".encode())
        return subprocess.Popen(["sh", "-c", f"exit {self._code}"], stdin=subprocess.DEVNULL)


@pytest.fixture(name="programs")
def no_programs(monkeypatch):
    monkeypatch.setattr(program_forks, "ProgramForks", Programs)
    monkeypatch.setattr(Programs, "made", [])
    monkeypatch.delenv("ANSIBLE_FORKS", raising=False)
    return Programs.made


def test_a_run_is_a_fork_of_the_process_with_its_settings(programs, monkeypatch, tmp_path, capfd):
    monkeypatch.chdir(tmp_path)
    assert with_program_forks.run(COMMAND) == 3
    assert capfd.readouterr().out.splitlines() == [
        f"['ansible-playbook', '--syntax-check', 'a.yml'] {tmp_path} None", "ended with 41",
        f"['ansible-playbook', 'b.yml'] {tmp_path} 7", "ended with 42",
        "['ansible-playbook', 'c.yml'] / None", "ended with 41"]
    first, second, *closed = programs
    assert second == dict(first, ANSIBLE_FORKS="7")
    assert closed == ["closed", "closed"]


def test_without_a_run_there_is_no_process(programs):
    assert with_program_forks.run(["true"]) == 0
    assert programs == []
