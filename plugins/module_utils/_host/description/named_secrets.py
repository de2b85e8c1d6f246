# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Secrets that a BareMetalHost names; pure.

Sources: ``baremetalhost_types.go`` and ``host_config_data.go`` of BMO 0.13, which makes a host the owner of the Secret
of its BMC alone.
"""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# Fields of a host's ``spec`` that name a Secret, and the key of its name in each: of the BMC, and of a deployment.
SECRETS = (("bmc", "credentialsName"), ("userData", "name"), ("networkData", "name"), ("metaData", "name"),
           ("image", "ociAuthSecretName"))
PREPROVISIONING = "preprovisioningNetworkDataName"
BMC_FIELD = "spec.bmc.credentialsName"


def named_secrets(bmh: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the Secrets that a host names, as (path of the field, name).

    :param bmh: the BareMetalHost as anybody has written it
    """
    spec = bmh.get("spec")
    spec = spec if isinstance(spec, Mapping) else {}
    found = [(f"spec.{field}.{key}", _name_in(spec.get(field), key)) for field, key in SECRETS]
    found.append((f"spec.{PREPROVISIONING}", spec.get(PREPROVISIONING)))
    return [(field, name) for field, name in found if isinstance(name, str) and name]


def _name_in(value: Any, key: str) -> Any:
    return value.get(key) if isinstance(value, Mapping) else None
