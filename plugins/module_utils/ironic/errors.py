# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What can go wrong when talking to Ironic, in words an operator can act on."""
from __future__ import annotations

import json
import re

from ..plain_text import plain

# Ironic's refusals of a config drive go on with the drive itself ("Invalid configdrive format: %s", "Expected types %s
# for configdrive: %s"), which jsonschema even breaks into pieces.
_QUOTED = re.compile(r"(\bconfigdrive\b[^:'\"{\[]*)[:'\"{\[].*", re.DOTALL)


class IronicError(Exception):
    """Ironic refused a request or could not be asked.

    :param message: one sentence
    :param status: HTTP status code, or None when no answer came
    :param reason: ``Unreachable``, ``Configuration``, ``Unauthorized``, ``Locked``, ``Version`` or None
    """

    def __init__(self, message, status=None, reason=None):
        # It quotes the other side, and Ansible shows it on the terminal as it is.
        message = plain(message, keep_lines=True)
        super().__init__(message)
        self.message = message
        self.status = status
        self.reason = reason

    @property
    def retriable(self):
        """True when the same request may succeed later: no answer, node locked, no free worker, server busy."""
        if self.status is None:
            return self.reason == "Unreachable"
        return self.reason == "Locked" or self.status in (429, 502, 503, 504)


def error_from_answer(status, text, subject):
    """Make an IronicError of an error answer.

    :param status: HTTP status code
    :param text: the answer's body
    :param subject: what the request was about, for example ``node rack1-01``
    """
    message = fault_of(text)
    if status in (401, 403):
        return IronicError("%s: Ironic refuses the login (HTTP %s: %s); check user name, password and auth_type" % (
            subject, status, message), status, "Unauthorized")
    # The second one is Ironic's database, where that is SQLite: what was asked for was rolled back.
    locked = (status == 409 and "is locked by host" in message) or (status == 500 and "database is locked" in message)
    return IronicError("%s: %s" % (subject, message), status, "Locked" if locked else None)


def fault_of(text):
    """Return the sentence in an error answer; Ironic nests it as JSON text in JSON.

    :param text: the answer's body
    """
    value = text
    for dummy in range(4):
        if isinstance(value, str):
            try:
                value = json.loads(value)
            except ValueError:
                break
        elif isinstance(value, dict):
            value = next((value[key] for key in ("faultstring", "error_message", "title", "message", "error")
                          if value.get(key)), "")
        else:
            break
    if not isinstance(value, str):
        return "no message"
    sentence = " ".join(_QUOTED.sub(r"\1 (what Ironic quotes of it is left out)", value).split())
    return sentence[:500] or "no message"


class RefusedError(Exception):
    """What was asked for was refused before anything was written.

    :param problems: list of lines, see ``metal3/problem.py``
    """

    def __init__(self, problems):
        super().__init__("%d problem%s, nothing was written:\n%s" % (
            len(problems), "" if len(problems) == 1 else "s", "\n".join("- " + line for line in problems)))
        self.problems = list(problems)
