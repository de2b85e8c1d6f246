# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads the logs, events and objects of a plane, and writes them into a new folder without secrets."""
from __future__ import annotations

import errno
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple, Union

from .._common.errors import RefusedError, ReportedError
from .._common.field_checks import is_name, show
from .._common.formats import timestamp
from .._common.problem import Problem
from .._kube import bulk
from .._kube.advice import reading_failed
from .._kube.errors import KubeError
from .._kube.resources import Resource
from .._metal3.kinds import KNOWN
from .._plane.catalogue import PARTS
from . import contents, secret_values
from .folders import NewFolder, files_below, newest_part
from .log_texts import text_of, unpacked, whole_lines

try:
    import yaml
    HAS_YAML = True
except ImportError:
    HAS_YAML = False

Object = dict[str, Any]

# A kind, and a namespace or None for what is in none.
_Wanted = tuple[Resource, Union[str, None]]
_MEBIBYTE = 1024 ** 2
# How often a log that is too long is asked for again, with fewer of its last lines.
_ATTEMPTS = 4
# Not allowed, and not served: all else is no answer of an API server that could be asked.
_LEFT_OUT = (403, 404)
_DEPLOY = "log/deploy"
# What the names of files alone may bring about.
_OF_NAMES = (errno.ENOTDIR, errno.EISDIR, errno.EEXIST, errno.ENAMETOOLONG)


class _File(NamedTuple):
    path: str
    size: int
    hidden: int


class _Unread(NamedTuple):
    """What could not be read, and why; ``group``: what becomes one warning."""

    what: str
    why: str
    group: str


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
        self._folder = folder
        self._check_mode = check_mode
        self._progress = progress
        self._now = now
        self._limit = params["limit_mebibytes"] * _MEBIBYTE
        self._paths = contents.Paths()
        self._files: list[_File] = []
        self._unread: list[_Unread] = []
        self._shortened: list[str] = []
        self._hiding = secret_values.Hiding(())

    def run(self, secrets: Iterable[str]) -> Object:
        """Read all, write what was read, and return the module's result."""
        began = self._now()
        namespaces = self._namespaces()
        version = self._version()
        values = set(secrets).union(self._secrets(namespaces), self._secret_files())
        self._hiding = secret_values.Hiding(values)
        kinds = [*self._kinds(), KNOWN["Deployment"], KNOWN["Pod"]]
        listed = self._listed([(kind, namespace) for kind in kinds
                               for namespace in (namespaces if kind.namespaced else (None,))])
        events = self._listed([(KNOWN["Event"], namespace) for namespace in namespaces])
        if not self._check_mode:
            self._folder.create()
            self._progress.wrote(self._folder.path, "created")
        for (kind, _namespace), objects in listed:
            for obj in objects:
                self._write_objects(self._paths.of_object(obj, kind), [obj])
        for (_kind, namespace), objects in events:
            if objects:
                self._write_objects(self._paths.of(("events",), namespace or "", ".yaml"), contents.in_order(objects),
                                    as_list=True)
        self._container_logs([obj for (kind, _namespace), objects in listed if kind == KNOWN["Pod"] for obj in objects])
        if self._params["process_dir"]:
            self._process_logs(self._params["process_dir"])
        warnings = [self._hiding.text(text)[0] for text in self._warnings()]
        self._summary(began, version, namespaces)
        return {"changed": True, "dest": self._folder.path, "warnings": warnings,
                "files": [{"path": item.path, "bytes": item.size} for item in sorted(self._files)],
                "hidden": sum(item.hidden for item in self._files)}

    # What is read of the API server

    def _namespaces(self) -> list[str]:
        """Return the namespaces that there are; who must not ask for them finds out by what they have."""
        names = list(dict.fromkeys([*self._params["namespaces"], *(part.namespace for part in PARTS)]))
        found = []
        for name, outcome in zip(names, bulk.run([self._getter(KNOWN["Namespace"], name) for name in names])):
            if outcome.error is not None and outcome.error.status != 403:
                raise outcome.error
            if outcome.error is not None or outcome.value is not None:
                found.append(name)
            elif name in self._params["namespaces"]:
                self._leave_out(f"namespace {name}", f"found none on {self._client.server}, expected one; correct "
                                "namespaces, kubeconfig or host", name)
        return found

    def _getter(self, resource: Resource, name: str) -> Callable[[], Any]:
        return lambda: self._client.get(resource, None, name)

    def _version(self) -> str | None:
        try:
            return str(self._client.request("GET", "/version", subject="version of the API server").get("gitVersion"))
        except KubeError as exc:
            if exc.status not in _LEFT_OUT:
                raise
            self._leave_out("version of the API server", exc.message, "version")
            return None

    def _kinds(self) -> list[Resource]:
        resource = KNOWN["CustomResourceDefinition"]
        try:
            return contents.kinds(self._client.list(resource)[0])
        except KubeError as exc:
            if exc.status not in _LEFT_OUT:
                raise
            self._leave_out("CustomResourceDefinitions", "only kinds that this collection knows are read: "
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
            self._leave_out(
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
                self._leave_out(
                    f"{resource.kind}s of {f'namespace {namespace}' if namespace else 'the cluster'}",
                    reading_failed(outcome.error, resource, namespace, self._client.server), f"{resource.api_version}/"
                    f"{resource.kind} {outcome.error.status}")
            else:
                raise outcome.error
        return found

    def _container_logs(self, pods: list[Object]) -> None:
        logs = [log for pod in pods for log in contents.logs_of(pod)]
        paths = [self._paths.of_log(log) for log in logs]
        for path, outcome in zip(paths, bulk.run([self._log(*item) for item in zip(logs, paths)])):
            if outcome.error is not None:
                self._leave_out(path, outcome.error.message, f"log {outcome.error.status}")
                continue
            written, is_shortened = outcome.value
            self._files.append(written)
            if is_shortened:
                self._shortened.append(path)

    def _log(self, log: contents.Log, path: str) -> Callable[[], tuple[_File, bool]]:
        def call() -> tuple[_File, bool]:
            text, is_shortened = self._newest_lines(log)
            # At once, so that never more logs are in memory than are read side by side.
            return self._written(path, text), is_shortened
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

    # What is read of this machine

    def _secret_files(self) -> set[str]:
        folder = self._params["process_dir"]
        values: set[str] = set()
        if not folder:
            return values
        together: dict[str, dict[str, str]] = {}
        try:
            paths = list(files_below(folder, "secrets"))
        except FileNotFoundError as exc:
            if exc.filename == folder:
                raise
            paths = []
        for path in paths:
            place, _slash, name = path.rpartition("/")
            content, _is_longer = newest_part(folder, f"secrets/{path}", _MEBIBYTE)
            together.setdefault(place, {})[name] = content.decode("utf-8", "replace")
        for texts in together.values():
            values |= secret_values.of_texts(texts)
        return values

    def _process_logs(self, folder: str) -> None:
        for path in self._found(folder, "log", 0):
            if "/" not in path and path.endswith(".log"):
                self._process_log(folder, path)
        for path in self._found(folder, _DEPLOY, self._now() - self._params["since_seconds"]):
            self._deploy_log(folder, path)

    def _found(self, folder: str, inner: str, since: float) -> list[str]:
        try:
            return list(files_below(folder, inner, since))
        except OSError as exc:
            # Not each plane has written logs of the deploy agent.
            if inner != _DEPLOY or not isinstance(exc, FileNotFoundError):
                self._leave_out(f"{folder}/{inner}", f"found {exc.strerror}, expected a folder; correct process_dir",
                                "files")
            return []

    def _read(self, folder: str, path: str) -> tuple[bytes, bool] | None:
        try:
            return newest_part(folder, path, self._limit)
        except OSError as exc:
            self._leave_out(f"{folder}/{path}", f"{exc.strerror}", "files")
            return None

    def _process_log(self, folder: str, path: str) -> None:
        found = self._read(folder, f"log/{path}")
        if found is None:
            return
        target = self._paths.of(("process",), path[:-len(".log")], ".log")
        self._files.append(self._written(target, whole_lines(found[0], found[1], False)))
        if found[1]:
            self._shortened.append(target)

    def _deploy_log(self, folder: str, path: str) -> None:
        found = self._read(folder, f"{_DEPLOY}/{path}")
        if found is None:
            return
        content, is_longer = found
        steps = ["process", "deploy", *path.split("/")]
        if is_longer:
            self._leave_out(f"{_DEPLOY}/{path}", "it has more than limit_mebibytes; raise it", "deploy logs")
            return
        archive = unpacked(content, self._limit)
        if archive is None:
            self._write_if_text(steps, f"{_DEPLOY}/{path}", text_of(content))
            return
        for part in archive[0]:
            self._write_if_text([*steps, *part.name.split("/")], f"{_DEPLOY}/{path}: {part.name}", part.text)
        if archive[1]:
            self._leave_out(f"{_DEPLOY}/{path}", "not all of it: its files have more than limit_mebibytes, or are too "
                            "many, or it is broken; raise it", "deploy logs")

    def _write_if_text(self, steps: list[str], what: str, text: str | None) -> None:
        if text is None:
            self._leave_out(what, "it is no text, in which secrets could be hidden", "no text")
            return
        try:
            self._files.append(self._written(self._paths.of(steps[:-1], steps[-1]), text))
        except OSError as exc:
            # Names of an archive may be a file and a folder at once. A full disk ends the run.
            if exc.errno not in _OF_NAMES:
                raise
            self._leave_out(what, f"its name has no place beside the others: {exc.strerror}", "deploy logs")

    # What is written

    def _write_objects(self, path: str, objects: list[Object], as_list: bool = False) -> None:
        without = [contents.shown(obj) for obj in objects]
        count = sum(map(secret_values.marks, without)) - sum(map(secret_values.marks, objects))
        value, more = self._hiding.structure(without if as_list else without[0])
        self._files.append(self._written(path, _as_yaml(value), max(0, count) + more))

    def _written(self, path: str, text: str, hidden: int = 0) -> _File:
        text, count = self._hiding.text(text)
        content = text.encode("utf-8", "replace")
        if not self._check_mode:
            self._folder.write(path, content)
        return _File(path, len(content), hidden + count)

    def _summary(self, began: float, version: str | None, namespaces: list[str]) -> None:
        value, count = self._hiding.structure({
            "collection": {"name": "metal3.baremetal", "version": self._params["release"]},
            "api_server": {"url": self._client.server, "version": version},
            "began_at": timestamp(began), "ended_at": timestamp(self._now()),
            "namespaces": namespaces, "since_seconds": self._params["since_seconds"],
            "limit_mebibytes": self._params["limit_mebibytes"], "process_dir": self._params["process_dir"],
            "files": len(self._files), "hidden": sum(item.hidden for item in self._files),
            "shortened": sorted(self._shortened),
            "not_read": [{"what": item.what, "why": item.why} for item in self._unread]})
        self._files.append(self._written("summary.yaml", _as_yaml(value), count))

    def _leave_out(self, what: str, why: str, group: str) -> None:
        self._unread.append(_Unread(what, why, group))

    def _warnings(self) -> list[str]:
        """Return one text for each group: of a hundred containers that nobody may read, one is enough."""
        groups: dict[str, list[_Unread]] = {}
        for item in self._unread:
            groups.setdefault(item.group, []).append(item)
        return [f"{items[0].what}{f' and {len(items) - 1} more' if len(items) > 1 else ''}: not read: {items[0].why}"
                for items in groups.values()]


def _as_yaml(value: Any) -> str:
    # Folded at a blank, a text of two words would no longer be found by who looks for it.
    text: str = yaml.dump(value, Dumper=getattr(yaml, "CSafeDumper", yaml.SafeDumper), default_flow_style=False,
                          sort_keys=False, allow_unicode=True, width=10 ** 9)
    return text
