# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes snapshots of workload clusters' etcd to encrypted files."""
from __future__ import annotations

import hashlib
import io
import os
from collections.abc import Callable
from typing import Any, NamedTuple

from .._backup import age, files
from .._common.files import file_digest, regular_file, whole_file
from .._common.problems.errors import ReportedError
from .._common.texts.formats import timestamp
from .._common.texts.plain_text import plain
from .._common.waiting import parallel
from .._kube.api import cluster_identity
from .._kube.api.cluster_clock import clock_of
from . import site as sites
from .errors import EtcdError
from .snapshot import About, Blobs, Chunks, packed

Object = dict[str, Any]

_WORKERS = 4
# Before the names of backups of planes, whose namespaces have no dot.
_PREFIX = "etcd"


def prefix_of(about: About) -> str:
    """Return what the names of a cluster's snapshots begin with; no namespace has a dot."""
    return files.prefix_of(f"{_PREFIX}.{about.namespace}.{about.cluster}", about.uid)


class _Written(NamedTuple):
    """What was written to a file.

    :ivar snapshot_bytes: of the snapshot
    :ivar packed_sha256: of what was encrypted
    :ivar bytes: of the file
    :ivar sha256: of the file
    """

    snapshot_bytes: int
    packed_sha256: str
    bytes: int
    sha256: str


class Snapshots:
    """One run on several clusters.

    :param client: a KubeClient of the management cluster
    :param params: the module's parameters
    :param check_mode: ask etcd whether it answers, and write nothing
    :param progress: a Progress
    :param now: callable that returns seconds since 1970, by default by the clock of the API server
    """

    def __init__(self, client: Any, params: dict[str, Any], check_mode: bool, progress: Any,
                 now: Callable[[], float] | None = None):
        self._client, self._params, self._check_mode, self._progress = client, params, check_mode, progress
        self._now = now or clock_of(client)
        self._warnings: list[str] = []

    def taken(self) -> Object:
        """Return the module's result; ``errors`` has a line for each cluster without a snapshot.

        :raises AgeError: when a recipient is no public key
        """
        age.check_recipients(self._params["recipients"])
        names = self._params["clusters"]
        outcomes = parallel.run([lambda name=name: self._of_cluster(name) for name in names], _WORKERS, ReportedError)
        results, errors = [], []
        for name, outcome in zip(names, outcomes):
            error = None if outcome.error is None else str(outcome.error)
            errors += [] if error is None else [f"{sites.subject_of(self._params['namespace'], name)}: {error}"]
            results.append(outcome.value or {
                "name": name, "changed": False, "path": None, "sha256": None, "taken_at": None, "bytes": None,
                "node": None, "revision": None, "etcd_version": None, "kubernetes_version": None, "verified": False,
                "removed": [], "error": error})
        return {"changed": any(item["changed"] for item in results), "clusters": results, "errors": errors,
                "warnings": sorted(self._warnings)}

    def _of_cluster(self, name: str) -> Object:
        namespace = self._params["namespace"]
        site = sites.read(self._client, namespace, name)
        workload, context = sites.workload_of(self._client, site), sites.context_of(self._client, site)
        member, status = sites.healthy_member(workload, site.nodes(), context)
        taken_at = timestamp(self._now())
        about = About(taken_at, namespace, name, cluster_identity.uid_of(workload), site.authority,
                      site.control_plane["spec"]["version"], status.version, status.revision)
        path = os.path.join(self._params["directory"], files.name_of(prefix_of(about), taken_at))
        # The playbook shows the Node's name as it is, which the workload cluster gives.
        result = {"name": name, "changed": True, "path": path, "taken_at": taken_at, "node": plain(member.node),
                  "revision": about.revision, "etcd_version": about.etcd_version,
                  "kubernetes_version": about.kubernetes_version, "error": None}
        if self._check_mode:
            outdated = self._outdated(about, path)
            return dict(result, sha256=None, bytes=None, verified=False, removed=outdated.paths)
        self._progress.event(f"{sites.subject_of(namespace, name)}: snapshot of etcd on Node {member.node}")
        written = self._write(path, about, member)
        self._progress.wrote(path, "created")
        verified = self._verified(path, written)
        # Only now: one that cannot be used must not take the place of one that can.
        removed = self._counted(path, written, about)
        return dict(result, sha256=written.sha256, bytes=written.snapshot_bytes, verified=verified, removed=removed)

    def _write(self, path: str, about: About, member: Any) -> _Written:
        """Write the file as the snapshot comes."""
        try:
            os.makedirs(self._params["directory"], mode=0o700, exist_ok=True)
            with member.snapshot() as messages, whole_file.writing(path, 0o600) as stream:
                blobs = Blobs(messages, f"etcd on Node {member.node}")
                chunks, target = Chunks(packed(about, blobs.size, blobs)), _Digest(stream)
                age.encrypt_stream(chunks, target, self._params["recipients"])
                written = _Written(blobs.size, chunks.sha256(), target.size, target.sha256.hexdigest())
                files.record(path, written.bytes, written.sha256, False)
                return written
        except OSError as exc:
            raise EtcdError(f"{exc.filename or path}: {exc.strerror or exc}; correct directory, or make room") from exc

    def _verified(self, path: str, written: _Written) -> bool:
        """Read the file again, and say whether there was a key to decrypt it.

        :raises EtcdError: when it is not what was written: others may write into the folder
        """
        found, identity_file = _Digest(), self._params["identity_file"]
        try:
            with regular_file.reading(path) as (stream, _status):
                digested = file_digest.Digested(stream, written.bytes + 1)
                if identity_file:
                    # Nowhere but here: the folder may be another machine's, to whom all Secrets would be legible.
                    age.decrypt_stream(digested, found, identity_file)
                same = digested.rest() == written.sha256
        except OSError as exc:
            raise EtcdError(f"{path}: {exc.strerror or exc}; look who writes into the folder, then run again") from exc
        if not same or (identity_file and found.sha256.hexdigest() != written.packed_sha256):
            raise EtcdError(f"{path}: found another content than was written; look at the disk, and who writes into "
                            "the folder, then run again")
        return bool(identity_file)

    def _counted(self, path: str, written: _Written, about: About) -> list[str]:
        """Have a snapshot count, and return the paths of those that were removed for it."""
        try:
            files.record(path, written.bytes, written.sha256, True)
            return files.remove(self._outdated(about, path), self._progress)
        except OSError as exc:
            raise EtcdError(f"{exc.filename or path}: {exc.strerror or exc}; look who may write into the folder, then "
                            "run again") from exc

    def _outdated(self, about: About, path: str) -> files.Outdated:
        found = files.outdated_in(self._params["directory"], prefix_of(about), self._params["keep"],
                                  os.path.basename(path))
        self._warnings += found.warnings
        return found


class _Digest(io.RawIOBase):
    """A file that keeps of its content the size and the SHA-256, and passes it on.

    :param target: file that gets the content, None for none
    """

    def __init__(self, target: Any = None) -> None:
        super().__init__()
        self._target = target
        self.size, self.sha256 = 0, hashlib.sha256()

    def write(self, data: Any) -> int:
        """Take some bytes."""
        self.size += len(data)
        self.sha256.update(data)
        if self._target is not None:
            self._target.write(data)
        return len(data)
