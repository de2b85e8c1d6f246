# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Running the modules of a plane of processes: plane_certificate to plane_site, and plane_upgrade_plan."""
from __future__ import annotations

from .._common import user_folders
from .._common.errors import os_errors_reported
from .._common.module import Module
from .._kube.connection import HAS_KUBERNETES, kube_argument_spec
from .._kube.module import KubeModule
from .parts import manifests
from .process import (
    base_parts,
    certificates,
    engine,
    process_group,
    provider_service,
    readiness,
    rendered_manifests,
    restart_guard,
    service_unit,
    site_removal_service,
    site_service,
    upgrade_plan,
)

_CERTIFICATE = {
    "name": {"type": "str", "required": True},
    "common_name": {"type": "str", "required": True},
    "organizations": {"type": "list", "elements": "str", "default": []},
    "sans": {"type": "list", "elements": "str", "default": []},
    "usages": {"type": "list", "elements": "str", "choices": ["server", "client"], "default": ["server"]},
    "kubeconfig": {"type": "dict", "options": {
        "path": {"type": "path", "required": True},
        "server": {"type": "str", "required": True},
        "namespace": {"type": "str", "default": "default"},
    }},
}
_READY = {
    "url": {"type": "str"},
    "status": {"type": "list", "elements": "int", "default": [200]},
    "ca_file": {"type": "path"},
    "client_cert": {"type": "path"},
    "client_key": {"type": "path", "no_log": False},
    "username_file": {"type": "path"},
    "password_file": {"type": "path", "no_log": False},
    "holds": {"type": "str"},
    "tcp": {"type": "str"},
    "unix": {"type": "path"},
    "file": {"type": "path"},
    "timeout_seconds": {"type": "int", "default": readiness.DEFAULT_TIMEOUT_SECONDS},
}
_PROGRAM = {
    "name": {"type": "str", "required": True},
    "command": {"type": "list", "elements": "str"},
    "environment": {"type": "dict", "default": {}},
    "directory": {"type": "path"},
    "restart_on": {"type": "list", "elements": "path", "default": []},
    "stop_wait_seconds": {"type": "int", "default": 10},
    "ready": {"type": "dict", "options": _READY, "required_together": [("username_file", "password_file")]},
}
_PROVIDER = {
    "name": {"type": "str", "required": True, "choices": ["capi", "cabpk", "kcp", "capm3", "ipam", "bmo"]},
    "arguments": {"type": "list", "elements": "str", "default": []},
    "environment": {"type": "dict", "default": {}},
    "restart_on": {"type": "list", "elements": "path", "default": []},
}


def run_plane_certificate() -> None:
    """Run the module ``plane_certificate``."""
    module = Module({
        "directory": {"type": "path", "required": True},
        "authority": {"type": "str", "default": certificates.DEFAULT_NAME},
        "certificates": {"type": "list", "elements": "dict", "default": [], "options": _CERTIFICATE},
        "key_pairs": {"type": "list", "elements": "str", "default": [], "no_log": False},
    })
    module.require(cryptography=certificates.HAS_CRYPTOGRAPHY)
    params = module.params
    authority = certificates.Authority(params["directory"])
    with module.reporting(), os_errors_reported("certificates"):
        made = certificates.ensure(
            authority, params["certificates"], params["key_pairs"], params["authority"], module.check_mode,
            module.progress.wrote)
    module.finish({"changed": bool(made), "made": made, "ca_file": authority.certificate_file})


def run_plane_processes() -> None:
    """Run the module ``plane_processes``."""
    module = Module({
        "supervisor_dir": {"type": "path", "required": True},
        "state": {"type": "str", "choices": ["started", "ready", "absent"], "default": "started"},
        "wait": {"type": "bool", "default": True},
        "programs": {"type": "list", "elements": "dict", "default": [], "options": _PROGRAM},
        "hosts_kubeconfig": {"type": "path"},
        "pending_files": {"type": "list", "elements": "path", "default": []},
    })
    params = module.params
    if params["hosts_kubeconfig"]:
        module.require(kubernetes=HAS_KUBERNETES)
    with module.reporting():
        restart_guard.check(params)
        module.finish(process_group.ensure(params, module.check_mode, module.progress.wrote))


def run_plane_programs() -> None:
    """Run the module ``plane_programs``."""
    module = Module({
        "source_dir": {"type": "path", "required": True},
        "cache_dir": {"type": "path"},
        "sets": {"type": "list", "elements": "str", "choices": list(engine.SETS),
                 "default": ["management"]},
        "manifests_dir": {"type": "path"},
    })
    module.require(PyYAML=manifests.HAS_YAML)
    sets = module.params["sets"]
    with module.reporting():
        made = engine.Engine(module.params["source_dir"], module.params["cache_dir"] or user_folders.cache_dir())
        given = bool(module.params["manifests_dir"]) and not rendered_manifests.complete(made)
        if given and not module.check_mode:
            # Before the build, which would render what is missing.
            rendered_manifests.place(module.params["manifests_dir"], made)
        changed = given or not made.complete(sets)
        built = [program.name for program in made.missing(sets)] if module.check_mode else made.build(
            sets, module.progress)
        module.finish({"changed": changed, "built": built, "engine_dir": made.directory,
                       "go_version": made.go_version, "versions": made.versions(sets)})


def run_plane_provider() -> None:
    """Run the module ``plane_provider``."""
    module = KubeModule(dict(
        kube_argument_spec(),
        management_plane={"type": "dict", "required": True},
        providers={"type": "list", "elements": "dict", "required": True, "options": _PROVIDER},
        objects={"type": "list", "elements": "dict", "default": []},
        confirm={"type": "str"},
        confirm_among={"type": "list", "elements": "str", "default": []},
        show_table={"type": "bool", "default": False},
        wait={"type": "bool", "default": True},
        timeout_seconds={"type": "int", "default": 60},
    ))
    module.require(PyYAML=manifests.HAS_YAML, cryptography=certificates.HAS_CRYPTOGRAPHY)
    with module.reporting():
        module.finish(provider_service.start(module.params, module.connect, module.check_mode, module.progress))


def run_plane_upgrade_plan() -> None:
    """Run the module ``plane_upgrade_plan``."""
    module = Module({
        "management_plane": {"type": "dict", "required": True},
        "parts": {"type": "list", "elements": "str", "choices": list(base_parts.NAMES),
                  "default": list(base_parts.NAMES)},
        "confirm": {"type": "str"},
        "confirm_among": {"type": "list", "elements": "str", "default": []},
        "show_table": {"type": "bool", "default": False},
    })
    module.require(kubernetes=HAS_KUBERNETES, PyYAML=manifests.HAS_YAML)
    with module.reporting():
        module.finish(upgrade_plan.plan(module.params, module.check_mode))


def run_plane_site() -> None:
    """Run the module ``plane_site``."""
    module = Module({
        "name": {"type": "str"},
        "state": {"type": "str", "choices": ["present", "stopped", "absent", "found"], "default": "present"},
        "dir": {"type": "str"},
        "address": {"type": "str"},
        "kubernetes_address": {"type": "str"},
        "ports": {"type": "dict", "default": {}},
        "network_boot": {"type": "bool", "default": False},
        "boot_images": {"type": "dict", "default": {}, "options": {
            "kernel": {"type": "str"}, "ramdisk": {"type": "str"}, "bootloader": {"type": "str"},
            "iso": {"type": "str"}, "external_url_v6": {"type": "str"}}},
        "nginx_program": {"type": "path", "default": "/usr/sbin/nginx"},
        "source_dir": {"type": "path"},
        "services_python": {"type": "path"},
        "requirements_file": {"type": "path"},
        "programs": {"type": "str", "choices": [engine.BUILT, engine.FROM_IMAGES], "default": engine.BUILT},
        "service": {"type": "str", "choices": list(service_unit.CHOICES), "default": service_unit.AUTO},
        "confirm": {"type": "str"},
    }, required_if=[
        ("state", "present", ["name", "source_dir"]),
        ("state", "stopped", ["name"]),
        ("state", "absent", ["name"]),
        ("state", "found", ["dir"]),
        ("state", "present", ["services_python", "requirements_file"], True),
    ])
    module.require(kubernetes=HAS_KUBERNETES)
    with module.reporting(), os_errors_reported("plane"):
        work = {"present": site_service.present, "found": site_service.found,
                "stopped": site_removal_service.stopped, "absent": site_removal_service.absent}
        module.finish(work[module.params["state"]](module.params, module.check_mode, module.progress))
