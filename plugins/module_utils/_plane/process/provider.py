# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Applies providers' manifests in process mode."""
from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from ..._common.problems.errors import ReportedError
from ..._common.texts.formats import duration
from ..._common.waiting.wait_loop import until_nothing
from ..._kube.api import bulk
from ..._kube.api.cluster_clock import clock_of
from ..._kube.kinds.resources import KNOWN
from ..._kube.objects.conditions import condition, is_true
from ..._kube.reconcile.plan import CREATE, Entry
from ..._kube.reconcile.reconcile import Reconcile
from ..._kube.responses.patience import Patience
from ..._manifests.order import FOUNDATIONS
from ..parts import fit, manifests
from . import controllers, kubeconfig
from .process_mode import process_mode

POLL_INTERVAL_SECONDS = 0.1
# Later phases need what earlier ones make: namespaces and kinds. Webhooks come last, so that they check nothing of
# what is applied here.
_LAST = ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration", "Provider")


class ProviderError(ReportedError):
    """Manifests could not be applied; the message names each object and why."""


def load(lab: Any, name: Any) -> Any:
    """Return a provider's objects as upstream ships them.

    :param lab: the lab's figures
    :param name: of the provider
    :raises ProviderError: for a file that can't be read
    """
    path = controllers.manifest(lab, name)
    try:
        return manifests.load(path)
    except OSError as exc:
        raise ProviderError(f"{path}: {exc.strerror}, expected rendered manifests; run the playbook install "
                            "again") from exc


def desired(lab: Any, shipped: Any, versions: Any) -> Any:
    """Return all objects of providers, in process mode.

    :param lab: the lab's figures
    :param shipped: dict provider's name → its objects as upstream ships them
    :param versions: dict provider's name → its version, or None
    :raises ProviderError: without the lab's certificate authority
    """
    try:
        with open(controllers.ca_file(lab), encoding="utf-8") as stream:
            ca_certificate = stream.read()
    except OSError as exc:
        raise ProviderError(f"{exc.filename}: {exc.strerror}, expected the plane's certificate authority; run the "
                            "playbook install again, of a lab the playbook lab") from exc
    result = []
    for name, objects in shipped.items():
        made = process_mode(objects, controllers.webhook_url(lab, name), ca_certificate)
        result += made
        if versions[name] is None or any(item["kind"] == "Provider" for item in made):
            continue
        for item in made:
            # Nothing else in the cluster would say which version it is.
            if item["kind"] == "CustomResourceDefinition":
                item["metadata"].setdefault("annotations", {})[fit.VERSION_ANNOTATION] = versions[name]
    return result


def identify(client: Any, lab: Any, accounts: Any, check_mode: bool = False) -> Any:
    """Give each manager a kubeconfig with the token of its service account.

    A token and not a certificate: the names of some of these accounts are longer than a certificate's common name may
    be.

    :param client: a KubeClient
    :param lab: the lab's figures
    :param accounts: dict provider's name → (namespace, name) of its service account
    :param check_mode: change nothing, only report
    :returns: list of dicts ``name`` and ``reason`` of the kubeconfigs that were made
    :raises ProviderError: when the API server refuses
    """
    names = sorted(accounts)
    outcomes = bulk.run([_getter(client, KNOWN["ServiceAccount"], *accounts[name]) for name in names])
    made = []
    for name, outcome in zip(names, outcomes):
        if outcome.error is not None:
            raise ProviderError(outcome.error.message)
        path = controllers.kubeconfig(lab, name)
        token = kubeconfig.read_token(path)
        fault = "missing" if outcome.value is None else kubeconfig.token_fault(
            token, outcome.value["metadata"]["uid"], clock_of(client)())
        if fault and not check_mode:
            token = kubeconfig.request_token(client, *accounts[name])
        namespace, account = accounts[name]
        content = kubeconfig.build(
            lab["urls"]["kubernetes"], controllers.ca_file(lab), namespace, account, {"token": token})
        if kubeconfig.write(path, content, check_mode) or fault:
            made.append({"name": path, "reason": "token " + fault if fault else "other contents"})
    return made


def phase(entry: Any) -> Any:
    """Return when an entry is to be written: 0, 1 or 2."""
    kind = entry.resource.kind
    return 0 if kind in FOUNDATIONS else 2 if kind in _LAST else 1


def write(reconcile: Reconcile, entries: list[Entry], timeout_seconds: float) -> None:
    """Write what differs, phase by phase, and wait until new kinds are served.

    :param reconcile: a Reconcile
    :param entries: of its plan
    :param timeout_seconds: how long to wait for new kinds
    :raises ProviderError: naming each object that was refused
    """
    for number in range(3):
        written = reconcile.write([entry for entry in entries if phase(entry) == number])
        errors = [item.error.message for item in written if item.error is not None]
        if errors:
            raise ProviderError("\n".join(errors))
        if number == 0:
            wait_established(reconcile.client, [
                entry.name for entry in entries if entry.resource.kind == "CustomResourceDefinition"
                and entry.action == CREATE], timeout_seconds)


def wait_established(client: Any, names: list[str], timeout_seconds: float,
                     clock: Callable[[], float] = time.monotonic) -> None:
    """Wait until definitions are established.

    :param client: a KubeClient
    :param names: names of CustomResourceDefinitions
    :param timeout_seconds: how long to wait
    :param clock: callable that returns seconds
    :raises ProviderError: naming each definition that is not, and what the API server says of it
    """
    resource = KNOWN["CustomResourceDefinition"]
    left = dict.fromkeys(names, "")
    patience = Patience(clock)

    def ask() -> dict[str, str]:
        pending = list(left)
        left.clear()
        for name, outcome in zip(pending, bulk.run([_getter(client, resource, None, name) for name in pending])):
            if outcome.error is not None and patience.is_final(outcome.error):
                raise ProviderError(outcome.error.message)
            # An API server is busiest when many definitions have come at once.
            fault = outcome.error.message if outcome.error is not None else establishment_fault(outcome.value)
            if fault:
                left[name] = fault
        return left

    if until_nothing(ask, timeout_seconds, POLL_INTERVAL_SECONDS, clock):
        raise ProviderError("not established within %s: %s" % (duration(timeout_seconds), "; ".join(
            f"CustomResourceDefinition {name}: {fault}" for name, fault in left.items())))


def _getter(client: Any, resource: Any, namespace: Any, name: Any) -> Any:
    return lambda: client.get(resource, namespace, name)


def establishment_fault(definition: Any) -> Any:
    """Return why a definition is not established, or None."""
    if definition is None:
        return "missing"
    if is_true(definition, "Established"):
        return None
    for kind in ("NamesAccepted", "Established"):
        found = condition(definition, kind)
        if found and found.get("status") != "True":
            return f"{kind} is {found.get('status')}: {found.get('message') or 'no message'}"
    return "no conditions yet"
