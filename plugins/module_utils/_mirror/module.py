# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Running the modules mirror_gather and mirror_unpack."""
from __future__ import annotations

from typing import Any

from .._cluster.render.images import ADD_ONS
from .._common.files import user_folders
from .._common.module import Module
from .._common.options.field_checks import show
from .._common.problems.errors import RefusedError, os_errors_reported
from .._common.problems.problem import Problem
from .._common.transfer import registry
from .._plane.parts.catalogue import NAMES, RENDERED
from .._plane.process import engine
from . import plane_images, programs, service

_LOGIN: dict[str, Any] = {"ca_file": {"type": "path"}, "username_file": {"type": "path"},
                          "password_file": {"type": "path", "no_log": False}}
_DIGEST_FILE = {"name": {"type": "str", "required": True}, "url": {"type": "str", "required": True},
                "checksum": {"type": "str", "required": True}}
_TOGETHER = [("username_file", "password_file")]


def _registry(params: dict[str, Any], url: str, option: str = "registry") -> registry.Registry:
    if params["username_file"] and not url:
        # Images by their own names are of several registries, and no login of one of them is for the others.
        raise RefusedError([Problem("mirror-login", "", "username_file", show(params["username_file"]),
                                    f"none without {option}, whose login it is",
                                    f"set {option} to the registry that all images are read from, or remove "
                                    "username_file and password_file")])
    return registry.Registry(registry.parse(url) if url else "", params["ca_file"], params["username_file"],
                             params["password_file"])


def run_mirror_gather() -> None:
    """Run the module ``mirror_gather``."""
    module = Module(dict(
        _LOGIN,
        archive={"type": "path", "required": True},
        work_dir={"type": "path"},
        release={"type": "str", "required": True},
        parts={"type": "list", "elements": "str", "choices": list(NAMES),
               "default": [part.name for part in RENDERED]},
        source_dir={"type": "path"},
        images={"type": "list", "elements": "str", "default": []},
        image_lists={"type": "list", "elements": "path", "default": []},
        cluster_add_ons={"type": "list", "elements": "str", "choices": list(ADD_ONS), "default": []},
        planes={"type": "list", "elements": "dict", "default": [], "options": plane_images.OPTIONS},
        files={"type": "list", "elements": "dict", "default": [], "options": _DIGEST_FILE},
        files_ca_file={"type": "path"},
        source_registry={"type": "str", "default": ""},
        programs={"type": "bool", "default": False},
        manifests={"type": "bool", "default": False},
        cache_dir={"type": "path"},
        folders={"type": "list", "elements": "path", "default": []},
    ), required_together=_TOGETHER, required_if=[("manifests", True, ["source_dir"])])
    params = module.params
    with module.reporting(), os_errors_reported("mirror"):
        module.finish(service.gather(params, _registry(params, params["source_registry"], "source_registry"),
                                     module.progress.event, module.check_mode))


def run_plane_image_programs() -> None:
    """Run the module ``plane_image_programs``."""
    module = Module(dict(
        _LOGIN,
        source_dir={"type": "path", "required": True},
        cache_dir={"type": "path"},
        registry={"type": "str", "default": ""},
        digests={"type": "dict", "default": {}},
        bill_file={"type": "path"},
        trust_registry={"type": "bool", "default": False},
        manifests_dir={"type": "path"},
    ), required_together=_TOGETHER)
    params = module.params
    with module.reporting(), os_errors_reported("mirror"):
        made = engine.Engine(params["source_dir"], params["cache_dir"] or user_folders.cache_dir(), engine.FROM_IMAGES)
        module.finish(programs.ensure(params, made, _registry(params, params["registry"]), module.check_mode,
                                      module.progress))


def run_mirror_unpack() -> None:
    """Run the module ``mirror_unpack``."""
    module = Module(dict(
        _LOGIN,
        archive={"type": "path", "required": True},
        checksum={"type": "str"},
        work_dir={"type": "path"},
        registry={"type": "str"},
        files_dir={"type": "path"},
        bill_file={"type": "path"},
    ), required_together=_TOGETHER, required_one_of=[("registry", "files_dir")])
    params = module.params
    with module.reporting(), os_errors_reported("mirror"):
        target = _registry(params, params["registry"]) if params["registry"] else None
        module.finish(service.unpack(params, target, module.progress.event, module.check_mode))
