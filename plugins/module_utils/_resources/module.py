# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Running the modules of the resource families, each of which names its kind only."""
from __future__ import annotations

import traceback

from .._common import url_credentials
from .._common.errors import RefusedError
from .._common.judged_module import JudgedModule
from .._common.progress import Progress
from .._host import fields as host_fields
from .._kube.connection import kube_argument_spec
from .._kube.errors import KubeError
from .._kube.module import KubeModule
from .base import check_raw, entry_fields
from .registry import FAMILIES
from .service import FamilyService, read_facts


class FamilyModule(JudgedModule, KubeModule):
    """A module whose list is checked as a whole, and whose parameters are shown without passwords in URLs.

    :param family: a Family
    """

    def __init__(self, family, **arguments):
        self._family = family
        # Without a line in the system's log, which would hold the whole list.
        super().__init__(no_log=True, **arguments)

    def exit_json(self, **result):
        """Return the result."""
        super().exit_json(**self._with_parameters(result))

    def fail_json(self, msg, **result):
        """Fail with ``msg``, or while arguments are checked with all mistakes in the list."""
        super().fail_json(msg, **self._with_parameters(result))

    def _with_parameters(self, result):
        return dict({"invocation": {"module_args": url_credentials.without(self.params)}}, **result)

    def judge(self, given, msg, result):
        """Return all mistakes in the list."""
        problems = check_raw(self._family, given.get(self._family.option))
        if not problems:
            return msg, result
        refused = RefusedError(problems)
        return str(refused), dict(result, problems=refused.results())


def family_argument_spec(family):
    """Return the argument spec of a family's module."""
    spec = dict(kube_argument_spec(), namespace={"type": "str", "default": "metal3"})
    spec[family.option] = {"type": "list", "elements": "dict", "required": True,
                           "options": host_fields.argument_spec(entry_fields(family))}
    if family.removable:
        spec[family.option]["options"]["state"] = {
            "type": "str", "choices": ["present", "absent"], "default": "present"}
    if family.goals:
        spec["wait_for"] = {"type": "str", "choices": list(family.goals) + (["deleted"] if family.removable else [])}
        spec["wait_timeout_seconds"] = {"type": "int", "default": 1800}
    if family.has_table:
        spec["show_table"] = {"type": "bool", "default": False}
    return spec


def info_argument_spec(family):
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


def run_family(kind):
    """Run the module of a kind."""
    family = FAMILIES[kind]
    module = FamilyModule(family, argument_spec=family_argument_spec(family), supports_check_mode=True)
    result = _call(module, lambda client: FamilyService(
        client, family, module.params, module.check_mode, Progress()).run())
    if not module._diff:
        del result["diff"]
    if not family.has_table:
        del result["table"]
    items = result[family.option]
    errors = [f"- {item['name']}: {item['error']}" for item in items if item["error"]]
    if errors:
        module.fail_json(msg="%d of %d %s failed:\n%s" % (len(errors), len(items), family.option, "\n".join(errors)),
                         **result)
    module.exit_json(**result)


def run_family_info(kind):
    """Run the info module of a kind."""
    family = FAMILIES[kind]
    module = KubeModule(argument_spec=info_argument_spec(family), supports_check_mode=True)
    result = _call(module, lambda client: read_facts(client, family, module.params))
    if not result[family.option] and not module.params["all_namespaces"]:
        module.warn_without(module.params["namespace"])
    if not family.has_table:
        del result["table"]
    module.exit_json(changed=False, **result)


def _call(module, work):
    try:
        return work(module.connect())
    except RefusedError as exc:
        module.fail_json(msg=str(exc), problems=exc.results())
    except KubeError as exc:
        module.fail_json(msg=exc.message, exception=traceback.format_exc())
