# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What can go wrong when talking to Ironic, in words an operator can act on."""
from __future__ import annotations

import re

from ..._common.documents.document_text import from_json
from ..._common.problems.errors import ReportedError
from ..._common.texts.plain_text import cut, plain

# Ironic's refusals of a config drive go on with the drive itself ("Invalid configdrive format: %s", "Expected types %s
# for configdrive: %s"), which jsonschema even breaks into pieces.
_QUOTED = re.compile(r"(\bconfigdrive\b[^:'\"{\[]*)[:'\"{\[].*", re.DOTALL)
_HTML = re.compile(r"^\s*<(!doctype|html|head|body|\?xml)", re.IGNORECASE)
_LONGEST_FAULT = 4000
# A server may ask for any pause; a module has a time limit.
LONGEST_RETRY_AFTER_SECONDS = 30
# What to do about an error answer; Ironic's own sentences of other status codes say it.
_ADVICE = {
    403: "its policy does not allow this user to do that; use another user, or have the role granted",
    404: "what it was asked for is not there (any more); check the endpoint, or run again to read what there is now",
    409: "it is not (any more) as it was read, or in use at this moment; run again",
    429: "it has too many requests; run again later",
    500: "look at the log of Ironic's API and conductor, then run again",
    502: "a proxy gets no answer of Ironic; look whether Ironic runs, then run again",
    503: "it is busy or starting; look whether Ironic and its conductor run, then run again",
    504: "a proxy gets no answer of Ironic in time; look whether Ironic runs, then run again",
}


class IronicError(ReportedError):
    """Ironic refused a request or could not be asked.

    :param message: one sentence
    :param status: HTTP status code, or None when no answer came
    :param reason: ``Unreachable``, ``Lost``, ``Configuration``, ``Unauthorized``, ``Locked``, ``Version``, ``Answer``
        or None
    :param retry_after_seconds: pause that the server asks for before the next attempt, or None
    """

    def __init__(self, message: str, status: int | None = None, reason: str | None = None,
                 retry_after_seconds: int | None = None) -> None:
        # It quotes the other side, and Ansible shows it on the terminal as it is.
        message = plain(message, keep_lines=True)
        super().__init__(message)
        self.message = message
        self.status = status
        self.reason = reason
        self.retry_after_seconds = retry_after_seconds

    @property
    def retriable(self) -> bool:
        """True when the same request may succeed later and was not carried out, or may be repeated anyway."""
        if self.lost:
            return False
        return self.reason in ("Unreachable", "Locked") or self.status in (429, 502, 503, 504)

    @property
    def lost(self) -> bool:
        """True when Ironic may have carried out a request that must not be repeated blindly: its answer is missing."""
        return self.reason == "Lost"


def error_from_answer(status: int, text: str, subject: str, repeatable: bool = True,
                      retry_after: str | None = None) -> IronicError:
    """Make an IronicError of an error answer.

    :param status: HTTP status code
    :param text: the answer's body
    :param subject: what the request was about, for example ``node rack1-01``
    :param repeatable: whether the request may be sent twice
    :param retry_after: the answer's header ``Retry-After``, or None
    """
    message = fault_of(text)
    if status == 401:
        return IronicError(f"{subject}: Ironic refuses the login (HTTP {status}: {message}); check user name, password "
                           "and auth_type", status, "Unauthorized")
    advice = _ADVICE.get(status)
    if status in (502, 504) and not repeatable:
        return lost_answer(subject, f"HTTP {status}: {message}", status)
    text = f"{subject}: {message}"
    if advice:
        text = f"{subject}: HTTP {status}: {message}; {advice}"
    # The second one is Ironic's database, where that is SQLite: what was asked for was rolled back.
    locked = (status == 409 and "is locked by host" in message) or (status == 500 and "database is locked" in message)
    reason = "Locked" if locked else "Unauthorized" if status == 403 else None
    return IronicError(text, status, reason, _seconds(retry_after) if status in (429, 503) else None)


def lost_answer(subject: str, text: str, status: int | None = None) -> IronicError:
    """Return the error for a request that may have been carried out although its answer is missing.

    :param subject: what the request was about
    :param text: what came instead of the answer
    :param status: HTTP status code, or None
    """
    return IronicError(f"{subject}: Ironic's answer was lost ({text}), so that it is not known whether Ironic acts on "
                       "the request", status, "Lost")


def _seconds(text: str | None) -> int | None:
    """Return a header ``Retry-After`` in seconds, None when it is none or a date; never longer than a module waits."""
    text = str(text or "").strip()
    return min(int(text), LONGEST_RETRY_AFTER_SECONDS) if re.match(r"^[0-9]{1,9}$", text) else None


def fault_of(text: str) -> str:
    """Return the sentence in an error answer; Ironic nests it as JSON text in JSON.

    :param text: the answer's body
    """
    if _HTML.match(text):
        return "a page of HTML, which is no answer of Ironic's: check the endpoint, and what is between here and there"
    value = text
    for dummy in range(4):
        if isinstance(value, str):
            try:
                value = from_json(value)
            except ValueError:
                break
        elif isinstance(value, dict):
            value = next((value[key] for key in ("faultstring", "error_message", "title", "message", "error")
                          if value.get(key)), "")
        else:
            break
    if not isinstance(value, str):
        return "no message"
    # Of a long text the pattern takes the square of its length.
    sentence = " ".join(_QUOTED.sub(r"\1 (what Ironic quotes of it is left out)", value[:_LONGEST_FAULT]).split())
    return cut(sentence, 500) or "no message"
