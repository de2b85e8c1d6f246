# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Many BMCs asked side by side, a bounded number at once; a login that failed is not tried again, whatever happens."""
from __future__ import annotations

import threading
import time
from collections import namedtuple
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from ..._common.texts.plain_text import shortened
from ..._common.waiting import parallel
from ..addresses import address as bmc_address
from ..addresses import hardware as bmc_hardware
from . import endpoint, ipmi, redfish_facts
from .redfish import RedfishClient, RedfishError
from .survey import Walk

# name: of the host; address: a BmcAddress; username, password: texts or None; any_certificate: take any certificate;
# ca_cert: path, empty for the system's, None for that of the Settings.
Target = namedtuple("Target", ["name", "address", "username", "password", "any_certificate", "ca_cert"],
                    defaults=[None])
# ca_cert: path or None for the system's; concurrency: how many BMCs are asked at once; firmware: whether the firmware
# inventory is read; login_only: nothing is read but what it takes to log in; accounts: whether all accounts are read.
Settings = namedtuple("Settings", [
    "ca_cert", "connect_timeout_seconds", "read_timeout_seconds", "concurrency", "firmware", "login_only",
    "accounts"], defaults=[False, False, False])


def gather(targets: Sequence[Target], settings: Settings, progress: Any = None,
           work: Callable[..., list[dict[str, Any]]] | None = None) -> list[dict[str, Any]]:
    """Ask all BMCs and return the facts of each target, in the given order.

    Targets with one account are asked one after the other, so that none of them repeats a login that another one
    failed at; those with the same way in (the servers of one chassis) share a login. All others are asked side by side.

    :param targets: list of Target
    :param settings: Settings
    :param progress: a Progress, or None
    :param work: what is done in a session, by default :func:`surveys`, with its parameters and result
    :returns: list of facts: ``reached``, ``connect_seconds``, ``tls``, ``login``, ``error`` (empty, or ``stage``,
        ``kind`` and ``text`` of what ended it), ``unread`` (part → reason), ``recommended``, ``ipmi``,
        ``redfish_version``, and those of :func:`redfish_facts.facts`
    """
    groups = {}
    for target in targets:
        groups.setdefault(account_of(target), []).append(target)
    counter = Counter(len(targets), progress, "asking BMCs")

    def ask(group: Sequence[Target]) -> list[dict[str, Any]]:
        found = _ask_account(group, settings, work or surveys)
        counter.add(len(group))
        return found

    outcomes = parallel.run([partial(ask, group) for group in groups.values()], settings.concurrency, RedfishError)
    answers = {}
    for group, outcome in zip(groups.values(), outcomes):
        if outcome.error is not None:
            raise outcome.error
        answers.update(zip((id(target) for target in group), outcome.value))
    return [answers[id(target)] for target in targets]


def account_of(target: Target) -> tuple[Any, ...]:
    """Return what distinguishes one account from another, whatever the way in.

    :param target: a Target
    """
    return (*target.address.bmc, target.username, target.password)


class Counter:
    """Reports how many are done, from any thread.

    :param total: how many there are
    :param progress: a Progress, or None
    :param what: what is being done
    """

    def __init__(self, total: int, progress: Any, what: str):
        self._total = total
        self._progress = progress
        self._what = what
        self._done = 0
        self._lock = threading.Lock()

    def add(self, count: int) -> None:
        """Count more that are done."""
        with self._lock:
            self._done += count
            # Still locked, so that the last count is reported last.
            if self._progress is not None:
                self._progress.status(self._what, f"{self._done} of {self._total} asked")


def blank() -> dict[str, Any]:
    """Return the facts of a BMC that nothing is known of."""
    return dict(redfish_facts.facts({}), reached=False, connect_seconds=0.0, tls={}, error={}, unread={},
                login={"ok": False, "method": "", "attempts": 0}, recommended={}, ipmi={}, redfish_version="")


def _error(stage: str, kind: str, text: str) -> dict[str, Any]:
    return {"stage": stage, "kind": kind, "text": text}


def _ask_account(group: Sequence[Target], settings: Settings,
                 work: Callable[..., list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """Return the facts of targets with one account."""
    ways = {}
    for target in group:
        key = target.address.driver.protocol, target.address.endpoint, target.any_certificate, target.ca_cert
        ways.setdefault(key, []).append(target)
    answers, failed = {}, None
    for way, targets in ways.items():
        found = _ask_ipmi(targets, settings, failed) if way[0] == "ipmi" else _ask_redfish(
            targets, settings, work, failed)
        failed = failed or _failed_login(found[0])
        answers.update(zip((id(target) for target in targets), found))
    return [answers[id(target)] for target in group]


def _failed_login(facts: dict[str, Any]) -> dict[str, Any] | None:
    """Return what a failed login left of facts, None when the password may be tried once more."""
    error = facts["error"]
    if not error or error["stage"] != "login" or not facts["login"]["attempts"] or error["kind"] == "privilege":
        return None
    return {"login": facts["login"], "error": error}


def _ask_redfish(group: Sequence[Target], settings: Settings, work: Callable[..., list[dict[str, Any]]],
                 failed: dict[str, Any] | None) -> list[dict[str, Any]]:
    """Return the facts of targets at one BMC with one way in."""
    common, found = in_session(group[0], settings, partial(work, group, settings), failed)
    return [dict(common) for dummy in group] if found is None else found


def explore(target: Target, settings: Settings) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the facts of a BMC as a whole, and those of each of its systems that the account may read.

    :param target: a Target whose address needs no system path
    :param settings: Settings
    :returns: ``(facts, list of facts)``; ``unread`` of the first says by ``systems`` which could not be read
    """
    common, found = in_session(target, settings, partial(_surveys_of_all, target))
    return common, found or []


def in_session(target: Target, settings: Settings, work: Callable[..., Any],
               failed: dict[str, Any] | None = None) -> tuple[dict[str, Any], Any]:
    """Go the way in and return ``(facts of the BMC, what work(client, root, facts) returns)``; None if it ended before.

    :param target: the Target with address and credentials
    :param settings: Settings
    :param work: what is done in the session
    :param failed: facts of a login with the same account that failed, which is not tried again; None without one
    """
    common = blank()

    def ended(stage: str, kind: str, text: str) -> tuple[dict[str, Any], None]:
        return dict(common, error=_error(stage, kind, text)), None

    authorities = settings.ca_cert if target.ca_cert is None else target.ca_cert
    probed = endpoint.probe(target.address.host, target.address.effective_port, authorities,
                            target.address.uses_tls, settings.connect_timeout_seconds)
    common.update(reached=probed["reached"], connect_seconds=probed["connect_seconds"], tls=probed["tls"])
    if not probed["reached"]:
        return ended("reach", "unreachable", probed["error"])
    if probed["tls"] and not probed["tls"]["verified"] and not target.any_certificate:
        return ended("tls", "unverified", probed["tls"]["error"])
    client = RedfishClient(
        target.address.endpoint, False if target.any_certificate else endpoint.trust(authorities),
        settings.connect_timeout_seconds, settings.read_timeout_seconds)
    try:
        try:
            root = client.root()
        except RedfishError as exc:
            return ended("service", exc.kind, str(exc))
        common.update(redfish_facts.facts({"root": root}))
        if not target.username or not target.password:
            return ended("credentials", "missing", "no user name and password")
        if failed:
            return dict(common, **failed), None
        failure = _login(client, root, target)
        common["login"] = {"ok": not failure, "method": client.login_method, "attempts": client.login_attempts}
        if failure:
            return ended("login", failure.kind, str(failure))
        return common, work(client, root, common)
    finally:
        client.close()


def _login(client: RedfishClient, root: dict[str, Any], target: Target) -> RedfishError | None:
    """Log in and return None, or the RedfishError."""
    try:
        client.login(root, target.username, target.password)
    except RedfishError as exc:
        return exc
    return None


def surveys(group: Sequence[Target], settings: Settings, client: RedfishClient, root: dict[str, Any],
            common: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the facts of targets at one BMC that is logged in to.

    :param group: Targets with one account and one way in
    :param client: the session
    :param root: the service root
    :param common: facts of the BMC as a whole
    """
    if settings.login_only:
        return [dict(common) for dummy in group]
    shared = Walk(client.read, root, time.time)
    only = shared.only_system()
    shared.account(group[0].username)
    if settings.firmware:
        shared.firmware()
    if settings.accounts:
        shared.accounts()
    found = []
    for target in group:
        # Without a path BMO and Ironic take the only system there is.
        path = target.address.system or only
        found.append(_survey(target, path, shared, common))
    return found


def _surveys_of_all(target: Target, client: RedfishClient, root: dict[str, Any],
                    common: dict[str, Any]) -> list[dict[str, Any]]:
    shared = Walk(client.read, root, time.time)
    found = [(path, _survey(target, path, shared, common)) for path in shared.systems()]
    readable = [facts for dummy, facts in found if facts["system"]]
    reasons = [shared.survey.unread.get("systems")]
    if not readable:
        # Beside others, these are an account's that may read its own systems only.
        reasons += [f"{path}: {facts['unread'].get('system')}" for path, facts in found]
    common["unread"] = {"systems": shortened("; ".join(reason for reason in reasons if reason), 400)}
    return readable


def _survey(target: Target, path: str | None, shared: Walk, common: dict[str, Any]) -> dict[str, Any]:
    walk = shared.fork()
    if path:
        walk.system(path)
    facts = dict(common, **redfish_facts.facts(walk.survey.parts, walk.survey.clock_asked))
    facts["unread"] = walk.survey.unread
    if facts["system"]:
        # The path that was asked; what the system calls itself is not needed.
        facts["system"]["path"] = path
        facts["recommended"] = bmc_hardware.choose(facts, target.address)
    return facts


def _ask_ipmi(group: Sequence[Target], settings: Settings, failed: dict[str, Any] | None) -> list[dict[str, Any]]:
    """Return the facts of targets at one BMC; there is one server behind it."""
    facts = dict(blank(), **failed) if failed else explore_ipmi(group[0], settings)
    return [facts for dummy in group]


def explore_ipmi(target: Target, settings: Settings) -> dict[str, Any]:
    """Return the facts of a BMC that speaks IPMI."""
    address = target.address
    facts = blank()
    if not target.username or not target.password:
        facts["error"] = _error("credentials", "missing", "no user name and password")
        return facts
    try:
        facts["ipmi"] = ipmi.ask(address.host, address.effective_port, target.username, target.password,
                                 address.query.get("privilegelevel", ipmi.DEFAULT_PRIVILEGE),
                                 settings.connect_timeout_seconds)
        facts["login"] = {"ok": True, "method": "IPMI 2.0", "attempts": 1}
        facts["reached"] = True
    except ipmi.IpmiError as exc:
        stage = "reach" if exc.kind == "unreachable" else "login"
        facts["reached"] = exc.kind in ("unauthorized", "privilege")
        attempts = 0 if exc.kind in ("missing", "unsendable") else 1
        facts["login"] = {"ok": False, "method": "IPMI 2.0", "attempts": attempts}
        facts["error"] = _error(stage, exc.kind, str(exc))
    if facts["reached"] and not settings.login_only:
        facts["redfish_version"] = redfish_version(address.host, settings)
    return facts


def redfish_version(host: str, settings: Settings) -> str:
    """Return the version of the Redfish service at a host's standard port, empty when there is none.

    Only the service root is read, without credentials, so that its certificate does not matter.
    """
    address = bmc_address.parse("redfish://%s" % (f"[{host}]" if ":" in host else host))
    probed = endpoint.probe(host, address.effective_port, None, False, settings.connect_timeout_seconds)
    if not probed["reached"]:
        return ""
    client = RedfishClient(address.endpoint, False, settings.connect_timeout_seconds, settings.read_timeout_seconds)
    try:
        return redfish_facts.text(client.root(), "RedfishVersion")
    except RedfishError:
        return ""
    finally:
        client.close()
