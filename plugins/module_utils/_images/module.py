# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Running the modules agent_image, image_cache, image_server_ports and node_image."""
from __future__ import annotations

from typing import Any

from .._common.files import user_folders
from .._common.module import Module
from .._common.problems.errors import os_errors_reported
from .agent import agent_service
from .cache import cache_options, cache_service, server_ports
from .node import node_service

_ONE_OF: dict[str, Any] = {"mutually_exclusive": [("source", "content")], "required_one_of": [("source", "content")]}
_SOURCE: dict[str, Any] = {"source": {"type": "path"}, "content": {"type": "str", "no_log": True}}


def _texts() -> dict[str, Any]:
    return {"type": "list", "elements": "str", "default": []}


def _files() -> dict[str, Any]:
    return {"type": "list", "elements": "dict", "default": [], "options": dict(
        _SOURCE, path={"type": "str", "required": True}, mode={"type": "str", "default": "0644"}), **_ONE_OF}


def run_agent_image() -> None:
    """Run the module ``agent_image``."""
    module = Module({
        "directory": {"type": "path", "required": True},
        "source_dir": {"type": "path"},
        "cache_dir": {"type": "path"},
        "downloads": {"type": "list", "elements": "dict", "default": [], "options": {
            "name": {"type": "str", "required": True, "choices": list(agent_service.NAMES)},
            "url": {"type": "str", "required": True},
            "checksum": {"type": "str", "required": True},
            "member": {"type": "str"}}},
        "ca_file": {"type": "path"},
        "iso": {"type": "bool", "default": True},
        "ca_certificates": _texts(),
        "ssh_keys": dict(_texts(), no_log=False),
        "root_password_hash": {"type": "str", "no_log": True, "default": ""},
        "rescue": {"type": "bool", "default": False},
        "packages": _texts(),
        "debian_sources": _texts(),
        "python_requirements": {"type": "str", "default": ""},
        "kernel_modules": _texts(),
        "kernel_parameters": _texts(),
        "consoles": _texts(),
        "ntp_servers": _texts(),
        "hardware_managers": {"type": "list", "elements": "dict", "default": [], "options": dict(
            _SOURCE, name={"type": "str", "required": True}, class_name={"type": "str", "required": True}), **_ONE_OF},
        "files": _files(),
        "network_data": {"type": "list", "elements": "dict", "default": []},
        "initramfs_limit_mb": {"type": "int", "default": 100},
        "revision": {"type": "str", "default": ""},
    }, required_one_of=[("source_dir", "downloads")])
    params = dict(module.params, cache_dir=module.params["cache_dir"] or user_folders.cache_dir())
    with module.reporting(), os_errors_reported("image"):
        module.finish(agent_service.ensure(params, module.check_mode, module.progress))


def run_node_image() -> None:
    """Run the module ``node_image``."""
    module = Module({
        "directory": {"type": "path", "required": True},
        "name": {"type": "str", "default": "node.qcow2"},
        "source_dir": {"type": "path"},
        "cache_dir": {"type": "path"},
        "download": {"type": "dict", "options": {
            "url": {"type": "str", "required": True},
            "checksum": {"type": "str", "required": True}}},
        "ca_file": {"type": "path"},
        "disks": {"type": "dict", "default": {}},
        "kubernetes_version": {"type": "str", "default": ""},
        "kubernetes_dir": {"type": "path"},
        "kubernetes_repository": {"type": "dict", "options": {
            "source": {"type": "str", "required": True},
            "key": {"type": "str", "required": True, "no_log": False}}},
        "packages": _texts(),
        "debian_sources": _texts(),
        "ca_certificates": _texts(),
        "files": _files(),
        "image_archives": {"type": "list", "elements": "path", "default": []},
        "kernel_parameters": _texts(),
        "disk_size_gib": {"type": "int", "default": 6},
        "revision": {"type": "str", "default": ""},
    }, required_one_of=[("source_dir", "download")])
    params = dict(module.params, cache_dir=module.params["cache_dir"] or user_folders.cache_dir())
    with module.reporting(), os_errors_reported("image"):
        module.finish(node_service.ensure(params, module.check_mode, module.progress))


def run_image_cache() -> None:
    """Run the module ``image_cache``."""
    module = Module({
        "directory": {"type": "path", "required": True},
        "images": {"type": "list", "elements": "dict", "default": [], "options": {
            "name": {"type": "str", "required": True},
            "url": {"type": "str"},
            "path": {"type": "path"},
            "checksum": {"type": "str"},
            "checksum_type": {"type": "str", "choices": list(cache_options.CHECKSUM_TYPES)},
            "format": {"type": "str", "default": cache_options.AS_IS, "choices": list(cache_options.FORMATS)},
            "state": {"type": "str", "default": "present", "choices": ["present", "absent"]}}},
        "keep_versions": {"type": "int", "default": 1},
        "ca_file": {"type": "path"},
        "state": {"type": "str", "default": "present", "choices": ["present", "absent"]},
    })
    with module.reporting(), os_errors_reported("image"):
        module.finish(cache_service.ensure(module.params, module.check_mode, module.progress))


def run_image_server_ports() -> None:
    """Run the module ``image_server_ports``."""
    module = Module({
        "addresses": {"type": "list", "elements": "str", "required": True},
        "port": {"type": "int", "required": True},
        "unit": {"type": "str"},
    })
    with module.reporting(), os_errors_reported("image server"):
        server_ports.check(module.params["addresses"], module.params["port"], module.params["unit"])
        module.finish({"changed": False})
