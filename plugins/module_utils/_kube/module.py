# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A module that talks to a Kubernetes API server, and says to which."""
from __future__ import annotations

from typing import Any

from ansible.module_utils.basic import AnsibleModule, missing_required_lib

from .._common.progress import Progress
from .client import KubeClient
from .connection import HAS_KUBERNETES
from .errors import KubeError
from .resources import KNOWN


class KubeModule(AnsibleModule):
    """Base of modules that work on a cluster: the first line of progress and each result name its API server."""

    server = None
    _client: Any = None

    def connect(self) -> Any:
        """Return a client for the API server that the connection options lead to.

        :raises KubeError: when they lead to none
        """
        self.require_kubernetes()
        return self.works_on(KubeClient(self.params), "API server %s")

    def works_on(self, client: Any, text: Any) -> Any:
        """Name the API server that the module works on and return its client.

        :param client: a KubeClient
        :param text: line of progress, with ``%s`` for the URL
        """
        self._client, self.server = client, client.server
        Progress().event(text % client.server)
        return client

    def warn_without(self, namespace: Any) -> None:
        """Warn of a namespace that is not there: an API server lists nothing in it, as in one that is empty.

        :param namespace: its name, in which nothing was found
        """
        try:
            if self._client.get(KNOWN["Namespace"], None, namespace) is not None:
                return
        except KubeError:
            # Who may not read namespaces learns nothing of them.
            return
        self.warn("namespace %s: found none on %s, expected one; correct namespace, kubeconfig or host" % (
            namespace, self.server))

    def require_kubernetes(self) -> None:
        """End the module unless the package kubernetes is there."""
        if not HAS_KUBERNETES:
            self.fail_json(msg=missing_required_lib("kubernetes"))

    def exit_json(self, **result: Any) -> None:
        """Return the result."""
        super().exit_json(**self._named(result))

    def fail_json(self, msg: Any, **result: Any) -> None:
        """Fail with ``msg``."""
        super().fail_json(msg, **self._named(result))

    def _named(self, result: Any) -> Any:
        return result if self.server is None else dict({"server": self.server}, **result)
