# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs of ansible-playbook as forks, and of its modules: the imports are most of a short run; see forks."""
from __future__ import annotations

import atexit
import contextlib
import functools
import tempfile

import forks
from module_forks import ModuleForks
from program_forks import ProgramForks


@functools.cache
def _started():
    """Return both processes, which are stopped at the end of the tests."""
    stack = contextlib.ExitStack()
    atexit.register(stack.close)
    home = stack.enter_context(tempfile.TemporaryDirectory())
    settings = settings_in(home)
    return (stack.enter_context(ProgramForks(home, settings)), stack.enter_context(ModuleForks(home)), settings)


def settings_in(home):
    """Return Ansible's variables for a process of its programs, whose files are in a folder."""
    return {"ANSIBLE_COLLECTIONS_PATH": str(forks.COLLECTIONS), "ANSIBLE_HOME": home, "ANSIBLE_NOCOLOR": "1",
            "ANSIBLE_LOCAL_TEMP": home + "/tmp",
            # One shell for each module, in place of a dozen.
            "ANSIBLE_PIPELINING": "1"}


def ansible_playbook(arguments, folder, environment, answers=""):
    """Run ansible-playbook in a folder, with the collection and none of this machine's settings for Ansible.

    :param arguments: of the program
    :param environment: all variables of the run; none of Ansible's, and Python's own as they are here: both are read
        before a run begins
    :param answers: what is answered to its questions, one in a line
    :returns: exit status, standard output and standard error
    """
    assert not [name for name in environment if name.startswith("ANSIBLE_")]
    programs, modules, settings = _started()
    return programs.run(["ansible-playbook", *arguments, "-e", f"ansible_python_interpreter={modules.interpreter}"],
                        folder, dict(environment, **settings), answers)


def module_interpreter():
    """Return the path of the interpreter whose modules are forks, for runs of another process than those above."""
    return _started()[1].interpreter


def without_task(play, name):
    """Return what a run does that leaves out one task, whatever asks for it (``--step``).

    :param play: callable that takes further arguments of ansible-playbook and answers, and returns what was printed
    :param name: of the task
    """
    asked = play(["--step"], "y\n" * 100)
    asked = asked[0] if isinstance(asked, tuple) else asked
    before, found, _rest = asked.partition(f"Perform task: TASK: {name} ")
    assert found, asked
    return play(["--step"], "y\n" * before.count("Perform task: ") + "n\nc\n")
