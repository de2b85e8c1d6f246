# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads the logs, events and objects of a plane, and writes them into a new folder without secrets."""
from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Union

from .._common.options.field_checks import is_name, show
from .._common.problems.errors import RefusedError, ReportedError
from .._common.problems.problem import Problem
from .._common.texts.formats import timestamp
from .._kube.api import bulk
from .._kube.kinds.resources import Resource
from .._kube.responses.advice import reading_failed
from .._kube.responses.errors import KubeError
from .._metal3.kinds import KNOWN
from .._plane.parts import fit_service
from . import contents, secret_values
from .collected import Collected, File
from .folders import NewFolder
from .log_texts import whole_lines
from .process_files import ProcessFiles

Object = dict[str, Any]

# A kind, and a namespace or None for what is in none.
_Wanted = tuple[Resource, Union[str, None]]
_MEBIBYTE = 1024 ** 2
# How often a log that is too long is asked for again, with fewer of its last lines.
_ATTEMPTS = 4
# Not allowed, and not served: all else is no answer of an API server that could be asked.
_LEFT_OUT = (403, 404)


def collect(client: Any, params: Mapping[str, Any], secrets: Iterable[str], check_mode: bool, progress: Any,
            now: Callable[[], float] = time.time) -> Object:
    """Return the result of the module ``plane_logs``.

    :param client: a KubeClient
    :param params: the module's parameters
    :param secrets: those among them
    :param check_mode: only report what would be written
    :param progress: a Progress
    :param now: seconds since 1970
    :raises RefusedError: when an option is wrong, or ``dest`` is not free, before anything is read
    :raises ReportedError: when files cannot be read or written
    :raises KubeError: when the API server can't be asked
    """
    folder = NewFolder(params["dest"])
    problems = [Problem("value", "", name, show(params[name]), "1 or more", "correct it")
                for name in ("since_seconds", "limit_mebibytes") if params[name] < 1]
    problems += [Problem("value", "", "namespaces", show(name), "the name of a namespace", "correct it")
                 for name in params["namespaces"] if not is_name(name)]
    if problems:
        raise RefusedError(problems)
    folder.check()
    try:
        return _Collection(client, params, folder, check_mode, progress, now).run(secrets)
    except OSError as exc:
        raise ReportedError(f"{exc.filename or folder.path}: {exc.strerror}; correct process_dir or dest, or run as a "
                            "user who may read and write there") from exc
    finally:
        folder.close()


class _Collection:
    """One run; results of threads are taken in by the thread that has started them."""

    def __init__(self, client: Any, params: Mapping[str, Any], folder: NewFolder, check_mode: bool,
                 progress: Any, now: Callable[[], float]) -> None:
        self._client = client
        self._params = params
        self._progress = progress
        self._now = now
        self._limit = params["limit_mebibytes"] * _MEBIBYTE
        self._collected = Collected(folder, check_mode)
        self._machine = ProcessFiles(self._collected, params["process_dir"], self._limit) if params[
            "process_dir"] else None

    def run(self, secrets: Iterable[str]) -> Object:
        """Read all, write what was read, and return the module's result."""
        began = self._now()
        namespaces = self._namespaces()
        version = self._version()
        values = set(secrets).union(self._secrets(namespaces), self._machine.secrets() if self._machine else ())
        collected = self._collected
        collected.hiding = secret_values.Hiding(values)
        kinds = [*self._kinds(), KNOWN["Deployment"], KNOWN["Pod"]]
        listed = self._listed([(kind, namespace) for kind in kinds
                               for namespace in (namespaces if kind.namespaced else (None,))])
        events = self._listed([(KNOWN["Event"], namespace) for namespace in namespaces])
        if collected.create():
            self._progress.wrote(collected.path, "created")
        for (kind, _namespace), objects in listed:
            for obj in objects:
                collected.write_objects(collected.paths.of_object(obj, kind), [obj])
        for (_kind, namespace), objects in events:
            if objects:
                collected.write_objects(collected.paths.of(("events",), namespace or "", ".yaml"),
                                        contents.in_order(objects), as_list=True)
        self._container_logs([obj for (kind, _namespace), objects in listed if kind == KNOWN["Pod"] for obj in objects])
        if self._machine:
            self._machine.write_logs(self._now() - self._params["since_seconds"])
        warnings = collected.warnings()
        self._summary(began, version, namespaces)
        return {"changed": True, "dest": collected.path, "warnings": warnings,
                "files": [{"path": item.path, "bytes": item.size} for item in sorted(collected.files)],
                "hidden": collected.hidden}

    def _namespaces(self) -> list[str]:
        """Return the namespaces that there are; who must not ask for them finds out by what they have."""
        names = list(dict.fromkeys([*self._params["namespaces"], *fit_service.namespaces(self._client)]))
        found = []
        for name, outcome in zip(names, bulk.run([self._getter(KNOWN["Namespace"], name) for name in names])):
            if outcome.error is not None and outcome.error.status != 403:
                raise outcome.error
            if outcome.error is not None or outcome.value is not None:
                found.append(name)
            elif name in self._params["namespaces"]:
                self._collected.leave_out(
                    f"namespace {name}", f"found none on {self._client.server}, expected one; correct namespaces, "
                    "kubeconfig or host", name)
        return found

    def _getter(self, resource: Resource, name: str) -> Callable[[], Any]:
        return lambda: self._client.get(resource, None, name)

    def _version(self) -> str | None:
        try:
            return str(self._client.request("GET", "/version", subject="version of the API server").get("gitVersion"))
        except KubeError as exc:
            if exc.status not in _LEFT_OUT:
                raise
            self._collected.leave_out("version of the API server", exc.message, "version")
            return None

    def _kinds(self) -> list[Resource]:
        resource = KNOWN["CustomResourceDefinition"]
        try:
            return contents.kinds(self._client.list(resource)[0])
        except KubeError as exc:
            if exc.status not in _LEFT_OUT:
                raise
            self._collected.leave_out(
                "CustomResourceDefinitions", "only kinds that this collection knows are read: "
                f"{reading_failed(exc, resource, None, self._client.server)}", "definitions")
            return contents.known_kinds()

    def _secrets(self, namespaces: list[str]) -> set[str]:
        outcomes = bulk.run([self._lister(KNOWN["Secret"], namespace) for namespace in namespaces])
        values: set[str] = set()
        for namespace, outcome in zip(namespaces, outcomes):
            if outcome.error is None:
                values.update(value for secret in outcome.value for value in secret_values.of_secret(secret))
                continue
            # Without its values, what is written would have them: whoever may read them must have been asked.
            if outcome.error.status != 403:
                raise outcome.error
            self._collected.leave_out(
                f"Secrets of namespace {namespace}", "their values are not known, so that only private keys and "
                "credentials in URLs are hidden; look through the files before you pass them on: "
                f"{reading_failed(outcome.error, KNOWN['Secret'], namespace, self._client.server)}", "secrets")
        return values

    def _lister(self, resource: Resource, namespace: str | None) -> Callable[[], Any]:
        return lambda: self._client.list(resource, namespace)[0]

    def _listed(self, wanted: list[_Wanted]) -> list[tuple[_Wanted, list[Object]]]:
        found = []
        for (resource, namespace), outcome in zip(wanted, bulk.run([self._lister(*item) for item in wanted])):
            if outcome.error is None:
                found.append(((resource, namespace), outcome.value))
            elif outcome.error.status in _LEFT_OUT:
                self._collected.leave_out(
                    f"{resource.kind}s of {f'namespace {namespace}' if namespace else 'the cluster'}",
                    reading_failed(outcome.error, resource, namespace, self._client.server), f"{resource.api_version}/"
                    f"{resource.kind} {outcome.error.status}")
            else:
                raise outcome.error
        return found

    def _container_logs(self, pods: list[Object]) -> None:
        logs = [log for pod in pods for log in contents.logs_of(pod)]
        paths = [self._collected.paths.of_log(log) for log in logs]
        for path, outcome in zip(paths, bulk.run([self._log(*item) for item in zip(logs, paths)])):
            if outcome.error is not None:
                self._collected.leave_out(path, outcome.error.message, f"log {outcome.error.status}")
                continue
            written, is_shortened = outcome.value
            self._collected.files.append(written)
            if is_shortened:
                self._collected.shortened.append(path)

    def _log(self, log: contents.Log, path: str) -> Callable[[], tuple[File, bool]]:
        def call() -> tuple[File, bool]:
            text, is_shortened = self._newest_lines(log)
            # At once, so that never more logs are in memory than are read side by side.
            return self._collected.written(path, text), is_shortened
        return call

    def _newest_lines(self, log: contents.Log) -> tuple[str, bool]:
        """Return the newest part of a container's log: kubelets answer a limit in bytes with the oldest."""
        path = KNOWN["Pod"].path(log.namespace, log.pod, "log")
        lines = None
        for _attempt in range(_ATTEMPTS):
            content = self._client.beginning(path, {
                "container": log.container, "previous": "true" if log.previous else None, "timestamps": "true",
                "sinceSeconds": self._params["since_seconds"], "limitBytes": self._limit + 1, "tailLines": lines},
                f"log of {log.namespace}/{log.pod}, container {log.container}", self._limit + 1)
            if len(content) <= self._limit:
                return whole_lines(content, False, False), lines is not None
            lines = max(1, content.count(b"\n") * 9 // 10 if lines is None else lines // 2)
        return whole_lines(content[1:], True, True), True

    def _summary(self, began: float, version: str | None, namespaces: list[str]) -> None:
        collected = self._collected
        collected.write_document("summary.yaml", {
            "collection": {"name": "metal3.baremetal", "version": self._params["release"]},
            "api_server": {"url": self._client.server, "version": version},
            "began_at": timestamp(began), "ended_at": timestamp(self._now()),
            "namespaces": namespaces, "since_seconds": self._params["since_seconds"],
            "limit_mebibytes": self._params["limit_mebibytes"], "process_dir": self._params["process_dir"],
            "files": len(collected.files), "hidden": collected.hidden, "shortened": sorted(collected.shortened),
            "not_read": [{"what": item.what, "why": item.why} for item in collected.unread]})
