# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""From manifests to objects in a cluster: read once, let the server judge, write in order, wait until it runs."""
from __future__ import annotations

import time

from .._common.secret_fields import hidden_difference, secret_texts, without_secrets
from .._ipam.service import RefusedError
from .._kube import apply, bulk
from .._kube.discovery import resolve
from .._kube.errors import KubeError
from . import documents, order
from .rollout_wait import RolloutWait


class ManifestsService:
    """One run over manifests.

    :param client: a KubeClient of the cluster that the objects belong into, None when there is none yet, which only
        check mode can do with
    :param sources: see ``documents.read``
    :param namespace: namespace of objects that name none
    :param check_mode: let the API server judge writes without storing them
    :param progress: a Progress
    :param sleep: callable that waits a number of seconds
    """

    def __init__(self, client, sources, namespace, check_mode, progress, sleep=time.sleep):
        self.client = client
        self.sources = sources
        self.namespace = namespace
        self.check_mode = check_mode
        self.progress = progress
        self.sleep = sleep

    def objects(self):
        """Return the manifests' objects.

        :raises RefusedError: when the manifests have mistakes
        """
        objects, problems = documents.read(self.sources)
        if problems:
            raise RefusedError(problems)
        return objects

    def run(self, timeout_seconds):
        """Write what differs, then wait until all is rolled out; return the result.

        :param timeout_seconds: how long to wait, 0 for not at all
        :raises RefusedError: when the manifests have mistakes
        :raises RolloutError: when something is not rolled out
        :raises KubeError: when the API server can't be asked or refuses
        """
        result = self.write()
        if timeout_seconds and not self.check_mode:
            result["seconds"] = self.wait(timeout_seconds)
        return result

    def write(self):
        """Write what differs and return the result.

        :raises RefusedError: when the manifests have mistakes
        :raises KubeError: when the API server can't be asked or refuses
        """
        objects = self.objects()
        if self.client is None:
            return self._result([(documents.title(obj), "create", {}, obj) for obj in objects])
        entries = self._judged(self._plan(objects))
        if not self.check_mode:
            self._write(entries)
        return self._result([(documents.title(entry.desired), entry.action, entry.before, entry.after)
                             for entry in entries])

    def _plan(self, objects):
        """Return the entries of all objects, as the server's state asks for."""
        resources = resolve(self.client, objects, self._persist)
        placed, problems = documents.placed(objects, resources, self.namespace)
        if problems:
            raise RefusedError(problems)
        (outcome,) = self._persist([
            lambda: apply.plan(self.client, placed, resource_of=lambda *key: resources[key])])
        if outcome.error is not None:
            raise outcome.error
        return outcome.value

    def _judged(self, entries):
        """Let the API server judge all that is due before anything is written.

        What is in a Namespace or of a kind that is yet to be made can't be judged.
        """
        new = set((entry.resource.kind, entry.name) for entry in entries if entry.action == "create")
        kinds = set(entry.desired["spec"]["names"]["kind"] for entry in entries
                    if entry.resource.kind == "CustomResourceDefinition" and entry.action == "create")
        due = [position for position, entry in enumerate(entries)
               if entry.action != "none" and ("Namespace", entry.namespace) not in new
               and entry.resource.kind not in kinds]
        outcomes = self._sent([entries[position] for position in due], dry_run=True)
        for position, outcome in zip(due, outcomes):
            if apply.stores_nothing_new(entries[position], outcome.value):
                entries[position] = entries[position]._replace(action="none")
        return entries

    def _write(self, entries):
        by_title = dict((documents.title(entry.desired), entry) for entry in entries)
        for wave in order.waves([entry.desired for entry in entries]):
            due = [by_title[documents.title(obj)] for obj in wave]
            due = [entry for entry in due if entry.action != "none"]
            if not due:
                continue
            self.progress.event(f"writing {', '.join(documents.title(entry.desired) for entry in due)}")
            self._sent(due, dry_run=False)
            definitions = [entry for entry in due if entry.resource.kind == "CustomResourceDefinition"]
            if definitions:
                # Their kinds are served only when they are established.
                RolloutWait(self.client, definitions, self.progress, sleep=self.sleep).until(60)

    def _sent(self, entries, dry_run):
        outcomes = self._persist([
            lambda entry=entry: self.client.apply(entry.resource, entry.namespace, entry.desired, dry_run=dry_run)
            for entry in entries])
        # Webhooks quote what they refuse.
        refused = [without_secrets(outcome.error.message, secret_texts(entry.desired))
                   for entry, outcome in zip(entries, outcomes) if outcome.error is not None]
        if refused:
            raise KubeError("the API server %s refused %d of %d objects%s:\n%s" % (
                self.client.server, len(refused), len(entries), ", nothing was written" if dry_run else "",
                "\n".join("- " + line for line in refused)))
        return outcomes

    def _persist(self, calls):
        return bulk.persist(calls, self.progress.event, self.sleep)

    @staticmethod
    def _result(items):
        changed = [item for item in items if item[1] != "none"]
        return {"changed": bool(changed),
                "objects": [{"object": name, "action": "none" if action == "none" else action + "d"}
                            for name, action, _before, _after in items],
                "diff": [_diff(*item) for item in changed]}

    def wait(self, timeout_seconds):
        """Wait until all objects that can be are rolled out; return the seconds that it took.

        :raises RolloutError: when something is not, or can't be
        """
        wait = RolloutWait(self.client, self._plan(self.objects()), self.progress, sleep=self.sleep)
        return wait.until(timeout_seconds)


def _diff(name, _action, before, after):
    before, after = hidden_difference(before, after, name.partition(" ")[0])
    return {"before_header": name if before else "", "after_header": name, "before": before, "after": after}
