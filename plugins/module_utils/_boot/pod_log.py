# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the DHCP and web servers of Ironic's pod print from now on, by the API server."""
from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from .._kube.api.client import KubeClient
from .._kube.kinds.resources import KNOWN
from .._kube.pods.deployment_pod import pods_of
from .._kube.responses.errors import KubeError

# In upstream's manifests "ironic-dnsmasq" and "ironic-httpd".
_DHCP, _WEB = "dnsmasq", "httpd"
# In one look at one container; the next one goes on behind it.
_LOOK_BYTES = 1024 ** 2
# A kubelet takes whole seconds only as the beginning; the runtime may write any zone.
_STAMPED = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d) (.*)")


class PodLogs:
    """Reads what all pods of Ironic's Deployment print after the first look.

    :param place: ``kubeconfig``, ``context``, ``namespace`` and ``deployment``, see ``ironic_place.POD_OPTIONS``
    :param connect: callable that takes connection options and returns a KubeClient
    :ivar is_of_dhcp: whether one of them serves DHCP
    :ivar path: what texts name
    """

    def __init__(self, place: Mapping[str, Any], connect: Callable[[Any], Any] = KubeClient) -> None:
        self._place = place
        self._connect = connect
        self._client: Any = None
        # By pod and container: the time of the newest line, with its zone apart; None before anything was printed.
        self._newest: dict[tuple[str, str], tuple[str, str, str] | None] = {}
        self._looked = False
        self.is_of_dhcp = False
        self.path = f"Deployment {place['namespace']}/{place['deployment']}"

    def lines(self) -> list[str]:
        """Return the lines that came since the last look, none when the API server does not answer just now.

        :raises KubeError: when the logs can't be read, by whatever a later look will not change
        """
        try:
            return self._lines()
        except KubeError as exc:
            # A pod that was just replaced.
            if exc.retriable or exc.status == 404:
                return []
            raise

    def _lines(self) -> list[str]:
        if self._client is None:
            self._client = self._connect({"kubeconfig": self._place["kubeconfig"], "context": self._place["context"]})
        found: list[str] = []
        for pod in pods_of(self._client, self._place["namespace"], self._place["deployment"]):
            names = [str(container.get("name")) for container in pod["spec"]["containers"]]
            self.is_of_dhcp = self.is_of_dhcp or any(_DHCP in name for name in names)
            for name in names:
                if _DHCP in name or _WEB in name:
                    found += self._of(pod["metadata"]["name"], name)
        self._looked = True
        return found

    def _of(self, pod: str, container: str) -> list[str]:
        key, newest = (pod, container), self._newest.get((pod, container))
        # Of what is there at the first look the last line says up to where it is of before.
        query = {"sinceTime": newest[0] + newest[2]} if newest else {} if self._looked else {"tailLines": 1}
        namespace = self._place["namespace"]
        content = self._client.beginning(
            KNOWN["Pod"].path(namespace, pod, "log"),
            {"container": container, "timestamps": "true", "limitBytes": _LOOK_BYTES, **query},
            f"log of {namespace}/{pod}, container {container}", _LOOK_BYTES)
        # The last line may not be whole yet.
        matches = [match for match in map(_STAMPED.fullmatch, content[:content.rfind(b"\n") + 1].decode(
            "utf-8", "replace").splitlines()) if match]
        stamped = [((match[1], (match[2] or "").ljust(9, "0"), match[3]), match[4]) for match in matches]
        fresh = [(stamp, line) for stamp, line in stamped if newest is None or stamp[:2] > newest[:2]]
        if fresh:
            self._newest[key] = fresh[-1][0]
        return [line for dummy, line in fresh] if self._looked else []
