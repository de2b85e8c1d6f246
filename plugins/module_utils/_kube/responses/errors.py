# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What can go wrong when talking to an API server, in words an operator can act on."""
from __future__ import annotations

import re
from typing import Any

from ..._common.problems.errors import ReportedError
from ..._common.texts.plain_text import cut, plain

# Of errors without a status: those that the same request meets again until somebody changes something.
_LASTING_REASONS = ("Configuration", "Certificate", "InvalidAnswer")
_MESSAGE_CHARACTERS = 2000
_CAUSES = 50


class KubeError(ReportedError):
    """An API server refused a request or could not be asked.

    :param message: one sentence
    :param status: HTTP status code, or None when no answer came
    :param reason: machine-readable reason, for example ``NotFound``, ``Conflict``, ``Unreachable``, ``Certificate``,
        ``Configuration``, ``InvalidAnswer``
    :param causes: list of ``{"field": …, "message": …}``, from the answer's ``details.causes``
    :param next_step: what the operator does about it, which becomes part of ``message``
    :param retry_after_seconds: the pause that the server asked for
    :param may_be_stored: whether it was a write that the server may have stored, and the pause was left to the caller
    """

    def __init__(self, message: str, status: int | None = None, reason: str | None = None,
                 causes: list[Any] | None = None, next_step: str = "", retry_after_seconds: float | None = None,
                 may_be_stored: bool = False) -> None:
        # It quotes the other side, and Ansible shows it on the terminal as it is.
        message = plain(message, keep_lines=True)
        self.cause = message
        self.next_step = next_step
        self.message = f"{message}; {next_step}" if next_step else message
        super().__init__(self.message)
        self.status = status
        self.reason = reason
        self.causes = causes or []
        self.retry_after_seconds = retry_after_seconds
        self.may_be_stored = may_be_stored

    @property
    def retriable(self) -> bool:
        """True when the same request may succeed later: no answer, too many requests, server busy."""
        if self.status is None:
            return self.reason not in _LASTING_REASONS
        return self.status == 429 or self.status >= 500

    @property
    def is_due_again(self) -> bool:
        """True when the same request is to be sent again within seconds.

        Not when the server has said how long a pause it wants: the client has done so, or it is too long. Of a
        write that may be stored the caller decides: it knows whether the write may be repeated.
        """
        return self.retriable and (self.retry_after_seconds is None or self.may_be_stored)

    @property
    def is_conflict(self) -> bool:
        """True when the object has changed since it was read, so that the write's precondition did not hold."""
        return self.status == 409


def error_from_answer(status: int, body: Any, subject: str, retry_after_seconds: float | None = None) -> KubeError:
    """Make a KubeError of an error answer.

    :param status: HTTP status code
    :param body: the decoded JSON body (a ``Status`` object) or text
    :param subject: what the request was about, for example ``BareMetalHost metal3/rack1-01``
    :param retry_after_seconds: the pause that the server asked for, None when it did not
    """
    if not isinstance(body, dict):
        return KubeError(f"{subject}: HTTP {status}: {text_of(body) or 'no message'}", status,
                         retry_after_seconds=retry_after_seconds)
    causes = _causes(body.get("details"))
    if causes:
        text = "; ".join(f"{cause['field']}: {cause['message']}" if cause["field"] else cause["message"]
                         for cause in causes)
    else:
        text = _short(body.get("message")) or _short(body.get("reason")) or f"HTTP {status}: no message"
    reason = body.get("reason")
    return KubeError(f"{subject}: {text}", status, reason if isinstance(reason, str) else None, causes,
                     retry_after_seconds=retry_after_seconds)


def _causes(details: Any) -> list[dict[str, Any]]:
    listed = details.get("causes") if isinstance(details, dict) else None
    if not isinstance(listed, list):
        return []
    return [{"field": _short(cause.get("field")), "message": _short(cause.get("message"))}
            for cause in listed[:_CAUSES] if isinstance(cause, dict)]


def _short(value: Any) -> str:
    if not isinstance(value, str):
        return ""
    return cut(value, _MESSAGE_CHARACTERS)


def text_of(body: Any) -> str:
    """Return what an answer that is no JSON object says, as one short line; of HTML only the title."""
    text = str(body)[:100000]
    if re.match(r"\s*<", text):
        title = re.search(r"<title[^<>]*>([^<]*)", text, re.IGNORECASE)
        return "HTML%s" % (f" ({cut(' '.join(title.group(1).split()), 100)})" if title else "")
    return cut(" ".join(text.split()), 300)
