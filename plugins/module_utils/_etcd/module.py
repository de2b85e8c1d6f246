# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Running the modules etcd_snapshot and etcd_restore."""
from __future__ import annotations

from .._backup import age, files
from .._common.options.field_checks import is_name, show
from .._common.problems.errors import RefusedError
from .._common.problems.problem import Problem
from .._kube.connection.connection import kube_argument_spec
from .._kube.module import KubeModule
from .client_certificate import HAS_CRYPTOGRAPHY
from .restore_service import Restore
from .snapshot_service import Snapshots


def run_etcd_snapshot() -> None:
    """Run the module ``etcd_snapshot``."""
    module = KubeModule(dict(
        kube_argument_spec(),
        **files.argument_spec(),
        namespace={"type": "str", "default": "metal3"},
        clusters={"type": "list", "elements": "str", "required": True},
    ))
    module.require(pyrage=age.HAS_PYRAGE, cryptography=HAS_CRYPTOGRAPHY)
    params = module.params
    with module.reporting():
        problems = files.option_problems(params["recipients"], params["keep"])
        names = params["clusters"]
        wrong = [name for name in names if not is_name(name)]
        if wrong or not names or len(set(names)) != len(names):
            problems.append(Problem("etcd-clusters", "", "clusters", show(wrong or names) if names else "none",
                                    "names of clusters, each once",
                                    "name those that cluster_info lists, without their namespace"))
        if problems:
            raise RefusedError(problems)
        result = Snapshots(module.connect(), params, module.check_mode, module.progress).taken()
        errors = result.pop("errors")
        failure = "\n".join([f"{len(errors)} of {len(names)} clusters have no new snapshot:",
                             *(f"- {line}" for line in errors)]) if errors else ""
        module.finish(result, failure)


def run_etcd_restore() -> None:
    """Run the module ``etcd_restore``."""
    module = KubeModule({
        "kubeconfig": {"type": "path"},
        "context": {"type": "str"},
        "namespace": {"type": "str", "default": "metal3"},
        "cluster_name": {"type": "str", "required": True},
        "path": {"type": "path", "required": True},
        "sha256": {"type": "str"},
        "identity_file": {"type": "path", "required": True},
        "etcdutl": {"type": "path", "required": True},
        "confirm": {"type": "str"},
        "delete_machines": {"type": "int"},
        "take_over": {"type": "str"},
        "wait_timeout_seconds": {"type": "int", "default": 3600},
    })
    module.require(pyrage=age.HAS_PYRAGE, cryptography=HAS_CRYPTOGRAPHY)
    restore = None
    with module.reporting(lambda: dict(restore.done) if restore else {"changed": False}):
        if not is_name(module.params["cluster_name"]):
            raise RefusedError([Problem("etcd-clusters", "", "cluster_name", show(module.params["cluster_name"]),
                                        "the name of a cluster",
                                        "name one that cluster_info lists, without its namespace")])
        restore = Restore(module.connect(), module.params, module.check_mode, module.progress)
        module.finish(restore.run())
