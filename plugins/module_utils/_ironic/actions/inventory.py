# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""From servers' inventory variables, as for BareMetalHosts, to deployments by ``ironic_node_action``; pure."""
from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import Any

from ..._common.documents.document_text import from_json
from ..._common.options.field_checks import shown
from ..._common.problems.errors import RefusedError
from ..._common.problems.problem import Problem
from ..nodes.inventory import OWN_VARIABLE

_DATA = (("user_data", "bmh_user_data"), ("meta_data", "bmh_meta_data"), ("network_data", "bmh_network_data"))
# Ironic finds the algorithm by the checksum's length.
_ANY_CHECKSUM = ("", "auto", None)


def deployment(name: str, variables: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return what is deployed on a server: its node, and options of ``image`` and ``config_drive``.

    :param name: name of the server in the inventory
    :param variables: mapping of its variables
    :returns: ``{"node": name, "image": options, "config_drive": options}``, None for a server without ``bmh_image``
    :raises RefusedError: with all problems of the server's variables
    """
    if not variables.get("bmh_image"):
        return None
    found: list[Problem] = []
    image = _image(name, variables["bmh_image"], found)
    drive = _config_drive(name, variables, found)
    if found:
        raise RefusedError(found)
    return {"node": (variables.get(OWN_VARIABLE) or {}).get("name") or name, "image": image, "config_drive": drive}


def _image(name: str, image: Any, found: list[Problem]) -> dict[str, str]:
    if not isinstance(image, dict) or not isinstance(image.get("url"), str) or not image["url"]:
        found.append(Problem("image", name, "bmh_image.url", None, "the URL of an image",
                             "set bmh_image for the server or its group"))
        return {}
    if image.get("format") == "live-iso":
        return {"boot_iso": image["url"]}
    options = {"source": image["url"]}
    if image.get("format"):
        options["disk_format"] = image["format"]
    checksum, kind = image.get("checksum"), image.get("checksum_type")
    # Ironic reads a URL only from image_checksum.
    if checksum and kind not in _ANY_CHECKSUM and "://" not in str(checksum):
        options.update(checksum_algorithm=kind, checksum_value=checksum)
    elif checksum:
        options["checksum"] = checksum
    return options


def _config_drive(name: str, variables: Mapping[str, Any], found: list[Problem]) -> dict[str, Any]:
    drive = {}
    for option, variable in _DATA:
        value = variables.get(variable)
        if isinstance(value, dict) and value and set(value) <= {"name", "content"}:
            if value.get("name"):
                found.append(Problem("config-drive", name, f"{variable}.name", shown(value["name"]), "the data itself",
                                     f"set {variable}: an Ironic without Kubernetes reads no Secret"))
            value = value.get("content")
        if value in (None, "", {}):
            continue
        drive[option] = value if option == "user_data" else _mapping(name, variable, value, found)
    return drive


def _mapping(name: str, variable: str, value: Any, found: list[Problem]) -> Any:
    if isinstance(value, str):
        with contextlib.suppress(ValueError):
            value = from_json(value)
    if not isinstance(value, dict):
        # What it has may be secret.
        found.append(Problem("config-drive", name, variable, "a text that is no JSON object", "a dictionary"))
    return value
