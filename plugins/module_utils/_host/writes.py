# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writing hosts and their Secrets: each write rests on what was checked, and is checked again when that has changed."""
from __future__ import annotations

from collections import namedtuple

from .._common.secret_fields import hidden_difference
from .._kube import apply, checked
from .._kube.diff import owned_tree
from .._kube.errors import KubeError
from .._kube.precondition import ABSENT
from .._kube.resources import KNOWN
from . import (
    bmc_change as host_bmc_change,
)
from . import (
    credentials as host_credentials,
)
from . import (
    messages as host_messages,
)
from . import (
    objects as host_objects,
)
from . import (
    redeploy as host_redeploy,
)
from . import (
    validation as host_validation,
)
from .reading import BMH, SECRET, host_of, secret_of

NAMESPACE = KNOWN["Namespace"]
_TRUTH = {"create": "created", "update": "updated", "none": "none"}


class HostRules(namedtuple("HostRules", [
        "namespace", "goal", "forced", "allow_detach", "allow_deprovision", "allow_power_off", "names"])):
    """What decides whether a host may be written, beside the host itself."""

    __slots__ = ()

    def problems(self, hosts, current, secrets, elsewhere=()):
        """Return the Problems of entries against what is there; see ``host_validation.check_against_cluster``."""
        return host_validation.check_against_cluster(
            hosts, current, secrets, self.namespace, self.goal, self.forced, elsewhere, self.allow_detach,
            self.allow_deprovision, self.allow_power_off)

    def check_again(self, host, bmh, secrets):
        """Raise a KubeError when an entry may not be written now that its host is another than the one checked first.

        :param bmh: the BareMetalHost as it is now, or None
        """
        problems = self.problems([host], {} if bmh is None else {host["name"]: bmh}, secrets)
        if problems:
            raise KubeError("changed by somebody else during this run: %s" % "; ".join(
                host_messages.line(problem, self.names) for problem in problems), 409)


class HostWrites:
    """The writes of one run over a list of hosts.

    :param client: a KubeClient
    :param rules: HostRules
    :param current: what was read: ``hosts`` and ``secrets`` by name; brought up to date
    :param check_mode: let the API server judge writes without storing them
    :param progress: a Progress
    :param sleep: callable that waits a number of seconds
    """

    def __init__(self, client, rules, current, check_mode, progress, sleep):
        self.client = client
        self.rules = rules
        self.namespace = rules.namespace
        self.current = current
        self.check_mode = check_mode
        self.progress = progress
        self.sleep = sleep
        self.namespace_missing = False
        self.detached: set[str] = set()
        self.diffs = []
        self.warnings = []
        self._desired = {}

    def write(self, outcomes, total):
        """Write the hosts that are to be there, with their Secrets.

        :param outcomes: list of ``host_service.Outcome``; brought up to date
        :param total: length of the whole list, for live progress
        """
        if self.namespace_missing and outcomes:
            self._make_namespace()
        for item in outcomes:
            self._desire(item)
        changed = self._write_secrets(outcomes, self._early_secrets)
        for item in outcomes:
            if item.current is not None and host_objects.credentials_secret_name(item.host) in changed:
                text = host_credentials.warning(item.name, item.current)
                if text and not self.check_mode:
                    self._warn(text)
            options = host_redeploy.without_effect(
                item.host, item.current, self._desired[item.name].bmh["spec"], changed)
            if options:
                self._warn(host_messages.renamed(host_redeploy.warning(item.name, options), self.rules.names))
        due = [item for item in outcomes if not item.error]
        new = [item for item in due if item.current is None]
        self._write_hosts(due, total)
        if not self.check_mode:
            # Only now there is an owner that the data of a new host can go away with.
            self._write_secrets([item for item in new if not item.error], self._data_secrets)

    def _make_namespace(self):
        body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": self.namespace}}
        written, = checked.write(
            [body], lambda item: self.client.apply(NAMESPACE, None, item, dry_run=self.check_mode, checked=ABSENT),
            lambda item: checked.Settled(), self.progress.event, self.sleep)
        if written.error is not None:
            raise written.error

    def _desire(self, item):
        owned = host_objects.owned_fields(owned_tree(item.current)) if item.current else None
        dangling = dict((crd, name) for crd, name in host_objects.left_references(item.host, item.current).items()
                        if name not in self.current.secrets)
        for crd, name in dangling.items():
            self._warn(f"host {item.name}: spec.{crd} names Secret {name}, which is gone; the reference is removed")
        desired = self._desired[item.name] = host_objects.desired_host(
            item.host, self.namespace, item.current, owned, item.name in self.rules.forced, dangling)
        item.protected = desired.protected
        return desired

    # Secrets

    def _early_secrets(self, item):
        credentials = host_objects.credentials_secret(item.host, self.namespace)
        return self._data_secrets(item) + ([credentials] if credentials else [])

    def _data_secrets(self, item):
        return host_objects.data_secrets(
            item.host, self.namespace, item.stored, self._desired[item.name].protected)

    def _write_secrets(self, outcomes, secrets_of):
        """Write Secrets of hosts, and return the names of those whose content changes."""
        secrets, owners = [], []
        for item in outcomes:
            made = secrets_of(item)
            secrets += made
            owners += [item] * len(made)
        entries = apply.plan(self.client, secrets, {(SECRET, self.namespace): self.current.secrets})
        written = apply.execute(self.client, entries, self.check_mode, tell=self.progress.event, sleep=self.sleep) \
            if not (self.check_mode and self.namespace_missing) else [
                checked.Written(entry.current, None, entry) for entry in entries]
        # A second write, which adds the owner only, says nothing new.
        self._note_diffs([outcome.task for item, outcome in zip(owners, written)
                          if item.current is not None or secrets_of == self._early_secrets],
                         lambda before, after: hidden_difference(before, after, "Secret"))
        for item, entry, outcome in zip(owners, entries, written):
            action = outcome.task.action
            self._note(item, action if item.current is None or action == "none" else "update", outcome)
            if outcome.error is None and outcome.value is not None and not self.check_mode:
                self.current.secrets[entry.name] = outcome.value
        return set(entry.name for entry in entries
                   if entry.action == "update" and entry.current.get("data") != entry.desired["data"])

    # Hosts

    def _write_hosts(self, outcomes, total):
        entries = apply.plan(self.client, [self._desired[item.name].bmh for item in outcomes],
                             {(BMH, self.namespace): self.current.hosts})
        entries = [self._with_removals(entry) for entry in entries]
        due = [(item, entry) for item, entry in zip(outcomes, entries) if entry.action != "none"]
        if due:
            self.progress.event("%s %d of %d hosts" % (
                "checking changes to" if self.check_mode else "writing", len(due), total))
        items = dict((item.name, item) for item, dummy in due)
        written = checked.write([entry for dummy, entry in due], self._send, lambda entry: self._decide(
            items[entry.name]), self.progress.event, self.sleep)
        self._note_diffs([outcome.task for outcome in written])
        for (item, dummy), outcome in zip(due, written):
            self._note(item, outcome.task.action, outcome)
            if outcome.error is None and not self.check_mode:
                item.stored = outcome.value

    def _with_removals(self, entry):
        removals = self._desired[entry.name].removals
        if not removals:
            return entry
        spec = dict((key, entry.current["spec"][key]) for key in removals)
        before = dict(entry.before, spec=dict(entry.before.get("spec") or {}, **spec))
        return entry._replace(action="update", before=before)

    def _send(self, entry):
        removals, rests_on = self._desired[entry.name].removals, apply.precondition_of(entry)
        if removals:
            # Another manager owns these fields, so leaving them out of an apply would not remove them.
            stored = self.client.patch(BMH, self.namespace, entry.name, {"spec": dict.fromkeys(removals)},
                                       dry_run=self.check_mode, checked=entry.current)
            rests_on = entry.current if self.check_mode else stored
        if self.check_mode and (self.namespace_missing if entry.action == "create" else entry.name in self.detached):
            # What check mode has not made or detached, the API server refuses even on trial.
            return entry.desired
        return self.client.apply(BMH, self.namespace, entry.desired, dry_run=self.check_mode, checked=rests_on)

    def _decide(self, item):
        """Check a host that has changed since it was read, and return the entry of what is to be written now."""
        bmh = host_of(self.client, self.namespace, item.name)
        if bmh is None:
            raise KubeError("deleted by somebody else during this run; run again to enrol the host anew", 409)
        self.rules.check_again(item.host, bmh, self.current.secrets)
        for name in set(host_objects.left_references(item.host, bmh).values()) - set(self.current.secrets):
            secret = secret_of(self.client, self.namespace, name)
            if secret is not None:
                self.current.secrets[name] = secret
        if item.name not in self.detached and host_bmc_change.detaching(item.host, bmh) is not None:
            raise KubeError("its BMC was changed by somebody else during this run; run again", 409)
        item.current = self.current.hosts[item.name] = bmh
        self._desire(item)
        entry, = apply.plan(self.client, [self._desired[item.name].bmh], {(BMH, self.namespace): {item.name: bmh}})
        entry = self._with_removals(entry)
        return checked.Settled(bmh, entry) if entry.action == "none" else entry

    # Deletion

    def delete(self, outcomes):
        """Delete hosts that are to be absent, and credentials that a run left that was killed before it made the host.

        :param outcomes: list of ``host_service.Outcome``; brought up to date
        """
        tasks = [(BMH, item, item.current) for item in outcomes if item.current is not None]
        for item in outcomes:
            secret = self.current.secrets.get(host_objects.credentials_secret_name(item.host))
            if item.current is None and _is_orphan(secret):
                tasks.append((SECRET, item, secret))
        for outcome in checked.write(tasks, self._send_deletion, self._decide_deletion, self.progress.event,
                                     self.sleep):
            resource, item, obj = outcome.task
            if outcome.error is not None:
                item.error = outcome.error.message
            elif obj is not None and not obj["metadata"].get("deletionTimestamp"):
                item.action = "deleted"
                if resource == BMH:
                    self.diffs.append({"before_header": self._header(BMH, item.name), "after_header": "",
                                       "before": {"spec": obj.get("spec") or {}}, "after": {}})

    def _send_deletion(self, task):
        resource, dummy, obj = task
        return self.client.delete(resource, self.namespace, obj["metadata"]["name"], dry_run=self.check_mode,
                                  checked=obj)

    def _decide_deletion(self, task):
        resource, item, obj = task
        by_another = checked.Settled(None, (resource, item, None))
        fresh = (host_of if resource == BMH else secret_of)(self.client, self.namespace, obj["metadata"]["name"])
        if fresh is None or fresh["metadata"].get("deletionTimestamp"):
            return by_another
        if resource == SECRET:
            return (resource, item, fresh) if _is_orphan(fresh) else by_another
        self.rules.check_again(item.host, fresh, self.current.secrets)
        return resource, item, fresh

    # Notes

    def _warn(self, text):
        # A host that is decided on twice is warned of once.
        if text not in self.warnings:
            self.warnings.append(text)

    def _note(self, item, action, outcome):
        if outcome.error is not None:
            item.error = host_messages.renamed(outcome.error.message, self.rules.names)
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
        return f"{resource.kind} {self.namespace}/{name}"


def _is_orphan(secret):
    if secret is None or secret["metadata"].get("ownerReferences"):
        return False
    return (secret["metadata"].get("labels") or {}).get(host_objects.MANAGED_BY_LABEL) == host_objects.MANAGER
