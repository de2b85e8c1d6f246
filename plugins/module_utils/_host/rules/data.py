# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""User data, network data and metadata of a host; pure."""
from __future__ import annotations

import json

from ..._common.field_checks import DNS_NAME, show
from ..._common.problem import Problem
from ..._common.redaction import HIDDEN
from .. import fields as host_fields


def check(label, host):
    """Return the Problems of an entry's data, given inline or by the name of a Secret."""
    problems = []
    for option in host_fields.DATA_KEYS:
        data = host.get(option) or {}
        name, content = data.get("name"), data.get("content")
        if name and not DNS_NAME.match(name):
            problems.append(Problem("host-data", label, option + ".name", show(name), "a Secret's name", "correct it"))
        if content is not None and not content.strip():
            problems.append(Problem("host-data", label, option + ".content", "an empty text", "content",
                                    f"give content, or an empty {option} to remove it"))
        elif content is not None and option != "user_data" and content.lstrip()[:1] == "{":
            try:
                json.loads(content)
            except ValueError:
                problems.append(Problem("host-data", label, option + ".content", HIDDEN, "a JSON or YAML mapping",
                                        "pass a dictionary through the filter to_json"))
        elif content is not None and option != "user_data" and content.lstrip()[:1] in ("[", "-", "#!") \
                and not content.lstrip().startswith("---"):
            problems.append(Problem("host-data", label, option + ".content", HIDDEN, "a mapping, not a list",
                                    "give a dictionary with links, networks and services" if "network" in option
                                    else "give a dictionary"))
    return problems
