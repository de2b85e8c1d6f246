# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The writes of one run over a list of hosts, in their order: Namespace, Secrets, hosts, deletions."""
from __future__ import annotations

from typing import Any, Callable

from ..._common.problems.problem import renamed
from ..._kube.reconcile.diff import owned_tree
from ..._kube.reconcile.plan import UPDATE, deletion
from ..._kube.reconcile.reconcile import Reconcile
from ..._kube.reconcile.report import difference
from ..._metal3.kinds import KNOWN
from ..description import objects as host_objects
from ..state import redeploy as host_redeploy
from ..state.reading import BMH, SECRET
from . import (
    credentials as host_credentials,
)
from .reconcile import HostReconcile, HostRules, is_orphan

NAMESPACE = KNOWN["Namespace"]


class HostWrites:
    """The writes of one run over a list of hosts.

    :param client: a KubeClient
    :param rules: HostRules
    :param current: what was read: ``hosts`` and ``secrets`` by name; brought up to date
    :param check_mode: let the API server try writes without storing them
    :param progress: a Progress
    :param sleep: callable that waits a number of seconds
    """

    def __init__(self, client: Any, rules: HostRules, current: Any, check_mode: bool, progress: Any,
                 sleep: Callable[[float], Any]):
        self.rules = rules
        self.namespace = rules.namespace
        self.current = current
        self.check_mode = check_mode
        self.reconcile = HostReconcile(client, check_mode, progress, sleep, rules, current, self._desire)
        self.diffs: list[dict[str, Any]] = []
        self.warnings: list[str] = []

    def write(self, outcomes, total):
        """Write the hosts that are to be there, with their Secrets.

        :param outcomes: list of ``host_service.Outcome``; brought up to date
        :param total: length of the whole list, for live progress
        """
        if self.reconcile.namespace_missing and outcomes:
            self._create_namespace()
        for item in outcomes:
            self._desire(item)
        changed = self._write_secrets(outcomes, self._early_secrets)
        for item in outcomes:
            if item.current is not None and host_objects.credentials_secret_name(item.host) in changed:
                text = host_credentials.warning(item.name, item.current)
                if text and not self.check_mode:
                    self._warn(text)
            options = host_redeploy.without_effect(
                item.host, item.current, self.reconcile.desired[item.name].bmh["spec"], changed)
            if options:
                self._warn(renamed(host_redeploy.warning(item.name, options), self.rules.names))
        due = [item for item in outcomes if not item.error]
        new = [item for item in due if item.current is None]
        self._write_hosts(due, total)
        if not self.check_mode:
            # Only now there is an owner that the data of a new host can go away with.
            self._write_secrets([item for item in new if not item.error], self._data_secrets)

    def _create_namespace(self):
        body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": self.namespace}}
        reconcile = Reconcile(self.reconcile.client, self.check_mode, self.reconcile.progress, self.reconcile.sleep)
        written, = reconcile.write(reconcile.plan([body], {(NAMESPACE, None): {}}))
        if written.error is not None:
            raise written.error

    def _desire(self, item):
        owned = host_objects.owned_fields(owned_tree(item.current)) if item.current else None
        dangling = dict((crd, name) for crd, name in host_objects.left_references(item.host, item.current).items()
                        if name not in self.current.secrets)
        for crd, name in dangling.items():
            self._warn(f"host {item.name}: spec.{crd} names Secret {name}, which is gone; the reference is removed")
        desired = self.reconcile.desired[item.name] = host_objects.desired_host(
            item.host, self.namespace, item.current, owned, item.name in self.rules.forced, dangling)
        item.protected = desired.protected
        return desired

    # Secrets

    def _early_secrets(self, item):
        credentials = host_objects.credentials_secret(item.host, self.namespace)
        return self._data_secrets(item) + ([credentials] if credentials else [])

    def _data_secrets(self, item):
        return host_objects.data_secrets(
            item.host, self.namespace, item.stored, self.reconcile.desired[item.name].protected)

    def _write_secrets(self, outcomes, secrets_of):
        """Write Secrets of hosts, and return the names of those whose content changes."""
        secrets, items = {}, {}
        for item in outcomes:
            for secret in secrets_of(item):
                # Several entries may write one Secret with the same content: it belongs to all of their hosts.
                name = secret["metadata"]["name"]
                secrets[name] = host_objects.with_owners(secret, secrets.get(name) or self.current.secrets.get(name))
                items.setdefault(name, []).append(item)
        self.reconcile.of_secrets.update(items)
        entries = self.reconcile.look(list(secrets.values()), {(SECRET, self.namespace): self.current.secrets})
        for of_secret, written in zip(items.values(), self.reconcile.write(entries)):
            for item in of_secret:
                # A second write, which adds the owner only, says nothing new.
                is_new = item.current is None
                self._note(item, written, "updated" if not is_new and written.entry.changes else "",
                           shown=item is of_secret[0] and (not is_new or secrets_of == self._early_secrets))
            if written.error is None and written.value is not None and not self.check_mode:
                self.current.secrets[written.entry.name] = written.value
        return set(entry.name for entry in entries
                   if entry.action == UPDATE and (entry.current or {}).get("data") != (entry.desired or {})["data"])

    # Hosts

    def _write_hosts(self, outcomes, total):
        entries = self.reconcile.host_entries(outcomes)
        self.reconcile.announce(entries, total, "hosts")
        for item, written in zip(outcomes, self.reconcile.write(entries)):
            self._note(item, written)
            if written.error is None and not self.check_mode:
                item.stored = written.value

    # Deletion

    def delete(self, outcomes):
        """Delete hosts that are to be absent, and credentials that a run left that was killed before it made the host.

        :param outcomes: list of ``host_service.Outcome``; brought up to date
        """
        entries = [(item, deletion(BMH, item.current)) for item in outcomes if item.current is not None]
        self.reconcile.items.update((item.name, item) for item in outcomes)
        # BMO makes a host its Secret's owner when it works on it, which it may not have done yet.
        used = set(map(host_objects.stored_secret_name, [
            *self.current.hosts.values(), *(desired.bmh for desired in self.reconcile.desired.values())]))
        for item in outcomes:
            name = host_objects.credentials_secret_name(item.host)
            secret = self.current.secrets.get(name)
            if item.current is None and name not in used and is_orphan(secret):
                entries.append((item, deletion(SECRET, secret)))
        for (item, dummy), written in zip(entries, self.reconcile.write([entry for dummy, entry in entries])):
            self._note(item, written, shown=written.entry.resource == BMH)

    # Notes

    def _warn(self, text):
        # A host that is decided on twice is warned of once.
        if text not in self.warnings:
            self.warnings.append(text)

    def _note(self, item, written, action="", shown=True):
        if written.error is not None:
            item.error = renamed(written.error.message, self.rules.names)
        elif written.changed:
            item.action = item.action if item.action == "created" else action or written.action
            if shown:
                self.diffs.append(dict(difference(written.entry), host=item.name))
