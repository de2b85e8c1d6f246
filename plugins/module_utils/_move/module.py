# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Running the modules of moves, backups and restores of a plane, such as plane_move."""
from __future__ import annotations

from typing import Any

from .._backup import age, files
from .._common.files import user_folders
from .._common.module import Module
from .._common.options.field_checks import is_name, show
from .._common.problems.errors import RefusedError, os_errors_reported
from .._common.problems.problem import Problem
from .._host.description import annotations as host_annotations
from .._kube.api import cluster_identity
from .._kube.api.client import KubeClient
from .._kube.connection.connection import kube_argument_spec
from .._kube.connection.library import HAS_KUBERNETES
from .._kube.module import KubeModule
from .._metal3.ironic_place import IRONIC_DEPLOYMENT, IRONIC_NAMESPACE
from .backup import service as backup_service
from .backup import verdicts
from .checks import rules as checks
from .handover import former_said, provisioning
from .manager.service import SiteManager
from .nodes.asked import NodesAsked
from .pauses import hosts as hosts_service
from .single_hosts.service import HostMove
from .whole_plane import one_sided
from .whole_plane.journal import Journal
from .whole_plane.service import Move

# What hosts are held for, as users name it.
_HELD_FOR = {"move": host_annotations.FOR_MOVE, "restore": host_annotations.FOR_RESTORE}


def _planes_argument_spec() -> dict[str, dict[str, Any]]:
    """Return the options by which a module finds the plane that lets go and the one that takes over."""
    return {
        # Paths only, and no environment: clusterctl reads the files, and must read those that were checked.
        "kubeconfig": {"type": "path", "required": True},
        "context": {"type": "str"},
        "to_kubeconfig": {"type": "path", "required": True},
        "to_context": {"type": "str"},
        "namespace": {"type": "str", "default": "metal3"},
        "reach_from": {"type": "str", "choices": ["auto", "here", "none"], "default": "none"},
        "ironic_namespace": {"type": "str", "default": IRONIC_NAMESPACE},
        "ironic_deployment": {"type": "str", "default": IRONIC_DEPLOYMENT},
        "ironic_config": {"type": "path"},
        "confirm": {"type": "str"},
    }


def _target(module: KubeModule) -> KubeClient:
    """Return a client of the plane that takes over."""
    return KubeClient({"kubeconfig": module.params["to_kubeconfig"], "context": module.params["to_context"]})


def _checks_argument() -> dict[str, Any]:
    """Return the option for what another module has checked."""
    return {"type": "list", "elements": "dict", "default": [], "options": dict(
        (name, {"type": "str"}) for name in (
            "check", "status", "code", "subject", "field", "actual", "expected", "hint", "text"))}


def run_node_reach_check() -> None:
    """Run the module ``node_reach_check``."""
    planes = _planes_argument_spec()
    module = KubeModule(dict(
        ((name, planes[name]) for name in ("kubeconfig", "context", "to_kubeconfig", "to_context", "namespace",
                                           "ironic_namespace", "ironic_deployment")),
        image={"type": "str"},
        pod_namespace={"type": "str", "default": "kube-system"},
        timeout_seconds={"type": "int", "default": 120},
        to_may_be_stopped={"type": "bool", "default": False},
    ))
    params = module.params
    with module.reporting():
        if params["timeout_seconds"] < 1:
            raise RefusedError([Problem("value", "", "timeout_seconds", show(params["timeout_seconds"]),
                                        "a number of seconds above 0", "correct it")])
        asked = NodesAsked(module.connect(), _target(module), params, module.check_mode, module.progress)
        module.finish(asked.result())


def run_plane_move() -> None:
    """Run the module ``plane_move``."""
    module = KubeModule(dict(
        {**_planes_argument_spec(), **cluster_identity.argument_spec(), cluster_identity.TO_OPTION: {"type": "str"}},
        state={"type": "str", "choices": ["moved", "undone"], "default": "moved"},
        clusterctl={"type": "path"},
        work_dir={"type": "path"},
        rehearsal_programs={"type": "path"},
        rehearsal_operator={"type": "bool", "default": False},
        take_over={"type": "str"},
        accept={"type": "list", "elements": "str", "default": []},
        former_ironic_mode={"type": "str", "choices": list(former_said.MODES)},
        former_ironic_namespace={"type": "str", "default": IRONIC_NAMESPACE},
        former_ironic_deployment={"type": "str", "default": ""},
        former_ironic_url={"type": "str", "default": ""},
        former_ironic_directory={"type": "path"},
        to_may_be_stopped={"type": "bool", "default": False},
        machine_ironic={"type": "dict", "apply_defaults": True, "options": {
            "ip": {"type": "str", "default": ""},
            "keepalived_ip": {"type": "str", "default": ""},
            "let_go": {"type": "list", "elements": "str", "choices": [provisioning.ADDRESS, provisioning.DHCP],
                       "default": []},
            "dhcp_networks": {"type": "list", "elements": "str", "default": []},
        }},
        media_checks=_checks_argument(), node_checks=_checks_argument(),
    ))
    params = module.params
    with module.reporting():
        problems = checks.options(params)
        if problems:
            raise RefusedError(problems)
        params["work_dir"] = params["work_dir"] or f"{user_folders.cache_dir()}/move"
        source, target = module.connect(), _target(module)
        is_planned = module.check_mode and params["state"] == "moved" and params["to_may_be_stopped"]
        why = one_sided.silence(target) if is_planned else ""
        if why:
            module.finish(one_sided.planned(source, params, target.server, why))
        cluster_identity.require(target, params[cluster_identity.TO_OPTION], cluster_identity.TO_OPTION)
        journal = Journal(f"{user_folders.state_dir()}/moves", (source.server, target.server), params["namespace"],
                          module.progress.event)
        move = Move(source, target, params, module.check_mode, module.progress, journal=journal)
        module.finish(move.moved() if params["state"] == "moved" else move.undone())


def run_plane_backup() -> None:
    """Run the module ``plane_backup``."""
    module = KubeModule(dict(
        {**kube_argument_spec(), **cluster_identity.argument_spec()},
        **files.argument_spec(),
        namespace={"type": "str", "default": "metal3"},
        rehearsal_programs={"type": "path"},
        clusterctl={"type": "path"},
    ))
    module.require(pyrage=age.HAS_PYRAGE)
    with module.reporting():
        problems = files.option_problems(module.params["recipients"], module.params["keep"])
        if module.params["rehearsal_programs"] and not module.params["clusterctl"]:
            problems.append(Problem("backup-clusterctl", "", "clusterctl", None,
                                    "the path of clusterctl, with rehearsal_programs", "set it"))
        if problems:
            raise RefusedError(problems)
        module.finish(backup_service.backed_up(module.connect(), module.params, module.check_mode, module.progress))


def run_plane_restore() -> None:
    """Run the module ``plane_restore``."""
    module = KubeModule({
        **cluster_identity.argument_spec(),
        "kubeconfig": {"type": "path", "required": True},
        "context": {"type": "str"},
        "namespace": {"type": "str", "default": "metal3"},
        "path": {"type": "path", "required": True},
        "sha256": {"type": "str"},
        "identity_file": {"type": "path", "required": True},
        "clusterctl": {"type": "path", "required": True},
        "work_dir": {"type": "path"},
        # As bmc_info returns them.
        "servers": {"type": "list", "elements": "dict", "default": []},
        "accept": {"type": "list", "elements": "str", "default": []},
    })
    params = module.params
    module.require(pyrage=age.HAS_PYRAGE)
    with module.reporting():
        params["work_dir"] = params["work_dir"] or f"{user_folders.cache_dir()}/move"
        module.finish(backup_service.restored(module.connect(), params, module.check_mode, module.progress))


def run_plane_move_hosts() -> None:
    """Run the module ``plane_move_hosts``."""
    module = KubeModule(dict(
        {**kube_argument_spec(), **cluster_identity.argument_spec()},
        namespace={"type": "str", "default": "metal3"},
        state={"type": "str", "choices": ["held", "released"], "required": True},
        hosts={"type": "list", "elements": "str"},
        former_ironic={"type": "str"},
        held_for={"type": "str", "choices": sorted(_HELD_FOR), "default": "move"},
        wait_timeout_seconds={"type": "int", "default": 600},
    ))
    params = module.params
    with module.reporting():
        if params["state"] == "held" and params["held_for"] != "move":
            raise RefusedError([Problem("move-held-for", "", "held_for", params["held_for"], "move, with state held",
                                        "leave it out; plane_restore holds the hosts that it brings")])
        client = module.connect()
        if params["state"] == "held":
            module.finish(hosts_service.held(client, params["namespace"], module.check_mode, module.progress,
                                             names=params["hosts"], former_ironic=params["former_ironic"]))
            return
        result = hosts_service.released(client, params["namespace"], module.check_mode, module.progress,
                                        params["wait_timeout_seconds"], names=params["hosts"],
                                        what_for=_HELD_FOR[params["held_for"]],
                                        loses=verdicts.loses if params["held_for"] == "restore" else None)
        errors = result.pop("errors")
        failure = "\n".join([f"{len(errors)} of {len(result['hosts'])} hosts are not what they were:",
                             *(f"- {line}" for line in errors)]) if errors else ""
        module.finish(result, failure)


def run_host_move() -> None:
    """Run the module ``host_move``."""
    module = KubeModule(dict(
        _planes_argument_spec(),
        hosts={"type": "list", "elements": "str", "required": True},
        confirm_among={"type": "list", "elements": "str", "default": []},
        wait_timeout_seconds={"type": "int", "default": 600},
    ))
    params = module.params
    with module.reporting():
        wrong = [name for name in params["hosts"] if not is_name(name)]
        if wrong or not params["hosts"]:
            raise RefusedError([Problem("move-host", "", "hosts", show(wrong) if wrong else "none", "names of hosts",
                                        "name those that baremetal_host_info lists, without their namespace")])
        result = HostMove(module.connect(), _target(module), params, module.check_mode, module.progress).moved()
        errors = result.pop("errors")
        failure = "\n".join([f"{len(errors)} of {len(result['hosts'])} hosts have not come to the end of their move; "
                             "when the cause is corrected, run again:", *(f"- {line}" for line in errors)]) \
            if errors else ""
        module.finish(result, failure)


def run_plane_manager() -> None:
    """Run the module ``plane_manager``."""
    module = Module({
        "name": {"type": "str", "required": True},
        "plane_dir": {"type": "path", "required": True},
        "cluster": {"type": "str", "required": True},
        "cluster_namespace": {"type": "str", "default": "metal3"},
        "endpoint_host": {"type": "str"},
        "endpoint_port": {"type": "int", "default": 6443},
        "namespace": {"type": "str", "default": "metal3"},
        "state": {"type": "str", "choices": ["found", "recorded"], "default": "found"},
    })
    module.require(kubernetes=HAS_KUBERNETES)
    with module.reporting(), os_errors_reported("record of the manager"):
        problems = [Problem("manager-name", "", option, show(module.params[option]), "a name", "correct it")
                    for option in ("name", "cluster") if not is_name(module.params[option])]
        if problems:
            raise RefusedError(problems)
        site = SiteManager(module.params, module.check_mode)
        module.finish(site.found() if module.params["state"] == "found" else site.recorded())
