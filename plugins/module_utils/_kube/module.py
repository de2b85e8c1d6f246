# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A module that works on a Kubernetes API server, and says on which."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._common.module import Module
from .api import cluster_identity
from .api.client import KubeClient
from .connection.library import HAS_KUBERNETES
from .kinds.resources import KNOWN
from .responses.errors import KubeError


class KubeModule(Module):
    """Base of modules that work on a cluster: the first line of progress and each result name its API server."""

    server: str | None = None
    # Of a module that names the cluster that it has found; empty when nobody may read it.
    cluster_uid: str | None = None
    _client: KubeClient

    def connect(self, names_cluster: bool = False) -> KubeClient:
        """Return a client for the API server that the connection options lead to.

        :param names_cluster: whether results say which cluster it is, for a later task to compare
        :raises KubeError: when they lead to none
        :raises RefusedError: when it is of another cluster than the one whose uid was given, see ``cluster_identity``
        """
        self.require(kubernetes=HAS_KUBERNETES)
        client = self.works_on(KubeClient(self.params), "API server %s")
        checked = self.params.get(cluster_identity.OPTION)
        if names_cluster:
            self.cluster_uid = cluster_identity.verified_uid(client, checked)
        else:
            cluster_identity.require(client, checked)
        return client

    def works_on(self, client: KubeClient, text: str) -> KubeClient:
        """Name the API server that the module works on and return its client.

        :param client: a KubeClient
        :param text: line of progress, with ``%s`` for the URL
        """
        self._client, self.server = client, client.server
        self.progress.event(text % client.server)
        return client

    def run_noting(self, service: Callable[..., Any]) -> None:
        """Run a service that notes what it has changed, and exit with its result.

        It has changed that also when it fails later on, so that handlers run and the user learns of it.

        :param service: makes the service of a client, parameters, check mode and a Progress; it has ``run()`` and what
            it has ``done``
        """
        run = None
        with self.reporting(lambda: dict(run.done) if run else {"changed": False}):
            run = service(self.connect(), self.params, self.check_mode, self.progress)
            result = run.run()
        self.finish(result)

    def warn_without(self, namespace: str) -> None:
        """Warn of a namespace that does not exist: an API server lists nothing in it, as in one that is empty.

        :param namespace: its name, in which nothing was found
        """
        try:
            if self._client.get(KNOWN["Namespace"], None, namespace) is not None:
                return
        except KubeError:
            # Who may not read namespaces learns nothing about them.
            return
        self.warn(f"namespace {namespace}: found none on {self.server}, expected one; correct namespace, kubeconfig or "
                  "host")

    def exit_json(self, **result: Any) -> None:
        """Return the result."""
        super().exit_json(**self._named(result))

    def fail_json(self, msg: str, **result: Any) -> None:
        """Fail with ``msg``."""
        super().fail_json(msg, **self._named(result))

    def _named(self, result: dict[str, Any]) -> dict[str, Any]:
        found = {"server": self.server, cluster_identity.OPTION: self.cluster_uid}
        return dict(((name, value) for name, value in found.items() if value is not None), **result)
