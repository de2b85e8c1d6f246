# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Kubeconfigs of a lab, and the identities in them."""
from __future__ import annotations

import base64
import json
import os
from typing import Any

from ..._common.documents.document_text import from_json
from ..._common.files.whole_file import write_private
from ..._kube.kinds.resources import KNOWN

TOKEN_VALIDITY_SECONDS = 365 * 24 * 3600
TOKEN_RENEW_BEFORE_SECONDS = 30 * 24 * 3600


def _file_data(path: str) -> str:
    with open(path, "rb") as stream:
        return base64.b64encode(stream.read()).decode()


def certificate_user(certificate_file: str, key_file: str) -> dict[str, str]:
    """Return the ``user`` part for a client certificate; both files are taken in."""
    return {"client-certificate-data": _file_data(certificate_file), "client-key-data": _file_data(key_file)}


def build(server: str, ca_file: str, namespace: str, name: str, user: dict[str, str]) -> dict[str, Any]:
    """Return a kubeconfig.

    :param server: URL of the API server
    :param ca_file: certificate authority of the API server; taken in
    :param namespace: default namespace of its context
    :param name: what the user is called in it
    :param user: the ``user`` part: a certificate or a token
    """
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "lab", "cluster": {
            "server": server, "certificate-authority-data": _file_data(ca_file)}}],
        "users": [{"name": name, "user": user}],
        "contexts": [{"name": "lab", "context": {"cluster": "lab", "user": name, "namespace": namespace}}],
        "current-context": "lab",
    }


def write(path: str, content: dict[str, Any], check_mode: bool = False) -> bool:
    """Write a kubeconfig if it differs or others can read it.

    :param path: file to write
    :param content: what build() returned
    :param check_mode: change nothing, only report
    :returns: whether it differed
    """
    # JSON is YAML, and needs no further package.
    data = (json.dumps(content, indent=1) + "\n").encode()
    try:
        with open(path, "rb") as stream:
            if stream.read() == data and os.fstat(stream.fileno()).st_mode & 0o077 == 0:
                return False
    except FileNotFoundError:
        # Nothing to compare with.
        pass
    if not check_mode:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        write_private(path, data)
    return True


def read_token(path: Any) -> Any:
    """Return the token in a kubeconfig, or None."""
    try:
        with open(path, "rb") as stream:
            return from_json(stream.read())["users"][0]["user"].get("token")
    except (OSError, ValueError, LookupError):
        return None


def token_fault(token: str | None, uid: str, now: float) -> str | None:
    """Return why a service account's token must be requested again, or None.

    :param token: a JSON web token, or None
    :param uid: UID of the service account
    :param now: seconds since 1970
    """
    if not token:
        return "missing"
    try:
        part = token.split(".")[1]
        claims = from_json(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
        bound, expiry = claims["kubernetes.io"]["serviceaccount"]["uid"], claims["exp"]
    except (LookupError, ValueError):
        return "unreadable"
    if bound != uid:
        return "of another service account"
    if expiry - now < TOKEN_RENEW_BEFORE_SECONDS:
        return "near expiry"
    return None


def request_token(client: Any, namespace: Any, name: Any) -> Any:
    """Ask the API server for a token of a service account.

    :param client: a KubeClient
    :raises KubeError: when it refuses
    """
    answer = client.request(
        "POST", KNOWN["ServiceAccount"].path(namespace, name, "token"),
        body={"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest",
              "spec": {"expirationSeconds": TOKEN_VALIDITY_SECONDS}},
        subject=f"token of ServiceAccount {namespace}/{name}")
    return answer["status"]["token"]
