# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Asks in the container of a Deployment's pod, by its Python; what is asked is in the room ``_elsewhere``."""
from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from ..._elsewhere.asking import LIMIT_SECONDS, Asked, Printed
from ..api.client import KubeClient
from ..kinds.resources import KNOWN
from ..objects import label_selector
from ..objects.conditions import condition
from ..responses.errors import KubeError

# Of kubectl, which takes the container that it names, too.
_DEFAULT_CONTAINER = "kubectl.kubernetes.io/default-container"
# The program comes by the container's standard input, whose end is never said.
_READ = "import sys; exec(compile(sys.stdin.buffer.read(int(sys.argv[1])), 'questions', 'exec'))"


class Container(NamedTuple):
    """A container of a running pod."""

    pod: str
    name: str


def of_options(given: Mapping[str, Any] | None) -> Asked | None:
    """Return where it is asked by a module's option, None without it.

    :param given: ``kubeconfig``, ``context``, ``namespace`` and ``deployment``
    """
    return _asked(lambda: KubeClient({"kubeconfig": given["kubeconfig"], "context": given["context"]}),
                  given["namespace"], given["deployment"]) if given else None


def asked(client: Any, namespace: str, deployment: str) -> Asked:
    """Return that it is asked from the pod of a Deployment.

    :param client: a KubeClient
    :param namespace: of the Deployment
    :param deployment: its name
    """
    return _asked(lambda: client, namespace, deployment)


def _asked(connect: Callable[[], Any], namespace: str, deployment: str) -> Asked:
    place = f"Deployment {namespace}/{deployment}"

    def run(program: bytes) -> Printed:
        client = connect()
        found = container_of(client, namespace, deployment)
        done: Printed = client.execute(
            KNOWN["Pod"].path(namespace, found.pod), found.name, ["python3", "-c", _READ, str(len(program))], program,
            f"Pod {namespace}/{found.pod}", LIMIT_SECONDS)
        return done

    return Asked(run, place)


def pods_of(client: Any, namespace: str, deployment: str) -> list[Any]:
    """Return the pods of a Deployment that run, those that are ready first.

    :raises KubeError: when there is no Deployment, or the API server can't be asked
    """
    found = client.get(KNOWN["Deployment"], namespace, deployment)
    if found is None:
        raise KubeError(f"Deployment {namespace}/{deployment}: found none", 404, "NotFound")
    return sorted((pod for pod in selected(client, namespace, found) if _runs(pod)),
                  key=lambda pod: (condition(pod, "Ready").get("status") != "True", pod["metadata"]["name"]))


def selected(client: Any, namespace: str, deployment: Mapping[str, Any]) -> list[Any]:
    """Return the pods of a Deployment, those that end among them.

    :param client: a KubeClient
    :param namespace: of the Deployment
    :param deployment: as it was read
    :raises KubeError: when the API server can't be asked
    """
    selector = label_selector.text((deployment.get("spec") or {}).get("selector"))
    # An empty selector would be all pods.
    found: list[Any] = client.list(KNOWN["Pod"], namespace, selector)[0] if selector else []
    return found


def container_of(client: Any, namespace: str, deployment: str) -> Container:
    """Return the container of a Deployment that is asked, of a pod that is ready if there is one.

    :raises KubeError: when there is no Deployment or no pod that runs, or the API server can't be asked
    """
    running = pods_of(client, namespace, deployment)
    if not running:
        raise KubeError(f"Deployment {namespace}/{deployment}: found no pod that runs", reason="NotFound")
    pod = running[0]
    named = (pod["metadata"].get("annotations") or {}).get(_DEFAULT_CONTAINER)
    return Container(pod["metadata"]["name"], named or pod["spec"]["containers"][0]["name"])


def _runs(pod: Mapping[str, Any]) -> bool:
    return (pod.get("status") or {}).get("phase") == "Running" and not pod["metadata"].get("deletionTimestamp") \
        and bool((pod.get("spec") or {}).get("containers"))
