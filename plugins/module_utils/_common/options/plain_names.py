# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Lists of dictionaries in which a plain name stands for a dictionary with the name only; pure.

That is so in each list whose entries need nothing but a ``name``. The opposite, a dictionary where a name is expected,
is refused by ``given.py``.
"""
from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

# Lists of another project's dictionaries, whose options are not described here, and which have a ``name``.
_FREE = ("users",)
# Whatever else Ansible reads as a dictionary, ``a=b`` or JSON, is none.
_NAME = re.compile(r"[A-Za-z0-9_][\w.-]*\Z")


def takes_names(name: str, option: Mapping[str, Any]) -> bool:
    """Say whether a plain name is a whole entry of a list option.

    :param name: the option's name
    :param option: its part of an argument spec
    """
    if option.get("type") != "list" or option.get("elements") != "dict":
        return False
    required = [key for key, inner in (option.get("options") or {}).items() if inner.get("required")]
    return required == ["name"] or (name in _FREE and not option.get("options"))


def with_dictionaries(spec: Mapping[str, Any], given: Any) -> Any:
    """Return options with a dictionary in place of each plain name that stands for one.

    :param spec: Ansible's argument spec
    :param given: the options as they were given; what is of a wrong type is left as it is
    """
    if not isinstance(given, dict):
        return given
    return dict((name, _entry(name, spec[name], value) if name in spec else value) for name, value in given.items())


def _entry(name: str, option: Mapping[str, Any], value: Any) -> Any:
    options = option.get("options") or {}
    if option.get("type") != "list":
        return with_dictionaries(options, value) if options else value
    if not isinstance(value, list):
        return value
    if takes_names(name, option):
        value = [{"name": item} if isinstance(item, str) and _NAME.match(item) else item for item in value]
    return [with_dictionaries(options, item) for item in value] if options else value
