# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The Secret with a registry's credentials, as BMO 0.13 reads it for ``oci://`` images; pure.

Sources: ``image_auth_validator.go`` and ``secretutils/registry.go`` of BMO. No value of a Secret is ever quoted.
"""
from __future__ import annotations

from urllib.parse import urlsplit

from ..._common.documents.document_text import from_json
from ..._kube.objects import secret_data

# Type of the Secret → the key that BMO reads.
KEYS = {"kubernetes.io/dockerconfigjson": ".dockerconfigjson", "kubernetes.io/dockercfg": ".dockercfg"}
# Docker's own registry goes by another name in its configuration (dockercfg.ResolveRegistryHost).
_RESOLVED = dict.fromkeys(("index.docker.io", "docker.io", "registry-1.docker.io"), "https://index.docker.io/v1/")


def fault(secret, url):
    """Return ``(actual, expected)`` when BMO could not take a registry's credentials from a Secret, else None.

    :param secret: the Secret
    :param url: URL of the image
    """
    kind = secret.get("type") or "Opaque"
    if kind not in KEYS:
        return f"a Secret of type {kind}", f"one of type {' or '.join(KEYS)}"
    key = KEYS[kind]
    if not (secret.get("data") or {}).get(key):
        return f"a Secret without the key {key}", f"the key {key}"
    try:
        config = from_json(secret_data.value(secret, key))
    except ValueError:
        config = None
    if not isinstance(config, dict):
        return f"no JSON object in {key}", "Docker's configuration"
    hosts = config.get("auths") if key == ".dockerconfigjson" else config
    host = urlsplit(url).netloc
    wanted = _RESOLVED.get(host, host)
    entry = hosts.get(wanted) if isinstance(hosts, dict) else None
    if not isinstance(entry, dict) or not any(entry.get(field) for field in ("auth", "username", "identitytoken")):
        return f"no credentials for {wanted}", "an entry of just this name, the registry of the image"
    return None
