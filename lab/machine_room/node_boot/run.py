"""Runs one node until it ends: ``python -m machine_room.node_boot.run SPEC_FILE READY_DESCRIPTOR``.

Writes ``ok`` or what failed to the descriptor. SIGTERM cuts the power, SIGUSR1 presses the power button. Leaves
``ended.json`` beside the specification when the node ended by itself.
"""
from __future__ import annotations

import json
import os
import re
import select
import signal
import subprocess
import sys

from .. import partitions, state
from ..console import Console
from . import cgroups, config_drive, devices, first_stage, linux, names, network, network_data
from .loop import LoopDevice
from .release import release
from .root_partition import root_partition

# What systemd takes for a request to power off.
POWER_BUTTON = signal.SIGRTMIN + 4
# What the kernel ends the first process of a namespace with, when it calls reboot(2).
REBOOT_SIGNAL = signal.SIGHUP
ESCAPE_SEQUENCE = re.compile(r"\x1b(\[[0-9;?]*[a-zA-Z]|\][^\x07]*\x07|[()][A-Z0-9]|[=>78M])|\r")
# systemd draws this again twice a second while it waits.
ANIMATION = re.compile(r"^\[[ *]{6}\] ")
CHUNK_BYTES = 65536
ERRORS = (OSError, partitions.PartitionError, config_drive.ConfigDriveError, cgroups.GroupError, network.NetworkError,
          first_stage.FirstStageError, subprocess.SubprocessError)


class NotBootable(Exception):
    """There is nothing on the disk that can be started."""


class ConsoleReader:
    """Turns what a node writes to its terminal into lines of its console log.

    :param console: a Console
    """

    def __init__(self, console):
        self._console = console
        self._rest = ""

    def feed(self, data):
        """Take bytes as they come."""
        text = self._rest + ESCAPE_SEQUENCE.sub("", data.decode(errors="replace"))
        lines = text.split("\n")
        self._rest = lines.pop()
        for line in lines:
            if line.strip() and not ANIMATION.match(line):
                self._console.print("%s", line)


class Node:
    """A running node.

    :param spec: mapping: lab (index, bridge), server (name, uuid, serial, vendor, model, memory_mib, nics), disk,
        folder, root_folder, console
    """

    def __init__(self, spec):
        self.spec = spec
        self.index = spec["lab"]["index"]
        self.name = spec["server"]["name"]
        self.nics = spec["server"]["nics"]
        self.group = cgroups.NodeGroup(cgroups.of_this_machine(), self.index, self.name)
        self.loops = []
        self.pid = None
        self.master, self.terminal = os.openpty()

    def prepare(self):
        """Make devices, links and control group."""
        bridge = self.spec["lab"]["bridge"]
        disk = self.spec["disk"]
        partition = root_partition(partitions.table(disk)["partitions"])
        if partition is None:
            raise NotBootable(f"no partition with a Linux file system on {os.path.basename(disk)}")
        impossible = network_data.impossible_links(config_drive.network_data(disk, self.spec["folder"]))
        if impossible:
            raise NotBootable(f"network data: {'; '.join(impossible)}: the lab's network carries neither bonds nor "
                              "VLANs, describe plain links instead")
        release(self.index, self.name, self.nics)
        os.makedirs(self.spec["root_folder"], mode=0o700, exist_ok=True)
        self.loops.append(LoopDevice(
            disk, partition["start"] * partitions.SECTOR_BYTES, partition["size"] * partitions.SECTOR_BYTES))
        drive = config_drive.attach(disk, self.spec["folder"])
        if drive:
            self.loops.append(drive)
        network.ensure_bridge(bridge["name"], bridge["address"])
        network.connect(self.index, self.name, self.nics, bridge["name"])
        self.group.make(self.spec["server"]["memory_mib"])
        devices.restrict(self.group, [one.number for one in self.loops])

    def start(self):
        """Start the first process and return when it has become the disk's init.

        :raises NotBootable: with what it says when it has not
        """
        own = os.open("/proc/self/ns/pid", os.O_RDONLY)
        reader, writer = os.pipe2(os.O_CLOEXEC)
        linux.unshare(linux.CLONE_NEWPID)
        self.pid = os.fork()
        if self.pid == 0:
            os.close(reader)
            try:
                first_stage.become_init(
                    self.spec, self.group, [one.path for one in self.loops], os.ttyname(self.terminal),
                    "/run/netns/" + names.network_namespace(self.index, self.name))
            except BaseException as error:
                os.write(writer, (str(error) or repr(error)).encode()[:4096])
            finally:
                os._exit(1)
        os.close(writer)
        # What this process starts later is not the node's.
        linux.enter_namespace(own, linux.CLONE_NEWPID)
        os.close(own)
        with open(reader, "rb") as file:
            error = file.read()
        if error:
            os.waitpid(self.pid, 0)
            self.pid = None
            raise NotBootable(error.decode())

    def press_power_button(self):
        """Ask the node's init to power off."""
        if self.pid:
            os.kill(self.pid, POWER_BUTTON)

    def cut_power(self):
        """End the node at once."""
        if self.pid:
            os.kill(self.pid, signal.SIGKILL)

    def wait(self, wakeup, actions):
        """Copy the console until the node ends and return whether it asked for a reboot.

        :param wakeup: descriptor from which signal numbers can be read
        :param actions: dict signal number → function
        """
        reader = ConsoleReader(Console(self.spec["console"]))
        ended = os.pidfd_open(self.pid)
        poll = select.poll()
        for descriptor in (self.master, wakeup, ended):
            poll.register(descriptor, select.POLLIN)
        while True:
            ready = [descriptor for descriptor, dummy in poll.poll()]
            if self.master in ready:
                reader.feed(os.read(self.master, CHUNK_BYTES))
            elif ended in ready:
                status = os.waitpid(self.pid, 0)[1]
                self.pid = None
                return os.WIFSIGNALED(status) and os.WTERMSIG(status) == REBOOT_SIGNAL
            if wakeup in ready:
                for number in os.read(wakeup, CHUNK_BYTES):
                    actions.get(number, lambda: None)()

    def clean(self):
        """Give everything back."""
        self.cut_power()
        if self.pid:
            os.waitpid(self.pid, 0)
            self.pid = None
        for one in self.loops:
            one.close()
        release(self.index, self.name, self.nics)
        drive = os.path.join(self.spec["folder"], "config-2.ext4")
        if os.path.exists(drive):
            os.unlink(drive)


def main(spec_file, ready_descriptor):
    """Run the node.

    :param spec_file: JSON file, see Node
    :param ready_descriptor: number of the open pipe
    """
    with open(spec_file, encoding="utf-8") as file:
        spec = json.load(file)
    os.umask(0o077)
    wakeup, wakeup_writer = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGUSR1):
        signal.signal(number, lambda *_arguments: None)
    signal.set_wakeup_fd(wakeup_writer)
    node = Node(spec)
    # The node must not hold it open.
    os.set_inheritable(int(ready_descriptor), False)
    with open(int(ready_descriptor), "w", encoding="utf-8") as ready:
        try:
            node.prepare()
            node.start()
        except ERRORS + (NotBootable,) as error:
            node.clean()
            ready.write(str(error))
            return
        ready.write("ok")
    stopped = []

    def cut():
        stopped.append(True)
        node.cut_power()

    reboot = node.wait(wakeup, {signal.SIGTERM: cut, signal.SIGINT: cut, signal.SIGUSR1: node.press_power_button})
    node.clean()
    if not stopped:
        state.save(os.path.join(spec["folder"], "ended.json"), {"reboot": reboot})


if __name__ == "__main__":
    main(*sys.argv[1:])
