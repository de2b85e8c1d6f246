# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A module that runs as a fork ends as one that Python has started does."""
from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from module_forks import ModuleForks

WITH_FORKS = Path(__file__).resolve().parents[2] / "with_forks.py"


@pytest.fixture(scope="module", name="forks")
def module_forks(tmp_path_factory):
    with ModuleForks(tmp_path_factory.mktemp("forks")) as forks:
        yield forks


def run(forks, folder, text):
    module = folder / "module.py"
    module.write_text(textwrap.dedent(text))
    return subprocess.run([forks.interpreter, str(module)], capture_output=True, text=True, check=False, timeout=60)


@pytest.mark.parametrize("end, code", [("", 0), ("sys.exit(3)", 3), ("sys.exit('failed')", 1), ("1 / 0", 1)])
def test_what_a_module_leaves_to_its_end_is_done(forks, tmp_path, end, code):
    kept = tmp_path / "key"
    result = run(forks, tmp_path, f"""
        import atexit, os, sys
        open({str(kept)!r}, "w").close()
        atexit.register(os.remove, {str(kept)!r})
        {end}
        """)
    assert result.returncode == code
    assert not kept.exists()


def test_only_modules_of_this_machine_are_forks(tmp_path):
    """The other host is entered by a program that says so, as a machine in namespaces is."""
    enter = tmp_path / "enter"
    enter.write_text('#!/bin/sh\nfor command; do :; done\nENTERED=yes exec sh -c "$command"\n')
    enter.chmod(0o700)
    hosts = {"here": {"ansible_connection": "local"}, "there": {
        "ansible_connection": "ssh", "ansible_ssh_executable": str(enter), "ansible_ssh_args": "",
        "ansible_pipelining": True}}
    (tmp_path / "hosts.json").write_text(json.dumps({"all": {"hosts": hosts}}))
    (tmp_path / "play.yml").write_text(textwrap.dedent("""
        - hosts: all
          gather_facts: false
          tasks:
            - ansible.builtin.setup: {gather_subset: [env]}
            - ansible.builtin.copy:
                content: "{{ ansible_facts.env.ENTERED | default('no') }} {{ ansible_python_interpreter }}"
                dest: "{{ playbook_dir }}/{{ inventory_hostname }}"
              delegate_to: here
        """))
    done = subprocess.run(
        [sys.executable, str(WITH_FORKS), "ansible-playbook", "-i", "hosts.json", "play.yml"], cwd=tmp_path,
        capture_output=True, text=True, check=False, timeout=300,
        env=dict(os.environ, PATH=f"{Path(sys.executable).parent}:{os.environ['PATH']}"))
    assert done.returncode == 0, done.stdout + done.stderr
    entered, interpreter = (tmp_path / "there").read_text().split()
    assert (entered, interpreter) == ("yes", sys.executable)
    entered, interpreter = (tmp_path / "here").read_text().split()
    assert entered == "no" and interpreter != sys.executable
