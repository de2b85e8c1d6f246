# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Says where booting servers are, in the background of a wait: by Ironic's nodes, by logs of what they boot from and by
those of their serial consoles.

A BareMetalHost says ``inspecting`` for the whole of it. Nothing depends on what is found of a boot: it is what a wait
shows.
"""
from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

from .._bmc.addresses import address as bmc_address
from .._common.texts.formats import duration
from .._ironic.api.client import HAS_OPENSTACK, IronicClient, ironic_argument_spec
from .._ironic.api.errors import IronicError
from .._ironic.audit.raid_volumes import FIELDS as RAID_FIELDS
from .._kube.connection.library import HAS_KUBERNETES
from .._kube.responses.errors import KubeError
from .._metal3.ironic_place import POD_OPTIONS
from . import console
from .image_sent import download_of
from .image_watch import ImageWatch
from .log_tail import LogTail
from .node_phase import FIELDS, SILENT_SECONDS, has_agent, has_failed, is_booting, last_call, phase
from .pod_log import PodLogs
from .power import TEXTS, PowerQuestion
from .traces import NO_DHCP, NO_DHCP_SECONDS, Trace, Traces, stuck

INTERVAL_SECONDS = 5


def boot_argument_spec() -> dict[str, dict[str, Any]]:
    """Return the options by which a module that waits for hosts looks at boots; documented in the fragment ``boot``."""
    return {
        "ironic": {"type": "dict", "options": ironic_argument_spec()},
        "boot_logs": {"type": "list", "elements": "path", "default": []},
        "boot_pod": {"type": "dict", "options": POD_OPTIONS},
        "boot_consoles": {"type": "dict", "default": {}},
        "boot_ca_file": {"type": "path"},
        "boot_bmc_ca_files": {"type": "dict", "options": {
            "hosts": {"type": "dict", "default": {}}, "others": {"type": "path"}}},
    }


class BootWatch:
    """Looks at booting servers while it is entered.

    :param params: dict with the options of :func:`boot_argument_spec`
    :param active: whether there is a wait at all
    :param clock: monotonic clock, in seconds
    :param connect: callable that takes the options ``ironic`` and returns a client of Ironic
    :param images: an ImageWatch, by default of this machine
    :param power: callable that takes BareMetalHosts and returns what the BMC of each says of its power, by default
        :class:`PowerQuestion`
    """

    def __init__(self, params: dict[str, Any], active: bool = True, clock: Callable[[], float] = time.monotonic,
                 connect: Callable[[dict[str, Any]], Any] = IronicClient,
                 power: Callable[[list[dict[str, Any]]], list[str]] | None = None,
                 images: Any = None) -> None:
        self.warnings: list[str] = []
        self._clock = clock
        self._connect = connect
        watched = params if active else {}
        self._ironic = watched.get("ironic")
        self._logs: list[Any] = [LogTail(path) for path in watched.get("boot_logs") or []]
        if watched.get("boot_pod") and HAS_KUBERNETES:
            self._logs.append(PodLogs(watched["boot_pod"]))
        # By host.
        self._consoles = dict((name, LogTail(str(path))) for name, path in (watched.get("boot_consoles") or {}).items())
        self._console_signs = dict((name, console.Signs()) for name in self._consoles)
        self._signs: dict[str, tuple[Trace, str]] = {}
        # By host: how far a system from a disk is. An agent's ramdisk says the same; by node, when that was last heard.
        self._stages: dict[str, Trace] = {}
        self._heard: dict[str, float] = {}
        # By host: the clock's reading when its firmware had started a medium, of those whose console is silent since.
        self._started: dict[str, float] = {}
        self._client: Any = None
        self._traces = Traces()
        self._nodes: dict[str, dict[str, Any]] = {}
        # By node: its agent's last call, and the clock's reading when that was found. Ironic's clock may be another.
        self._calls: dict[str, tuple[str, float]] = {}
        # By node: the clock's reading when it was found powered on and waiting for its agent.
        self._booting: dict[str, float] = {}
        self._power = power or PowerQuestion(params).ask
        self._image_watch = images or ImageWatch(params.get("boot_ca_file"))
        # By node: how much of its image was sent.
        self._images: dict[str, str] = {}
        # By node: the agent's last call after which its BMC was asked for power, and what a wait says of the answer.
        self._asked: dict[str, str] = {}
        self._powers: dict[str, tuple[Trace, str]] = {}
        self._keys: dict[str, tuple[str, ...]] = {}
        self._hosts: dict[str, dict[str, Any]] = {}
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> BootWatch:
        if self._ironic is not None and not HAS_OPENSTACK and self._connect is IronicClient:
            self._give_up("the Python package openstacksdk is missing; install it, or leave out the option ironic")
        if self._ironic is not None or self._logs or self._consoles:
            self._thread.start()
        return self

    def __exit__(self, *_exception: Any) -> None:
        # It is not waited for: a question to Ironic may take a minute, and changes nothing.
        self._ended.set()

    def text(self, bmh: dict[str, Any], seconds: float) -> str:
        """Return where a host's server is, empty when nothing is known; it is looked at from then on.

        :param bmh: the BareMetalHost
        :param seconds: for how long it has been in its state; what the server did before is not about that
        """
        node, nics = _node_of(bmh), ((bmh.get("status") or {}).get("hardware") or {}).get("nics") or []
        macs = [(bmh.get("spec") or {}).get("bootMACAddress")] + [nic.get("mac") for nic in nics]
        keys = tuple(text.lower() for text in [node, *macs] if isinstance(text, str))
        name = bmh["metadata"]["name"]
        with self._lock:
            self._keys[name], self._hosts[name] = keys, bmh
            # What was said before a medium was started is of an earlier boot.
            sign = self._silent(name) or self._signs.get(name)
            found, trace, call = self._nodes.get(node), self._traces.last(keys), self._calls.get(node)
            image, booting, power = self._images.get(node, ""), self._booting.get(node), self._powers.get(node)
        doing = phase(found, self._clock() - call[1] if call else 0, image) if found else ""
        # A server that has failed boots nothing any more.
        if trace is not None and not (found and (not doing or has_agent(found) or has_failed(found))):
            text, advice = stuck(trace, self._clock())
            doing = self._aged(trace._replace(text=text), advice, seconds) or doing
        # Ironic says that it is on somewhat after that was so.
        if booting is not None and (trace is None or trace.at < booting - 3 * INTERVAL_SECONDS) and self._asks_dhcp(
                bmh):
            doing = self._unheard(booting) or doing
        # What has come since, a call of its agent for example, was not kept from coming; of one look nothing is later.
        later = max(call[1] if call else 0.0, trace.at if trace else 0.0) - INTERVAL_SECONDS
        said = self._aged(*sign, seconds) if sign and sign[0].at >= later else ""
        powered = self._aged(*power, seconds) if power else ""
        # Progress shows the beginning of it: the cause goes first.
        return "; ".join(text for text in (said, powered, doing) if text)

    def system_text(self, bmh: dict[str, Any], seconds: float) -> str:
        """Return how far the system of a provisioned host has booted, by its console; empty when nothing is known.

        :param bmh: the BareMetalHost
        :param seconds: for how long the host has been found provisioned
        """
        name = bmh["metadata"]["name"]
        with self._lock:
            stage, sign, heard = self._stages.get(name), self._signs.get(name), self._heard.get(_node_of(bmh))
        now = self._clock()
        since = now - seconds if heard is None else heard
        said = [sign] if sign else []
        said += [(stage, "")] if stage else []
        return "; ".join(_ago(trace, advice, now) for trace, advice in said if trace.at > since)

    def _asks_dhcp(self, bmh: dict[str, Any]) -> bool:
        """Return whether a host's server boots by DHCP, and a log of DHCP is read that is there."""
        address = bmc_address.readable(((bmh.get("spec") or {}).get("bmc") or {}).get("address"))
        return address is not None and address.driver.boot == "ipxe" and any(
            log.is_of_dhcp and getattr(log, "is_there", True) for log in self._logs)

    def _unheard(self, since: float) -> str:
        text, advice = NO_DHCP
        now = self._clock()
        return "" if now - since < NO_DHCP_SECONDS else _ago(Trace(text, since), advice, now)

    def _silent(self, name: str) -> tuple[Trace, str] | None:
        at = self._started.get(name)
        if at is None or self._clock() - at < console.SILENT_SECONDS:
            return None
        return Trace(console.SILENT[0], at), console.SILENT[1]

    def _aged(self, trace: Trace, advice: str, seconds: float) -> str:
        now = self._clock()
        return "" if now - trace.at > seconds else _ago(trace, advice, now)

    def raid_nodes(self) -> dict[str, dict[str, Any]]:
        """Return Ironic's nodes by UUID, with the fields of ``raid_volumes``; none unless Ironic can be asked.

        A warning says when it refuses: whether volumes were made is not known then.
        """
        options = self._ironic
        if options is None:
            return {}
        try:
            return dict((node["uuid"], node) for node in self._connect(options).list_nodes(RAID_FIELDS))
        except IronicError as exc:
            self.warnings.append(f"ironic: whether the hosts have their hardware RAID volumes was not looked at: {exc}")
            return {}

    def look(self) -> None:
        """Look once at all sources."""
        with self._lock:
            self._traces.known = frozenset().union(*self._keys.values())
        for log in list(self._logs):
            lines = self._lines(log, "boot_logs")
            if lines is None:
                self._logs.remove(log)
                continue
            now = self._clock()
            with self._lock:
                for line in lines:
                    self._traces.take(line, now)
        for name, log in list(self._consoles.items()):
            lines = self._lines(log, "boot_consoles")
            if lines is None:
                del self._consoles[name]
                continue
            said, stage = self._console_signs[name].take(lines), console.stage(lines)
            with self._lock:
                if console.is_medium_started(lines):
                    self._started[name] = self._clock()
                elif any(line.strip() for line in lines):
                    self._started.pop(name, None)
                if stage:
                    self._stages[name] = Trace(stage, self._clock())
                if said is not None:
                    self._signs[name] = Trace(said[0], self._clock()), said[1]
        if self._ironic is not None:
            self._ask()
            self._look_at_images()
            self._ask_bmcs()

    def _lines(self, log: Any, option: str) -> list[str] | None:
        try:
            lines: list[str] = log.lines()
            return lines
        except KubeError as exc:
            self.warnings.append(f"boot_pod: the logs of {log.path} are not read: {exc}")
            return None
        except OSError as exc:
            self.warnings.append(f"{option}: {log.path} is not read: {exc.strerror}; correct the path, or let this "
                                 "user read it")
            return None

    def _run(self) -> None:
        while not self._ended.is_set():
            began_at = self._clock()
            self.look()
            # An Ironic that takes long to list its nodes has little time for more of these questions.
            self._ended.wait(max(INTERVAL_SECONDS, 10 * (self._clock() - began_at)))

    def _ask(self) -> None:
        try:
            self._client = self._client or self._connect(self._ironic or {})
            nodes = dict((node["uuid"], node) for node in self._client.list_nodes(FIELDS))
        except IronicError as exc:
            # What passes is asked again; a wait says nothing of it.
            if not exc.retriable:
                self._give_up(str(exc))
            nodes = {}
        now = self._clock()
        with self._lock:
            self._nodes = nodes
            for uuid, node in nodes.items():
                if has_agent(node) and last_call(node) is not None:
                    self._heard[uuid] = now
                if is_booting(node):
                    self._booting.setdefault(uuid, now)
                else:
                    self._booting.pop(uuid, None)
                text = last_call(node)
                if text is None:
                    self._calls.pop(uuid, None)
                elif uuid not in self._calls or self._calls[uuid][0] != text:
                    self._calls[uuid] = (text, now)
                # Of an agent that Ironic has given up it is what its silence was about.
                if not has_failed(node) and self._asked.get(uuid) != text:
                    self._powers.pop(uuid, None)

    def _look_at_images(self) -> None:
        with self._lock:
            read = dict((node, download_of(self._nodes[node], bmh)) for node, bmh in self._hosts_by_node().items()
                        if node in self._nodes)
        found = self._image_watch.look(dict((node, download) for node, download in read.items() if download))
        with self._lock:
            self._images = found

    def _hosts_by_node(self) -> dict[str, dict[str, Any]]:
        nodes = ((_node_of(bmh), bmh) for bmh in self._hosts.values())
        return dict((node, bmh) for node, bmh in nodes if node)

    def _ask_bmcs(self) -> None:
        """Ask the BMCs of those whose agent has fallen silent for power, once for each silence."""
        now = self._clock()
        with self._lock:
            due = []
            for node, bmh in self._hosts_by_node().items():
                call = self._calls.get(node)
                if call and now - call[1] >= SILENT_SECONDS and self._asked.get(node) != call[0]:
                    self._asked[node] = call[0]
                    due.append((node, bmh))
        if not due:
            return
        for (node, dummy), answer in zip(due, self._power([bmh for dummy, bmh in due])):
            if answer in TEXTS:
                with self._lock:
                    self._powers[node] = Trace(TEXTS[answer][0], self._clock()), TEXTS[answer][1]

    def _give_up(self, why: str) -> None:
        self._ironic = None
        self.warnings.append(f"ironic: what Ironic does with the hosts is not shown: {why}")


def _node_of(bmh: dict[str, Any]) -> str:
    """Return the UUID of a host's node in Ironic, empty while it has none."""
    found = ((bmh.get("status") or {}).get("provisioning") or {}).get("ID")
    return found if isinstance(found, str) else ""


def _ago(trace: Trace, advice: str, now: float) -> str:
    """Return what was found of a boot, and how long ago."""
    return f"{trace.text} {duration(now - trace.at)} ago" + (f"; {advice}" if advice else "")
