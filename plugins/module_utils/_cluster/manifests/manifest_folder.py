# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A folder with a cluster's manifests, a file for each object, that kustomize takes."""
from __future__ import annotations

import os
import re
from typing import Any

from ..._common.documents.document_text import from_yaml
from ..._common.files import regular_file, whole_file
from ..._common.problems.errors import RefusedError
from ..._common.problems.problem import Problem
from ..._manifests.yaml_text import text_of
from ..render.objects import TEMPLATE_KINDS
from .manifest_file import difference

try:
    import yaml
except ImportError:
    yaml = None  # type: ignore[assignment]

INDEX = "kustomization.yaml"
# By which a later run knows the file for its own.
_MARK = "# Written by metal3.baremetal.cluster_template. Add what is yours in a folder that names this one.\n"
# For the new cluster itself, and so not in the index.
_ADDON = os.path.join("workload", "network-addon.yaml")
_FILE = re.compile(r"[a-z0-9][a-z0-9.-]*\.yaml")
_TEMPLATES = tuple(f"{kind.lower()}-" for kind in TEMPLATE_KINDS)
# Of a new file: contents of files and hashes of passwords may be in it.
_MODE = 0o600


def write(folder: str, objects: list[dict[str, Any]], addon: str, check_mode: bool) -> dict[str, Any]:
    """Bring a folder to a cluster's objects, and return ``changed``, ``diff`` and ``warnings`` of the module.

    A template of earlier machines stays in the index as long as its file is there: machines may still be made of it.
    Other files of an earlier run are left out of the index. No file is deleted.

    :param folder: path of the folder
    :param objects: the objects, in the order in which they are best written
    :param addon: text of what is for the cluster itself; empty for nothing
    :param check_mode: only say what would be written
    :raises RefusedError: when somebody else's index is there
    :raises OSError: when a file can't be read or written
    """
    names = dict((file_of(item), item) for item in objects)
    former = [name for name in _listed(folder) if name not in names and os.path.isfile(os.path.join(folder, name))]
    kept = [name for name in former if name.startswith(_TEMPLATES)]
    index = _MARK + yaml.safe_dump({"apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization",
                                    "resources": kept + list(names)}, sort_keys=True)
    diffs = []
    for name, item in names.items():
        diffs += _written(folder, name, text_of([item]), check_mode, [item])
    if addon:
        diffs += _written(folder, _ADDON, addon, check_mode, None)
    # Last: it names what is there.
    diffs += _written(folder, INDEX, index, check_mode, None)
    return {"changed": bool(diffs), "diff": diffs, "warnings": _warnings(kept, [
        name for name in former if name not in kept])}


def mode_of(path: str) -> int:
    """Return the permissions that a file with a cluster's objects gets: those that its owner has given it."""
    found = whole_file.own_mode(path)
    return _MODE if found is None else found


def file_of(obj: dict[str, Any]) -> str:
    """Return the name of an object's file."""
    return f"{obj['kind'].lower()}-{obj['metadata']['name']}.yaml"


def _listed(folder: str) -> list[str]:
    """Return what the index of an earlier run names."""
    path = os.path.join(folder, INDEX)
    try:
        with regular_file.reading(path) as (stream, _found):
            text = stream.read().decode("utf-8", "replace")
    except FileNotFoundError:
        return []
    if not text.startswith(_MARK):
        raise RefusedError([Problem(
            "template-index", "", "dest", f"a {INDEX} in {folder} that cluster_template has not written",
            "a folder of its own", "name another folder, and this one in the resources of yours")])
    try:
        found = from_yaml(text)
    except ValueError:
        return []
    listed = found.get("resources") if isinstance(found, dict) else None
    return [name for name in listed if isinstance(name, str) and _FILE.fullmatch(name)] \
        if isinstance(listed, list) else []


def _written(folder: str, name: str, text: str, check_mode: bool, objects: list[Any] | None) -> list[dict[str, Any]]:
    path = os.path.join(folder, name)
    before = whole_file.write(path, text.encode(), mode_of(path), check_mode)
    if before is None:
        return []
    old, new = (before.decode("utf-8", "replace"), text) if objects is None else difference(
        before.decode("utf-8", "replace"), objects)
    return [{"before_header": path, "after_header": path, "before": old, "after": new}]


def _warnings(kept: list[str], dropped: list[str]) -> list[str]:
    lines = []
    if kept:
        lines.append(f"{', '.join(kept)}: of templates that are described no more, kept because machines may be made "
                     "of them; delete the files when the rollout is over, then run again")
    if dropped:
        lines.append(f"{', '.join(dropped)}: described no more and left out of {INDEX}, so that whoever prunes what it "
                     "does not name deletes the objects; delete the files")
    return lines
