# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Running the modules whose names begin with lab."""
from __future__ import annotations

from typing import Any

from .._common.files import file_digest
from .._common.module import Module
from .._common.problems.errors import ReportedError
from .._common.texts.terminal import columns
from .._plane.process import figures
from . import addons, debian_image, disk_image, ironic_image, lab_service, node_image, oci_layout, pod_images, status
from . import registry as lab_registry
from .layout import lab_dir


def run_lab() -> None:
    """Run the module ``lab``."""
    module = Module({
        "name": {"type": "str", "default": "lab"},
        "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
        "source_dir": {"type": "path"},
        "services_python": {"type": "path"},
        "requirements_file": {"type": "path"},
        "packages_file": {"type": "path"},
        "nodes": {"type": "bool", "default": False},
        "hardware": {"type": "dict", "default": {}},
    }, required_if=[
        ("state", "present", ["source_dir"]),
        ("state", "present", ["services_python", "requirements_file"], True),
    ])
    with module.reporting(), lab_service.readable_errors():
        work = lab_service.absent if module.params["state"] == "absent" else lab_service.present
        result = work(module.params, module.check_mode, module.progress)
    module.finish(result)


def run_lab_info() -> None:
    """Run the module ``lab_info``."""
    module = Module({"name": {"type": "str", "default": "lab"}})
    programs, servers = [], []
    with module.reporting(), lab_service.readable_errors():
        lab = figures.read(lab_dir(module.params["name"]))
        if lab:
            programs, servers = status.parts(lab)
    module.finish({"changed": False, "programs": programs, "servers": servers,
                   "table": status.table(programs + servers, columns())})


def run_lab_disk_image() -> None:
    """Run the module ``lab_disk_image``."""
    module = Module({
        "path": {"type": "path", "required": True},
        "size_mib": {"type": "int", "default": 32},
        "files": {"type": "dict", "default": {}},
    })
    path = module.params["path"]
    if disk_image.is_complete(path):
        module.finish({"changed": False, "path": path, "sha256": file_digest.digest(path)})
    if module.check_mode:
        module.finish({"changed": True, "path": path})
    with module.reporting():
        try:
            sha256 = disk_image.build(path, module.params["size_mib"], module.params["files"])
        except (disk_image.DiskImageError, OSError) as exc:
            raise ReportedError(f"{path}: {exc}") from exc
    module.finish({"changed": True, "path": path, "sha256": sha256})


def run_lab_node_image() -> None:
    """Run the module ``lab_node_image``."""
    module = Module({
        "source_dir": {"type": "path", "required": True},
        "addons_source_dir": {"type": "path", "required": True},
        "engine_dir": {"type": "path", "required": True},
        "cache_dir": {"type": "path", "required": True},
    })
    params = module.params
    with module.reporting():
        programs = addons.Addons(params["addons_source_dir"], params["cache_dir"])
        image = node_image.NodeImage(params["source_dir"], params["cache_dir"], params["engine_dir"], programs)
        changed = not image.complete()
        if changed and not module.check_mode:
            image.build(module.progress)
    module.finish(dict(image.info() if image.complete() else {}, changed=changed, image_dir=image.directory))


def run_lab_registry_images() -> None:
    """Run the module ``lab_registry_images``."""
    files = ("ca_file", "username_file", "password_file", "engine_dir", "cache_dir")
    module = Module(dict(
        ((name, {"type": "path", "required": True, "no_log": False}) for name in files),
        url={"type": "str", "required": True}, versions={"type": "dict", "required": True},
        ironic_source_dir={"type": "path"}, services_python={"type": "path"},
        keepalived_source_dir={"type": "path"}, mariadb_source_dir={"type": "path"}),
        required_together=[("ironic_source_dir", "services_python")])
    params = module.params
    with module.reporting(), lab_service.readable_errors():
        sources: list[Any] = [
            lab_registry.ControllerImages(params["engine_dir"], params["versions"], params["cache_dir"])]
        if params["ironic_source_dir"]:
            sources.append(ironic_image.IronicImage(
                params["ironic_source_dir"], params["services_python"], params["cache_dir"]))
        sources += [debian_image.DebianImage(recipe, params[name], params["cache_dir"]) for name, recipe in (
            ("keepalived_source_dir", pod_images.KEEPALIVED), ("mariadb_source_dir", pod_images.MARIADB))
            if params[name]]
        layouts = dict(item for source in sources for item in source.layouts().items())
        if module.check_mode and not all(source.complete() for source in sources):
            module.finish({"changed": True, "pushed": sorted(layouts)})
        for source in sources:
            source.build(module.progress)
        registry = lab_registry.Registry(
            params["url"], params["ca_file"], params["username_file"], params["password_file"])
        digests = dict((reference, oci_layout.manifest_digest(layout)) for reference, layout in layouts.items())
        missing = lab_registry.missing(registry, digests)
        if missing and not module.check_mode:
            lab_registry.push(
                registry, dict((reference, layouts[reference]) for reference in missing), module.progress.wrote)
    module.finish({"changed": bool(missing), "images": digests, "pushed": sorted(missing)})
