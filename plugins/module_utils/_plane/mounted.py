# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Certificates that a pod reads from Secrets once, at its start, as Ironic's pod does; pure."""
from __future__ import annotations

import datetime
from collections.abc import Iterable
from typing import Any

from .._common.documents.tolerant import dict_in, dicts_in
from .expiry import Held, secret_data

Object = dict[str, Any]


def secrets_of(deployment: Object) -> list[str]:
    """Return the names of the Secrets that a Deployment's pods mount."""
    volumes = dicts_in(dict_in(dict_in(dict_in(deployment, "spec"), "template"), "spec"), "volumes")
    return sorted(set(name for item in volumes for name in [dict_in(item, "secret").get("secretName")]
                      if isinstance(name, str)))


def first_start(pods: Iterable[Object]) -> datetime.datetime | None:
    """Return when the container that runs for the longest was started, or None when none runs.

    :param pods: as stored, those that are being deleted among them
    """
    times = []
    for pod in pods:
        if pod["metadata"].get("deletionTimestamp"):
            continue
        for container in dicts_in(dict_in(pod, "status"), "containerStatuses"):
            text = dict_in(dict_in(container, "state"), "running").get("startedAt")
            try:
                times.append(datetime.datetime.strptime(str(text), "%Y-%m-%dT%H:%M:%SZ").replace(
                    tzinfo=datetime.timezone.utc))
            except ValueError:
                continue
    return min(times, default=None)


def held(deployment: Object, secrets: Iterable[Object], started: datetime.datetime | None,
         trusted_by: tuple[str, ...]) -> list[Held]:
    """Return the certificates of a Deployment's pods, of Secrets of any type.

    :param secrets: that it mounts
    :param started: from :func:`first_start`
    :param trusted_by: who verifies them
    """
    metadata = deployment["metadata"]
    return [Held(f"Secret {metadata['namespace']}/{item['metadata']['name']}",
                 f"Deployment {metadata['namespace']}/{metadata['name']}", pem, secret_data(item, "ca.crt"), trusted_by,
                 started)
            for item in secrets for pem in [secret_data(item, "tls.crt")] if pem]
