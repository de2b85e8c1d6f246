# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A MariaDB that a site runs for Ironic beside it: the lab's image in a pod on a node of a cluster."""
from __future__ import annotations

from pathlib import Path

import plane_site
from support import eventually

from ansible_collections.metal3.baremetal.plugins.module_utils._metal3.kinds import KNOWN
from ansible_collections.metal3.baremetal.plugins.module_utils._plane.cluster import ironic_database

NAMESPACE, NAME = "databases", "mariadb"
# In Ironic's namespace, as the site has to put them there.
LOGIN, AUTHORITY = "site-database", "site-database-authority"
_USER, _PASSWORD = "ironic", "of-a-lab-only"
# Nobody in the lab resolves addresses.
_SETTINGS = "[mysqld]\nskip_name_resolve\n"


def install(lab, target, node, folder, ironics_namespace):
    """Run it with a certificate by the lab's authority, wait until it is ready, and return the role's option.

    :param target: a client of the cluster
    :param node: the Node that it runs on
    :param folder: for the certificate
    :param ironics_namespace: where Ironic will be
    """
    address = plane_site.address_of(node)
    certificate, key = (Path(path).read_text() for path in plane_site.issue(lab, folder, address))
    for namespace in (NAMESPACE, ironics_namespace):
        _apply(target, "Namespace", None, namespace)
    _apply(target, "Secret", NAMESPACE, NAME, stringData={"tls.crt": certificate, "tls.key": key})
    _apply(target, "ConfigMap", NAMESPACE, NAME, data={"site.cnf": _SETTINGS})
    _apply(target, "Pod", NAMESPACE, NAME, spec=_pod(node["metadata"]["name"]))
    _apply(target, "Secret", ironics_namespace, LOGIN, stringData={"username": _USER, "password": _PASSWORD})
    _apply(target, "Secret", ironics_namespace, AUTHORITY, stringData={
        "tls.crt": (lab.dir / "pki" / "ca.crt").read_text()})
    eventually(lambda: _ready(target), 300, "MariaDB is ready")
    return {"host": address, "name": "ironic", "credentials_name": LOGIN, "tls_certificate_name": AUTHORITY}


def _apply(target, kind, namespace, name, **content):
    metadata = dict({"name": name}, **({"namespace": namespace} if namespace else {}))
    target.apply(KNOWN[kind], namespace, dict({"apiVersion": "v1", "kind": kind, "metadata": metadata}, **content))


def _pod(node):
    variables = {"MARIADB_USER": _USER, "MARIADB_PASSWORD": _PASSWORD, "MARIADB_HOST": "%",
                 "MARIADB_MAX_CONNECTIONS": "256"}
    login = ["mysqladmin", "status", f"-u{_USER}", f"-p{_PASSWORD}"]
    return {
        "nodeName": node, "hostNetwork": True, "securityContext": {"fsGroup": 27}, "containers": [{
            "name": NAME, "image": f"{ironic_database.IMAGE}:latest",
            "env": [{"name": name, "value": value} for name, value in variables.items()],
            "readinessProbe": {"exec": {"command": login}, "periodSeconds": 3, "failureThreshold": 100},
            "volumeMounts": [{"name": "certificate", "mountPath": "/certs/mariadb", "readOnly": True},
                             {"name": "settings", "mountPath": "/etc/my.cnf.d/site.cnf", "subPath": "site.cnf"}]}],
        "volumes": [{"name": "certificate", "secret": {"secretName": NAME}},
                    {"name": "settings", "configMap": {"name": NAME}}]}


def _ready(target):
    conditions = (target.get(KNOWN["Pod"], NAMESPACE, NAME).get("status") or {}).get("conditions") or []
    return any(entry["type"] == "Ready" and entry["status"] == "True" for entry in conditions)
