# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One wording for every mistake: the object, the field, what was seen, what was expected, what to do."""
from __future__ import annotations

from .url_credentials import redacted


class Mistake(str):
    """A mistake as one line of text, with its parts as attributes; they are None in a line made by other means."""

    subject = field = seen = expected = advice = None


def problem(subject, field, seen, expected, advice=None):
    """Return a mistake as one line of text, a Mistake.

    :param subject: the object, for example ``IPPool metal3/provisioning``
    :param field: path of the field as the user writes it, empty when the whole object is meant
    :param seen: what is there; None when nothing is; passwords in URLs are not shown
    :param expected: what should be there, a phrase
    :param advice: what to do next, a phrase
    """
    where = f"{subject}: {field}" if field else subject
    seen = "nothing" if seen is None else redacted(f"{seen}")
    text = f"{where}: seen {seen}, expected {expected}"
    line = Mistake(f"{text}; {advice}" if advice else text)
    line.subject, line.field, line.seen, line.expected, line.advice = subject, field, seen, expected, advice
    return line
