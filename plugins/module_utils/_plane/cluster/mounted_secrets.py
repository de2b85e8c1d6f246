# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A pod that reads its Secrets once, at its start, is started again when one of them changes; pure."""
from __future__ import annotations

import hashlib
import json
from typing import Any

Object = dict[str, Any]

ANNOTATION = "metal3.baremetal/mounted-secrets"
# Who may read a Deployment may not read its Secrets, and one may hold a password that somebody has chosen.
ITERATIONS = 200_000


def mark(deployment: Object, secrets: list[Object]) -> None:
    """Write a digest of Secrets into the template of a Deployment's pods.

    :param deployment: is changed
    :param secrets: those that are there of the ones that it mounts; without any nothing is written
    """
    if not secrets:
        return
    metadata = deployment["spec"]["template"].setdefault("metadata", {})
    metadata.setdefault("annotations", {})[ANNOTATION] = digest(secrets)


def digest(secrets: list[Object]) -> str:
    """Return a digest of Secrets' contents, salted by their identity."""
    named = sorted(secrets, key=lambda item: str(item["metadata"]["name"]))
    salt = json.dumps([item["metadata"].get("uid") for item in named])
    content = json.dumps([[item["metadata"]["name"], item.get("data") or {}] for item in named], sort_keys=True)
    return hashlib.pbkdf2_hmac("sha256", content.encode(), salt.encode(), ITERATIONS).hex()
