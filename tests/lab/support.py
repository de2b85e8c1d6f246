# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the lab's tests do over and over: run playbooks as a user does, look at the real API server and Ironic."""
from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import openstack
from keystoneauth1.exceptions import ClientException

from ansible_collections.metal3.baremetal.plugins.module_utils.kube.client import KubeClient
from ansible_collections.metal3.baremetal.plugins.module_utils.kube.errors import KubeError
from ansible_collections.metal3.baremetal.plugins.module_utils.kube.follow import follow
from ansible_collections.metal3.baremetal.plugins.module_utils.kube.resources import KNOWN
from ansible_collections.metal3.baremetal.plugins.module_utils.lab.layout import labs_dir

REPOSITORY = Path(__file__).resolve().parents[2]
NAMESPACE = "metal3"
HOST = KNOWN["BareMetalHost"]


def eventually(ask, seconds, what, interval_seconds=0.2):
    """Ask until the answer is true and return it; fail with what was asked for after ``seconds``."""
    deadline = time.monotonic() + seconds
    pause = threading.Event()
    while True:
        answer = ask()
        if answer:
            return answer
        assert time.monotonic() < deadline, "not seen within %s s: %s" % (seconds, what)
        pause.wait(interval_seconds)


class Run:
    """A finished (or running) ansible-playbook: its exit code and all it printed."""

    def __init__(self, process, log):
        self.process, self._log = process, log

    @property
    def output(self):
        return self._log.read_text(errors="replace")

    @property
    def returncode(self):
        return self.process.returncode

    def finish(self, seconds):
        """Wait for the end; a run that takes longer is killed and fails the test."""
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError("still running after %d s:\n%s" % (seconds, self.output)) from None
        except KeyboardInterrupt:
            self.kill()
            raise
        return self

    def kill(self):
        """Kill the playbook and all it has started at once, as a lost machine would."""
        for pid in [self.process.pid, *descendants(self.process.pid)]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process.wait(10)

    def ok(self):
        assert self.returncode == 0, self.output
        return self

    def failed(self, *texts):
        """Expect a failure whose output has each of the texts."""
        assert self.returncode not in (0, None), "expected a failure:\n%s" % self.output
        flat = " ".join(self.output.split())
        for text in texts:
            assert text in flat, "%r is missing in:\n%s" % (text, self.output)
        return self

    def told_of(self, name):
        """Return the lines that the failure's message has about a host."""
        lines = [line for line in self.output.splitlines() if re.match(r"- %s( \(.*?\))?: " % re.escape(name), line)]
        assert lines, "nothing about %s in:\n%s" % (name, self.output)
        return lines

    def recap(self):
        """Return the numbers of the play recap: {host: {"changed": n, …}}."""
        numbers = {}
        for line in self.output.rpartition("PLAY RECAP")[2].splitlines():
            name, colon, rest = line.partition(":")
            if colon and "changed=" in rest:
                numbers[name.strip()] = dict((key, int(value)) for key, value in
                                             (pair.split("=") for pair in rest.split()))
        assert numbers, "no play recap in:\n%s" % self.output
        return numbers

    def changed(self):
        return sum(numbers["changed"] for numbers in self.recap().values())


class Lab:
    """The running lab named by the environment variable LAB."""

    def __init__(self, logs):
        self.name = os.environ["LAB"]
        self.dir = Path(labs_dir()) / self.name
        self.figures = json.loads((self.dir / "lab.json").read_text())
        self.servers = dict((server["name"], server) for server in json.loads((self.dir / "servers.json").read_text()))
        self.kube = KubeClient({"kubeconfig": str(self.dir / "kubeconfig")})
        self._logs = logs
        self._runs = 0

    def start(self, playbook, *arguments, environment=None, inventory=REPOSITORY / "inventory" / "lab", extra=None):
        """Start a playbook of the collection against the lab's inventory, in a process group of its own.

        :param extra: extra variables
        """
        self._runs += 1
        log = Path(self._logs) / ("%02d-%s.log" % (self._runs, playbook))
        command = [str(Path(sys.executable).parent / "ansible-playbook"), "metal3.baremetal." + playbook,
                   "-i", str(inventory), *(["-e", json.dumps(extra)] if extra else []), *arguments]
        with log.open("w") as stream:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=stream, stderr=subprocess.STDOUT,
                                       cwd=self._logs, start_new_session=True,
                                       env=dict(os.environ, **(environment or {})))
        return Run(process, log)

    def make(self, *arguments, seconds=600, environment=None):
        """Run make in the checkout, as the README says."""
        self._runs += 1
        log = Path(self._logs) / ("%02d-make-%s.log" % (self._runs, arguments[0]))
        # Left over from the make that runs these tests.
        inherited = dict((key, value) for key, value in os.environ.items() if not key.startswith(("MAKE", "MFLAGS")))
        with log.open("w") as stream:
            process = subprocess.Popen(["make", "-s", *arguments], stdin=subprocess.DEVNULL, stdout=stream,
                                       stderr=subprocess.STDOUT, cwd=REPOSITORY, start_new_session=True,
                                       env=dict(inherited, **(environment or {})))
        return Run(process, log).finish(seconds)

    def playbook(self, playbook, *arguments, seconds=300, **options):
        """Run a playbook to its end."""
        return self.start(playbook, *arguments, **options).finish(seconds)

    def host(self, name):
        """Return the BareMetalHost of that name, or None."""
        return self.kube.get(HOST, NAMESPACE, name)

    def hosts(self):
        """Return all BareMetalHosts by name."""
        return dict((item["metadata"]["name"], item) for item in self.kube.list(HOST, NAMESPACE)[0])

    def state(self, name):
        host = self.host(name)
        return None if host is None else ((host.get("status") or {}).get("provisioning") or {}).get("state", "")

    def wait_for_host(self, name, reached, what, seconds=120):
        """Watch one host until ``reached(object or None)``."""
        step = None
        for step in follow(self.kube, HOST, NAMESPACE, time.monotonic() + seconds):
            if reached(step.objects.get(name)):
                return step.objects.get(name)
        raise AssertionError("%s: not %s within %d s; last seen: %s" % (
            name, what, seconds, json.dumps((step.objects.get(name) or {}).get("status") if step else None)))

    def remove_hosts(self, *names):
        """Delete hosts and wait until they are gone, from Ironic too."""
        for name in names:
            self.kube.delete(HOST, NAMESPACE, name)
        for name in names:
            # BMO switches a host off first, and takes its time to try that again after a failure.
            self.wait_for_host(name, lambda host: host is None, "gone", seconds=300)

    def inventory(self, hosts):
        """Write an inventory file and return its path.

        :param hosts: {name: variables} of the group baremetal; what the lab's inventory has of a host stays
        """
        self._runs += 1
        path = Path(self._logs) / ("%02d-inventory.json" % self._runs)
        path.write_text(json.dumps({"baremetal": {"hosts": hosts}}))
        return path

    def versions(self):
        """Return the resourceVersions of all hosts and their Secrets."""
        return dict(((resource.kind, item["metadata"]["name"]), item["metadata"]["resourceVersion"])
                    for resource in (HOST, KNOWN["Secret"]) for item in self.kube.list(resource, NAMESPACE)[0])

    def ironic(self):
        """Return a connection to the lab's Ironic."""
        clouds = openstack.config.OpenStackConfig(config_files=[str(self.dir / "clouds.yaml")], load_envvars=False)
        return openstack.connection.Connection(config=clouds.get_one("metal3-lab")).baremetal

    def nodes(self):
        """Return Ironic's nodes by the name of their host."""
        return dict((node.name.partition("~")[2], node) for node in self.ironic().nodes(details=True))

    def describe(self):
        """Return, for a failed test, the newest run's last lines and what BMO, Ironic and the servers say."""
        lines = []
        for log in sorted(Path(self._logs).glob("*.log"), key=lambda path: path.stat().st_mtime)[-1:]:
            lines += ["%s ends with:" % log.name, *log.read_text(errors="replace").splitlines()[-15:]]
        # What is down, perhaps by the test's own doing, says nothing.
        with contextlib.suppress(KubeError, openstack.exceptions.SDKException, ClientException):
            nodes = self.nodes()
            for name, host in sorted(self.hosts().items()):
                status, node = host.get("status") or {}, nodes.get(name)
                lines.append("%s: %s, %s %s; Ironic: %s" % (
                    name, (status.get("provisioning") or {}).get("state"), status.get("operationalStatus"),
                    status.get("errorMessage") or "", node and " ".join(map(str, (
                        node.provision_state, node.power_state, node.last_error or "")))))
        for name in self.servers:
            console = self.dir / "machines" / name / "console.log"
            if console.exists():
                lines += ["%s: %s" % (name, line) for line in console.read_text(errors="replace").splitlines()[-6:]]
        return "\n".join(line[:300] for line in lines)

    def parts(self):
        """Return what ``make lab-status`` knows, by program."""
        listed = subprocess.run(
            [sys.executable, str(REPOSITORY / "lab" / "cli.py"), "status", "--lab", self.name, "--json"],
            check=True, capture_output=True, text=True).stdout
        return dict((part["program"], part) for part in json.loads(listed))

    def pid(self, program):
        """Return the pid of a supervised program, None when it does not run."""
        return self.parts()[program]["pid"]


def descendants(pid):
    """Return the pids of all that a process has started; Ansible's workers have sessions of their own."""
    children = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(path.read_text(errors="replace").rpartition(")")[2].split()[1])
        except OSError:
            # It ended meanwhile.
            continue
        children.setdefault(parent, []).append(int(path.parent.name))
    found = children.get(pid, [])
    for child in found:
        found.extend(children.get(child, []))
    return found


def processes_of(directory):
    """Return the pids of the processes that belong to the lab in ``directory``.

    Those that carry its mark, and the supervisor's session: nginx writes over its environment.
    """
    mark = ("METAL3_LAB_DIR=%s" % directory).encode()
    pid_file = Path(directory) / "supervisor" / "supervisord.pid"
    session = pid_file.read_text().strip() if pid_file.exists() else None
    found = []
    for environment in Path("/proc").glob("[0-9]*/environ"):
        try:
            stat = (environment.parent / "stat").read_text(errors="replace").rpartition(")")[2].split()
            if stat[3] == session or mark in environment.read_bytes().split(b"\0"):
                found.append(int(environment.parent.name))
        except OSError:
            # It ended meanwhile, or is another user's.
            continue
    return found
