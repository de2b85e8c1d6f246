# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""User names and passwords in URLs, which are shown nowhere; pure."""
from __future__ import annotations

import re
from typing import Any

# What stands before the last @ of the host, or of all when it has a colon with no port behind it: people forget to
# escape the special characters of passwords.
_NAME_AND_PASSWORD = r"(?!\[)[^/?#\s@:]*:(?!//)(?!\d*(?:[/?#]|$))[^\s'\"]*"
# A regular expression of the user information in URLs that have a scheme.
USER_INFO = r"(?<=//)(?:%s|[^/?#\s'\"]*)(?=@)" % _NAME_AND_PASSWORD
# Addresses may have no scheme.
_ALL = re.compile(f"{USER_INFO}|^{_NAME_AND_PASSWORD}(?=@)")


def redacted(text: str) -> str:
    """Return a text with the user names and passwords of its URLs hidden."""
    return _ALL.sub("***", text) if "@" in text else text


def without(value: Any) -> Any:
    """Return a copy of a structure in which no text has user names and passwords in URLs."""
    if isinstance(value, str):
        return redacted(value)
    if isinstance(value, dict):
        return dict((key, without(item)) for key, item in value.items())
    return [without(item) for item in value] if isinstance(value, (list, tuple)) else value
