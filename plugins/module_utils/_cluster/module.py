# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Running the modules cluster, cluster_info, cluster_kubeconfig and cluster_template."""
from __future__ import annotations

from typing import Any

from .._boot.watch import BootWatch, boot_argument_spec
from .._common.addresses.dhcp_lent import lent_options
from .._common.addresses.virtual_router import others_options
from .._common.documents.document_text import HAS_YAML
from .._common.files import whole_file
from .._common.problems.errors import os_errors_reported
from .._kube.api.workload_client import workload_kubeconfig
from .._kube.connection.connection import kube_argument_spec
from .._kube.connection.library import HAS_KUBERNETES
from .._kube.module import KubeModule
from .._manifests.yaml_text import text_of
from .._metal3.ironic_place import POD_OPTIONS
from .._metal3.kinds import KNOWN
from .checks.validation import description_warnings
from .description.inventory import field_names
from .description.needs import needs_options
from .description.spec import description_options
from .kubeconfig_file import KubeconfigFile
from .lifecycle.run import read_description
from .manifests import manifest_folder, resource_set
from .manifests.manifest_file import difference
from .manifests.templated import templated
from .rollout.under_way import DESCRIBED, RESUME, ROLLBACK
from .service import ClusterService
from .workflow.goals import GOALS
from .workflow.info_service import read_cluster

# What is for the new cluster itself, and who brings it.
_BROUGHT = {"manifests": {"type": "list", "elements": "raw", "default": []},
            "resource_set": {"type": "str", "choices": list(resource_set.CHOICES), "default": resource_set.NONE}}
_FIELD_NAMES = {"type": "str", "choices": ["options", "variables"], "default": "options"}


def _names(params):
    """Return ``{option: name}`` by which the reader knows an option, None for the options' own."""
    return field_names(params.get("options")) if params.get("field_names") == "variables" else None


def _module(spec, **arguments):
    """Return a module that takes a cluster's description."""
    def check(given):
        # Unless what is wrong is an option of the module itself.
        known = all(name in spec or name.startswith("_") for name in given)
        if known and isinstance(given.get("options") or {}, dict):
            read_description(_description(given), _names(given))

    return KubeModule(spec, check=check, **arguments)


def cluster_argument_spec() -> dict[str, dict[str, Any]]:
    """Return the argument spec of ``cluster``."""
    return dict(
        kube_argument_spec(), state={"type": "str", "choices": ["present", "absent"], "default": "present"},
        check_hosts={"type": "bool", "default": True}, check_network={"type": "bool", "default": True},
        neighbours={"type": "list", "elements": "dict", "default": [], "options": needs_options()},
        virtual_routers={"type": "list", "elements": "dict", "default": [], "options": others_options()},
        dhcp={"type": "dict", "options": lent_options()},
        image_ca_file={"type": "path"},
        ironic_pod={"type": "dict", "options": POD_OPTIONS},
        wait_for={"type": "str", "choices": ["none"] + list(GOALS), "default": "available"},
        wait_timeout_seconds={"type": "int", "default": 3600},
        node_startup_timeout_seconds={"type": "int", "default": 900},
        prune={"type": "bool", "default": True},
        plan_only={"type": "bool", "default": False}, verify={"type": "bool", "default": False},
        confirm={"type": "str"},
        confirm_by_name={"type": "bool", "default": False},
        adopt={"type": "str"},
        rollout={"type": "str", "choices": [DESCRIBED, RESUME, ROLLBACK], "default": DESCRIBED},
        workload_kubeconfig={"type": "path"},
        show_tree={"type": "bool", "default": False},
        field_names=_FIELD_NAMES,
        **_BROUGHT, **boot_argument_spec(), **_described())


def _described():
    return dict(description_options(), options={"type": "dict"})


def run_cluster() -> None:
    """Run the module ``cluster``."""
    module = _module(cluster_argument_spec())
    _require_libraries(module)
    params = module.params
    service = None
    # In check mode a confirmation is not asked for.
    params["plan_only"] = params["plan_only"] and params["state"] == "present" and not module.check_mode
    dry = module.check_mode or params["plan_only"]
    waits = params["state"] == "present" and params["wait_for"] != "none" and not dry
    # What the run has changed before it failed, so that handlers run and the user learns of it.
    with module.reporting(lambda: dict(service.done) if service else {"changed": False}), \
            BootWatch(params, waits) as watch:
        service = ClusterService(module.connect(), _description(params), params, dry, module.progress,
                                 phase=watch.text)
        file = KubeconfigFile(params["workload_kubeconfig"], service) if params["workload_kubeconfig"] else None
        result = _absent(service, file, dry) if params["state"] == "absent" else _present(service, file, dry)
    if params["plan_only"]:
        # Nothing was written, and nothing is to be shown as if it had been.
        result.update(changed=False, diff=[])
    result["warnings"] = [*result["warnings"], *watch.warnings]
    module.finish(result)


def _absent(service, file, check_mode):
    if not file:
        return service.absent()
    file.check()
    result = service.absent()
    removed, warnings = file.remove(check_mode)
    return dict(result, changed=removed or result["changed"], warnings=result["warnings"] + warnings)


def _present(service, file, check_mode):
    # What is wrong with the description is reported first.
    service.read()
    if not file:
        return service.present()
    file.check()
    result = service.present()
    return dict(result, **file.write(check_mode, result["changed"]))


def run_cluster_info() -> None:
    """Run the module ``cluster_info``."""
    module = KubeModule(dict(
        kube_argument_spec(), namespace={"type": "str", "default": "metal3"},
        names={"type": "list", "elements": "str"}, return_kubeconfig={"type": "bool", "default": False}))
    _require_libraries(module)
    namespace, names = module.params["namespace"], module.params["names"]
    with module.reporting():
        client = module.connect()
        if names is None:
            names = sorted(item["metadata"]["name"] for item in client.list(KNOWN["Cluster"], namespace)[0])
        found = dict((name, read_cluster(client, namespace, name)) for name in names)
        if module.params["return_kubeconfig"]:
            for name in names:
                if found[name]:
                    found[name]["kubeconfig"] = workload_kubeconfig(client, namespace, name)
    if not any(found.values()):
        module.warn_without(namespace)
    module.finish({"changed": False, "clusters": [found[name] for name in names if found[name]],
                   "missing": [name for name in names if not found[name]]})


def run_cluster_kubeconfig() -> None:
    """Run the module ``cluster_kubeconfig``."""
    module = KubeModule(dict(
        kube_argument_spec(), namespace={"type": "str", "default": "metal3"}, name={"type": "str", "required": True},
        path={"type": "path", "required": True}))
    _require_libraries(module)
    params, warnings = module.params, []
    with module.reporting():
        service = ClusterService(module.connect(), {"namespace": params["namespace"], "name": params["name"]}, {},
                                 module.check_mode, module.progress)
        file = KubeconfigFile(params["path"], service, "path")
        file.check()
        written = file.write(module.check_mode, changed=False)
    if not written:
        warnings.append(f"{service.subject}: it has no kubeconfig yet, so {params['path']} is not written; run again "
                        "when its control plane is initialized, or correct namespace and name")
    module.finish({"changed": written.get("changed", False), "path": params["path"], "warnings": warnings})


def run_cluster_template() -> None:
    """Run the module ``cluster_template``."""
    module = _module(dict(_described(), **_BROUGHT, dest={"type": "path"},
                          layout={"type": "str", "choices": ["file", "kustomize"], "default": "file"},
                          field_names=_FIELD_NAMES),
                     required_if=[("layout", "kustomize", ["dest"])],
                     open_results=("objects", "manifest", "network_addon_manifest"))
    module.require(PyYAML=HAS_YAML)
    params, names = module.params, _names(module.params)
    with module.reporting():
        checked = read_description(_description(params), names)
        given = templated(checked, params["manifests"], params["resource_set"], names)
    manifest = text_of(given.objects)
    result: dict[str, Any] = {"changed": False, "objects": given.objects, "manifest": manifest,
                              "network_addon_manifest": text_of(given.addon),
                              "warnings": description_warnings(checked.description) + given.warnings}
    path = module.params["dest"]
    if path and module.params["layout"] == "kustomize":
        with module.reporting(), os_errors_reported(path):
            written = manifest_folder.write(
                path, given.objects, result["network_addon_manifest"], module.check_mode)
        # Without the objects, and so without what is secret in them.
        result = dict(written, warnings=result["warnings"] + written["warnings"], dest=path)
    elif path:
        before = _write(module, path, manifest.encode(), manifest_folder.mode_of(path))
        result.update(dest=path, changed=before is not None)
        if before is not None:
            old, new = difference(before.decode("utf-8", "replace"), given.objects)
            result["diff"] = {"before_header": path, "after_header": path, "before": old, "after": new}
    module.finish(result)


def _description(params):
    given = dict((key, params.get(key)) for key in description_options())
    given.update(params.get("options") or {})
    return given


def _write(module, path, content, mode):
    """Bring a file to a content and a mode, in one step; return what it held, None when all is as it is to be."""
    try:
        return whole_file.write(path, content, mode, module.check_mode)
    except OSError as exc:
        module.fail_json(msg=f"{path}: {exc.strerror or exc}, expected a file that can be written; correct the path")


def _require_libraries(module):
    module.require(kubernetes=HAS_KUBERNETES, PyYAML=HAS_YAML)
