# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the lab's tests do over and over: run playbooks as a user does, look at the real API server and Ironic."""
from __future__ import annotations

import contextlib
import itertools
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from datetime import datetime, timezone
from pathlib import Path

import openstack
import operator_log
from ansible_programs import PROGRAMS
from processes import kill_tree

from ansible_collections.metal3.baremetal.plugins.module_utils._kube.api.client import KubeClient
from ansible_collections.metal3.baremetal.plugins.module_utils._kube.api.follow import follow
from ansible_collections.metal3.baremetal.plugins.module_utils._lab.layout import labs_dir
from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.kinds import KNOWN

REPOSITORY = Path(__file__).resolve().parents[2]
# The lab is brought up with it; what may follow it there ("-i …") is for that only.
INVENTORY = REPOSITORY / os.environ.get("LAB_INVENTORY", "inventory/lab").split()[0]
NAMESPACE = "metal3"
HOST = KNOWN["BareMetalHost"]
# Arguments of a playbook: a fault that BMO might get over is reported at its first attempt, not at its third.
AT_ONCE = ("-e", '{"hosts_error_limit": 1}')


@contextlib.contextmanager
def running_module(module_name, *flags, **arguments):
    """Yield a module of the collection, as Ansible runs it, as a Run; and the Path of what it prints as errors.

    :param flags: of the program ``ansible``, for example ``--check``
    """
    with tempfile.TemporaryDirectory() as folder:
        log, errors = Path(folder, "output"), Path(folder, "errors")
        with log.open("w") as output, errors.open("w") as other:
            process = PROGRAMS.start("ansible", ["localhost", *flags, "-m", "metal3.baremetal." + module_name,
                                                 "-a", json.dumps(arguments)], (output, other), os.getcwd())
            yield Run(process, log), errors


def module(module_name, *flags, within_seconds=900, **arguments):
    """Run a module of the collection and return its result; see ``running_module``.

    :param within_seconds: time that it may take
    """
    with running_module(module_name, *flags, **arguments) as (run, errors):
        run.finish(within_seconds)
        assert run.returncode == 0, run.output + errors.read_text()
        return json.loads(run.output.partition("=>")[2])


def killed_module(module_name, when, **arguments):
    """Run a module until something holds, and kill it then.

    :param when: returns whether it holds; a run that ends before fails the test
    """
    with running_module(module_name, **arguments) as (run, errors):
        eventually(lambda: when() or run.process.poll() is not None, 300, "the moment at which a run is killed", 0.05)
        assert run.process.poll() is None, run.output + errors.read_text()
        run.kill()


def only(*names):
    """Return a playbook's arguments that limit it to hosts."""
    return "--limit", ",".join(names)


def eventually(ask, seconds, what, interval_seconds=0.2, not_yet=()):
    """Ask until the answer is true and return it; fail with what was asked for after ``seconds``.

    :param not_yet: exceptions that mean that it is too early to ask
    """
    deadline = time.monotonic() + seconds
    pause = threading.Event()
    while True:
        answer, error = None, None
        try:
            answer = ask()
        except not_yet as raised:
            error = raised
        if answer:
            return answer
        assert time.monotonic() < deadline, "not seen within %s s: %s%s" % (
            seconds, what, f"; last: {error}" if error else "")
        pause.wait(interval_seconds)


def asked_of(host):
    """Return what was asked of a BareMetalHost; the operator writes its status at any time."""
    metadata = host["metadata"]
    return metadata["generation"], metadata.get("labels"), metadata.get("annotations")


class Run:
    """A finished (or running) ansible-playbook: its exit code and all it printed."""

    unfinished = []

    def __init__(self, process, log):
        self.process, self._log = process, log
        self.unfinished.append(self)

    @classmethod
    @contextlib.contextmanager
    def none_unfinished(cls):
        """Kill the runs that nobody has waited for, before and after: their tests have failed, others want the lab."""
        cls._kill_unfinished()
        try:
            yield
        finally:
            cls._kill_unfinished()

    @classmethod
    def _kill_unfinished(cls):
        while cls.unfinished:
            cls.unfinished.pop().kill()

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
            raise AssertionError(f"still running after {seconds} s:\n{self.output}") from None
        return self

    def kill(self):
        """Kill the playbook and all it has started at once, as a lost machine would."""
        if self.process.poll() is None:
            kill_tree(self.process.pid)
            self.process.wait(60)

    def ok(self):
        assert self.returncode == 0, self.output
        return self

    def failed(self, *texts):
        """Expect a failure whose output has each of the texts."""
        assert self.returncode not in (0, None), f"expected a failure:\n{self.output}"
        flat = " ".join(self.output.split())
        for text in texts:
            assert text in flat, f"{text!r} is missing in:\n{self.output}"
        return self

    def output_of(self, name):
        """Return the lines that the failure's message has about a host."""
        lines = [line for line in self.output.splitlines() if re.match(rf"- {re.escape(name)}( \(.*?\))?: ", line)]
        assert lines, f"nothing about {name} in:\n{self.output}"
        return lines

    def recap(self):
        """Return the numbers of the play recap: {host: {"changed": n, …}}."""
        numbers = {}
        for line in self.output.rpartition("PLAY RECAP")[2].splitlines():
            name, colon, rest = line.partition(":")
            if colon and "changed=" in rest:
                numbers[name.strip()] = dict((key, int(value)) for key, value in
                                             (pair.split("=") for pair in rest.split()))
        assert numbers, f"no play recap in:\n{self.output}"
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
        assert self.servers, f"lab {self.name} has no servers: nothing could be tested on it"
        self.kube = KubeClient({"kubeconfig": str(self.dir / "kubeconfig")})
        # Of the account that playbooks use; None for what the inventory says, which is the administrator's.
        self.kubeconfig = None
        self._logs = logs
        # One number for each run, also for those that threads start side by side.
        self._numbers = itertools.count(1)

    def start(self, playbook, *arguments, environment=None, inventory=INVENTORY, extra=None, forked=True):
        """Start a playbook against the lab's inventory, in a process group of its own.

        :param playbook: name of one of the collection's, or the Path of another one
        :param extra: extra variables
        :param forked: whether it may be a fork, whose arguments are not those of its process
        """
        log = Path(self._logs) / (f"{next(self._numbers):02d}-{Path(playbook).stem}.log")
        own = isinstance(playbook, Path)
        # Another inventory may have hosts on other machines.
        command = [str(playbook) if own else "metal3.baremetal." + playbook, "-i", str(inventory),
                   *(["-e", f"metal3_kubeconfig={self.kubeconfig}"] if self.kubeconfig else []),
                   *(["-e", json.dumps(extra)] if extra else []), *arguments]
        with log.open("w") as stream:
            process = PROGRAMS.start("ansible-playbook", command, (stream, stream), self._logs, environment,
                                     may_be_forked=forked and inventory == INVENTORY)
        return Run(process, log)

    def make(self, *arguments, seconds=600, environment=None):
        """Run make in the checkout, as the README says."""
        log = Path(self._logs) / (f"{next(self._numbers):02d}-make-{arguments[0]}.log")
        # Left over from the make that runs these tests.
        inherited = dict((key, value) for key, value in os.environ.items() if not key.startswith(("MAKE", "MFLAGS")))
        with log.open("w") as stream:
            process = subprocess.Popen(["make", "-s", *arguments], stdin=subprocess.DEVNULL, stdout=stream,
                                       stderr=subprocess.STDOUT, cwd=REPOSITORY, start_new_session=True,
                                       env=dict(inherited, **(environment or {})))
        return Run(process, log).finish(seconds)

    def playbook(self, playbook, *arguments, seconds=600, **options):
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

    def wait_for_host(self, name, reached, what, seconds=300):
        """Watch one host until ``reached(object or None)``."""
        step = None
        for step in follow(self.kube, HOST, NAMESPACE, time.monotonic() + seconds):
            # Before the first list everything is missing.
            if step.listed and reached(step.objects.get(name)):
                return step.objects.get(name)
        raise AssertionError("%s: not %s within %d s; last seen: %s" % (
            name, what, seconds, json.dumps((step.objects.get(name) or {}).get("status") if step else None)))

    def remove_hosts(self, *names, seconds=300):
        """Delete hosts and wait until each of them is gone, from Ironic too."""
        for name in names:
            self.kube.delete(HOST, NAMESPACE, name)
        for name in names:
            # BMO switches a host off first, and takes its time to try that again after a failure.
            self.wait_for_host(name, lambda host: host is None, "gone", seconds)

    def inventory(self, hosts):
        """Write an inventory file and return its path.

        :param hosts: {name: variables} of the group baremetal; what the lab's inventory has of a host stays
        """
        path = Path(self._logs) / (f"{next(self._numbers):02d}-inventory.json")
        path.write_text(json.dumps({"baremetal": {"hosts": hosts}}))
        return path

    def versions(self):
        """Return what shows whether anybody has changed a host or a Secret: by name, without secrets."""
        versions = dict(((HOST.kind, name), asked_of(host)) for name, host in self.hosts().items())
        # Nobody writes a status into these.
        versions.update(((item["kind"], item["metadata"]["name"]), item["metadata"]["resourceVersion"])
                        for item in self.kube.list(KNOWN["Secret"], NAMESPACE)[0])
        return versions

    def ironic(self, plane=None):
        """Return a connection to an Ironic.

        :param plane: folder of a plane of processes; None for the lab's
        """
        path = (plane or self.dir) / "clouds.yaml"
        clouds = openstack.config.OpenStackConfig(config_files=[str(path)], load_envvars=False)
        return openstack.connection.Connection(config=clouds.get_one("metal3-lab")).baremetal

    def nodes(self):
        """Return Ironic's nodes by the name of their host; those that Ironic made by itself have none."""
        return dict((node.name.partition("~")[2], node) for node in self.ironic().nodes(details=True) if node.name)

    def describe(self):
        """Return, for a failed test, the newest run's last lines and what BMO, Ironic and the servers say."""
        lines = []
        for log in sorted(Path(self._logs).glob("*.log"), key=lambda path: path.stat().st_mtime)[-1:]:
            lines += [f"{log.name} ends with:", *log.read_text(errors="replace").splitlines()[-15:]]
        try:
            nodes = self.nodes()
            for name, host in sorted(self.hosts().items()):
                status, node = host.get("status") or {}, nodes.get(name)
                lines.append("%s: %s, %s %s; Ironic: %s" % (
                    name, (status.get("provisioning") or {}).get("state"), status.get("operationalStatus"),
                    status.get("errorMessage") or "", node and " ".join(map(str, (
                        node.provision_state, node.power_state, node.last_error or "")))))
        except Exception as error:
            # Perhaps down by the test's own doing; the consoles say something nevertheless.
            lines.append(f"API server or Ironic: {error!r}")
        for name in self.servers:
            console = self.dir / "machines" / name / "console.log"
            if console.exists():
                lines += [f"{name}: {line}" for line in console.read_text(errors="replace").splitlines()[-6:]]
        # When BMO and Ironic acted, and what BMO waited for: a wait that was too short does not show it.
        lines.append(f"now {datetime.now(timezone.utc):%Y-%m-%dT%H:%M:%S}Z")
        lines += operator_log.recent(self.dir / "log" / "bmo.log", 60)
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

    @contextlib.contextmanager
    def paused(self, program):
        """Have a supervised program stand still meanwhile, as ``dhcp`` where nobody is to lend addresses."""
        pid = self.pid(program)
        os.kill(pid, signal.SIGSTOP)
        try:
            yield
        finally:
            os.kill(pid, signal.SIGCONT)
