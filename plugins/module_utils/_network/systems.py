# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which system configures a machine's network, and the programs that make it read its files again."""
from __future__ import annotations

import glob
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from .._common.documents.document_text import from_json
from .._common.problems.errors import ReportedError
from . import ifupdown_text
from .interface_files import PREFIX, Found, connection_of

# A program that does not come back is not waited for longer; netplan starts daemons.
PROGRAM_SECONDS = 120
# systemd-networkd writes a file of its own for each interface: networkd's link files, network/networkd-link.c.
_NETWORKD_LINKS = "/run/systemd/netif/links"
_KERNEL_LINKS = "/sys/class/net"
_INTERFACES = "/etc/network/interfaces"
POLL_SECONDS = 0.05
# It keeps what it has read of a device that stands on another one, a VLAN's number too, even when that device and its
# file are gone (netdev_drop in network/netdev/netdev.c); links stay as they are while it restarts.
_RESTART_NETWORKD = ["systemctl", "restart", "systemd-networkd.service"]
_MANAGED = ("configured", "configuring")


class NetworkSystemError(ReportedError):
    """A program of the system that configures the network failed."""


class Result(NamedTuple):
    """What a program answered."""

    code: int
    stdout: str
    stderr: str


Runner = Callable[[list[str]], Result]


def run(command: list[str]) -> Result:
    """Run a program and return its answer; 127 when it is missing, 124 when it does not end in time."""
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
                              timeout=PROGRAM_SECONDS, env=dict(os.environ, LC_ALL="C"))
    except FileNotFoundError:
        return Result(127, "", f"{command[0]} is not installed")
    except subprocess.TimeoutExpired:
        return Result(124, "", f"no end after {PROGRAM_SECONDS} s")
    return Result(done.returncode, done.stdout, done.stderr)


def links(runner: Runner = run) -> list[dict[str, Any]]:
    """Return the machine's interfaces as iproute2 lists them.

    :raises NetworkSystemError: when they can't be listed
    """
    answer = runner(["ip", "-json", "-details", "address", "show"])
    if answer.code != 0:
        raise NetworkSystemError(f"ip address show failed: {answer.stderr.strip()}; install iproute2")
    return [entry for entry in from_json(answer.stdout or "[]") if entry]


def default_routes(family: int, runner: Runner = run) -> list[dict[str, Any]]:
    """Return the machine's default routes of a family as iproute2 lists them; none when it does not say.

    :param family: 4 or 6
    """
    answer = runner(["ip", "-json", f"-{family}", "route", "show", "default"])
    found = from_json(answer.stdout or "[]") if answer.code == 0 else []
    return [entry for entry in found if isinstance(entry, dict)] if isinstance(found, list) else []


def in_ifupdown(names: Iterable[str], runner: Runner = run) -> list[str]:
    """Return those of some interfaces that files of ifupdown define."""
    return [name for name in names if runner(["ifquery", name]).code == 0]


def ifupdown_definitions(name: str, ports: Iterable[str]) -> dict[str, str]:
    """Return those interfaces that files of others define against a description, each with the first such file.

    ifupdown merges all definitions of an interface. One without addresses is left to them: it may set an MTU, or make a
    port that is no card.

    :param name: of the interface that the description is of
    :param ports: those that are to belong to it
    """
    wanted = {**dict.fromkeys(ports, ifupdown_text.attaches), name: ifupdown_text.makes}
    found, known = dict[str, str](), set[str]()
    waiting = [_INTERFACES]
    while waiting:
        path = waiting.pop(0)
        if path in known or os.path.basename(path).startswith(PREFIX):
            continue
        known.add(path)
        try:
            with open(path, encoding="utf-8", errors="replace") as stream:
                held = ifupdown_text.read(stream.read())
        except OSError:
            # ifupdown itself says so.
            continue
        for stanza in held.stanzas:
            if stanza.name in wanted and (ifupdown_text.gives_addresses(stanza) or wanted[stanza.name](stanza)):
                found.setdefault(stanza.name, path)
        home = os.path.dirname(path)
        waiting += [os.path.normpath(name) for pattern in held.sources
                    for name in sorted(glob.glob(os.path.join(home, pattern)))]
        waiting += [os.path.normpath(name) for folder in held.folders
                    for name in sorted(glob.glob(os.path.join(home, folder, "*")))
                    if ifupdown_text.is_read(os.path.basename(name))]
    return found


def _managed_by_manager(name: str, runner: Runner) -> bool:
    """Return whether NetworkManager configures an interface itself, not only shows it as connected."""
    state = runner(["nmcli", "-g", "GENERAL.STATE", "device", "show", name]).stdout
    return state.startswith("100") and "externally" not in state


def find(interfaces: Iterable[Mapping[str, Any]], names: Iterable[str], runner: Runner = run) -> Found:
    """Return what configures this machine's network.

    :param interfaces: see :func:`links`
    :param names: the interfaces of the description, whose present owner counts
    """
    numbers = {link.get("ifname"): link.get("ifindex") for link in interfaces}
    networkd, manager = (runner(["systemctl", "is-active", "--quiet", unit]).code == 0
                         for unit in ("systemd-networkd.service", "NetworkManager.service"))
    ifupdown = shutil.which("ifup") is not None and os.path.exists(_INTERFACES)
    owners = set()
    for name in names:
        if networkd and _networkd_link(numbers.get(name)).get("ADMIN_STATE") in _MANAGED:
            owners.add("networkd")
        if manager and _managed_by_manager(name, runner):
            owners.add("network_manager")
        if ifupdown and runner(["ifquery", "--state", name]).stdout.strip():
            owners.add("ifupdown")
    return Found(
        networkd=networkd, network_manager=manager,
        netplan=shutil.which("netplan") is not None and bool(glob.glob("/etc/netplan/*.yaml")),
        ifupdown=ifupdown, owners=tuple(sorted(owners)))


def port_files(interfaces: Iterable[Mapping[str, Any]], ports: Iterable[str]) -> dict[str, str]:
    """Return for each port the file by which systemd-networkd configures it now; those without one are left out."""
    numbers = {link.get("ifname"): link.get("ifindex") for link in interfaces}
    found = {port: _networkd_link(numbers.get(port)).get("NETWORK_FILE") for port in ports}
    return {port: path for port, path in found.items() if path}


def _networkd_link(number: Any) -> dict[str, str]:
    try:
        with open(f"{_NETWORKD_LINKS}/{number}", encoding="utf-8") as stream:
            pairs = [line.rstrip("\n").partition("=") for line in stream]
    except OSError:
        return {}
    return {key: value for key, _sign, value in pairs}


def apply(system: str, network: Mapping[str, Any], runner: Runner = run, joining: Iterable[str] = (),
          inner: Mapping[str, Iterable[str]] = MappingProxyType({})) -> None:
    """Let a system read its files again, so that the machine has what they say.

    :param system: see ``interface_files.chosen``
    :param network: the description whose files were written or removed
    :param joining: ports of a device that was there before, which it has not got
    :param inner: port that the collection has made itself → the ports of that port
    :raises NetworkSystemError: with what the program answered
    """
    joining = list(joining)
    if system == "networkd" and _is_vlan(network) and joining:
        _checked(runner, _RESTART_NETWORKD)
        return
    for command in _APPLY[system](network):
        _checked(runner, command)
    if system == "networkd":
        # Those of a deleted device have failed, and a VLAN is made only when its port is configured.
        for port in joining:
            _checked(runner, ["networkctl", "reconfigure", port])
    if system == "network_manager":
        # A bond that becomes a port is activated again, and lets go of its own ports.
        for port, ports in inner.items():
            _activate(runner, [connection_of(port, other) for other in ports])


def as_before(system: str, network: Mapping[str, Any], ports: Iterable[str]) -> Mapping[str, Any]:
    """Return the description with which a system applies the files of before once more.

    :param network: the description of the change that is taken back
    :param ports: those that the files of before are of
    """
    # It activates connections by the names of ports, and has those alone that files are of.
    return dict(network, ports=list(ports)) if system == "network_manager" else network


def _activate(runner: Runner, connections: Iterable[str]) -> None:
    for connection in connections:
        _checked(runner, ["nmcli", "--wait", "60", "connection", "up", connection])


def remove_device(network: Mapping[str, Any], runner: Runner = run,
                  sleep: Callable[[float], None] = time.sleep) -> None:
    """Delete the device that a description made, which not every system does by itself; nothing when it is gone.

    :param sleep: waits for so many seconds
    :raises NetworkSystemError: with what ``ip`` answered, or when systemd-networkd does not notice it in time
    """
    if (network.get("kind") or "ethernet") == "ethernet":
        return
    name = network["name"]
    number = _number(name)
    try:
        _checked(runner, ["ip", "link", "delete", name])
    except NetworkSystemError:
        # NetworkManager and netplan delete it themselves, and may do so at this moment.
        if runner(["ip", "link", "show", name]).code == 0:
            raise
    _until_forgotten(name, number, sleep)


def _number(name: str) -> str:
    """Return the kernel's number of an interface, an empty text when there is none of that name."""
    try:
        with open(os.path.join(_KERNEL_LINKS, name, "ifindex"), encoding="ascii") as stream:
            return stream.read().strip()
    except OSError:
        return ""


def _until_forgotten(name: str, number: str, sleep: Callable[[float], None]) -> None:
    """Wait until systemd-networkd has noticed that a device is gone.

    It makes none for a file whose device it takes for there, so that reading its files before would lose the device.
    """
    until = time.monotonic() + PROGRAM_SECONDS
    while number and os.path.exists(os.path.join(_NETWORKD_LINKS, number)):
        if time.monotonic() > until:
            raise NetworkSystemError(
                f"systemd-networkd still has {name}, {PROGRAM_SECONDS} s after it was deleted; see journalctl -u "
                "systemd-networkd")
        sleep(POLL_SECONDS)


def _checked(runner: Runner, command: list[str]) -> None:
    answer = runner(command)
    if answer.code != 0:
        said = " ".join((answer.stderr or answer.stdout).split())
        raise NetworkSystemError(f"{' '.join(command)} failed with code {answer.code}: {said or '(no text)'}")


def _is_vlan(network: Mapping[str, Any]) -> bool:
    return bool(network.get("kind") == "vlan")


def _networkd(_network: Mapping[str, Any]) -> list[list[str]]:
    # Makes devices of new files, and configures again the interfaces whose file is new, other or gone (networkctl(1)).
    return [["networkctl", "reload"]]


def _network_manager(network: Mapping[str, Any]) -> list[list[str]]:
    ports = network.get("ports") or ()
    attached = (network.get("kind") or "") in ("bridge", "bond")
    # A bridge or bond that is activated again lets go of its ports: they come after it.
    ids = [connection_of(network["name"])] + [connection_of(network["name"], port) for port in ports if attached]
    return [["nmcli", "connection", "reload"], *(["nmcli", "--wait", "60", "connection", "up", name] for name in ids)]


def _netplan(_network: Mapping[str, Any]) -> list[list[str]]:
    # generate refuses a file with a mistake before anything is applied.
    return [["netplan", "generate"], ["netplan", "apply"]]


def _ifupdown(network: Mapping[str, Any]) -> list[list[str]]:
    # Its record of what is up stays when files and devices go, and ifup does nothing for what is up by that record.
    return [["ifdown", "--force", network["name"]], ["ifup", "--force", network["name"]]]


_APPLY: dict[str, Callable[[Mapping[str, Any]], list[list[str]]]] = {
    "networkd": _networkd, "network_manager": _network_manager, "netplan": _netplan, "ifupdown": _ifupdown}


def withdraw(system: str, network: Mapping[str, Any], runner: Runner = run,
             inner: Mapping[str, Iterable[str]] = MappingProxyType({})) -> None:
    """Take what a description made out of the running system, after its files are gone.

    :param inner: port that the collection has made itself, and that stays → the ports of that port
    :raises NetworkSystemError: with what a program answered
    """
    if system == "network_manager":
        _checked(runner, ["nmcli", "connection", "reload"])
    elif system == "netplan":
        _checked(runner, ["netplan", "apply"])
    elif system == "networkd":
        _checked(runner, _RESTART_NETWORKD if _is_vlan(network) else ["networkctl", "reload"])
    remove_device(network, runner)
    if system == "network_manager":
        for port, ports in inner.items():
            _activate(runner, [connection_of(port), *(connection_of(port, other) for other in ports)])
    if system == "ifupdown" and runner(["ifquery", network["name"]]).code != 0:
        # Of an interface that no file has, this removes its record of what is up, and nothing else.
        runner(["ifdown", "--force", network["name"]])
    if system == "ifupdown" and (network.get("kind") or "ethernet") == "ethernet":
        for text in network.get("addresses") or ():
            # Not an error: the system may have taken it away itself.
            runner(["ip", "address", "delete", text, "dev", network["name"]])
