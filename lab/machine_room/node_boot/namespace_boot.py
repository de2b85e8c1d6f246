"""The DiskBoot that really runs the operating system."""
from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading

from .. import state
from ..disk_boot import BootError, DiskBoot
from . import broken_root, network, process
from .release import release

START_TIMEOUT_SECONDS = 30
STOP_TIMEOUT_SECONDS = 20
SERVER_FIELDS = ("name", "uuid", "serial", "vendor", "model", "memory_mib")
FOLDER = "system"


def end_run(folder):
    """End the process that runs a server's system, if there is one.

    :param folder: the server's folder
    """
    pid = process.recall(os.path.join(folder, FOLDER, "run.json"))
    if pid:
        process.end(pid, STOP_TIMEOUT_SECONDS)


class NamespaceBoot(DiskBoot):
    """Starts a process ``run`` for each system and reports its end to the server.

    :param lab: the lab's figures, with ``index`` and ``bridge``
    """

    def __init__(self, lab):
        self._lab = lab
        # server name → process; whoever takes an entry out is the one that acts on its end.
        self._running = {}
        self._lock = threading.Lock()
        bridge = lab["bridge"]
        network.ensure_bridge(bridge["name"], bridge["address"])

    def power_on(self, server):
        disk = server.boot_disk()
        if disk is None:
            raise BootError("no disk has a partition table")
        folder = os.path.join(server.folder, FOLDER)
        os.makedirs(folder, mode=0o700, exist_ok=True)
        end_run(server.folder)
        for name in ("ended.json", "run.json"):
            if os.path.exists(os.path.join(folder, name)):
                os.unlink(os.path.join(folder, name))
        spec = {
            "lab": {"index": self._lab["index"], "bridge": self._lab["bridge"]},
            "server": dict({field: server.spec[field] for field in SERVER_FIELDS},
                           nics=[{"name": nic["name"], "mac": nic["mac"]} for nic in server.spec["nics"]]),
            "disk": disk.path,
            "folder": folder,
            "root_folder": os.path.join(folder, "root"),
            "console": server.console.path,
        }
        state.save(os.path.join(folder, "spec.json"), spec)
        server.console.print("booting from %s", disk.name)
        self._watch(server, self._start(folder))

    @staticmethod
    def _start(folder):
        reader, writer = os.pipe2(os.O_CLOEXEC)
        package_folder = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
        with open(os.path.join(folder, "run.log"), "wb") as log, open(reader, "rb") as answer:
            try:
                child = subprocess.Popen(
                    [sys.executable, "-m", __package__ + ".run", os.path.join(folder, "spec.json"), str(writer)],
                    cwd=package_folder, pass_fds=[writer], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                    # A restart of the machine room is no power cut.
                    start_new_session=True)
            finally:
                os.close(writer)
            process.remember(os.path.join(folder, "run.json"), child.pid)
            text = answer.read().decode()
        if text != "ok":
            child.wait(timeout=START_TIMEOUT_SECONDS)
            raise BootError(text or f"the process that runs the system ended, see {log.name}")
        return child

    def _watch(self, server, child):
        with self._lock:
            self._running[server.name] = child
        threading.Thread(target=self._report_end, args=(server, child), daemon=True).start()

    def forget(self):
        """Stop telling servers when their systems end; the systems go on."""
        with self._lock:
            self._running.clear()

    def _take(self, server, child=None):
        """Remove a server's entry and return whether it was there."""
        with self._lock:
            if child is not None and self._running.get(server.name) is not child:
                return False
            return self._running.pop(server.name, None) is not None

    def _report_end(self, server, child):
        if isinstance(child, subprocess.Popen):
            child.wait()
        else:
            process.wait(child)
        with server.lock:
            if self._take(server, child):
                server.system_ended(self._wants_reboot(server))

    @staticmethod
    def _wants_reboot(server):
        return state.load(os.path.join(server.folder, FOLDER, "ended.json")).get("reboot", False)

    def soft_off(self, server):
        pid = process.recall(os.path.join(server.folder, FOLDER, "run.json"))
        if pid is None:
            server.system_ended(False)
            return
        os.kill(pid, signal.SIGUSR1)

    def hard_off(self, server):
        self._take(server)
        end_run(server.folder)
        release(self._lab["index"], server.name, server.spec["nics"])

    def fail_disk(self, server):
        pid = process.recall(os.path.join(server.folder, FOLDER, "run.json"))
        for child in process.children(pid) if pid else ():
            broken_root.shut_down(child)

    def is_running(self, server):
        pid = process.recall(os.path.join(server.folder, FOLDER, "run.json"))
        if pid is not None:
            self._watch(server, pid)
            return True
        if self._wants_reboot(server):
            self.power_on(server)
            return True
        return False
