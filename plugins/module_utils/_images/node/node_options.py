# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The options of a node image: what is refused; pure."""
from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ..._common.options.field_checks import show
from ..._common.problems.problem import Problem
from ..._common.redaction.redaction import redacted
from ..agent import agent_options
from ..sources import download_rules

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.+-]*\.(qcow2|raw|img)")
_VERSION = re.compile(r"v[0-9]+\.[0-9]+\.[0-9]+")
_KEY = re.compile(r"-----BEGIN PGP PUBLIC KEY BLOCK-----\n.*-----END PGP PUBLIC KEY BLOCK-----", re.DOTALL)
# The same rules as for the deploy agent's ramdisk.
_SHARED = ("packages", "debian_sources", "kernel_parameters")
# Options that an image from elsewhere cannot have.
BUILD_OPTIONS = (*_SHARED, "ca_certificates", "files", "kubernetes_version", "kubernetes_dir", "kubernetes_repository",
                 "image_archives", "revision")
LEAST_DISK_GIB = 3


def problems(params: Mapping[str, Any]) -> list[Problem]:
    """Return what is wrong with the options.

    :param params: the module's parameters, in which ``files`` have ``content`` as bytes
    """
    found = [] if _NAME.fullmatch(params["name"]) else [
        _wrong("name", params["name"], "a file name that ends with .qcow2, .raw or .img",
               "end it with the image's format")]
    found += [_wrong(f"disks.{host}", size, "a number of bytes",
                     "write it without a unit, or leave the host out") for host, size in params["disks"].items()
              if disk_bytes(size) is None]
    if params["download"]:
        return found + download_rules.problems("download.", params["download"]) + [
            Problem("node-image", "", name, "an option with download", "none: what comes from elsewhere stays as it is",
                    "remove it, or remove download") for name in BUILD_OPTIONS if params[name]]
    if not params["name"].endswith(".qcow2"):
        found.append(_wrong("name", params["name"], "a name that ends with .qcow2, the format of an image built here"))
    found += agent_options.problems(dict(
        dict((name, []) for name in agent_options.LISTS), root_password_hash="", python_requirements="",
        **dict((name, params[name]) for name in (*_SHARED, "ca_certificates", "files"))))
    if not _VERSION.fullmatch(params["kubernetes_version"]):
        found.append(_wrong("kubernetes_version", params["kubernetes_version"], "v<major>.<minor>.<patch>")
                     if params["kubernetes_version"] else
                     Problem("node-image", "", "kubernetes_version", None, "v<major>.<minor>.<patch>", "set it"))
    repository = params["kubernetes_repository"]
    if bool(repository) == bool(params["kubernetes_dir"]):
        found.append(Problem("node-image", "", "kubernetes_repository", "both or neither of both",
                             "one of kubernetes_repository and kubernetes_dir",
                             "say where kubeadm, kubelet and kubectl come from"))
    if repository:
        if not re.fullmatch(r"deb (?![a-z]+:/*[^/\s]*@)[a-z]+:\S+ \S+( \S+)*", repository["source"]):
            found.append(_wrong("kubernetes_repository.source", redacted(repository["source"]),
                                "a line of a sources.list that begins with deb, without options and without a "
                                "password"))
        if not _KEY.search(repository["key"].replace("\r\n", "\n")):
            found.append(Problem("node-image", "", "kubernetes_repository.key", "another text",
                                 "an OpenPGP public key in ASCII armour", "give the file's contents, not its path"))
    if params["disk_size_gib"] < LEAST_DISK_GIB:
        found.append(_wrong("disk_size_gib", params["disk_size_gib"], f"at least {LEAST_DISK_GIB}"))
    return found


def disk_bytes(size: Any) -> int | None:
    """Return the size of a disk as a number, as which YAML or a template gives it; None when it is none."""
    return int(size) if not isinstance(size, bool) and re.fullmatch(r"[1-9][0-9]{0,18}", str(size)) else None


def _wrong(field: str, value: Any, expected: str, hint: str = "correct it") -> Problem:
    return Problem("node-image", "", field, show(value), expected, hint)
