# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Asks both planes of a site for their hosts, says which one manages, and records it."""
from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from ..._common.addresses import ip_texts
from ..._common.problems.errors import RefusedError
from ..._common.problems.problem import Problem
from ..._host.description import annotations as host_annotations
from ..._kube.api.client import KubeClient
from ..._kube.api.workload_client import workload_kubeconfig
from ..._kube.kinds import served
from ..._kube.responses.errors import KubeError
from ..._metal3.kinds import KNOWN
from ..._plane.process import figures, orphans
from ..checks import rules as checks
from ..objects import record
from . import stages as manager
from .site_folder import Managed, SiteFolder, clusters_of, identity


class SiteManager:
    """One run of the module ``plane_manager``.

    :param params: the module's parameters
    :param check_mode: only report what would be recorded
    :param connect: callable that returns a KubeClient for the path of a kubeconfig
    """

    def __init__(self, params: dict[str, Any], check_mode: bool,
                 connect: Callable[[str], Any] = lambda path: KubeClient({"kubeconfig": path})) -> None:
        self._params, self._check_mode, self._connect = params, check_mode, connect
        self._plane_dir = os.path.normpath(params["plane_dir"])
        self._folder = SiteFolder(params["name"], self._plane_dir, f"{params['cluster_namespace']}/{params['cluster']}")

    def found(self) -> dict[str, Any]:
        """Return where the site is, as the module returns it.

        :raises RefusedError: when that cannot be known
        """
        return self._result(*self._stage())

    def recorded(self) -> dict[str, Any]:
        """Record which plane manages, keep the kubeconfig of the site's cluster, and return the module's result.

        :raises RefusedError: when it cannot be known, or the cluster's kubeconfig leads elsewhere than before
        :raises KubeError: when the plane that manages cannot be asked
        """
        stage, before, bootstrap, cluster = self._stage()
        managed_by = manager.CLUSTER if stage.name == manager.CLUSTER else manager.BOOTSTRAP
        if stage.name == manager.UNDERWAY and before is not None:
            managed_by = before.manager
        plane = cluster if managed_by == manager.CLUSTER else bootstrap
        config = workload_kubeconfig(self._connect(plane.kubeconfig), self._params["cluster_namespace"],
                                     self._params["cluster"]) if plane.answers else None
        changed = False
        if config is not None:
            self._require_own(config, before if managed_by == manager.CLUSTER else None)
            changed = self._folder.keep_kubeconfig(config, self._check_mode)
        written = self._folder.record(managed_by, self._check_mode)
        result = self._result(stage, before, bootstrap, cluster)
        result.update(changed=changed or written is not None, recorded=managed_by)
        if written is not None:
            result["diff"] = {"before_header": self._folder.file, "before": written[0],
                              "after_header": self._folder.file, "after": written[1]}
        return result

    def _require_own(self, config: dict[str, Any], before: Managed | None) -> None:
        """Refuse the kubeconfig of a Secret that leads elsewhere than the cluster that was described and recorded.

        Who may write Secrets must not decide where later runs send the BMCs' credentials.
        """
        server, authority = identity(config)
        others = sorted(set(clusters_of(config)) - {(server, authority)})
        subject = f"Secret {self._params['cluster_namespace']}/{self._params['cluster']}-kubeconfig"
        hint = "find out who has written it"
        if others:
            # Which context counts the environment may say.
            raise RefusedError([Problem("manager-kubeconfig", subject, "clusters",
                                        f"{others[0][0]}, or another authority, beside {server}", "one cluster", hint)])
        host, port, parts = self._params["endpoint_host"], self._params["endpoint_port"], urlsplit(server)
        # Another port of that host may be somebody else's.
        if host and not (ip_texts.is_same_host(parts.hostname or "", host) and (parts.port or 443) == port):
            raise RefusedError([Problem("manager-kubeconfig", subject, "server", server,
                                        f"one of cluster_endpoint, host {host}, port {port}", hint)])
        if before is not None and before.manager == manager.CLUSTER and (
                before.server, before.authority) != (server, authority):
            raise RefusedError([Problem(
                "manager-kubeconfig", subject, "server", f"{server}, or another authority than recorded",
                f"{before.server}, with the authority that was recorded", hint + f"; if the change is right, delete "
                f"{self._folder.file}")])

    # What there is

    def _stage(self) -> tuple[manager.Stage, Managed | None, manager.Plane, manager.Plane]:
        recorded = self._folder.read()
        bootstrap = self._asked(f"bootstrap plane {self._params['name']}", os.path.join(self._plane_dir, "kubeconfig"),
                                self._bootstrap_runs())
        there = self._folder.has_kubeconfig()
        if there:
            self._folder.checked_kubeconfig(recorded)
        cluster = self._asked(f"cluster {self._params['cluster_namespace']}/{self._params['cluster']}",
                              self._folder.kubeconfig, "" if there else None)
        stage, problems = manager.stage(bootstrap, cluster, recorded.manager if recorded else None)
        if stage is None:
            raise RefusedError(problems)
        return stage, recorded, bootstrap, cluster

    def _bootstrap_runs(self) -> str | None:
        """Return why the bootstrap plane cannot be asked: empty when it can, None when there is none."""
        if figures.read_own(self._plane_dir) is None or not os.path.exists(os.path.join(self._plane_dir, "kubeconfig")):
            return None
        return "" if orphans.processes(self._plane_dir) else "its processes do not run"

    def _asked(self, title: str, path: str, unasked: str | None) -> manager.Plane:
        plane = manager.Plane(title, path)
        if unasked is None:
            return plane
        plane = plane._replace(exists=True, error=unasked)
        if unasked:
            return plane
        try:
            client = self._connect(path)
            system = client.get(KNOWN["Namespace"], None, "kube-system")
            # None in a cluster in which no part of a plane is installed yet.
            hosts = served.listed(client, KNOWN["BareMetalHost"], self._params["namespace"])
            config = client.get(KNOWN["ConfigMap"], self._params["namespace"], record.NAME)
        except KubeError as exc:
            return plane._replace(error=str(exc))
        return plane._replace(
            uid=str(((system or {}).get("metadata") or {}).get("uid") or ""),
            hosts=tuple(sorted(host["metadata"]["name"] for host in hosts)),
            held=any(host_annotations.of(host).get(host_annotations.PAUSED) == checks.HELD for host in hosts),
            record=record.read(config))

    def _result(self, stage: manager.Stage, before: Managed | None, bootstrap: manager.Plane,
                cluster: manager.Plane) -> dict[str, Any]:
        hosts = cluster.hosts if stage.name == manager.CLUSTER else bootstrap.hosts
        return {"changed": False, "stage": stage.name, "starts": stage.starts, "hosts": list(hosts),
                "recorded": before.manager if before else "", "folder": self._folder.path,
                "bootstrap_runs": bootstrap.answers, "bootstrap_kubeconfig": bootstrap.kubeconfig,
                "cluster_answers": cluster.answers, "cluster_kubeconfig": cluster.kubeconfig}
