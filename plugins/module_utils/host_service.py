# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""From a list of hosts to BareMetalHosts: read once, check all, write what differs, wait for all on one watch."""
from __future__ import annotations

import time
from collections import namedtuple

from .host_bmc_service import BmcChange
from .host_reading import BMH, hosts_everywhere
from .host_wait import HostWait
from .kube import apply, bulk
from .kube.diff import owned_tree
from .kube.errors import KubeError
from .kube.resources import KNOWN
from .metal3 import (
    host_bmc_change,
    host_goals,
    host_inventory,
    host_messages,
    host_objects,
    host_redeploy,
    host_table,
    host_validation,
)
from .metal3.secret_fields import hidden_difference

SECRET = KNOWN["Secret"]
NAMESPACE = KNOWN["Namespace"]
_TRUTH = {"create": "created", "update": "updated", "none": "none"}

Current = namedtuple("Current", ["hosts", "elsewhere", "secrets"])


class HostListError(Exception):
    """The list of hosts was refused before anything was written.

    :param problems: list of ``field_checks.Problem``
    :param names: ``{option: name}`` by which the reader knows an option
    """

    def __init__(self, problems, names=None):
        super().__init__(host_messages.message(problems, names))
        self.problems = [problem._asdict() for problem in problems]


def names_for(params):
    """Return ``{option: name}`` for errors as the parameter ``field_names`` asks, None for the options' own names."""
    return host_inventory.field_names() if params.get("field_names") == "variables" else None


class Outcome:
    """What became of one host of the list."""

    def __init__(self, host, current):
        self.name = host["name"]
        self.host = host
        self.current = current
        self.stored = current
        self.action = "none"
        self.error = ""
        self.protected = []
        self.seconds = 0.0

    def result(self, namespace):
        """Return the host's result as plain data."""
        facts = host_table.summary(self.stored) if self.stored else host_table.absent(self.name, namespace)
        facts.update(action=self.action, changed=self.action != "none", failed=bool(self.error), error=self.error,
                     protected=self.protected, seconds=round(self.seconds, 1))
        return facts


class HostService:
    """One run over a list of hosts.

    :param client: a KubeClient
    :param params: the module's parameters
    :param check_mode: let the API server judge writes without storing them
    :param progress: a Progress
    :param clock: monotonic clock, in seconds
    :param sleep: callable that waits a number of seconds
    """

    def __init__(self, client, params, check_mode, progress, clock=time.monotonic, sleep=time.sleep):
        self.client = client
        self.namespace = params["namespace"]
        self.hosts = params["hosts"]
        self.deploy = params["deploy"]
        self.create_namespace = params["create_namespace"]
        self.forced = frozenset(params["force_hosts"])
        self.allow_detach = params["allow_detach"]
        self.allow_deprovision = params["allow_deprovision"]
        self.goal = params["wait_for"]
        self.timeout_seconds = params["wait_timeout_seconds"]
        self.error_limit = params["error_limit"]
        self.names = names_for(params)
        self.check_mode = check_mode
        self.progress = progress
        self.clock = clock
        self.sleep = sleep
        self.began_at = clock()
        self.bmc_change = BmcChange(client, self.namespace, progress, clock, sleep)
        self.detached = set()
        self.diffs = []
        self.warnings = []
        self.namespace_missing = False

    def run(self):
        """Do it all and return the module's result.

        :raises HostListError: when the list has faults
        :raises KubeError: when the API server can't be asked
        """
        current = self._checked()
        outcomes = [Outcome(host, current.hosts.get(host["name"])) for host in self.hosts]
        present = [item for item in outcomes if item.host["state"] != "absent"]
        if self.check_mode:
            self.detached = set(item.name for item in present if item.current is not None
                                and host_bmc_change.detaching(item.host, item.current) is not None)
        else:
            self.detached = self.bmc_change.detach(present)
        try:
            self._write_present([item for item in present if not item.error], current)
        finally:
            if not self.check_mode:
                self.bmc_change.attach([item for item in present if item.name in self.detached])
        self._delete([item for item in outcomes if item.host["state"] == "absent"], current)
        if self.goal and not self.check_mode:
            self._wait([item for item in outcomes if not item.error])
        return self._result(outcomes)

    # Reading and checking

    def _checked(self):
        problems = host_validation.check_raw(self.hosts, self.goal)
        try:
            current = self._read()
        except KubeError:
            if problems:
                raise HostListError(problems, self.names) from None
            raise
        problems = host_validation.still_missing(problems, current.hosts) + host_validation.check_against_cluster(
            self.hosts, current.hosts, current.secrets, self.namespace, self.goal, self.forced, current.elsewhere,
            self.allow_detach, self.allow_deprovision or not self.deploy)
        if problems:
            raise HostListError(problems, self.names)
        if not self.deploy:
            self.hosts = [host_objects.without_deployment(host) for host in self.hosts]
        return current

    def _read(self):
        hosts, secrets = bulk.run([
            lambda: hosts_everywhere(self.client, self.namespace),
            lambda: apply.by_name(self.client.list(SECRET, self.namespace, host_objects.SECRET_SELECTOR)[0])])
        for outcome in (hosts, secrets):
            if outcome.error is not None:
                raise outcome.error
        here, elsewhere, warning = hosts.value
        wanted = set().union(*(host_objects.referenced_secrets(host) for host in self.hosts), *(
            host_objects.left_references(host, here.get(host.get("name"))).values() for host in self.hosts))
        wanted = sorted(wanted - set(secrets.value))
        for name, outcome in zip(wanted, bulk.run([self._getter(name) for name in wanted])):
            if outcome.error is not None:
                raise outcome.error
            if outcome.value is not None:
                secrets.value[name] = outcome.value
        if warning:
            self.warnings.append(warning)
        if self.create_namespace and not here:
            self.namespace_missing = self.client.get(NAMESPACE, None, self.namespace) is None
        return Current(here, elsewhere, secrets.value)

    def _getter(self, name):
        return lambda: self.client.get(SECRET, self.namespace, name)

    # Writing

    def _write_present(self, outcomes, current):
        if self.namespace_missing and outcomes:
            self._make_namespace()
        desired = {}
        for item in outcomes:
            owned = host_objects.owned_fields(owned_tree(item.current)) if item.current else None
            dangling = dict((crd, name) for crd, name in host_objects.left_references(item.host, item.current).items()
                            if name not in current.secrets)
            for crd, name in dangling.items():
                self.warnings.append("host %s: spec.%s names Secret %s, which is gone; the reference is removed" % (
                    item.name, crd, name))
            desired[item.name] = host_objects.desired_host(
                item.host, self.namespace, item.current, owned, item.name in self.forced, dangling)
            item.protected = desired[item.name].protected
        changed = self._write_secrets(outcomes, desired, current, self._early_secrets)
        for item in outcomes:
            options = host_redeploy.without_effect(item.host, item.current, desired[item.name].bmh["spec"], changed)
            if options:
                self.warnings.append(self._text(host_redeploy.warning(item.name, options)))
        due = [item for item in outcomes if not item.error]
        self._write_hosts(due, desired, current)
        if not self.check_mode:
            # Only now there is an owner that the data of a new host can go away with.
            self._write_secrets([item for item in due if item.current is None and not item.error], desired, current,
                                self._data_secrets)

    def _make_namespace(self):
        body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": self.namespace}}
        self._persist([lambda: self.client.apply(NAMESPACE, None, body, dry_run=self.check_mode)])

    def _early_secrets(self, item, desired):
        credentials = host_objects.credentials_secret(item.host, self.namespace)
        return self._data_secrets(item, desired) + ([credentials] if credentials else [])

    def _data_secrets(self, item, desired):
        return host_objects.data_secrets(item.host, self.namespace, item.stored, desired.protected)

    def _write_secrets(self, outcomes, desired, current, secrets_of):
        """Write Secrets of hosts, and return the names of those whose content changes."""
        secrets, owners = [], []
        for item in outcomes:
            made = secrets_of(item, desired[item.name])
            secrets += made
            owners += [item] * len(made)
        entries = apply.plan(self.client, secrets, {(SECRET, self.namespace): current.secrets})
        self._note_diffs([entry for item, entry in zip(owners, entries)
                          if item.current is not None or secrets_of == self._early_secrets],
                         lambda before, after: hidden_difference(before, after, "Secret"))
        for item, entry, outcome in zip(owners, entries, self._execute(entries)):
            self._note(item, entry.action if item.current is None or entry.action == "none" else "update", outcome)
            if outcome.error is None and outcome.value is not None and not self.check_mode:
                current.secrets[entry.name] = outcome.value
        return set(entry.name for entry in entries
                   if entry.action == "update" and entry.current.get("data") != entry.desired["data"])

    def _write_hosts(self, outcomes, desired, current):
        entries = apply.plan(self.client, [desired[item.name].bmh for item in outcomes],
                             {(BMH, self.namespace): current.hosts})
        entries = [self._with_removals(entry, desired[entry.name].removals) for entry in entries]
        self._note_diffs(entries)
        written = sum(1 for entry in entries if entry.action != "none")
        if written:
            self.progress.event("%s %d of %d hosts" % (
                "checking changes to" if self.check_mode else "writing", written, len(self.hosts)))
        for item, entry, outcome in zip(outcomes, entries, self._execute(
                entries, lambda entry: desired[entry.name].removals)):
            self._note(item, entry.action, outcome)
            if outcome.error is None and not self.check_mode:
                item.stored = outcome.value

    @staticmethod
    def _with_removals(entry, removals):
        if not removals:
            return entry
        spec = dict((key, entry.current["spec"][key]) for key in removals)
        before = dict(entry.before, spec=dict(entry.before.get("spec") or {}, **spec))
        return entry._replace(action="update", before=before)

    def _execute(self, entries, removals_of=lambda entry: ()):
        """Write entries side by side; those that an unreachable API server did not take are sent again."""
        due = [(position, entry) for position, entry in enumerate(entries) if entry.action != "none"]
        results = [bulk.Outcome(entry.current, None) for entry in entries]
        answers = self._persist([self._writer(entry, removals_of(entry)) for dummy, entry in due])
        for (position, dummy), outcome in zip(due, answers):
            results[position] = outcome
        return results

    def _writer(self, entry, removals):
        def call():
            if removals:
                # Another manager owns these fields, so leaving them out of an apply would not remove them.
                self.client.patch(entry.resource, entry.namespace, entry.name,
                                  {"spec": dict((key, None) for key in removals)}, dry_run=self.check_mode)
            if self.check_mode and (self.namespace_missing if entry.action == "create" else
                                    entry.resource == BMH and entry.name in self.detached):
                # What check mode has not made or detached, the API server refuses even on trial.
                return entry.desired
            return self.client.apply(entry.resource, entry.namespace, entry.desired, dry_run=self.check_mode)
        return call

    def _persist(self, calls):
        return bulk.persist(calls, self.progress.event, self.sleep)

    def _delete(self, outcomes, current):
        there = [item for item in outcomes if item.current is not None]
        # A run that was killed before it made the host left the credentials behind.
        orphans = [(item, name) for item in outcomes if item.current is None
                   for name in [host_objects.credentials_secret_name(item.host)]
                   if _is_orphan(current.secrets.get(name))]
        calls = [self._deleter(BMH, item.name) for item in there]
        calls += [self._deleter(SECRET, name) for dummy, name in orphans]
        for item, outcome in zip(there + [item for item, dummy in orphans], self._persist(calls)):
            if outcome.error is not None:
                item.error = outcome.error.message
                continue
            if item.current is None or not item.current["metadata"].get("deletionTimestamp"):
                item.action = "deleted"
        for item in there:
            if item.action == "deleted":
                self.diffs.append({"before_header": self._header(BMH, item.name), "after_header": "",
                                   "before": {"spec": item.current["spec"]}, "after": {}})

    def _deleter(self, resource, name):
        return lambda: self.client.delete(resource, self.namespace, name, dry_run=self.check_mode)

    def _note(self, item, action, outcome):
        if outcome.error is not None:
            item.error = host_messages.renamed(outcome.error.message, self.names)
        elif action != "none" and item.action != "created":
            item.action = _TRUTH[action]

    def _note_diffs(self, entries, shown=lambda before, after: (before, after)):
        for entry in entries:
            if entry.action != "none":
                before, after = shown(entry.before, entry.after)
                header = self._header(entry.resource, entry.name)
                self.diffs.append({"before_header": header if before else "", "after_header": header,
                                   "before": before, "after": after})

    def _header(self, resource, name):
        return "%s %s/%s" % (resource.kind, self.namespace, name)

    # Waiting

    def _wait(self, outcomes):
        now = self.clock()
        deadline = now + self.timeout_seconds
        histories = {}
        for item in outcomes:
            history = self._history(item, now)
            if self.goal == "deleted":
                if item.stored is None:
                    continue
            elif item.stored is not None:
                history.update(item.stored, now)
            histories[item.name] = history
        wait = HostWait(self.client, self.namespace, self.progress, self.clock, self._text)
        wait.run(histories, deadline)
        now = self.clock()
        for item in outcomes:
            history = histories.get(item.name)
            if history is not None:
                item.stored, item.seconds = history.bmh, history.seconds_taken(now)
                item.error = wait.error(history, self.timeout_seconds)

    def _history(self, item, now):
        if item.name not in self.detached:
            return host_goals.HostHistory(self.goal, item.current, now, self.error_limit)
        return host_goals.HostHistory(
            self.goal, item.current, now, self.error_limit, tolerated=("detached",), is_reached=lambda bmh: (
                bmh is not None and self.bmc_change.is_attached(item.name, bmh) and host_goals.reached(bmh, self.goal)))

    def _text(self, text):
        return host_messages.renamed(text, self.names)

    # Result

    def _result(self, outcomes):
        hosts = [item.result(self.namespace) for item in outcomes]
        return {
            "changed": any(facts["changed"] for facts in hosts) or self.namespace_missing,
            "hosts": hosts,
            "counts": _counts(hosts),
            "diff": self.diffs,
            "warnings": self.warnings,
            "seconds": round(self.clock() - self.began_at, 3),
        }


def _is_orphan(secret):
    if secret is None or secret["metadata"].get("ownerReferences"):
        return False
    return (secret["metadata"].get("labels") or {}).get(host_objects.MANAGED_BY_LABEL) == host_objects.MANAGER


def _counts(hosts):
    counts = {"total": len(hosts), "created": 0, "updated": 0, "deleted": 0, "failed": 0}
    for facts in hosts:
        if facts["action"] in counts:
            counts[facts["action"]] += 1
        counts["failed"] += facts["failed"]
    return counts


def shortened(facts):
    """Return a host's result without what does not matter in a failure, so that the message stays readable."""
    return dict((key, facts[key]) for key in ("name", "state", "action", "changed", "failed", "error"))


def failure(hosts, goal):
    """Return the text of a failure, a line for each failed host; empty when there is none.

    :param hosts: the results of all hosts
    :param goal: goal of the wait, or None
    """
    failed = [facts for facts in hosts if facts["failed"]]
    if not failed:
        return ""
    lines = ["%d of %d hosts failed%s:" % (len(failed), len(hosts), " to become %s" % goal if goal else "")]
    lines += ["- %s (%s): %s" % (facts["name"], facts["state"], facts["error"]) for facts in failed]
    return "\n".join(lines)
