# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The Ironic that lets go: whether it is the one that is said, and can be stopped for good; pure.

One that is not found has not stopped: it goes on with power over servers that another plane has by then.
"""
from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from ..._common.addresses import ip_texts
from ..._common.problems.problem import Problem
from ..._common.texts.plain_text import few, plain
from ..._kube.objects.deployments import wants_pods
from ..._metal3.ironic_place import IRONIC_CONTAINER
from ..._plane.cluster import ironic_database
from ..._plane.parts import fit
from ..._plane.parts.catalogue import BY_NAME

Object = dict[str, Any]

# How it runs, as ``pivot_ironic_mode`` has it.
PROCESS, CLUSTER, EXTERNAL, NONE = "process", "cluster", "external", "none"
MODES = (PROCESS, CLUSTER, EXTERNAL, NONE)
ENDPOINT = "IRONIC_ENDPOINT"
OPERATED = "Ironic"
# Where ironic-image and mariadb-image have a database.
_DATABASES = ("/var/lib/mysql", "/var/lib/ironic")
_SHOWN = 5
_CODE = "move-former-ironic"
_GOES_ON = ("set former_ironic_mode to external (playbook: pivot_ironic_mode=external, with pivot_ironic_url and its "
            "login), by which it goes on without the nodes of these hosts")


class Said(NamedTuple):
    """What the user says of it.

    :ivar mode: one of MODES
    :ivar namespace: of its Deployment
    :ivar deployment: name of its Deployment, in the mode CLUSTER
    :ivar url: by which the hosts' nodes are deleted, empty for none
    :ivar address: of its API, in the mode PROCESS; empty when it is not known
    :ivar found: whether its processes are there, in the mode PROCESS; None when nobody has looked
    """

    mode: str
    namespace: str
    deployment: str
    url: str
    address: str
    found: bool | None = None

    @property
    def title(self) -> str:
        """Its Deployment, as messages name it."""
        return f"Deployment {self.namespace}/{self.deployment}"


class Found(NamedTuple):
    """What the plane that lets go has.

    :ivar named: the Deployment that the user names, None when there is none
    :ivar environment: of its containers
    :ivar deployments: all Deployments whose pods are an Ironic
    :ivar operated: resources of the Ironic operator
    :ivar endpoint: URL of the Ironic that the Bare Metal Operator uses, empty when that is not known
    :ivar pods: names of the pods of ``named``, one that ends among them: its processes are stopped one after the other
    """

    named: Object | None = None
    environment: Mapping[str, str] = {}
    deployments: tuple[Object, ...] = ()
    operated: tuple[Object, ...] = ()
    endpoint: str = ""
    pods: tuple[str, ...] = ()


def said(params: Mapping[str, Any]) -> Said:
    """Return what the parameters of the module ``plane_move`` say."""
    name = params.get("former_ironic_deployment") or ""
    mode = params.get("former_ironic_mode") or (CLUSTER if name else PROCESS)
    return Said(mode, params.get("former_ironic_namespace") or "", name, params.get("former_ironic_url") or "",
                (params.get("machine_ironic") or {}).get("ip") or "", params.get("former_ironic_found"))


def is_ironic(deployment: Object) -> bool:
    """Say whether a Deployment's pods are an Ironic: upstream's manifests and its operator call the container so."""
    return any(item.get("name") == IRONIC_CONTAINER for item in _pod(deployment).get("containers") or [])


def is_operator(deployment: Object) -> bool:
    """Say whether a Deployment is the Bare Metal Operator."""
    return fit.runs_part(BY_NAME["bmo"], deployment)


def lasting_database(pod: Object, environment: Mapping[str, str]) -> str | None:
    """Return in words the database of an Ironic that outlives its pods, None without one.

    :param pod: the specification of its pods
    :param environment: of its containers
    """
    host = ironic_database.outside(pod) or environment.get(ironic_database.HOST_VARIABLE)
    claim = ironic_database.claim_of(pod)
    known = ironic_database.words(None if _is_own(host) else host, claim)
    if known:
        return known
    lasting = dict((item["name"], item) for item in pod.get("volumes") or []
                   if item.get("persistentVolumeClaim") or item.get("hostPath"))
    for container in pod.get("containers") or []:
        for mount in container.get("volumeMounts") or []:
            if mount.get("name") in lasting and _has_database(str(mount.get("mountPath") or "")):
                return f"that on the volume {mount['name']} at {mount['mountPath']}"
    return None


def problems(what: Said, found: Found, stopped: bool, held: bool) -> list[Problem]:
    """Return why it would not be stopped, or would come back with power over the servers.

    :param what: what the user says
    :param found: what there is
    :param stopped: whether it must have stopped by now
    :param held: whether all hosts are held for the move: it is stopped after that, so that a run which was killed may
        find it stopped
    """
    if what.mode == EXTERNAL:
        return []
    result = _of_operator(what, found)
    if what.mode == CLUSTER:
        return result or _of_deployment(what, found, stopped, held)
    result += [Problem(
        _CODE, _title(item), "spec.replicas", "an Ironic that runs in the plane that lets go",
        "none that runs, as the mode is " + what.mode,
        f"{_stopped_by(item)}; or {_GOES_ON}") for item in found.deployments if wants_pods(item)]
    if what.mode == PROCESS:
        result += _of_process(what, held)
    if what.mode == PROCESS and not _may_be_at(found.endpoint, what.address):
        result.append(Problem(
            _CODE, "Bare Metal Operator", ENDPOINT, plain(_without_login(found.endpoint)),
            f"{what.address}, the Ironic that is a process of this machine",
            f"it works with another Ironic, which would not be stopped: {_GOES_ON}; or set the mode cluster, when it "
            "is a Deployment there"))
    return result


def unread(what: Said, message: str) -> Problem:
    """Return the problem of an Ironic of which nobody may see whether it can be stopped.

    :param what: what the user says
    :param message: what the API server says
    """
    subject = what.title if what.mode == CLUSTER else "Bare Metal Operator"
    return Problem(_CODE, subject, "", f"what may not be read: {message}",
                   "a user who may read Deployments, and the ConfigMaps of their environment",
                   "grant get on deployments and configmaps, or use the kubeconfig of an administrator")


def warnings(what: Said, found: Found) -> list[str]:
    """Return a warning for all Ironics that run there and are not stopped."""
    others = [item for item in found.deployments
              if wants_pods(item) and (_of(item), _name(item)) != (what.namespace, what.deployment)]
    if what.mode not in (CLUSTER, EXTERNAL) or not others:
        return []
    titles = few(sorted(map(_title, others)), _SHOWN)
    if what.mode == CLUSTER:
        return [f"{titles}: runs Ironic, too, beside {what.title}, which is stopped: when it has nodes of these hosts, "
                "stop it first"]
    return [f"{titles}: runs Ironic and is not stopped, as the mode is external; the nodes of these hosts are deleted "
            f"at the URL that is given. When it is the Ironic of this plane alone, {_stopped_by(others[0])}"]


def _stopped_by(deployment: Object) -> str:
    return ("set former_ironic_mode to cluster, former_ironic_namespace and former_ironic_deployment (playbook: "
            f"pivot_ironic_mode=cluster, pivot_ironic_namespace={_of(deployment)}, "
            f"pivot_ironic_deployment={_name(deployment)}), by which it is stopped")


def _of_operator(what: Said, found: Found) -> list[Problem]:
    owners = [owner for owner in (found.named or {"metadata": {}})["metadata"].get("ownerReferences") or []
              if owner.get("kind") == OPERATED]
    names = set(owner.get("name") for owner in owners)
    # One beside the Deployment that is named may be for others.
    is_meant = [item for item in found.operated if what.mode != CLUSTER or found.named is None
                or (_of(item) == what.namespace and _name(item) in names)]
    titles = [plain(f"{OPERATED} {_of(item)}/{_name(item)}") for item in is_meant]
    if owners and not titles:
        titles = [plain(f"{OPERATED} {what.namespace}/{owners[0].get('name')}")]
    return [Problem(
        _CODE, title, "", "an Ironic of the Ironic operator, which starts it again when its Deployment is stopped",
        "one that stays stopped, or has no node of these hosts",
        f"{_GOES_ON}; delete it when all hosts have moved") for title in titles]


def _of_process(what: Said, held: bool) -> list[Problem]:
    if what.found is False and not held:
        return [Problem(
            _CODE, "Ironic", "", "no process of it on this machine", "the one that lets go, which is stopped",
            "set pivot_ironic_directory to the folder of its processes, or pivot_ironic_mode to cluster (a Deployment "
            "of the plane that lets go), external (somebody else's) or none")]
    if what.found and not what.url:
        return [_without_url("Ironic", "that in the folder of its processes")]
    return []


def _without_url(subject: str, database: str) -> Problem:
    return Problem(
        _CODE, subject, "former_ironic_url", f"no URL, and a database that outlives it: {plain(database)}",
        "the URL of its API, by which the hosts' nodes are deleted: with them it would have power over the servers "
        "when it is started again",
        "set pivot_ironic_url, pivot_ironic_ca_file, pivot_ironic_username_file and pivot_ironic_password_file")


def _of_deployment(what: Said, found: Found, stopped: bool, held: bool) -> list[Problem]:
    if found.named is None:
        others = [_title(item) for item in found.deployments]
        return [Problem(
            _CODE, what.title, "", "none" + (f"; Ironic is in {few(sorted(others), _SHOWN)}" if others else ""),
            "the Ironic that lets go, which is stopped",
            "correct former_ironic_namespace and former_ironic_deployment (playbook: pivot_ironic_namespace, "
            f"pivot_ironic_deployment); for one that is elsewhere {_GOES_ON}; for none at all set the mode none")]
    if stopped and (wants_pods(found.named) or found.pods):
        pods = few(list(found.pods), _SHOWN) or "none yet"
        return [Problem(
            _CODE, what.title, "spec.replicas",
            f"{found.named['spec'].get('replicas', 1)} (pods: {plain(pods)}), an Ironic that still has power over the "
            "servers",
            "0, and no pod of it", "stop it by plane_scale (the playbook pivot does)")]
    database = lasting_database(_pod(found.named), found.environment)
    if database and not what.url:
        return [_without_url(what.title, database)]
    if database and not held and not wants_pods(found.named):
        return [Problem(
            _CODE, what.title, "spec.replicas", f"0, and a database that outlives its pods: {plain(database)}",
            "an Ironic that runs until the hosts' nodes are deleted: with them it would have power over the servers "
            "when it is started again", "start it by plane_scale (replicas: 1), then run again")]
    return []


def _may_be_at(endpoint: str, address: str) -> bool:
    try:
        there = urlsplit(endpoint).hostname or ""
    except ValueError:
        return True
    return not there or not address or ip_texts.is_same_host(there, address)


def _without_login(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"


def _is_own(host: str | None) -> bool:
    try:
        return not host or host == "localhost" or ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def _has_database(path: str) -> bool:
    path = path.rstrip("/")
    return any(f"{path}/".startswith(f"{folder}/") or f"{folder}/".startswith(f"{path}/") for folder in _DATABASES)


def _pod(deployment: Object) -> Object:
    found: Object = ((deployment.get("spec") or {}).get("template") or {}).get("spec") or {}
    return found


def _of(obj: Object) -> str:
    return str(obj["metadata"].get("namespace"))


def _name(obj: Object) -> str:
    return str(obj["metadata"]["name"])


def _title(deployment: Object) -> str:
    return plain(f"Deployment {_of(deployment)}/{_name(deployment)}")
