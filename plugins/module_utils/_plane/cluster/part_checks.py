# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is refused before parts are written: versions that do not fit, what others need, what was not confirmed."""
from __future__ import annotations

from typing import Any

from ..._common.options import confirmation
from ..._common.options.field_checks import show
from ..._common.problems.problem import Problem
from ..._kube.kinds.resources import KNOWN
from ..._kube.objects.deployments import has_available_pod
from ..parts import fit, fit_service
from ..parts.catalogue import BY_NAME, IRONIC
from ..upgrade import managed_objects
from ..upgrade import rules as upgrade
from . import ironic_change, monitor_service, objects
from . import settings as part_settings
from .components import ComponentsRun

Object = dict[str, Any]


def fits(run: ComponentsRun) -> Object:
    """Return the matrix of versions, and warnings.

    :raises RefusedError: with all that does not fit with what is there
    """
    there, warnings = fit_service.read(run.client)
    planned = dict((name, fit.Planned(version, items)) for name, (items, version) in run.shipped.items())
    run.steps = upgrade.steps(there, planned)
    managed = managed_by_plane(run)
    ironic, ironic_problems = _ironic(run, planned)
    result = fit_service.verified(
        there, planned, [part.name for part in run.parts], warnings,
        _other_installations(run, there) + _needs(run, there) + monitor_service.problems(
            run.client, run.writes.persist, run.chosen(), run.shipped, run.params["certificates"])
        + upgrade.problems(run.steps, managed) + _pod_security(run) + ironic_problems)
    # As they are written: a pod of Ironic comes before the operator that calls it.
    result["upgrades"] = ironic + upgrade.described(run.steps, upgrade.interrupted(run.steps, managed.deployments))
    return result


def _ironic(run: ComponentsRun, planned: dict[str, fit.Planned]) -> tuple[list[Object], list[Problem]]:
    """Return the change of an Ironic in the cluster that comes with the parts, and what stands against it.

    :param planned: gets it, so that it has a row in the matrix
    """
    options = run.params.get("planned_ironic")
    if not options:
        return [], []
    new = ironic_change.wanted(options)
    planned[IRONIC.name] = fit.Planned(fit.release_of_tag(new.tag), [])
    deployments = run.client.list(KNOWN["Deployment"])[0]
    stored, hosts = ironic_change.deployed(deployments, new.namespace), run.listed(*IRONIC.managed[0])
    problems = ironic_change.problems(deployments, new, run.params["adopt"])
    if has_available_pod(stored) and ironic_change.step(stored, new):
        problems += upgrade.transitions([IRONIC.name], hosts)
    return ironic_change.described(stored, new, hosts), problems


def managed_by_plane(run: ComponentsRun) -> upgrade.Managed:
    """Return what the gates of an upgrade ask for; nothing when there is no upgrade."""
    found = managed_objects.read(run.listed, run.steps)
    return found._replace(deployments=run.client.list(KNOWN["Deployment"])[0]) if run.steps else found


def confirm(run: ComponentsRun, found: Object) -> None:
    """Ask for the confirmation of an upgrade that interrupts; in check mode warn that it would be asked for.

    :raises ReportedError: without it
    """
    found["confirmation"] = upgrade.unconfirmed(
        found["upgrades"], run.params["confirm"], run.params["confirm_among"])
    found["warnings"] += confirmation.required(found["confirmation"], run.check_mode)


def _other_installations(run: ComponentsRun, there: fit.Plane) -> list[Problem]:
    """Return problems with parts that are in another namespace, newer, or somebody else's."""
    found = []
    for part, settings in run.chosen():
        namespace = settings.get("namespace") or part.namespace
        entry, version = there.parts.get(part.name), run.shipped[part.name][1]
        if entry is None:
            continue
        if entry.namespace not in (None, namespace):
            found.append(Problem("part-installed-elsewhere", f"part {part.name}", "namespace",
                                 show(entry.namespace), namespace,
                                 f"set namespace={entry.namespace}, or remove that one first"))
        else:
            found += upgrade.newer(part.name, entry.version, version,
                                   "name manifests of that version: definitions cannot go back")
            found += _of_others(part.name, entry, run.params["adopt"])
    return found


def _of_others(name: str, entry: fit.Found, adopted: list[str]) -> list[Problem]:
    """Return problems with a part that somebody else has installed, unless it is to be ours from now on."""
    label, owner = objects.OWNER_LABEL
    found = [(title, manager) for title, manager in entry.managers if manager != owner and name not in adopted]
    return [Problem("part-of-others", f"part {name}: Deployment {title}", f"metadata.labels.{label}", manager, owner,
                    f"leave it to what has installed it (mode external), or add {name} to adopt "
                    "(management_plane.adopt): it is applied and removed by this collection from then on")
            for title, manager in found]


def _pod_security(run: ComponentsRun) -> list[Problem]:
    """Return problems with a level that a neighbour's pods do not keep: they run on, and never come again."""
    found = []
    for part, settings in run.chosen():
        if settings.get("pod_security") not in part_settings.WITHOUT_HOST_NETWORK:
            continue
        namespace = settings.get("namespace") or part.namespace
        found += [Problem("part-pod-security", f"part {part.name}", "pod_security", show(settings["pod_security"]),
                          f"privileged, because Deployment {namespace}/{item['metadata']['name']} is in the nodes' "
                          "network, which this level refuses", f"set pod_security=privileged for {part.name}")
                  for item in run.client.list(KNOWN["Deployment"], namespace)[0]
                  if item["metadata"]["name"] not in part.images
                  and item["spec"]["template"]["spec"].get("hostNetwork")]
    return found


def _needs(run: ComponentsRun, there: fit.Plane) -> list[Problem]:
    """Return problems with parts that others need and that are neither in this run nor there."""
    found = []
    for part in run.parts:
        needs = part.needs
        if run.params["certificates"] == "cert_manager" and part.name != "cert_manager":
            needs = ("cert_manager",) + needs
        for name in needs:
            group = BY_NAME[name].probe["apiVersion"].partition("/")[0]
            if name not in run.shipped and not any(item.endswith("." + group) for item in there.definitions):
                found.append(Problem("part-needs", f"part {part.name}", None, f"no {BY_NAME[name].title}",
                                     f"{BY_NAME[name].title} in the cluster", f"add the part {name}"))
    # Its webhook must answer before a Certificate can be tried.
    if "cert_manager" in run.shipped and len(run.shipped) > 1 and not run.check_mode:
        found.append(Problem("part-alone", "part cert_manager", None, "other parts in the same run",
                             "this part alone", "install it first"))
    return found
