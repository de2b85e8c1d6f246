# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A machine with systemd as its init, in namespaces: a root file system, this machine's or another, with a layer.

What is written stays from one start to the next, as on a disk. Its network has an address of its own and no way out.
"""
from __future__ import annotations

import os
import shutil
import signal
import subprocess
from pathlib import Path

from machine_room.node_boot import cgroups, first_stage, linux
from support import eventually

ADDRESS = "192.0.2.10"
THIS_MACHINE = "/"
# What this machine would start; there only the test starts something.
HIDDEN = ("etc/systemd/system/multi-user.target.wants", "etc/systemd/system/timers.target.wants")
# systemd takes it for a request to power off.
POWER_OFF = signal.SIGRTMIN + 4
SEARCH_PATH = "/usr/sbin:/usr/bin:/sbin:/bin"
# A second, or a minute on a machine that has much else to do.
BOOT_SECONDS = 240
# Of a control group; no lab has such an index.
FIRST_INDEX = 10 ** 6
SPEC = {"name": "operator", "memory_mib": 8192, "uuid": "5f3a2c1e-0b7d-4c58-9e21-6d0f4a8b7c93", "serial": "operator-1",
        "vendor": "Test", "model": "Namespace"}


class Machine:
    """See above; a context manager that leaves nothing.

    :param folder: for what is written
    :param lower: the root file system below it
    """

    def __init__(self, folder, lower=THIS_MACHINE):
        self.folder, self._lower = Path(folder), lower
        self.namespace = f"m3operator-{os.getpid()}"
        self.group = cgroups.NodeGroup(cgroups.of_this_machine(), FIRST_INDEX + os.getpid(), SPEC["name"])
        self.pid = None
        self._terminal = None
        for name in ("upper", "work", "root"):
            (self.folder / name).mkdir()
        for name in HIDDEN if lower == THIS_MACHINE else ():
            path = self.folder / "upper" / name
            path.mkdir(parents=True)
            # overlayfs: nothing of the folder of that name below.
            os.setxattr(path, "trusted.overlay.opaque", b"y")
        # Its rule for /tmp removes at each start what tests have there for the machine.
        rules = self.folder / "upper" / "etc" / "tmpfiles.d"
        rules.mkdir(parents=True)
        (rules / "tmp.conf").symlink_to(os.devnull)

    def __enter__(self):
        return self

    def __exit__(self, *_exception):
        self.cut_power()

    def start(self, address_after=None):
        """Boot, and return when systemd answers.

        :param address_after: callable that is waited for before the network has its address; None for one
            that has it when systemd begins
        """
        self._ip("netns", "add", self.namespace)
        self._in_network("link", "set", "lo", "up")
        self.make_interfaces()
        if address_after is None:
            self.give_address()
        self.group.make(None)
        self._terminal = os.openpty()
        own = os.open("/proc/self/ns/pid_for_children", os.O_RDONLY)
        linux.unshare(linux.CLONE_NEWPID)
        self.pid = os.fork()
        if self.pid == 0:
            try:
                first_stage.become_init(
                    {"root_folder": str(self.folder / "root"), "server": SPEC}, self.group, [],
                    os.ttyname(self._terminal[1]), f"/run/netns/{self.namespace}", self._mount_root)
            except BaseException as error:
                os.write(2, f"{error!r}\n".encode())
            finally:
                os._exit(1)
        # What the test starts later is not the machine's.
        linux.enter_namespace(own, linux.CLONE_NEWPID)
        os.close(own)
        os.set_blocking(self._terminal[0], False)
        eventually(self._is_up, BOOT_SECONDS, "systemd running")
        if address_after is not None:
            address_after()
            self.give_address()

    def _is_up(self):
        self._drain()
        answer = self.run("systemctl", "is-system-running", check=False).stdout.strip()
        return answer in ("running", "degraded")

    def _drain(self):
        """Read the console, which would block systemd once it is full."""
        try:
            while os.read(self._terminal[0], 65536):
                continue
        except BlockingIOError:
            return

    def make_interfaces(self):
        """Make what the network has when the machine is switched on."""
        self._in_network("link", "add", "provisioning", "type", "bridge")

    def give_address(self):
        """Configure the machine's address."""
        self._in_network("address", "add", f"{ADDRESS}/24", "dev", "provisioning")
        self._in_network("link", "set", "provisioning", "up")

    def _mount_root(self, root):
        linux.mount("overlay", root, "overlay", 0, "lowerdir=%s,upperdir=%s,workdir=%s" % (
            self._lower, self.folder / "upper", self.folder / "work"))

    @staticmethod
    def _ip(*arguments):
        subprocess.run(["ip", *arguments], check=True, capture_output=True, text=True)

    def _in_network(self, *arguments):
        self._ip("-n", self.namespace, *arguments)

    def run(self, *command, user=None, environment=None, text="", check=True, seconds=60):
        """Run a program there.

        :param text: its standard input
        :param user: whose; root by default
        :param environment: variables beside PATH and HOME
        """
        variables = dict({"PATH": SEARCH_PATH, "HOME": f"/home/{user}" if user else "/root", "LANG": "C.UTF-8"},
                         **(environment or {}))
        become = ["setpriv", f"--reuid={user}", f"--regid={user}", "--init-groups"] if user else []
        done = subprocess.run(
            ["nsenter", "--target", str(self.pid), "--mount", "--pid", "--uts", "--ipc", "--net", "--cgroup", "--root",
             "env", "-i", "--chdir=/", *(f"{key}={value}" for key, value in variables.items()), *become, "timeout",
             "--kill-after=5", str(seconds), *command],
            input=text, capture_output=True, text=True, check=False)
        assert not check or done.returncode == 0, f"{' '.join(command)}: {done.stdout}{done.stderr}"
        return done

    def power_off(self):
        """Shut down in an orderly way, as before a restart."""
        os.kill(self.pid, POWER_OFF)
        eventually(self._has_ended, 120, "the end of all units")
        self._release()

    def _has_ended(self):
        self._drain()
        return os.waitpid(self.pid, os.WNOHANG)[0] == self.pid

    def cut_power(self):
        """End everything at once."""
        if self.pid:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        self._release()

    def _release(self):
        self.pid = None
        for descriptor in self._terminal or ():
            os.close(descriptor)
        self._terminal = None
        self.group.remove()
        if Path("/run/netns", self.namespace).exists():
            self._ip("netns", "delete", self.namespace)
        # overlayfs refuses a work folder that it has used otherwise.
        shutil.rmtree(self.folder / "work")
        (self.folder / "work").mkdir()
