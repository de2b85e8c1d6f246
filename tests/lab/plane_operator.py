# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A user of a machine of systemd_machine, and the bootstrap plane that this user describes and installs."""
from __future__ import annotations

import json
import os
import shutil
import sys
import time
from pathlib import Path

import systemd_machine
from support import REPOSITORY, eventually

from ansible_collections.metal3.baremetal.plugins.module_utils._common.files import user_folders

USER = "rack1"
UNIT = "metal3-plane-rack1.service"
# Those of the base, of Ironic and of the providers.
PROGRAMS = 11
HOME = f"/home/{USER}"


def add_user(machine):
    """Create the user, who may read the collection and its Python environments."""
    machine.run("useradd", "--create-home", "--shell", "/bin/sh", USER)
    for folder in (REPOSITORY, Path(user_folders.cache_dir())):
        for parent in folder.parents:
            machine.run("chmod", "o+x", str(parent))


def share_programs(machine):
    """Give the user what this user's cache has of programs, not to be written; the cache itself is the user's."""
    cache, own = Path(user_folders.cache_dir()), f"{HOME}/.cache/metal3.baremetal"
    machine.run("mkdir", "-p", f"{own}/engine")
    for path in (*cache.iterdir(), *(cache / "engine").iterdir()):
        if path.is_dir() and path.name not in ("engine", "work"):
            machine.run("ln", "-s", str(path), f"{own}/{path.relative_to(cache)}")
    machine.run("chown", "-R", f"{USER}:", f"{HOME}/.cache")


def linger(machine):
    """Have the user's systemd run without a login, as an administrator does."""
    machine.run("loginctl", "enable-linger", USER)
    number = machine.run("id", "-u", USER).stdout.strip()
    eventually(lambda: machine.run("systemctl", "is-active", f"user@{number}.service", check=False).stdout
               == "active\n", 30, "the user's systemd")


class Played(str):
    """What a playbook has printed."""

    __slots__ = ()

    def says(self, text):
        assert text in " ".join(self.split()), self

    def changed(self):
        return int(self.rpartition("changed=")[2].split()[0])


class Operator:
    """A user of the machine, and the plane that this user describes."""

    def __init__(self, machine, user, home):
        self.machine, self.user, self.home = machine, user, home
        self.dir = f"{home}/plane"
        self.scope = ["--user"] if user else []
        self.environment = {
            "ANSIBLE_COLLECTIONS_PATH": str(REPOSITORY / ".build"), "ANSIBLE_LOCALHOST_WARNING": "False",
            "METAL3_SERVICES_PYTHON": os.environ["METAL3_SERVICES_PYTHON"], "ANSIBLE_HOME": f"{home}/.ansible",
            # With the compiler, by whose version built programs are found.
            "PATH": f"{Path(shutil.which('go')).parent}:{systemd_machine.SEARCH_PATH}"}
        if user:
            self.environment["XDG_RUNTIME_DIR"] = f"/run/user/{machine.run('id', '-u', user).stdout.strip()}"

    def run(self, *command, **options):
        return self.machine.run(*command, user=self.user, environment=self.environment, **options)

    def inventory(self, **variables):
        content = {"all": {
            "vars": dict({
                "management_plane": {"mode": "process", "name": "rack1", "dir": self.dir,
                                     "address": systemd_machine.ADDRESS},
                "metal3_kubeconfig": f"{self.dir}/kubeconfig",
                "bootstrap_plane_service": "auto",
                "bmo_deploy_iso_url": f"https://{systemd_machine.ADDRESS}:6183/images/agent.iso"}, **variables),
            "children": {"management": {"hosts": {"localhost": {
                "ansible_connection": "local", "ansible_python_interpreter": "{{ ansible_playbook_python }}"}}}}}}
        self.run("tee", f"{self.home}/site.json", text=json.dumps(content))
        return f"{self.home}/site.json"

    def playbook(self, name, *arguments, fails=False, **variables):
        done = self.run(str(Path(sys.executable).parent / "ansible-playbook"), "metal3.baremetal." + name, "-i",
                        self.inventory(**variables), *arguments, check=False, seconds=600)
        assert bool(done.returncode) == fails, done.stdout + done.stderr
        return Played(done.stdout + done.stderr)

    def systemctl(self, *arguments, **options):
        return self.run("systemctl", *self.scope, *arguments, **options)

    def until_ready(self):
        """Wait as install does, and return the seconds that it took."""
        began = time.monotonic()
        arguments = json.dumps({"supervisor_dir": f"{self.dir}/supervisor", "state": "ready"})
        self.run(str(Path(sys.executable).parent / "ansible"), "localhost", "-m", "metal3.baremetal.plane_processes",
                 "-a", arguments, seconds=180)
        return time.monotonic() - began

    def kubectl(self, *arguments):
        return self.run(f"{self.engine}/bin/kubectl", f"--kubeconfig={self.dir}/kubeconfig", *arguments).stdout

    @property
    def engine(self):
        return json.loads(self.run("cat", f"{self.dir}/lab.json").stdout)["engine_dir"]

    def processes(self):
        """Return (user, command) of all processes of the plane, kernel threads and others left out."""
        lines = [line.split(None, 2) for line in self.machine.run("ps", "-eo", "user:32,pid,args").stdout.splitlines()]
        found = []
        for user, pid, command in lines[1:]:
            environ = self.machine.run("cat", f"/proc/{pid}/environ", check=False).stdout
            if f"METAL3_LAB_DIR={self.dir}" in environ.split("\0"):
                found.append((user, command))
        return found
