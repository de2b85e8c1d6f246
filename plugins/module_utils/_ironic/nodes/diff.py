# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""From what a node or port is and is to be to the requests that make it so; pure."""
from __future__ import annotations

from collections import namedtuple
from typing import Any

from ..._common.redaction import redaction
from . import fields as node_fields

# What Ironic shows in place of a secret.
_MASK = "******"
# patch: list of JSON patch operations. before, after: what changes, by field, without secrets.
Change = namedtuple("Change", ["patch", "before", "after"])
UNCHANGED = Change((), {}, {})

ALWAYS, WHEN_NEEDED, ON_CREATE = "always", "when_needed", "on_create"
UPDATE_SECRETS = (WHEN_NEEDED, ALWAYS, ON_CREATE)


def create_body(option: dict[str, Any]) -> dict[str, Any]:
    """Return the body that makes a node.

    :param option: the node's options
    """
    body = {"name": option["name"]}
    if option.get("uuid"):
        body["uuid"] = option["uuid"]
    for field, value in node_fields.whole_values(option).items():
        if field not in node_fields.NOT_AT_CREATION and value != "":
            body[field] = value
    for field in node_fields.MERGED:
        given = dict((key, value) for key, value in (option.get(field) or {}).items() if value is not None)
        if given:
            body[field] = given
    return body


def node_change(option: dict[str, Any], current: dict[str, Any], update_secrets: str = WHEN_NEEDED) -> Change:
    """Return what is to change of a node.

    :param option: the node's options; None leaves a field as it is, an empty text resets it
    :param current: the node as Ironic has it
    :param update_secrets: one of :data:`UPDATE_SECRETS`
    :returns: a :class:`Change`
    """
    change = _whole_change(dict(node_fields.whole_values(option), name=option["name"]), current)
    for field in node_fields.MERGED:
        _merge(change, field, option.get(field) or {}, current, update_secrets)
    return change


def _whole_change(values: dict[str, Any], current: dict[str, Any]) -> Change:
    change = Change([], {}, {})
    for field, value in values.items():
        found_value = current.get(field)
        if value == found_value or (value in ("", {}) and not found_value):
            continue
        path = "/" + field
        change.patch.append({"op": "remove", "path": path} if value == "" else
                            {"op": "add", "path": path, "value": value})
        change.before[field], change.after[field] = found_value, value
    return change


def _merge(change: Change, field: str, given: dict[str, Any], current: dict[str, Any], update_secrets: str) -> None:
    found_value = current.get(field) or {}
    plain = dict((key, value) for key, value in given.items() if not _masked(key, found_value))
    masked = dict((key, value) for key, value in given.items() if _masked(key, found_value))
    before = len(change.patch)
    for key, value in plain.items():
        _set(change, field, key, value, found_value)
    touched = len(change.patch) > before
    for key, value in masked.items():
        if value is None:
            _set(change, field, key, None, found_value)
        elif update_secrets == ALWAYS or (update_secrets == WHEN_NEEDED and (touched or secrets_doubtful(current))):
            _set(change, field, key, value, found_value)


def merged_change(field: str, given: dict[str, Any], current: dict[str, Any]) -> Change:
    """Return what is to change of one of a node's dictionaries, of which only some keys are given.

    :param field: the field's name
    :param given: dict; a key with None is to be removed
    :param current: the node as Ironic has it
    :returns: a :class:`Change`
    """
    change = Change([], {}, {})
    _merge(change, field, given, current, WHEN_NEEDED)
    return change


def in_effect(operations: list[dict[str, Any]], current: dict[str, Any]) -> bool:
    """Return whether an object shows what a patch makes of it; secrets, which Ironic masks, are left out.

    :param operations: JSON patch operations
    :param current: the node or port as Ironic has it
    """
    for step in operations:
        parts = [part.replace("~1", "/").replace("~0", "~") for part in step["path"].strip("/").split("/")]
        place = current if len(parts) == 1 else (current.get(parts[0]) or {})
        found_value = place.get(parts[-1])
        if step["op"] == "remove" and found_value not in (None, "", {}) and found_value != _MASK:
            return False
        if step["op"] != "remove" and found_value not in (step["value"], _MASK):
            return False
    return True


def secrets_doubtful(node: dict[str, Any]) -> bool:
    """Return whether Ironic itself says that it can't use the node's BMC: then its credentials may be wrong."""
    return bool((node.get("provision_state") == "enroll" and node.get("last_error"))
                or node.get("fault") == "power failure")


def _masked(key: str, found_value: Any) -> bool:
    return found_value.get(key) == _MASK


def _set(change: Change, field: str, key: str, value: Any, found_value: Any) -> None:
    if (value is None and key not in found_value) or (value is not None and found_value.get(key) == value):
        return
    path = f"/{field}/{str(key).replace('~', '~0').replace('/', '~1')}"
    change.patch.append({"op": "remove", "path": path} if value is None else
                        {"op": "add", "path": path, "value": value})
    hidden = redaction.is_secret_key(key)
    if key in found_value:
        change.before.setdefault(field, {})[key] = redaction.HIDDEN if hidden else _shown(found_value[key])
    if value is not None:
        change.after.setdefault(field, {})[key] = redaction.CHANGED if hidden else _shown(value)
    change.before.setdefault(field, {})
    change.after.setdefault(field, {})


def _shown(value: Any) -> Any:
    return redaction.hidden(value, redaction.NODE_KEYS) if isinstance(value, dict) else value


def port_change(option: dict[str, Any], current: dict[str, Any], node_uuid: str) -> Change:
    """Return what is to change of a port.

    :param option: the port's options; None leaves a field as it is, an empty text resets it
    :param current: the port as Ironic has it
    :param node_uuid: UUID of the node that it is to be of
    :returns: a :class:`Change`
    """
    change = _whole_change(dict(node_fields.port_values(option), node_uuid=node_uuid), current)
    for key, value in (option.get("extra") or {}).items():
        _set(change, "extra", key, value, current.get("extra") or {})
    return change


def port_body(option: dict[str, Any], node_uuid: str | None) -> dict[str, Any]:
    """Return the body that makes a port.

    :param option: the port's options
    :param node_uuid: UUID of its node
    """
    values = dict((field, value) for field, value in node_fields.port_values(option).items() if value != "")
    extra = dict((key, value) for key, value in (option.get("extra") or {}).items() if value is not None)
    return dict(values, address=option["address"].lower(), node_uuid=node_uuid, **({"extra": extra} if extra else {}))


def moved_port_body(option: dict[str, Any], current: dict[str, Any], node_uuid: str) -> dict[str, Any]:
    """Return the body that creates a port again at another node, with what it has besides what the options say.

    :param option: the port's options
    :param current: the port as Ironic has it
    :param node_uuid: UUID of the node that it is to be of
    """
    kept = dict((field, current[field]) for field in node_fields.PORT_WHOLE if current.get(field) is not None)
    # A port group is one node's.
    kept.pop("portgroup_uuid", None)
    extra = dict(current.get("extra") or {}, **(option.get("extra") or {}))
    return port_body(dict(kept, **dict(node_fields.port_values(option), address=option["address"], extra=extra)),
                     node_uuid)


def shown_creation(option: dict[str, Any]) -> dict[str, Any]:
    """Return what a node that is to be made will have, without secrets."""
    body = redaction.hidden(create_body(option), redaction.NODE_KEYS)
    return dict(body, **dict((name, option[name]) for name in ("traits",) if option.get(name)))
