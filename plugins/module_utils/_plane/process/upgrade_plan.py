# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The parts of a plane of processes of which another version is to run, and what is refused before any of them is."""
from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ..._common.options import confirmation
from ..._common.problems.errors import RefusedError
from ..._kube.api.client import KubeClient
from ..._kube.kinds import served
from ..._kube.responses.errors import KubeError
from ..._metal3.kinds import resource_for
from ..parts import fit, fit_service, manifests
from ..parts.catalogue import BY_NAME
from ..upgrade import managed_objects
from ..upgrade import rules as upgrade
from . import base_parts, controllers, provider_options, python_environment
from . import figures as figures_file

Object = dict[str, Any]

_OLDER = "take the release of the collection that installed it: definitions and databases cannot go back"
# Its Python environment can be a site's own.
_OLDER_OF = {base_parts.IRONIC.name: "take the release of the collection, or the Python environment, that it was "
                                     "installed with: Ironic's database cannot go back"}


def gated(client: Any, there: fit.Plane, planned: Mapping[str, fit.Planned], warnings: list[str],
          confirm: Any, among: list[str], check_mode: bool) -> Object:
    """Return the version matrix, the upgrades, the confirmation that they ask for, and warnings.

    :param client: a KubeClient, or None when the API server does not answer
    :param there: what is there
    :param planned: part's name → what is to run
    :param warnings: of what could not be read
    :param confirm: what the user gave as the confirmation, None or empty for nothing
    :param among: names of all planes that get it
    :param check_mode: warn of a confirmation that lacks, instead of stopping
    :raises UnfitError: with all that stands against it
    :raises ReportedError: without the confirmation
    """
    due = upgrade.steps(there, planned, base_parts.ALL)
    managed = managed_objects.read(_lister(client), due)
    problems = [problem for name, item in planned.items() if name in there.parts
                for problem in upgrade.newer(name, there.parts[name].version, item.version,
                                             _OLDER_OF.get(name, _OLDER))]
    result = fit_service.verified(there, planned, [name for name in planned if name in BY_NAME], warnings,
                                  problems + upgrade.problems(due, managed))
    result["upgrades"] = upgrade.described(due, upgrade.interrupted(due, managed.deployments))
    result["confirmation"] = upgrade.unconfirmed(result["upgrades"], confirm, among)
    result["warnings"] = result["warnings"] + confirmation.required(result["confirmation"], check_mode)
    return result


def _lister(client: Any) -> Callable[[str, str], list[Object]]:
    return lambda api_version, kind: served.listed(client, resource_for(api_version, kind)) if client else []


def plan(params: Object, check_mode: bool, client_of: Callable[[Object], Any] = KubeClient) -> Object:
    """Return the result of the module ``plane_upgrade_plan``.

    :param params: the parameters of the module
    :param check_mode: see :func:`gated`
    :param client_of: callable that takes the options of a KubeClient
    :raises RefusedError: for figures that cannot be used, and with all that stands against the upgrade
    :raises ReportedError: without the confirmation, and when the plane cannot be read
    """
    lab, names = params["management_plane"], params["parts"]
    mistakes = provider_options.figure_problems(lab, ("dir", "engine_dir"))
    if mistakes:
        raise RefusedError(mistakes)
    before = figures_file.read_own(lab["dir"])
    if before is None:
        return {"changed": False, "upgrades": [], "confirmation": "", "warnings": [], "matrix": [], "table": [],
                "diff": []}
    recorded = dict(before.get("versions") or {})
    if not recorded and before.get("services_python"):
        recorded[base_parts.IRONIC.name] = python_environment.package_version(
            base_parts.IRONIC.name, before["services_python"], None)
    client, there, warnings = _asked(lab["dir"], client_of)
    wanted = lab.get("versions") or {}
    planned = dict((name, _planned(lab, name, wanted.get(name))) for name in names)
    if not all(planned[name].objects for name in names if name in BY_NAME):
        warnings.append("plane: stored versions are not checked, since the manifests are not rendered yet")
    result = gated(client, with_recorded(there, recorded, names), planned, warnings,
                   params["confirm"], params["confirm_among"], check_mode)
    return dict(result, changed=False, diff=difference(lab.get("name") or lab["dir"], result["upgrades"]))


def _asked(directory: str, client_of: Callable[[Object], Any]) -> tuple[Any, fit.Plane, list[str]]:
    """Return a client of a plane's API server, what is there, and warnings; no client when none answers.

    :raises KubeError: when it answers and refuses
    """
    path = os.path.join(directory, "kubeconfig")
    if os.path.exists(path):
        try:
            client = client_of({"kubeconfig": path})
            there, warnings = fit_service.read(client)
            return client, there, warnings
        except KubeError as exc:
            if exc.status is not None or exc.reason != "Unreachable":
                raise
    return None, fit.Plane(None, {}, {}), [
        "plane: its API server does not answer: versions are those that it was last set up with, and what it manages "
        "is asked when it runs"]


def with_recorded(there: fit.Plane, recorded: Mapping[str, str | None], names: Iterable[str]) -> fit.Plane:
    """Return what is there, with what nobody but the plane's figures says of it.

    :param there: what the API server says
    :param recorded: part's name → version, of the plane's figures
    :param names: parts that the plane has
    """
    parts = dict(there.parts)
    if there.kubernetes is not None:
        parts["kubernetes"] = fit.Found(there.kubernetes, "API server", None, ())
    for name in names:
        item = parts.get(name)
        if not recorded.get(name) or (item is not None and item.version is not None):
            continue
        # A part of which the API server has nothing was recorded, but never applied.
        if name not in BY_NAME or item is not None or there.kubernetes is None:
            parts[name] = fit.Found(recorded[name], figures_file.FILE, None, ())
    return there._replace(parts=parts)


def _planned(lab: Object, name: str, version: str | None) -> fit.Planned:
    path = controllers.manifest(lab, name)
    return fit.Planned(version, manifests.load(path) if name in BY_NAME and os.path.exists(path) else [])


def difference(name: str, upgrades: list[Object]) -> list[Object]:
    """Return the versions before and after as Ansible's diff.

    :param name: of the plane
    :param upgrades: from :func:`upgrade.described`
    """
    if not upgrades:
        return []
    header = f"versions of plane {name}"
    return [{"before_header": header, "after_header": header,
             "before": "".join(f"{item['part']} {item['found']}\n" for item in upgrades),
             "after": "".join(f"{item['part']} {item['planned']}\n" for item in upgrades)}]
