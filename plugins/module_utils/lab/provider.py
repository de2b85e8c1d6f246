# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Applies providers' manifests in process mode."""
from __future__ import annotations

import time

from ..kube import apply, bulk
from ..kube.resources import KNOWN
from . import manifests
from .process_mode import process_mode

POLL_INTERVAL_SECONDS = 0.1
# Later phases need what earlier ones make: namespaces and kinds. Webhooks come last, so that they judge nothing of
# what is applied here.
_FIRST = ("Namespace", "CustomResourceDefinition")
_LAST = ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration", "Provider")


class ProviderError(Exception):
    """Manifests could not be applied; the message names each object and why."""


def desired(providers, objects):
    """Return all objects to apply.

    :param providers: list of dicts with ``manifest`` (path), ``webhook_url`` and ``ca_file`` (path)
    :param objects: list of further objects
    :raises ProviderError: for a file that can't be read
    """
    result = list(objects)
    for provider in providers:
        try:
            with open(provider["ca_file"], encoding="utf-8") as stream:
                ca_certificate = stream.read()
            result += process_mode(manifests.load(provider["manifest"]), provider["webhook_url"], ca_certificate)
        except OSError as exc:
            raise ProviderError("%s: %s" % (exc.filename, exc.strerror)) from exc
    return result


def phase(entry):
    """Return when an entry is to be written: 0, 1 or 2."""
    kind = entry.resource.kind
    return 0 if kind in _FIRST else 2 if kind in _LAST else 1


def label(entry):
    """Return what messages and results call an object."""
    return "%s %s%s" % (entry.resource.kind, entry.namespace + "/" if entry.namespace else "", entry.name)


def write(client, entries, timeout_seconds):
    """Write what differs, phase by phase, and wait until new kinds are served.

    :param client: a KubeClient
    :param entries: list of Entry, see kube/apply.py
    :param timeout_seconds: how long to wait for new kinds
    :raises ProviderError: naming each object that was refused
    """
    for number in range(3):
        due = [entry for entry in entries if phase(entry) == number and entry.action != "none"]
        outcomes = apply.execute(client, due)
        errors = [outcome.error.message for outcome in outcomes if outcome.error is not None]
        if errors:
            raise ProviderError("\n".join(errors))
        if number == 0:
            wait_established(client, [
                entry.name for entry in entries if entry.resource.kind == "CustomResourceDefinition"
                and entry.action == "create"], timeout_seconds)


def wait_established(client, names, timeout_seconds, clock=time.monotonic):
    """Wait until definitions are established.

    :param client: a KubeClient
    :param names: names of CustomResourceDefinitions
    :param timeout_seconds: how long to wait
    :param clock: callable that returns seconds
    :raises ProviderError: naming each definition that is not, and what the API server says of it
    """
    resource = KNOWN["CustomResourceDefinition"]
    deadline = clock() + timeout_seconds
    pending = list(names)
    while pending:
        outcomes = bulk.run([_getter(client, resource, name) for name in pending])
        left, seen = [], []
        for name, outcome in zip(pending, outcomes):
            if outcome.error is not None:
                raise ProviderError(outcome.error.message)
            fault = establishment_fault(outcome.value)
            if fault:
                left.append(name)
                seen.append("CustomResourceDefinition %s: %s" % (name, fault))
        pending = left
        if pending and clock() > deadline:
            raise ProviderError("not established within %d s: %s" % (timeout_seconds, "; ".join(seen)))
        if pending:
            time.sleep(POLL_INTERVAL_SECONDS)


def _getter(client, resource, name):
    return lambda: client.get(resource, None, name)


def establishment_fault(definition):
    """Return why a definition is not established, or None."""
    if definition is None:
        return "missing"
    conditions = dict((condition["type"], condition)
                      for condition in (definition.get("status") or {}).get("conditions") or [])
    if conditions.get("Established", {}).get("status") == "True":
        return None
    for kind in ("NamesAccepted", "Established"):
        condition = conditions.get(kind)
        if condition and condition["status"] != "True":
            return "%s is %s: %s" % (kind, condition["status"], condition.get("message") or "no message")
    return "no conditions yet"
