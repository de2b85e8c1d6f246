# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What an answer of Ironic's has to look like before anything is decided by it; pure."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .errors import IronicError

_NODE: Mapping[str, type] = dict([(name, str) for name in (
    "name", "target_provision_state", "power_state", "target_power_state", "last_error", "reservation",
    "maintenance_reason", "driver", "boot_mode", "raid_interface", "rescue_interface", "instance_uuid", "fault",
    "provision_updated_at", "description")] + [(name, bool) for name in ("maintenance", "secure_boot", "protected")] + [
    (name, dict) for name in ("driver_info", "properties", "extra", "instance_info", "clean_step", "deploy_step",
                              "service_step", "target_raid_config", "raid_config")] + [("traits", list)])
_PORT: Mapping[str, type] = {"name": str, "extra": dict}
_GROUP: Mapping[str, type] = {"address": str, "name": str}
# By name of the list: fields that can't be missing, which are texts, and the types of those that may be null.
_FIELDS: Mapping[str, tuple[tuple[str, ...], Mapping[str, type]]] = {
    "nodes": (("uuid", "provision_state"), _NODE),
    "ports": (("uuid", "address", "node_uuid"), _PORT),
    "portgroups": (("uuid", "node_uuid"), _GROUP),
    "drivers": (("name",), {}),
    "conductors": (("hostname",), {"alive": bool}),
}
# Ironic's own need a dozen; what is much deeper exhausts the stack of whoever reads or writes it.
_DEEPEST = 100
_WORDS: Mapping[type, str] = {str: "a text", bool: "true or false", dict: "a dictionary", list: "a list of texts"}
_KINDS: tuple[tuple[Any, str], ...] = (
    (bool, "true or false"), (str, "a text"), (dict, "a dictionary"), (list, "a list"), ((int, float), "a number"))


def items(answer: Any, key: str, fields: Sequence[Any] | None = None) -> list[dict[str, Any]]:
    """Return the items of a list that Ironic has answered with.

    :param answer: the decoded answer
    :param key: name of the list, for example ``nodes``
    :param fields: names of the fields that were asked for, None for all
    :returns: list of dicts; a field that was asked for and is missing is None
    :raises IronicError: when it is no such list
    """
    if not isinstance(answer, dict) or not isinstance(answer.get(key), list):
        raise _wrong(f"list of {key}", "", answer if not isinstance(answer, dict) else answer.get(key),
                     f"a dictionary with a list of {key}")
    return [item(entry, key, fields, f"list of {key}: number {number}")
            for number, entry in enumerate(answer[key], 1)]


def item(answer: Any, key: str, fields: Sequence[Any] | None = None, subject: str | None = None) -> dict[str, Any]:
    """Return one object that Ironic has answered with.

    :param answer: the decoded answer
    :param key: name of the list that it would be in, for example ``nodes``
    :param fields: names of the fields that were asked for, None for all
    :param subject: what errors name
    :raises IronicError: when it is no such object
    """
    subject = subject or key
    if not isinstance(answer, dict):
        raise _wrong(subject, "", answer, "a dictionary")
    required, types = _FIELDS[key]
    for name in required:
        if (fields is None or name in fields) and (not isinstance(answer.get(name), str) or not answer[name]):
            raise _wrong(subject, name, answer.get(name), "a text")
    for name, wanted in types.items():
        value = answer.get(name)
        if value is not None and (not isinstance(value, wanted) or (
                isinstance(value, list) and not all(isinstance(element, str) for element in value))):
            raise _wrong(subject, name, value, _WORDS[wanted])
    return dict(dict.fromkeys(fields or ()), **answer)


def shallow(answer: Any, subject: str) -> Any:
    """Return an answer that is not nested too deeply.

    :param answer: the decoded answer
    :param subject: what errors name
    :raises IronicError: when it is
    """
    level = [answer]
    for dummy in range(_DEEPEST):
        level = [child for branch in level if isinstance(branch, (dict, list))
                 for child in (branch.values() if isinstance(branch, dict) else branch)
                 if isinstance(child, (dict, list))]
        if not level:
            return answer
    raise _wrong(subject, f"more than {_DEEPEST} of them inside of each other", level[0],
                 "no dictionary or list inside of so many others")


def dictionary(answer: Any, subject: str) -> dict[str, Any]:
    """Return an answer that is to be a dictionary.

    :raises IronicError: when it is none
    """
    if not isinstance(answer, dict):
        raise _wrong(subject, "", answer, "a dictionary")
    return answer


def _wrong(subject: str, field: str, actual: Any, expected: str) -> IronicError:
    kind = "nothing" if actual is None else next(
        (text for types, text in _KINDS if isinstance(actual, types)), "a value")
    return IronicError("%s: Ironic's answer has %s where %s is expected%s; check whether the endpoint is that of an "
                       "Ironic, and what is between here and there" % (
                           subject, kind, expected, f" ({field})" if field else ""), reason="Answer")
