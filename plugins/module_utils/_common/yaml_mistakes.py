# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is wrong with a text that is no YAML, and where, without a word of the text, which may be a Secret; pure."""
from __future__ import annotations


def described(exc: Exception) -> str:
    """Return a mistake as one line.

    :param exc: what PyYAML, or Python when it makes values of a document, has raised
    """
    mark = getattr(exc, "problem_mark", None)
    if mark is not None:
        # Without libyaml the text of the exception has the line itself.
        words = " ".join(str(getattr(exc, "problem", None) or "no YAML").split())
        return f"{words}, line {mark.line + 1}, column {mark.column + 1}"
    if isinstance(exc, UnicodeDecodeError):
        return "bytes that are no UTF-8"
    # Some of Python's quote the value at their end.
    return " ".join(str(exc).partition(": '")[0].split())
