# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Installing Ironic into a cluster and removing it; its credentials are created once and kept in Secrets."""
from __future__ import annotations

import base64
import os
import secrets
import string
from typing import Any

from ..._kube.resources import KNOWN
from ..process.files import write_private
from . import given_certificate, ironic
from .service import Components

try:
    import bcrypt
    HAS_BCRYPT = True
except ImportError:
    HAS_BCRYPT = False

Object = dict[str, Any]

USERNAME_LENGTH, PASSWORD_LENGTH = 12, 32
# The password is random and long, so that a low cost is enough; Ironic checks it at every request.
BCRYPT_ROUNDS = 4


class IronicComponents(Components):
    """One run over Ironic in a cluster.

    :param client: a KubeClient
    :param params: the parameters of the module ``plane_ironic``
    :param shipped: the rendered objects
    :param check_mode: let the API server try writes without storing them
    :param progress: a Progress
    """

    def __init__(self, client: Any, params: Object, shipped: list[Object], check_mode: bool, progress: Any,
                 **clock: Any) -> None:
        part = {"name": ironic.PART.name, "namespace": params["namespace"]}
        super().__init__(client, dict(params, parts=[part], objects=[], definitions="keep"),
                         {ironic.PART.name: (shipped, params["image_version"])}, check_mode, progress, **clock)

    def present(self) -> Object:
        """Write what differs, wait until Ironic is ready, and return the result.

        :raises RefusedError: with all that does not fit, before anything is written
        :raises ReportedError: when it does not come up
        :raises KubeError: when the API server can't be asked or refuses
        """
        self._refuse([ironic.problems(self.params)])
        if self.params["tls"] == "files":
            self._refuse([given_certificate.problems(*(self.params[name] for name in (
                "tls_certificate", "tls_key", "tls_authority", "provisioning_ip")))])
        credentials = self._credentials() if self.params["authentication"] == "http_basic" else {}
        made = ironic.secrets(self.params, credentials)
        namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {
            "name": self.params["namespace"], "labels": dict([ironic.plane_objects.OWNER_LABEL])}}
        self.sources = [namespace, *ironic.desired(self.shipped[ironic.PART.name][0], self.params, made)]
        result = self.write()
        if self.params["credentials_dir"] and credentials and not self.check_mode:
            result["changed"] = self._keep(credentials) or result["changed"]
        if self.params["wait"] and not self.check_mode:
            result["seconds"] = self.wait(self.params["wait_timeout_seconds"])
        return result

    def _stored(self, name: str) -> dict[str, str]:
        found = self.client.get(KNOWN["Secret"], self.params["namespace"], name) or {}
        return dict((key, base64.b64decode(text).decode()) for key, text in (found.get("data") or {}).items())

    def _credentials(self) -> dict[str, str]:
        """Return user name, password and password file: as stored, else new ones."""
        stored = self._stored(ironic.CREDENTIALS)
        if not stored.get("username") or not stored.get("password"):
            stored = {"username": _random(string.ascii_lowercase, USERNAME_LENGTH),
                      "password": _random(string.ascii_letters + string.digits, PASSWORD_LENGTH)}
        username, password = stored["username"], stored["password"]
        htpasswd = self._stored(ironic.HTPASSWD).get("htpasswd", "")
        if not _fits(htpasswd, username, password):
            digest = bcrypt.hashpw(password.encode(), bcrypt.gensalt(rounds=BCRYPT_ROUNDS)).decode()
            htpasswd = f"{username}:{digest}"
        return {"username": username, "password": password, "htpasswd": htpasswd}

    def _keep(self, credentials: dict[str, str]) -> bool:
        """Write user name and password to files of their owner's; return whether one has changed."""
        directory = self.params["credentials_dir"]
        os.makedirs(directory, mode=0o700, exist_ok=True)
        changed = False
        for name in ("username", "password"):
            path = os.path.join(directory, name)
            try:
                with open(path, encoding="utf-8") as stream:
                    if stream.read() == credentials[name]:
                        continue
            except OSError:
                pass
            write_private(path, credentials[name].encode())
            changed = True
        return changed


def _random(letters: str, length: int) -> str:
    return "".join(secrets.choice(letters) for _position in range(length))


def _fits(htpasswd: str, username: str, password: str) -> bool:
    found, _colon, digest = htpasswd.strip().partition(":")
    try:
        return found == username and bcrypt.checkpw(password.encode(), digest.encode())
    except ValueError:
        return False
