# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""From certificates that cert-manager issues for Ironic to given ones, whose Secrets have another type.

The API server never changes a Secret's type, and cert-manager writes again what a Certificate asks for. So the
Certificates go first, then each Secret is replaced. Ironic's pod keeps what it has mounted until it starts again.
"""
from __future__ import annotations

from typing import Any, NamedTuple

from ..._common.options import confirmation
from ..._common.problems.problem import Problem
from ..._common.waiting.wait_loop import until_nothing
from ..._kube.api.discovery import resolve
from ..._kube.kinds.resources import KNOWN, TLS_TYPE, group_of
from ..._kube.objects.precondition import ABSENT
from ..._kube.reconcile.plan import CREATE, Entry, deletion
from ..._kube.reconcile.reconcile import Written
from . import objects
from .components import INTERVAL_SECONDS, ComponentsError, ComponentsRun

Object = dict[str, Any]

_SECRET = KNOWN["Secret"]
_CERTIFICATE = {"apiVersion": f"{objects.CERTIFICATE_GROUP}/v1", "kind": "Certificate"}
GONE_SECONDS = 60


class InTheWay(NamedTuple):
    """What cert-manager has made, and made it, where given certificates are to be.

    :ivar secrets: as they are stored
    :ivar issuing: deletions of this collection's Certificates and Issuers
    :ivar problems: what others have made there
    """

    secrets: list[Object]
    issuing: list[Entry]
    problems: list[Problem]

    def replaces(self, obj: Object) -> bool:
        """Say whether an object is a Secret that takes the place of one of these."""
        return obj["kind"] == "Secret" and obj["metadata"]["name"] in self.names

    @property
    def names(self) -> list[str]:
        """Names of the Secrets."""
        return [item["metadata"]["name"] for item in self.secrets]


def look(run: ComponentsRun, namespace: str, made: list[Object], shipped: list[Object]) -> InTheWay:
    """Return what is in the way of Secrets with given certificates; changes nothing.

    :param run: the run over Ironic
    :param namespace: Ironic's
    :param made: Secrets, from ``ironic.secrets``
    :param shipped: the rendered objects, with cert-manager's among them
    :raises KubeError: when the API server can't be asked
    """
    stored = [run.client.get(_SECRET, namespace, obj["metadata"]["name"]) for obj in made]
    # Into one that is there already cert-manager writes without changing its type.
    secrets = [item for item in stored if item and (
        item.get("type") == TLS_TYPE or objects.is_issued_by_cert_manager(item))]
    if not secrets:
        return InTheWay([], [], [])
    names = set(item["metadata"]["name"] for item in secrets)
    wanted = [obj for obj in shipped if group_of(obj) == objects.CERTIFICATE_GROUP]
    resources = resolve(run.client, [*wanted, _CERTIFICATE], run.writes.persist)
    issuing, own = [], set()
    for obj in wanted:
        resource = resources[obj["apiVersion"], obj["kind"]]
        found = resource and run.client.get(resource, namespace, obj["metadata"]["name"])
        if found and objects.is_ours(found):
            issuing.append(deletion(resource, found))
            own.add((obj["kind"], obj["metadata"]["name"]))
    problems = [_of_others(f"Certificate {namespace}/{item['metadata']['name']}", "spec.secretName", name)
                for item in run.listed(_CERTIFICATE["apiVersion"], _CERTIFICATE["kind"], None, namespace)
                for name in [str((item.get("spec") or {}).get("secretName"))]
                if name in names and ("Certificate", item["metadata"]["name"]) not in own]
    asked_for = set(obj["metadata"]["name"] for obj in wanted if obj["kind"] == "Certificate")
    problems += [_of_others(f"Secret {namespace}/{item['metadata']['name']}", "type", TLS_TYPE) for item in secrets
                 if (item["metadata"].get("annotations") or {}).get(objects.CERTIFICATE_NAME) not in asked_for]
    return InTheWay(secrets, issuing, problems)


def _of_others(subject: str, field: str, found: str) -> Problem:
    return Problem("ironic-secret", subject, field, found,
                   "none but those that tls=cert_manager has made, where given certificates are to be",
                   "delete it, and its Secret, if nobody needs it; then run again")


def unconfirmed(found: InTheWay, subject: str, name: str, params: Object) -> list[Problem]:
    """Return the problem of a confirmation that is missing.

    :param subject: what messages call Ironic
    :param name: Ironic's name
    :param params: the module's parameters, with ``confirm`` and ``confirm_among``
    """
    if not found.secrets:
        return []
    return confirmation.by_name(
        subject, name, params["confirm"],
        f"cert-manager's certificates for Ironic are deleted, the Secrets {', '.join(found.names)} are replaced, and "
        "Ironic's pod and the Bare Metal Operator start again", "set tls=cert_manager", params["confirm_among"])


def carry_out(run: ComponentsRun, found: InTheWay, made: list[Object]) -> list[Written]:
    """Delete what issues, replace the Secrets one by one, and return what has become of all; see the page's head.

    :param run: the run over Ironic; in check mode nothing is written
    :param found: from :func:`look`
    :param made: Secrets, from ``ironic.secrets``, with their labels
    :raises ComponentsError: when Certificates do not go, or a Secret is another one by now
    :raises KubeError: when the API server refuses
    """
    replacements = [obj for obj in made if found.replaces(obj)]
    certificates = [entry for entry in found.issuing if entry.resource.kind == _CERTIFICATE["kind"]]
    written = [item for due in (certificates, [entry for entry in found.issuing if entry not in certificates]) if due
               for item in run.deleted(due)]
    created = [Written(Entry(_SECRET, obj["metadata"]["namespace"], obj["metadata"]["name"], CREATE, obj, None, {},
                             obj), None, None) for obj in replacements]
    if run.check_mode:
        return [*written, *created]
    _wait(run, found.issuing)
    former = dict((item["metadata"]["name"], item) for item in found.secrets)
    for obj in replacements:
        namespace, name = obj["metadata"]["namespace"], obj["metadata"]["name"]
        title = f"Secret {namespace}/{name}"
        stored = run.client.get(_SECRET, namespace, name)
        # With its owner references the Secrets go with their Certificates.
        if stored:
            if stored["metadata"].get("uid") != former[name]["metadata"].get("uid"):
                raise ComponentsError(f"{title}: found another one than at the beginning, expected that of "
                                      "cert-manager; find out who has created it, then run again")
            run.client.delete(_SECRET, namespace, name, checked=stored)
        run.client.apply(_SECRET, namespace, obj, checked=ABSENT)
        run.progress.event(f"{title}: replaced by the given one")
    return [*written, *created]


def _wait(run: ComponentsRun, issuing: list[Entry]) -> None:
    """Wait until Certificates and Issuers are gone; cert-manager writes no Secret for what is not there."""
    def there() -> list[str]:
        return [entry.title for entry in issuing if run.client.get(entry.resource, entry.namespace, entry.name)]

    left = until_nothing(there, GONE_SECONDS, INTERVAL_SECONDS, run.clock, run.sleep)
    if left:
        raise ComponentsError(f"{', '.join(left)}: still there {GONE_SECONDS} s after the deletion, expected none; see "
                              "their finalizers, then run again. No Secret was replaced.")


def refuse_overwritten(run: ComponentsRun, made: list[Object]) -> None:
    """Check that the Secrets have what was given, after Ironic's pod was written to start with it.

    :param made: Secrets, from ``ironic.secrets``
    :raises ComponentsError: when cert-manager, which may have been at work, has written one again
    """
    for obj in made:
        namespace, name = obj["metadata"]["namespace"], obj["metadata"]["name"]
        stored = run.client.get(_SECRET, namespace, name) or {}
        if stored.get("type") == TLS_TYPE or stored.get("data") != obj["data"]:
            raise ComponentsError(f"Secret {namespace}/{name}: found other contents than the given ones, which "
                                  "something has written meanwhile; run again")
