# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The folder of a site on the operator's machine: which plane manages it, and the kubeconfig of its own cluster.

Both are written by this collection only and readable by their owner only. What others could have changed is refused.
"""
from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from typing import Any, NamedTuple

from ..._common.documents.document_text import from_json
from ..._common.files import regular_file, user_folders, whole_file
from ..._common.problems.errors import RefusedError
from ..._common.problems.problem import Problem
from ..._kube.connection import kubeconfig
from ..._kube.responses.errors import KubeError
from . import stages as manager

FILE = "management.json"
_MODE = 0o600
_LIMIT_BYTES = 64 * 1024
_FIELDS = ("manager", "plane_dir", "cluster", "server", "authority")


class Managed(NamedTuple):
    """What was recorded of a site.

    :ivar manager: ``manager.BOOTSTRAP`` or ``manager.CLUSTER``
    :ivar plane_dir: folder of the bootstrap plane
    :ivar cluster: ``namespace/name`` of the site's own cluster
    :ivar server: URL of that cluster's API server, empty before there is one
    :ivar authority: SHA-256 of the certificate authority by which it is verified, empty before there is one
    """

    manager: str
    plane_dir: str
    cluster: str
    server: str = ""
    authority: str = ""


class SiteFolder:
    """The folder of one site.

    :param name: name of the site's bootstrap plane
    :param plane_dir: folder of that plane
    :param cluster: ``namespace/name`` of the cluster that is to manage
    :param environ: mapping of environment variables (XDG_STATE_HOME, HOME); the process's own by default
    """

    def __init__(self, name: str, plane_dir: str, cluster: str, environ: Mapping[str, str] | None = None) -> None:
        self.path = os.path.join(user_folders.state_dir(environ), "sites", name)
        self.file = os.path.join(self.path, FILE)
        self.kubeconfig = os.path.join(self.path, cluster.rpartition("/")[2] + ".kubeconfig")
        self._plane_dir, self._cluster = os.path.normpath(plane_dir), cluster

    def read(self) -> Managed | None:
        """Return what was recorded, None when nothing was.

        :raises RefusedError: for a file that others could have written, or that is of another site
        """
        content = self._own(self.file, _LIMIT_BYTES)
        if content is None:
            return None
        try:
            found = from_json(content)
            recorded = Managed(*(found[field] for field in _FIELDS))
        except (ValueError, TypeError, KeyError):
            raise self._refused(self.file, "no record of this collection's") from None
        if not all(isinstance(value, str) for value in recorded) or recorded.manager not in (
                manager.BOOTSTRAP, manager.CLUSTER):
            raise self._refused(self.file, "no record of this collection's")
        if (recorded.plane_dir, recorded.cluster) != (self._plane_dir, self._cluster):
            raise RefusedError([Problem(
                "manager-record", self.file, "", f"the record of the plane in {recorded.plane_dir} and of cluster "
                f"{recorded.cluster}", f"that of the plane in {self._plane_dir} and of cluster {self._cluster}",
                "give each site's bootstrap plane a name of its own by management_plane.name; if the cluster was "
                "replaced, delete the record")])
        return recorded

    def record(self, managed_by: str, check_mode: bool) -> tuple[dict[str, str], dict[str, str]] | None:
        """Write which plane manages, with what the kubeconfig is recognised by.

        :param managed_by: ``manager.BOOTSTRAP`` or ``manager.CLUSTER``
        :returns: the record before and after, None when it was so already
        :raises RefusedError: see :meth:`read`
        """
        server, authority = identity(self._config()) if self.has_kubeconfig() else ("", "")
        before = self.read()
        wanted = Managed(managed_by, self._plane_dir, self._cluster, server, authority)
        if before == wanted:
            return None
        text = json.dumps(wanted._asdict(), indent=1, sort_keys=True) + "\n"
        self._write(self.file, text.encode(), check_mode)
        return before._asdict() if before else {}, wanted._asdict()

    def has_kubeconfig(self) -> bool:
        """Return whether there is a file with the kubeconfig of the cluster."""
        return os.path.lexists(self.kubeconfig)

    def checked_kubeconfig(self, recorded: Managed | None) -> str:
        """Return the path of the cluster's kubeconfig, which is what was recorded.

        :param recorded: None, or without a server, before there is a record of it
        :raises RefusedError: when it is missing, others could have written it, or it leads elsewhere
        """
        if not self.has_kubeconfig():
            raise self._refused(self.kubeconfig, None)
        found = identity(self._config())
        if recorded is not None and recorded.server and found != (recorded.server, recorded.authority):
            raise self._refused(self.kubeconfig, "another API server or authority than the record says")
        return self.kubeconfig

    def keep_kubeconfig(self, config: dict[str, Any], check_mode: bool) -> bool:
        """Write the cluster's kubeconfig.

        :param config: as ``kubeconfig.inline`` returns it
        :returns: whether it differed
        """
        if self.has_kubeconfig():
            self._own(self.kubeconfig, kubeconfig.MAX_BYTES)
        return self._write(self.kubeconfig, kubeconfig.as_text(config), check_mode)

    def _config(self) -> dict[str, Any]:
        try:
            return kubeconfig.inline(self._own(self.kubeconfig, kubeconfig.MAX_BYTES) or b"", self.kubeconfig)
        except KubeError as exc:
            raise self._refused(self.kubeconfig, str(exc)) from None

    def _write(self, path: str, content: bytes, check_mode: bool) -> bool:
        if not check_mode:
            os.makedirs(self.path, mode=0o700, exist_ok=True)
            os.chmod(self.path, 0o700)
        return whole_file.write(path, content, _MODE, check_mode) is not None

    def _own(self, path: str, limit_bytes: int) -> bytes | None:
        """Return what a file has that only its owner could have written; None when there is none."""
        try:
            with regular_file.reading(path) as (stream, found):
                if found.st_uid != os.geteuid() or found.st_mode & 0o077:
                    raise self._refused(path, regular_file.owner_and_mode(found))
                content: bytes = stream.read(limit_bytes)
                return content
        except FileNotFoundError:
            return None
        except OSError as exc:
            raise self._refused(path, exc.strerror or str(exc)) from exc

    def _refused(self, path: str, actual: str | None) -> RefusedError:
        return RefusedError([Problem(
            "manager-file", path, "", actual, "the file that the playbook metal3.baremetal.site has written, readable "
            "by its owner only", "find out who has changed it; delete it and run site again, which asks both planes "
            "for their hosts")])


def identity(config: dict[str, Any]) -> tuple[str, str]:
    """Return by what a cluster's kubeconfig is recognised: the server's URL, and SHA-256 of its authority.

    Its user is not among it: certificates are renewed.

    :param config: as ``kubeconfig.inline`` returns it
    """
    return _identity_of(config, None)


def clusters_of(config: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the same of each context of a kubeconfig."""
    return [_identity_of(config, context["name"]) for context in config["contexts"]]


def _identity_of(config: dict[str, Any], context: str | None) -> tuple[str, str]:
    _name, cluster, _user = kubeconfig.choose(config, context, "kubeconfig")
    return cluster["server"], hashlib.sha256(cluster.get("certificate-authority-data", "").encode()).hexdigest()
