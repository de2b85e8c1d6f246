# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Values against Ansible's own table of options, an argument spec; mistakes are reported by object and path; pure."""
from __future__ import annotations

from typing import Any

from ..problems.problem import Problem
from .field_checks import show, type_error


def check_list(kind: Any, namespace: Any, option: Any, entries: Any, options: Any) -> Any:
    """Return the mistakes in the types of a module's list, as lines.

    :param kind: Kubernetes kind of the entries, None when a name alone is a subject
    :param namespace: their namespace
    :param option: name of the module's list option
    :param entries: what was given for it, of any type
    :param options: argument spec of an entry
    """
    if not isinstance(entries, list):
        return [Problem("value", option, "", show(entries), "a list of dictionaries", "correct it")]
    found = []
    for position, entry in enumerate(entries):
        name = entry.get("name") if isinstance(entry, dict) else None
        title = name if isinstance(name, str) and name else f"{option}[{position}]"
        subject = f"{kind} {namespace}/{title}" if kind else title
        found += _check(subject, "", {"type": "dict", "options": options, "required": True}, entry)
    return found


def _check(subject: Any, path: Any, option: Any, value: Any) -> Any:
    if value is None:
        return [Problem("value", subject, path, None, "a value", "set it")] if option.get("required") else []
    kind = option.get("type", "str")
    wrong = type_error(kind, value) if kind in ("str", "int", "bool", "dict", "list") else None
    if wrong:
        return [Problem("value", subject, path, show(value), wrong, "correct it")]
    if option.get("choices") and value not in option["choices"]:
        return [Problem("value", subject, path, show(value), f"one of {', '.join(option['choices'])}", "correct it")]
    if kind == "list":
        element = {"type": option.get("elements", "str"), "options": option.get("options")}
        return [line for position, item in enumerate(value)
                for line in _check(subject, f"{path}[{position}]", dict(element, required=True), item)]
    if kind == "dict" and option.get("options"):
        return _check_dict(subject, path + "." if path else "", option["options"], value)
    return []


def _check_dict(subject: Any, prefix: Any, options: Any, values: Any) -> Any:
    found = [
        Problem(
            "unknown-variable", subject, prefix + str(name), "an unknown option",
            f"one of {', '.join(sorted(options))}", "remove or rename it")
        for name in values
        if name not in options
    ]
    for name, option in options.items():
        found += _check(subject, prefix + name, option, values.get(name))
    return found
