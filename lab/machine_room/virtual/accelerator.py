"""What runs the processors of virtual servers: KVM where it serves ordinary guests, found out by trying, else TCG."""
from __future__ import annotations

import os
import subprocess
import tempfile
import threading
import time

from . import qemu

AUTO, KVM, TCG = "auto", "kvm", "tcg"
DEVICE = "/dev/kvm"
# With KVM a firmware says something within a second or two.
TRIAL_SECONDS = 20
_INTERVAL_SECONDS = 0.1
# Some machines have the device, and a processor that runs no real mode or firmware under it: QEMU says so and stops.
_FAILURE = b"KVM internal error"

_lock = threading.Lock()
_found = {}


def chosen(wanted, trial=None):
    """Return ``kvm`` or ``tcg``; the trial is made once.

    :param wanted: ``kvm``, ``tcg`` or ``auto``
    :param trial: callable that returns whether KVM serves, by default :func:`serves`
    """
    if wanted != AUTO:
        return wanted
    with _lock:
        if AUTO not in _found:
            _found[AUTO] = KVM if (trial or serves)() else TCG
        return _found[AUTO]


def serves(program="qemu-system-x86_64", device=DEVICE, seconds=TRIAL_SECONDS):
    """Return whether UEFI firmware that runs by KVM gets as far as its console.

    :param program: QEMU
    :param device: KVM's
    :param seconds: how long it may take
    """
    if not os.access(device, os.R_OK | os.W_OK):
        return False
    with tempfile.TemporaryDirectory(prefix="metal3-kvm-") as folder:
        console, errors = os.path.join(folder, "serial.log"), os.path.join(folder, "qemu.log")
        with open(errors, "wb") as log:
            try:
                child = subprocess.Popen(_command(program, console), stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                         start_new_session=True)
            except OSError:
                return False
        try:
            return _speaks(child, console, errors, time.monotonic() + seconds)
        finally:
            child.kill()
            child.wait()


def _command(program, console):
    return [program, "-nodefaults", "-no-user-config", "-display", "none", "-machine", "q35", "-accel", KVM,
            "-cpu", "max", "-m", "256M", "-drive", f"if=pflash,format=raw,readonly=on,file={qemu.UEFI.code}",
            "-chardev", f"file,id=serial,path={console}", "-serial", "chardev:serial"]


def _speaks(child, console, errors, deadline):
    while time.monotonic() < deadline:
        if _content(console):
            return True
        if child.poll() is not None or _FAILURE in _content(errors):
            return False
        time.sleep(_INTERVAL_SECONDS)
    return False


def _content(path):
    try:
        with open(path, "rb") as file:
            return file.read(65536)
    except FileNotFoundError:
        return b""
