# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Running the module plane_components."""
from __future__ import annotations

from .._common.files import user_folders
from .._kube.api import cluster_identity
from .._kube.connection.connection import kube_argument_spec
from .._kube.module import KubeModule
from . import ironic_module
from .cluster import certificates, service, sources
from .parts import catalogue, manifests
from .parts.catalogue import IRONIC

_PART = {
    "name": {"type": "str", "required": True, "choices": list(catalogue.NAMES)},
    "manifests": {"type": "str"},
    "checksum": {"type": "str"},
    "checksums": {"type": "dict"},
    "manifests_ca_file": {"type": "path"},
    "manifests_username_file": {"type": "path"},
    "manifests_password_file": {"type": "path", "no_log": False},
    "source_dir": {"type": "path"},
    "variables": {"type": "dict"},
    "version": {"type": "str"},
    "namespace": {"type": "str"},
    "replicas": {"type": "int"},
    "leader_election": {"type": "bool"},
    "resources": {"type": "dict"},
    "node_selector": {"type": "dict"},
    "tolerations": {"type": "list", "elements": "dict"},
    "affinity": {"type": "dict"},
    "priority_class": {"type": "str"},
    "feature_gates": {"type": "dict"},
    "arguments": {"type": "list", "elements": "str"},
    "environment": {"type": "dict"},
    "proxy": {"type": "dict", "options": {
        "http": {"type": "str"}, "https": {"type": "str"}, "no_proxy": {"type": "str"}}},
    "log_level": {"type": "int"},
    "image": {"type": "str"},
    "image_registry_mirror": {"type": "str"},
    "image_pull_policy": {"type": "str", "choices": ["Always", "IfNotPresent", "Never"]},
    "digest": {"type": "str"},
    "pull_secrets": {"type": "list", "elements": "str", "no_log": False},
    "secret_mounts": {"type": "list", "elements": "dict", "no_log": False, "options": {
        "secret": {"type": "str", "required": True, "no_log": False}, "path": {"type": "str", "required": True}}},
    "pod_security": {"type": "str", "choices": ["privileged", "baseline", "restricted"]},
    "monitor": {"type": "bool"},
    "monitor_labels": {"type": "dict"},
    "network_policy": {"type": "bool"},
    "network_policy_egress": {"type": "list", "elements": "dict"},
}


def run_plane_components() -> None:
    """Run the module ``plane_components``."""
    module = KubeModule(dict(
        {**kube_argument_spec(), **cluster_identity.argument_spec()},
        state={"type": "str", "choices": ["present", "absent"], "default": "present"},
        parts={"type": "list", "elements": "dict", "required": True, "options": _PART,
               "required_together": [("manifests_username_file", "manifests_password_file")]},
        certificates={"type": "str", "choices": ["cert_manager", "collection"], "default": "cert_manager"},
        source_dir={"type": "path"},
        cache_dir={"type": "path"},
        objects={"type": "list", "elements": "dict", "default": []},
        definitions={"type": "str", "choices": ["keep", "remove"], "default": "keep"},
        adopt={"type": "list", "elements": "str", "choices": list(catalogue.ADOPTABLE), "default": []},
        with_ironic={"type": "bool", "default": False},
        ironic_namespace={"type": "str"},
        planned_ironic={"type": "dict", "options": {
            "namespace": {"type": "str", "default": IRONIC.namespace},
            "image_version": {"type": "str", "required": True},
            "mariadb": {"type": "bool", "default": False},
            "mariadb_claim": {"type": "str"},
            "database": {"type": "dict"}}},
        confirm={"type": "str"},
        confirm_among={"type": "list", "elements": "str", "default": []},
        show_table={"type": "bool", "default": False},
        wait={"type": "bool", "default": True},
        wait_timeout_seconds={"type": "int", "default": 300},
    ))
    module.require(PyYAML=manifests.HAS_YAML, cryptography=certificates.HAS_CRYPTOGRAPHY)
    params = module.params
    with module.reporting():
        shipped = sources.read(params["parts"], sources.pinned_by(
            params["source_dir"], params["cache_dir"] or user_folders.cache_dir()))
        if params["with_ironic"] and params["state"] == "absent":
            # Nearly always in the operator's namespace, whose Secrets alone the operator can mount.
            namespace = params["ironic_namespace"] or next(
                (item["namespace"] for item in params["parts"] if item["name"] == "bmo"), None)
            params["parts"] = [*params["parts"], {"name": IRONIC.name, "namespace": namespace}]
            shipped[IRONIC.name] = (ironic_module.rendered(params), "")
        client = module.connect(names_cluster=True)
        if module.check_mode and not module.cluster_uid:
            module.warn(f"Namespace kube-system: may not be read at {client.server}, expected its uid, by which what "
                        "is installed after this plan knows that it is for the same cluster; allow get")
        components = service.Components(client, params, shipped, module.check_mode, module.progress)
        module.finish(components.present() if params["state"] == "present" else components.absent())
