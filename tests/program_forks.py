# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs of Ansible's programs as forks; see forks. As a program it is the process that has imported them.

It has imported the collection's plugins, too, and what Ansible has packed of modules is kept between runs.
"""
from __future__ import annotations

import importlib
import os
import sys
import tempfile

import forks
import warm_ansible

_MODULES = {"ansible": "ansible.cli.adhoc", "ansible-playbook": "ansible.cli.playbook"}
# What nearly each run loads, beside these.
_LOADED = ("ansible.executor.playbook_executor", "ansible.executor.task_queue_manager", "ansible.plugins.action.normal",
           "ansible.plugins.callback.default", "ansible.plugins.callback.minimal", "ansible.plugins.connection.local",
           "ansible.plugins.filter.core", "ansible.plugins.strategy.linear")
# Read when Ansible and Python begin.
_READ_BEFORE = ("ANSIBLE_", "PYTHON")


class ProgramForks(forks.Forks):
    """The process; see Forks.

    :param variables: Ansible's environment variables, of all runs, and those of Python that are not this process's
    """

    def __init__(self, folder, variables):
        others = dict((name, value) for name, value in os.environ.items() if not name.startswith("ANSIBLE_"))
        self._environment = dict(others, **variables)
        # A configuration file would be looked for there.
        super().__init__(__file__, folder, self._environment, folder)

    def fits(self, environment):
        """Whether a run with these variables is what it would be as a process of its own."""
        return settings(environment) == settings(self._environment)

    def run(self, arguments, folder, environment, answers=""):
        """Run a program to its end and return its exit status and its two outputs.

        :param arguments: the program's name, and its arguments
        :param answers: what it reads
        """
        with _output() as stdin, _output() as stdout, _output() as stderr:
            stdin.write(answers)
            stdin.seek(0)
            code = self.start(arguments, [stream.fileno() for stream in (stdin, stdout, stderr)], folder,
                              environment).wait()
            for stream in (stdout, stderr):
                stream.seek(0)
            return code, stdout.read(), stderr.read()

    def start(self, arguments, descriptors, folder, environment):
        assert self.fits(environment), f"{arguments}: other variables of Ansible or Python than this process has read"
        return super().start(arguments, descriptors, folder, environment)


def _output():
    return tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")


def settings(environment):
    """Return those variables of an environment that Ansible and Python read when they begin."""
    return dict((name, value) for name, value in environment.items() if name.startswith(_READ_BEFORE))


def _be_the_program(arguments):
    """Run a program of Ansible's in this process and return its exit status."""
    sys.argv = arguments
    return forks.exit_status(importlib.import_module(_MODULES[arguments[0]]).main)


def _load_plugins():
    """Load the plugins that each run loads, and their options: to read these is most of a run of few tasks."""
    # Its table of where plugins have gone.
    importlib.import_module("ansible_collections.ansible.builtin")
    constants, loader = (importlib.import_module(f"ansible.{name}") for name in ("constants", "plugins.loader"))
    for name in constants.INVENTORY_ENABLED:
        loader.inventory_loader.get(name)
    for name in constants.VARIABLE_PLUGINS_ENABLED:
        loader.vars_loader.get(name)
    for plugins in (loader.become_loader, loader.callback_loader, loader.connection_loader, loader.shell_loader):
        list(plugins.all(class_only=True))
    loader.callback_loader.get(constants.DEFAULT_STDOUT_CALLBACK, class_only=True)
    loader.strategy_loader.get(constants.DEFAULT_STRATEGY, class_only=True)
    loader.cache_loader.get("memory", class_only=True)


def _import_all(folder):
    # Files of tests have names of packages.
    del sys.path[0]
    for name in (*_MODULES.values(), *_LOADED):
        importlib.import_module(name)
    # What the program does first, once for all: plugins can be found only then.
    cli = importlib.import_module("ansible.cli")
    cli.init_plugin_loader()
    cli.init_plugin_loader = lambda *dummy: None
    _load_plugins()
    # Filters import what they need when they are called.
    forks.import_plugins("module_utils", "plugin_utils", "action", "filter", "test")
    warm_ansible.keep_filters()
    warm_ansible.keep_templates(tempfile.mkdtemp(dir=folder))
    warm_ansible.wait_calmly()


if __name__ == "__main__":
    _import_all(os.path.dirname(sys.argv[1]))
    forks.serve(sys.argv[1], _be_the_program)
