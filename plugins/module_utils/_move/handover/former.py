# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The Ironic that lets go: whether it is the one that is said, and can be stopped for good; pure.

One that is not found has not stopped: it goes on with power over servers that another plane has by then.
"""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from ..._common.addresses import ip_texts
from ..._common.documents.tolerant import dict_in, dicts_in
from ..._common.problems.problem import Problem
from ..._common.texts.plain_text import few, plain
from ..._kube.objects.deployments import wants_pods
from ..._metal3.ironic_place import IRONIC_CONTAINER
from ..._plane.cluster import ironic_database
from ..._plane.cluster.ironic import VARIABLES
from ..._plane.parts import fit
from ..._plane.parts.catalogue import BY_NAME
from . import former_process, machine_ironics
from .former_said import CLUSTER, CODE, EXTERNAL, GOES_ON, PROCESS, Said, without_login, without_url
from .machine_ironics import MachineIronics

Object = dict[str, Any]

OPERATED = "Ironic"
# Where ironic-image and mariadb-image have a database.
_DATABASES = ("/var/lib/mysql", "/var/lib/ironic")
_SHOWN = 5


class Found(NamedTuple):
    """What the plane that lets go has.

    :ivar named: the Deployment that the user names, None when there is none
    :ivar environment: of its containers
    :ivar ports: at which its pods may answer, None when that is not known
    :ivar deployments: all Deployments whose pods are an Ironic
    :ivar operated: resources of the Ironic operator
    :ivar endpoint: URL of the Ironic that the Bare Metal Operator uses, empty when that is not known
    :ivar services: Services of the namespace of ``named``, read where :func:`is_elsewhere` says so
    :ivar pods: names of the pods of ``named``, one that ends among them: its processes are stopped one after the other
    :ivar machine: what this machine has, in the mode PROCESS; None when nobody has looked
    """

    named: Object | None = None
    environment: Mapping[str, str] = {}
    ports: frozenset[int] | None = None
    deployments: tuple[Object, ...] = ()
    operated: tuple[Object, ...] = ()
    endpoint: str = ""
    services: tuple[Object, ...] = ()
    pods: tuple[str, ...] = ()
    machine: MachineIronics | None = None


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
        return result or [*_of_deployment(what, found, stopped, held), *_of_endpoint(what, found)]
    result += [Problem(
        CODE, _title(item), "spec.replicas", "an Ironic that runs in the plane that lets go",
        "none that runs, as the mode is " + what.mode,
        f"{_stopped_by(item)}; or {GOES_ON}") for item in found.deployments if wants_pods(item)]
    if what.mode == PROCESS:
        result += former_process.problems(what, found.machine, found.endpoint, stopped, held)
    return result


def unread(what: Said, message: str) -> Problem:
    """Return the problem of an Ironic of which nobody may see whether it can be stopped.

    :param what: what the user says
    :param message: what the API server says
    """
    subject = what.title if what.mode == CLUSTER else "Bare Metal Operator"
    return Problem(CODE, subject, "", f"what may not be read: {message}",
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
        return [f"{titles}: runs Ironic, too, beside {what.title}, which is stopped: when it has nodes of "
                "these hosts, stop it first"]
    return [f"{titles}: runs Ironic and is not stopped, as the mode is external; the nodes of these hosts are deleted "
            f"at the URL that is given. When it is the Ironic of this plane alone, {_stopped_by(others[0])}"]


def is_elsewhere(what: Said, found: Found) -> bool:
    """Say whether the operator's Ironic is at another address or port than the Deployment that is named.

    With a URL it is known by its nodes. A name, such as a Service's, says nothing of where it leads.
    """
    there, address = machine_ironics.endpoint(found.endpoint), _address(found)
    if what.mode != CLUSTER or what.url or there is None or not all(map(ip_texts.is_address, (there[0], address))):
        return False
    return not ip_texts.is_same_host(there[0], address) or (found.ports is not None and there[1] not in found.ports)


def _address(found: Found) -> str:
    return found.environment.get(VARIABLES["provisioning_ip"], "")


def _of_endpoint(what: Said, found: Found) -> list[Problem]:
    there = machine_ironics.endpoint(found.endpoint)
    if there is None or not is_elsewhere(what, found) or any(
            _leads_to(service, found, there) for service in found.services):
        return []
    place = f"{plain(_address(found))}, the address of {what.title}"
    if ip_texts.is_same_host(there[0], _address(found)):
        place = f"port {' or '.join(map(str, sorted(found.ports or ())))} of {place}"
    return [Problem(
        CODE, "Bare Metal Operator", former_process.ENDPOINT, plain(without_login(found.endpoint)),
        f"{place}, or one of a Service of its pods: else it works with another Ironic, which goes on with power over "
        "the servers",
        "correct former_ironic_namespace and former_ironic_deployment (playbook: pivot_ironic_namespace, "
        "pivot_ironic_deployment); when both lead to one Ironic, set former_ironic_url (playbook: pivot_ironic_url, "
        f"and its login), by which it is asked for the hosts' nodes; for one that is elsewhere {GOES_ON}")]


def _leads_to(service: Object, found: Found, place: tuple[str, int]) -> bool:
    """Say whether a Service leads from an address and a port to the pods of the Deployment that is named."""
    spec, (address, port) = dict_in(service, "spec"), place
    selector = dict_in(spec, "selector")
    labels = dict_in(dict_in(dict_in(dict_in(found.named, "spec"), "template"), "metadata"), "labels")
    ingress = dicts_in(dict_in(dict_in(service, "status"), "loadBalancer"), "ingress")
    addresses = [spec.get("clusterIP"), *(spec.get("clusterIPs") or ()), *(spec.get("externalIPs") or ()),
                 *(entry.get("ip") for entry in ingress)]
    if not selector or any(labels.get(key) != value for key, value in selector.items()):
        return False
    ports = dicts_in(spec, "ports")
    # Node ports are at the addresses of nodes, one of which the Deployment's is.
    return (any(entry.get("port") == port for entry in ports) and any(
        isinstance(text, str) and ip_texts.is_same_host(text, address) for text in addresses)) or (
        any(entry.get("nodePort") == port for entry in ports) and ip_texts.is_same_host(address, _address(found)))


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
        CODE, title, "", "an Ironic of the Ironic operator, which starts it again when its Deployment is stopped",
        "one that stays stopped, or has no node of these hosts",
        f"{GOES_ON}; delete it when all hosts have moved") for title in titles]


def _of_deployment(what: Said, found: Found, stopped: bool, held: bool) -> list[Problem]:
    if found.named is None:
        others = [_title(item) for item in found.deployments]
        return [Problem(
            CODE, what.title, "", "none" + (f"; Ironic is in {few(sorted(others), _SHOWN)}" if others else ""),
            "the Ironic that lets go, which is stopped",
            "correct former_ironic_namespace and former_ironic_deployment (playbook: pivot_ironic_namespace, "
            f"pivot_ironic_deployment); for one that is elsewhere {GOES_ON}; for none at all set the mode none")]
    if stopped and (wants_pods(found.named) or found.pods):
        pods = few(list(found.pods), _SHOWN) or "none yet"
        return [Problem(
            CODE, what.title, "spec.replicas",
            f"{found.named['spec'].get('replicas', 1)} (pods: {plain(pods)}), an Ironic that still has power over the "
            "servers",
            "0, and no pod of it", "stop it by plane_scale (the playbook pivot does)")]
    database = lasting_database(_pod(found.named), found.environment)
    if database and not what.url:
        return [without_url(what.title, database)]
    if database and not held and not wants_pods(found.named):
        return [Problem(
            CODE, what.title, "spec.replicas", f"0, and a database that outlives its pods: {plain(database)}",
            "an Ironic that runs until the hosts' nodes are deleted: with them it would have power over the servers "
            "when it is started again", "start it by plane_scale (replicas: 1), then run again")]
    return []


def _is_own(host: str | None) -> bool:
    return not host or ip_texts.is_loopback(host)


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
