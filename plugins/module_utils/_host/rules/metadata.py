# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Labels, annotations and taints of a host, and what the annotations ask of BMO; pure."""
from __future__ import annotations

import json

from ..._common.documents.document_text import from_json
from ..._common.options.field_checks import check_metadata, show, text_of
from ..._common.problems.problem import Problem
from ..description import annotations as host_annotations


def check(label, host):
    """Return the Problems of an entry's labels and annotations."""
    return check_metadata(label, host) + _check_annotations(label, host)


def check_taints(label, host):
    """Return the Problems of an entry's taints."""
    problems = []
    for position, taint in enumerate(host.get("taints") or []):
        if taint.get("effect") not in ("NoSchedule", "PreferNoSchedule", "NoExecute"):
            problems.append(Problem("metadata", label, f"taints[{position}].effect", show(taint.get("effect")),
                                    "NoSchedule, PreferNoSchedule or NoExecute", "correct it"))
    return problems


def _check_annotations(label, host):
    problems = []
    annotations = dict((key, text_of(value)) for key, value in (host.get("annotations") or {}).items())
    for key, value in annotations.items():
        path = f"annotations.{key}"
        if host_annotations.is_reboot(key):
            problems += _check_json(label, path, value, {"mode": ("", "hard", "soft")})
        elif key == host_annotations.DETACHED:
            if value.lstrip().startswith("{"):
                problems += _check_json(label, path, value, {"deleteAction": ("", "delay", "delete")})
        elif key == host_annotations.INSPECT and value not in ("", host_annotations.INSPECTION_DISABLED):
            problems.append(Problem("metadata", label, path, show(value), "'' or 'disabled' (BMO webhook)",
                                    "set inspection_mode to agent or disabled, in place of the annotation"))
        elif key == host_annotations.HARDWARE_DETAILS and value:
            if not host_annotations.is_inspection_disabled(host.get("inspection_mode"), host.get("annotations")):
                problems.append(Problem("metadata", label, path, "hardware details", "inspection_mode disabled with it",
                                        "set inspection_mode to disabled"))
            problems += _check_json(label, path, value, {})
    inspect, mode = annotations.get(host_annotations.INSPECT), host.get("inspection_mode")
    if inspect and mode and (inspect == "disabled") != (mode == "disabled"):
        problems.append(Problem("metadata", label, "inspection_mode", show(mode),
                                f"the same as the annotation {host_annotations.INSPECT} ({inspect})",
                                "remove the annotation, which is deprecated"))
    return problems


def _check_json(label, path, value, choices):
    if not value:
        return []
    try:
        data = from_json(value)
    except ValueError:
        data = None
    if not isinstance(data, dict):
        example = "".join(f", for example {json.dumps({key: few[-1]})}" for key, few in choices.items())
        return [Problem("metadata", label, path, show(value), "a JSON object or nothing", f"write one{example}")]
    return [Problem("metadata", label, path, f"{key} {show(data[key])}",
                    f"{key} one of {', '.join(filter(None, few))}", "correct it")
            for key, few in choices.items() if key in data and data[key] not in few]
