# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes what a plane manages to an encrypted file, and brings it into a plane again, held until a user releases it."""
from __future__ import annotations

import contextlib
import hashlib
import json
import os
import time
from collections.abc import Callable, Iterator
from typing import Any

from ..._backup import age, files
from ..._common.files import private_folder, regular_file, whole_file
from ..._common.options.field_checks import digest_digits, show
from ..._common.problems.errors import RefusedError
from ..._common.problems.problem import Problem
from ..._common.texts.formats import timestamp
from ..._common.texts.plain_text import few, plain
from ..._host.description import annotations as host_annotations
from ..._host.state import handed_over
from ..._host.state.reading import hosts_everywhere
from ..._kube.api.cluster_clock import clock_of
from ..._plane.parts import catalogue, fit, fit_service
from ..checks import admission, credentials, other_namespaces, rotations
from ..checks import rules as checks
from ..checks.other_hosts import OtherHosts
from ..nodes import now as nodes_now
from ..nodes import since as nodes_since
from ..objects import clusterctl, copies, graph, handed_over_notes, named_secrets, record
from ..objects.reading import Side
from ..pauses import clusters as cluster_pauses
from ..rehearsal import service as rehearsal
from . import archive, restored_hosts, same_names, servers, verdicts

Object = dict[str, Any]

_NOTES = ("", "ConfigMap", handed_over.NAME)
# Of namespaces that are Kubernetes' own.
_RESERVED = "kube-"
_SHOWN = 5


def backed_up(client: Any, params: dict[str, Any], check_mode: bool, progress: Any,
              now: Callable[[], float] | None = None,
              rehearse: Callable[..., rehearsal.Outcome] = rehearsal.restore) -> dict[str, Any]:
    """Return the result of the module ``plane_backup``.

    :param client: a KubeClient
    :param params: the module's parameters
    :param check_mode: only report what would be written
    :param progress: a Progress
    :param now: callable that returns seconds since 1970, by default by the clock of the API server: a restore compares
        it with when Nodes have joined
    :param rehearse: callable that rehearses the restore, see :func:`rehearsal.restore`
    :raises RefusedError: when there is nothing, when a move has not ended, when clusterctl would leave something
        behind, or when what was written does not come back as it was
    :raises AgeError: when it cannot be encrypted, or what was written cannot be read again
    """
    side = Side(client, params["namespace"])
    moving = side.graph()
    problems = checks.completeness(moving, side.kinds, side.namespace)
    if side.record is not None and side.record.state == record.MOVING:
        # It would have half of each plane, and older ones would go for it.
        problems = [record.not_ended(side.namespace)]
    if problems:
        raise RefusedError(problems)
    left = named_secrets.left(moving, side.objects)
    elsewhere, unread = other_namespaces.read(client, side.namespace)
    taken = timestamp((now or clock_of(client))())
    # Without them hosts would come back into error: clusterctl takes them by the label that they have in the file.
    backup = archive.Backup(taken, client.server, side.uid, side.namespace,
                            moving.moved + named_secrets.labelled(left, moving),
                            handed_over.texts(side.by_key.get(_NOTES)))
    prefix = files.prefix_of(side.namespace, side.uid)
    name = files.name_of(prefix, taken)
    path = os.path.join(params["directory"], name)
    warnings = credentials.missing(left) + other_namespaces.warnings(elsewhere) + unread + [
        f"{problem.subject}: {problem.actual}; the backup has the password of before, and the BMC may have another "
        f"one: {problem.hint}, then back up again" for problem in rotations.problems(side.objects)]
    result = {"changed": True, "path": path, "taken_at": taken, "objects": archive.counts(backup.objects),
              "contents": sorted(plain(graph.title(graph.key(obj))) for obj in backup.objects),
              "hosts": [host["metadata"]["name"] for host in moving.of("BareMetalHost")]}
    content = age.encrypt(archive.packed(backup), params["recipients"])
    sha256 = hashlib.sha256(content).hexdigest()
    if check_mode:
        outdated = files.outdated_in(params["directory"], prefix, params["keep"], name)
        return dict(result, verified=False, sha256=None, rehearsal=None, removed=outdated.paths,
                    warnings=warnings + outdated.warnings)
    os.makedirs(params["directory"], mode=0o700, exist_ok=True)
    files.record(path, len(content), sha256, False)
    whole_file.write(path, content, 0o600, False)
    progress.wrote(path, "created")
    _require_stored(path, content)
    # Without the secret key nobody reads the file; what was encrypted is tried all the same.
    packed = age.decrypt(content, params["identity_file"]) if params["identity_file"] else archive.packed(backup)
    again, problems = archive.unpacked(packed, path)
    if problems or again is None:
        raise RefusedError(problems)
    verified = bool(params["identity_file"]) and archive.packed(again) == archive.packed(backup)
    result.update(verified=verified, sha256=sha256, rehearsal=None)
    if params["rehearsal_programs"]:
        outcome = rehearse(params["rehearsal_programs"], params["clusterctl"], side.namespace, again.objects,
                           side.contents(), progress)
        if outcome.problems:
            raise RefusedError([*outcome.problems, Problem(
                "backup-unusable", path, "", "a backup that does not come back as it was", "one that does",
                "correct what is named above, then back up again; the file stays")])
        result["rehearsal"] = outcome.result()
    # Only now: one that cannot be used must not take the place of one that can.
    files.record(path, len(content), sha256, True)
    outdated = files.outdated_in(params["directory"], prefix, params["keep"], name)
    return dict(result, removed=files.remove(outdated, progress), warnings=warnings + outdated.warnings)


def _require_stored(path: str, content: bytes) -> None:
    """Refuse a file that is not what was written: others may write into the folder, and older backups would go for it.

    :param path: of the file
    :param content: that it is to have
    :raises RefusedError: when it has another one
    """
    try:
        with regular_file.reading(path) as (stream, _status):
            found = "another content" if stream.read(len(content) + 1) != content else ""
    except OSError as exc:
        found = str(exc.strerror or exc)
    if found:
        raise RefusedError([Problem("backup-other", path, "", found, "what was written",
                                    "look at the disk, and who writes into the folder; then back up again")])


def restored(client: Any, params: dict[str, Any], check_mode: bool, progress: Any,
             run: Callable[..., None] = clusterctl.restore,
             nodes: Callable[..., dict[str, dict[str, nodes_since.NodeNow] | None]] = nodes_now.of_clusters,
             sleep: Callable[[float], Any] = time.sleep) -> dict[str, Any]:
    """Return the result of the module ``plane_restore``.

    :param client: a KubeClient of the plane that it is restored into
    :param params: the module's parameters
    :param check_mode: only report what would become of the hosts
    :param progress: a Progress
    :param run: callable that runs clusterctl, see :func:`clusterctl.restore`
    :param nodes: callable that asks the clusters, see :func:`nodes_now.of_clusters`
    :param sleep: callable that waits a number of seconds
    :raises RefusedError: when something is in the way, or when a host would lose something and is not named
    """
    backup, sha256 = _read(params["path"], params["identity_file"], params["sha256"])
    if backup.namespace != params["namespace"]:
        # Anybody can encrypt for a public key, for any namespace.
        raise RefusedError([Problem(
            "restore-other-namespace", params["path"], "namespace", backup.namespace, params["namespace"],
            "take a backup of that namespace, or set namespace when the objects of the other one are meant")])
    left_out = [obj for obj in backup.objects if obj["kind"] == copies.REMEDIATION]
    backup = backup._replace(objects=[obj for obj in backup.objects if obj not in left_out])
    side = Side(client, backup.namespace)
    keys = set(map(graph.key, backup.objects))
    due = [obj for obj in backup.objects if graph.key(obj) not in side.by_key]
    # A run that was killed has left them paused.
    unsettled = cluster_pauses.unsettled(side, keys)
    pairs = [(obj, side.by_key.get(graph.key(obj))) for obj in backup.objects if obj["kind"] == "BareMetalHost"]
    hosts, warnings = _hosts(backup, pairs, side, params, nodes)
    # Of those that are there and work nothing is decided.
    leaving = [host for host in hosts if host.is_held or not host.is_there]
    arrives_in_move = _arrives_in_move(side)
    coming = [host["metadata"]["name"] for host, _there in pairs]
    notes = handed_over_notes.lacking(side, backup.notes, coming)
    is_due = bool(due or unsettled or notes)
    result = {
        "changed": is_due, "due": is_due, "namespace": backup.namespace,
        "cluster_uid": side.uid, "sha256": sha256, "taken_at": backup.taken_at, "from_server": backup.server,
        "verdicts": [dict(host.verdict._asdict(), not_asked=list(host.verdict.not_asked if host in leaving else ()),
                          is_there=host.is_there, is_held=host.is_held,
                          stays_paused=host.was_paused and not arrives_in_move) for host in hosts],
        # Whoever had paused one has had a reason, and releases it.
        "to_release": [] if arrives_in_move else [host.verdict.name for host in leaving if not host.was_paused],
        "objects": archive.counts(due), "created": sorted(plain(graph.title(graph.key(obj))) for obj in due)}
    tried = admission.tried(side, map(copies.without_updates, due), params["accept"])
    problems = _problems(backup, side) + tried.problems + restored_hosts.problems(leaving, params["accept"])
    problems += restored_hosts.taken(pairs, [(obj["kind"], obj["metadata"]["name"]) for obj in due], params["accept"])
    problems += same_names.problems(backup.objects, side.by_key, params["accept"])
    if problems and not check_mode:
        raise RefusedError(problems)
    warnings += [f"a move to this plane has not ended ({problem.subject}): hosts arrive held for it, and the playbook "
                 "pivot releases them" for problem in [record.not_ended(side.namespace)] if due and arrives_in_move]
    warnings += restored_hosts.warnings(hosts, due, left_out, arrives_in_move)
    warnings += same_names.warnings(backup.objects, side.by_key)
    warnings += [f"{len(notes)} hosts had left the plane when the backup was taken ({few(sorted(notes), _SHOWN)}): "
                 "they are noted here, so that enroll refuses them"] if notes else []
    warnings += tried.warnings
    if check_mode or not is_due:
        return dict(result, warnings=[*map(str, problems), *warnings])
    if due:
        cluster_pauses.keep(side, keys, progress, sleep)
        with _files(backup.objects, arrives_in_move) as folder:
            run(params["clusterctl"], clusterctl.side(client, params["kubeconfig"], side.uid), folder,
                params["work_dir"], progress.event)
        side.read()
    missing = [graph.title(graph.key(obj)) for obj in backup.objects if graph.key(obj) not in side.by_key]
    if missing:
        raise RefusedError([Problem("restore-missing", name, "", "none after clusterctl has ended", "the object",
                                    "look at clusterctl's lines, then run again") for name in missing])
    cluster_pauses.settle(side, keys, progress, sleep)
    # Hosts may have been enrolled, or have come back, in the minutes since.
    handed_over_notes.add_lacking(side, backup.notes, coming)
    for obj in due:
        progress.wrote(graph.title(graph.key(obj)), "created")
    return dict(result, warnings=warnings)


def _hosts(backup: archive.Backup, pairs: list[tuple[Object, Object | None]], side: Side, params: dict[str, Any],
           nodes: Callable[..., dict[str, dict[str, nodes_since.NodeNow] | None]]) -> tuple[
               list[restored_hosts.RestoredHost], list[str]]:
    said = servers.said(params["servers"], backup.objects)
    is_asked = any(there is None or restored_hosts.is_held(there) for _obj, there in pairs)
    # Also the clusters that this plane has got since; those of the backup by the kubeconfig that is in it.
    known = [*side.objects, *backup.objects]
    since = nodes_since.since(backup.objects, nodes(known), backup.taken_at, side.objects) \
        if is_asked else nodes_since.NOBODY
    unasked = nodes_now.warnings(known) if is_asked else []
    left = _left(side)
    own, elsewhere, warning = hosts_everywhere(side.client, side.namespace)
    others = OtherHosts([*own.values(), *elsewhere], side.namespace,
                        [name for name, host in own.items() if restored_hosts.is_held(host)])

    def now(host: Object, there: Object | None) -> verdicts.Now:
        name = host["metadata"]["name"]
        # One that is there and works is there in its own right.
        shared = others.shared(host) if there is None or restored_hosts.is_held(there) else []
        server = said.get(name, servers.NOTHING_SAID)
        found = verdicts.Now(
            server.powered_on, moved_to=left.get(name), other=server.other, not_compared=server.not_compared,
            joined=since.joined.get(name, ""), unknown=since.unknown, shared=" and ".join(
                f"the host {item.other} of this plane has its {item.field} {item.value}" for item in shared) or None)
        member = since.members.get(name)
        return found if member is None else found._replace(**member._asdict())

    return [restored_hosts.restored_host(obj, there, now(obj, there), backup.taken_at)
            for obj, there in pairs], ([warning] if warning else []) + unasked


def _left(side: Side) -> dict[str, str]:
    """Return the hosts that this plane has handed over, each with the plane that has it."""
    notes = handed_over.read(side.by_key.get(_NOTES))
    found = dict((name, note.server) for name, note in notes.items())
    if side.record is not None and side.record.state == record.MOVED and side.record.source == side.uid:
        found.update(dict.fromkeys(side.record.hosts, side.record.target))
    return found


def _arrives_in_move(side: Side) -> bool:
    """Say whether what is restored is what a move to this plane, which has not ended, had lost."""
    return side.record is not None and side.record.state == record.MOVING and side.record.target == side.uid


def _read(path: str, identity_file: str, expected: str | None) -> tuple[archive.Backup, str]:
    wanted = digest_digits(expected) if expected else ""
    if expected and not wanted:
        raise RefusedError([Problem("backup-checksum", path, "sha256", show(expected),
                                    "64 hexadecimal digits, with or without sha256: before them",
                                    "copy what the run of backup has printed")])
    try:
        with regular_file.reading(path, follow=True) as (stream, _status):
            content = stream.read(archive.LIMIT_BYTES + 1)
    except OSError as exc:
        raise RefusedError([Problem("backup-file", path, "path", str(exc.strerror), "a backup of plane_backup",
                                    "correct path")]) from exc
    sha256 = hashlib.sha256(content).hexdigest()
    if wanted and sha256 != wanted:
        raise RefusedError([Problem("backup-other", path, "sha256", sha256, wanted,
                                    "find out who has changed the file since it was looked at or written, or give the "
                                    "path of the file that is meant")])
    backup, problems = archive.unpacked(age.decrypt(content, identity_file), path)
    if backup is None:
        raise RefusedError(problems)
    return backup, sha256


def _problems(backup: archive.Backup, side: Side) -> list[Problem]:
    found = []
    if side.record is not None and side.record.state == record.MOVING and not _arrives_in_move(side):
        found.append(record.not_ended(side.namespace))
    if backup.namespace.startswith(_RESERVED):
        # Anybody can encrypt for a public key: what was written there could be a token to join the cluster with.
        found.append(Problem("restore-namespace", f"namespace {backup.namespace}", "", "one of Kubernetes itself",
                             "that of hosts and clusters", "do not use this backup; find out who has written it"))
    used = set((*graph.key(obj)[:2], obj["apiVersion"].rpartition("/")[2]) for obj in backup.objects)
    for group, kind, version in sorted(used):
        versions = side.served.get((group, kind), ["v1"] if not group else [])
        if versions and (group, kind) not in side.resources:
            found.append(Problem(
                "restore-kind", f"kind {kind}" + (f" of {group}" if group else ""), "", "objects of it",
                "those that a backup has: of Metal³ and Cluster API, Secrets and ConfigMaps",
                "do not use this backup; find out who has written it"))
        elif version not in versions:
            found.append(Problem(
                "restore-version", f"kind {kind}", "versions", ", ".join(versions) or "no such kind",
                f"{version}, in which it was backed up", "install this or a newer version of the part"))
    plane, _warnings = fit_service.read(side.client, side.definitions)
    return found + fit.problems(plane, {}, [part.name for part in catalogue.RENDERED])[0]


@contextlib.contextmanager
def _files(objects: list[Object], arrives_in_move: bool) -> Iterator[str]:
    """Give clusterctl the objects in files that only this user can read, for the time of its run; hosts are held.

    :param arrives_in_move: whether hosts and Clusters wait for the playbook ``pivot`` afterwards
    """
    held_for = host_annotations.FOR_MOVE if arrives_in_move else host_annotations.FOR_RESTORE
    # All Secrets of the plane are in it: what a killed run has left must go with the next one.
    with private_folder.folder("metal3-restore-") as path:
        for obj in objects:
            held = cluster_pauses.for_restore(copies.held(copies.without_updates(obj), held_for), arrives_in_move)
            whole_file.write(os.path.join(path, graph.file_name(obj)), json.dumps(held).encode(), 0o600, False)
        yield path
