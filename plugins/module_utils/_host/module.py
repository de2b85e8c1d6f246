# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Running the modules baremetal_host and baremetal_host_info."""
from __future__ import annotations

import contextlib
import traceback

from .._common import url_credentials
from .._common.errors import RefusedError
from .._common.judged_module import JudgedModule
from .._common.occurring_texts import occurring
from .._common.progress import Progress
from .._kube.connection import kube_argument_spec
from .._kube.errors import KubeError
from .._kube.module import KubeModule
from . import fields as host_fields
from . import goals as host_goals
from . import validation as host_validation
from .reading import read_hosts
from .service import HostService, failure, names_for, shortened

try:
    # Comes with the package kubernetes.
    import yaml
except ImportError:
    yaml = None  # type: ignore[assignment]


class HostListModule(JudgedModule, KubeModule):
    """A module whose option ``hosts`` is checked as a whole."""

    no_log_values: set[str]

    def exit_json(self, **result):
        """Return the result."""
        super().exit_json(**self._prepared(result))

    def fail_json(self, msg, **result):
        """Fail with ``msg``, or while arguments are checked with all problems of the list of hosts."""
        msg, result = self.judged(msg, result)
        super().fail_json(msg, **self._prepared(dict(result, msg=msg), "msg"))

    def judge(self, given, msg, result):
        """Return all problems of the list of hosts."""
        problems = host_validation.check_raw(given.get("hosts"), given.get("wait_for"))
        if not problems:
            return msg, result
        refused = RefusedError(problems, names_for(given))
        return str(refused), dict(result, problems=refused.results())

    def _prepared(self, result, *without):
        """Return the result with the parameters as they may be shown.

        Ansible looks for each secret in each value of a result, which takes seconds for a thousand hosts with a
        password each. So the parameters are added without secrets, and only the secrets that do occur in the result
        are left for Ansible to look for.
        """
        shown = url_credentials.without(self.params)
        if isinstance(shown.get("hosts"), list):
            shown["hosts"] = [host_fields.without_secrets(host) for host in shown["hosts"]]
        result = dict({"invocation": {"module_args": shown}}, **result)
        there = occurring(map(str, self.no_log_values), "\n".join(set(_leaves(result))))
        self.no_log_values = set(value for value in self.no_log_values if str(value) in there)
        return dict((key, value) for key, value in result.items() if key not in without)


def _leaves(value):
    """Yield all values in a structure as texts."""
    if isinstance(value, dict):
        for item in value.values():
            yield from _leaves(item)
    elif isinstance(value, (list, tuple, set)):
        for item in value:
            yield from _leaves(item)
    else:
        yield str(value)


def host_argument_spec():
    """Return the argument spec of ``baremetal_host``."""
    options = host_fields.argument_spec()
    options["state"]["default"] = "present"
    return dict(
        kube_argument_spec(),
        namespace={"type": "str", "default": "metal3"},
        create_namespace={"type": "bool", "default": False},
        hosts={"type": "list", "elements": "dict", "required": True, "options": options},
        deploy={"type": "bool", "default": True},
        force_hosts={"type": "list", "elements": "str", "default": []},
        allow_detach={"type": "bool", "default": False},
        allow_deprovision={"type": "bool", "default": False},
        allow_power_off={"type": "bool", "default": False},
        check_images={"type": "bool", "default": False},
        image_ca_file={"type": "path"},
        field_names={"type": "str", "choices": ["options", "variables"], "default": "options"},
        wait_for={"type": "str", "choices": list(host_goals.GOALS)},
        wait_timeout_seconds={"type": "int", "default": 1800},
        error_limit={"type": "int", "default": 3},
        show_table={"type": "bool", "default": False},
    )


def run_baremetal_host():
    """Run the module ``baremetal_host``."""
    # Without a line in the system's log, which would hold the whole list.
    module = HostListModule(argument_spec=host_argument_spec(), supports_check_mode=True, no_log=True)
    params = module.params
    with report_errors(module):
        result = HostService(module.connect(), params, module.check_mode, Progress()).run()
    show_diff(module, result)
    for warning in result.pop("warnings"):
        module.warn(warning)
    text = failure(result["hosts"], params["wait_for"])
    if text:
        result["hosts"] = [shortened(facts) for facts in result["hosts"]]
        module.fail_json(msg=text, **result)
    module.exit_json(**result)


def run_baremetal_host_info():
    """Run the module ``baremetal_host_info``."""
    module = KubeModule(
        argument_spec=dict(
            kube_argument_spec(),
            namespace={"type": "str", "default": "metal3"},
            all_namespaces={"type": "bool", "default": False},
            names={"type": "list", "elements": "str"},
            label_selector={"type": "str"},
            full_objects={"type": "bool", "default": False},
            hardware_data={"type": "bool", "default": False},
        ),
        supports_check_mode=True)
    params = module.params
    with report_errors(module):
        result = read_hosts(
            module.connect(), None if params["all_namespaces"] else params["namespace"], params["names"],
            params["label_selector"], params["full_objects"], params["hardware_data"])
    if not result["hosts"] and not params["all_namespaces"]:
        module.warn_without(params["namespace"])
    module.exit_json(changed=False, **result)


@contextlib.contextmanager
def report_errors(module):
    """End the module when its list was refused or the API server can't be asked, and say what to do."""
    try:
        yield
    except RefusedError as exc:
        module.fail_json(msg=str(exc), problems=exc.results())
    except KubeError as exc:
        module.fail_json(msg=_with_next_step(exc), exception=traceback.format_exc())


def _with_next_step(error):
    if error.reason == "Unreachable" and not error.next_step:
        return error.message + "; start it, or correct kubeconfig, then run again: nothing is lost"
    return error.message


def show_diff(module, result):
    """Keep a result's ``diff`` as YAML text when diff mode asks for it; take it away otherwise."""
    if module._diff:
        result["diff"] = [_as_text(item) for item in result["diff"]]
    else:
        del result["diff"]


def _as_text(diff):
    """Return a diff with both sides as YAML, which is read more easily than Ansible's JSON."""
    sides = dict((side, yaml.safe_dump(diff[side], default_flow_style=False) if diff[side] else "")
                 for side in ("before", "after"))
    return dict(diff, **sides)
