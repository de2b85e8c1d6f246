# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How hosts and their Secrets are written: what is checked again about one that others changed meanwhile."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Callable

from ..._common.problems.problem import text as problem_text
from ..._kube.reconcile.plan import CREATE, DELETE, UNCHANGED, UPDATE, Entry, planned_for
from ..._kube.reconcile.reconcile import Reconcile
from ..._metal3.kinds import resource_for
from ..description import annotations as host_annotations
from ..description import objects as host_objects
from ..rules import secret as host_secret_rules
from ..state.reading import BMH, SECRET, host_of, secret_of
from . import bmc_change as host_bmc_change
from . import change_rules as host_change_rules
from . import validation as host_validation

DELETED = "it was deleted; run again to enrol the host"


def _there(hosts: list[dict[str, Any]], current: Mapping[str, Any]) -> list[tuple[dict[str, Any], Any]]:
    """Return the entries whose hosts are there, each with its BareMetalHost."""
    return [(host, current[host["name"]]) for host in hosts if current.get(host["name"]) is not None]


def _is_absent(host: dict[str, Any]) -> bool:
    return host.get("state") == "absent"


class HostRules:
    """What decides whether a host may be written, beside the host itself.

    :param namespace: of the hosts
    :param goal: goal of the wait, or None
    :param forced: names of option ``force_hosts``
    :param allow_detach: option of the same name, as are ``allow_deprovision`` and ``allow_power_off``
    :param names: ``{option: name}`` by which the reader knows an option, or None
    :param way: what the user does to confirm, see ``rules/change.py``
    :param asks: whether a confirmation is asked for, which check mode does not
    :param detached_only: whether a host that is not detached may not be deleted; check mode does not ask for it either
    :param deploys: whether images and custom deployments of entries are written
    :param refuses_protected: whether an entry is refused of which something is not written, because its host is in use
    :param now: callable that returns the time in seconds since 1970
    """

    def __init__(self, namespace: str, goal: str | None, forced: frozenset[str], allow_detach: bool,
                 allow_deprovision: bool, allow_power_off: bool, names: dict[str, str] | None,
                 way: str = "", asks: bool = True, detached_only: bool = False, deploys: bool = True,
                 refuses_protected: bool = False, *, now: Callable[[], float]):
        self.namespace = namespace
        self.goal = goal
        self.forced = forced
        self.allow_detach = allow_detach
        self.allow_deprovision = allow_deprovision
        self.allow_power_off = allow_power_off
        self.names = names
        self.way = way
        self.asks = asks
        self.detached_only = detached_only
        self.deploys = deploys
        self.refuses_protected = refuses_protected
        self.now = now

    def unconfirmed(self, hosts, current):
        """Return the Problems of entries that cost what runs on their hosts, without a confirmation."""
        return [problem for host, bmh in _there(hosts, current) if not _is_absent(host)
                for problem in host_change_rules.unconfirmed(
                    host, bmh, self.forced, self.allow_deprovision, self.allow_power_off, self.way)]

    def problems(self, hosts, current, secrets, elsewhere=()):
        """Return the Problems of entries against what is there; see ``host_validation.check_against_cluster``."""
        return host_validation.check_against_cluster(
            hosts, current, secrets, self.namespace, self.goal, self.forced, elsewhere, self.allow_detach,
            self.deploys) + self._locked(hosts, current) + self._protected(hosts, current) + (
                self.unconfirmed(hosts, current) + self._attached(hosts, current) if self.asks else [])

    def _locked(self, hosts, current):
        return [problem for host, bmh in _there(hosts, current) for problem in host_change_rules.check_lock(
            host, bmh, self.forced, self.deploys, self.now())]

    def _protected(self, hosts, current):
        if not self.refuses_protected:
            return []
        return [problem for host, bmh in _there(hosts, current) if not _is_absent(host)
                for problem in host_change_rules.check_protected(
                    host if self.deploys else host_objects.without_deployment(host), bmh, self.namespace, self.forced)]

    def _attached(self, hosts, current):
        return [problem for host, bmh in _there(hosts, current) if _is_absent(host) and self.detached_only
                for problem in host_change_rules.check_detached(host, bmh)]

    def lines_again(self, host, bmh, secrets):
        """Return why an entry must not be written on its host as it is by now.

        :param bmh: the BareMetalHost
        """
        return [problem_text(problem._replace(subject=""), self.names)
                for problem in self.problems([host], {host["name"]: bmh}, secrets)]

    def secret_lines_again(self, hosts, named, current, secrets):
        """Return why a Secret must not be written as it is by now.

        :param hosts: the entries that write it
        :param named: set of the names of all entries
        :param current: ``{name: BareMetalHost}`` of the namespace
        :param secrets: ``{name: Secret}``, of this one alone
        """
        return [problem_text(problem._replace(subject=""), self.names) for host in hosts
                for problem in host_secret_rules.check_written(
                    host, named, current, secrets, self.namespace, self.forced, self.deploys)]


class HostReconcile(Reconcile):
    """Writes of hosts and of their Secrets.

    :param rules: HostRules
    :param current: what was read: ``hosts`` and ``secrets`` by name; brought up to date
    :param desire: callable that takes an ``Outcome`` and returns its ``host_objects.Desired`` for its ``current``
    """

    def __init__(self, client: Any, check_mode: bool, progress: Any, sleep: Callable[[float], Any], rules: HostRules,
                 current: Any, desire: Callable[[Any], Any]):
        super().__init__(client, check_mode, progress, sleep, resource_for)
        self.rules = rules
        self.current = current
        self.desire = desire
        self.namespace_missing = False
        self.detached: frozenset[str] | set[str] = frozenset()
        self.items: dict[str, Any] = {}
        # Items that write a Secret, by its name.
        self.of_secrets: dict[str, list[Any]] = {}
        self.desired: dict[str, Any] = {}

    def host_entries(self, items: list[Any]) -> list[Entry]:
        """Return the entries of hosts that are to be present."""
        self.items.update((item.name, item) for item in items)
        return [self._with_removals(entry) for entry in self.look(
            [self.desired[item.name].bmh for item in items], {(BMH, self.rules.namespace): self.current.hosts})]

    def can_try(self, entry: Entry) -> bool:
        """Say whether the Namespace is there."""
        return not (self.namespace_missing and entry.action == CREATE)

    def send(self, entry: Entry, dry_run: bool) -> Any:
        """Send an entry; fields of other managers are removed before."""
        removals = self._removals(entry)
        if removals:
            # Another manager owns these fields, so leaving them out of an apply would not remove them.
            stored = self.client.patch(BMH, entry.namespace, entry.name, {"spec": dict.fromkeys(removals)},
                                       dry_run=dry_run, checked=entry.current)
            if not dry_run:
                self.begun(entry)
                entry = entry._replace(current=stored)
        if dry_run and entry.resource == BMH and entry.action == UPDATE and entry.name in self.detached:
            # What check mode has not detached, the API server refuses even on trial.
            return entry.desired
        answer = super().send(entry, dry_run)
        if removals and dry_run:
            # The first trial stored nothing, so the second's answer still has what the first would have removed.
            spec = dict((key, value) for key, value in answer["spec"].items() if key not in removals)
            answer = dict(answer, spec=spec)
        return answer

    def read_again(self, entry: Entry) -> Any:
        """Return the host, or the Secret, in its shape."""
        return (host_of if entry.resource == BMH else secret_of)(self.client, entry.namespace, entry.name)

    def problems_again(self, entry: Entry, stored: Any) -> list[str]:
        """Return why a host must not be written, or deleted, now."""
        if entry.resource == SECRET:
            return self._secret_problems(entry, stored)
        if stored is None:
            return [DELETED]
        host = self.items[entry.name].host
        found = self.rules.lines_again(host, stored, self.current.secrets)
        if found or entry.action == DELETE:
            return found
        if entry.name not in self.detached and host_bmc_change.detaching(host, stored) is not None:
            return ["its BMC; run again"]
        return []

    def plan_again(self, entry: Entry, stored: Any) -> Entry:
        """Return the entry for what is stored by now."""
        if entry.action == DELETE and entry.resource == SECRET and not is_orphan(stored):
            return entry._replace(action=UNCHANGED, current=stored)
        if entry.resource == SECRET and entry.desired is not None:
            entry = entry._replace(desired=host_objects.with_owners(entry.desired, stored))
        if entry.resource == SECRET or entry.action == DELETE:
            return super().plan_again(entry, stored)
        item = self.items[entry.name]
        self._read_references(item.host, stored)
        item.current = self.current.hosts[entry.name] = stored
        return self._with_removals(planned_for(self.client, entry, self.desire(item).bmh, stored))

    def _secret_problems(self, entry, stored):
        if entry.action == DELETE or stored is None:
            return []
        hosts = [item.host for item in self.of_secrets.get(entry.name, ())]
        return self.rules.secret_lines_again(hosts, set(self.desired), self.current.hosts, {entry.name: stored})

    def _read_references(self, host, bmh):
        for name in set(host_objects.left_references(host, bmh).values()) - set(self.current.secrets):
            secret = secret_of(self.client, self.rules.namespace, name)
            if secret is not None:
                self.current.secrets[name] = secret

    def _removals(self, entry):
        if entry.resource != BMH or entry.desired is None:
            return ()
        return self.desired[entry.name].removals

    def _with_removals(self, entry):
        removals = self._removals(entry)
        if not removals:
            return entry
        spec = dict((key, (entry.current or {})["spec"][key]) for key in removals)
        before = dict(entry.before, spec=dict(entry.before.get("spec") or {}, **spec))
        return entry._replace(action=UPDATE, before=before)


def is_orphan(secret: Mapping[str, Any] | None) -> bool:
    """Say whether a Secret is one that a run left that ended before it created the host."""
    if secret is None or secret["metadata"].get("ownerReferences"):
        return False
    return (secret["metadata"].get("labels") or {}).get(host_objects.MANAGED_BY_LABEL) == host_objects.MANAGER


def annotating(namespace: str, bmh: dict[str, Any], value: str | None) -> Entry:
    """Return the entry that sets the annotation by which a host is detached.

    :param bmh: the BareMetalHost as it was read
    :param value: text of the annotation, None to remove it
    """
    change = {"metadata": {"annotations": {host_annotations.DETACHED: value}}}
    stored = host_annotations.of(bmh).get(host_annotations.DETACHED)
    before, after = ({} if text is None else {"metadata": {"annotations": {host_annotations.DETACHED: text}}}
                     for text in (stored, value))
    return Entry(BMH, namespace, bmh["metadata"]["name"], UPDATE, None, bmh, before, after, change)


class Detaching(Reconcile):
    """Detaches hosts whose BMC changes.

    :param rules: HostRules
    :param items: ``{name: Outcome}``; ``current`` is brought up to date
    :param secrets: Secrets by name
    """

    def __init__(self, client: Any, progress: Any, sleep: Callable[[float], Any], rules: HostRules,
                 items: dict[str, Any], secrets: dict[str, Any]):
        super().__init__(client, False, progress, sleep)
        self._rules = rules
        self._items = items
        self._secrets = secrets

    def read_again(self, entry: Entry) -> Any:
        """Return the host in its shape."""
        return host_of(self.client, entry.namespace, entry.name)

    def problems_again(self, entry: Entry, stored: Any) -> list[str]:
        """Return why the host must not be written now."""
        if stored is None:
            return [DELETED]
        return self._rules.lines_again(self._items[entry.name].host, stored, self._secrets)

    def plan_again(self, entry: Entry, stored: Any) -> Entry:
        """Return the entry for the host as it is; without a patch when somebody else has changed the BMC alike."""
        item = self._items[entry.name]
        item.current = stored
        value = host_bmc_change.detaching(item.host, stored)
        if value is None:
            return entry._replace(action=UNCHANGED, current=stored, patch=None)
        return annotating(self._rules.namespace, stored, value)


class Attaching(Reconcile):
    """Attaches hosts again that were detached for the change of their BMC."""

    def read_again(self, entry: Entry) -> Any:
        """Return the host in its shape."""
        return host_of(self.client, entry.namespace, entry.name)

    def problems_again(self, entry: Entry, stored: Any) -> list[str]:
        """Return that there is no host any more."""
        return [DELETED] if stored is None else []

    def plan_again(self, entry: Entry, stored: Any) -> Entry:
        """Return the entry for the host as it is; a detachment by somebody else is not undone."""
        if host_bmc_change.is_left_detached(stored):
            return annotating(entry.namespace or "", stored, None)
        return entry._replace(action=UNCHANGED, current=stored)
