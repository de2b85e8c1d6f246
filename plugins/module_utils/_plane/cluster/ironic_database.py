# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ironic's MariaDB: one in its pod by upstream's component ``mariadb``, or one outside of it; pure.

Upstream's container keeps the data in itself, so that each start of it begins with an empty database. On a volume it
needs more: upstream's image writes configuration (TLS) and user (password) at its first start alone, see ``runmariadb``
in https://github.com/metal3-io/mariadb-image.
"""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..._common.options import confirmation
from ..._common.options.field_checks import show
from ..._common.problems.problem import Problem
from ..parts.catalogue import MARIADB_PASSWORD

Object = dict[str, Any]

IMAGE = "quay.io/metal3-io/mariadb"
# Names that upstream's manifests give; the settings' is this collection's.
CONTAINER, CERTIFICATE, SETTINGS = "mariadb", "mariadb-cert", "mariadb-settings"
# Ironic reaches it from the same pod; upstream's image knows its user at localhost alone.
ADDRESS, ADDRESS_PLACEHOLDER = "127.0.0.1", "MARIADB_HOST_IP"
# Of a database outside of the pod, as ironic-image has it.
HOST_VARIABLE = "MARIADB_HOST"
LOGIN_KEYS, AUTHORITY_KEYS = ("username", "password"), ("tls.crt",)
_OUTSIDE_VOLUME, _OUTSIDE_FOLDER = "mariadb-outside", "/auth/mariadb"
_AUTHORITY_VOLUME, _AUTHORITY_FOLDER = "cert-mariadb-ca", "/certs/ca/mariadb"
# The manifests refer to it, so that no container starts without it.
RESTART_VARIABLE = "RESTART_CONTAINER_CERTIFICATE_UPDATED"

_DATA, _DATA_VOLUME = "/var/lib/mysql", "mariadb-data"
_SETTINGS_FILE, _SETTINGS_FOLDER, _SETTINGS_VOLUME = "zz-metal3-baremetal.cnf", "/etc/my.cnf.d", "mariadb-settings"
_LOGIN_FILE, _LOGIN_FOLDER, _LOGIN_VOLUME = "login.sql", "/auth/metal3-baremetal", "mariadb-login"
# The pod is in the node's network. At a first start the image's own init file goes before this one.
_CONTENT = f"""\
[mysqld]
bind_address = {ADDRESS}
ssl_cert = /certs/mariadb/tls.crt
ssl_key = /certs/mariadb/tls.key
init_file = {_LOGIN_FOLDER}/{_LOGIN_FILE}
"""
_LOGIN = "ALTER USER IF EXISTS 'ironic'@'localhost' IDENTIFIED BY '%s';\n"


def problems(options: Object) -> list[Problem]:
    """Return what does not fit in the options.

    :param options: the parameters of the module ``plane_ironic``
    """
    if options.get("database"):
        return [Problem("ironic-database", "ironic", name, show(options[name]), "none with database",
                        "leave it out, or database") for name in ("mariadb", "mariadb_claim") if options.get(name)]
    if not options["mariadb"]:
        return [Problem("ironic-database", "ironic", "mariadb_claim", show(options["mariadb_claim"]),
                        "none without a database of its own", "set mariadb=true, or leave it out")] \
            if options.get("mariadb_claim") else []
    if options["tls"] == "none":
        return [Problem("ironic-database", "ironic", "mariadb", "true", "TLS, without which upstream has no MariaDB",
                        "set tls to cert_manager or files, or mariadb=false")]
    if options["tls"] == "cert_manager":
        return []
    advice = "set it, because tls=files and mariadb=true"
    return [Problem("ironic-tls-file", "ironic", name, None, "text in PEM", advice)
            for name in ("mariadb_certificate", "mariadb_key") if not options.get(name)]


def secrets(options: Object, password: str) -> dict[str, dict[str, str]]:
    """Return the data of its Secrets by their names.

    :param options: see :func:`problems`
    :param password: of its user, letters and digits
    """
    found = {MARIADB_PASSWORD: {"password": password, _LOGIN_FILE: _LOGIN % password}}
    if options["tls"] == "files":
        found[CERTIFICATE] = {"tls.crt": options["mariadb_certificate"], "tls.key": options["mariadb_key"]}
    return found


def settings(namespace: str) -> Object:
    """Return the ConfigMap with settings that hold at each start."""
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": SETTINGS, "namespace": namespace},
            "data": {_SETTINGS_FILE: _CONTENT}}


def claim_of(pod: Object) -> str | None:
    """Return the name of the PersistentVolumeClaim that a pod's database has its data on, None without one.

    :param pod: the specification of the pod
    """
    return next((item["persistentVolumeClaim"]["claimName"] for item in pod.get("volumes") or []
                 if item["name"] == _DATA_VOLUME and item.get("persistentVolumeClaim")), None)


def outside(pod: Object) -> str | None:
    """Return the host of a database outside of a pod, None without one.

    :param pod: the specification of the pod
    """
    return next((item.get("value") for container in pod["containers"] for item in container.get("env") or []
                 if item["name"] == HOST_VARIABLE), None)


def words(host: str | None, claim: str | None) -> str | None:
    """Return a database that outlives Ironic's pods as messages name it, None without one."""
    return f"that on {host}" if host else f"that on the PersistentVolumeClaim {claim}" if claim else None


def references(database: Object) -> dict[str, tuple[str, ...]]:
    """Return the Secrets that a database outside of the pod is reached by, each with the keys that it must have.

    :param database: the option of that name
    """
    return {database["credentials_name"]: LOGIN_KEYS, database["tls_certificate_name"]: AUTHORITY_KEYS}


def reach(pod: Object, container_name: str, database: Object) -> None:
    """Give a pod's container what it reaches a database outside of the pod by.

    :param pod: the specification of the pod; is changed
    :param container_name: of Ironic itself
    :param database: see :func:`references`
    """
    container = next(item for item in pod["containers"] if item["name"] == container_name)
    container.setdefault("env", []).extend([
        {"name": "IRONIC_USE_MARIADB", "value": "true"}, {"name": HOST_VARIABLE, "value": database["host"]},
        {"name": "MARIADB_DATABASE", "value": database["name"]}])
    for volume, folder, name, keys in (
            (_OUTSIDE_VOLUME, _OUTSIDE_FOLDER, database["credentials_name"], LOGIN_KEYS),
            (_AUTHORITY_VOLUME, _AUTHORITY_FOLDER, database["tls_certificate_name"], AUTHORITY_KEYS)):
        container.setdefault("volumeMounts", []).append({"name": volume, "mountPath": folder, "readOnly": True})
        # The Secret of an authority may have its key, too.
        pod.setdefault("volumes", []).append({"name": volume, "secret": {
            "secretName": name, "items": [{"key": key, "path": key} for key in keys]}})


def given_up(subject: str, before: str | None, after: str | None, name: str,
             params: Mapping[str, Any]) -> list[Problem]:
    """Return the problem of another database for Ironic whose confirmation is missing.

    :param subject: what messages call Ironic
    :param before: the database that it has now and that outlives its pods, None without one
    :param after: the one that it is to have
    :param name: Ironic's name
    :param params: the module's parameters, with ``confirm`` and ``confirm_among``
    """
    if before is None or before == after:
        return []
    return confirmation.by_name(
        subject, name, params["confirm"],
        f"Ironic would leave {before} for {after or 'a database that goes with its pod'}, and know none of its nodes: "
        "the Bare Metal Operator registers its hosts again, nodes without a BareMetalHost are forgotten",
        "set the database back", params["confirm_among"])


def complete(pod: Object, claim: str | None) -> None:
    """Give the pod's container of MariaDB its settings, the current password and the volume of its data.

    :param pod: the specification of the pod; is changed
    :param claim: name of a PersistentVolumeClaim; None leaves the data in the container
    """
    container = next(item for item in pod["containers"] if item["name"] == CONTAINER)
    mounts, volumes = container.setdefault("volumeMounts", []), pod.setdefault("volumes", [])
    mounts += [{"name": _SETTINGS_VOLUME, "mountPath": f"{_SETTINGS_FOLDER}/{_SETTINGS_FILE}",
                "subPath": _SETTINGS_FILE, "readOnly": True},
               {"name": _LOGIN_VOLUME, "mountPath": _LOGIN_FOLDER, "readOnly": True}]
    volumes += [{"name": _SETTINGS_VOLUME, "configMap": {"name": SETTINGS}},
                {"name": _LOGIN_VOLUME, "secret": {
                    "secretName": MARIADB_PASSWORD, "defaultMode": 0o440,
                    "items": [{"key": _LOGIN_FILE, "path": _LOGIN_FILE}]}}]
    if claim:
        mounts.append({"name": _DATA_VOLUME, "mountPath": _DATA})
        volumes.append({"name": _DATA_VOLUME, "persistentVolumeClaim": {"claimName": claim}})
