# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Running the modules cluster, cluster_info and cluster_template."""
from __future__ import annotations

import traceback
from typing import Any

from ansible.module_utils.basic import missing_required_lib

from .._common import whole_file
from .._common.errors import RefusedError
from .._common.judged_module import JudgedModule
from .._common.progress import Progress
from .._common.quiet_module import QuietModule
from .._kube.connection import kube_argument_spec
from .._kube.errors import KubeError
from .._kube.module import KubeModule
from .._manifests.rollout_wait import RolloutError
from .._metal3.kinds import KNOWN
from .checks.validation import description_warnings
from .kubeconfig_file import KubeconfigFile
from .manifest_file import HAS_YAML, difference, text_of
from .needs import needs_options
from .render.objects import render
from .service import ClusterService, read_cluster, read_description
from .spec import description_options
from .wait import WaitFailedError
from .workflow.goals import GOALS


class DescribedModule(JudgedModule, QuietModule, KubeModule):
    """A module that takes a cluster's description."""

    def judge(self, given, msg, result):
        """Return all mistakes of the description, unless what is wrong is a parameter of the module itself."""
        known = all(name in self.argument_spec or name.startswith("_") for name in given)
        if known and isinstance(given.get("options") or {}, dict):
            try:
                read_description(_description(given))
            except RefusedError as exc:
                return str(exc), dict(result, problems=exc.results())
        return msg, result


def cluster_argument_spec():
    """Return the argument spec of ``cluster``."""
    return dict(
        kube_argument_spec(), state={"type": "str", "choices": ["present", "absent"], "default": "present"},
        check_hosts={"type": "bool", "default": True}, check_network={"type": "bool", "default": True},
        neighbours={"type": "list", "elements": "dict", "default": [], "options": needs_options()},
        image_ca_file={"type": "path"},
        wait_for={"type": "str", "choices": ["none"] + list(GOALS), "default": "available"},
        wait_timeout_seconds={"type": "int", "default": 3600},
        node_startup_timeout_seconds={"type": "int", "default": 900},
        prune={"type": "bool", "default": True},
        manifests={"type": "list", "elements": "raw", "default": []},
        confirm={"type": "str"},
        adopt={"type": "str"},
        workload_kubeconfig={"type": "path"},
        show_tree={"type": "bool", "default": False},
        field_names={"type": "str", "choices": ["options", "variables"], "default": "options"},
        **_described())


def _described():
    return dict(description_options(), options={"type": "dict"})


def run_cluster():
    """Run the module ``cluster``."""
    module = DescribedModule(argument_spec=cluster_argument_spec(), supports_check_mode=True)
    _require_kubernetes(module)
    params = module.params
    service = None
    try:
        service = ClusterService(module.connect(), _description(params), params, module.check_mode, Progress())
        file = KubeconfigFile(params["workload_kubeconfig"], service) if params["workload_kubeconfig"] else None
        if params["state"] == "absent":
            if file:
                file.check()
            result = service.absent()
            if file:
                removed, warnings = file.remove(module.check_mode)
                result.update(changed=removed or result["changed"], warnings=result["warnings"] + warnings)
        else:
            read_description(service.params)
            if file:
                file.check()
            result = service.present()
            if file:
                result.update(file.write(module.check_mode, result["changed"]))
    except RefusedError as exc:
        _fail(module, service, msg=str(exc), problems=exc.results())
    except RolloutError as exc:
        _fail(module, service, msg=f"cluster {params['namespace']}/{params['name']}: its manifests are {exc}")
    except WaitFailedError as exc:
        _fail(module, service, msg=str(exc), machines=exc.steps)
    except KubeError as exc:
        _fail(module, service, msg=exc.message, exception=traceback.format_exc())
    if not module._diff:
        del result["diff"]
    for warning in result.pop("warnings", []):
        module.warn(warning)
    module.exit_json(**result)


def _fail(module, service, **result):
    """Fail with what the run has changed all the same, so that handlers and people learn of it."""
    done: dict[str, Any] = dict(service.done) if service else {"changed": False}
    if not module._diff:
        done.pop("diff", None)
    for warning in done.pop("warnings", []):
        module.warn(warning)
    module.fail_json(**dict(done, **result))


def run_cluster_info():
    """Run the module ``cluster_info``."""
    module = KubeModule(
        argument_spec=dict(kube_argument_spec(), namespace={"type": "str", "default": "metal3"},
                           names={"type": "list", "elements": "str"}),
        supports_check_mode=True)
    _require_kubernetes(module)
    namespace, names = module.params["namespace"], module.params["names"]
    try:
        client = module.connect()
        if names is None:
            names = sorted(item["metadata"]["name"] for item in client.list(KNOWN["Cluster"], namespace)[0])
        found = dict((name, read_cluster(client, namespace, name)) for name in names)
    except KubeError as exc:
        module.fail_json(msg=exc.message, exception=traceback.format_exc())
    if not any(found.values()):
        module.warn_without(namespace)
    module.exit_json(changed=False, clusters=[found[name] for name in names if found[name]],
                     missing=[name for name in names if not found[name]])


def run_cluster_template():
    """Run the module ``cluster_template``."""
    module = DescribedModule(argument_spec=dict(_described(), dest={"type": "path"}), supports_check_mode=True)
    if not HAS_YAML:
        module.fail_json(msg=missing_required_lib("PyYAML"))
    try:
        description = read_description(_description(module.params))
    except RefusedError as exc:
        module.fail_json(msg=str(exc), problems=exc.results())
    for warning in description_warnings(description):
        module.warn(warning)
    objects = render(description)
    manifest = text_of(objects)
    result = {"changed": False, "objects": objects, "manifest": manifest}
    path = module.params["dest"]
    if path:
        before = _write(module, path, manifest.encode(), 0o644)
        result.update(dest=path, changed=before is not None)
        if module._diff and before is not None:
            old, new = difference(before.decode("utf-8", "replace"), objects)
            result["diff"] = {"before_header": path, "after_header": path, "before": old, "after": new}
    module.exit_json(**result)


def _description(params):
    given = dict((key, params.get(key)) for key in description_options())
    given.update(params.get("options") or {})
    return given


def _write(module, path, content, mode):
    """Bring a file to a content and a mode, in one step; return what it held, None when all is as it is to be."""
    try:
        return whole_file.write(path, content, mode, module.check_mode)
    except OSError as exc:
        module.fail_json(msg=f"{path}: {exc.strerror or exc}")


def _require_kubernetes(module):
    module.require_kubernetes()
    if not HAS_YAML:
        module.fail_json(msg=missing_required_lib("PyYAML"))
