# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Holds a namespace's hosts for a move, and lets the operator work on them again, here or where they are by then."""
from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping
from typing import Any

from ..._common.documents.tolerant import dict_in
from ..._common.problems.errors import RefusedError
from ..._common.problems.problem import Problem
from ..._common.texts.plain_text import plain
from ..._common.waiting.wait_loop import WaitLoop
from ..._common.waiting.wait_report import REACHED, WAITING, Awaited, Verdict
from ..._host.actions.actions import has_status
from ..._host.description import annotations as host_annotations
from ..._host.state import power_due, redeploy
from ..._host.state.goals import HostHistory, error_of, state_of, stays_detached
from ..._host.state.reading import BMH, hosts_everywhere, hosts_of
from ..._host.state.wait import follow_hosts
from ..._kube.api.follow import follow
from ..._kube.reconcile.plan import UNCHANGED, UPDATE, Entry
from ..._kube.reconcile.reconcile import Reconcile, raise_refused
from ..._metal3.kinds import KNOWN
from ..checks import rules as checks
from ..checks.other_hosts import OtherHosts
from ..objects import record
from . import clusters as cluster_pauses

Object = dict[str, Any]


class _Writes(Reconcile):
    """Patches of annotations; ``change`` takes a host and returns its annotations' patch, None for none."""

    def __init__(self, client: Any, check_mode: bool, progress: Any, sleep: Callable[[float], Any],
                 change: Callable[[Object], dict[str, Any] | None],
                 check: Callable[[Object], list[Any]]) -> None:
        super().__init__(client, check_mode, progress, sleep)
        self._change = change
        self._host_problems = check

    def entry(self, namespace: str, host: Object) -> Entry:
        patch = self._change(host)
        shown = dict((key, value if key == host_annotations.PAUSED else "(set)") for key, value in (patch or {}).items()
                     if value is not None)
        before = dict((key, host_annotations.of(host)[key] if key == host_annotations.PAUSED else "(set)")
                      for key in patch or {} if key in host_annotations.of(host))
        return Entry(BMH, namespace, host["metadata"]["name"], UPDATE if patch else UNCHANGED, None, host,
                     before, shown, {"metadata": {"annotations": patch}} if patch else None)

    def problems_again(self, entry: Entry, stored: Any) -> list[Any]:
        """Return what is being done with a host by now: a status that is saved then is not the one that was checked."""
        return [] if stored is None else self._host_problems(stored)

    def plan_again(self, entry: Entry, stored: Any) -> Entry:
        """Return the entry for the host as it is by now."""
        return self.entry(entry.namespace or "", stored) if stored else entry._replace(action=UNCHANGED)


def held(client: Any, namespace: str, check_mode: bool, progress: Any,
         sleep: Callable[[float], Any] = time.sleep, names: Collection[str] | None = None,
         former_ironic: str | None = None) -> dict[str, Any]:
    """Pause hosts of a namespace and save the status of each at it.

    A pause first, in a write of its own: the operator may be writing a status.

    :param client: a KubeClient
    :param namespace: name of the namespace
    :param check_mode: let the API server try writes without storing them
    :param progress: a Progress
    :param sleep: callable that waits a number of seconds
    :param names: of the hosts; None for all
    :param former_ironic: for which Ironic's end, see ``former_said.Said.place``
    :returns: the module's result
    :raises RefusedError: when something is being done with a host, or one is not there; nothing was written then
    :raises KubeError: when the API server refuses
    """
    hosts = _chosen(client, namespace, names)
    due = [host for host in hosts if not _is_held(host)]
    problems = [problem for host in due for problem in checks.host_problems(host)]
    if problems:
        raise RefusedError(problems)
    paused = annotate(client, namespace, due, check_mode, progress, sleep,
                      lambda host: _pause(host, former_ironic), checks.host_problems)
    if not check_mode:
        chosen = set(host["metadata"]["name"] for host in hosts)
        due = [host for name, host in hosts_of(client, namespace).items()
               if (names is None or name in chosen) and not _is_held(host)]
        # The operator's last write may have come between the look and the pause.
        late = [problem for host in due for problem in checks.host_problems(host)]
        if late:
            annotate(client, namespace, due, False, progress, sleep, lambda host: resume(host, checks.HELD))
            raise RefusedError(late)
        annotate(client, namespace, due, False, progress, sleep, _save, checks.host_problems)
    return _result(hosts, paused)


def released(client: Any, namespace: str, check_mode: bool, progress: Any, timeout_seconds: int,
             clock: Callable[[], float] = time.monotonic, sleep: Callable[[float], Any] = time.sleep,
             names: Collection[str] | None = None, what_for: str = checks.HELD,
             loses: Callable[[Object], bool] | None = None) -> dict[str, Any]:
    """Let the operator work on held hosts again, and wait until hosts and machines are what they were.

    :param client: a KubeClient
    :param namespace: name of the namespace
    :param check_mode: let the API server try writes without storing them
    :param progress: a Progress
    :param timeout_seconds: how long to wait
    :param clock: monotonic clock, in seconds
    :param sleep: callable that waits a number of seconds
    :param names: of the hosts; None for all
    :param what_for: the value of the pause of hosts that are released; others stay as they are
    :param loses: callable that takes a host with its status and says whether the operator wipes it or installs it
        again; such a host is waited for until it is registered
    :returns: the module's result, with the ``errors`` of hosts that are not what they were
    :raises RefusedError: when a move of the namespace has not ended, or a host is not there; nothing was written then
    :raises KubeError: when the API server refuses
    """
    hosts = _chosen(client, namespace, names)
    due = [host for host in hosts if host_annotations.of(host).get(host_annotations.PAUSED) == what_for]
    moved = record.read(client.get(KNOWN["ConfigMap"], namespace, record.NAME))
    if due and moved is not None and moved.state == record.MOVING:
        # Of such a host there may be a copy in the other plane, or it has not arrived yet.
        raise RefusedError([record.not_ended(namespace)])
    facts = moved.hosts if moved is not None and what_for == checks.HELD else {}
    reasons: dict[str, str] = {}
    unread: list[str] = []
    if what_for == checks.HELD and due:
        twofold, unread = _twofold(client, namespace, due)
        reasons = dict((name, _loss(host, facts) or twofold[name])
                       for host in due for name in [host["metadata"]["name"]])
    due = [host for host in due if not reasons.get(host["metadata"]["name"])]
    began = clock()
    changes = annotate(client, namespace, due, check_mode, progress, sleep, lambda host: None if (
        what_for == checks.HELD and _loss(host, facts)) else resume(host, what_for))
    result = dict(_result(hosts, changes), errors=[
        f"host {name}: not released: {reason}" for name, reason in sorted(reasons.items()) if reason], warnings=unread)
    if check_mode:
        return result
    if moved is not None and (moved.state != record.MOVED or what_for != checks.HELD):
        # What is restored is not what an earlier move has brought.
        moved = None
    # A move takes no paused Cluster along.
    paused = cluster_pauses.paused_clusters(client, namespace, due) if what_for == host_annotations.FOR_RESTORE else {}
    histories = dict((name, _history(host, began, moved, name in paused, loses))
                     for host in due for name in [host["metadata"]["name"]])
    silence = follow_hosts(client, namespace, histories, began + timeout_seconds, progress, clock)
    machines, silence_on_machines = _machines(client, namespace, moved, began, timeout_seconds, progress, clock)
    now = clock()
    result["errors"] += [f"{kind} {name}: {text}"
                         for kind, items, said in (("host", histories, silence),
                                                   ("machine", machines, silence_on_machines or silence))
                         for name, item in sorted(items.items()) for text in [item.error(timeout_seconds, now, said)]
                         if text]
    result["warnings"] += [
        f"BareMetalHost {name}: released, and paused by CAPM3, since its Cluster {paused[name]} is paused; the "
        "operator takes it up, as it was, when the Cluster is resumed (spec.paused)"
        for name, item in sorted(histories.items()) if name in paused and _is_paused_by_capm3(item.bmh)]
    return result


def _loss(host: Object, facts: Mapping[str, Mapping[str, Any]]) -> str:
    """Return why the operator would not take up a host that was held as it was, empty when it would.

    :param host: the host, which is held
    :param facts: host's name → what the record of the move says of it
    """
    return _loss_of_status(host, facts) or costs(host)


def costs(host: Object) -> str:
    """Return what the operator does to a server as soon as it works on a held host again, empty for nothing.

    :param host: the host, in whichever plane it is; somebody may have changed or deleted it while it was held
    """
    found = redeploy.lost_when_taken_up(host)
    text = f"a host on which {found}, so that the operator would deprovision it" if found else ""
    interruption = "" if text else power_due.interruption(host)
    if interruption:
        text = f"a host {interruption}, so that the operator would switch it off"
    return text and plain(f"{text}; correct it; or resume it by the action resume of baremetal_host_action with "
                          "force_hosts, when that may be")


def _loss_of_status(host: Object, facts: Mapping[str, Mapping[str, Any]]) -> str:
    if has_status(host):
        return ""
    saved = host_annotations.arguments(host_annotations.of(host).get(host_annotations.STATUS))
    state = dict_in(saved, "provisioning").get("state")
    known = facts.get(host["metadata"]["name"], {}).get("state")
    if saved and known in (None, state):
        return ""
    found = f"a saved status with the state {state}, and moved as {known}" if saved else \
        "neither a status nor a saved one, so that the operator would begin with it from the start"
    return plain(f"{found}; write the annotation {host_annotations.STATUS} as it was, from the backup of before the "
                 f"move; or remove {host_annotations.PAUSED}, when its server may be installed again")


def _twofold(client: Any, namespace: str, due: Collection[Object]) -> tuple[dict[str, str], list[str]]:
    """Return why hosts stay held whose server another host of the plane has by now, by name, and what was not compared.

    Somebody may have enrolled a server that was on its way: two hosts would switch and clean it.
    """
    own, elsewhere, unread = hosts_everywhere(client, namespace)
    attached = [host for host in (*own.values(), *elsewhere)
                if dict_in(host, "status").get("operationalStatus") != "detached"]
    others = OtherHosts(attached, namespace, [host["metadata"]["name"] for host in due])
    return dict((host["metadata"]["name"], "; ".join(
        f"{item.field}: found {item.value}, which the host {item.other} has, too, expected one host for a server; find "
        "out which of the two has it, detach the other, wait until it is detached, and delete it, then run again"
        for item in others.shared(host))) for host in due), [unread] if unread else []


def _machines(client: Any, namespace: str, moved: record.Record | None, began: float, timeout_seconds: int,
              progress: Any, clock: Callable[[], float]) -> tuple[dict[str, Awaited], str]:
    """Wait until the machines of a move are Nodes of their clusters as before.

    :returns: the machines, and that the API server has not answered at the end, empty when it has
    """
    if moved is None or not moved.machines:
        return {}, ""

    def decider(before: dict[str, Any]) -> Callable[[Object | None], Verdict]:
        def decide(machine: Object | None) -> Verdict:
            texts = record.differences(before, None if machine is None else record.machine_facts(machine))
            return Verdict(WAITING, "; ".join(texts), "look at the Machine's conditions") if texts else \
                Verdict(REACHED, "", "")
        return decide

    items = dict((name, Awaited("what it was", began, decider(before))) for name, before in moved.machines.items())
    loop = WaitLoop(f"API server {client.server}", progress, clock)
    loop.run(items, follow(client, KNOWN["Machine"], namespace, began + timeout_seconds, clock=clock),
             lambda objects, name: objects.get(name))
    return items, loop.silence()


def _history(host: Object, now: float, moved: record.Record | None, is_of_paused: bool,
             loses: Callable[[Object], bool] | None) -> HostHistory:
    """Return the history of a released host.

    :param is_of_paused: whether its Cluster is paused, so that CAPM3 pauses the host again
    :param loses: see :func:`released`
    """
    saved = host_annotations.arguments(host_annotations.of(host).get(host_annotations.STATUS))
    before = saved if not has_status(host) else host["status"]
    state = (before.get("provisioning") or {}).get("state") or "new"
    # Over there Ironic has no node of this ID: another one shows that the operator has registered the host.
    known = (before.get("provisioning") or {}).get("ID") if not has_status(host) else None
    facts = moved.hosts.get(host["metadata"]["name"], {}) if moved else {}
    # At once: nobody may see it as what it was.
    goes_on = loses is not None and loses(dict(host, status=before))
    # A move takes none along.
    is_detached = stays_detached(dict(host, status=before))

    def is_reached(bmh: Object | None) -> bool:
        if is_of_paused and _is_paused_by_capm3(bmh):
            return True
        if bmh is None or not has_status(bmh) or error_of(bmh)[2] or (state_of(bmh) != state and not goes_on):
            return False
        if host_annotations.PAUSED in host_annotations.of(bmh) or host_annotations.STATUS in host_annotations.of(bmh):
            return False
        if record.differences(facts, record.host_facts(bmh)):
            return False
        if is_detached:
            return bmh["status"].get("operationalStatus") == "detached"
        return state == "unmanaged" or not known or bmh["status"]["provisioning"].get("ID") not in ("", known)

    return HostHistory("registered" if goes_on else "what it was", host, now, is_reached=is_reached,
                       tolerated=("detached",) if is_detached else ())


def _is_paused_by_capm3(bmh: Object | None) -> bool:
    return host_annotations.of(bmh or {}).get(host_annotations.PAUSED) == host_annotations.PAUSED_BY_CAPM3


def _chosen(client: Any, namespace: str, names: Collection[str] | None) -> list[Object]:
    found = hosts_of(client, namespace)
    unknown = sorted(set(names or ()) - set(found))
    if unknown:
        raise RefusedError([Problem("move-host", f"BareMetalHost {name}", "hosts", f"none in namespace {namespace}",
                                    "one that is there", "correct hosts, kubeconfig or namespace") for name in unknown])
    return [host for name, host in sorted(found.items()) if names is None or name in names]


def _is_held(host: Object) -> bool:
    found = host_annotations.of(host)
    return found.get(host_annotations.PAUSED) == checks.HELD and host_annotations.STATUS in found


def _pause(host: Object, former_ironic: str | None) -> dict[str, Any] | None:
    found = host_annotations.of(host)
    if host_annotations.PAUSED in found:
        return None
    # One that somebody has resumed by hand may have that of before.
    is_noted = former_ironic or host_annotations.FORMER_IRONIC in found
    return {host_annotations.PAUSED: checks.HELD,
            **({host_annotations.FORMER_IRONIC: former_ironic or None} if is_noted else {})}


def _save(host: Object) -> dict[str, Any] | None:
    return {host_annotations.STATUS: host_annotations.saved_status(host)} if has_status(host) else None


def resume(host: Object, what_for: str) -> dict[str, Any] | None:
    """Return the patch of a host's annotations by which the operator works on it again, None for none.

    :param what_for: the value of its pause; with another one it stays as it is
    """
    found = host_annotations.of(host)
    if found.get(host_annotations.PAUSED) != what_for:
        return None
    return dict.fromkeys(name for name in (host_annotations.PAUSED, host_annotations.FORMER_IRONIC) if name in found)


def annotate(client: Any, namespace: str, hosts: list[Object], check_mode: bool, progress: Any,
             sleep: Callable[[float], Any], change: Callable[[Object], dict[str, Any] | None],
             check: Callable[[Object], list[Any]] = lambda _host: []) -> list[Any]:
    """Change annotations of hosts, and return what was written.

    :param client: a KubeClient
    :param namespace: name of the namespace
    :param hosts: as they were read
    :param check_mode: let the API server try writes without storing them
    :param progress: a Progress
    :param sleep: callable that waits a number of seconds
    :param change: callable that takes a host and returns the patch of its annotations, None for none
    :param check: callable that takes a host that somebody has changed meanwhile, and returns why it is not written
    :raises KubeError: when the API server refuses
    """
    writes = _Writes(client, check_mode, progress, sleep, change, check)
    written = writes.write([writes.entry(namespace, host) for host in hosts])
    raise_refused(client, written)
    return [item for item in written if item.changed]


def _result(hosts: list[Object], changed: list[Any]) -> dict[str, Any]:
    names = set(item.entry.name for item in changed)
    return {"changed": bool(changed),
            "hosts": [{"name": host["metadata"]["name"], "changed": host["metadata"]["name"] in names,
                       "state": state_of(host)} for host in hosts],
            "diff": [{"before_header": item.entry.title, "before": item.entry.before, "after_header": item.entry.title,
                      "after": item.entry.after} for item in changed]}
