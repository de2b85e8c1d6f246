# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A pod that asks one question and ends: its object, and in words why one does not end; pure."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..._common.texts.plain_text import cut, plain
from ..objects.conditions import conditions

Object = dict[str, Any]

# How module options describe such a pod; documented in the fragment ``short_pod``.
OPTIONS: Object = {
    "kubeconfig": {"type": "path"},
    "context": {"type": "str"},
    "image": {"type": "str", "required": True},
    "node_selector": {"type": "dict"},
    "tolerations": {"type": "list", "elements": "dict"},
    "pull_secrets": {"type": "list", "elements": "str", "no_log": False},
    "timeout_seconds": {"type": "int", "default": 120},
}
HINT = "correct image, pull_secrets, node_selector or tolerations"
NAME_LABEL = "app.kubernetes.io/name"
_USER = 65532
_BEGIN, _END = "-----BEGIN CERTIFICATE-----", "-----END CERTIFICATE-----"
_WORDS_LIMIT = 300


def manifest(name: str, namespace: str, label: str, image: str, command: list[str], seconds: int,
             **more: Any) -> Object:
    """Return a Pod without privileges, secrets and a token of the API server.

    :param name: of the pod
    :param namespace: of the pod
    :param label: value of the label by which a later run knows its own
    :param image: one with the command's program
    :param command: program and arguments; data goes into arguments, never into a program
    :param seconds: after which the kubelet ends it
    :param more: further fields of its ``spec``; what is empty is left out
    """
    spec: Object = {
        "restartPolicy": "Never", "automountServiceAccountToken": False, "enableServiceLinks": False,
        "activeDeadlineSeconds": seconds,
        "securityContext": {"runAsNonRoot": True, "runAsUser": _USER, "runAsGroup": _USER,
                            "seccompProfile": {"type": "RuntimeDefault"}},
        "containers": [{
            "name": "check", "image": image, "imagePullPolicy": "IfNotPresent", "command": command,
            "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}}]}
    spec.update((field, value) for field, value in more.items() if value)
    return {"apiVersion": "v1", "kind": "Pod", "spec": spec,
            "metadata": {"name": name, "namespace": namespace, "labels": {NAME_LABEL: label}}}


def of_options(given: Mapping[str, Any], place: tuple[str, str], label: str, command: list[str],
               node: str | None = None) -> Object:
    """Return a Pod as a module's options describe it, that asks.

    :param given: options as in ``OPTIONS``, and ``host_network``
    :param place: its namespace and name
    :param label: as for :func:`manifest`
    :param command: as for :func:`manifest`
    :param node: name of the node that it must run on; None for one that the scheduler chooses
    """
    more: Object = {"nodeSelector": given.get("node_selector"), "tolerations": given.get("tolerations"),
                    "imagePullSecrets": [{"name": name} for name in given.get("pull_secrets") or []]}
    if given.get("host_network"):
        more.update(hostNetwork=True, dnsPolicy="ClusterFirstWithHostNet")
    if node is not None:
        # Unlike nodeName it leaves taints to the scheduler, which says why a pod does not run there.
        more["affinity"] = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
            {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]}]}}}
    return manifest(place[1], place[0], label, given["image"], command, given["timeout_seconds"], **more)


def certificates(text: str) -> str:
    """Return the certificates of a file with authorities: a key beside them is not for all who may read pods.

    :param text: of the file
    :raises ValueError: when it has none
    """
    kept: list[str] = []
    inside = False
    for line in map(str.strip, text.splitlines()):
        inside = inside or line == _BEGIN
        kept += [line] if inside else []
        inside = inside and line != _END
    if not kept:
        raise ValueError("no certificate")
    return "\n".join(kept) + "\n"


def has_ended(current: Mapping[str, Any]) -> bool:
    """Return whether a pod does not run any more."""
    return (current.get("status") or {}).get("phase") in ("Succeeded", "Failed")


def refusal(current: Mapping[str, Any]) -> str:
    """Return in words why the kubelet did not take a pod or ended it; empty for one that has ended by itself.

    :param current: the Pod as it is stored
    """
    status = current.get("status") or {}
    return words(f"{status['reason']}: {status.get('message') or 'no message'}") if status.get("reason") else ""


def waits_for(current: Mapping[str, Any]) -> str:
    """Return in words what a pod that does not end waits for.

    :param current: the Pod as it is stored
    """
    status = current.get("status") or {}
    for container in status.get("containerStatuses") or []:
        waiting = (container.get("state") or {}).get("waiting") or {}
        if waiting:
            return words(f"{waiting.get('reason')}: {waiting.get('message') or 'no message'}")
    for entry in conditions(current):
        if entry.get("status") != "True" and entry.get("message"):
            return words(entry["message"])
    return words(str(status.get("phase") or "no status"))


def words(text: str) -> str:
    """Return what a pod or a kubelet says as one line of bounded length."""
    return cut(plain(" ".join(text.split())), _WORDS_LIMIT)
