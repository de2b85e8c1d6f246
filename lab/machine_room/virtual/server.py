"""A server that is a QEMU process: firmware, boot loaders, agent and operating system are real."""
from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import threading
import time

from .. import server as simulated
from ..node_boot import process
from ..node_boot.network import NetworkError
from . import accelerator, qemu, qmp, tap, variables

START_TIMEOUT_SECONDS = 30
START_INTERVAL_SECONDS = 0.1
STOP_TIMEOUT_SECONDS = 10
RESET = "guest-reset"


class VirtualServer(simulated.Server):
    """A server; see the simulated one for what its BMC keeps.

    :param spec: its entry in ``servers.json``
    :param settings: the machine room's Settings, with ``nodes``
    :param web: a Web
    """

    boots_by_http = True
    boots_once = True
    swaps_disks = False

    def __init__(self, spec, settings, web):
        # Number of the process that runs it; who sets it to None acts on its end.
        self._pid = None
        self._monitor = None
        super().__init__(spec, settings, web, None)

    @property
    def _run_file(self):
        return os.path.join(self.folder, "run.json")

    @property
    def serial_log(self):
        """Path of what the server writes to its serial port."""
        return os.path.join(self.folder, "serial.log")

    def _resume(self, agent):
        pid = process.recall(self._run_file)
        if pid is None:
            if self.power == simulated.ON:
                self.console.print("the machine room was restarted; the server had no power meanwhile")
            self.power, self.runs = simulated.OFF, simulated.NOTHING
        elif self.power == simulated.ON:
            self._watch(pid, lambda: process.wait(pid))
        else:
            process.end(pid, STOP_TIMEOUT_SECONDS)

    def _boot(self):
        self._take_over_pending()
        device = self._take_boot_device()
        self.console.print("power on, boot device %s, boot mode %s", device, self.boot_mode)
        try:
            self._start(device)
            self.runs = simulated.SYSTEM
        except (OSError, NetworkError) as error:
            self.runs = simulated.NOTHING
            self.console.print("boot failed: %s", error)

    def _start(self, device):
        disks = self.present_disks()
        for disk in disks:
            disk.ensure()
        booted = qemu.firmware(self.boot_mode, self.secure_boot)
        kept = self._variables(booted, device) if booted else None
        # Who boots from a URI has the same image there, not in the drive.
        cd = self.boot_images.get("Cd") if device != simulated.BY_HTTP else None
        nodes, taps = self.settings.nodes, []
        try:
            for number in range(len(self.spec["nics"])):
                taps.append(tap.connect(
                    tap.link_name(nodes["index"], self.spec["number"], number), nodes["bridge"]["name"]))
            runs_by = accelerator.chosen(self.settings.accelerator)
            self.console.print("processors run by %s", runs_by)
            command = qemu.command(
                self.spec, [(disk.spec, disk.path) for disk in disks], booted, kept, device,
                cd if cd and os.path.exists(cd) else None, taps, runs_by,
                clock_behind=self.knobs.get("clock_behind"))
            with open(os.path.join(self.folder, "qemu.log"), "wb") as log:
                child = subprocess.Popen(
                    command, cwd=self.folder, pass_fds=taps, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                    # A restart of the machine room is no power cut.
                    start_new_session=True)
        finally:
            for descriptor in taps:
                os.close(descriptor)
        process.remember(self._run_file, child.pid)
        self._watch(child.pid, child.wait)

    def _variables(self, booted, device):
        path = os.path.join(self.folder, f"firmware_variables{'_secure' if booted.secure else ''}.fd")
        if not os.path.exists(path):
            shutil.copyfile(booted.variables, path)
        if device == simulated.BY_HTTP and self.http_boot_uri:
            variables.boot_next_by_http(path, self.http_boot_uri)
        return path

    def _watch(self, pid, wait):
        self._pid = pid
        threading.Thread(target=self._report_end, args=(pid, wait), daemon=True).start()

    def _report_end(self, pid, wait):
        reason = self._reason(pid)
        wait()
        with self.lock:
            if self._pid != pid:
                return
            self._pid = None
            self.console.print("the machine ended: %s", reason or "see qemu.log")
            self.runs = simulated.NOTHING
            if reason == RESET:
                self.boots += 1
                self._boot()
            else:
                self.power = simulated.OFF
            self.save()
            self._report_power()

    def _reason(self, pid):
        deadline = time.monotonic() + START_TIMEOUT_SECONDS
        while process.start_time(pid) is not None and time.monotonic() < deadline:
            try:
                with qmp.connected(self.folder) as file:
                    self._monitor = file
                    return qmp.shutdown_reason(file)
            except OSError:
                # It does not listen yet, or it just ended.
                time.sleep(START_INTERVAL_SECONDS)
            finally:
                self._monitor = None
        return None

    def _stop(self):
        pid, self._pid = self._pid, None
        if pid is not None:
            process.end(pid, STOP_TIMEOUT_SECONDS)
        self.runs = simulated.NOTHING

    def configure(self, **values):
        """See the simulated server; a medium that the BMC lets go of is gone for what runs, too."""
        with self.lock:
            had = self.boot_images.get("Cd")
            super().configure(**values)
            if had and not self.boot_images.get("Cd") and self._monitor is not None:
                self.console.print("BMC: the medium is ejected")
                with contextlib.suppress(OSError):
                    qmp.send(self._monitor, "eject", id=qemu.CD_DRIVE, force=True)

    def soft_off(self):
        """Press the power button; what runs decides."""
        with self.lock:
            monitor = self._monitor
            if self.power == simulated.OFF:
                return
            if monitor is None:
                self.power_off()
                return
            self.console.print("power button")
            try:
                qmp.send(monitor, "system_powerdown")
            except OSError as error:
                self.console.print("power button: %s", error)

    def describe(self):
        """Return what the API says about the server, as plain data."""
        return dict(super().describe(), serial_log=self.serial_log)
