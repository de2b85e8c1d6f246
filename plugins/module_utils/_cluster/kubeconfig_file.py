# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The file into which a user has a workload cluster's kubeconfig written; no other file is overwritten or removed."""
from __future__ import annotations

import os
import stat

from .._common.files import whole_file
from .._common.problems.errors import RefusedError
from .._common.problems.problem import Problem
from .._kube.connection import kubeconfig
from .._kube.responses.errors import KubeError

_MODE = 0o600
_ADVICE = "give another path, or move away what is there"


class KubeconfigFile:
    """One file, which is there only if it is the kubeconfig of one cluster.

    :param path: its path
    :param service: a ClusterService
    :param option: name of the option that gives the path
    """

    def __init__(self, path, service, option="workload_kubeconfig"):
        self._option = option
        self._path = path
        self._service = service
        # The cluster's kubeconfig and endpoint as they were when the run began: at the end of a deletion both are gone.
        self._known = None
        self._endpoint = None

    def check(self):
        """Refuse a path at which there is anything but a kubeconfig of this cluster.

        When neither the cluster nor its description says where its API server is, one of its name is not refused:
        :meth:`remove` leaves it where it is.

        :raises RefusedError: when there is
        :raises KubeError: when the cluster's kubeconfig can't be read
        """
        if self._is_there():
            self._known = self._service.kubeconfig()
            if self._known is None:
                self._endpoint = self._service.endpoint()
            self._require_own(self._known)

    def write(self, check_mode, changed):
        """Write the kubeconfig, if the cluster has one by now, and return what the module's result says of it.

        :param changed: whether the module has changed anything else
        :raises RefusedError: when there is another file at the path
        """
        wanted = self._service.kubeconfig()
        if wanted is None:
            return {}
        if self._is_there():
            self._require_own(wanted)
        try:
            before = whole_file.write(self._path, kubeconfig.as_text(wanted), _MODE, check_mode)
        except OSError as exc:
            raise self._refused(exc.strerror or exc) from exc
        return {"workload_kubeconfig": self._path, "changed": changed or before is not None}

    def remove(self, check_mode):
        """Remove the file and say whether it was there.

        :returns: ``(removed, warnings)``
        :raises RefusedError: when it is another file
        """
        if not self._is_there():
            return False, []
        self._require_own(self._known)
        if not self._is_decided(self._known):
            # With the kubeconfig of another management cluster, it would be the file of a cluster that is running.
            return False, [
                f"cluster {self._service.namespace}/{self._service.name}: {self._path} stays, because nothing says "
                "that it is this cluster's: when the run began, there was no such cluster, or it had no endpoint; "
                "check the kubeconfig that the module connects with, or delete the file yourself"]
        if not check_mode:
            try:
                os.unlink(self._path)
            except OSError as exc:
                raise self._refused(exc.strerror or exc) from exc
        return True, []

    def _is_decided(self, wanted):
        return wanted is not None or self._endpoint is not None

    def _is_there(self):
        """Say whether anything is at the path that could be lost; an empty file, as tempfile makes it, could not."""
        try:
            found = os.lstat(self._path)
        except OSError:
            return False
        return found.st_size > 0 or not stat.S_ISREG(found.st_mode)

    def _require_own(self, wanted):
        """Refuse what is not this cluster's.

        :param wanted: the cluster's kubeconfig, None when it has none
        """
        try:
            mode = os.lstat(self._path).st_mode
            if not stat.S_ISREG(mode):
                raise self._refused("a symbolic link" if stat.S_ISLNK(mode) else "a folder" if stat.S_ISDIR(mode)
                                    else "no regular file")
            with open(self._path, "rb") as stream:
                content = stream.read(kubeconfig.MAX_BYTES + 1)
        except OSError as exc:
            raise self._refused(exc.strerror or exc) from exc
        try:
            found = kubeconfig.inline(content, self._path)
        except KubeError:
            raise self._refused("another file") from None
        servers = set(entry["cluster"]["server"] for entry in found["clusters"])
        if len(found["clusters"]) != 1:
            raise self._refused(f"a kubeconfig of {len(servers)} clusters ({', '.join(sorted(servers))})")
        if not self._is_own(found["clusters"][0], wanted):
            raise self._refused(f"the kubeconfig of another cluster ({found['clusters'][0]['name']}, "
                                f"{', '.join(servers)})")

    def _is_own(self, entry, wanted):
        """Say whether a cluster's entry in a kubeconfig is this one's.

        A server is one cluster's; an authority may be several clusters', a name too.
        """
        if wanted is None:
            return entry["name"] == self._service.name and self._endpoint in (None, entry["cluster"]["server"])
        return any(entry["cluster"]["server"] == own["cluster"]["server"]
                   or (entry["name"] == own["name"] and _authority(entry) and _authority(entry) == _authority(own))
                   for own in wanted["clusters"])

    def _refused(self, actual):
        return RefusedError([Problem(
            "kubeconfig-file", f"cluster {self._service.namespace}/{self._service.name}", self._option,
            f"{self._path}: {actual}", "no file, or this cluster's kubeconfig, which is replaced or removed with "
            "it", _ADVICE)])


def _authority(entry):
    return entry["cluster"].get("certificate-authority-data")
