# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a Secret holds, which the API writes as base64; pure.

The API server stores nothing else; in archives and in what others answer it may be anything. Whoever reads says what is
wrong with it in words of its own, without what was found.
"""
from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

from ..._common.documents.tolerant import dict_in


def value(secret: Mapping[str, Any] | None, key: str) -> bytes | None:
    """Return what a Secret holds under a key, None for nothing and for what is no base64.

    :param secret: the Secret, None when there is none
    """
    return decoded(dict_in(secret, "data").get(key))


def text(secret: Mapping[str, Any] | None, key: str) -> str:
    """Return the text that a Secret holds under a key, empty for nothing and for what is no UTF-8.

    :param secret: the Secret, None when there is none
    """
    try:
        return (value(secret, key) or b"").decode()
    except UnicodeDecodeError:
        return ""


def decoded(content: Any) -> bytes | None:
    """Return what a field of the API holds that is written as base64, None for anything else.

    :param content: the field, of any type
    """
    try:
        return base64.b64decode(content, validate=True) if isinstance(content, str) else None
    except ValueError:
        return None
