# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""HostFirmwareSettings: BIOS settings against the host's FirmwareSchema; what is pending; pure.

The rules are BMO 0.13's (``firmwareschema_types.go``, ``hostfirmwaresettings_controller.go``). BMO applies them when
the settings are stored already; here they are applied before.
"""
from __future__ import annotations

import difflib
from typing import Any

from .._common.options.field_checks import show
from .._common.options.fields import METADATA, Field
from .._common.problems.problem import Problem
from .._common.texts import text_table
from .._common.waiting.wait_report import REACHED, WAITING, Verdict
from .._host.state.firmware_due import CHANGED, POLICY_FIELDS, SETTINGS, text_of
from .._host.state.firmware_due import pending_settings as pending
from .._kube.objects.conditions import is_true
from .base import Family, Object, ObjectIndex, host_verdict, is_working
from .firmware_change import (
    READS,
    change_verdict,
    conditions_facts,
    host_power,
    host_state,
    observed_verdict,
    start_verdict,
)

SCHEMA = "FirmwareSchema"
POLICY_FIELD = POLICY_FIELDS[SETTINGS]


class FirmwareSettings(Family):
    """BIOS settings of hosts."""

    kind = SETTINGS
    option = "hosts"
    goals = ("valid", "rebootable", "applied")
    removable = False
    metadata = tuple(item for item in METADATA if item.name == "name")
    fields = (Field("settings", "settings", "dict", required=True),)
    reads = READS + (SCHEMA,)
    watches = READS
    clears_conditions = moves_server = True
    has_table = has_schema = True

    def check(self, label: str, entry: Object) -> list[Problem]:
        """Names and kinds of values, as far as they are the same for all servers."""
        problems = []
        for name, value in (entry.get("settings") or {}).items():
            path = f"settings.{name}"
            if "Password" in str(name):
                problems.append(Problem("firmware-settings", label, path, "a password", "no password: BMO refuses them",
                                        "set it on the BMC"))
            elif value is None or isinstance(value, (dict, list, float)):
                problems.append(Problem(
                    "firmware-settings", label, path, show(value), "a text, a whole number, true or false",
                    "correct it"))
        return problems

    def check_against(self, label: str, entry: Object, current: Object | None, index: ObjectIndex) -> list[Problem]:
        """The settings against the host's schema, when BMO has read it already."""
        schema, settings = schema_of(current, index), ((current or {}).get("status") or {}).get("settings") or {}
        if not settings:
            return []
        problems = []
        # updateStatus: while nothing differs, BMO leaves the settings unchecked; else it checks the present ones, too.
        differs = any(settings.get(name) != text_of(value) for name, value in entry["settings"].items())
        for name, value in entry["settings"].items() if differs else ():
            problems += _check_setting(label, name, value, settings, schema.get(name))
        return problems + self._unique(label, entry, schema, settings, index)

    def _unique(self, label: str, entry: Object, schema: Any, settings: Any, index: ObjectIndex) -> list[Problem]:
        return [
            Problem(
                "firmware-settings", label, f"settings.{name}", show(value),
                f"the server's own value ({settings[name]}): it is unique to it", "remove it")
            for name, value in entry["settings"].items()
            if (schema.get(name) or {}).get("unique") and name in settings and text_of(value) != settings[name]
        ]

    def spec(self, entry: Object) -> Object:
        """Return the settings; BMO knows texts and whole numbers."""
        return {"settings": dict((str(name), text_of(value) if isinstance(value, bool) else value)
                                 for name, value in entry["settings"].items())}

    def verdict(self, obj: Any, index: ObjectIndex, goal: str, before: Any) -> Verdict:
        """V(valid) when BMO has looked at the newest settings and found no fault, V(applied) when they count.

        Between them is V(rebootable): what is pending needs another start of the server than one in progress.
        """
        verdict = observed_verdict(obj, index, before, "settings")
        if verdict or goal == "valid":
            return verdict or Verdict(REACHED, "", "")
        if goal == "rebootable":
            return start_verdict(obj, index, POLICY_FIELD, before) if pending(obj) else Verdict(REACHED, "", "")
        if is_true(obj, CHANGED):
            return change_verdict(obj, index, POLICY_FIELD, before)
        host = index.host_of(obj)
        if is_working(host):
            verdict = host_verdict(host, before)
            return verdict if verdict.cause else Verdict(WAITING, "they count; the host is not ready again yet", "")
        return Verdict(REACHED, "", "")

    def facts(self, obj: Any, index: ObjectIndex) -> Object:
        """Settings as they are and as they are to be."""
        status = obj.get("status") or {}
        return dict({
            "host_state": host_state(obj, index),
            "host_power": host_power(obj, index),
            "settings": status.get("settings") or {},
            "wanted": (obj.get("spec") or {}).get("settings") or {},
            "pending": pending(obj),
            "schema_name": (status.get("schema") or {}).get("name") or "",
        }, **conditions_facts(obj))

    def schema(self, obj: Any, index: ObjectIndex) -> Object:
        """Return the rules for the settings of a host."""
        return schema_of(obj, index)

    def table(self, items: list[Object], width: int | None = None) -> list[str]:
        """Return a line for each setting that is wanted: whether it counts."""
        rows = []
        for item in items:
            waiting = set(change["name"] for change in item.get("pending") or [])
            for name, value in sorted((item.get("wanted") or {}).items()):
                is_refused = item["observed"] and not item["valid"]
                state = "in force" if name not in waiting else "refused" if is_refused else "pending"
                rows.append([item["name"], name, (item["settings"].get(name) or "-"), text_of(value), state])
        return text_table.lines(["HOST", "SETTING", "IS", "WANTED", "STATE"], rows, width, long=("IS", "WANTED"))


def schema_of(obj: Any, index: ObjectIndex) -> Object:
    """Return the schema of a HostFirmwareSettings: ``{setting: rules}``, empty when there is none."""
    reference = ((obj or {}).get("status") or {}).get("schema") or {}
    schema = index.get(SCHEMA, reference.get("namespace"), reference.get("name"))
    return ((schema or {}).get("spec") or {}).get("schema") or {}


def _check_setting(label: str, name: str, value: Any, settings: Object, rules: Object | None) -> list[Problem]:
    path = f"settings.{name}"
    if name not in settings:
        near = difflib.get_close_matches(name, sorted(settings), 1)
        return [Problem("firmware-settings", label, path, "an unknown setting", "one that the server has",
                        "correct it" + (f" (perhaps {near[0]} is meant)" if near else ""))]
    expected = rule_broken(rules, text_of(value), settings[name])
    if expected is None:
        return []
    if text_of(value) != settings[name]:
        return [Problem("firmware-settings", label, path, show(value), expected, "correct it")]
    return [Problem("firmware-settings", label, path, f"{show(value)}, the present value",
                    f"no mention of it: another setting changes, so BMO checks all, and here it requires {expected}",
                    "remove it")]


def rule_broken(rules: Object | None, text: str, current: str | None) -> str | None:
    """Return what BMO expects of a value that it refuses by the schema (``SettingSchema.Validate``), else None.

    :param rules: entry of the FirmwareSchema, or None
    :param text: the wanted value
    :param current: the present value
    """
    if rules is None:
        return "a setting of the host's FirmwareSchema"
    if rules.get("read_only"):
        return "no value: it is read-only"
    kind = rules.get("attribute_type") or ""
    if kind == "Enumeration":
        allowed = rules.get("allowable_values") or []
        return None if text in allowed else f"one of {', '.join(allowed)}"
    if kind == "Integer":
        return _integer_rule(rules, text)
    if kind == "String":
        low, high = rules.get("min_length"), rules.get("max_length")
        fits = (low is None or len(text) >= low) and (high is None or len(text) <= high)
        return None if fits else f"a text of {low or 0} to {'any number of' if high is None else high} characters"
    if kind == "Boolean":
        return _boolean_rule(text, current)
    return f"no change: BMO does not set values of the type {kind}" if kind else None


def _integer_rule(rules: Object, text: str) -> str | None:
    low, high = rules.get("lower_bound"), rules.get("upper_bound")
    try:
        number = int(text)
    except ValueError:
        return "a whole number"
    if (low is None or number >= low) and (high is None or number <= high):
        return None
    return f"{'any number up' if low is None else low} to {'any number' if high is None else high}"


def _boolean_rule(text: str, current: str | None) -> str | None:
    if text not in ("true", "false"):
        return "true or false"
    if current not in ("true", "false"):
        # BMO takes only the words; Ironic's database has 1 or 0 (or True, False). They never get equal.
        return (f"{current}: Ironic reports it as {current!r}, which BMO 0.13 never takes for true or false; it would "
                "prepare the host without end")
    return None
