# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What nodes are asked before a move: whether the server that each is reaches the Ironic that takes over; pure."""
from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from ..._bmc.preflight.verdict import OK, PROBLEM, UNKNOWN, WARNING
from ..._common.addresses import ip_texts
from ..._common.options.field_checks import show
from ..._common.problems.problem import Problem
from ..._common.texts.plain_text import few
from ..._kube.pods import short_pod
from ..._metal3.ironic_place import IRONIC_CONTAINER
from ..._plane.cluster.ironic import VARIABLES
from ..handover import provisioning

Object = dict[str, Any]

# Of pods, as which a later run knows its own.
LABEL = "metal3-baremetal-node-reach"
CODE = "move-node-reach"
_ADVICE = ("look at the routes and firewalls between the two; when the servers' agents reach Ironic by a network that "
           "their nodes do not have, leave this question out (playbook: pivot_from_nodes=false)")
_SHOWN = 8
_HEX_DIGITS = 16
# What ironic-image takes where nothing is given (scripts/ironic-common.sh, configure-ironic.sh, tls-common.sh). It
# serves virtual media by TLS only with a certificate there.
_HTTP_PORT, _MEDIA_PORT, _MEDIA_FOLDER = "80", "8083", "/certs/vmedia"
_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?")
_PORT = re.compile(r"[1-9][0-9]{0,4}")
_LARGEST_PORT = 65535


class Place(NamedTuple):
    """Where servers reach something of an Ironic.

    :ivar host: an address
    :ivar port: TCP port
    """

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


class Asked(NamedTuple):
    """A host and what was found from its node.

    :ivar host: name of the BareMetalHost
    :ivar node: name of its Node with that of the cluster, empty for a host that is none
    :ivar words: for each place why it is not reached, empty for one that is
    :ivar reason: why nothing was asked; empty when it was
    :ivar is_expected: whether the reason is none of the node's
    """

    host: str
    node: str
    words: tuple[str, ...]
    reason: str
    is_expected: bool = False


def places(deployment: Object, config_maps: Mapping[str, Object]) -> list[Place]:
    """Return where servers reach the API and the image server of an Ironic; nothing when its address is not said.

    :param deployment, config_maps: as for :func:`provisioning.environment`; whoever rules the plane over there writes
        them, and they become questions of pods here
    :raises ValueError: for what is no address or port
    """
    values = provisioning.environment(deployment, config_maps)

    def port(default: str, *names: str) -> int:
        name = next((name for name in names if values.get(name)), names[-1])
        text = str(values.get(name) or default)
        if not _PORT.fullmatch(text) or int(text) > _LARGEST_PORT:
            raise ValueError(f"{name}: found {show(text)}, expected a number from 1 to {_LARGEST_PORT}")
        return int(text)

    address = str(values.get("IRONIC_EXTERNAL_IP") or values.get(VARIABLES["provisioning_ip"]) or "").strip("[]")
    if not address:
        return []
    host = address.partition("/")[0]
    if not ip_texts.is_address(host) and not _NAME.fullmatch(host):
        raise ValueError(f"address: found {show(host)}, expected that of a machine")
    ports = [port(provisioning.API_PORT, *provisioning.API_PORT_VARIABLES), port(_HTTP_PORT, VARIABLES["http_port"])]
    containers = deployment["spec"]["template"]["spec"]["containers"]
    if any(str(mount.get("mountPath")).startswith(_MEDIA_FOLDER) for item in containers
           for mount in item.get("volumeMounts") or []):
        ports.append(port(_MEDIA_PORT, "VMEDIA_TLS_PORT"))
    return [Place(host, number) for number in ports]


def image(deployment: Object) -> str:
    """Return the image of an Ironic, which has Python."""
    containers = deployment["spec"]["template"]["spec"]["containers"]
    return str(next((item for item in containers if item["name"] == IRONIC_CONTAINER), containers[0])["image"])


def pod(node: str, namespace: str, of: str, command: list[str], seconds: int) -> Object:
    """Return the Pod that asks on a node: with the node's own network, and wherever no scheduler would put one.

    :param node: name of the Node
    :param namespace: of the pod
    :param of: its image
    :param command: program and arguments
    :param seconds: after which it is ended
    """
    # A node's name may be too long with more before it.
    name = f"{LABEL}-{hashlib.sha256(node.encode()).hexdigest()[:_HEX_DIGITS]}"
    return short_pod.manifest(name, namespace, LABEL, of, command, seconds, nodeName=node, hostNetwork=True,
                              tolerations=[{"operator": "Exists"}])


def checks(asked: list[Asked], targets: list[Place]) -> list[dict[str, Any]]:
    """Return what was found, one dict for a host, or for each place that its node does not reach.

    :param asked: all hosts
    :param targets: what their nodes were asked for
    :returns: ``check``, ``status``, and the fields of a problem with its ``text``
    """
    found = []
    for item in asked:
        subject = f"BareMetalHost {item.host}"
        if item.reason:
            status = UNKNOWN if item.is_expected else WARNING
            found.append(_check(status, Problem(CODE, subject, "", item.reason, "", None)))
            continue
        silent = [(place, words) for place, words in zip(targets, item.words) if words]
        found += [_check(PROBLEM, Problem(CODE, subject, "", f"{words} at {place}, asked from {item.node}",
                                          "a server that reaches the Ironic over there", _ADVICE))
                  for place, words in silent]
        if not silent:
            found.append(_check(OK, Problem(CODE, subject, "", f"reached from {item.node}", "", None)))
    return found


def _check(status: str, problem: Problem) -> dict[str, Any]:
    text = str(problem) if status == PROBLEM else f"{problem.subject}: {problem.actual}"
    return {"check": "node_reach", "status": status, **problem._asdict(), "text": text}


def read(found: list[Mapping[str, Any]]) -> tuple[list[Problem], list[str], str]:
    """Return problems, warnings, and in words what is known, of what the module ``node_reach_check`` has returned.

    :param found: as :func:`checks` returns it
    """
    problems = [Problem(CODE, item["subject"], item["field"], item["actual"], item["expected"] or "", item["hint"])
                for item in found if item["status"] == PROBLEM]
    warnings = [f"whether a server reaches the Ironic over there is not known: {item['text']}" for item in found
                if item["status"] == WARNING]
    reached = [item for item in found if item["status"] == OK]
    reasons: dict[str, list[str]] = {}
    for item in found:
        if item["status"] == UNKNOWN:
            reasons.setdefault(item["actual"] or "", []).append(item["subject"].rpartition(" ")[2])
    parts = [f"{len(reached)} reach the Ironic over there, asked from their nodes"] if reached else []
    parts += [f"of {few(names, _SHOWN)} it is not known ({reason})" for reason, names in reasons.items()]
    return problems, warnings, f"hosts: {'; '.join(parts)}" if parts else ""
