# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What can go wrong when talking to an API server, in words an operator can act on."""
from __future__ import annotations


class KubeError(Exception):
    """An API server refused a request or could not be asked.

    :param message: one sentence
    :param status: HTTP status code, or None when no answer came
    :param reason: machine-readable reason, for example ``NotFound``, ``Conflict``, ``Unreachable``
    :param causes: list of ``{"field": …, "message": …}``, from the answer's ``details.causes``
    """

    def __init__(self, message, status=None, reason=None, causes=None):
        super().__init__(message)
        self.message = message
        self.status = status
        self.reason = reason
        self.causes = causes or []

    @property
    def retriable(self):
        """True when the same request may succeed later: no answer, too many requests, server busy."""
        return self.status is None or self.status == 429 or self.status >= 500

    @property
    def is_conflict(self):
        """True when the object has changed since it was read, so that the write's precondition did not hold."""
        return self.status == 409


def error_from_answer(status, body, subject):
    """Make a KubeError of an error answer.

    :param status: HTTP status code
    :param body: the decoded JSON body (a ``Status`` object) or text
    :param subject: what the request was about, for example ``BareMetalHost metal3/rack1-01``
    """
    if not isinstance(body, dict):
        text = " ".join(str(body).split())[:300]
        return KubeError("%s: HTTP %s: %s" % (subject, status, text or "no message"), status)
    causes = [{"field": cause.get("field", ""), "message": cause.get("message", "")}
              for cause in (body.get("details") or {}).get("causes") or []]
    if causes:
        text = "; ".join("%s: %s" % (cause["field"], cause["message"]) if cause["field"] else cause["message"]
                         for cause in causes)
    else:
        text = body.get("message") or body.get("reason") or "no message"
    return KubeError("%s: %s" % (subject, text), status, body.get("reason"), causes)
