# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs of ansible-playbook as forks of one process that has imported Ansible: the import is half of a short run.

As a program it is that process: it takes runs as lines of JSON, and answers each with its exit status.
"""
from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading

if __name__ == "__main__":
    # Fakes have names of packages.
    sys.path[0] = str(pathlib.Path(__file__).parents[2])

import module_forks

# What nearly each run loads.
_LOADED = ("ansible.cli.playbook", "ansible.executor.playbook_executor", "ansible.executor.task_queue_manager",
           "ansible.plugins.action.normal", "ansible.plugins.callback.default", "ansible.plugins.connection.local",
           "ansible.plugins.filter.core", "ansible.plugins.strategy.linear")
# How the connection plugin "local" is asked to run a module as this user.
_MODULE = re.compile(r"^/bin/sh -c '((?:[A-Z0-9_]+=[\w./-]+ )*)(\S+) (/\S+/AnsiballZ_\w+\.py) && sleep 0'$")


class _Forks:
    """The process, started with the first run and stopped at the end of the tests."""

    def __init__(self):
        self._process = None
        self._one_at_a_time = threading.Lock()

    def run(self, arguments, folder, environment):
        """Run ansible-playbook and return its exit status and its two outputs."""
        with self._one_at_a_time, tempfile.TemporaryDirectory() as kept:
            outputs = [pathlib.Path(kept, name) for name in ("stdout", "stderr")]
            if self._process is None:
                self._process = subprocess.Popen([sys.executable, __file__], stdin=subprocess.PIPE,
                                                 stdout=subprocess.PIPE, text=True)
                atexit.register(self._stop)
            self._process.stdin.write(json.dumps({
                "arguments": arguments, "folder": str(folder), "environment": environment,
                "outputs": list(map(str, outputs))}) + "\n")
            self._process.stdin.flush()
            answer = self._process.stdout.readline()
            assert answer, f"the process that runs playbooks has ended: {self._process.wait()}"
            return int(answer), *(path.read_text(encoding="utf-8") for path in outputs)

    def _stop(self):
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()


_FORKS = _Forks()


def ansible_playbook(arguments, folder, environment):
    """Run ansible-playbook in a folder, with the collection and none of this machine's settings for Ansible.

    :param arguments: of the program
    :param environment: all variables of the run; none of Ansible's, and Python's own as they are here: both are read
        before a run begins
    :returns: exit status, standard output and standard error
    """
    assert not [name for name in environment if name.startswith("ANSIBLE_")]
    pythons = [dict((name, value) for name, value in variables.items() if name.startswith("PYTHON"))
               for variables in (environment, os.environ)]
    assert pythons[0] == pythons[1]
    return _FORKS.run(list(arguments), folder, environment)


def _be_the_program(run):
    """Run ansible-playbook in this process and return its exit status."""
    os.setsid()
    os.chdir(run["folder"])
    # Ansible hands its own on to what it starts.
    own = dict((name, value) for name, value in os.environ.items() if name.startswith("ANSIBLE_"))
    os.environ.clear()
    os.environ.update(run["environment"], **own)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for number, path in enumerate(run["outputs"], start=1):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), number)
    sys.argv = ["ansible-playbook", *run["arguments"]]
    try:
        importlib.import_module("ansible.cli.playbook").main(sys.argv)
    except SystemExit as left:
        return left.code if isinstance(left.code, int) else int(left.code is not None)
    return 0


def _run_modules_by(forks):
    """Let the connection plugin ``local`` run modules as forks.

    :param forks: a ModuleForks
    """
    local = importlib.import_module("ansible.plugins.connection.local").Connection
    execute = local.exec_command

    def exec_command(self, cmd, in_data=None, sudoable=True):
        found = _MODULE.match(cmd)
        if found is None or found.group(2) != sys.executable:
            return execute(self, cmd, in_data=in_data, sudoable=sudoable)
        variables = dict(pair.split("=", 1) for pair in found.group(1).split())
        with open(os.devnull, "rb") as stdin, tempfile.TemporaryFile() as stdout, tempfile.TemporaryFile() as stderr:
            code = forks.run([found.group(3)], dict(os.environ, **variables),
                             [stream.fileno() for stream in (stdin, stdout, stderr)])
            outputs = []
            for stream in (stdout, stderr):
                stream.seek(0)
                outputs.append(stream.read())
        return code, *outputs

    local.exec_command = exec_command


def _serve(home):
    """Fork for each run that is asked for.

    :param home: folder of Ansible's own files
    """
    for name in [name for name in os.environ if name.startswith("ANSIBLE_")]:
        del os.environ[name]
    os.environ.update(ANSIBLE_COLLECTIONS_PATH=str(module_forks.COLLECTIONS), ANSIBLE_HOME=home, ANSIBLE_NOCOLOR="1",
                      ANSIBLE_LOCAL_TEMP=os.path.join(home, "tmp"))
    # A configuration file would be looked for here.
    os.chdir(home)
    for name in _LOADED:
        importlib.import_module(name)
    _run_modules_by(module_forks.ModuleForks(home))
    gc.collect()
    gc.freeze()
    for line in sys.stdin:
        pid = module_forks.forked(lambda line=line: _be_the_program(json.loads(line)))
        print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder_of_ansible:
        _serve(folder_of_ansible)
