# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs in a network namespace of its own: dnsmasq, a web server, and QEMU with OVMF, which boots from the wire alone.

One argument, JSON: ``folder`` with prov.conf, vars.fd, www and tftp, ``mac``, ``seconds``, ``texts`` that end the wait
once the serial console, the log of dnsmasq and that of the web server have them all. Prints what these have as JSON.
"""
from __future__ import annotations

import contextlib
import json
import pathlib
import subprocess
import sys
import time

CODE = "/usr/share/OVMF/OVMF_CODE_4M.fd"


def run(*command):
    subprocess.run(command, check=True)


def lay():
    """Make the link that the firmware's card is at, named as the description names it."""
    run("ip", "link", "set", "lo", "up")
    run("ip", "tuntap", "add", "dev", "prov", "mode", "tap")
    run("ip", "link", "set", "prov", "up")
    run("ip", "address", "add", "172.22.0.1/24", "dev", "prov")
    run("ip", "address", "add", "fd00:22::1/64", "dev", "prov", "nodad")


@contextlib.contextmanager
def running(command, log):
    with open(log, "wb") as stream:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=stream, stderr=stream)
    try:
        yield process
    finally:
        process.terminate()
        process.wait()


def main():
    asked = json.loads(sys.argv[1])
    folder = pathlib.Path(asked["folder"])
    logs = {"console": folder / "console.log", "dnsmasq": folder / "prov.log", "web": folder / "web.log"}
    lay()
    with contextlib.ExitStack() as stack:
        stack.enter_context(running(
            ["dnsmasq", "--keep-in-foreground", f"--conf-file={folder}/prov.conf", "--user=root", "--group=root",
             "--pid-file=", f"--log-facility={logs['dnsmasq']}"], folder / "dnsmasq.out"))
        stack.enter_context(running([sys.executable, "-u", "-m", "http.server", "6180", "--bind", "fd00:22::1",
                                     "--directory", str(folder / "www")], logs["web"]))
        qemu = stack.enter_context(running(
            ["nice", "-n", "10", "qemu-system-x86_64", "-machine", "q35", "-m", "512", "-nodefaults", "-no-user-config",
             "-display", "none", "-drive", f"if=pflash,format=raw,readonly=on,file={CODE}",
             "-drive", f"if=pflash,format=raw,file={folder / 'vars.fd'}",
             # What boots by IPv4 is tested elsewhere, and would be tried first for a minute.
             "-fw_cfg", "name=opt/org.tianocore/IPv4PXESupport,string=n",
             "-netdev", "tap,id=wire,ifname=prov,script=no,downscript=no",
             "-device", f"virtio-net-pci,netdev=wire,mac={asked['mac']},romfile=",
             "-device", "virtio-rng-pci", "-serial", f"file:{logs['console']}"], folder / "qemu.log"))
        deadline = time.monotonic() + asked["seconds"]
        while time.monotonic() < deadline and qemu.poll() is None:
            found = {name: path.read_text(errors="replace") if path.exists() else "" for name, path in logs.items()}
            if all(any(text in log for log in found.values()) for text in asked["texts"]):
                break
            time.sleep(0.5)
    print(json.dumps(dict(found, qemu=(folder / "qemu.log").read_text(errors="replace"))))


if __name__ == "__main__":
    main()
