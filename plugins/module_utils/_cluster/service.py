# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""From a description to a running cluster: read once, check all, write what differs, wait; and the way back."""
from __future__ import annotations

from typing import Any

from .._kube.api.workload_client import workload_kubeconfig
from .._metal3.kinds import KNOWN
from .description.spec import description_options
from .lifecycle import applying, checking, going_back, planning, removal, stopping, verifying
from .lifecycle.run import ClusterRun
from .rollout.under_way import ROLLBACK
from .waiting.service import WaitFailedError


class ClusterService(ClusterRun):
    """One run of ``cluster``."""

    def present(self) -> dict[str, Any]:
        """Create or change the cluster and return the module's result.

        :raises RefusedError: when the description has mistakes or does not fit what there is
        :raises WaitFailedError: when the goal is not reached; what is replacing machines is stopped then
        :raises RolloutError: when what the manifests hold does not run
        :raises KubeError: when the API server can't be asked or refuses
        """
        if self.options.get("rollout") == ROLLBACK:
            return going_back.go_back(self)
        checked = checking.check(self)
        planned = planning.plan(self, checked)
        wait = None if self.check_mode or self.options["wait_for"] == "none" else self.new_wait()
        try:
            result = applying.apply(self, checked, planned, wait)
            checked.resource_sets.write(result)
            applying.until_goal(self, checked, result, wait)
        except WaitFailedError as exc:
            raise stopping.stop(self, planned, checked.snapshot, exc) from exc
        if wait is not None and self.options.get("verify") and self.options["wait_for"] == "available":
            verifying.verify(self, wait)
        applying.collect(self, checked, result)
        return applying.with_state(self, result)

    def absent(self) -> dict[str, Any]:
        """Delete the cluster with all that belongs to it and return the module's result; see ``removal.remove``."""
        return removal.remove(self)

    def kubeconfig(self) -> Any:
        """Return the workload cluster's kubeconfig as a dict, or None when there is none yet."""
        return workload_kubeconfig(self.client, self.namespace, self.name)

    def endpoint(self) -> str | None:
        """Return the URL of the cluster's API server, by its description or else by the stored Cluster.

        :returns: None when neither names it
        :raises KubeError: when the API server can't be asked
        """
        endpoint = self.params.get("endpoint") or {}
        if not endpoint.get("host"):
            cluster = self.client.get(KNOWN["Cluster"], self.namespace, self.name)
            endpoint = ((cluster or {}).get("spec") or {}).get("controlPlaneEndpoint") or {}
        if not endpoint.get("host"):
            return None
        host = f"[{endpoint['host']}]" if ":" in endpoint["host"] else endpoint["host"]
        port = endpoint.get("port") or description_options()["endpoint"]["options"]["port"]["default"]
        return f"https://{host}:{port}"
