# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Running the modules plane_ironic and plane_ironic_operator."""
from __future__ import annotations

import os
from typing import Any

from .._common.addresses.virtual_router import others_options
from .._common.files import user_folders
from .._common.options.fields import argument_spec
from .._common.options.lending import taken_options
from .._common.problems.errors import ReportedError
from .._kube.api import cluster_identity
from .._kube.connection.connection import kube_argument_spec
from .._kube.module import KubeModule
from .cluster import given_certificate, ironic, ironic_pod, ironic_service, operated, operated_service
from .parts import manifests
from .parts.catalogue import ADOPTABLE, IRONIC
from .process import engine


def rendered(params: dict[str, Any], authentication: str = "http_basic",
             tls: str = "cert_manager", keepalived: bool = True, mariadb: bool = True) -> list[dict[str, Any]]:
    """Return the rendered objects of a variant, by default of the one that has all of them.

    :param params: the module's parameters, of which ``source_dir`` and ``cache_dir`` are used
    :param authentication: ``http_basic`` or ``none``
    :param tls: ``cert_manager``, ``files`` or ``none``
    :param keepalived: whether with the container that holds the address
    :param mariadb: whether with the container of a database
    :raises ReportedError: when they were not rendered
    """
    directory = engine.Engine(params["source_dir"], params["cache_dir"] or user_folders.cache_dir()).ironic_dir
    path = os.path.join(directory, ironic.variant(authentication, tls, keepalived, mariadb) + ".yaml")
    try:
        return list(manifests.load(path))
    except OSError as exc:
        raise ReportedError(f"{path}: {exc.strerror}, expected rendered manifests; run the module plane_programs "
                            "first") from exc


def ironic_argument_spec() -> dict[str, dict[str, Any]]:
    """Return the argument spec of ``plane_ironic``."""
    return dict(
        {**kube_argument_spec(), **cluster_identity.argument_spec()},
        **ironic_pod.IMAGE_OPTIONS,
        state={"type": "str", "choices": ["present", "absent"], "default": "present"},
        source_dir={"type": "path", "required": True},
        cache_dir={"type": "path"},
        namespace={"type": "str", "default": IRONIC.namespace},
        authentication={"type": "str", "choices": ["http_basic", "none"], "default": "http_basic"},
        credentials_dir={"type": "path"},
        rotation={"type": "str", "choices": ["none", "begin", "end"], "default": "none"},
        tls={"type": "str", "choices": ["cert_manager", "files", "none"], "default": "cert_manager"},
        tls_certificate={"type": "str"},
        tls_key={"type": "str", "no_log": True},
        tls_authority={"type": "str"},
        tls_issuer={"type": "dict", "options": {
            "name": {"type": "str", "required": True},
            "kind": {"type": "str", "default": "Issuer"},
            "group": {"type": "str", "default": "cert-manager.io"}}},
        tls_names={"type": "list", "elements": "str", "default": []},
        renew_certificate={"type": "bool", "default": False},
        with_cert_manager={"type": "bool", "default": False},
        provisioning_ip={"type": "str"},
        provisioning_interface={"type": "str"},
        virtual_routers={"type": "list", "elements": "dict", "default": [], "options": others_options()},
        standby={"type": "bool", "default": False},
        mariadb_claim={"type": "str"},
        database={"type": "dict", "options": {
            "host": {"type": "str", "required": True},
            "name": {"type": "str", "default": "ironic"},
            "credentials_name": {"type": "str", "required": True},
            "tls_certificate_name": {"type": "str", "required": True}}},
        replicas={"type": "int", "default": 1},
        replica_addresses={"type": "list", "elements": "str", "default": []},
        mariadb_certificate={"type": "str"},
        mariadb_key={"type": "str", "no_log": True},
        dhcp_range={"type": "str"},
        taken={"type": "list", "elements": "dict", "default": [], "options": taken_options()},
        gateway_ip={"type": "str"},
        dns_ip={"type": "str"},
        http_port={"type": "int", "default": ironic.HTTP_PORT},
        deploy_kernel_url={"type": "str"},
        deploy_ramdisk_url={"type": "str"},
        deploy_iso_url={"type": "str"},
        kernel_params={"type": "str"},
        fast_track={"type": "bool", "default": True},
        vlan_interfaces={"type": "str"},
        boot_iso_source={"type": "str", "choices": ["http", "local"]},
        image_authority_file={"type": "path"},
        bmc_authority={"type": "str"},
        image_authority={"type": "str"},
        environment={"type": "dict"},
        image_registry_mirror={"type": "str"},
        image_pull_policy={"type": "str", "choices": ["Always", "IfNotPresent", "Never"]},
        pull_secrets={"type": "list", "elements": "str", "no_log": False},
        resources={"type": "dict"},
        affinity={"type": "dict"},
        proxy={"type": "dict", "options": {
            "http": {"type": "str"}, "https": {"type": "str"}, "no_proxy": {"type": "str"}}},
        node_selector={"type": "dict"},
        tolerations={"type": "list", "elements": "dict"},
        priority_class={"type": "str"},
        adopt={"type": "list", "elements": "str", "choices": list(ADOPTABLE), "default": []},
        confirm={"type": "str"},
        confirm_upgrade={"type": "str"},
        confirm_among={"type": "list", "elements": "str", "default": []},
        wait={"type": "bool", "default": True},
        wait_timeout_seconds={"type": "int", "default": 300},
    )


def run_plane_ironic() -> None:
    """Run the module ``plane_ironic``."""
    module = KubeModule(ironic_argument_spec())
    module.require(PyYAML=manifests.HAS_YAML, bcrypt=ironic_service.HAS_BCRYPT,
                   cryptography=given_certificate.HAS_CRYPTOGRAPHY)
    params = module.params
    with module.reporting():
        present = params["state"] == "present"
        # Upstream has none without TLS, which is refused with the rest of what does not fit.
        mariadb = params["mariadb"] and params["tls"] != "none"
        shipped = rendered(params, params["authentication"], params["tls"], params["keepalived"], mariadb) \
            if present else rendered(params)
        client = module.connect(names_cluster=True)
        run = ironic_service.IronicComponents(client, params, shipped, module.check_mode, module.progress)
        module.finish(run.present() if present else run.absent())


def run_plane_ironic_operator() -> None:
    """Run the module ``plane_ironic_operator``."""
    module = KubeModule(dict(
        {**kube_argument_spec(), **cluster_identity.argument_spec()},
        **argument_spec(operated.FIELDS),
        state={"type": "str", "choices": ["present", "absent"], "default": "present"},
        name={"type": "str", "default": "ironic"},
        namespace={"type": "str", "default": IRONIC.namespace},
        taken={"type": "list", "elements": "dict", "default": [], "options": taken_options()},
        confirm={"type": "str"},
        confirm_among={"type": "list", "elements": "str", "default": []},
        wait={"type": "bool", "default": True},
        wait_timeout_seconds={"type": "int", "default": 900},
    ))
    module.require(PyYAML=manifests.HAS_YAML)
    with module.reporting():
        run = operated_service.OperatedIronic(module.connect(), module.params, module.check_mode, module.progress)
        module.finish(run.present() if module.params["state"] == "present" else run.absent())
