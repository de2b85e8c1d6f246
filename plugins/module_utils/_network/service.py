# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A machine's interface of the provisioning network: as described, and taken back when that cuts the machine off."""
from __future__ import annotations

import contextlib
import glob
import os
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from .._common.files import whole_file
from .._common.options import confirmation
from .._common.problems.errors import RefusedError, ReportedError
from .._common.problems.problem import Problem
from . import keepalived, lending, pending, systems
from .description import family, problems
from .interface_files import (
    IFUPDOWN_FOLDER,
    MANAGER_FOLDER,
    NETPLAN_FOLDER,
    NETWORKD_FOLDER,
    OF_PORT,
    PREFIX,
    File,
    chosen,
    files,
    ifupdown_addresses,
    ifupdown_name,
    is_of_ifupdown,
    kind_in,
)
from .links import (
    carried_by,
    conflicting_kind,
    differences,
    held_elsewhere,
    made_devices,
    missing_interfaces,
    other_default_routes,
    standing_on,
    unfit,
    wider_than_ports,
)

POLL_SECONDS = 0.5
# Where files of the collection may be, of any system.
_FOLDERS = (NETWORKD_FOLDER, f"{NETWORKD_FOLDER}/*.d", MANAGER_FOLDER, NETPLAN_FOLDER, IFUPDOWN_FOLDER)


class NetworkError(ReportedError):
    """The interface did not become what was described; what was before is back."""


class NetworkService:
    """One run of the module ``provisioning_network``.

    :param network: the description, see ``description.problems``
    :param options: ``system`` (``auto`` or one of ``interface_files.chosen``), ``rollback_seconds`` (0 for a change
        that needs no confirmation), ``wait_timeout_seconds``, ``confirm`` (the name once more, for ``absent``),
        ``keepalived`` (what it is to do there, for its mistakes alone; see ``keepalived.problems_of_network``),
        ``taken`` (addresses of machines of the plane, for mistakes of DHCP alone; see ``lending.problems``)
    :param check_mode: only say what would be done
    :param progress: a Progress
    :param runner: what runs programs, for tests
    :param folder: where unconfirmed changes are noted
    """

    def __init__(self, network: Mapping[str, Any], options: Mapping[str, Any], check_mode: bool, progress: Any,
                 runner: systems.Runner = systems.run, folder: str = pending.FOLDER,
                 sleep: Callable[[float], None] = time.sleep) -> None:
        self.network, self.options, self.check_mode, self.progress = network, options, check_mode, progress
        self.runner, self.folder, self.sleep = runner, folder, sleep
        self.name = network.get("name") or ""
        self.subject = f"network {self.name}"

    def present(self) -> dict[str, Any]:
        """Give the machine the interface and return the module's result.

        :raises RefusedError: when the description has mistakes, or does not fit the machine
        :raises NetworkError: when the interface does not get what is described; what was before is back then
        """
        held = self.options.get("keepalived")
        found = problems(self.network) + lending.problems(self.network, self.options.get("taken") or (),
                                                          [held["address"]] if held else [])
        if held:
            found += keepalived.problems_of_network(self.network, held)
        if found:
            raise RefusedError(found)
        self._after_unconfirmed()
        links = systems.links(self.runner)
        system = self._system(links)
        wanted = files(system, self.network, self._port_files(system, links), made_devices(links))
        stale = [path for path in self._own_files() if path not in {file.path for file in wanted}]
        before = pending.snapshot([file.path for file in wanted] + stale)
        changed = [file for file, old in self._paired(wanted, before)
                   if old["content"] != file.content or old["mode"] != int(file.mode, 8)]
        lacking = differences(self.network, links)
        result = {"changed": bool(changed or stale or lacking), "system": system, "confirmation_needed": False,
                  "files": [file.path for file in wanted], "differences": lacking,
                  "diff": _diff(before, {file.path: file for file in wanted}),
                  "warnings": self._unused(links) + self._doubtful(links)}
        made_before = any(link.get("ifname") == self.name for link in links) and (
            self.network.get("kind") or "ethernet") != "ethernet"
        remade = made_before and (bool(stale) or any(_remakes(system, file) for file in changed))
        # ifdown deletes what ifup makes again, whatever has changed.
        if remade or (made_before and result["changed"] and system == "ifupdown"):
            self._check_carries_nothing(links)
        if self.check_mode or not result["changed"]:
            return result
        self._change(system, wanted, stale, before, made_before, remade, self._joining(links, remade)
                     if made_before else [])
        result["confirmation_needed"] = self.options["rollback_seconds"] > 0
        return result

    def absent(self) -> dict[str, Any]:
        """Remove the collection's files of the interface, and the device that they made.

        :raises RefusedError: when the interface's name is not repeated, or other interfaces need it
        :raises NetworkError: when the system does not take it
        """
        self._check_name()
        going = self._going()
        unconfirmed = [Problem(
            "confirmation-missing", self.subject, "confirm", self.options["confirm"] or None, "the interface's name",
            f"removing it cuts off what uses it; to continue set {confirmation.VARIABLE}={self.name} in a playbook "
            "(module option confirm)")] if going and self.options["confirm"] != self.name else []
        needed = self._needed() if going else []
        if needed:
            raise RefusedError(needed + unconfirmed)
        warnings = confirmation.required_by(unconfirmed, self.check_mode)
        self._after_unconfirmed()
        # What was taken back meanwhile has other files.
        going = self._going()
        system, own = going or ("", [])
        before = pending.snapshot(own)
        result = {"changed": going is not None, "system": system, "confirmation_needed": False, "files": own,
                  "differences": [], "diff": _diff(before, {}),
                  "warnings": warnings}
        if self.check_mode or going is None:
            return result
        made = self._as_made(system, before)
        pending.begin_removal(self.name, system, made["kind"], _boot_id(), self.folder)
        for path in own:
            pending.remove(path)
        systems.withdraw(system, made, self.runner, self._inner(made))
        pending.end_removal(self.name, self.folder)
        return result

    def _going(self) -> tuple[str, list[str]] | None:
        """Return the system that an interface is removed from, and the files; None when there is nothing of it.

        Of a removal that has ended between the files and the device, no file speaks any more.
        """
        own = self._own_files()
        system = _system_of(own) or pending.removing(self.name, _boot_id(), self.folder)[0]
        return (system, own) if system else None

    def _as_made(self, system: str, before: list[dict[str, Any]]) -> dict[str, Any]:
        """Return the description of what is removed, as its files have it: the one that is given may be of another one.

        :param before: its files, see ``pending.snapshot``; none when they have gone already
        """
        contents = dict((old["path"], old["content"] or "") for old in before)
        kind = kind_in(contents, self.name) if contents else pending.removing(
            self.name, _boot_id(), self.folder)[1] or self.network.get("kind") or "ethernet"
        addresses = list(self.network.get("addresses") or ())
        if system == "ifupdown":
            addresses += [text for text in ifupdown_addresses(contents.values()) if text not in addresses]
        return dict(self.network, kind=kind, addresses=addresses,
                    ports=list(dict.fromkeys([*(self.network.get("ports") or ()), *_ports_in(contents)])))

    def _needed(self) -> list[Problem]:
        """Return the problem that other interfaces need this one, whoever has made them: they would go with it."""
        links = systems.links(self.runner)
        # A card stays, whatever files go; what it is called in the description says nothing about it.
        found = standing_on(self.name, links) if self.name in made_devices(links) else []
        return [Problem(
            "provisioning-network", self.subject, "state", f"absent, and {', '.join(found)}",
            "absent for an interface that no other one needs",
            "remove what is named first, by the playbook provisioning_network with its name and "
            "provisioning_network_state=absent, or take this one out of its ports")] if found else []

    def _check_carries_nothing(self, links: list[dict[str, Any]]) -> None:
        """Refuse to make an interface again that others stand on, whoever has made them: they would go with it."""
        found = carried_by(self.name, links)
        if found:
            raise RefusedError([Problem(
                "provisioning-network", self.subject, "state",
                f"present, for which it is deleted and made again, and {', '.join(found)}",
                "an interface that no other one needs meanwhile",
                "remove what is named first, by the playbook provisioning_network with its name and "
                "provisioning_network_state=absent, run this one again, then make them again; or describe this one as "
                "it is")])

    def _unused(self, links: list[dict[str, Any]]) -> list[str]:
        """Return a warning about an interface without addresses that nothing uses: they may have been forgotten."""
        if self.network.get("addresses") or standing_on(self.name, links):
            return []
        return [f"{self.subject}: addresses: not set, and no other interface uses it; set them, unless it becomes a "
                "port of a bridge, or carries VLANs"]

    def _doubtful(self, links: list[dict[str, Any]]) -> list[str]:
        """Return warnings about what the kernel takes, and traffic does not."""
        network, found = self.network, []
        narrow = wider_than_ports(network, links)
        if narrow:
            found.append(f"{self.subject}: mtu: found {network['mtu']}, larger than that of {', '.join(narrow)}; "
                         "larger frames are lost there: give the ports that MTU, too")
        gateway = network.get("gateway")
        others = other_default_routes(network, systems.default_routes(family(gateway), self.runner)) if gateway else []
        if others:
            found.append(f"{self.subject}: gateway: {gateway} is a second default route of the machine beside "
                         f"{', '.join(others)}; which of them is used is up to their metrics: keep one")
        return found

    def _port_files(self, system: str, links: list[dict[str, Any]]) -> dict[str, str]:
        """Return what configures the interface and its ports already, as ``interface_files.files`` takes it."""
        ports = self.network.get("ports") or ()
        if system == "ifupdown":
            return dict.fromkeys(systems.in_ifupdown(
                [port for port in ports if port in made_devices(links)], self.runner), "")
        return systems.port_files(links, [self.name, *ports])

    def confirm(self) -> dict[str, Any]:
        """Keep an unconfirmed change: whoever says so has reached the machine.

        :raises NetworkError: when the change has been taken back
        """
        self._check_name()
        error = pending.error_path(self.name, self.folder)
        result = {"changed": False, "system": "", "confirmation_needed": False, "files": [], "differences": [],
                  "diff": []}
        if self.check_mode:
            return result
        if pending.end(self.name, self.folder):
            return dict(result, changed=True)
        with self._taking_back():
            # What it came to is known when it has ended.
            pass
        if os.path.exists(error):
            with open(error, encoding="utf-8") as stream:
                raise NetworkError(f"{self.subject}: the change was not confirmed in time, and taking it back failed: "
                                   f"{stream.read().strip()}; look at the machine's console")
        lacking = differences(self.network, systems.links(self.runner))
        if lacking:
            raise NetworkError(f"{self.subject}: the change was not confirmed within its time and has been taken back "
                               f"({'; '.join(lacking)}); correct the description, or raise rollback_seconds")
        return result

    def _check_name(self) -> None:
        """Refuse a name that no interface can have: it becomes part of paths."""
        found = [problem for problem in problems(self.network) if problem.field == "name"]
        if found:
            raise RefusedError(found)

    def _after_unconfirmed(self) -> None:
        """Wait until the change of an earlier run, which nobody confirmed, is taken back."""
        if self.check_mode:
            return
        record = pending.read(self.name, self.folder)
        if record is not None:
            self._wait_for_watcher(record)
        with self._taking_back():
            # The machine was started again since, or its process was ended: nobody else takes it back.
            record = pending.read(self.name, self.folder)
            if record is not None:
                self._take_back(record)

    def _wait_for_watcher(self, record: Mapping[str, Any]) -> None:
        until = time.monotonic() + record["seconds"] + systems.PROGRAM_SECONDS
        self.progress.event(f"{self.subject}: an earlier run has left a change without a confirmation; waiting until "
                            "it is taken back")
        while pending.read(self.name, self.folder) is not None:
            if not _runs(record["machine"]) or time.monotonic() > until:
                return
            self.sleep(POLL_SECONDS)

    def _taking_back(self) -> contextlib.AbstractContextManager[None]:
        return pending.taking_back(self.name, self.folder, lambda: self.progress.event(
            f"{self.subject}: a change that nobody confirmed is being taken back; waiting until that has ended"))

    def _system(self, links: list[dict[str, Any]]) -> str:
        missing = missing_interfaces(self.network, links)
        conflict = conflicting_kind(self.network, links)
        wrong = [Problem("provisioning-network", self.subject, "ports" if self.network.get("ports") else "name",
                         f"no interface {name}", "interfaces of this machine", "see ip link show") for name in missing]
        if conflict:
            wrong.append(Problem("provisioning-network", self.subject, "kind", conflict,
                                 "an interface of that kind, or none of that name", "choose another name"))
        system, reason = self.options["system"], ""
        if system == "auto":
            system, reason = chosen(systems.find(links, [self.name, *(self.network.get("ports") or ())], self.runner))
        if reason:
            wrong.append(Problem("provisioning-network", self.subject, "system", reason,
                                 "one system that configures the network", "set system to the one that is to do it"))
        wrong += [Problem("provisioning-network", self.subject, *mistake) for mistake in unfit(self.network, links)]
        wrong += [Problem(
            "provisioning-network", self.subject, field, found,
            "an address that no other interface of this machine has",
            "choose another one, or remove it there first; what this collection has made, by the playbook "
            f"provisioning_network with provisioning_network_state=absent and provisioning_network_name={other}")
            for field, found, other in held_elsewhere(self.network, links)]
        if system == "network_manager":
            wrong += self._bonds_of_others(links)
        if system == "ifupdown":
            wrong += self._defined_by_others()
        if wrong:
            raise RefusedError(wrong)
        return system

    def _defined_by_others(self) -> list[Problem]:
        """Return a problem for each interface whose definition by others ifupdown would merge with the collection's."""
        attached = self.network.get("kind") in ("bridge", "bond")
        fields = {port: f"ports[{at}]" for at, port in enumerate(self.network.get("ports") or ()) if attached}
        fields[self.name] = "name"
        return [Problem("provisioning-network", self.subject, fields[name], f"{name}, which {path} defines",
                        "an interface that no other file of ifupdown gives addresses, makes or attaches",
                        f"remove from 'iface {name}' there what does that, for ifupdown would merge both; or choose "
                        "another interface")
                for name, path in systems.ifupdown_definitions(self.name, fields).items()]

    def _bonds_of_others(self, links: list[dict[str, Any]]) -> list[Problem]:
        """Return a problem for each port that is somebody else's bond: NetworkManager has no file that adds to his."""
        made = made_devices(links) if self.network.get("kind") in ("bridge", "bond") else {}
        return [Problem("provisioning-network", self.subject, f"ports[{position}]",
                        f"{port}, a {made[port].kind} of a connection that this collection has not written",
                        "cards, VLANs, and bonds that this collection has made",
                        "make it by the playbook provisioning_network (kind bond), or let its own connection add it: "
                        f"nmcli connection modify <its connection> master {self.name} "
                        f"slave-type {self.network.get('kind')}, and leave it out of ports")
                for position, port in enumerate(self.network.get("ports") or ())
                if port in made and made[port].kind != "vlan" and not self._own_files(port)]

    def _inner(self, network: Mapping[str, Any]) -> dict[str, list[str]]:
        """Return the ports that the collection has made itself, each with its own ports."""
        found = {}
        for port in network.get("ports") or () if network.get("kind") in ("bridge", "bond") else ():
            own = self._own_files(port)
            if own:
                found[port] = _ports_in(own)
        return found

    def _own_files(self, name: str = "") -> list[str]:
        """Return the paths of the collection's files for an interface, whichever system they are for.

        :param name: by default that of the description
        """
        name = name or self.name
        own, found = f"{PREFIX}{name}", []
        for folder in _FOLDERS:
            for path in glob.glob(f"{folder}/{PREFIX}*"):
                base = os.path.basename(path)
                stem = base.rsplit(".", 1)[0] if base != own else base
                if _is_in_ifupdown(path, name) if folder == IFUPDOWN_FOLDER else (
                        stem == own or stem.startswith(f"{own}{OF_PORT}")):
                    found.append(path)
        return sorted(found)

    @staticmethod
    def _paired(wanted: list[File], before: list[dict[str, Any]]) -> list[tuple[File, dict[str, Any]]]:
        by_path = {old["path"]: old for old in before}
        return [(file, by_path[file.path]) for file in wanted]

    def _joining(self, links: list[dict[str, Any]], remade: bool) -> list[str]:
        """Return the ports that are to be configured again for a device that there is: all, or those it has not got."""
        masters = {link.get("ifname"): link.get("master") for link in links}
        attached = self.network.get("kind") in ("bridge", "bond")
        return [port for port in self.network.get("ports") or ()
                if remade or (attached and masters.get(port) != self.name)]

    def _change(self, system: str, wanted: list[File], stale: list[str], before: list[dict[str, Any]],
                made_before: bool, remade: bool, joining: list[str]) -> None:
        seconds = self.options["rollback_seconds"]
        record = {"system": system, "files": before, "seconds": seconds, "network": dict(self.network),
                  "made": not made_before, "remade": remade, "machine": _boot_id()}
        if not pending.begin(self.name, record, self.folder):
            raise NetworkError(f"{self.subject}: another run has begun to change it since this one has looked; nothing "
                               "was changed; wait until that run has ended, then run again")
        # It is wanted again.
        pending.end_removal(self.name, self.folder)
        if seconds:
            pending.watch(self.name, seconds, lambda: self._take_back(record), self.folder)
        try:
            for path in stale:
                pending.remove(path)
            for file in wanted:
                _folder_for(file.path)
                whole_file.write(file.path, file.content.encode(), int(file.mode, 8), False)
            if remade:
                # No system changes the VLAN or mode of a device that there is.
                systems.remove_device(self.network, self.runner)
            if remade or pending.snapshot(old["path"] for old in before) == before:
                # Without that what somebody has taken from the interface would not come again, either.
                _touch(file.path for file in wanted)
            self.progress.event(f"{self.subject}: {system} applies its files")
            systems.apply(system, self.network, self.runner, joining, self._inner(self.network))
            self._until_there(system)
        except ReportedError as exc:
            raise NetworkError(f"{self.subject}: {exc}; {self._return(record)}") from exc
        if not seconds:
            pending.end(self.name, self.folder)

    def _until_there(self, system: str) -> None:
        until = time.monotonic() + self.options["wait_timeout_seconds"]
        while True:
            links = systems.links(self.runner)
            lacking = differences(self.network, links)
            if not lacking:
                return
            if time.monotonic() > until:
                raise NetworkError(f"after {self.options['wait_timeout_seconds']} s {'; '.join(lacking)}"
                                   + self._cause(system, links))
            self.sleep(POLL_SECONDS)

    def _cause(self, system: str, links: list[dict[str, Any]]) -> str:
        """Return what may be the reason that an interface is not as described, and where the system says more."""
        if system != "networkd":
            return ""
        names = [self.name, *(self.network.get("ports") or ())]
        # A VLAN's port keeps its file.
        names = names[:1] if self.network.get("kind") == "vlan" else names
        foreign = [f"{path} configures {port}" for port, path in sorted(systems.port_files(links, names).items())
                   if PREFIX not in path]
        return (f" ({'; '.join(foreign)}: systemd-networkd uses the first file that matches; remove it)" if foreign
                else "; see journalctl -u systemd-networkd")

    def _return(self, record: Mapping[str, Any]) -> str:
        """Take a failed change back and return in words what became of it."""
        try:
            with self._taking_back():
                done = self._take_back(record)
        except ReportedError as exc:
            return f"taking it back failed, too: {exc}; look at the machine's console"
        return "what was before is back" if done else (
            f"the change took longer than {record['seconds']} s and has been taken back meanwhile; "
            "raise rollback_seconds")

    def _take_back(self, record: Mapping[str, Any]) -> bool:
        """Put the files of before back, and the interface with them; return whether this call did it.

        Only one of all who try does it.
        """
        if not pending.end(self.name, self.folder):
            return False
        pending.put_back(record["files"])
        had = any(file["content"] is not None for file in record["files"])
        if had:
            # What stands on it would go with it, and nobody would make that again; a change of its files alone has
            # left it as it was.
            if record.get("remade", True) or not carried_by(self.name, systems.links(self.runner)):
                systems.remove_device(record["network"], self.runner)
            paths = [file["path"] for file in record["files"] if file["content"] is not None]
            _touch(paths)
            network = systems.as_before(record["system"], record["network"], _ports_in(paths))
            systems.apply(record["system"], network, self.runner, _ports_of(record), self._inner(network))
        else:
            systems.withdraw(record["system"], record["network"], self.runner, self._inner(record["network"]))
        return True


def _remakes(system: str, file: File) -> bool:
    """Say whether a device must be made again for a file that is another than before."""
    return system != "networkd" or file.path.endswith(".netdev")


def _ports_of(record: Mapping[str, Any]) -> list[str]:
    """Return the ports that an interface has after a change, and those that its files of before name."""
    before = _ports_in(file["path"] for file in record["files"] if file["content"] is not None)
    return list(dict.fromkeys([*(record["network"].get("ports") or ()), *before]))


def _ports_in(paths: Iterable[str]) -> list[str]:
    """Return the ports that the names of an interface's files name."""
    stems = [os.path.basename(path).rsplit(".", 1)[0] for path in paths]
    return [stem.partition(OF_PORT)[2] for stem in stems if OF_PORT in stem]


def _is_in_ifupdown(path: str, name: str) -> bool:
    """Say whether a file in ifupdown's folder is an interface's.

    Earlier releases wrote ``_`` for a dot, so that two interfaces could have one name of a file: there the
    content decides.
    """
    base = os.path.basename(path)
    if base == f"{PREFIX}{ifupdown_name(name)}":
        return True
    with open(path, encoding="utf-8") as stream:
        return base == f"{PREFIX}{name.replace('.', '_')}" and is_of_ifupdown(stream.read(), name)


def _touch(paths: Iterable[str]) -> None:
    """Let files look new: systemd-networkd keeps what it has read of the others, the deleted device among it."""
    for path in paths:
        os.utime(path)


def _folder_for(path: str) -> None:
    """Make the folder of a drop-in, which the daemon reads with a user of its own."""
    folder = os.path.dirname(path)
    if not os.path.isdir(folder):
        os.makedirs(folder)
        os.chmod(folder, 0o755)


def _boot_id() -> str:
    """Return what names this start of the machine."""
    with open("/proc/sys/kernel/random/boot_id", encoding="utf-8") as stream:
        return stream.read().strip()


def _runs(boot: str) -> bool:
    """Say whether the machine has not been started again, so that the process which takes a change back still runs."""
    return boot == _boot_id()


def _system_of(paths: list[str]) -> str:
    for part, system in (("/systemd/", "networkd"), ("/NetworkManager/", "network_manager"), ("/netplan/", "netplan"),
                         ("/network/interfaces.d/", "ifupdown")):
        if any(part in path for path in paths):
            return system
    return ""


def _diff(before: list[dict[str, Any]], wanted: Mapping[str, File]) -> list[dict[str, str]]:
    found = []
    for old in before:
        new = wanted.get(old["path"])
        after = new.content if new else ""
        if (old["content"] or "") != after:
            found.append({"before_header": old["path"], "after_header": old["path"] if new else "",
                          "before": old["content"] or "", "after": after})
    return found
