# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stops a bootstrap plane, or removes it with all its data, while it manages nothing."""
from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from typing import Any

from ..._common.options import confirmation
from ..._common.options.field_checks import show
from ..._common.problems.errors import RefusedError
from ..._common.problems.problem import Problem
from ..._common.texts.plain_text import few, plain
from ..._common.waiting.progress import Progress
from ..._ironic.api.client import IronicClient
from ..._ironic.api.errors import IronicError
from ..._ironic.discovery import discovered
from ..._ironic.nodes import ownership
from ..._kube.api.client import KubeClient
from ..._kube.kinds import served
from ..._kube.responses.errors import KubeError
from ..._metal3.kinds import resource_for
from . import figures as figures_file
from . import orphans, service_manager, supervisor_files

# What nobody would look after when the plane is gone.
MANAGED = (("metal3.io/v1alpha1", "BareMetalHost"), ("cluster.x-k8s.io/v1beta2", "Cluster"),
           ("cluster.x-k8s.io/v1beta2", "Machine"))
NAMED = 5


def absent(params: dict[str, Any], check_mode: bool, progress: Progress) -> dict[str, Any]:
    """Remove a plane with all its data and return the module's result.

    :param params: the parameters of the module ``plane_site``
    :param check_mode: whether nothing is changed
    :param progress: a Progress
    :raises RefusedError: while hosts, clusters or nodes without a host are managed, or the API server cannot be asked
    :raises ReportedError: without the confirmation, for another folder, and when something survives
    """
    directory, found = _known(params)
    if found is None:
        return {"changed": False, "removed": []}
    nodes, unknown = _nodes_without_host(found)
    _refuse([*_managed(found), *nodes])
    names = sorted(supervisor_files.configured(supervisor_files.Layout(os.path.join(directory, "supervisor"))))
    effect, noun = f"stops %s and deletes {directory} with all data of the plane", "program"
    if not names:
        # Their configuration may be lost, and the data is there.
        effect, noun, names = "deletes %s with all data of the plane", "folder", [directory]
    warnings = confirmation.required(confirmation.missing(
        effect + "".join(f"; {text}" for text in unknown), names, params["confirm"], noun, params["confirm_among"]),
        check_mode) + unknown
    service = service_manager.of(found)
    removed = [f"unit {service.path}"] if service and service.stored() is not None else []
    if service and not check_mode:
        # First, or systemd would start again what is ended.
        service.remove(stop=True)
    removed += ["%s %s" % item for item in (orphans.find(found) if check_mode else orphans.clear(found))]
    removed.append(f"folder {directory}")
    if not check_mode:
        _delete(directory)
        for item in removed:
            progress.wrote(item, "deleted")
    return {"changed": True, "removed": removed, "warnings": warnings}


def stopped(params: dict[str, Any], check_mode: bool, progress: Progress) -> dict[str, Any]:
    """End a plane's processes, keep its folder, and return the module's result.

    Nothing is lost, so that no number is asked for; ``site_service.present()`` and the roles of its parts start it
    again.

    :param params: the parameters of the module ``plane_site``
    :param check_mode: whether nothing is changed
    :param progress: a Progress
    :raises RefusedError: while hosts or clusters are managed, or when that cannot be known
    :raises ReportedError: for another folder, and when something survives
    """
    _directory, found = _known(params)
    if found is None:
        return {"changed": False, "removed": []}
    service = service_manager.of(found)
    has_unit = service is not None and service.stored() is not None
    if not has_unit and not orphans.find(found):
        return {"changed": False, "removed": []}
    if orphans.processes(found["dir"]):
        _refuse(_managed(found))
    removed = [f"unit {service.path}"] if service and has_unit else []
    if service and not check_mode:
        # First, or systemd would start again what is ended.
        service.remove(stop=True)
    removed += ["%s %s" % item for item in (orphans.find(found) if check_mode else orphans.clear(found))]
    if not check_mode:
        for item in removed:
            progress.wrote(item, "deleted")
    return {"changed": True, "removed": removed}


def _known(params: dict[str, Any]) -> tuple[str, dict[str, Any] | None]:
    """Return the folder of a plane and its figures, None when there is no such folder.

    :raises RefusedError: for a folder of something else
    :raises FiguresError: for one of another user
    """
    directory = os.path.normpath(params["dir"] or "")
    found = figures_file.read_own(directory) if os.path.isabs(directory) else None
    if found is None:
        if os.path.isabs(directory) and not os.path.exists(directory):
            return directory, None
        raise RefusedError([Problem("plane-dir", "", "management_plane.dir", params["dir"] and show(params["dir"]),
                                    "the folder of a bootstrap plane", "set management_plane.dir")])
    if (found.get("mode"), found["name"]) != ("process", params["name"]):
        raise RefusedError([Problem("plane-dir", "", "management_plane.dir",
                                    f"{show(directory)}, which belongs to {show(found['name'])}",
                                    f"the folder of the bootstrap plane {params['name']}", "correct name or dir")])
    if os.path.realpath(found["dir"]) != os.path.realpath(directory):
        # A copy: what its figures name, such as processes and a unit, is the other plane's.
        raise RefusedError([Problem("plane-dir", "", "management_plane.dir",
                                    f"{show(directory)}, a copy of {show(found['dir'])}",
                                    f"the folder of the bootstrap plane {params['name']}",
                                    "set management_plane.dir to the plane's own folder, or delete the copy yourself")])
    return directory, found


def _delete(directory: str) -> None:
    """Delete a plane's folder so that a run that is killed meanwhile can be repeated.

    The data first, whole: half of it would leave an API server that can be neither asked nor started. What says that
    this is a plane's folder goes last.
    """
    data = os.path.join(directory, "etcd")
    if os.path.isdir(data):
        # Of a removal that was killed, after which the plane was installed once more.
        if os.path.isdir(data + ".removed"):
            shutil.rmtree(data + ".removed")
        os.rename(data, data + ".removed")
    for entry in sorted(os.listdir(directory)):
        path = os.path.join(directory, entry)
        if entry == figures_file.FILE:
            continue
        if os.path.isdir(path) and not os.path.islink(path):
            shutil.rmtree(path)
        else:
            os.unlink(path)
    shutil.rmtree(directory)


def _refuse(problems: list[Problem]) -> None:
    if problems:
        raise RefusedError(problems)


def _managed(plane: Mapping[str, Any]) -> list[Problem]:
    """Return what a plane still manages, or that it cannot be known."""
    directory = plane["dir"]
    if not os.path.isdir(os.path.join(directory, "etcd", "member")):
        # Its API server has never had anything.
        return []
    problems = []
    try:
        client = KubeClient({"kubeconfig": os.path.join(directory, "kubeconfig")})
        for api_version, kind in MANAGED:
            names = sorted(f"{item['metadata']['namespace']}/{item['metadata']['name']}"
                           for item in served.listed(client, resource_for(api_version, kind)))
            if names:
                problems.append(_in_use(plane, kind, names, "delete them, or move them to another plane"))
    except KubeError as exc:
        return [Problem("plane-unknown", _subject(plane), "API server", str(exc), "an answer about what is managed",
                        "run the playbook metal3.baremetal.install, which starts it, then this one again")]
    return problems


def _nodes_without_host(plane: Mapping[str, Any]) -> tuple[list[Problem], list[str]]:
    """Return what the plane's Ironic manages without a BareMetalHost, and as a text why that is not known, in a list.

    The operator's nodes are those of hosts, which may be managed by another plane now; what Ironic has made of unknown
    machines, it makes again.
    """
    if not os.path.exists(os.path.join(plane["dir"], "ironic", "ironic.conf")):
        return [], []
    try:
        client = IronicClient({
            "endpoint": plane["urls"]["ironic"], "auth_type": "http_basic", "validate_certs": True,
            "ca_cert": os.path.join(plane["dir"], "pki", "ca.crt"),
            "username": _secret(plane, "ironic_username"), "password": _secret(plane, "ironic_password")})
        nodes = client.list_nodes(discovered.FIELDS)
    except (IronicError, OSError) as exc:
        return [], [f"whether its Ironic has nodes that are no BareMetalHosts is not known: {exc}"]
    names = sorted(plain(node.get("name") or node["uuid"]) for node in nodes
                   if not ownership.host_of(node.get("name")) and not discovered.is_made_by_ironic(node))
    return [_in_use(plane, "Ironic node without BareMetalHost", names,
                    "undeploy and delete them (playbooks ironic_undeploy and ironic_delete), or have another Ironic "
                    "manage these servers and delete the nodes")] if names else [], []


def _secret(plane: Mapping[str, Any], name: str) -> str:
    with open(os.path.join(plane["dir"], "secrets", name), encoding="utf-8") as stream:
        return stream.read().strip()


def _subject(plane: Mapping[str, Any]) -> str:
    return f"bootstrap plane {plane['name']}"


def _in_use(plane: Mapping[str, Any], kind: str, names: list[str], hint: str) -> Problem:
    return Problem("plane-in-use", _subject(plane), kind, f"{len(names)} ({few(names, NAMED)})", "none", hint)
