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
from ..._common.texts.plain_text import few
from ..._common.waiting.progress import Progress
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
    :raises RefusedError: while hosts or clusters are managed, or when that cannot be known
    :raises ReportedError: without the confirmation, for another folder, and when something survives
    """
    directory, found = _known(params)
    if found is None:
        return {"changed": False, "removed": []}
    _refuse_managed(found)
    names = sorted(supervisor_files.configured(supervisor_files.Layout(os.path.join(directory, "supervisor"))))
    effect, noun = f"stops %s and deletes {directory} with all data of the plane", "program"
    if not names:
        # Their configuration may be lost, and the data is there.
        effect, noun, names = "deletes %s with all data of the plane", "folder", [directory]
    warnings = confirmation.required(confirmation.missing(
        effect, names, params["confirm"], noun, params["confirm_among"]), check_mode)
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
        _refuse_managed(found)
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
    """
    directory = os.path.normpath(params["dir"] or "")
    found = figures_file.read(directory) if os.path.isabs(directory) else None
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


def _refuse_managed(plane: Mapping[str, Any]) -> None:
    """Refuse to remove a plane that still manages something."""
    directory = plane["dir"]
    subject = f"bootstrap plane {plane['name']}"
    if not os.path.isdir(os.path.join(directory, "etcd", "member")):
        # Its API server has never had anything.
        return
    problems = []
    try:
        client = KubeClient({"kubeconfig": os.path.join(directory, "kubeconfig")})
        for api_version, kind in MANAGED:
            names = sorted(f"{item['metadata']['namespace']}/{item['metadata']['name']}"
                           for item in served.listed(client, resource_for(api_version, kind)))
            if names:
                problems.append(Problem("plane-in-use", subject, kind, f"{len(names)} ({few(names, NAMED)})", "none",
                                        "delete them, or move them to another plane"))
    except KubeError as exc:
        problems = [Problem("plane-unknown", subject, "API server", str(exc), "an answer about what is managed",
                            "run the playbook metal3.baremetal.install, which starts it, then this one again")]
    if problems:
        raise RefusedError(problems)
