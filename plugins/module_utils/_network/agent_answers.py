# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a server's agent says that it reached when it inspected its server; pure.

Ironic keeps what agents report, and anybody who reaches its API may pretend to be one: a playbook prints it.
"""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .._common.options.field_checks import type_name
from .._common.texts.plain_text import cut, plain

Object = dict[str, Any]

# Of the inventory; roles/agent_image/files/metal3_reach.py writes it.
FIELD = "metal3_reach"
TEXTS = ("kind", "name", "target", "found")
_WORDS_LIMIT = 300
# A site has some twenty questions.
_MOST = 1000


def of_node(node: Any) -> list[Object]:
    """Return the answers of a server's last inspection, none when no agent has given any.

    What has another form is an answer that is not right.

    :param node: as the module ``ironic_node_info`` returns it, with its ``inventory``
    :returns: of each ``kind``, ``name``, ``target`` and ``found``, texts for a reader, and ``ok``
    """
    given = node
    for key in ("inventory", "inventory", FIELD):
        given = given.get(key) if isinstance(given, Mapping) else None
    if given is None:
        return []
    if not isinstance(given, list):
        return [_wrong(type_name(given))]
    left = [_wrong(f"{len(given)} answers, of which {_MOST} are shown")] if len(given) > _MOST else []
    return [*map(_answer, given[:_MOST]), *left]


def _answer(given: Any) -> Object:
    if not isinstance(given, Mapping):
        return _wrong(type_name(given))
    texts = dict((name, cut(plain(str(given.get(name) or "")), _WORDS_LIMIT)) for name in TEXTS)
    return dict(texts, ok=given.get("ok") is True)


def _wrong(found: str) -> Object:
    return {"kind": "", "name": "", "target": "the agent's report", "found": f"{found}, expected answers", "ok": False}
