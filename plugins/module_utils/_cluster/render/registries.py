# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Registries in whose place the nodes' containerd asks a mirror, as files of its certs.d; pure.

Source: containerd, docs/hosts.md and remotes/docker/config/hosts.go. containerd reads the files at each pull, so that
nothing is restarted.
"""
from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from ..._common.options.field_checks import shown
from ..._common.problems.problem import Problem
from ..description.model import ClusterDescription

DIRECTORY = "/etc/containerd/certs.d"
OPTION = "registry_mirrors"
# containerd's name for all registries that have no folder of their own.
DEFAULT = "_default"
_REGISTRY = re.compile(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:[0-9]{1,5})?")
# No character that means something to a shell, to TOML or to Jinja: the address becomes part of all three.
_URL = re.compile(r"https?://([A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?(/[A-Za-z0-9._-]+)*/?")
_CERTIFICATES = re.compile(
    r"\s*(-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----\s*)+")
# Kubernetes' Secrets of the type kubernetes.io/basic-auth have these keys.
_USERNAME, _PASSWORD = "username", "password"

# Only where TOML knows no other way to give both hosts the header: its tables are appended. printf is the shell's own,
# so that no password is in a list of processes.
_LOGIN = ("cd %(folder)s && login=$(printf '%%s:%%s' \"$(cat username)\" \"$(cat password)\" | base64 --wrap=0) && "
          "printf '%(tables)s' %(arguments)s >> hosts.toml && rm username password")


def folder(registry: str) -> str:
    """Return the folder in which containerd looks for what to ask in a registry's place."""
    return posixpath.join(DIRECTORY, registry)


def paths(description: ClusterDescription) -> list[str]:
    """Return the paths of :func:`files`; the description may have mistakes."""
    return [entry["path"] for entry in files(description)]


def files(description: ClusterDescription) -> list[dict[str, Any]]:
    """Return the files of all mirrors, as Cluster API's KubeadmConfigSpec has them.

    :param description: the cluster's description
    """
    found = []
    for mirror in description.registry_mirrors or []:
        where, secret = folder(mirror["registry"]), mirror.get("credentials_secret")
        # The login is added to this file.
        found.append(_file(where, "hosts.toml", "0600" if secret else "0644", content=_hosts(mirror)))
        if mirror.get("ca_certificate"):
            found.append(_file(where, "mirror.crt", "0644", content=mirror["ca_certificate"].strip() + "\n"))
        if secret:
            found += [_file(where, key, "0600", contentFrom={"secret": {"name": secret, "key": key}})
                      for key in (_USERNAME, _PASSWORD)]
    return found


def commands(description: ClusterDescription) -> list[str]:
    """Return the commands before kubeadm that give containerd the logins of the mirrors that want one."""
    found = []
    for mirror in description.registry_mirrors or []:
        if mirror.get("credentials_secret"):
            tables = [f"{table}.header" if table else "header" for table in _tables(mirror)]
            text = "".join(f'\\n[{table}]\\nAuthorization = ["Basic %s"]\\n' for table in tables)
            found.append(_LOGIN % {"folder": folder(mirror["registry"]), "tables": text,
                                   "arguments": " ".join(['"$login"'] * len(tables))})
    return found


def _file(where: str, name: str, permissions: str, **content: Any) -> dict[str, Any]:
    return dict(content, path=posixpath.join(where, name), owner="root:root", permissions=permissions)


def _root(mirror: Mapping[str, Any]) -> str:
    """Return the address below which the mirror has the registry's repositories, with the API's /v2 in front."""
    parts = urlsplit(mirror["url"])
    return f"{parts.scheme}://{parts.netloc}/v2{parts.path.rstrip('/')}"


def _tables(mirror: Mapping[str, Any]) -> list[str]:
    """Return the TOML tables that name the mirror.

    containerd always asks a last host, by default the registry itself. Where that is not wanted, the mirror is the last
    one, too: containerd before 2.0 does not read a file without a table "host".
    """
    table = f'host."{_root(mirror)}"'
    return [table] if mirror["fallback"] else ["", table]


def _hosts(mirror: Mapping[str, Any]) -> str:
    keys = ['capabilities = ["pull", "resolve"]', "override_path = true"]
    if mirror.get("ca_certificate"):
        keys.append('ca = "mirror.crt"')
    lines = []
    for table in _tables(mirror):
        lines += [f"[{table}]"] if table else [f'server = "{_root(mirror)}"']
        lines += [*keys, ""]
    return "\n".join(lines)


def problems(subject: str, description: ClusterDescription) -> list[Problem]:
    """Return the mistakes in the mirrors of a description.

    :param subject: the cluster, for the mistakes
    """
    found, names = [], []
    for number, mirror in enumerate(description.registry_mirrors or []):
        field = f"{OPTION}[{number}]"
        registry, url, certificate = mirror["registry"], mirror["url"], mirror.get("ca_certificate")
        if registry != DEFAULT and not _REGISTRY.fullmatch(registry):
            found.append(Problem("registry-mirror", subject, field + ".registry", shown(registry),
                                 f"a registry's host as image names have it, such as quay.io, or {DEFAULT}"))
        elif registry in names:
            found.append(Problem("registry-mirror", subject, field + ".registry", f"{registry} twice",
                                 "one entry for each registry"))
        names.append(registry)
        if not _URL.fullmatch(url):
            found.append(Problem("registry-mirror", subject, field + ".url", shown(url),
                                 "an address such as https://mirror.example.org:5000/quay.io"))
        elif url.startswith("http:"):
            found += [Problem("registry-mirror", subject, f"{field}.{option}", "a value", "not set with http://", hint)
                      for option, hint in (("credentials_secret", "the password would be sent in the clear: use https"),
                                           ("ca_certificate", "nothing is verified by it: use https"))
                      if mirror.get(option)]
        if certificate is not None and not _CERTIFICATES.fullmatch(certificate):
            found.append(Problem("registry-mirror", subject, field + ".ca_certificate", "another text",
                                 "certificates in PEM format and nothing else",
                                 "give the text of the file, as in {{ lookup('ansible.builtin.file', 'ca.crt') }}"))
    return found
