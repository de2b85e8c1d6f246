# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Installing Ironic into a cluster and removing it; its credentials are created once and kept in Secrets."""
from __future__ import annotations

import os
import re
import secrets
import string
from collections.abc import Callable
from typing import Any

from ..._common.files import whole_file
from ..._common.options import confirmation
from ..._common.problems.errors import RefusedError, ReportedError
from ..._common.problems.problem import Problem
from ..._kube.kinds.resources import KNOWN
from ..._kube.objects import secret_data
from ..._kube.objects.deployments import has_available_pod, wants_pods
from ..._kube.reconcile.diff import goes_away
from ..._kube.reconcile.plan import Entry
from ..._kube.reconcile.report import counts
from ..._kube.responses.advice import reading_failed
from ..._kube.responses.errors import KubeError
from ..._metal3.ironic_place import IRONIC_DEPLOYMENT
from ..parts.catalogue import IRONIC, MARIADB_PASSWORD
from ..upgrade import rules as upgrade
from ..upgrade import service as upgrade_service
from . import (
    given_certificate,
    handover,
    ironic,
    ironic_change,
    ironic_database,
    ironic_issuer,
    ironic_pod,
    ironic_replicas,
    mounted_secrets,
    removal_service,
    renewal,
)
from . import objects as plane_objects
from . import settings as part_settings
from .components import ComponentsError, ComponentsRun
from .ironic_writes import IronicWrites
from .service import Components

try:
    import bcrypt
    HAS_BCRYPT = True
except ImportError:
    HAS_BCRYPT = False

Object = dict[str, Any]

USERNAME_LENGTH, PASSWORD_LENGTH = 12, 32
_LETTERS_AND_DIGITS = string.ascii_letters + string.digits
# The password is random and long, so that a low cost is enough; Ironic checks it at every request.
BCRYPT_ROUNDS = 4
BCRYPT_BYTES = 72
# Each round doubles the time: a digest of 31, which whoever may write the Secret may have put there, takes days.
_MOST_ROUNDS = 12
# A rotation has two of one user.
_LINES = 4
_DIGEST = re.compile(r"\$2[aby]?\$(?P<rounds>[0-9]{2})\$[./A-Za-z0-9]{53}")


# Of whatever else has a password, too, somebody else decides.
_LOGINS = (ironic.CREDENTIALS, ironic.HTPASSWD, MARIADB_PASSWORD, ironic_replicas.RPC_CREDENTIALS)


class IronicComponents(Components):
    """One run over Ironic in a cluster.

    :param client: a KubeClient
    :param params: the parameters of the module ``plane_ironic``
    :param shipped: the rendered objects
    :param check_mode: let the API server try writes without storing them
    :param progress: a Progress
    """

    writes: IronicWrites

    def __init__(self, client: Any, params: Object, shipped: list[Object], check_mode: bool, progress: Any,
                 **clock: Any) -> None:
        part = {"name": IRONIC.name, "namespace": params["namespace"]}
        super().__init__(client, dict(params, parts=[part], objects=[], definitions="keep"),
                         {IRONIC.name: (shipped, params["image_version"])}, check_mode, progress, **clock)

    def writes_of(self, client: Any, check_mode: bool, progress: Any, sleep: Callable[[float], Any]) -> IronicWrites:
        """Return the writes of the run."""
        return IronicWrites(client, check_mode, progress, sleep, self._resource_of)

    def present(self) -> Object:
        """Write what differs, wait until Ironic is ready, and return the result.

        :raises RefusedError: with all that does not fit, before anything is written
        :raises ReportedError: when it does not come up
        :raises KubeError: when the API server can't be asked or refuses
        """
        self.refuse([ironic.problems(self.params)])
        if self.params["tls"] == "files":
            certificate, key, authority = (
                self.params[name] for name in ("tls_certificate", "tls_key", "tls_authority"))
            address, *others = ironic_replicas.certificate_addresses(self.params)
            self.refuse([given_certificate.problems(certificate, key, authority, address, replicas=others)])
            if self.params["mariadb"]:
                self.refuse([given_certificate.problems(
                    self.params["mariadb_certificate"], self.params["mariadb_key"], self.params["tls_authority"],
                    ironic_database.ADDRESS, ("mariadb_certificate", "mariadb_key", ironic_database.ADDRESS))])
        if self.params.get("tls_issuer"):
            self.refuse([ironic_issuer.problems(self.client, self.writes.persist, self.params)])
        self.refuse([self._database_problems()])
        deployments, new = self.client.list(KNOWN["Deployment"])[0], ironic_change.wanted(self.params)
        self.refuse([ironic_change.problems(deployments, new, self.params["adopt"])])
        stored = ironic_change.deployed(deployments, new.namespace)
        hosts = self.listed(*IRONIC.managed[0])
        upgrades = ironic_change.described(stored, new, hosts)
        if self.params["rotation"] == "begin" or self.params["renew_certificate"]:
            self.refuse([upgrade.transitions([IRONIC.name], hosts)])
        credentials, begins = self._credentials() if self.params["authentication"] == "http_basic" else ({}, False)
        made = ironic.secrets(
            self.params, credentials, self._database_password(begins) if self.params["mariadb"] else "",
            self._rpc_credentials(begins) if ironic_replicas.several(self.params) else None)
        issued = handover.InTheWay([], [], [])
        if self.params["tls"] == "files":
            issued = handover.look(self, self.params["namespace"], made, self.shipped[IRONIC.name][0])
            self.refuse([issued.problems])
        self._refuse_restart(stored, made)
        asked = upgrade.unconfirmed(upgrades, self.params["confirm_upgrade"], self.params["confirm_among"])
        warnings = confirmation.required(asked, self.check_mode)
        unconfirmed = confirmation.required_by([*self._unconfirmed(stored, new), *handover.unconfirmed(
            issued, "ironic", IRONIC.name, self.params)], self.check_mode)
        results = []
        # All are checked before the first of several writes.
        self.sources = [obj for obj in self._objects(made) if not issued.replaces(obj)]
        for obj in self.sources:
            if obj["kind"] == "Deployment" and obj["metadata"]["name"] == IRONIC_DEPLOYMENT:
                without_node, unread = self._without_a_node(obj)
                self.refuse([ironic_pod.unknown_containers(obj, self.params), without_node])
                warnings = [*warnings, *unread]
        before = self._restorable(stored, issued, self._plan(self.objects()))
        if stored and not plane_objects.is_ours(stored) and not self.check_mode:
            self.client.patch(KNOWN["Deployment"], self.params["namespace"], IRONIC_DEPLOYMENT, {
                "metadata": {"managedFields": ironic_change.taken_over(stored)}}, checked=stored)
        if issued.secrets:
            results.append(self._result(handover.carry_out(self, issued, self._objects(made))))
        if self.params["rotation"] == "begin":
            # Ironic's side first: whoever reads the new password finds it taken. What the pod alone logs in by comes
            # along, so that a run which is killed before the new password is stored begins again with all of them.
            results.append(self._written(made, lambda obj: obj["metadata"]["name"] in (
                ironic.HTPASSWD, MARIADB_PASSWORD, ironic_replicas.RPC_CREDENTIALS, self.params["namespace"])))
        if self.params["tls"] == "cert_manager" and not self.check_mode:
            # The pod starts with the certificate that its template has a digest of.
            results.append(self._written(made, lambda obj: obj["kind"] != "Deployment"
                                         and obj["metadata"]["name"] != ironic.ISSUERS_AUTHORITY))
            self.wait_until_issued()
            if self.params["renew_certificate"]:
                renewal.renew(self.client, self.writes.persist, self.params["namespace"], ironic.CERTIFICATE,
                              self.params["wait_timeout_seconds"], self.progress, self.clock, self.sleep)
                results.append(renewal.result(self.params["namespace"], ironic.CERTIFICATE))
            if self.params.get("tls_issuer"):
                # Before the pod starts with it, and the operator with its authority.
                ironic_issuer.refuse_unfit(self.client, self.writes.persist, self.params, self.clock, self.sleep)
        elif self.params["renew_certificate"]:
            results.append(renewal.result(self.params["namespace"], ironic.CERTIFICATE))
        # In check mode the API server would refuse Secrets of another type.
        results.append(self._written(made, lambda obj: not (self.check_mode and issued.replaces(obj))))
        result = _joined(results)
        if issued.secrets and not self.check_mode:
            handover.refuse_overwritten(self, [obj for obj in made if issued.replaces(obj)])
        if self.params["credentials_dir"] and not self.check_mode:
            result["changed"] = self._keep(credentials) or result["changed"]
        if self.params["wait"] and not self.check_mode:
            result["seconds"] = self._up(before)
        return dict(result, standby=self._waits(), upgrades=upgrades, confirmation=asked,
                    warnings=[*result.get("warnings", []), *warnings, *unconfirmed])

    def _restorable(self, stored: Object | None, issued: handover.InTheWay, entries: list[Entry]) -> list[Entry]:
        """Return what there is of Ironic before anything is written, when it can come back; nothing else.

        It can when it works now and gets another image. What other settings do to it is for their user to look at, and
        credentials and Secrets that another kind has taken the place of must not come back.

        :param stored: Ironic's Deployment, None when there is none
        :param entries: of all objects, as they were planned
        """
        if self.check_mode or issued.secrets or self.params["rotation"] != "none" or not has_available_pod(stored):
            return []
        found, planned = _images(entries)
        return entries if found != planned else []

    def _up(self, before: list[Entry]) -> float:
        """Wait for Ironic; go back to what was there when it does not come up with another image. Return the seconds.

        Its pod is ended before the next one starts, so that the plane would be without it.

        :param before: from :meth:`_restorable`
        :raises ComponentsError: with the cause and what was rolled back
        """
        try:
            return self.wait(self.seconds_left)
        except ReportedError as exc:
            if not before:
                raise
            found, planned = _images(before)
            self.progress.event(f"rolling {IRONIC.title} back to {found}")
            outcome: upgrade_service.RolledBack | ReportedError
            try:
                outcome = upgrade_service.roll_back(self.client, self.writes, before, self.progress,
                                                    self.params["wait_timeout_seconds"], self.sleep)
            except ReportedError as again:
                outcome = again
            raise ComponentsError(upgrade_service.failure(
                IRONIC.title, found, planned, exc, outcome, [])) from exc

    def absent(self) -> Object:
        """Remove Ironic, and return the result; see ``removal_service.remove``."""
        def confirmed(run: ComponentsRun, dummy: list[str]) -> list[str]:
            return confirmation.required_by(confirmation.by_name(
                "ironic", IRONIC.name, run.params["confirm"], "Ironic would be removed from the cluster",
                "set state=present (role ironic: ironic_state)", run.params["confirm_among"]), run.check_mode)

        return removal_service.remove(self, confirmed)

    def _unconfirmed(self, stored: Object | None, new: ironic_change.Wanted) -> list[Problem]:
        """Return the problem of a confirmation that is missing: that of a database that is given up."""
        return ironic_database.given_up("ironic", ironic_change.database_of(stored), new.database, IRONIC.name,
                                        self.params)

    def _database_secrets(self) -> dict[str, Object | None]:
        """Return the Secrets by which a database outside of the pods is reached, by name; None for a missing one."""
        return dict((name, self.client.get(KNOWN["Secret"], self.params["namespace"], name))
                    for name in ironic_database.references(self.params["database"])) \
            if self.params.get("database") else {}

    def _database_problems(self) -> list[Problem]:
        """Return which of these Secrets are missing, or do not have what Ironic reads."""
        found = []
        for name, stored in self._database_secrets().items():
            keys = ironic_database.references(self.params["database"])[name]
            data = (stored or {}).get("data") or {}
            if not all(data.get(key) for key in keys):
                found.append(Problem("ironic-secret", f"Secret {self.params['namespace']}/{name}",
                                     "data" if stored else "", ", ".join(sorted(data)) or None,
                                     f"a Secret with {' and '.join(keys)}", "create it before Ironic"))
        return found

    def _without_a_node(self, deployment: Object) -> tuple[list[Problem], list[str]]:
        """Return the problem of pods that no node could hold, and a warning where nobody may look.

        :param deployment: of Ironic, as it is to be applied
        """
        if not wants_pods(deployment):
            return [], []
        lists: list[list[Object]] = []
        for kind in ("Node", "Pod"):
            try:
                lists.append(self.client.list(KNOWN[kind])[0])
            except KubeError as exc:
                if exc.status != 403:
                    raise
                return [], ["whether the nodes can hold Ironic's pods was not checked: "
                            + reading_failed(exc, KNOWN[kind], None, self.client.server)]
        return ironic_replicas.place_problems(deployment, self.params, *lists), []

    def _refuse_restart(self, stored: Object | None, made: list[Object]) -> None:
        """Refuse another pod while hosts are worked on, which Ironic in the present one inspects, cleans and writes.

        :param stored: Ironic's Deployment, None when there is none
        :param made: Secrets, from :func:`ironic.secrets`
        :raises RefusedError: with the hosts
        """
        # One that does not answer works on nothing, and its repair must not wait for what only it can finish.
        if stored is None or not has_available_pod(stored):
            return
        found = upgrade.transitions([IRONIC.name], self.listed(*IRONIC.managed[0]))
        if not found:
            return
        self.sources = [obj for obj in self._objects(made)
                        if obj["kind"] == "Deployment" and obj["metadata"]["name"] == IRONIC_DEPLOYMENT]
        # What the API server makes of it, since it fills in fields that nobody has named.
        tried = self.writes.dry_run(self._look(self.objects()))
        if any(item.changed and _interrupts(stored["spec"], item.value["spec"]) for item in tried):
            raise RefusedError([problem._replace(
                expected="none, since Ironic's pod starts again with what was changed") for problem in found])

    def defined_before(self) -> list[Object]:
        """Return cert-manager's definitions when check mode comes before its installation."""
        if not self.check_mode or not self.params["with_cert_manager"]:
            return []
        return [definition for definition in ironic.CERTIFICATE_DEFINITIONS if not self.client.get(
            KNOWN["CustomResourceDefinition"], None, definition["metadata"]["name"])]

    def _written(self, made: list[Object], chosen: Any) -> Object:
        """Write those of the objects that a callable chooses; return the result."""
        self.sources = [obj for obj in self._objects(made) if chosen(obj)]
        return self.write()

    def _objects(self, made: list[Object]) -> list[Object]:
        """Return all objects of Ironic, by what is in the cluster now.

        :param made: Secrets, from :func:`ironic.secrets`
        """
        namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {
            "name": self.params["namespace"], "labels": dict([ironic.plane_objects.OWNER_LABEL],
                                                             **self._pod_security())}}
        issued = None
        if self.params["tls"] == "cert_manager":
            issued = (self.client.get(KNOWN["Secret"], self.params["namespace"], ironic.CERTIFICATE) or {}).get("data")
        options = dict(self.params, standby=self._waits())
        found = ironic.desired(self.shipped[IRONIC.name][0], options, made, issued)
        for obj in found:
            if obj["kind"] == "Deployment":
                mounted_secrets.mark(obj, [item for item in self._database_secrets().values() if item])
        return [namespace, *found]

    def _pod_security(self) -> dict[str, str]:
        """Return the label that the operator's part has set in this namespace: a write without it would take it."""
        stored = self.client.get(KNOWN["Namespace"], None, self.params["namespace"]) or {}
        label = part_settings.POD_SECURITY_LABEL
        return {label: stored["metadata"]["labels"][label]} if goes_away(stored, ("metadata", "labels", label)) else {}

    def _waits(self) -> bool:
        """Return whether Ironic has no pod yet: one that a pivot has started by now stays."""
        if not self.params["standby"]:
            return False
        stored = self.client.get(KNOWN["Deployment"], self.params["namespace"], IRONIC_DEPLOYMENT)
        return stored is None or not wants_pods(stored)

    def _stored(self, name: str, *keys: str) -> dict[str, bytes]:
        """Return those of a Secret's values that are there."""
        stored = self.client.get(KNOWN["Secret"], self.params["namespace"], name)
        if name in _LOGINS:
            self.writes.decided_by.setdefault(name, stored)
        found = ((key, secret_data.value(stored, key)) for key in keys)
        return dict((key, value) for key, value in found if value is not None)

    def _texts(self, name: str, *keys: str) -> dict[str, str]:
        """Return those of a Secret's values that are there, as texts.

        :raises RefusedError: for one that is no text
        """
        found = {}
        for key, value in self._stored(name, *keys).items():
            try:
                found[key] = value.decode()
            except UnicodeDecodeError:
                # Not the exception's text, which has the bytes.
                raise RefusedError([Problem(
                    "ironic-secret", f"Secret {self.params['namespace']}/{name}", f"data.{key}", "what is no UTF-8",
                    "a text", "correct it, or delete the Secret, which is created again then")]) from None
        return found

    def _database_password(self, replaced: bool) -> str:
        """Return MariaDB's password: as stored, else a new one.

        :param replaced: whether a rotation begins
        :raises RefusedError: for one that a statement of SQL or a URL would read as more than a password
        """
        stored = self._texts(MARIADB_PASSWORD, "password").get("password")
        if stored and not set(stored) <= set(_LETTERS_AND_DIGITS):
            raise RefusedError([Problem(
                "ironic-secret", f"Secret {self.params['namespace']}/{MARIADB_PASSWORD}", "data.password",
                "other characters", "letters and digits alone", "delete the Secret, which is created again then")])
        return stored if stored and not replaced else _random(_LETTERS_AND_DIGITS, PASSWORD_LENGTH)

    def _rpc_credentials(self, replaced: bool) -> dict[str, str]:
        """Return user name, password and password file of the pods among each other: as stored, else new ones.

        All pods end before the first of the next ones starts.

        :param replaced: whether a rotation begins
        """
        stored = self._texts(ironic_replicas.RPC_CREDENTIALS, "username", "password", "htpasswd")
        if stored.get("username") and stored.get("password") and not replaced:
            line = stored.get("htpasswd", "")
            fits = _fits(line, stored["username"], stored["password"])
        else:
            stored, fits, line = _new(), False, ""
        return {"username": stored["username"], "password": stored["password"],
                "htpasswd": line if fits else _line(stored)}

    def _credentials(self) -> tuple[dict[str, str], bool]:
        """Return user name, password and password file, as stored, else new ones; and whether a rotation begins.

        While they are rotated the file has two lines, the first for the new ones.
        """
        stored = self._texts(ironic.CREDENTIALS, "username", "password")
        if not stored.get("username") or not stored.get("password"):
            stored = _new()
        file = self._texts(ironic.HTPASSWD, "htpasswd").get("htpasswd", "")
        lines = [line for line in file.splitlines() if line.strip()]
        own = [line for line in lines if line.strip().partition(":")[0] == stored["username"]]
        valid = next((line for line in own[:_LINES] if _fits(line, stored["username"], stored["password"])), None)
        begins = False
        rotation = self.params["rotation"]
        if valid is None:
            lines = [_line(stored)]
        elif rotation == "end":
            lines = [valid]
        elif rotation == "begin" and (len(lines) == 1 or valid != lines[0]):
            # A run that was killed before the new password was stored has left a line that nobody has the password of.
            stored, begins = _new(), True
            lines = [_line(stored), valid]
        return {"username": stored["username"], "password": stored["password"], "htpasswd": "\n".join(lines)}, begins

    def _keep(self, credentials: dict[str, str]) -> bool:
        """Write credentials and cert-manager's authority to files of their owner's; return whether one has changed.

        :param credentials: empty without authentication
        """
        contents = dict((name, credentials[name].encode()) for name in ("username", "password") if credentials)
        if self.params["tls"] == "cert_manager":
            authority = ironic.ISSUERS_AUTHORITY if self.params.get("tls_issuer") else ironic.AUTHORITY
            contents["ca.crt"] = self._stored(authority, "tls.crt").get("tls.crt", b"")
        if not contents:
            return False
        directory = self.params["credentials_dir"]
        os.makedirs(directory, mode=0o700, exist_ok=True)
        changed = False
        for name, content in contents.items():
            changed = whole_file.write(os.path.join(directory, name), content, 0o600, False) is not None or changed
        return changed


def _joined(results: list[Object]) -> Object:
    """Return the results of several writes of one run as one; the last has all objects that stay."""
    result = results[-1]
    titles = set(item["object"] for item in result["objects"])
    result["objects"] = [*(item for earlier in results[:-1] for item in earlier["objects"]
                           if item["object"] not in titles), *result["objects"]]
    actions = dict((item["object"], item["action"]) for earlier in results for item in earlier["objects"]
                   if item["action"] != "unchanged")
    result["objects"] = [dict(item, action=actions.get(item["object"], item["action"])) for item in result["objects"]]
    result["counts"] = counts(dict(item, error="") for item in result["objects"])
    result["diff"] = [item for earlier in results for item in earlier["diff"]]
    result["changed"] = any(earlier["changed"] for earlier in results)
    return result


def _images(entries: list[Entry]) -> tuple[str, str]:
    """Return the images of Ironic's container, as it is and as it is to be."""
    entry = next(item for item in entries if item.resource.kind == "Deployment")
    return ironic_change.image_of(entry.current), ironic_change.image_of(entry.desired)


def _interrupts(stored: Object, wanted: Object) -> bool:
    """Return whether a pod ends by what is changed of a Deployment's specification."""
    return bool(wanted["template"] != stored["template"] or wanted.get("replicas", 1) < stored.get("replicas", 1))


def _new() -> dict[str, str]:
    return {"username": _random(string.ascii_lowercase, USERNAME_LENGTH),
            "password": _random(_LETTERS_AND_DIGITS, PASSWORD_LENGTH)}


def _line(stored: dict[str, str]) -> str:
    if len(stored["password"].encode()) > BCRYPT_BYTES or "\0" in stored["password"]:
        raise RefusedError([Problem(
            "ironic-secret", f"Secret {ironic.CREDENTIALS}", "data.password", "one that bcrypt does not take",
            f"at most {BCRYPT_BYTES} bytes, none of them zero", "correct it, or delete the Secret, which is created "
            "again then")])
    digest = bcrypt.hashpw(stored["password"].encode(), bcrypt.gensalt(rounds=BCRYPT_ROUNDS)).decode()
    return f"{stored['username']}:{digest}"


def _random(letters: str, length: int) -> str:
    return "".join(secrets.choice(letters) for _position in range(length))


def _fits(line: str, username: str, password: str) -> bool:
    found, _colon, digest = line.strip().partition(":")
    match = _DIGEST.fullmatch(digest)
    if not match or int(match["rounds"]) > _MOST_ROUNDS:
        return False
    try:
        return found == username and bcrypt.checkpw(password.encode(), digest.encode())
    except ValueError:
        return False
