# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Running the modules of the resource families, each of which names its kind only."""
from __future__ import annotations

from typing import Any

from .._common.options.fields import argument_spec
from .._common.problems.errors import RefusedError
from .._kube.connection.connection import kube_argument_spec
from .._kube.module import KubeModule
from .base import Family, Object, check_raw, entry_fields
from .registry import FAMILIES
from .service import FamilyService, read_facts


def family_argument_spec(family: Family) -> Object:
    """Return the argument spec of a family's module."""
    spec = dict(kube_argument_spec(), namespace={"type": "str", "default": "metal3"})
    spec[family.option] = {"type": "list", "elements": "dict", "required": True,
                           "options": argument_spec(entry_fields(family))}
    if family.removable:
        spec[family.option]["options"]["state"] = {
            "type": "str", "choices": ["present", "absent"], "default": "present"}
    if family.goals:
        spec["wait_for"] = {"type": "str", "choices": list(family.goals) + (["deleted"] if family.removable else [])}
        spec["wait_timeout_seconds"] = {"type": "int", "default": 1800}
    if family.has_table:
        spec["show_table"] = {"type": "bool", "default": False}
    return spec


def info_argument_spec(family: Family) -> Object:
    """Return the argument spec of a family's info module."""
    spec = dict(
        kube_argument_spec(),
        namespace={"type": "str", "default": "metal3"},
        all_namespaces={"type": "bool", "default": False},
        names={"type": "list", "elements": "str"},
        label_selector={"type": "str"},
        full_objects={"type": "bool", "default": False})
    if family.has_schema:
        spec["schemas"] = {"type": "bool", "default": False}
    return spec


def run_family(kind: str) -> None:
    """Run the module of a kind."""
    family = FAMILIES[kind]

    def check(given: dict[str, Any]) -> None:
        problems = check_raw(family, given.get(family.option))
        if problems:
            raise RefusedError(problems)

    module = KubeModule(family_argument_spec(family), check=check)
    with module.reporting():
        result = FamilyService(module.connect(), family, module.params, module.check_mode, module.progress).run()
    if not family.has_table:
        del result["table"]
    items = result[family.option]
    errors = [f"- {item['name']}: {item['error']}" for item in items if item["error"]]
    module.finish(result, "\n".join([f"{len(errors)} of {len(items)} {family.option} failed:"] + errors)
                  if errors else "")


def run_family_info(kind: str) -> None:
    """Run the info module of a kind."""
    family = FAMILIES[kind]
    module = KubeModule(info_argument_spec(family))
    with module.reporting():
        result = read_facts(module.connect(), family, module.params)
    if not result[family.option] and not module.params["all_namespaces"]:
        module.warn_without(module.params["namespace"])
    if not family.has_table:
        del result["table"]
    module.finish(dict(result, changed=False))
